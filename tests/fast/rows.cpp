// SPDX-License-Identifier: BSL-1.0
// Softmax, layer normalisation and activations of rows against long double or 50 digits.

#include "attention_bound.hpp"

#include "attest/arithmetic/real.hpp"
#include "attest/arithmetic/real_functions.hpp"
#include "attest/fast/row_functions.hpp"
#include "attest/formula/softmax.hpp"

#include "catch.hpp"

using namespace attest;
using namespace fast_tests;

TEST_CASE("erf and GELU in lanes are as good as their docstrings say", "[fast]") {
    auto x = random_doubles(20'000, 1, 9);
    const double special[] = {0, -0.0, 0x1p-1074, 0.5, -0.5, 0.70710678118654752, -0.70710678118654752, 8.4, -8.4, 40, -40};
    std::copy(std::begin(special), std::end(special), x.begin());
    for (const fast::kernels* kernel : all_kernels()) {
        std::vector<double> y(x.size());
        kernel->gelu(x.data(), x.size(), y.data());
        double greatest = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const long double exact = static_cast<long double>(x[i]) * std::erfc(-x[i] * 0.70710678118654752440084436210484903928L) / 2;
            if (y[i] != exact) greatest = std::max(greatest, static_cast<double>(std::abs(y[i] - exact) / std::max(std::abs(x[i]), 0x1p-1022) * 0x1p52));
        }
        CAPTURE(kernel->name, greatest);
        CHECK(greatest <= 1);
        const double odd[] = {std::nan(""), std::numeric_limits<double>::infinity(), -1.5, 2};
        double of_odd[4], relu_of_odd[4];
        kernel->gelu(odd, 4, of_odd);
        kernel->relu(odd, 4, relu_of_odd);
        CHECK((std::isnan(of_odd[0]) && of_odd[1] == odd[1]));
        CHECK((std::isnan(relu_of_odd[0]) && relu_of_odd[1] == odd[1] && relu_of_odd[2] == 0 && relu_of_odd[3] == 2));
    }
}

TEST_CASE("softmax of rows is within its bound", "[fast]") {
    for (const std::size_t n : {0U, 1U, 7U, 64U, 683U}) {
        const matrix x = random_matrix(3, n, 2, 30);
        for (const fast::kernels* kernel : all_kernels()) {
            const auto p = fast::softmax(x, causal_bottom_right{3, n}, empty_row::zero, kernel);
            double worst = 0;
            for (std::size_t i = 0; i < 3; ++i) {
                long double greatest = -1e9L, sum = 0, spread = 0;
                for (std::size_t j = 0; j < n; ++j)
                    if (causal_bottom_right{3, n}.visible(i, j)) greatest = std::max<long double>(greatest, x(i, j));
                for (std::size_t j = 0; j < n; ++j)
                    if (causal_bottom_right{3, n}.visible(i, j)) {
                        const long double e = std::exp(x(i, j) - greatest);
                        sum += e;
                        spread += e * std::abs(x(i, j) - greatest);
                    }
                for (std::size_t j = 0; j < n; ++j) {
                    if (!causal_bottom_right{3, n}.visible(i, j)) {
                        CHECK(p(i, j) == 0);
                        continue;
                    }
                    const long double exact = std::exp(x(i, j) - greatest) / sum;
                    const auto r = static_cast<long double>(fast::roundings_of_row_sum(n));
                    const long double bound = (std::abs(x(i, j) - greatest) + spread / sum + 3.25L + r) * 0x1p-53L * 1.001L;
                    worst = std::max(worst, static_cast<double>(std::abs(p(i, j) - exact) / exact / bound));
                }
            }
            CAPTURE(kernel->name, n);
            CHECK(worst <= 1);
        }
    }
    const auto nans = fast::softmax(random_matrix(2, 1, 3), causal_bottom_right{2, 1}, empty_row::nan);
    CHECK(std::isnan(nans(0, 0)));
    CHECK(nans(1, 0) == 1);
}

