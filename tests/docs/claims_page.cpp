// SPDX-License-Identifier: BSL-1.0
// docs/claims.md: its example is a whole file, which needs no more than a compiler's own limits; and its table of fields is that of attest claims --json.
#include "catch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

// [snippet]
#include "proofs/printed.hpp"
#include "proofs/settle.hpp"

#include <attest/arithmetic/interval.hpp>
#include <attest/formula/score.hpp>
#include <attest/formula/softmax.hpp>

namespace attest::proofs {
namespace {

struct tokens : axis<2> {};
struct d_k : axis<2> {};
constexpr tensor<interval, tokens, d_k> q{{1, 0}, {0, 1}}, k = q;
constexpr auto s = scaled_scores(q, k);
constexpr auto alpha = softmax(s);

// Correct: parts that hold. Two are given what is printed, the third reads the entry's value.
const entry E013 = settle("E013", holds("0.70711", [](std::string_view printed) { return prints(s(0, 0), printed, 5); }),
                          holds("0", [](std::string_view printed) { return is_exactly(s(0, 1), printed); }),
                          holds([](const claim& c) { return prints(s(0, 0), c.number(), 12); }));

// Wrong: one unit of the last place is missing.
const entry E016 = settle(
    "E016", fails_as_printed("0.66975", [](std::string_view printed) { return misprint(alpha(0, 0), printed, +1, "0.66976"); }),
    holds_corrected([](const claim& c) { return prints(alpha(0, 0), c.number(0), 5) && prints(alpha(0, 0), c.number(1), 20); }));

} // namespace
} // namespace attest::proofs
// [/snippet]

namespace {

// The fields of the page's table, and those that the program prints, each in its order.
std::vector<std::string> fields_of_page() {
    std::ifstream page(std::string(ATTEST_SOURCE_DIR) + "/docs/claims.md");
    std::vector<std::string> fields;
    bool in_table = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("| field |")) in_table = true;
        else if (in_table && !line.starts_with("|")) break;
        else if (in_table && line.starts_with("| `")) fields.push_back(line.substr(3, line.find('`', 3) - 3));
    }
    return fields;
}
std::vector<std::string> fields_of_program() {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen("'" ATTEST_PROGRAM "' explain E016 --json", "r"), pclose);
    std::string text;
    std::array<char, 4096> part{};
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe.get())) text.append(part.data(), got);
    std::vector<std::string> fields;
    for (std::size_t at = text.find("\n \""); at != std::string::npos; at = text.find("\n \"", at + 1))
        fields.push_back(text.substr(at + 3, text.find('"', at + 3) - at - 3));
    return fields;
}

} // namespace

TEST_CASE("the example of docs/claims.md proves what it says", "[docs]") {
    using namespace attest::proofs;
    CHECK(E013.of().text == wording::correct);
    CHECK(E016.of().text == wording::wrong);
    CHECK((E013.settled().n_parts == 3 && E016.settled().n_parts == 2));
}

TEST_CASE("docs/claims.md lists the fields of attest claims --json", "[docs]") {
    const std::vector<std::string> fields = fields_of_page();
    CHECK(fields.size() > 7);
    CHECK(fields == fields_of_program());
}
