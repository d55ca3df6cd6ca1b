// SPDX-License-Identifier: BSL-1.0
// Weights, outputs and derivatives of the lectures' examples.
#include "data.hpp"

#include <attest/formula/attention.hpp>
#include <attest/gradient/softmax.hpp>

namespace attest::pictures {

namespace {

template <std::size_t N> struct length : axis<N> {};
struct queries2 : length<2> {};
struct keys2 : length<2> {};
struct tokens4 : length<4> {};
struct width2 : length<2> {};

template <class M> json visible_rows(const M& mask, std::size_t n_q, std::size_t n_k) {
    json rows = json::array();
    for (std::size_t i = 0; i < n_q; ++i) {
        json row = json::array();
        for (std::size_t j = 0; j < n_k; ++j) row.push_back(mask.visible(i, j));
        rows.push_back(row);
    }
    return rows;
}

template <class Q, class M> json heat_map(const std::string& name, const Q& q, const M& mask) {
    const auto alpha = attention_weights(q, q, mask);
    for (std::size_t i = 0; i < alpha.length(0); ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < alpha.length(1); ++j) sum += alpha(i, j);
        demand_near(sum, 1, 1e-15, "a row's sum of " + name);
    }
    return {{"name", name}, {"q", rows_of(q)}, {"weights", rows_of(alpha)}, {"visible", visible_rows(mask, alpha.length(0), alpha.length(1))}};
}

// Both weights of two keys whose scores are so far apart, and what the score's derivative has for a factor.
struct two_weights {
    double greatest, product;
};
two_weights weights_apart(double difference) {
    const auto a = softmax(tensor<double, keys2>{difference, 0.0});
    return {a(0), a(0) * a(1)};
}

constexpr tensor<double, queries2, width2> unit_tokens{{1, 0}, {0, 1}};
constexpr tensor<double, queries2, width2> diagonal_tokens{{1, 1}, {1, -1}};

} // namespace

json attention_heat_maps() {
    // Two unit vectors, their sum, and another of that length: so that rows differ.
    constexpr tensor<double, tokens4, width2> four{{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    return {{"maps", json::array({heat_map("Q = K = I, d_{k} = 2", unit_tokens, everything{}), heat_map("q_{1} = k_{1} = (1, 1), q_{2} = k_{2} = (1, −1)", diagonal_tokens, everything{}),
                                  heat_map("the same, causal", diagonal_tokens, causal_top_left{}), heat_map("four tokens, causal (bottom right)", four, causal_bottom_right{4, 4})})}};
}

json output_geometry() {
    constexpr tensor<double, keys2, width2> v{{2, 0}, {0, 3}};
    const auto k = tensor<double, keys2, width2>{{1, 0}, {0, 1}};
    const auto z = attention(unit_tokens, k, v);
    for (std::size_t i = 0; i < 2; ++i) demand_near(z(i, 0) / 2 + z(i, 1) / 3, 1, 1e-15, "x/2 + y/3 of an output, which lies on the segment");
    return {{"v", rows_of(v)}, {"z", rows_of(z)}, {"weights", rows_of(attention_weights(unit_tokens, k))}};
}

json saturation() {
    // Components of mean 0 and variance 1: q · k has the standard deviation √d_k. Key 1's score lies so far above key 2's; scaled, that is 1 for every d_k.
    json all{{"d_k", json::array()}, {"greatest", {{"unscaled", json::array()}, {"scaled", json::array()}}},
             {"gradient", {{"unscaled", json::array()}, {"scaled", json::array()}, {"scaled_by_raw", json::array()}}}};
    for (std::size_t d = 1; d <= 256; ++d) {
        const double scale = scaled_dot_product<double>::of_dimension(d).scale, difference = attest::sqrt(static_cast<double>(d));
        const two_weights unscaled = weights_apart(difference), scaled = weights_apart(difference * scale);
        all["d_k"].push_back(d);
        all["greatest"]["unscaled"].push_back(unscaled.greatest);
        all["greatest"]["scaled"].push_back(scaled.greatest);
        all["gradient"]["unscaled"].push_back(unscaled.product);
        all["gradient"]["scaled"].push_back(scaled.product);
        all["gradient"]["scaled_by_raw"].push_back(scaled.product * scale); // the raw score's derivative: the scale is a factor of it
    }
    return all;
}

json sensitivity() {
    json all{{"difference", points(-10, 10, 201)}, {"product", json::array()}, {"marked", json::array()}};
    for (const double x : all["difference"]) all["product"].push_back(weights_apart(x).product);
    for (const double x : {8.0, 1.0, 0.0}) all["marked"].push_back({{"difference", x}, {"greatest", weights_apart(x).greatest}, {"product", weights_apart(x).product}});
    return all;
}

json gradient_flow() {
    struct word : length<5> {};
    constexpr tensor<double, word> z{1.3, 5.1, 2.2, 0.7, 1.1};
    const auto a = softmax(z);
    json jacobian = json::array();
    for (std::size_t j = 0; j < 5; ++j) { // row j: the vjp of the weight j alone
        tensor<double, word> unit{};
        unit(j) = 1;
        const auto row = softmax_vjp(a, unit);
        json numbers = json::array();
        double sum = 0;
        for (std::size_t l = 0; l < 5; ++l) {
            demand_near(row(l), a(j) * ((j == l ? 1 : 0) - a(l)), 1e-16, "an element of the Jacobian");
            numbers.push_back(row(l));
            sum += row(l);
        }
        demand_near(sum, 0, 1e-15, "a row's sum of the Jacobian");
        jacobian.push_back(numbers);
    }
    json scores = json::array(), weights = json::array();
    for (std::size_t j = 0; j < 5; ++j) scores.push_back(z(j)), weights.push_back(a(j));
    return {{"scores", scores}, {"weights", weights}, {"jacobian", jacobian}};
}

json causal_alignment() {
    return {{"n_q", 3}, {"n_k", 5}, {"top_left", visible_rows(causal_top_left{}, 3, 5)}, {"bottom_right", visible_rows(causal_bottom_right{3, 5}, 3, 5)}};
}

} // namespace attest::pictures
