// SPDX-License-Identifier: BSL-1.0
// docs/conventions.md: its tables are the program's. The blocks after `<!-- table: … -->` are made from the tables in the headers; with
// ATTEST_WRITE_OUTPUTS=1 in the environment the test writes them instead. And what the rest of the page names exists.
#include "catch.hpp"
#include "docs/tables.hpp"

#include "attest/question/conventions.hpp"
#include "attest/question/torch_names.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

const std::filesystem::path page = std::filesystem::path(ATTEST_SOURCE_DIR) / "docs" / "conventions.md";

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

// Ops in words: most conventions are of many.
std::string ops_text(const attest::convention_info& info) {
    std::string text;
    std::size_t concerned = 0;
    for (const attest::op_info& op : attest::ops())
        if (attest::concerns(info, op.name)) {
            ++concerned;
            const bool block = op.name == "encoder_layer" || op.name == "decoder_layer" || op.name == "encoder" || op.name == "decoder";
            if (!block) text += (text.empty() ? "" : ", ") + code(op.name);
        }
    if (concerned == attest::ops().size()) return "all";
    const bool blocks = attest::concerns(info, "encoder");
    return text + (blocks ? (text.empty() ? "layers and stacks" : ", layers and stacks") : "");
}

std::string convention_rows() {
    std::string rows = "| key | values, default first | ops | meaning |\n|---|---|---|---|\n";
    for (const attest::convention_info& info : attest::convention_table()) {
        std::string values;
        for (const std::string_view value : info.values) values += (values.empty() ? "" : ", ") + code(value);
        rows += "| " + code(info.key) + " | " + values + " | " + ops_text(info) + " | " + std::string(info.summary) + " |\n";
    }
    return rows;
}

// The op whose own module has these parameters.
std::string op_of(std::span<const attest::detail::torch_parameter> parameters) {
    for (const attest::op_info& op : attest::ops())
        for (const auto& module : attest::detail::modules_of(op.name, false))
            if (module.prefix.empty() && module.ours.empty() && module.parameters.data() == parameters.data()) return code(op.name);
    return "?";
}

std::string torch_rows() {
    std::string rows = "| op | PyTorch's name | ours |\n|---|---|---|\n";
    const auto row = [&](std::string_view op, const std::string& theirs, const std::string& ours) { rows += "| " + code(op) + " | " + theirs + " | " + ours + " |\n"; };
    for (const attest::op_info& op : attest::ops()) {
        for (const auto& module : attest::detail::modules_of(op.name, false)) {
            if (!module.ours.empty()) {
                row(op.name, (module.prefix.empty() ? "" : code(module.prefix) + " and ") + "a name of " + op_of(module.parameters), code(module.ours) + " and our name");
                continue;
            }
            for (const auto& parameter : module.parameters) {
                std::string ours;
                for (const std::string_view tensor : parameter.tensors)
                    if (!tensor.empty()) ours += (ours.empty() ? "" : ", ") + code(tensor);
                row(op.name, code(parameter.name), ours);
            }
        }
        if (op.name == "encoder" || op.name == "decoder") row(op.name, "`layers.N.` and a name of " + code(std::string(op.name) + "_layer"), "`layers.N.` and our name");
    }
    return rows;
}

} // namespace

TEST_CASE("the tables of conventions and of PyTorch's names are the program's", "[docs]") {
    docs::hold_tables(page, {{"conventions", convention_rows()}, {"torch names", torch_rows()}});
}

TEST_CASE("the page says of every convention who uses which", "[docs]") {
    const std::string text = read(page);
    const std::size_t from = text.find("\n## Who uses which\n"), to = text.find("\n## ", from + 4);
    REQUIRE(from != std::string::npos);
    const std::string section = text.substr(from, to - from);
    for (const attest::convention_info& info : attest::convention_table()) {
        // Not what is a matter of the question alone, and no one's convention.
        if (info.key == "arithmetic" || info.key == "length" || info.key == "d-model" || info.key == "names" || info.key == "false-alarm" || info.key == "precision") continue;
        CAPTURE(info.key);
        CHECK(section.find(code(info.key)) != std::string::npos);
    }
}

TEST_CASE("every setting that the page shows is one that the program takes", "[docs]") {
    const std::string text = read(page);
    std::size_t shown = 0;
    for (std::size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at + 1)) {
        const std::size_t end = text.find('`', at + 1);
        if (end == std::string::npos) break;
        const std::string setting = text.substr(at + 1, end - at - 1);
        at = end;
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || setting.find_first_of(" _\n.(") < equals || setting.front() == '-') continue;
        CAPTURE(setting);
        attest::conventions c;
        CHECK_NOTHROW(attest::set_convention(c, setting.substr(0, equals), setting.substr(equals + 1)));
        ++shown;
    }
    CHECK(shown >= 15);
}
