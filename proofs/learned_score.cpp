// SPDX-License-Identifier: BSL-1.0
// Scores with weights of their own, for a query s of 2 components, a key h of 3, and 4 in the space that they share.

#include "identity.hpp"
#include "polynomial.hpp"
#include "settle.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/learned_score.hpp"

namespace attest::proofs {
namespace {

struct d_s : axis<2> {};
struct d_h : axis<3> {};
struct shared : axis<4> {};

// [B003]
// sᵀ W h = Σ_ac s_a W_ac h_c.
constexpr bool bilinear_is_the_double_sum = [] {
    symbols x;
    const auto s = x.vector<d_s>();
    const auto h = x.vector<d_h>();
    const bilinear score{x.matrix<d_s, d_h>()};
    polynomial sum = 0;
    for (std::size_t a = 0; a < d_s::size; ++a)
        for (std::size_t c = 0; c < d_h::size; ++c) sum = sum + s(a) * score.w(a, c) * h(c);
    return score(s, h) == sum;
}();
const entry B003 = settle("B003", holds([] { return bilinear_is_the_double_sum; }), holds([] {
                              using w = tensor<double, d_s, d_h>;
                              return score_fits<bilinear<w>, d_s, d_h>() && !score_fits<bilinear<w>, d_h, d_h>() &&
                                     !score_fits<bilinear<w>, d_s, d_s>();
                          }),
                          holds([] {
                              symbols x;
                              const auto s = x.vector<d_s>(), h = x.vector<d_s>();
                              return bilinear{tensor<polynomial, d_s, d_s>{{1, 0}, {0, 1}}}(s, h) == dot_product{}(s, h);
                          }));
// Exchanging the two components is in no way a weighting Σ_c w_c s_c h_c, which is 0 for s = (1, 0), h = (0, 1).
constexpr polynomial weighted(const tensor<polynomial, d_s>& w, const tensor<polynomial, d_s>& s,
                              const tensor<polynomial, d_s>& h) {
    return w(0) * s(0) * h(0) + w(1) * s(1) * h(1);
}
const entry B004 = settle("B004", fails_as_printed([] {
                              symbols x;
                              const auto w = x.vector<d_s>();
                              const tensor<polynomial, d_s> s{1, 0}, h{0, 1};
                              return weighted(w, s, h) == 0 && bilinear{tensor<polynomial, d_s, d_s>{{0, 1}, {1, 0}}}(s, h) == 1;
                          }),
                          holds_corrected([] {
                              symbols x;
                              const auto w = x.vector<d_s>(), s = x.vector<d_s>(), h = x.vector<d_s>();
                              const auto all = x.matrix<d_s, d_s>();
                              const tensor<polynomial, d_s, d_s> diagonal{{w(0), 0}, {0, w(1)}};
                              return bilinear{diagonal}(s, h) == weighted(w, s, h) &&
                                     bilinear{all}(s, h) == weighted({all(0, 0), all(1, 1)}, s, h) + all(0, 1) * s(0) * h(1) +
                                                                all(1, 0) * s(1) * h(0);
                          }),
                          holds_corrected([] { return bilinear_is_the_double_sum && d_s::size != d_h::size; }));
// [/B003]

// [B005]
// b · tanh(W_1 h + W_2 s), by components. The `degree` of B005: in the field tanh is an opaque odd function. If its values are
// taken for free numbers, both sides have degree 2, in b and these. Two sides that differ may also agree because the argument of
// row a, of degree 2, happens to be that of the other side's row, or its negative: 4 rows, 2 · 2 for each. 2 + 16 is below 32.
template <class S, class W1, class W2, class B, class Query, class Key>
constexpr S additive_by_components(const W1& w_1, const W2& w_2, const B& b, const Query& s, const Key& h) {
    S e(0);
    for (std::size_t a = 0; a < b.length(0); ++a) {
        S inside(0);
        for (std::size_t c = 0; c < h.length(0); ++c) inside = inside + w_1(a, c) * h(c);
        for (std::size_t c = 0; c < s.length(0); ++c) inside = inside + w_2(a, c) * s(c);
        e = e + b(a) * attest::tanh(inside);
    }
    return e;
}
const entry B005 = settle("B005", holds([](const claim& of) {
                              return identity(of.points_of_degree(32), [](draw& x) {
                                  const auto s = x.vector<d_s>();
                                  const auto h = x.vector<d_h>();
                                  const additive score{x.matrix<shared, d_h>(), x.matrix<shared, d_s>(), x.vector<shared>()};
                                  return agree(score(s, h), additive_by_components<field>(score.w1, score.w2, score.b, s, h));
                              });
                          }),
                          holds([] { // not more than |b_1| + … + |b_4|, whatever s, h, W_1 and W_2 are
                              constexpr interval any_number = hull(interval(-1000), interval(1000));
                              tensor<interval, shared, d_h> w_1;
                              tensor<interval, shared, d_s> w_2;
                              tensor<interval, d_h> h;
                              tensor<interval, d_s> s;
                              for (std::size_t c = 0; c < d_h::size; ++c) h(c) = any_number;
                              for (std::size_t c = 0; c < d_s::size; ++c) s(c) = any_number;
                              for (std::size_t a = 0; a < shared::size; ++a) {
                                  for (std::size_t c = 0; c < d_h::size; ++c) w_1(a, c) = any_number;
                                  for (std::size_t c = 0; c < d_s::size; ++c) w_2(a, c) = any_number;
                              }
                              const interval e = additive{w_1, w_2, tensor<interval, shared>{2, 1, -1, 3}}(s, h);
                              return surely(e <= 2 + 1 + 1 + 3) && surely(e >= -(2 + 1 + 1 + 3));
                          }),
                          holds([] { // and nearly that: 2 tanh 19 + tanh 16 + tanh 8 + 3 tanh 20
                              const additive score{tensor<interval, shared, d_h>{{1, 2, 3}, {1, 0, 3}, {0, -2, 0}, {5, -5, 1}},
                                                   tensor<interval, shared, d_s>{{2, 2}, {3, 0}, {-1, -1}, {0, 9}},
                                                   tensor<interval, shared>{2, 1, -1, 3}};
                              const interval e = score(tensor<interval, d_s>{3, 1}, tensor<interval, d_h>{4, 2, 1});
                              return surely(e < 2 + 1 + 1 + 3) && surely(e > interval::decimal("6.9999"));
                          }));
const entry B006 = settle("B006", holds([] {
                              using w_1 = tensor<double, shared, d_h>;
                              using w_2 = tensor<double, shared, d_s>;
                              using b = tensor<double, shared>;
                              using of_key = decltype(project_out_in(tensor<double, axis<1>, d_h>{}, w_1{}));
                              using of_query = decltype(project_out_in(tensor<double, axis<1>, d_s>{}, w_2{}));
                              using score = additive<w_1, w_2, b>;
                              using other_w_1 = tensor<double, axis<5>, d_h>;
                              using other_b = tensor<double, axis<5>>;
                              return std::same_as<axis_of<of_key, 1>, shared> && std::same_as<of_key, of_query> &&
                                     score_fits<score, d_s, d_h>() && !score_fits<score, d_h, d_h>() &&
                                     !score_fits<score, d_s, d_s>() && !score_fits<additive<other_w_1, w_2, b>, d_s, d_h>() &&
                                     !score_fits<additive<w_1, w_2, other_b>, d_s, d_h>();
                          }));
// [/B005]

// [dynamic]
// The same scores with lengths that are known at run time alone.
using any = axis<dynamic>;
static_assert(identity(4, [](draw& x) {
    const auto s = x.vector<d_s>();
    const auto h = x.vector<d_h>();
    const bilinear score{x.matrix<d_s, d_h>()};
    const bilinear<tensor<field, any, any>> same{tensor<field, any, any>(score.w)};
    const additive plus{x.matrix<shared, d_h>(), x.matrix<shared, d_s>(), x.vector<shared>()};
    const additive<tensor<field, any, any>, tensor<field, any, any>, tensor<field, any>> same_plus{
        tensor<field, any, any>(plus.w1), tensor<field, any, any>(plus.w2), tensor<field, any>(plus.b)};
    const tensor<field, any> q(s), k(h);
    return agree(score(s, h), same(q, k)) & agree(plus(s, h), same_plus(q, k));
}));
// All scores of a matrix: rules that a score says of itself are asked there.
static_assert(identity(4, [](draw& x) {
    const auto q = x.matrix<axis<3>, d_s>();
    const auto k = x.matrix<axis<2>, d_h>();
    const bilinear score{x.matrix<d_s, d_h>()};
    const auto s = scores(q, k, score);
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 2; ++j) all = all & agree(s(i, j), score(q[i], k[j]));
    return all;
}));
// [/dynamic]

// [softcap]
// cap · tanh(s/cap) of any score s; of the scaled dot product of a d_k that is known later, too: here the factor is 1/√4 and
// 1/√9.
static_assert(identity(4, [](draw& x) {
    const auto q = x.vector<d_h>(), k = x.vector<d_h>();
    const field cap = x.number(), factor = x.number();
    const field s = q(0) * k(0) + q(1) * k(1) + q(2) * k(2);
    return agree(softcapped{dot_product{}, cap}(q, k), cap * attest::tanh(s / cap)) &
           agree(softcapped{scaled_dot_product<field>{factor}, cap}(q, k), cap * attest::tanh(s * factor / cap));
}));
constexpr auto capped = softcapped{scaled_by_dimension{}, rational(7)};
static_assert(score_of_dimension<rational>(capped, 4).score.scale == rational::ratio(1, 2) &&
              score_of_dimension<rational>(capped, 9).score.scale == rational::ratio(1, 3));
static_assert(score_of_dimension<rational>(capped, 4).cap == 7);
static_assert(score_fits<softcapped<dot_product, double>, d_s, d_s>() &&
              !score_fits<softcapped<dot_product, double>, d_s, d_h>());
constexpr auto capped_score = softcapped{dot_product{}, interval(2)}(tensor<interval, d_s>{3, 4}, tensor<interval, d_s>{5, 6});
static_assert(surely(capped_score < 2) && surely(capped_score > interval::decimal("1.9")));
// [/softcap]

} // namespace
} // namespace attest::proofs
