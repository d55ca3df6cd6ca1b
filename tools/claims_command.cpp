// SPDX-License-Identifier: BSL-1.0
// attest claims, attest explain.
#include "claims.hpp"
#include "commands.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace attest::program {

namespace {

constexpr std::size_t width = 120;

// A letter of text that begins here: not a continuation byte of UTF-8.
std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// `text` in lines of at most `width` columns, all but the first indented.
std::string wrapped(std::string_view text, std::size_t indent) {
    std::string out;
    std::size_t column = indent;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word_here = text.substr(0, end);
        if (column > indent && column + 1 + columns(word_here) > width) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
            ++column;
        }
        out += word_here;
        column += columns(word_here);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

nlohmann::ordered_json json_of(const claim& c) {
    nlohmann::ordered_json j{{"id", c.id},       {"statement", c.statement}, {"text", word(c.text)},       {"status", word(c.status)},
                             {"method", word(c.by)}, {"value", nullptr},         {"source", source_of(c)},     {"details", c.details},
                             {"correction", nullptr}, {"value_is", nullptr},
                             {"error", nullptr},   {"tests", nlohmann::ordered_json::array()}, {"proofs_built", proofs_were_built()}};
    if (!c.value.empty()) j["value"] = c.value, j["value_is"] = c.value_is;
    if (!c.correction.empty()) j["correction"] = c.correction;
    if (c.seeds != 0) j["error"] = error_of(c);
    for (std::string_view rest = c.tests; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        j["tests"].push_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return j;
}

void put_totals(std::string& text, std::string_view of, const std::map<std::string_view, int>& counts) {
    std::vector<std::pair<int, std::string_view>> sorted;
    for (const auto& [name, count] : counts) sorted.emplace_back(-count, name);
    std::ranges::sort(sorted);
    std::string list;
    for (const auto& [count, name] : sorted) list += fmt::format("{}{} {}", list.empty() ? "" : ", ", -count, name);
    text += fmt::format("  {:<8}{}\n", of, wrapped(list, 10));
}

// α_11: 0.66976 (0.66976154932665692562)
std::string value_with_label(const claim& c) {
    return c.value.empty() ? "" : fmt::format("{}: {}", c.value_is, c.value);
}

// "identity" and "not-checkable" stand for "identity (probabilistic)" and "not checkable"; the whole words are understood, too, and capital letters.
bool is_named(std::string_view word_of_claim, std::string name) {
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '-' ? ' ' : c; });
    return word_of_claim == name || word_of_claim == name + " (probabilistic)";
}

std::vector<const claim*> selected(const claims_filter& filter) {
    using proofs::outcome;
    using proofs::wording;
    const auto refuse = [](std::string_view option, std::string_view given, std::string_view known) {
        throw usage_error(fmt::format("{}: there is no '{}'; there are {}", option, given.substr(0, 40), known));
    };
    constexpr wording texts[] = {wording::correct, wording::imprecise, wording::wrong, wording::not_checkable};
    constexpr outcome statuses[] = {outcome::proved, outcome::refuted, outcome::identity, outcome::tested, outcome::not_checkable};
    const auto is_none = [](const auto& known, const std::string& name) {
        return std::ranges::none_of(known, [&name](auto one) { return is_named(word(one), name); });
    };
    if (!filter.text.empty() && is_none(texts, filter.text)) refuse("--text", filter.text, "correct, imprecise, wrong, not-checkable");
    if (!filter.status.empty() && is_none(statuses, filter.status))
        refuse("--status", filter.status, "proved, refuted, identity, tested, not-checkable");
    std::vector<const claim*> all = claims_in_order();
    std::erase_if(all, [&filter](const claim* c) {
        return (!filter.text.empty() && !is_named(word(c->text), filter.text)) ||
               (!filter.status.empty() && !is_named(word(c->status), filter.status));
    });
    return all;
}

