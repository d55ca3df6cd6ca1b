// SPDX-License-Identifier: BSL-1.0
// The example of docs/arithmetic.md, and the page's tables.
#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/sqrt.hpp"
#include "catch.hpp"
#include "docs/digits.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace {
// [snippet]
#include <attest/arithmetic/formats.hpp>
#include <attest/arithmetic/interval.hpp>
#include <attest/arithmetic/real.hpp>
#include <attest/elementary/exp.hpp>
#include <attest/elementary/sqrt.hpp>

// One formula for every scalar: e^(1/sqrt 2) / (e^(1/sqrt 2) + 1), the first weight of the lecture's two tokens.
template <attest::scalar S> constexpr S first_weight() {
    const S e = attest::exp(S(1) / attest::sqrt(S(2)));
    return e / (e + S(1));
}

constexpr double in_double = first_weight<double>();                            // 0.669761549326657
const auto to_50_digits = first_weight<attest::real<50>>();                     // 0.66976154932665692562
constexpr auto enclosed = first_weight<attest::interval>();
static_assert(rounds_to(enclosed, "0.66976"));                                  // proved, at compile time
static_assert(refutes(enclosed, "0.66975"));                                    // what the lecture prints is refuted
static_assert(attest::round_to(attest::formats::bf16, in_double) == 0.66796875); // rounded once, to nearest
static_assert(attest::encode_bf16(in_double) == 0x3f2b && attest::decode_bf16(0x3f2b) == 0.66796875);
// [/snippet]

std::string row(const char* name, const attest::format& f) {
    std::ostringstream text;
    text << "| " << name << " | " << f.precision << " | " << f.min_exponent << " … " << f.max_exponent << " | " << f.greatest() << " | 2^"
         << f.tiny_exponent() << " | 2^" << -f.precision << " |\n";
    return text.str();
}

} // namespace

TEST_CASE("the digits and the table of docs/arithmetic.md", "[docs]") {
    CHECK(docs::with_digits(in_double, 15) == "0.669761549326657");
    CHECK(to_50_digits.value().str(20, std::ios::fixed) == "0.66976154932665692562");
    std::ifstream file(std::string(ATTEST_SOURCE_DIR) + "/docs/arithmetic.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& line : {row("f64", attest::formats::f64), row("f32", attest::formats::f32), row("f16", attest::formats::f16),
                                    row("bf16", attest::formats::bf16)}) {
        INFO("docs/arithmetic.md should hold the line\n" << line);
        CHECK(page.find(line) != std::string::npos);
    }
    CHECK(attest::real<50>::bits == 192);
    CHECK(attest::real<100>::bits == 384);
    CHECK(attest::interval::fraction_bits == 128);
}
