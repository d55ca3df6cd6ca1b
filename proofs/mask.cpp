// SPDX-License-Identifier: BSL-1.0
// Masks: who sees whom, and what becomes of the weights that are left. (Dropout, sinks and families: mask_extras.cpp.)

#include "exact.hpp"
#include "identity.hpp"
#include "settle.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/attention.hpp"

#include <bit>

namespace attest::proofs {
namespace {

// A row for each query, a column for each key: x may be seen.
template <std::size_t Queries, std::size_t Keys, mask M>
constexpr bool looks_like(const M& m, const char (&picture)[Queries * Keys + 1]) {
    for (std::size_t i = 0; i < Queries; ++i)
        for (std::size_t j = 0; j < Keys; ++j)
            if (m.visible(i, j) != (picture[i * Keys + j] == 'x')) return false;
    return true;
}

// [causal]
// Query i sees the keys j <= i.
static_assert(looks_like<4, 4>(causal_top_left{}, "x..."
                                                  "xx.."
                                                  "xxx."
                                                  "xxxx"));
// With as many queries as keys both conventions are one.
static_assert(looks_like<4, 4>(causal_bottom_right{4, 4}, "x..."
                                                          "xx.."
                                                          "xxx."
                                                          "xxxx"));
// Two queries, four keys: they differ. Aligned at the bottom right, the last query sees the last key.
static_assert(looks_like<2, 4>(causal_top_left{}, "x..."
                                                  "xx.."));
static_assert(looks_like<2, 4>(causal_bottom_right{2, 4}, "xxx."
                                                          "xxxx"));
// Four queries, two keys: the first two rows see nothing.
static_assert(looks_like<4, 2>(causal_top_left{}, "x."
                                                  "xx"
                                                  "xx"
                                                  "xx"));
static_assert(looks_like<4, 2>(causal_bottom_right{4, 2}, ".."
                                                          ".."
                                                          "x."
                                                          "xx"));
// [/causal]

// [window]
// Keys from `left` before to `right` behind the query, which stands at key i + shift: W = 2 keys, self included, of the
// past; one on each side; and shifted.
static_assert(looks_like<4, 4>(sliding_window{1, 0}, "x..."
                                                     "xx.."
                                                     ".xx."
                                                     "..xx"));
static_assert(looks_like<3, 5>(sliding_window{1, 2}, "xxx.."
                                                     "xxxx."
                                                     ".xxxx"));
static_assert(looks_like<3, 5>(sliding_window{2, 0, 2}, "xxx.."
                                                        ".xxx."
                                                        "..xxx"));
constexpr bool windows_are_windows = [] {
    for (std::size_t left = 0; left < 3; ++left)
        for (std::size_t right = 0; right < 3; ++right)
            for (int shift = -2; shift <= 2; ++shift)
                for (int i = 0; i < 4; ++i)
                    for (int j = 0; j < 5; ++j)
                        if (sliding_window{left, right, shift}.visible(static_cast<std::size_t>(i),
                                                                       static_cast<std::size_t>(j)) !=
                            (i + shift - static_cast<int>(left) <= j && j <= i + shift + static_cast<int>(right)))
                            return false;
    return true;
}();
static_assert(windows_are_windows);
// [/window]

// [boolean]
// The two polarities of a boolean mask, and two masks at once.
struct queries : axis<2> {};
struct keys : axis<3> {};
constexpr tensor<bool, queries, keys> marked{{true, false, true}, {false, true, true}};
static_assert(looks_like<2, 3>(keep_mask{marked}, "x.x"
                                                  ".xx"));
static_assert(looks_like<2, 3>(drop_mask{marked}, ".x."
                                                  "x.."));
static_assert(looks_like<2, 3>(keep_mask{marked} & causal_top_left{}, "x.."
                                                                      ".x."));
static_assert(looks_like<2, 3>(everything{}, "xxx"
                                             "xxx"));
// [/boolean]

// [additive]
// What an additive mask adds to the scores of visible keys; two of them add both. In an arithmetic without −∞ no entry
// hides.
struct d_k : axis<3> {};
struct d_v : axis<2> {};
struct four : axis<4> {};
static_assert(identity(1, [](draw& x) {
    const auto q = x.matrix<queries, four>();
    const auto k = x.matrix<keys, four>();
    const auto v = x.matrix<keys, d_v>();
    const additive_mask first{x.matrix<queries, keys>()}, second{x.matrix<queries, keys>()};
    const keep_mask kept{marked};
    const scaled_dot_product<field> score{x.number()};
    tensor<field, queries, d_v> biased, twice, hidden, hidden_twice;
    for (std::size_t i = 0; i < 2; ++i) {
        field sum(0), sum_twice(0), sum_hidden(0), sum_hidden_twice(0);
        for (std::size_t j = 0; j < 3; ++j) {
            const field s_ij =
                (q(i, 0) * k(j, 0) + q(i, 1) * k(j, 1) + q(i, 2) * k(j, 2) + q(i, 3) * k(j, 3)) * score.scale;
            const field once = exp(s_ij + first.bias(i, j)), both = exp(s_ij + first.bias(i, j) + second.bias(i, j)),
                        seen = marked(i, j) ? 1 : 0;
            sum = sum + once, sum_twice = sum_twice + both, sum_hidden = sum_hidden + seen * once,
            sum_hidden_twice = sum_hidden_twice + seen * both;
            for (std::size_t c = 0; c < 2; ++c) {
                biased(i, c) = biased(i, c) + once * v(j, c);
                twice(i, c) = twice(i, c) + both * v(j, c);
                hidden(i, c) = hidden(i, c) + seen * once * v(j, c);
                hidden_twice(i, c) = hidden_twice(i, c) + seen * both * v(j, c);
            }
        }
        for (std::size_t c = 0; c < 2; ++c) {
            biased(i, c) = biased(i, c) / sum, twice(i, c) = twice(i, c) / sum_twice;
            hidden(i, c) = hidden(i, c) / sum_hidden, hidden_twice(i, c) = hidden_twice(i, c) / sum_hidden_twice;
        }
    }
    return agree(attention(q, k, v, first, score), biased) & agree(attention(q, k, v, first & second, score), twice) &
           agree(attention(q, k, v, first & kept, score), hidden) &
           agree(attention(q, k, v, kept & first, score), hidden) &
           agree(attention(q, k, v, first & kept & second, score), hidden_twice);
}));
// [/additive]

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
const entry B040 = settle("B040", holds([](const claim& c) { return identity(c.seeds, causal_definition); }), holds([] {
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
                              return identity(c.seeds, [](draw& x) {
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
// E075: e^{−∞} = +0 in double; and a score of −∞ hides a key: an additive mask says so before any arithmetic does.
// e^{−x} falls below every bound.
static_assert(looks_like<2, 3>(additive_mask{tensor<double, queries, keys>{{0, -infinity, 1}, {-infinity, -1, 0}}},
                               "x.x"
                               ".xx"));
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
               return identity(c.seeds, [](draw& x) {
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
constexpr tensor<exact, queries, axis<2>> k{{1, 1}, {1, -1}}, v{{1, 0}, {0, 1}};
constexpr auto token_1 = attend(q_1[0], k, v, 0, causal_top_left{}, scaled_dot_product<exact>::of_dimension(2));
static_assert(token_1.scores(0) == root_two);
constexpr exact number_of(std::string_view printed) {
    const auto [digits, unit] = printed_decimal<long long>::read(printed);
    return ratio(digits, unit);
}
const entry E077 = settle(
    "E077",
    holds("1.41421",
          [](std::string_view printed) {
              return rounds_to(scores(tensor<interval, axis<1>, axis<2>>{{1, 1}},
                                      tensor<interval, axis<1>, axis<2>>{{1, 1}},
                                      scaled_dot_product<interval>::of_dimension(2))(0, 0),
                               printed);
          }),
    holds("1.00000", [](std::string_view printed) { return token_1.weights(0) == number_of(printed); }),
    holds("0", [](std::string_view printed) { return token_1.weights(1) == number_of(printed); }),
    holds("1.00000", [](std::string_view printed) { return token_1.out(0) == number_of(printed); }),
    holds("0.00000", [](std::string_view printed) { return token_1.out(1) == number_of(printed); }),
    holds("1", [](std::string_view printed) { return v(0, 0) == number_of(printed) && v(1, 1) == number_of(printed); }),
    holds("0",
          [](std::string_view printed) { return v(0, 1) == number_of(printed) && v(1, 0) == number_of(printed); }));

// E078: token 1 reads only itself.
const entry E078 = settle("E078", holds([](const claim& c) {
                              return identity(c.seeds, [](draw& x) {
                                  const auto of = free_sequence(x);
                                  const auto z = pass(of);
                                  return agree(z[0], of.v[0]);
                              });
                          }),
                          holds([] { return keeps_its_bits(0, 1); }));
// [/E077]

// [empty]
// A row without a visible key is zero, or, where that is asked for and the arithmetic has one, NaN.
static_assert(softmax(tensor<exact, keys, keys>{{1, 3, 0}, {-2, 1, 4}, {0, 5, 2}},
                      drop_mask{tensor<bool, keys, keys>{
                          {true, true, true}, {true, true, true}, {true, true, true}}}) == tensor<exact, keys, keys>{});
constexpr causal_bottom_right late{3, 1};
constexpr tensor<double, keys, axis<1>> column{{0}, {0}, {0}};
constexpr auto zeros = softmax(column, late), nans = softmax(column, late, empty_row::nan);
static_assert(zeros(0, 0) == 0 && zeros(1, 0) == 0 && zeros(2, 0) == 1);
static_assert(nans(0, 0) != nans(0, 0) && nans(1, 0) != nans(1, 0) && nans(2, 0) == 1);
// [/empty]

} // namespace
} // namespace attest::proofs