std::string table(const std::vector<const claim*>& claims) {
    std::string text;
    if (!claims.empty()) text = fmt::format("{:<6}{:<14}{:<26}{}\n", "id", "text", "status", "source");
    std::map<std::string_view, int> by_text, by_status, by_means;
    for (const claim* c : claims) {
        text += fmt::format("{}  {:<14}{:<26}{}\n", c->id, word(c->text), word(c->status), source_of(*c));
        text += "      says: " + wrapped(c->statement, 12) + "\n";
        if (!c->correction.empty()) text += "      instead: " + wrapped(c->correction, 15) + "\n";
        if (!c->value.empty()) {
            text += "      value: " + wrapped(value_with_label(*c), 13) + "\n";
        }
        ++by_text[word(c->text)], ++by_status[word(c->status)], ++by_means[word(c->by)];
    }
    const std::size_t all = claims_in_order().size();
    const std::string count = claims.size() == all ? fmt::format("{}", all) : fmt::format("{} of {}", claims.size(), all);
    if (claims.empty()) return fmt::format("{} claims of the three lectures are so\n", count);
    text += fmt::format("\n{} claims of the three lectures; {}\n", count, proofs_sentence());
    put_totals(text, "text", by_text);
    put_totals(text, "status", by_status);
    put_totals(text, "method", by_means);
    return text;
}

// a15, A015: as the ledger writes it.
std::string normal_id(std::string_view code) {
    std::string id(code);
    if (id.size() < 2) return id;
    if (id[0] >= 'a' && id[0] <= 'z') id[0] = static_cast<char>(id[0] - 'a' + 'A');
    const bool digits = id.find_first_not_of("0123456789", 1) == std::string::npos;
    if (digits && id.size() < 4) id.insert(1, 4 - id.size(), '0');
    return id;
}

std::string explained(const claim& c) {
    std::string text = fmt::format("{}: {}; {}\n\n", c.id, word(c.text), word(c.status));
    const auto line = [&text](std::string_view label, std::string_view what) {
        if (!what.empty()) text += fmt::format("  {:<12}{}\n", label, wrapped(what, 14));
    };
    line("says", c.statement);
    line("instead", c.correction);
    line("value", value_with_label(c));
    line("method", word(c.by));
    if (c.details != word(c.by)) line("details", c.details);
    line("error", error_of(c));
    line("tests", c.tests);
    const bool has_proof = source_of(c).find(".cpp:") != std::string::npos;
    line(has_proof ? "proof" : "entry", source_of(c));
    if (has_proof) line("", proofs_sentence());
    return text;
}

} // namespace

int run_claims_command(bool json, const claims_filter& filter) {
    const std::vector<const claim*> claims = selected(filter);
    if (json) {
        auto all = nlohmann::ordered_json::array();
        for (const claim* c : claims) all.push_back(json_of(*c));
        std::fputs((all.dump(1) + "\n").c_str(), stdout);
    } else {
        std::fputs(table(claims).c_str(), stdout);
    }
    return passed; // whether it could be written is asked at the end of the program
}

int run_explain_command(const std::string& code, bool json) {
    const claim* c = proofs::find_claim(normal_id(code));
    if (c == nullptr) {
        std::string ranges; // A001 to A117, B001 to B060, …
        std::string_view last;
        for (const claim* known : claims_in_order()) {
            if (last.empty() || known->id[0] != last[0]) ranges += (last.empty() ? "" : " to " + std::string(last) + ", ") + std::string(known->id);
            last = known->id;
        }
        throw usage_error("there is no code '" + (code.size() > 40 ? code.substr(0, 40) + "..." : code) + "'; claims are " + ranges + " to " + std::string(last) +
                          ", and attest claims lists them (mistakes have no codes in this version)");
    }
    std::fputs((json ? json_of(*c).dump(1) + "\n" : explained(*c)).c_str(), stdout);
    return passed;
}

} // namespace attest::program
