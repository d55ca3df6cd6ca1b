// SPDX-License-Identifier: BSL-1.0
// What the change to rungs in blocks, and to limits of one arithmetic at first, once got wrong; and old faults that were found beside it.
#include "asked.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/elementary/exp.hpp"
#include "catch.hpp"

#include <random>

using namespace asked;
using attest::verdict;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

std::vector<double> numbers(std::size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<double> x(count);
    for (double& value : x) value = static_cast<double>(static_cast<int>(random() % 17)) / 8 - 1;
    return x;
}
member random_member(lengths shape, unsigned seed, dtype type = dtype::f32) {
    std::size_t count = 1;
    for (const std::size_t length : shape) count *= length;
    return {std::move(shape), numbers(count, seed), type};
}

} // namespace

TEST_CASE("sums over rows that are not asked for are no rows: a NaN in q, and dk, dv and dmask among the outputs", "[oracle]") {
    question asked{{{"op", "attention"}},
                   {{"q", random_member({1, 1, 5, 3}, 1)}, {"k", random_member({1, 1, 4, 3}, 2)}, {"v", random_member({1, 1, 4, 2}, 3)}, {"dout", random_member({1, 1, 5, 2}, 4)},
                    {"mask", random_member({5, 4}, 5)}}};
    asked.inputs["q"].values[0] = no_number;
    const auto exact = values_of(asked, {"out"});
    member out{{1, 1, 5, 2}, {}, dtype::f32};
    for (const long double x : exact.at("out").values) out.values.push_back(static_cast<double>(x));
    const auto result = checked(asked, {{"out", out}, {"dk", random_member({1, 1, 4, 3}, 6)}, {"dv", random_member({1, 1, 4, 2}, 7)}, {"dmask", random_member({5, 4}, 8)}});
    CHECK(result.verdict == verdict::undecided); // no element of the sums is judged, and none is right
    for (const auto& output : result.outputs)
        if (output.name == "dmask") CHECK(output.elements == 20);
}

TEST_CASE("what precision does not tell from 0 is not exact, whatever arithmetic is declared", "[oracle]") {
    // The last three values cancel the others, to some 150 bits; 64 bits do not tell what is left from 0, which it is not.
    using number = attest::real<60>;
    std::mt19937_64 random(1);
    std::normal_distribution<> normal;
    for (int round = 0; round < 40; ++round) {
        constexpr std::size_t d = 64, n = 10;
        std::vector<double> q(d), k(n * d), v(n);
        for (double& x : q) x = normal(random);
        for (std::size_t e = 0; e < k.size(); ++e) k[e] = q[e % d] + normal(random) / 16;
        for (double& x : v) x = normal(random);
        std::vector<number> weight;
        for (std::size_t j = 0; j < n; ++j) {
            number s(0);
            for (std::size_t c = 0; c < d; ++c) s = s + number(q[c]) * (number(k[j * d + c]) - number(k[c]));
            weight.push_back(attest::exp(s));
        }
        number sum(0);
        for (std::size_t j = 0; j < n; ++j) {
            if (j + 3 >= n) v[j] = static_cast<double>(-sum / weight[j]);
            sum = sum + weight[j] * number(v[j]);
        }
        REQUIRE(sum != number(0));
        const question asked{{{"op", "attention"}, {"score", "dot"}, {"precision", "64"}},
                             {{"q", {{1, 1, 1, d}, q, dtype::f64}}, {"k", {{1, 1, n, d}, k, dtype::f64}}, {"v", {{1, 1, n, 1}, v, dtype::f64}}}};
        for (const char* arithmetic : {"f64", "f32", "bf16"}) {
            CAPTURE(round, arithmetic);
            CHECK(checked(asked, {{"out", {{1, 1, 1, 1}, {0}, dtype::f64}}}, {{"arithmetic", arithmetic}}).verdict != verdict::exact);
        }
    }
}

TEST_CASE("dq of a q that several batch elements read, and more queries than keys", "[oracle]") {
    const question asked{{{"op", "attention"}},
                         {{"q", random_member({1, 4, 130, 3}, 11)}, {"k", random_member({3, 2, 2, 3}, 12)}, {"v", random_member({3, 2, 2, 2}, 13)}, {"dout", random_member({3, 4, 130, 2}, 14)}}};
    const auto exact = values_of(asked, {"dq"});
    member dq{{1, 4, 130, 3}, {}, dtype::f32};
    for (const long double x : exact.at("dq").values) dq.values.push_back(static_cast<double>(static_cast<float>(x)));
    for (const char* arithmetic : {"f32", "bf16+f32"}) CHECK(checked(asked, {{"dq", dq}}, {{"arithmetic", arithmetic}}).verdict == verdict::exact); // limits of 16 bits look at keys one by one
}

