// SPDX-License-Identifier: BSL-1.0
// The mean, the variance and the ε of layer normalisation: of which numbers, divided by d or by d − 1, in the root or beside it.

#include "exact.hpp"
#include "layer_norm_definition.hpp"
#include "printed.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"

namespace attest::proofs {
namespace {

// [A074]
// [1, 0, 0, 0] has mean 1/4, biased variance 3/16, unbiased 1/4.
constexpr tensor<exact, d> one_hot{1, 0, 0, 0};
static_assert(mean(one_hot) == ratio(1, 4));
static_assert(variance(one_hot, biased) == ratio(3, 16) && variance(one_hot, unbiased) == ratio(1, 4));
// Its first component becomes √3 or exactly 3/2.
constexpr tensor<interval, d> same_row{1, 0, 0, 0};
constexpr interval by_biased = layer_norm(same_row, {0, in_variance, biased})(0);
constexpr interval by_unbiased = layer_norm(same_row, {0, in_variance, unbiased})(0);

const entry A073 = settle("A073", holds([] {
    return of_each_row([](int which) { return mean(row_of_signs<exact>(which)) == mu(row_of_signs<exact>(which)); });
}));
const entry A074 = settle("A074", holds([] {
    return of_each_row([](int which) { return variance(row_of_signs<exact>(which)) == sigma_squared(row_of_signs<exact>(which)); });
}), holds([](const claim& c) { // the standard deviations' ratio √((d − 1)/d), for the other variance
    return prints(by_unbiased / by_biased, c.number(0), 4) && rational(d::size) == rational::decimal(c.number(1)) && c.value_reads("# for d = #");
}));
// [/A074]

// [rows]
// Each row is normalised by itself, by its own μ and σ: whatever stands in the other, and however many there are.
constexpr agreement of_its_own_row(draw& at) {
    const auto X = at.matrix<n, d>(), others = at.matrix<n, d>();
    const auto how = with_root(at, X[0]);
    tensor<field, n, d> changed = X;
    for (std::size_t c = 0; c < 4; ++c) changed(1, c) = others(1, c);
    tensor<field, axis<1>, d> alone;
    for (std::size_t c = 0; c < 4; ++c) alone(0, c) = X(0, c);
    const auto y = layer_norm(X, how);
    const auto y_changed = layer_norm(changed, how);
    const auto y_alone = layer_norm(alone, how);
    return agree(y[0], y_changed[0]) & agree(y[0], y_alone[0]) & agree(y[0], normalised(X[0], how));
}
// The first component, if the statistics were others: those of the whole layer (of all n·d activations), or of the batch (of each
// component over the rows).
constexpr field by_the_whole_layer(const tensor<field, n, d>& X, const layer_norm_options<field>& how) {
    tensor<field, axis<8>> all;
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t c = 0; c < 4; ++c) all(4 * i + c) = X(i, c);
    return layer_norm(all, how)(0);
}
constexpr field by_the_batch(const tensor<field, n, d>& X, const layer_norm_options<field>& how) {
    return layer_norm(tensor<field, n>{X(0, 0), X(1, 0)}, how)(0);
}
template <auto Component> constexpr agreement is_the_first_component(draw& at) {
    const auto X = at.matrix<n, d>();
    const auto how = with_root(at, X[0]);
    return agree(layer_norm(X[0], how)(0), Component(X, how));
}
constexpr agreement is_independent_of_the_batch(draw& at) {
    const auto X = at.matrix<n, d>(), others = at.matrix<n, d>();
    const auto how = with_root(at, tensor<field, n>{X(0, 0), X(1, 0)});
    tensor<field, n, d> changed = X;
    changed(1, 0) = others(1, 0);
    return agree(by_the_batch(X, how), by_the_batch(changed, how));
}
const entry A080 = settle("A080", fails_as_printed([] { return different<is_the_first_component<by_the_whole_layer>>; }),
                          holds_corrected([](const claim& c) { return identical_for<of_its_own_row>(c); }));
const entry A088 = settle("A088", holds([](const claim& c) { return identical_for<of_its_own_row>(c); }));
const entry B049 = settle("B049", holds([](const claim& c) { return identical_for<of_its_own_row>(c); }));
const entry B050 = settle("B050", holds([] { return different<is_independent_of_the_batch>; }),
                          holds([] { return different<is_the_first_component<by_the_batch>>; }));
const entry B051 = settle("B051", fails_as_printed([] { return different<is_the_first_component<by_the_whole_layer>>; }),
                          holds_corrected([](const claim& c) { return identical_for<of_its_own_row>(c); }),
                          holds_corrected([] { return different<is_the_first_component<by_the_batch>>; }));
// [/rows]

const entry B047 = settle("B047", fails_as_printed([] {
    return different<is_the_first_component<by_the_whole_layer>> && surely(by_biased != by_unbiased);
}), holds_corrected([](const claim& c) {
    return prints(by_biased, c.number(0), 7) && is_exactly(by_unbiased, c.number(1), 1) && c.value_reads("# with d, # with d−1");
}), holds_corrected([](const claim& c) { return identical_for<of_its_own_row>(c); }));

// [A076]
// A constant row has σ = 0, and ε alone stands between it and 0/0: x̂ = 0.
constexpr agreement constant_row_gives_0(draw& at) {
    const field x = at.number(), root = at.positive();
    const tensor<field, d> constant{x, x, x, x}, zero{};
    return agree(layer_norm(constant, {root * root}), zero) & agree(layer_norm(constant, {root, beside_std, biased}), zero);
}
constexpr tensor<rational, d> sevens{7, 7, 7, 7};
static_assert(variance(sevens) == 0);
template <class F> concept has_value = requires { typename std::bool_constant<(F{}(), true)>; };
constexpr bool with_eps_it_has_a_value = has_value<decltype([] { return layer_norm(sevens, {1})(0) == 0; })> &&
    has_value<decltype([] { return layer_norm(sevens, {1, beside_std, biased})(0) == 0; })>;
constexpr bool without_eps_it_has_one = has_value<decltype([] { return layer_norm(sevens, {0})(0) == 0; })> ||
    has_value<decltype([] { return layer_norm(sevens, {0, beside_std, biased})(0) == 0; })>;
const entry A076 = settle("A076", holds([](const claim& c) { return identity(c.points_of_degree(16), constant_row_gives_0); }),
                          holds([] { return with_eps_it_has_a_value && !without_eps_it_has_one; }));
// [/A076]

// [B046]
// σ + ε is another function than √(σ² + ε). With ε = 10^−5, the row (σ, −σ), and σ = 1: 5·10^−6 apart, which are 84 units in the
// last place of float32 (2^−24 just below 1). At σ = 0.01 the factor is 1.0478, at σ = 0.001 3.2838.
constexpr interval first(const interval& sigma, eps_placement placement) {
    return layer_norm(tensor<interval, axis<2>>{sigma, -sigma}, {interval::ratio(1, 100000), placement, biased})(0);
}
constexpr interval beside = first(1, beside_std), inside = first(1, in_variance);
constexpr interval hundredth = interval::ratio(1, 100), thousandth = interval::ratio(1, 1000);
constexpr interval at_hundredth = first(hundredth, beside_std) / first(hundredth, in_variance);
constexpr interval at_thousandth = first(thousandth, beside_std) / first(thousandth, in_variance);

constexpr agreement is_the_papers(draw& at) {
    const auto row = at.vector<d>();
    const auto how = with_root(at, row);
    return agree(layer_norm(row, {how.eps, beside_std, biased}), layer_norm(row, how));
}
const entry B046 = settle("B046", fails_as_printed([] { return different<is_the_papers>; }), holds_corrected("0.01", [](std::string_view sigma) {
    return is_exactly(rational::ratio(1, 100), sigma, 2) && surely(at_hundredth > 1);
}), holds_corrected("0.001", [](std::string_view sigma) {
    return is_exactly(rational::ratio(1, 1000), sigma, 3) && surely(at_thousandth > 1);
}), holds_corrected([](const claim& c) {
    return prints(beside, c.number(0), 11) && prints(inside, c.number(1), 11) &&
           prints((inside - beside) * interval::power_of_two(24), c.number(2), 0) &&
           prints(at_hundredth, c.number(3), 4) && prints(at_thousandth, c.number(4), 4) &&
           c.value_reads("# instead of #, # units; factors # and #");
}));
// [/B046]

// What there is no value for: mean and variance of nothing, the unbiased variance of one.
constexpr bool is_nan(double x) { return x != x; }
static_assert(is_nan(mean(tensor<double, axis<0>>{})) && is_nan(variance(tensor<double, axis<0>>{})) &&
              is_nan(variance(tensor<double, axis<1>>{5}, unbiased)));
static_assert(variance(tensor<rational, axis<1>>{5}) == 0 && variance(tensor<rational, axis<2>>{1, -1}, unbiased) == 2);
// ε is 10^−5 unless told, in the root.
static_assert(layer_norm_options<rational>{}.eps == rational::ratio(1, 100000) &&
              layer_norm_options<rational>{}.placement == in_variance &&
              layer_norm_options<rational>{}.variance == biased);

} // namespace
} // namespace attest::proofs
