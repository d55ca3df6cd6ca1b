// SPDX-License-Identifier: BSL-1.0
// Masks: who sees whom, what an additive one does to the scores, and rows that see nothing. (What the lectures say of the causal mask:
// mask_causal.cpp. Dropout, sinks and families: mask_extras.cpp.)

#include "exact.hpp"
#include "identity.hpp"

#include "attest/formula/attention.hpp"

#include <limits>

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
// What an additive mask adds to the scores of visible keys; two of them add both. −∞ hides a key, before any arithmetic does; in an
// arithmetic without −∞ no entry hides.
constexpr double infinity = std::numeric_limits<double>::infinity();
static_assert(looks_like<2, 3>(additive_mask{tensor<double, queries, keys>{{0, -infinity, 1}, {-infinity, -1, 0}}},
                               "x.x"
                               ".xx"));
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
