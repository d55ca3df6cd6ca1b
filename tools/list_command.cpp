// SPDX-License-Identifier: BSL-1.0
#include "commands.hpp"

#include "attest/oracle/arithmetics.hpp"
#include "attest/version.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace attest::program {

namespace {

constexpr std::size_t width = 120;

nlohmann::ordered_json tensors(std::span<const tensor_info> infos) {
    auto list = nlohmann::ordered_json::array();
    for (const tensor_info& t : infos) list.push_back({{"name", t.name}, {"shape", t.shape}, {"optional", t.optional}});
    return list;
}

std::vector<std::string_view> conventions_of(std::string_view op) {
    std::vector<std::string_view> keys;
    for (const convention_info& c : convention_table())
        if (concerns(c, op)) keys.push_back(c.key);
    return keys;
}

std::vector<std::string_view> ops_of(const convention_info& c) {
    std::vector<std::string_view> names;
    for (const op_info& op : ops())
        if (concerns(c, op.name)) names.push_back(op.name);
    return names;
}

std::string json_text() {
    nlohmann::ordered_json all{{"attest", version}, {"ops", nlohmann::ordered_json::array()}, {"conventions", nlohmann::ordered_json::array()}, {"mistakes", nullptr}};
    for (const op_info& op : ops())
        all["ops"].push_back(
            {{"name", op.name}, {"summary", op.summary}, {"inputs", tensors(op.inputs)}, {"outputs", tensors(op.outputs)}, {"conventions", conventions_of(op.name)}});
    for (const convention_info& c : convention_table())
        all["conventions"].push_back({{"key", c.key}, {"values", c.values}, {"ops", c.ops}, {"summary", c.summary}});
    return all.dump() + "\n";
}

// Words behind a label, in lines of at most `width` columns.
void put_words(std::string& text, std::string_view label, const std::vector<std::string>& words) {
    constexpr std::size_t indent = 16;
    if (words.empty()) return;
    std::string line = fmt::format("    {:<{}}", label, indent - 4);
    bool first = true;
    for (const std::string& word : words) {
        if (!first && line.size() + 2 + word.size() >= width) {
            text += line + ",\n";
            line = std::string(indent, ' ');
            first = true;
        }
        line += (first ? "" : ", ") + word;
        first = false;
    }
    text += line + "\n";
}

// Tensors for people: a stack's layers are those of its layer's op, listed once there.
std::vector<std::string> described(const op_info& op, std::span<const tensor_info> infos, const auto& wanted) {
    std::vector<std::string> words;
    bool layers = false;
    for (const tensor_info& t : infos) {
        if (!wanted(t)) continue;
        const bool of_layer = t.name.starts_with("layers.N.");
        if (!of_layer) words.push_back(fmt::format("{} {}", t.name, t.shape));
        else if (!layers) words.push_back(fmt::format("layers.N.* (each of {}_layer's for every layer N)", op.name));
        layers = layers || of_layer;
    }
    return words;
}

template <class Names> std::vector<std::string> strings(const Names& names) { return {names.begin(), names.end()}; }

std::string plain_text() {
    std::string text = "Ops\n";
    for (const op_info& op : ops()) {
        text += fmt::format("  {}: {}\n", op.name, op.summary);
        put_words(text, "inputs", described(op, op.inputs, [](const tensor_info& t) { return !t.optional; }));
        put_words(text, "optional", described(op, op.inputs, [](const tensor_info& t) { return t.optional; }));
        put_words(text, "outputs", described(op, op.outputs, [](const tensor_info&) { return true; }));
        put_words(text, "conventions", strings(conventions_of(op.name)));
    }
    text += "\n  N stands for any index. An output is checked if the case holds it; gradients (dx of x) need the input dout.\n"
            "\nConventions (default first; layers and stacks take those of their parts)\n";
    for (const convention_info& c : convention_table()) {
        text += fmt::format("  {}: {}\n", c.key, c.summary);
        put_words(text, "values", strings(c.values));
        const auto names = ops_of(c);
        put_words(text, "ops", names.size() == ops().size() ? std::vector<std::string>{"all"} : strings(names));
    }
    return text;
}

} // namespace

int run_list_command(bool json) {
    std::fputs((json ? json_text() : plain_text()).c_str(), stdout); // whether it could be written is asked at the end of the program
    return passed;
}

} // namespace attest::program
