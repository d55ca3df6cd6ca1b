// SPDX-License-Identifier: BSL-1.0
// Right kernels at the ends of the range: what is rounded below the normal numbers, and sums that leave the range where their result does not. Each
// was called wrong once.
#include "asked.hpp"
#include "attest/oracle/rounding.hpp"
#include "catch.hpp"

using namespace asked;
using attest::verdict;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
double in_f16(double x) { return attest::round_to(attest::formats::f16, x); }
double in_bf16(double x) { return attest::round_to(attest::formats::bf16, x); }
member vectors(lengths shape, std::vector<double> values, dtype type = dtype::f32) { return {std::move(shape), std::move(values), type}; }

verdict verdict_of(const question& asked, const members& candidates, const char* arithmetic) {
    return checked(asked, candidates, {{"arithmetic", arithmetic}}).verdict;
}

} // namespace

TEST_CASE("gradients that were stored in f16, below its normal range, and dumped as f32", "[oracle]") {
    // Two equal keys: dv is dout/2, an odd multiple of 2^-25, which f16 rounds.
    const double dout = 5 * 0x1p-24;
    const question asked{{{"op", "attention"}},
                         {{"q", vectors({1, 1, 1, 1}, {0}, dtype::f16)}, {"k", vectors({1, 1, 2, 1}, {1, 1}, dtype::f16)}, {"v", vectors({1, 1, 2, 1}, {1, 2}, dtype::f16)},
                          {"dout", vectors({1, 1, 1, 1}, {dout}, dtype::f16)}}};
    const double kept = in_f16(dout / 2);
    REQUIRE(kept != dout / 2);
    for (const char* arithmetic : {"f16+f32", "f16"}) {
        CHECK(verdict_of(asked, {{"dv", vectors({1, 1, 2, 1}, {kept, kept})}}, arithmetic) == verdict::consistent);
        CHECK(verdict_of(asked, {{"dv", vectors({1, 1, 2, 1}, {kept, dout})}}, arithmetic) != verdict::consistent);
    }
    CHECK(attest::passes(verdict_of(asked, {{"dv", vectors({1, 1, 2, 1}, {dout / 2, dout / 2})}}, "f32")));
    CHECK_FALSE(attest::passes(verdict_of(asked, {{"dv", vectors({1, 1, 2, 1}, {kept, kept})}}, "f32")));
}
TEST_CASE("a weight below the normal range of f16 is stored before dropout's factor and behind it", "[oracle]") {
    const double k = -14.9375, w = std::exp(k), v = 60000;
    const question asked{{{"op", "attention"}, {"scale", "1"}, {"dropout-p", "0.3"}},
                         {{"q", vectors({1, 1, 1, 1}, {1}, dtype::f16)}, {"k", vectors({1, 1, 2, 1}, {0, k}, dtype::f16)}, {"v", vectors({1, 1, 2, 1}, {0, v}, dtype::f16)},
                          {"dropout_mask", {{1, 1, 1, 2}, {1, 1}, dtype::boolean}}}};
    const double twice = in_f16(in_f16(w) / 0.7) * v;
    CHECK(verdict_of(asked, {{"out", vectors({1, 1, 1, 1}, {twice}, dtype::f16)}}, "f16+f32") == verdict::consistent);
    const double farther = twice - 0x1p-25 * v;
    CHECK_FALSE(attest::passes(verdict_of(asked, {{"out", vectors({1, 1, 1, 1}, {farther}, dtype::f16)}}, "f16+f32")));
}
TEST_CASE("a subnormal value as an operand of tf32, times dropout's factor", "[oracle]") {
    const double quantum = 0x1p-136, v = 3.4375 * quantum; // as f32 holds it, and tf32 rounds it to 3
    const question asked{{{"op", "attention"}, {"dropout-p", "0.9"}},
                         {{"q", vectors({1, 1, 1, 1}, {1})}, {"k", vectors({1, 1, 1, 1}, {1})}, {"v", vectors({1, 1, 1, 1}, {v})},
                          {"dropout_mask", {{1, 1, 1, 1}, {1}, dtype::boolean}}}};
    CHECK(verdict_of(asked, {{"out", vectors({1, 1, 1, 1}, {30 * quantum})}}, "tf32") == verdict::consistent);
    CHECK_FALSE(attest::passes(verdict_of(asked, {{"out", vectors({1, 1, 1, 1}, {20 * quantum})}}, "tf32")));
}
TEST_CASE("a mask that queries share gets dS as it was stored, before the softcap's slope", "[oracle]") {
    // Scores near the cap, where 1 - t^2 is small; many keys, so that other errors average out. All queries are equal.
    const std::size_t n_q = 15, n_k = 1024;
    kernels::generator random{7};
    std::vector<double> k, v = kernels::draw(random, n_k, 0, 1, attest::formats::bf16), score, ds(n_k);
    for (std::size_t j = 0; j < n_k; ++j) {
        k.push_back(in_bf16(std::atanh(0.95 + 0.049 * static_cast<double>(j) / n_k)));
        score.push_back(std::tanh(k.back()));
    }
    double sum = 0, mean = 0;
    for (const double s : score) sum += std::exp(s);
    for (std::size_t j = 0; j < n_k; ++j) mean += std::exp(score[j]) / sum * v[j];
    for (std::size_t j = 0; j < n_k; ++j) ds[j] = std::exp(score[j]) / sum * (v[j] - mean);
    question asked{{{"op", "attention"}, {"scale", "1"}, {"softcap", "1"}},
                   {{"q", vectors({1, 1, n_q, 1}, std::vector<double>(n_q, 1), dtype::bf16)}, {"k", vectors({1, 1, n_k, 1}, k, dtype::bf16)}, {"v", vectors({1, 1, n_k, 1}, v, dtype::bf16)},
                    {"mask", vectors({1, n_k}, std::vector<double>(n_k, 0))}, {"dout", vectors({1, 1, n_q, 1}, std::vector<double>(n_q, 1), dtype::bf16)}}};
    std::vector<double> stored;
    for (const double x : ds) stored.push_back(static_cast<double>(n_q) * in_bf16(x));
    CHECK(verdict_of(asked, {{"dmask", vectors({1, n_k}, stored)}}, "bf16+f32") == verdict::consistent);
    stored[3] *= 1.02;
    CHECK_FALSE(attest::passes(verdict_of(asked, {{"dmask", vectors({1, n_k}, stored)}}, "bf16+f32")));
}
TEST_CASE("what may overflow on the way is not judged", "[oracle]") {
    SECTION("da - D of a softmax") {
        const std::size_t n = 32;
        std::vector<double> dout(n, 2.5e38), dx(n, in_bf16(0));
        dout[0] = -2.5e38;
        for (double& x : dout) x = attest::round_to(attest::formats::f32, x);
        const double mean = dout[1] * (n - 2) / n;
        for (std::size_t j = 0; j < n; ++j) dx[j] = (dout[j] - mean) / n;
        const question asked{{{"op", "softmax"}}, {{"x", vectors({1, n}, std::vector<double>(n, 0))}, {"dout", vectors({1, n}, dout)}}};
        const verdict of_right = verdict_of(asked, {{"dx", vectors({1, n}, dx)}}, "f32");
        CHECK((attest::passes(of_right) || of_right == verdict::undecided));
        dx[0] = -infinity;
        CHECK(verdict_of(asked, {{"dx", vectors({1, n}, dx)}}, "f32") == verdict::undecided);
    }
    SECTION("sums over heads that share a value, in any order") {
        const double parts[] = {-1.8e38, -1.8e38, 2e38};
        const question asked{{{"op", "attention"}},
                             {{"q", vectors({1, 3, 1, 1}, {1, 1, 1})}, {"k", vectors({1, 1, 1, 1}, {1})}, {"v", vectors({1, 1, 1, 1}, {0})}, {"dout", vectors({1, 3, 1, 1}, {parts[0], parts[1], parts[2]})}}};
        CHECK(verdict_of(asked, {{"dv", vectors({1, 1, 1, 1}, {-infinity})}}, "f32") == verdict::undecided);
    }
    SECTION("and over queries that share a mask") {
        const question asked{{{"op", "attention"}},
                             {{"q", vectors({1, 1, 3, 1}, {0, 0, 0})}, {"k", vectors({1, 1, 2, 1}, {1, 1})}, {"v", vectors({1, 1, 2, 1}, {1, -1})}, {"mask", vectors({1, 2}, {0, 0})},
                              {"dout", vectors({1, 1, 3, 1}, {3e38, 3e38, -3e38})}}};
        CHECK(verdict_of(asked, {{"dmask", vectors({1, 2}, {infinity, -infinity})}}, "f32") == verdict::undecided);
    }
    SECTION("the scale, and log2 e, on the query") {
        const auto asked = [](double q, double k, const char* scale, dtype type) {
            return question{{{"op", "attention"}, {"scale", scale}},
                            {{"q", vectors({1, 1, 1, 1}, {q}, type)}, {"k", vectors({1, 1, 2, 1}, {k, -k}, type)}, {"v", vectors({1, 1, 2, 1}, {1, 2}, type)}}};
        };
        const auto no_number = [](dtype type) { return members{{"out", vectors({1, 1, 1, 1}, {std::numeric_limits<double>::quiet_NaN()}, type)}}; };
        CHECK(verdict_of(asked(2.5e38, 1e-38, "2", dtype::f32), no_number(dtype::f32), "f32") == verdict::undecided);
        CHECK(verdict_of(asked(40000, 0x1p-14, "2", dtype::f16), no_number(dtype::f16), "f16") == verdict::undecided);
        CHECK(verdict_of(asked(50000, 0x1p-14, "1", dtype::f16), no_number(dtype::f16), "f16") == verdict::undecided);
        CHECK(verdict_of(asked(20000, 0x1p-14, "1", dtype::f16), no_number(dtype::f16), "f16") == verdict::wrong);
    }
}
