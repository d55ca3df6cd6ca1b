// SPDX-License-Identifier: BSL-1.0
// Layer normalisation: its formula, what it does to a row and does not depend on, and how it bounds a row. (Whose mean and variance, and
// where ε stands: layer_norm_statistics.cpp.)

#include "exact.hpp"
#include "layer_norm_definition.hpp"
#include "printed.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/feed_forward.hpp"
#include "attest/formula/residual.hpp"
#include "attest/formula/score.hpp"
#include "attest/gradient/layer_norm.hpp"

namespace attest::proofs {
namespace {

struct other_d : axis<3> {};
template <class T> const T& any();

constexpr agreement is_the_lectures(draw& at) {
    const auto row = at.vector<d>(), gamma = at.vector<d>(), beta = at.vector<d>();
    const auto how = with_root(at, row);
    const auto x_hat = normalised(row, how);
    const auto y = scaled_and_shifted(gamma, x_hat, beta);
    return agree(layer_norm(row, how), x_hat) & agree(layer_norm(row, layer_norm_weights{gamma, beta}, how), y);
}

const entry A072 = settle("A072", holds([] {
    using x = tensor<rational, d>;
    return std::same_as<decltype(layer_norm(any<x>())), x> && x{}.length(0) == d::size; // d components in, d components out
}));

// [A075]
// Σ x̂ = 0, Σ x̂² = d σ²/(σ² + ε), and (d − 1) − x̂_0² is a sum of squares over σ² + ε, so that |x̂_c| <= √(d − 1) for ε >= 0.
constexpr agreement sums_are_right(draw& at) {
    const auto row = at.vector<d>();
    const auto how = with_root(at, row);
    const auto x_hat = layer_norm(row, how);
    return agree(x_hat(0) + x_hat(1) + x_hat(2) + x_hat(3), 0) &
           agree(inner(x_hat, x_hat), 4 * sigma_squared(row) / (sigma_squared(row) + how.eps));
}
constexpr agreement bound_is_right(draw& at) {
    const auto row = at.vector<d>();
    const auto how = with_root(at, row);
    const field x_hat = layer_norm(row, how)(0);
    const auto square = [&](std::size_t i, std::size_t k) { return (row(i) - row(k)) * (row(i) - row(k)); };
    const field rest = 3 * how.eps + (square(1, 2) + square(1, 3) + square(2, 3)) / 4;
    return agree(3 - x_hat * x_hat, rest / (sigma_squared(row) + how.eps));
}
const entry A075 = settle("A075", holds([](const claim& c) { return identical_for<is_the_lectures>(c); }),
                          holds([](const claim& c) { return identical_for<sums_are_right>(c); }),
                          holds([](const claim& c) { return identical_for<bound_is_right>(c); }));
constexpr interval greatest = layer_norm(tensor<interval, d>{1, 0, 0, 0}, {0})(0);
static_assert(rounds_to(greatest * greatest, "3.0000000000")); // the bound is reached
// [/A075]

// [A077]
// γ and β have one component for each of x. γ_c x̂_c + β_c, and γ = 1, β = 0 are the start.
static_assert(rules::norm_weight_for_each_component::holds<d, d>);
static_assert(!rules::norm_weight_for_each_component::holds<d, other_d>);
constexpr tensor<exact, d> token{5, 1, 3, 3}; // σ² = 2: the root is √2
static_assert(layer_norm(token, {0}) == tensor<exact, d>{root_two, -root_two, 0, 0});
static_assert(layer_norm(token, layer_norm_weights<exact, d>{{3, 5, 7, 9}, {1, 2, 3, 4}}, {0}) ==
              tensor<exact, d>{3 * root_two + 1, 2 - 5 * root_two, 3, 4});

// γ ⊙ x̂_i + β with one component x̂_i, whichever it is, is another function; with the vector x̂ it is the layer norm.
template <std::size_t I> constexpr agreement with_one_component(draw& at) {
    const auto row = at.vector<d>(), gamma = at.vector<d>(), beta = at.vector<d>();
    const auto how = with_root(at, row);
    const field x_i = normalised(row, how)(I);
    return agree(layer_norm(row, layer_norm_weights{gamma, beta}, how), scaled_and_shifted(gamma, tensor<field, d>{x_i, x_i, x_i, x_i}, beta));
}
const entry A077 = settle("A077", fails_as_printed([] {
    return different<with_one_component<0>> && different<with_one_component<1>> && different<with_one_component<2>> &&
           different<with_one_component<3>>;
}), holds_corrected([](const claim& c) { return identical_for<is_the_lectures>(c); }));
using learned = layer_norm_weights<rational, d>;
const entry A078 = settle("A078", holds([] { // learnable: the gradient has one component for each of γ and of β
    using gradient = decltype(layer_norm_vjp(any<tensor<rational, n, d>>(), any<learned>(), {}, any<tensor<rational, n, d>>()));
    return std::same_as<decltype(gradient::dweights), learned>;
}), holds([](const claim& c) { return identical_for<is_the_lectures>(c); }));
const entry A091 = settle("A091", holds([] {
    using rule = rules::norm_weight_for_each_component;
    return std::same_as<decltype(learned::gamma), tensor<rational, d>> &&
           std::same_as<decltype(learned::beta), tensor<rational, d>> &&
           rule::holds<d, d> && !rule::holds<d, other_d>;
}));
const entry A092 = settle("A092", holds([](const claim& c) { return identical_for<is_the_lectures>(c); }));
// On all 81 rows: is LN with the same γ and β in each component x̂?
constexpr bool is_plain_with(const exact& g, const exact& b) {
    return of_each_row([&g, &b](int which) {
        const auto row = row_of_signs<exact>(which);
        const layer_norm_options<exact> root_is_root_two{2 - variance(row)};
        return layer_norm(row, layer_norm_weights<exact, d>{{g, g, g, g}, {b, b, b, b}}, root_is_root_two) == layer_norm(row, root_is_root_two);
    });
}
static_assert(learned{}.gamma == tensor<rational, d>{1, 1, 1, 1} && learned{}.beta == tensor<rational, d>{0, 0, 0, 0});
const entry A093 = settle("A093", holds("1", [](std::string_view printed) { return is_plain_with(whole_number(printed), 0); }),
                          holds("0", [](std::string_view printed) { return is_plain_with(1, whole_number(printed)); }),
                          holds([] { return !is_plain_with(2, 0) && !is_plain_with(1, 1) && !is_plain_with(0, 0); }));
const entry B048 = settle("B048", holds([](const claim& c) { return identical_for<is_the_lectures>(c); }));
// [/A077]

// [A089]
// For σ² = 1 and ε = 10^−5 the variance of x̂ is 0.999990000099999…, not 1; with ε = 0 it would be.
constexpr interval variance_after(const interval& eps) { return variance(layer_norm(tensor<interval, axis<2>>{1, -1}, {eps})); }
constexpr interval with_eps = variance_after(interval::ratio(1, 100000));

const entry A089 = settle("A089", fails_as_printed("1", [](std::string_view printed) {
    const auto variance = interval::decimal(printed);
    return surely(variance_after(0) == variance) && surely(with_eps < variance);
}), holds_corrected([](const claim& c) { return prints(with_eps, c.number(), 15); }),
    holds_corrected("0", [](std::string_view printed) { // the mean, and the variance of a constant row
    const auto zero = rational::decimal(printed);
    return is_exactly(zero, printed) && mean(layer_norm(tensor<rational, d>{5, 1, 3, 3}, {2})) == zero &&
           variance(layer_norm(tensor<rational, d>{7, 7, 7, 7}, {1})) == zero;
}), holds_corrected([](const claim& c) { return identical_for<sums_are_right>(c); }));
// [/A089]

// [A095]
// Two rows with mean 0 and variance 1, and third moments 2/√3 and 0: not one distribution.
constexpr interval third_moment(const tensor<interval, d>& row) {
    const auto y = layer_norm(row, {0});
    interval sum = 0;
    for (std::size_t c = 0; c < 4; ++c) sum = sum + y(c) * y(c) * y(c);
    return sum / 4;
}
const entry A095 = settle("A095", fails_as_printed([] {
    return surely(third_moment({1, 0, 0, 0}) > 1) && surely(third_moment({1, 1, 0, 0}) < 1);
}), holds_corrected([](const claim& c) { return identical_for<sums_are_right>(c); }));
// [/A095]

// [A090]
// Scores of tokens t times as large are t² times as large; LN(t X) = LN(X), if ε grows by t². But an FFN is a formula of
// integers: no softmax in it.
constexpr agreement scale_is_taken_away(draw& at) {
    const auto X = at.matrix<n, d>();
    const auto how = with_root(at, X[0]);
    const field t = at.positive();
    const scaled_dot_product<field> score{at.number()};
    tensor<field, n, d> larger = X;
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t c = 0; c < 4; ++c) larger(i, c) = t * X(i, c);
    const auto y = layer_norm(X, how), y_larger = layer_norm(larger, {t * t * how.eps});
    return agree(scores(larger, larger, score)(1, 0), t * t * scores(X, X, score)(1, 0)) & agree(y_larger[0], y[0]);
}
const entry A090 = settle("A090", fails_as_printed([] {
    constexpr feed_forward_weights<int, d, axis<1>> w{{{1}, {0}, {0}, {0}}, {0}, {{1, 0, 0, 0}}, {0, 0, 0, 0}};
    return !has_exp<int> && feed_forward(tensor<int, axis<1>, d>{{1000, 0, 0, 0}}, w) == tensor<int, axis<1>, d>{{1000, 0, 0, 0}};
}), holds_corrected([](const claim& c) { return identical_for<scale_is_taken_away>(c); }));
// [/A090]

// [A110]
// Pre-norm, x + FFN(LN(x)), with an FFN that gives (1, 1, 1, 1): it grows by that in each layer. (In double, where whole numbers
// are exact.)
constexpr tensor<double, axis<1>, d> after_pre_norm(int layers) {
    feed_forward_weights<double, d, axis<1>> w;
    w.b_2 = {1, 1, 1, 1};
    tensor<double, axis<1>, d> stream;
    for (int l = 0; l < layers; ++l) stream = residual(stream, feed_forward(layer_norm(stream, {1}), w));
    return stream;
}
// Post-norm, with |γ_c| <= g: d g² − |γ ⊙ x̂|² = (g² d ε + Σ (g² − γ_c²) (x_c − μ)²)/(σ² + ε), which is not negative.
constexpr agreement length_is_bounded(draw& at) {
    const auto row = at.vector<d>(), gamma = at.vector<d>();
    const field g = at.number();
    const auto how = with_root(at, row);
    const auto y = layer_norm(row, layer_norm_weights{gamma, tensor<field, d>{}}, how);
    field rest = g * g * 4 * how.eps;
    for (std::size_t c = 0; c < 4; ++c) rest = rest + (g * g - gamma(c) * gamma(c)) * (row(c) - mu(row)) * (row(c) - mu(row));
    return agree(4 * g * g - inner(y, y), rest / (sigma_squared(row) + how.eps));
}
const entry A110 = settle("A110", fails_as_printed([] {
    return after_pre_norm(1) == tensor<double, axis<1>, d>{{1, 1, 1, 1}} &&
           after_pre_norm(12) == tensor<double, axis<1>, d>{{12, 12, 12, 12}};
}), holds_corrected([](const claim& c) { return identical_for<length_is_bounded>(c); }), holds_corrected([] { // and reached
    constexpr tensor<rational, d> longest{5, -5, 5, -5}; // 4·5²
    return layer_norm(tensor<rational, d>{3, -3, 3, -3}, layer_norm_weights<rational, d>{{5, 5, 5, 5}, {}}, {0}) == longest;
}));
// [/A110]

// The four layer norms, either place of ε and either variance, with a row where the root exists.
constexpr field divisor(const field& v, const layer_norm_options<field>& how) {
    return how.placement == in_variance ? attest::sqrt(v + how.eps) : attest::sqrt(v) + how.eps;
}
template <auto Sides> constexpr bool in_each_way = identity(1, [](draw& at) {
    agreement all = agreement::equal;
    for (int which = 0; which < 4; ++which)
        all = all & Sides(at, {at.number(), which % 2 == 0 ? in_variance : beside_std, which / 2 == 0 ? biased : unbiased});
    return all == agreement::undefined ? agreement::different : all; // the rows are such that their roots exist
});
constexpr tensor<field, d> row_with_root(draw& at, const layer_norm_options<field>& how) {
    for (;;)
        if (const auto row = at.vector<d>(); divisor(sigma_squared(row, how.variance), how).defined()) return row;
}

constexpr tensor<field, d> moved(const tensor<field, d>& x) { return {x(2), x(0), x(3), x(1)}; }

// [invariances]
// LN(x + a) = LN(x); LN(t x) = LN(x) for t > 0, if ε grows by t² in the root, by t beside σ; and if the components change places,
// with their γ and β, so do those of LN.
constexpr agreement invariances(draw& at, const layer_norm_options<field>& how) {
    const auto row = row_with_root(at, how), gamma = at.vector<d>(), beta = at.vector<d>();
    const field a = at.number(), t = at.positive();
    const field larger_eps = how.placement == in_variance ? t * t * how.eps : t * how.eps;
    const layer_norm_options<field> larger{larger_eps, how.placement, how.variance};
    const auto y = layer_norm(row, layer_norm_weights{gamma, beta}, how);
    const tensor<field, d> changed{a + t * row(0), a + t * row(1), a + t * row(2), a + t * row(3)};
    return agree(y, layer_norm(changed, layer_norm_weights{gamma, beta}, larger)) &
           agree(moved(y), layer_norm(moved(row), layer_norm_weights{moved(gamma), moved(beta)}, how));
}
static_assert(in_each_way<invariances>);
// [/invariances]

// Vectors and matrices, with γ and β and without, which on a dynamic axis may be absent. (The second row of a matrix has the
// components of the first in another order, and so the same root.)
using any_d = tensor<field, axis<dynamic>>;
constexpr tensor<field, d> zeros{}, ones{1, 1, 1, 1};
constexpr agreement each_overload(draw& at, const layer_norm_options<field>& how) {
    const auto row = row_with_root(at, how), gamma = at.vector<d>(), beta = at.vector<d>();
    const auto x_hat = normalised(row, how), y = scaled_and_shifted(gamma, x_hat, beta);
    const tensor<field, n, d> X{{row(0), row(1), row(2), row(3)}, {row(2), row(0), row(3), row(1)}};
    const auto rows = layer_norm(X, layer_norm_weights{gamma, beta}, how), plain = layer_norm(X, how);
    return agree(plain[0], x_hat) & agree(plain[1], moved(x_hat)) & agree(rows[0], y) &
           agree(rows[1], scaled_and_shifted(gamma, moved(x_hat), beta)) &
           agree(variance(row, how.variance), sigma_squared(row, how.variance)) & agree(layer_norm(row, how), x_hat) &
           agree(layer_norm(row, layer_norm_weights{gamma, beta}, how), y) &
           agree(layer_norm(row, layer_norm_weights<field, axis<dynamic>>{}, how), x_hat) &
           agree(layer_norm(row, layer_norm_weights{any_d(gamma), any_d{}}, how), scaled_and_shifted(gamma, x_hat, zeros)) &
           agree(layer_norm(row, layer_norm_weights{any_d{}, any_d(beta)}, how), scaled_and_shifted(ones, x_hat, beta));
}
static_assert(in_each_way<each_overload>);

// [rms_norm]
// RMSNorm: no mean is subtracted.
constexpr field mean_square(const tensor<field, d>& x) { return (x(0) * x(0) + x(1) * x(1) + x(2) * x(2) + x(3) * x(3)) / 4; }
constexpr agreement of_mean_square(draw& at, const layer_norm_options<field>& how) {
    tensor<field, n, d> X;
    for (std::size_t i = 0; i < 2;) {
        const auto row = at.vector<d>();
        for (std::size_t c = 0; c < 4; ++c) X(i, c) = row(c);
        if (divisor(mean_square(row), how).defined()) ++i;
    }
    const tensor<field, d> x(X[1]), gamma = at.vector<d>();
    const field by = 1 / divisor(mean_square(x), how);
    const tensor<field, d> y{x(0) * by, x(1) * by, x(2) * by, x(3) * by}, scaled = scaled_and_shifted(gamma, y, zeros);
    const auto rows = rms_norm(X, how), rows_scaled = rms_norm(X, gamma, how);
    return agree(rms_norm(x, how), y) & agree(rms_norm(x, gamma, how), scaled) & agree(rms_norm(x, any_d{}, how), y) &
           agree(rms_norm(x, any_d(gamma), how), scaled) &
           agree(rows[1], y) &
           agree(rows_scaled[1], scaled) & agree(rows[0], rms_norm(X[0], how)) & agree(rows_scaled[0], rms_norm(X[0], gamma, how));
}
static_assert(in_each_way<of_mean_square>);
// [/rms_norm]

// A row of nothing is a row of nothing.
static_assert(layer_norm(any_d{}).length(0) == 0 && rms_norm(any_d{}).length(0) == 0);
static_assert(rms_norm(tensor<rational, axis<1>>{3}, {16})(0) == rational::ratio(3, 5));

} // namespace
} // namespace attest::proofs
