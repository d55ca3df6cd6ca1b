// SPDX-License-Identifier: BSL-1.0
// Add & Norm: what layer normalisation does to mean and variance, where ε stands, and the gradients of both halves.

#include "exact.hpp"

#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/interval.hpp"
#include "attest/formula/layer_norm.hpp"
#include "attest/formula/residual.hpp"
#include "attest/gradient/layer_norm.hpp"
#include "attest/gradient/residual.hpp"

namespace attest::proofs {
namespace {

struct d : axis<4> {};
struct other_d : axis<3> {};
constexpr auto in_variance = eps_placement::variance, beside_std = eps_placement::std;
constexpr auto biased = variance_kind::biased, unbiased = variance_kind::unbiased;

// Row number `which` of the 81 with components −1, 0, 1.
constexpr tensor<exact, d> row_of_signs(int which) {
    tensor<exact, d> x;
    for (std::size_t c = 0; c < 4; ++c, which /= 3) x(c) = which % 3 - 1;
    return x;
}

// [A074]
// A073, A074, B047: [1, 0, 0, 0] has mean 1/4, biased variance 3/16, unbiased 1/4.
constexpr tensor<exact, d> one_hot{1, 0, 0, 0};
static_assert(mean(one_hot) == ratio(1, 4));
static_assert(variance(one_hot, biased) == ratio(3, 16) && variance(one_hot, unbiased) == ratio(1, 4));
// Its first component becomes √3 or exactly 3/2; the ratio is √(3/4) = 0.8660.
constexpr tensor<interval, d> same_row{1, 0, 0, 0};
constexpr interval by_biased = layer_norm(same_row, {0, in_variance, biased})(0);
constexpr interval by_unbiased = layer_norm(same_row, {0, in_variance, unbiased})(0);
static_assert(rounds_to(by_biased, "1.7320508") && surely(by_unbiased == interval::ratio(3, 2)));
static_assert(rounds_to(by_unbiased / by_biased, "0.8660"));
// [/A074]

// [A075]
// A075, A089: Σ x̂ = 0 and Σ x̂² = d σ²/(σ² + ε), exactly, for all 81 rows; ε = 2 − σ², so that the root is √2. So the
// mean is 0, and the variance σ²/(σ² + ε) is below 1; it is 0 for a constant row (A076).
constexpr bool sums_are_right(int which) {
    const auto x = row_of_signs(which);
    const exact v = variance(x);
    const auto x_hat = layer_norm(x, {2 - v, in_variance, biased});
    exact sum = 0, squares = 0;
    for (std::size_t c = 0; c < 4; ++c) {
        sum = sum + x_hat(c);
        squares = squares + x_hat(c) * x_hat(c);
    }
    return sum == 0 && squares == 4 * v / 2;
}
constexpr bool all_sums_are_right = [] {
    for (int which = 0; which < 81; ++which)
        if (!sums_are_right(which)) return false;
    return true;
}();
static_assert(all_sums_are_right);
static_assert(layer_norm(tensor<exact, d>{7, 7, 7, 7}, {2}) == tensor<exact, d>{});

// A089: for σ² = 1 and ε = 10^−5 the variance is 0.999990000099999…, not 1.
constexpr auto standardised = layer_norm(tensor<interval, axis<2>>{1, -1});
constexpr interval variance_after = (standardised(0) * standardised(0) + standardised(1) * standardised(1)) / 2;
static_assert(rounds_to(variance_after, "0.999990000099999") && surely(variance_after < 1));

// |x̂_c| <= √(d − 1): d (d x_c − Σx)² <= (d − 1) Σ_i (d x_i − Σx)², here for all x in {−2, …, 2}⁴; reached above by √3.
constexpr bool bound_holds = [] {
    for (int which = 0; which < 625; ++which) {
        int x[4] = {}, sum = 0, squares = 0, rest = which;
        for (int& value : x) value = rest % 5 - 2, rest /= 5, sum += value;
        for (const int value : x) squares += (4 * value - sum) * (4 * value - sum);
        for (const int value : x)
            if (4 * (4 * value - sum) * (4 * value - sum) > 3 * squares) return false;
    }
    return true;
}();
static_assert(bound_holds);
// [/A075]

// [A077]
// A077, A091: γ and β have one component for each of x. A092, A093: γ_c x̂_c + β_c, and γ = 1, β = 0 are the start.
static_assert(rules::norm_weight_for_each_component::holds<d, d>);
static_assert(!rules::norm_weight_for_each_component::holds<d, other_d>);
constexpr tensor<exact, d> x{5, 1, 3, 3}; // σ² = 2: the root is √2
constexpr auto x_hat = layer_norm(x, {0});
static_assert(x_hat == tensor<exact, d>{root_two, -root_two, 0, 0});
static_assert(layer_norm(x, layer_norm_weights<exact, d>{{3, 5, 7, 9}, {1, 2, 3, 4}}, {0}) ==
              tensor<exact, d>{3 * root_two + 1, 2 - 5 * root_two, 3, 4});
static_assert(layer_norm(x, layer_norm_weights<exact, d>{}, {0}) == x_hat);
// [/A077]

// [B046]
// B046: σ + ε is another function than √(σ² + ε). With ε = 10^−5, the row (σ, −σ), and σ = 1: 5·10^−6 apart, which are
// 84 units in the last place of float32 (2^−24 just below 1). At σ = 0.01 the factor is 1.0478, at σ = 0.001 3.2838.
constexpr interval normalised(const interval& sigma, eps_placement placement) {
    return layer_norm(tensor<interval, axis<2>>{sigma, -sigma}, {interval::ratio(1, 100000), placement, biased})(0);
}
constexpr interval beside = normalised(1, beside_std), inside = normalised(1, in_variance);
static_assert(rounds_to(beside, "0.99999000010") && rounds_to(inside, "0.99999500004"));
static_assert(rounds_to((inside - beside) * interval::power_of_two(24), "84"));
constexpr interval hundredth = interval::ratio(1, 100), thousandth = interval::ratio(1, 1000);
static_assert(rounds_to(normalised(hundredth, beside_std) / normalised(hundredth, in_variance), "1.0478"));
static_assert(rounds_to(normalised(thousandth, beside_std) / normalised(thousandth, in_variance), "3.2838"));
// [/B046]

// [gradient]
// The gradient formula is what dual numbers say, exactly, in each place of ε and for each kind of variance. The rows have
// σ² = 2, or σ² + ε = 2.
constexpr tensor<exact, axis<1>, d> dy{{2, -1, 3, 5}};
constexpr layer_norm_weights<exact, d> weights{{1, 2, -3, 4}, {1, 1, 1, 1}};
constexpr bool gradient_is_right(const tensor<exact, axis<1>, d>& at, const layer_norm_options<exact>& options) {
    const auto gradient = layer_norm_vjp(at, weights, options, dy);
    for (std::size_t by = 0; by < 4; ++by) {
        tensor<dual<exact>, d> moved, gamma, beta;
        for (std::size_t c = 0; c < 4; ++c) {
            moved(c) = dual<exact>(at(0, c), c == by ? 1 : 0);
            gamma(c) = dual<exact>(weights.gamma(c));
            beta(c) = dual<exact>(weights.beta(c));
        }
        const auto y = layer_norm(moved, layer_norm_weights<dual<exact>, d>{gamma, beta},
                                  {dual<exact>(options.eps), options.placement, options.variance});
        exact along_dy = 0;
        for (std::size_t c = 0; c < 4; ++c) along_dy = along_dy + dy(0, c) * y(c).derivative();
        if (!(gradient.dx(0, by) == along_dy)) return false;
        if (!(gradient.dweights.gamma(by) == dy(0, by) * layer_norm(at[0], options)(by))) return false;
    }
    return gradient.dweights.beta == dy[0];
}
static_assert(gradient_is_right({{1, 0, 0, 0}}, {2 - ratio(3, 16), in_variance, biased}));
static_assert(gradient_is_right({{1, 0, 0, 0}}, {2 - ratio(1, 4), in_variance, unbiased}));
static_assert(gradient_is_right({{5, 1, 3, 3}}, {ratio(1, 3), beside_std, biased}));
static_assert(gradient_is_right({{2, 5, 3, 2}}, {ratio(1, 3), beside_std, unbiased}));
// [/gradient]

// [A087]
// A084, A085, B043: x + f(x), element by element; f must keep the shape.
static_assert(rules::residual_keeps_shape::holds<d, d> && !rules::residual_keeps_shape::holds<d, other_d>);
static_assert(residual(tensor<int, d>{1, 2, 3, 4}, tensor<int, d>{5, 0, -3, 1}) == tensor<int, d>{6, 2, 0, 5});
// A086, A087: the slope of x + f(x) is 1 + f′, which need not be at least 1: f′ = −1/100 gives 99/100, f′ = −1 gives 0.
constexpr exact slope_of_residual(const exact& f_slope) {
    const tensor<dual<exact>, axis<1>> moved{dual<exact>(5, 1)}, f{dual<exact>(f_slope) * moved(0)};
    return residual(moved, f)(0).derivative();
}
static_assert(slope_of_residual(0) == 1 && slope_of_residual(ratio(-1, 100)) == ratio(99, 100));
static_assert(slope_of_residual(-1) == 0);
// B044: what reaches the direct path is all of dy.
static_assert(residual_vjp(dy).dx == dy && residual_vjp(dy).dsublayer == dy);
// [/A087]

} // namespace
} // namespace attest::proofs
