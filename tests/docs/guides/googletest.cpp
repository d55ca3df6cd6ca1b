// SPDX-License-Identifier: BSL-1.0
// What docs/guides/tests.md shows for GoogleTest.
#include <gtest/gtest-spi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {
// Stands for a kernel of the reader's own: causal, one head. `scale` is there to be wrong.
void my_kernel(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v, std::vector<float>& out, std::size_t n, std::size_t d, float scale) {
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<float> weights(i + 1);
        for (std::size_t j = 0; j <= i; ++j) {
            for (std::size_t c = 0; c < d; ++c) weights[j] += q[i * d + c] * k[j * d + c];
            weights[j] *= scale;
        }
        const float greatest = *std::max_element(weights.begin(), weights.end());
        float sum = 0;
        for (float& weight : weights) sum += weight = std::exp(weight - greatest);
        for (std::size_t c = 0; c < d; ++c) {
            float value = 0;
            for (std::size_t j = 0; j <= i; ++j) value += weights[j] * v[j * d + c];
            out[i * d + c] = value / sum;
        }
    }
}
void my_kernel(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v, std::vector<float>& out, std::size_t n, std::size_t d) {
    my_kernel(q, k, v, out, n, d, 1 / std::sqrt(static_cast<float>(d)));
}
} // namespace

// [test]
#include <attest/oracle/check.hpp>
#include <attest/report/text.hpp>
#include <gtest/gtest.h>

#include <random>
#include <vector>

static attest::check_result judge(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v, const std::vector<float>& out, std::size_t n, std::size_t d) {
    using any = attest::axis<attest::dynamic>;
    const auto with_shape = [&](const std::vector<float>& memory) { return attest::shaped<any, any>(memory, n, d); };
    return attest::check({{"op", "attention"}, {"causal", "top-left"}, {"arithmetic", "f32"}},
                         {{"q", with_shape(q)}, {"k", with_shape(k)}, {"v", with_shape(v)}}, {{"out", with_shape(out)}});
}

TEST(Attention, IsRight) {
    const std::size_t n = 7, d = 16;
    std::vector<float> q(n * d), k(n * d), v(n * d), out(n * d);
    std::mt19937 random(1);
    for (auto* tensor : {&q, &k, &v})
        for (float& x : *tensor) x = std::normal_distribution<float>()(random);
    my_kernel(q, k, v, out, n, d);

    const attest::check_result result = judge(q, k, v, out, n, d);
    EXPECT_TRUE(attest::passes(result.verdict)) << attest::report::text(result, "my kernel");
}
// [/test]

// And the test fails, with the whole report, if the kernel is wrong.
static void expect_right_without_scale() {
    const std::size_t n = 7, d = 16;
    std::vector<float> q(n * d, 1), k(n * d), v(n * d), out(n * d);
    for (std::size_t i = 0; i < n * d; ++i) v[i] = k[i] = static_cast<float>(i % 7) / 8;
    my_kernel(q, k, v, out, n, d, 1);
    const attest::check_result result = judge(q, k, v, out, n, d);
    EXPECT_TRUE(attest::passes(result.verdict)) << attest::report::text(result, "my kernel");
}

TEST(Attention, AMistakeIsToldWithTheReport) { EXPECT_NONFATAL_FAILURE(expect_right_without_scale(), "my kernel: attention wrong"); }
