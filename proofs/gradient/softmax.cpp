// SPDX-License-Identifier: BSL-1.0
// The gradient of softmax: what the lectures say of saturation, the greatest norm of the Jacobian, and the
// vector-Jacobian product against dual numbers.

#include "../exact.hpp"
#include "../identity.hpp"
#include "../printed.hpp"
#include "../settle.hpp"
#include "../whole_number.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/attention.hpp"
#include "attest/formula/mask_extras.hpp"
#include "attest/gradient/softmax.hpp"

namespace attest::proofs {
namespace {

struct one : axis<1> {};
struct two : axis<2> {};

// [E063]
// Two keys: one query (1), keys (s_1) and (s_2), values (v_1) and (v_2). The scores are s_1 and s_2, the output is α_1
// v_1 + α_2 v_2.
template <class S>
constexpr S output(const S& s_1, const S& s_2, const S& v_1, const S& v_2) {
    const tensor<S, one, one> q{{S(1)}};
    const tensor<S, two, one> k{{s_1}, {s_2}}, v{{v_1}, {v_2}};
    return attention(q, k, v, everything{}, dot_product{})(0, 0);
}
using with_slope = dual<interval>;
// v_1 = 0 and v_2 = 1: the derivatives by s_1, by s_2 and by v_2.
constexpr interval by_first_score(const interval& s_1, const interval& s_2) {
    return output(with_slope(s_1, 1), with_slope(s_2), with_slope(0), with_slope(1)).derivative();
}
constexpr interval by_second_score(const interval& s_1, const interval& s_2) {
    return output(with_slope(s_1), with_slope(s_2, 1), with_slope(0), with_slope(1)).derivative();
}
constexpr interval by_second_value(const interval& s_1, const interval& s_2) {
    return output(with_slope(s_1), with_slope(s_2), with_slope(0), with_slope(interval(1), interval(1))).derivative();
}
// The scores 8 and 0 of E058; scaled by 1/√64 they are 1 and 0. A step of a raw score is 1/√64 of a step of the scaled
// one.
constexpr interval scale = scaled_dot_product<interval>::of_dimension(64).scale;
constexpr interval unscaled = by_second_score(8, 0);
constexpr interval scaled = by_second_score(8 * scale, 0);
constexpr interval by_raw_score =
    output(with_slope(8 * scale), with_slope(0, scale), with_slope(0), with_slope(1)).derivative();

// ∂out/∂s_2 = α_1 α_2 (v_2 − v_1) = −∂out/∂s_1 and ∂out/∂v_j = α_j, for all scores and values: the derivative in a free
// direction.
constexpr auto slopes_of_two = [](draw& x) {
    const auto s = x.vector<two>(), v = x.vector<two>(), ds = x.vector<two>(), dv = x.vector<two>();
    const auto alpha = softmax(s);
    const auto out = output(along(s(0), ds(0)), along(s(1), ds(1)), along(v(0), dv(0)), along(v(1), dv(1)));
    return agree(out.derivative(),
                 alpha(0) * alpha(1) * (v(1) - v(0)) * (ds(1) - ds(0)) + alpha(0) * dv(0) + alpha(1) * dv(1));
};

// Both scores moved at once leave the output as it is, so that ∂out/∂s_1 = −∂out/∂s_2, for all scores and values.
constexpr auto slopes_are_opposite = [](draw& x) {
    const auto s = x.vector<two>(), v = x.vector<two>();
    const dual<field> v_1(v(0)), v_2(v(1));
    const field by_s_1 = output(along(s(0), 1), dual<field>(s(1)), v_1, v_2).derivative();
    const field by_s_2 = output(dual<field>(s(0)), along(s(1), 1), v_1, v_2).derivative();
    return agree(by_s_1, -by_s_2);
};

// The derivative by the second score, of values so far apart.
constexpr interval far_apart(int distance) { return output(with_slope(8), with_slope(0, 1), with_slope(0), with_slope(distance)).derivative(); }
// E063: "α_2 ≈ 0, so ∂out/∂s_2 ≈ 0". A weight near 0 is not needed: that of token 1 is 0.99966, and ∂out/∂s_1 is
// exactly as small. Nor is it enough: with the same weights, but values that are 10 000 apart, ∂out/∂s_2 exceeds 3.
const entry E063 = settle("E063", fails_as_printed([](const claim& c) {
                              return surely(softmax(tensor<interval, two>{8, 0})(0) > interval::ratio(99, 100)) &&
                                     surely(-by_first_score(8, 0) > 0) &&
                                     surely(-by_first_score(8, 0) < interval::ratio(1, 1000)) &&
                                     identity(c.points_with_exp(), slopes_are_opposite);
                          }),
                          fails_as_printed([] { return surely(softmax(tensor<interval, two>{8, 0})(1) < interval::ratio(1, 1000)) && surely(far_apart(10'000) > 3); }),
                          holds_corrected("10000", [](std::string_view distance) { return prints(far_apart(whole_number(distance)), "3.3524", 4); }),
                          holds_corrected([](const claim& c) { return identity(c.points_with_exp(), slopes_of_two); }),
                          holds_corrected([](const claim& c) {
                              return prints(unscaled, c.number(0), 9) && prints(scaled, c.number(1), 6) &&
                                     prints(scaled / unscaled, c.number(2), 0) &&
                                     prints(by_raw_score, c.number(3), 7) &&
                                     prints(by_raw_score / unscaled, c.number(4), 0);
                          }));
// E064: small, not 0.
const entry E064 =
    settle("E064", fails_as_printed([] { return surely(unscaled > 0) && surely(by_second_value(8, 0) > 0); }),
           holds_corrected([](const claim& c) {
               return prints(unscaled, c.number(0), 9) && prints(by_second_value(8, 0), c.number(1), 9);
           }),
           holds_corrected([](const claim& c) { return identity(c.points_with_exp(), slopes_of_two); }));
// E065: scaled, both weights are sizeable, and both derivatives, which are never greater than 1/4.
const entry E065 = settle("E065", holds([](const claim& c) {
                              const auto alpha = softmax(tensor<interval, two>{8 * scale, 0});
                              return prints(alpha(0), c.number(0), 5) && prints(alpha(1), c.number(1), 5) &&
                                     prints(scaled, c.number(2), 6);
                          }),
                          holds([] {
                              const auto alpha = softmax(tensor<interval, two>{8 * scale, 0});
                              const interval quarter = interval::ratio(1, 4), most = quarter * interval::ratio(3, 4);
                              return surely(alpha(0) > quarter) && surely(alpha(1) > quarter) &&
                                     surely(scaled > most) && surely(-by_first_score(1, 0) > most);
                          }));
// [/E063]

// [A044]
// A044: "gradients vanish almost everywhere". Every entry of the Jacobian ∂a_j/∂x_l is a sum of products of weights,
// with one sign, and weights are positive: none is 0, at any finite scores.
struct four : axis<4> {};
constexpr auto entries_of_the_jacobian = [](draw& x) {
    const auto a = softmax(x.vector<four>());
    agreement all = agreement::equal;
    for (std::size_t l = 0; l < 4; ++l) {
        const tensor<field, four> unit{l == 0 ? 1 : 0, l == 1 ? 1 : 0, l == 2 ? 1 : 0, l == 3 ? 1 : 0};
        const auto column = softmax_vjp(a, unit); // J is symmetric; that this is J: [vjp] below
        field others = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            if (j == l) continue;
            all = all & agree(column(j), -(a(j) * a(l)));
            others = others + a(l) * a(j);
        }
        all = all & agree(column(l), others);
    }
    return all;
};
// Of two scores that are g apart: 1/(2 + e^g + e^−g), which falls as g grows.
constexpr auto slope_by_the_gap = [](draw& x) {
    const field s = x.number(), gap = x.number();
    const auto a = softmax(tensor<dual<field>, two>{along(s + gap, 1), dual<field>(s)});
    return agree(a(0).derivative(), field(1) / (field(2) + exp(gap) + exp(-gap)));
};
const entry A044 =
    settle("A044", fails_as_printed([] { return surely(unscaled > 0); }), holds_corrected([](const claim& c) {
               return identity(c.points_with_exp(), entries_of_the_jacobian) && identity(c.points_with_exp(), slope_by_the_gap);
           }),
           holds_corrected([](const claim& c) {
               const interval at_a_tie = by_second_score(0, 0);
               return prints(unscaled, c.number(0), 9) && prints(at_a_tie, c.number(1), 2);
           }));
// [/A044]

// [A045]
// A045: "exploding or vanishing". J = diag(a) − a aᵀ is symmetric, and for every x, because the weights add to 1,
//
//     x·Jx           = Σ_{j<l} a_j a_l (x_j − x_l)²                               ≥ 0
//     |x|²/2 − x·Jx  = ½ Σ_j (1 − 2 a_j)² x_j² + Σ_{j<l} a_j a_l (x_j + x_l)²     ≥ 0
//
// so that its eigenvalues lie in [0, 1/2]: no gradient gets longer than half of what it was. (The second: 2 Σ_j a_j (1
// − a_j) x_j² is 2 Σ_{j<l} a_j a_l (x_j² + x_l²), and ½ − 2a(1 − a) = ½ (1 − 2a)².)
//
// Both sides are quadratic forms in x, which are equal if they agree at all unit vectors e_j and sums e_j + e_l; and
// polynomials in a_1, …, a_{n−1}, of degree at most 2 in each, which are equal if they agree wherever each is 0, 1 or 2
// (the last weight is 1 minus the others: here weights need not be positive). So whole numbers prove them, for n = 2, 3
// and 4.
template <std::size_t N>
constexpr bool squares_at(const tensor<long long, axis<N>>& a, const tensor<long long, axis<N>>& x,
                          long long inverse_bound) {
    const auto jx = softmax_vjp(a, x); // J x, J being symmetric
    long long quadratic_form = 0, length = 0, spread = 0, rest = 0;
    for (std::size_t j = 0; j < N; ++j) {
        quadratic_form += x(j) * jx(j);
        length += x(j) * x(j);
        rest += (1 - 2 * a(j)) * (1 - 2 * a(j)) * x(j) * x(j);
        for (std::size_t l = j + 1; l < N; ++l) {
            spread += a(j) * a(l) * (x(j) - x(l)) * (x(j) - x(l));
            rest += 2 * a(j) * a(l) * (x(j) + x(l)) * (x(j) + x(l));
        }
    }
    return quadratic_form == spread && length - inverse_bound * quadratic_form == rest;
}
template <std::size_t N>
constexpr bool squares_everywhere(long long inverse_bound) {
    tensor<long long, axis<N>> a;
    for (a(N - 1) = 1; a(0) < 3;) {
        for (std::size_t j = 0; j < N; ++j)
            for (std::size_t l = j; l < N; ++l) {
                tensor<long long, axis<N>> x;
                x(j) = x(l) = 1;
                if (!squares_at(a, x, inverse_bound)) return false;
            }
        // The next of the 3^{n−1} choices, the last but one weight first; each step keeps the sum at 1.
        std::size_t j = N - 2;
        for (; j > 0 && a(j) == 2; --j) a(j) = 0, a(N - 1) += 2;
        a(j) += 1, a(N - 1) -= 1;
    }
    return true;
}
// The bound as it stands in the ledger: 1/inverse. (No whole number: 0, of which nothing below is true.)
constexpr long long inverse(std::string_view bound) {
    const rational n = 1 / rational::decimal(bound);
    return n.denominator() == 1 ? static_cast<long long>(n.numerator()) : 0;
}

const entry A045 =
    settle("A045", fails_as_printed([] {
               // Exploding would need an eigenvalue above 1, and none is above 1/2.
               return squares_everywhere<2>(2) && squares_everywhere<3>(2);
           }),
           holds_corrected([](const claim& c) {
               const long long n = inverse(c.number());
               return squares_everywhere<2>(n) && squares_everywhere<3>(n) && squares_everywhere<4>(n);
           }),
           holds_corrected([](const claim& c) { // attained: J (1, −1) = ½ (1, −1) at equal scores
               const auto a = softmax(tensor<exact, two>{5, 5});
               const long long n = inverse(c.number());
               return softmax_vjp(a, tensor<exact, two>{1, -1}) == tensor<exact, two>{ratio(1, n), ratio(-1, n)};
           }),
           holds_corrected([] { // vanishing: at the scores 20 and 0 the norm of J, 2 a_1 a_2, is below 10^−8
               const auto a = softmax(tensor<interval, two>{20, 0});
               return surely(softmax_vjp(a, tensor<interval, two>{1, -1})(0) < interval::ratio(1, 100'000'000));
           }));
// [/A045]

// [B010]
// B010: "dividing by √d_k … healthier gradients".
const entry B010 =
    settle("B010", fails_as_printed([] {
               // Not non-saturated: raw scores that are 160 apart are 20 apart when scaled.
               const interval far = by_second_score(160 * scale, 0);
               return surely(far < unscaled);
           }),
           fails_as_printed([] {
               // Not healthier: at a tie a raw score has 1/4 unscaled, and less when it is scaled.
               const interval tie_scaled =
                   output(with_slope(0), with_slope(0, scale), with_slope(0), with_slope(1)).derivative();
               return surely(tie_scaled < by_second_score(0, 0));
           }),
           holds_corrected("64", [](std::string_view d_k) { // one standard deviation, 8, becomes 1
               return surely(8 * scaled_dot_product<interval>::of_dimension(static_cast<std::size_t>(whole_number(d_k))).scale == 1);
           }),
           holds_corrected([](const claim& c) {
               return prints(unscaled, c.number(0), 9) && prints(scaled, c.number(1), 6) &&
                      prints(by_raw_score, c.number(2), 7) && prints(by_raw_score / unscaled, c.number(3), 0);
           }),
           holds_corrected([](const claim& c) {
               const rational eighth = scaled_dot_product<rational>::of_dimension(64).scale;
               const auto a = softmax(tensor<exact, two>{0, 0});
               const auto slope = softmax_vjp(a, tensor<exact, two>{0, 1})(1);
               return rational::decimal(c.number(4)) == eighth && slope == ratio(1, 4);
           }),
           holds_corrected([](const claim& c) { return identity(c.points_with_exp(), slope_by_the_gap); }));
// [/B010]

// [vjp]
// softmax_vjp is the transpose of the derivative: ⟨da, J dx⟩ = ⟨vjp(a, da), dx⟩ for all x, dx and da; with hidden
// entries, with a sink, and with lengths known at run time. A sink's own gradient is −a_sink Σ_l a_l da_l.
struct keys : axis<3> {};
struct picked {
    unsigned bits;
    constexpr bool operator()(std::size_t j) const { return (bits >> j & 1U) != 0; }
};
constexpr auto hides = [](const picked& visible, const auto& dx) {
    for (std::size_t j = 0; j < dx.length(0); ++j)
        if (!visible(j) && dx(j) != field(0)) return false;
    return true;
};
template <unsigned bits>
constexpr bool is_the_transpose = identity(1, [](draw& x) {
    constexpr picked visible{bits};
    const auto z = x.vector<keys>(), dz = x.vector<keys>(), da = x.vector<keys>();
    const field sink = x.number(), dsink = x.number();
    const auto a = softmax(z, visible), a_sunk = softmax(z, visible, empty_row::zero, &sink);
    const auto dx = softmax_vjp(a, da, visible), dx_sunk = softmax_vjp(a_sunk, da, visible);
    if (!hides(visible, dx) || !hides(visible, dx_sunk)) return agreement::different;
    const dual<field> moving_sink = along(sink, dsink);
    field others(0), mean(0);
    for (std::size_t l = 0; l < 3; ++l) {
        if (visible(l)) others = others + exp(z(l));
        mean = mean + a_sunk(l) * da(l);
    }
    const field a_sink = attest::detail::sink_weight(z, visible, sink);
    return agree(inner(da, softmax(along(z, dz), visible)), inner(dx, dz)) &
           agree(inner(da, softmax(along(z, dz), visible, empty_row::zero, &moving_sink)),
                 inner(dx_sunk, dz) - a_sink * mean * dsink) &
           agree(attest::detail::weighted_mean(a_sunk, da, visible), mean) &
           agree(a_sink, exp(sink) / (others + exp(sink)));
});
static_assert(is_the_transpose<0b000> && is_the_transpose<0b010> && is_the_transpose<0b101> && is_the_transpose<0b111>);

// In double no score is great enough to overflow the weight of a sink.
constexpr auto sink_in_double = [](double sink, double s_0, double s_1) {
    return attest::detail::sink_weight(tensor<double, two>{s_0, s_1}, attest::detail::every_index{}, sink);
};
static_assert(sink_in_double(0, 1001, 2) == 0 && sink_in_double(1001, 0, 2) == 1);
static_assert(sink_in_double(1000, 1001, 998) == sink_in_double(0, 1, -2) &&
              sink_in_double(1002, 1001, 1000) == sink_in_double(2, 1, 0));

// Row by row, under a mask and without one; with lengths known at run time, too.
static_assert(identity(1, [](draw& x) {
    const auto z = x.matrix<two, keys>(), dz = x.matrix<two, keys>(), da = x.matrix<two, keys>();
    const auto a = softmax(z), a_causal = softmax(z, causal_top_left{});
    const tensor<field, axis<dynamic>, axis<dynamic>> a_at_run_time(a), da_at_run_time(da);
    return agree(inner(da, softmax(along(z, dz))), inner(softmax_vjp(a, da), dz)) &
           agree(inner(da, softmax(along(z, dz), causal_top_left{})),
                 inner(softmax_vjp(a_causal, da, causal_top_left{}), dz)) &
           agree(softmax_vjp(a_at_run_time, da_at_run_time), softmax_vjp(a, da)) &
           agree(softmax_vjp(a_at_run_time[1], da_at_run_time[1]), softmax_vjp(a[1], da[1]));
}));
// Hidden entries are not read: their weights and gradients may be NaN.
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr tensor<double, two, keys> a_with_nan{{nan, nan, nan}, {0.5, 0.5, nan}},
    da_with_nan{{nan, nan, nan}, {1, 2, nan}};
static_assert(softmax_vjp(a_with_nan, da_with_nan,
                          causal_bottom_right{2, 3} &
                              keep_mask{tensor<bool, two, keys>{{false, false, false}, {true, true, false}}}) ==
              tensor<double, two, keys>{{0, 0, 0}, {-0.25, 0.25, 0}});
// [/vjp]

} // namespace
} // namespace attest::proofs
