// SPDX-License-Identifier: BSL-1.0
// Masks: who sees whom, and what becomes of the weights that are left.

#include "exact.hpp"

#include "attest/formula/attention.hpp"

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
// B039, B040: query i sees the keys j <= i.
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

// [E075]
// E075: e^{−∞} = +0 in double; and a score of −∞ hides a key: an additive mask says so before any arithmetic does.
constexpr double infinity = std::numeric_limits<double>::infinity();
static_assert(exp(-infinity) == 0.0 && std::bit_cast<std::uint64_t>(exp(-infinity)) == 0);
static_assert(looks_like<2, 3>(additive_mask{tensor<double, queries, keys>{{0, -infinity, 1}, {-infinity, -1, 0}}},
                               "x.x"
                               ".xx"));
// [/E075]

// [E076]
// E076: the surviving weights renormalise, α_masked = α / Σ_{j<=i} α, exactly, on rational weights (scores in units of
// log 2).
struct tokens : axis<3> {};
constexpr tensor<exact, tokens, tokens> s{{1, 3, 0}, {-2, 1, 4}, {0, 5, 2}};
constexpr auto alpha = softmax(s);
constexpr auto alpha_causal = softmax(s, causal_top_left{});
constexpr bool survivors_renormalise = [] {
    for (std::size_t i = 0; i < 3; ++i) {
        exact visible_sum = 0;
        for (std::size_t j = 0; j <= i; ++j) visible_sum = visible_sum + alpha(i, j);
        for (std::size_t j = 0; j < 3; ++j)
            if (alpha_causal(i, j) != (j <= i ? alpha(i, j) / visible_sum : exact(0))) return false;
    }
    return true;
}();
static_assert(survivors_renormalise);
static_assert(alpha_causal == tensor<exact, tokens, tokens>{{1, 0, 0}, //
                                                            {ratio(1, 9), ratio(8, 9), 0},
                                                            {ratio(1, 37), ratio(32, 37), ratio(4, 37)}});
// [/E076]

// [E077]
// E077: token 1 sees itself alone: α_11 = 1 and α_12 = 0 exactly, whatever its score.
constexpr auto first_row = softmax(tensor<exact, queries, queries>{{root_two, 0}, {0, 0}}, causal_top_left{});
static_assert(first_row(0, 0) == 1 && first_row(0, 1) == 0);
// [/E077]

// [empty]
// A row without a visible key is zero, or, where that is asked for and the arithmetic has one, NaN.
constexpr causal_bottom_right late{3, 1};
static_assert(softmax(s, drop_mask{tensor<bool, tokens, tokens>{
                             {true, true, true}, {true, true, true}, {true, true, true}}}) ==
              tensor<exact, tokens, tokens>{});
constexpr tensor<double, tokens, axis<1>> column{{0}, {0}, {0}};
constexpr auto zeros = softmax(column, late), nans = softmax(column, late, empty_row::nan);
static_assert(zeros(0, 0) == 0 && zeros(1, 0) == 0 && zeros(2, 0) == 1);
static_assert(nans(0, 0) != nans(0, 0) && nans(1, 0) != nans(1, 0) && nans(2, 0) == 1);
// [/empty]

} // namespace
} // namespace attest::proofs
