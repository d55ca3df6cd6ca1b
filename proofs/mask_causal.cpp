// SPDX-License-Identifier: BSL-1.0
// The causal mask: no token sees its future, what becomes of the weights that are left, and the exercises' numbers. (Masks in general:
// mask.cpp.)

#include "exact.hpp"
#include "identity.hpp"
#include "printed.hpp"
#include "settle.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/attention.hpp"

#include <bit>
#include <limits>

namespace attest::proofs {
namespace {

struct keys : axis<3> {};
struct d_k : axis<3> {};
struct d_v : axis<2> {};

// [B039]
// One sequence of 4 tokens under the causal mask: q, k, v and the scale are free.
struct tokens : axis<4> {};
template <class S>
struct sequence {
    tensor<S, tokens, d_k> q, k;
    tensor<S, tokens, d_v> v;
    scaled_dot_product<S> score;
};
constexpr sequence<field> free_sequence(draw& x) {
    return {x.matrix<tokens, d_k>(), x.matrix<tokens, d_k>(), x.matrix<tokens, d_v>(), {x.number()}};
}
template <class S>
constexpr auto pass(const sequence<S>& of) {
    return attention(of.q, of.k, of.v, causal_top_left{}, of.score);
}

// The first `count` tokens, on an axis whose length is known at run time.
template <class X>
constexpr auto first_tokens(const X& x, std::size_t count) {
    auto y = tensor<scalar_of<X>, axis<dynamic>, axis_of<X, 1>>::with_lengths(count, x.length(1));
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t c = 0; c < x.length(1); ++c) y(i, c) = x(i, c);
    return y;
}

// In double: the tokens from `from` on become NaN, which no sum forgives (and some compilers take no arithmetic with it
// for a constant expression).
constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
constexpr sequence<double> spoken{{{1, 2, -1}, {0.5, -3, 2}, {0, 1, 1}, {2, 0.25, 1}},
                                  {{-1, 0.5, 2}, {1, 1, 0}, {3, -1, 0.5}, {0.75, 2, 1}},
                                  {{1, -2}, {0.5, 4}, {3, 0.125}, {-1, 2}},
                                  {0.625}};
constexpr sequence<double> without_future(std::size_t from) {
    auto known = spoken;
    for (std::size_t i = from; i < 4; ++i) {
        for (std::size_t c = 0; c < 3; ++c) known.q(i, c) = known.k(i, c) = nan;
        for (std::size_t c = 0; c < 2; ++c) known.v(i, c) = nan;
    }
    return known;
}
constexpr auto row_of(const sequence<double>& of, std::size_t i) {
    return attend(of.q[i], of.k, of.v, i, causal_top_left{}, of.score).out;
}
constexpr bool same_bits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
constexpr bool keeps_its_bits(std::size_t row, std::size_t from) {
    const auto z = row_of(spoken, row), z_known = row_of(without_future(from), row);
    return same_bits(z(0), z_known(0)) && same_bits(z(1), z_known(1));
}

// B039: position i does not see positions j > i: neither by the mask's word, nor would it notice if they were no
// numbers.
const entry B039 = settle(
    "B039", holds([] {
        for (std::size_t i = 0; i < 8; ++i)
            for (std::size_t j = 0; j < 8; ++j)
                if (causal_top_left{}.visible(i, j) != (j <= i) || causal_bottom_right{8, 8}.visible(i, j) != (j <= i))
                    return false;
        return true;
    }),
    holds([] { return keeps_its_bits(0, 1) && keeps_its_bits(0, 2) && keeps_its_bits(1, 2) && keeps_its_bits(2, 3); }));

// B040: the scores that count are q_i · k_j, scaled, for j <= i.
constexpr auto causal_definition = [](draw& x) {
    const auto of = free_sequence(x);
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 4; ++i) {
        const auto row = attend(of.q[i], of.k, of.v, i, causal_top_left{}, of.score);
        field e[4], sum(0);
        for (std::size_t j = 0; j <= i; ++j) {
            e[j] = (of.q(i, 0) * of.k(j, 0) + of.q(i, 1) * of.k(j, 1) + of.q(i, 2) * of.k(j, 2)) * of.score.scale;
            sum = sum + exp(e[j]);
        }
        field z[2];
        for (std::size_t j = 0; j < 4; ++j) {
            const field alpha = j <= i ? exp(e[j]) / sum : field(0);
            if (j <= i) all = all & agree(row.scores(j), e[j]);
            all = all & agree(row.weights(j), alpha);
            for (std::size_t c = 0; c < 2; ++c) z[c] = z[c] + alpha * of.v(j, c);
        }
        all = all & agree(row.out(0), z[0]) & agree(row.out(1), z[1]);
    }
    return all;
};
constexpr double hide = -infinity;
constexpr tensor<double, tokens, tokens> minus_infinity_above{
    {0, hide, hide, hide}, {0, 0, hide, hide}, {0, 0, 0, hide}, {0, 0, 0, 0}};
const entry B040 = settle("B040", holds([](const claim& c) { return identity(c.points_with_exp(), causal_definition); }), holds([] {
                              const auto z = pass(spoken),
                                         z_added = attention(spoken.q, spoken.k, spoken.v,
                                                             additive_mask{minus_infinity_above}, spoken.score);
                              for (std::size_t i = 0; i < 4; ++i)
                                  if (!same_bits(z(i, 0), z_added(i, 0)) || !same_bits(z(i, 1), z_added(i, 1)))
                                      return false;
                              return true;
                          }));

