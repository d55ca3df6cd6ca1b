// SPDX-License-Identifier: BSL-1.0
#include "commands.hpp"

#include "attest/oracle/arithmetics.hpp"
#include "attest/version.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace attest::program {

namespace {

nlohmann::ordered_json tensors(std::span<const tensor_info> infos) {
    auto list = nlohmann::ordered_json::array();
    for (const tensor_info& t : infos) list.push_back({{"name", t.name}, {"shape", t.shape}, {"optional", t.optional}});
    return list;
}

void print_json() {
    nlohmann::ordered_json all{{"attest", version}, {"ops", nlohmann::ordered_json::array()}, {"conventions", nlohmann::ordered_json::array()}, {"mistakes", nullptr}};
    for (const op_info& op : ops())
        all["ops"].push_back({{"name", op.name}, {"summary", op.summary}, {"inputs", tensors(op.inputs)}, {"outputs", tensors(op.outputs)}});
    for (const convention_info& c : convention_table())
        all["conventions"].push_back({{"key", c.key}, {"values", c.values}, {"ops", c.ops}, {"summary", c.summary}});
    fmt::print("{}\n", all.dump());
}

void print_text() {
    fmt::print("Ops\n");
    for (const op_info& op : ops()) {
        fmt::print("  {:<12} {}\n", op.name, op.summary);
        for (const tensor_info& t : op.inputs) fmt::print("    {:<12} {}{}\n", t.name, t.shape, t.optional ? "  (optional)" : "");
        for (const tensor_info& t : op.outputs) fmt::print("    {:<12} {}  (output, checked if the case holds it)\n", t.name, t.shape);
    }
    fmt::print("\nConventions (default first)\n");
    for (const convention_info& c : convention_table()) {
        std::string values;
        for (const std::string_view value : c.values) values += (values.empty() ? "" : ", ") + std::string(value);
        fmt::print("  {:<14} {:<18} {}\n{:36}{}\n", c.key, c.ops, c.summary, "", values);
    }
}

} // namespace

int run_list_command(bool json) {
    if (json) print_json();
    else print_text();
    return passed;
}

} // namespace attest::program
