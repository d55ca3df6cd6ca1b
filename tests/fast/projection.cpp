// SPDX-License-Identifier: BSL-1.0
// Projections and the feed-forward network: the shapes and layouts of the formulas, their values within the roundings.

#include "attention_bound.hpp"

#include "attest/fast/projection.hpp"

#include "catch.hpp"

using namespace attest;
using namespace fast_tests;

namespace {

// The greatest distance of y from a b + bias, as a part of the bound of its roundings.
double worst(const matrix& y, const matrix& a, const matrix& b, const tensor<double, dyn>& bias) {
    double greatest = 0;
    for (std::size_t i = 0; i < y.length(0); ++i)
        for (std::size_t j = 0; j < y.length(1); ++j) {
            long double sum = 0, size = 0;
            for (std::size_t c = 0; c < a.length(1); ++c) {
                sum += static_cast<long double>(a(i, c)) * b(c, j);
                size += std::abs(static_cast<long double>(a(i, c)) * b(c, j));
            }
            if (bias.length(0) > 0) sum += bias(j);
            const long double bound = 1.001L * 0x1p-53L * (static_cast<long double>(fast::roundings_of_products(a.length(1))) * size + std::abs(sum));
            if (y(i, j) != sum) greatest = std::max(greatest, static_cast<double>(std::abs(y(i, j) - sum) / bound));
        }
    return greatest;
}
matrix transpose(const matrix& x) {
    auto t = matrix::with_lengths(x.length(1), x.length(0));
    for (std::size_t i = 0; i < x.length(0); ++i)
        for (std::size_t j = 0; j < x.length(1); ++j) t(j, i) = x(i, j);
    return t;
}

} // namespace

TEST_CASE("projections in both layouts are within the bound of their roundings", "[fast]") {
    struct shape {
        std::size_t n, d, e;
    };
    for (const shape& s : {shape{0, 3, 2}, {1, 1, 1}, {7, 0, 3}, {200, 65, 300}, {3, 683, 7}})
        for (const fast::kernels* kernel : all_kernels()) {
            const matrix x = random_matrix(s.n, s.d, 1), w = random_matrix(s.d, s.e, 2);
            auto bias = tensor<double, dyn>::with_lengths(s.e);
            for (std::size_t j = 0; j < s.e; ++j) bias(j) = 0.1 * static_cast<double>(j);
            const fast::product_options options{.threads = 2, .with = kernel};
            CAPTURE(kernel->name, s.n, s.d, s.e);
            const auto product = fast::project_in_out(x, w, options);
            CHECK(worst(product, x, w, {}) <= 1);
            CHECK(product == fast::project_out_in(x, transpose(w), options));
            CHECK(product == fast::project_in_out(x, w, tensor<double, dyn>{}, options));
            CHECK(product == fast::project_in_out(x, w, {.with = kernel}));
            const auto with_bias = fast::project_in_out(x, w, bias, options);
            CHECK(worst(with_bias, x, w, bias) <= 1);
            CHECK(with_bias == fast::project_out_in(x, transpose(w), bias, options));
        }
    CHECK_THROWS_AS(fast::project_in_out(random_matrix(2, 3, 3), random_matrix(4, 2, 4)), shape_error);
    CHECK_THROWS_AS(fast::project_out_in(random_matrix(2, 3, 3), random_matrix(3, 2, 4)), shape_error);
}

TEST_CASE("the feed-forward network is the formula's", "[fast]") {
    struct n : axis<5> {};
    struct d_model : axis<6> {};
    struct d_ff : axis<24> {};
    const tensor<double, n, d_model> x(random_matrix(5, 6, 5));
    feed_forward_weights<double, d_model, d_ff> w;
    w.w_1 = tensor<double, d_model, d_ff>(random_matrix(6, 24, 6));
    w.w_2 = tensor<double, d_ff, d_model>(random_matrix(24, 6, 7));
    for (std::size_t i = 0; i < 24; ++i) w.b_1(i) = 0.1;
    for (std::size_t i = 0; i < 6; ++i) w.b_2(i) = -0.2;
    for (const activation act : {activation{}, activation{activation_kind::gelu, gelu_form::erf}, activation{activation_kind::gelu, gelu_form::sigmoid}}) {
        const auto y = fast::feed_forward(x, w, act);
        static_assert(std::is_same_v<decltype(y), const tensor<double, n, d_model>>);
        const auto formula = attest::feed_forward(x, w, act);
        double distance = 0;
        for (std::size_t i = 0; i < y.elements(); ++i) distance = std::max(distance, std::abs(y.data()[i] - formula.data()[i]));
        CHECK(distance < 0x1p-47); // both are a few roundings off, of numbers below 16
    }
}