// B041: the weights of the future are 0: +0, masked or added, and with no mask at all where the scores themselves are
// −∞.
constexpr auto e = scores(spoken.q, spoken.k, spoken.score);
constexpr bool future_is_zero(const tensor<double, tokens, tokens>& alpha) {
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j)
            if (j > i ? !same_bits(alpha(i, j), 0.0) : !(alpha(i, j) > 0)) return false;
    return true;
}
const entry B041 = settle("B041", holds([] {
                              return future_is_zero(softmax(e, causal_top_left{})) &&
                                     future_is_zero(softmax(e, additive_mask{minus_infinity_above}));
                          }),
                          holds([] {
                              auto with_infinities = e;
                              for (std::size_t i = 0; i < 4; ++i)
                                  for (std::size_t j = i + 1; j < 4; ++j) with_infinities(i, j) = hide;
                              return future_is_zero(softmax(with_infinities));
                          }),
                          holds([] {
                              const auto alpha = softmax(tensor<exact, keys, keys>{{1, 3, 0}, {-2, 1, 4}, {0, 5, 2}},
                                                         causal_top_left{});
                              return alpha(0, 1) == 0 && alpha(0, 2) == 0 && alpha(1, 2) == 0;
                          }));

// B042: one pass over the sequence gives every prefix its own pass.
const entry B042 = settle("B042", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& x) {
                                  const auto of = free_sequence(x);
                                  const auto z = pass(of);
                                  agreement all = agreement::equal;
                                  for (std::size_t t = 1; t < 4; ++t)
                                      all = all & agree(attention(first_tokens(of.q, t), first_tokens(of.k, t),
                                                                  first_tokens(of.v, t), causal_top_left{}, of.score),
                                                        first_tokens(z, t));
                                  return all;
                              });
                          }));
// [/B039]

// [E075]
// E075: e^{−∞} = +0 in double; and a score of −∞ hides a key. e^{−x} falls below every bound.
const entry E075 = settle(
    "E075", holds([] {
        return same_bits(exp(-infinity), 0.0) && future_is_zero(softmax(e, additive_mask{minus_infinity_above}));
    }),
    holds([] { return surely(exp(interval(-56)) < interval::power_of_two(-80)) && surely(exp(interval(-56)) > 0); }));
// [/E075]

// [E076]
// E076: the surviving weights renormalise, α_masked = α / Σ_{j<=i} α.
const entry E076 =
    settle("E076", holds([](const claim& c) {
               return identity(c.points_with_exp(), [](draw& x) {
                   const auto s = x.matrix<tokens, tokens>();
                   const auto alpha = softmax(s), alpha_masked = softmax(s, causal_top_left{});
                   agreement all = agreement::equal;
                   for (std::size_t i = 0; i < 4; ++i) {
                       field surviving(0);
                       for (std::size_t j = 0; j <= i; ++j) surviving = surviving + alpha(i, j);
                       for (std::size_t j = 0; j < 4; ++j)
                           all = all & agree(alpha_masked(i, j) * surviving, j <= i ? alpha(i, j) : field(0));
                   }
                   return all;
               });
           }),
           holds([] { // Rational weights: scores in units of log 2.
               return softmax(tensor<exact, keys, keys>{{1, 3, 0}, {-2, 1, 4}, {0, 5, 2}}, causal_top_left{}) ==
                      tensor<exact, keys, keys>{{1, 0, 0}, //
                                                {ratio(1, 9), ratio(8, 9), 0},
                                                {ratio(1, 37), ratio(32, 37), ratio(4, 37)}};
           }));
// [/E076]

// [E077]
// E077: token 1 of the worked example, q_1 = k_1 = (1, 1), k_2 = (1, −1), v_1 = (1, 0), v_2 = (0, 1): it sees itself
// alone.
constexpr tensor<exact, axis<1>, axis<2>> q_1{{1, 1}};
constexpr tensor<exact, axis<2>, axis<2>> k{{1, 1}, {1, -1}}, v{{1, 0}, {0, 1}};
constexpr auto token_1 = attend(q_1[0], k, v, 0, causal_top_left{}, scaled_dot_product<exact>::of_dimension(2));
static_assert(token_1.scores(0) == root_two);
const entry E077 = settle(
    "E077",
    holds("1.41421",
          [](std::string_view printed) {
              return prints(scores(tensor<interval, axis<1>, axis<2>>{{1, 1}},
                                   tensor<interval, axis<1>, axis<2>>{{1, 1}},
                                   scaled_dot_product<interval>::of_dimension(2))(0, 0),
                            printed, 5);
          }),
    holds("1.00000", [](std::string_view printed) { return is_exactly(token_1.weights(0), printed, 5); }),
    holds("0", [](std::string_view printed) { return is_exactly(token_1.weights(1), printed); }),
    holds("1.00000", [](std::string_view printed) { return is_exactly(token_1.out(0), printed, 5); }),
    holds("0.00000", [](std::string_view printed) { return is_exactly(token_1.out(1), printed, 5); }),
    holds("1", [](std::string_view printed) { return is_exactly(v(0, 0), printed) && is_exactly(v(1, 1), printed); }),
    holds("0",
          [](std::string_view printed) { return is_exactly(v(0, 1), printed) && is_exactly(v(1, 0), printed); }));

// E078: token 1 reads only itself.
const entry E078 = settle("E078", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& x) {
                                  const auto of = free_sequence(x);
                                  const auto z = pass(of);
                                  return agree(z[0], of.v[0]);
                              });
                          }),
                          holds([] { return keeps_its_bits(0, 1); }));
// [/E077]

} // namespace
} // namespace attest::proofs