TEST_CASE("layer normalisation of rows", "[fast]") {
    for (const std::size_t d : {1U, 2U, 7U, 64U, 683U})
        for (const fast::kernels* kernel : all_kernels())
            for (const auto& options : {layer_norm_options<double>{}, {.eps = 1e-3, .placement = eps_placement::std}, {.variance = variance_kind::unbiased}}) {
                if (d == 1 && options.variance == variance_kind::unbiased) continue; // NaN
                const matrix x = random_matrix(3, d, 4, 2);
                layer_norm_weights<double, dyn> weights{tensor<double, dyn>::with_lengths(d), tensor<double, dyn>::with_lengths(d)};
                for (std::size_t c = 0; c < d; ++c) {
                    weights.gamma(c) = 1 + 0.01 * static_cast<double>(c);
                    weights.beta(c) = -0.5;
                }
                const auto y = fast::layer_norm(x, weights, options, kernel), bare = fast::layer_norm(x, options, kernel);
                double worst = 0;
                for (std::size_t i = 0; i < 3; ++i) {
                    long double mean = 0, size = 0, squares = 0;
                    for (std::size_t c = 0; c < d; ++c) {
                        mean += x(i, c);
                        size += std::abs(x(i, c));
                    }
                    mean /= static_cast<long double>(d);
                    for (std::size_t c = 0; c < d; ++c) squares += (x(i, c) - mean) * (x(i, c) - mean);
                    const long double variance = squares / static_cast<long double>(options.variance == variance_kind::biased ? d : d - 1);
                    const bool in_root = options.placement == eps_placement::variance;
                    const long double divisor = in_root ? std::sqrt(variance + options.eps) : std::sqrt(variance) + options.eps;
                    // The docstring's roundings. An error of the mean changes the squares in second order alone, and each deviation by itself.
                    const long double r = static_cast<long double>(fast::roundings_of_row_sum(d)), u = 0x1p-53L * 1.001L;
                    const long double mean_off = (r + 1) * u * size / static_cast<long double>(d) + u * std::abs(mean);
                    const long double relative = (r + 4 + 6) * u;
                    for (std::size_t c = 0; c < d; ++c) {
                        const long double x_hat = (x(i, c) - mean) / divisor;
                        const long double off = mean_off / divisor + (relative + mean_off * mean_off / divisor / divisor) * std::abs(x_hat);
                        const long double value = weights.gamma(c) * x_hat - 0.5L;
                        worst = std::max(worst, static_cast<double>(std::abs(bare(i, c) - x_hat) / (off + 0x1p-1022L)));
                        const long double last = u * (std::abs(value) + std::abs(value + 0.5L)); // the product and the sum
                        worst = std::max(worst, static_cast<double>(std::abs(y(i, c) - value) / (off * weights.gamma(c) + last)));
                    }
                }
                CAPTURE(kernel->name, d, options.eps);
                CHECK(worst <= 1);
            }
}

TEST_CASE("row functions keep axes, ranks and views", "[fast]") {
    struct n : axis<3> {};
    struct d : axis<5> {};
    const tensor<double, n, d> x(random_matrix(3, 5, 5));
    static_assert(std::is_same_v<decltype(fast::gelu(x)), tensor<double, n, d>> && std::is_same_v<decltype(fast::softmax(x)), tensor<double, n, d>>);
    static_assert(std::is_same_v<decltype(fast::layer_norm(x, layer_norm_weights<double, d>{})), tensor<double, n, d>>);
    const auto all = fast::gelu(x);
    CHECK(fast::gelu(x[1]) == all[1]);
    CHECK(fast::layer_norm(x, layer_norm_weights<double, d>{}) == fast::layer_norm(x));
    CHECK(fast::activate(x, {activation_kind::gelu, gelu_form::tanh}) == attest::gelu(x, gelu_form::tanh));
    CHECK(fast::activate(x, {}) == attest::relu(x));
}
