// SPDX-License-Identifier: BSL-1.0
// What stands in the words of an entry, and is bound to its proof: the numbers and lines of the statement, the numbers of the correction,
// and all of the value.
#include "catch.hpp"

#ifdef ATTEST_PROOFS_BUILT

#include "entries.hpp"
#include "misprints.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace attest::proofs;
using namespace attest::tests;

namespace {

// The numbers that the parts of an entry are given as printed.
std::vector<std::string> printed_numbers(const entry& e) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < e.settled().n_parts; ++i)
        for (std::string& number : signed_numbers_of(e.settled().parts[i].printed)) all.push_back(std::move(number));
    return all;
}
bool is_one_of(const std::vector<std::string>& all, const std::string& number) { return std::find(all.begin(), all.end(), number) != all.end(); }

// The numbers of statements that no part is given, because they stand in a formula, which the parts hold as a whole (1/√d_k), or count
// tokens and components, or are what words say as well. Whoever writes another one into a statement has to write it here too, or give it to a part.
const std::map<std::string, std::string> in_words = {
    {"A010", "1"}, {"A011", "1"}, {"A024", "1"}, {"A029", "1"}, {"A035", "2"}, {"A036", "0"}, {"A042", "1"},
    {"A046", "1"}, {"A055", "1 2"}, {"A073", "1"}, {"A074", "1"}, {"A076", "0"}, {"A104", "0"}, {"A115", "2025"},
    {"B030", "2 2 2 1"}, {"B031", "0 0 1 2"}, {"B041", "0 0"}, {"E011", "2"}, {"E020", "1"}, {"E022", "1"}, {"E023", "1"},
    {"E025", "2"}, {"E028", "2 1"}, {"E031", "0"}, {"E059", "8 0"}, {"E061", "0"}, {"E063", "8 0 0 0"}, {"E075", "0 0"},
    {"E077", "2"}, {"E078", "1"},
};

// A value with `from` to `to` replaced.
std::string replaced(std::string_view text, std::size_t from, std::size_t to, std::string_view by) {
    return std::string(text.substr(0, from)) + std::string(by) + std::string(text.substr(to));
}

} // namespace

TEST_CASE("each number of a statement is held against a proof", "[ledger]") {
    std::size_t count = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id) {
            const std::vector<std::string> held = printed_numbers(*e), of_value = signed_numbers_of(e->of().value);
            std::string free;
            for (const std::string& number : signed_numbers_of(e->of().statement)) {
                ++count;
                // A decimal number only against what a part is given as printed: the value may be that of the correction.
                const bool is_whole = number.find('.') == std::string::npos;
                if (!is_one_of(held, number) && !(is_whole && is_one_of(of_value, number))) free += (free.empty() ? "" : " ") + number;
            }
            INFO(id << ": no part is given \"" << free << "\" of \"" << e->of().statement << "\"");
            CHECK(free == (in_words.count(id) == 0 ? "" : in_words.at(id)));
        }
    CHECK(count > 150);
}

TEST_CASE("each decimal number of a correction, and each of more than one digit, is held against a proof", "[ledger]") {
    std::size_t count = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id) {
            const std::vector<std::string> held = printed_numbers(*e), of_value = signed_numbers_of(e->of().value);
            for (const std::string& number : signed_numbers_of(e->of().correction)) {
                if (number.size() < (number.starts_with('-') ? 3U : 2U)) continue;
                ++count;
                INFO(id << ": no part is given " << number << " of \"" << e->of().correction << "\"");
                CHECK((is_one_of(held, number) || is_one_of(of_value, number)));
            }
        }
    CHECK(count > 40);
}

TEST_CASE("a line with operators or words that a part is given stands in the statement, or in the correction", "[ledger]") {
    std::size_t count = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id)
            for (std::size_t i = 0; i < e->settled().n_parts; ++i) {
                const settled_part& part = e->settled().parts[i];
                // Pieces such as "64: sqrt(64)=8" stand apart.
                const std::string lines = plain(part.printed) + ":";
                for (std::size_t begin = 0, end = 0; (end = lines.find(':', begin)) != std::string::npos; begin = end + 1) {
                    const std::string line = lines.substr(begin, end - begin);
                    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
                    if (line.find_first_of("+-*/=^") == std::string::npos && std::none_of(line.begin(), line.end(), is_letter)) continue;
                    ++count;
                    INFO(id << ": " << line << " of \"" << e->of().statement << "\"");
                    const bool is_corrected = part.what == role::holds_corrected && plain(e->of().correction).find(line) != std::string::npos;
                    CHECK((is_corrected || plain(e->of().statement).find(line) != std::string::npos));
                }
            }
    CHECK(count > 20);
}

TEST_CASE("no number of a value can have another digit, nor fewer, and no word can be another one", "[ledger]") {
    std::size_t digits = 0, shorter = 0, words = 0;
    for (const auto& [id, of_id] : entries())
        for (const entry* e : of_id) {
            const std::string_view value = e->of().value;
            const auto is_refused = [&, &name = id](const std::string& other) {
                claim changed = e->of();
                changed.value = other;
                INFO(name << ": value " << value << " as " << other);
                CHECK_FALSE(all_parts_hold(*e, changed));
            };
            // Only the digits of numbers that a part can read; those of names such as alpha_11 are none.
            for (std::size_t index = 0;; ++index) {
                const std::string_view number = e->of().number(index);
                if (number.empty()) break;
                const auto from = static_cast<std::size_t>(number.data() - value.data()), to = from + number.size();
                for (const std::string& flipped : other_digits(number)) ++digits, is_refused(replaced(value, from, to, flipped));
                for (std::size_t size = 1; size < number.size(); ++size) ++shorter, is_refused(replaced(value, from, to, number.substr(0, size)));
            }
            // A word begins with no digit or sign, and ends before a blank or a punctuation mark.
            for (std::size_t begin = 0, end = 0; begin < value.size(); begin = end + 1) {
                end = std::min(value.find_first_of(" ,;:()", begin), value.size());
                const bool is_number = begin < end && (is_digit(value[begin]) || (value[begin] == '-' && begin + 1 < end && is_digit(value[begin + 1])));
                if (begin == end || is_number) continue;
                ++words, is_refused(replaced(value, begin, end, "another"));
            }
        }
    WARN(digits << " values with one digit changed were refused, " << shorter << " with fewer digits, and " << words << " with another word");
    CHECK((digits > 500 && shorter > 200 && words > 50));
}

#else

TEST_CASE("the proofs were not built, so no words are held against them here", "[ledger]") { WARN("configure with ATTEST_BUILD_PROOFS=ON"); SUCCEED(); }

#endif
