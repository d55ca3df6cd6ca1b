// SPDX-License-Identifier: BSL-1.0
// Positions, activations, layer norm, residual connections, and the shapes of blocks.
#include "data.hpp"

#include <attest/arithmetic/dual.hpp>
#include <attest/formula/activation.hpp>
#include <attest/formula/layer_norm.hpp>
#include <attest/formula/position.hpp>
#include <attest/formula/residual.hpp>
#include <attest/formula/score.hpp>
#include <attest/shape/heads.hpp>

namespace attest::pictures {

namespace {

struct width8 : axis<8> {};
struct one_token : axis<1> {};
struct width2 : axis<2> {};

using pair_of_eight = tensor<double, width8>;

// Pair 1 of eight components turns by 10000^(−2/8) = 1/10 a position: angles that can be seen.
pair_of_eight with_pair(double a, double b) { return {0, 0, a, b, 0, 0, 0, 0}; }
json shown_pair(const pair_of_eight& x) { return json::array({x(2), x(3)}); }

// The greatest value of f between a and b, where it has one maximum: thirds are cut off as long as f tells its ends apart.
template <class F> double place_of_maximum(double a, double b, const F& f) {
    for (int step = 0; step < 200; ++step) {
        const double third = (b - a) / 3, left = a + third, right = b - third;
        if (f(left) < f(right)) a = left;
        else b = right;
    }
    return (a + b) / 2;
}

double x_hat_of(double sigma, eps_placement where) {
    const tensor<double, one_token, width2> row{{sigma, -sigma}};
    return layer_norm(row, {.eps = 1e-5, .placement = where})(0, 0);
}

// 1 + f′(x), as dual numbers carry it through residual().
template <class F> double residual_slope_at(double x, const F& f) {
    using number = dual<double>;
    const tensor<number, one_token> token{number(x, 1.0)}, sublayer{f(token(0))};
    return residual(token, sublayer)(0).derivative();
}

} // namespace

json sinusoidal_positions() {
    constexpr std::size_t n = 64, d = 32;
    const auto table = sinusoidal_pairs<double>(n, d);
    json all{{"n", n}, {"d", d}, {"table", rows_of(table)}, {"curves", json::array()}};
    for (const std::size_t c : {0U, 1U, 8U, 16U}) {
        json curve{{"component", c}, {"values", json::array()}};
        for (std::size_t t = 0; t < n; ++t) curve["values"].push_back(table(t, c));
        all["curves"].push_back(curve);
    }
    for (std::size_t t = 0; t < n; ++t) {
        double squares = 0;
        for (std::size_t c = 0; c < d; ++c) squares += table(t, c) * table(t, c);
        demand_near(squares, d / 2.0, 1e-12, "the squared norm of a position");
    }
    return all;
}

json rope_rotation() {
    const rope<double> turn{};
    const double theta = attest::exp(-2.0 / 8 * attest::log(10000.0));
    const pair_of_eight q = with_pair(1, 0), k = with_pair(0.8 * attest::cos(0.35), -0.8 * attest::sin(0.35));
    const auto cosine = [](const pair_of_eight& a, const pair_of_eight& b) {
        return dot_product{}(a, b) / attest::sqrt(dot_product{}(a, a) * dot_product{}(b, b));
    };
    json all{{"theta", theta}, {"q", shown_pair(q)}, {"k", shown_pair(k)}, {"turned", json::array()}, {"curve", {{"difference", json::array()}, {"cosine", json::array()}}}};
    for (const auto& [m, n] : {std::pair{12.0, 7.0}, std::pair{27.0, 22.0}}) {
        const pair_of_eight q_m = turn.rotate(q, m), k_n = turn.rotate(k, n);
        all["turned"].push_back({{"m", m}, {"n", n}, {"q", shown_pair(q_m)}, {"k", shown_pair(k_n)}, {"product", dot_product{}(q_m, k_n)}, {"cosine", cosine(q_m, k_n)}});
    }
    demand_near(all["turned"][0]["product"], all["turned"][1]["product"], 1e-14, "the second product of turned pairs");
    for (const double apart : points(-40, 40, 161)) {
        all["curve"]["difference"].push_back(apart);
        all["curve"]["cosine"].push_back(cosine(turn.rotate(q, 50 + apart), turn.rotate(k, 50.0)));
    }
    return all;
}

json relu_gelu() {
    const std::vector<double> x = points(-4, 4, 161);
    json all{{"x", x}, {"relu", json::array()}, {"gelu", json::array()}, {"forms", json::array()}};
    for (const double at : x) all["relu"].push_back(relu(at)), all["gelu"].push_back(gelu(at));
    const double least = place_of_maximum(-2, 0, [](double at) { return -gelu(at); });
    all["least"] = {{"x", least}, {"gelu", gelu(least)}};
    const std::vector<double> positive = points(0.02, 6, 300); // differences are even functions: GELU(x) − GELU(−x) = x in each form
    all["positive"] = positive;
    for (const auto& [name, form, from, to] : {std::tuple{"tanh", gelu_form::tanh, 2.0, 4.0}, std::tuple{"sigmoid", gelu_form::sigmoid, 1.5, 4.0}}) {
        const auto difference = [form = form](double at) { return gelu(at, form) - gelu(at); };
        const double farthest = place_of_maximum(from, to, [&](double at) { return std::fabs(difference(at)); });
        json one{{"name", name}, {"difference", json::array()}, {"farthest", farthest}, {"greatest", difference(farthest)}};
        for (const double at : positive) one["difference"].push_back(difference(at));
        all["forms"].push_back(one);
    }
    return all;
}

json layer_norm_epsilon() {
    json all{{"eps", 1e-5}, {"sigma", json::array()}, {"in_root", json::array()}, {"beside", json::array()}, {"marked", json::array()}};
    for (const double exponent : points(-6, 1, 141)) {
        const double sigma = attest::exp(exponent * attest::log(10.0));
        all["sigma"].push_back(sigma);
        all["in_root"].push_back(x_hat_of(sigma, eps_placement::variance));
        all["beside"].push_back(x_hat_of(sigma, eps_placement::std));
    }
    for (const double sigma : {1.0, 0.01, 0.001})
        all["marked"].push_back({{"sigma", sigma}, {"in_root", x_hat_of(sigma, eps_placement::variance)}, {"beside", x_hat_of(sigma, eps_placement::std)}});
    return all;
}

json residual_slope() {
    json all{{"x", points(-4, 4, 161)}, {"minus_tanh", json::array()}, {"plus_tanh", json::array()}, {"minus_nine_tenths", json::array()}};
    for (const double x : all["x"]) {
        all["minus_tanh"].push_back(residual_slope_at(x, [](const auto& t) { return -attest::tanh(t); }));
        all["plus_tanh"].push_back(residual_slope_at(x, [](const auto& t) { return attest::tanh(t); }));
        all["minus_nine_tenths"].push_back(residual_slope_at(x, [](const auto& t) { return dual<double>(-0.9) * t; }));
    }
    all["at_zero"] = residual_slope_at(0.0, [](const auto& t) { return -attest::tanh(t); });
    return all;
}

json block_shapes() {
    struct d_model : axis<512> {};
    struct h : axis<8> {};
    struct d_k : per_head<d_model, h> {};
    return {{"d_model", d_model::size}, {"heads", h::size}, {"d_k", d_k::size}, {"concat", heads<h, d_k>::size}};
}

} // namespace attest::pictures
