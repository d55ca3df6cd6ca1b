// SPDX-License-Identifier: BSL-1.0
// A small attention kernel, and the test that judges it. The kernel knows nothing of attest: rows of floats behind pointers.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <attest/oracle/check.hpp>
#include <attest/report/catch2.hpp>
#include <attest/shape/view.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace kernel {

constexpr std::size_t n = 24, d = 16; // queries and keys, components

// out = softmax(q kT / sqrt(d)) v with a causal mask: query i sees the keys j < i + lead, at least one. lead = 1 is right.
void attention(const float* q, const float* k, const float* v, float* out, std::size_t lead = 1) {
    const float scale = 1.0F / std::sqrt(static_cast<float>(d));
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<float> weights(std::clamp<std::size_t>(i + lead, 1, n));
        for (std::size_t j = 0; j < weights.size(); ++j) {
            float score = 0;
            for (std::size_t c = 0; c < d; ++c) score += q[i * d + c] * k[j * d + c];
            weights[j] = score * scale;
        }
        const float greatest = *std::max_element(weights.begin(), weights.end());
        float sum = 0;
        for (float& weight : weights) sum += weight = std::exp(weight - greatest);
        for (std::size_t c = 0; c < d; ++c) {
            float value = 0;
            for (std::size_t j = 0; j < weights.size(); ++j) value += weights[j] * v[j * d + c];
            out[i * d + c] = value / sum;
        }
    }
}

} // namespace kernel

namespace {

// What attest calls the axes: the names come up in its messages, and two axes of equal length do not mix.
struct position : attest::axis<kernel::n> {};
struct component : attest::axis<kernel::d> {};

std::vector<float> normal(unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> distribution;
    std::vector<float> values(kernel::n * kernel::d);
    std::generate(values.begin(), values.end(), [&] { return distribution(generator); });
    return values;
}

// The vectors stay where they are; views give them shapes.
attest::check_result judge(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v, const std::vector<float>& out) {
    using attest::shaped;
    return attest::check({{"op", "attention"}, {"causal", "top-left"}, {"arithmetic", "f32"}},
                         {{"q", shaped<position, component>(q)}, {"k", shaped<position, component>(k)}, {"v", shaped<position, component>(v)}},
                         {{"out", shaped<position, component>(out)}});
}

} // namespace

TEST_CASE("the kernel is right, as far as f32 can be") {
    for (const unsigned seed : {1U, 2U, 3U}) {
        const std::vector<float> q = normal(seed), k = normal(seed + 10), v = normal(seed + 20);
        std::vector<float> out(q.size());
        kernel::attention(q.data(), k.data(), v.data(), out.data());
        CHECK_THAT(judge(q, k, v, out), attest::report::Passes()); // a failure prints the whole report
    }
}

TEST_CASE("a row that forgets its own key is wrong, and no rounding explains it") {
    const std::vector<float> q = normal(1), k = normal(2), v = normal(3);
    std::vector<float> out(q.size());
    kernel::attention(q.data(), k.data(), v.data(), out.data(), 0);
    const attest::check_result result = judge(q, k, v, out);
    CHECK_THAT(result, !attest::report::Passes());
    CHECK(result.verdict == attest::verdict::wrong);
    CHECK(result.first_bad_stage == "out");
    CHECK(result.outputs.at(0).rows_outside == kernel::n - 1); // row 0 has one key to see, and sees it
}

TEST_CASE("one element that is off is found") {
    const std::vector<float> q = normal(4), k = normal(5), v = normal(6);
    std::vector<float> out(q.size());
    kernel::attention(q.data(), k.data(), v.data(), out.data());
    out[7 * kernel::d + 3] += 1;
    const attest::check_result result = judge(q, k, v, out);
    CHECK(result.verdict == attest::verdict::wrong);
    CHECK(result.outputs.at(0).outside_certain == 1);
    REQUIRE(result.outputs.at(0).worst.has_value());
    CHECK(result.outputs.at(0).first_outside->index == std::vector<std::size_t>{7, 3});
}