TEST_CASE("gradients where queries and keys have no components", "[oracle]") {
    const question asked{{{"op", "attention"}, {"scale", "1"}},
                         {{"q", {{1, 1, 3, 0}, {}, dtype::f32}}, {"k", {{1, 1, 3, 0}, {}, dtype::f32}}, {"v", {{1, 1, 3, 2}, std::vector<double>(6, 1.0), dtype::f32}},
                          {"dout", {{1, 1, 3, 2}, std::vector<double>(6, 1.0), dtype::f32}}}};
    for (const char* arithmetic : {"f32", "bf16+f32"})
        CHECK(checked(asked, {{"dv", {{1, 1, 3, 2}, std::vector<double>(6, 1.0), dtype::f32}}, {"dk", {{1, 1, 3, 0}, {}, dtype::f32}}}, {{"arithmetic", arithmetic}}).verdict == verdict::exact);
}

TEST_CASE("the weight of a key behind a mask of billions, by a rounded lse", "[oracle]") {
    const question asked{{{"op", "attention"}},
                         {{"q", {{1, 1, 1, 1}, {0}, dtype::f32}}, {"k", {{1, 1, 2, 1}, {1, 2}, dtype::f32}}, {"v", {{1, 1, 2, 1}, {1, 2}, dtype::f32}},
                          {"mask", {{1, 2}, {2171946752.0, -235200256.0}, dtype::f32}}}};
    CHECK(attest::passes(checked(asked, {{"weights", {{1, 1, 1, 2}, {1, 0}, dtype::f32}}}).verdict));
    CHECK_FALSE(attest::passes(checked(asked, {{"weights", {{1, 1, 1, 2}, {0, 1}, dtype::f32}}}).verdict));
}

TEST_CASE("weights from a rounded lse of 10^18 may be anything", "[oracle]") {
    // e^(s - lse) with lse one unit too small overflows; 3 is more than all that scores may do to a weight.
    const question asked{{{"op", "attention"}, {"scale", "1"}},
                         {{"q", {{1, 1, 1, 1}, {1}, dtype::f32}}, {"k", {{1, 1, 2, 1}, {0x1p60, -0x1p60}, dtype::f32}}, {"v", {{1, 1, 2, 1}, {1, 2}, dtype::f32}}}};
    const auto result = checked(asked, {{"weights", {{1, 1, 1, 2}, {3, 0}, dtype::f32}}});
    CHECK(result.outputs[0].outside_certain == 0);
    CHECK_FALSE(attest::passes(result.verdict)); // nor does it tell anything
}

TEST_CASE("where no later rung knows more, the second is the formula itself", "[oracle]") {
    // Two keys are the same, and what is left of their values needs more than 64 bits for its cell; bounds of whole rows do not give them.
    question asked{{{"op", "attention"}, {"precision", "64"}},
                   {{"q", random_member({1, 1, 1, 64}, 31, dtype::f64)}, {"k", random_member({1, 1, 30, 64}, 32, dtype::f64)}, {"v", {{1, 1, 30, 1}, std::vector<double>(30), dtype::f64}}}};
    std::copy_n(asked.inputs["k"].values.begin(), 64, asked.inputs["k"].values.begin() + 64);
    asked.inputs["v"].values[0] = 1;
    asked.inputs["v"].values[1] = -1 + 0x1p-31;
    const auto exact = values_of({{{"op", "attention"}}, asked.inputs}, {"out"});
    const auto result = checked(asked, {{"out", {{1, 1, 1, 1}, {static_cast<double>(exact.at("out").values[0] * (1 + 0x1p-30L))}, dtype::f64}}}, {{"arithmetic", "f64"}});
    CHECK(result.outputs[0].unseparated == 0);
}

TEST_CASE("a sum over rows that cancels does not climb farther than the formula's own enclosure asks", "[oracle]") {
    // Two rows are the same but for dout, and the weights' errors in them are not known to be: what is left of dv is far below both.
    for (const int bits : {28, 29, 30, 31, 32, 33, 34}) {
        CAPTURE(bits);
        member q = random_member({1, 1, 1, 64}, 21, dtype::f64);
        q.shape[2] = 2;
        q.values.insert(q.values.end(), q.values.begin(), q.values.begin() + 64);
        const question asked{{{"op", "attention"}},
                             {{"q", q}, {"k", random_member({1, 1, 40, 64}, 22, dtype::f64)}, {"v", random_member({1, 1, 40, 1}, 23, dtype::f64)},
                              {"dout", {{1, 1, 2, 1}, {1, -1 + std::ldexp(1.0, -bits)}, dtype::f64}}}};
        const auto exact = values_of(asked, {"dv"});
        member dv{{1, 1, 40, 1}, {}, dtype::f64};
        for (const long double x : exact.at("dv").values) dv.values.push_back(static_cast<double>(x));
        const auto result = checked(asked, {{"dv", dv}}, {{"arithmetic", "f64"}});
        CHECK(result.verdict == verdict::exact);
        CHECK(result.outputs[0].rungs.in_double_double == 40);
    }
}
