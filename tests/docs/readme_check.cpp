// SPDX-License-Identifier: BSL-1.0
// The README's example of a check inside a test.
#include "catch.hpp"

#include <attest/formula/attention.hpp>
#include <random>
#include <vector>

namespace {
using rows = attest::axis<attest::dynamic>;
// Stands for a kernel of the reader's own.
void my_kernel(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v, std::vector<float>& out, int n, int d) {
    const auto z = attest::attention(attest::shaped<rows, rows>(q, n, d), attest::shaped<rows, rows>(k, n, d), attest::shaped<rows, rows>(v, n, d),
                                     attest::causal_top_left{});
    out.assign(z.data(), z.data() + z.elements());
}
} // namespace

// [snippet]
#include <attest/oracle/check.hpp>
#include <attest/report/catch2.hpp>

TEST_CASE("my kernel is right") {
    const int n = 7, d = 16;
    std::vector<float> q(n * d), k(n * d), v(n * d), out(n * d);
    std::mt19937 random(1);
    for (auto* tensor : {&q, &k, &v})
        for (float& x : *tensor) x = std::normal_distribution<float>()(random);
    my_kernel(q, k, v, out, n, d);

    const auto with_shape = [&](const std::vector<float>& memory) { return attest::shaped<rows, rows>(memory, n, d); };
    REQUIRE_THAT(attest::check({{"op", "attention"}, {"causal", "top-left"}, {"arithmetic", "f32"}},
                               {{"q", with_shape(q)}, {"k", with_shape(k)}, {"v", with_shape(v)}}, {{"out", with_shape(out)}}),
                 attest::report::Passes());
}
// [/snippet]
