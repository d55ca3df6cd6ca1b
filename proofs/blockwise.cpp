// SPDX-License-Identifier: BSL-1.0
// Attention over blocks of keys is attention: for every split of the keys into blocks.
//
// The running shift is a number of the field that has nothing to do with the scores, so what is tested holds for every
// shift, not for the running maximum alone.

#include "identity.hpp"

#include "attest/formula/blockwise.hpp"

namespace attest::proofs {
namespace {

struct queries : axis<2> {};
struct keys : axis<4> {};
struct d_k : axis<3> {};
struct d_v : axis<2> {};

struct attended {
    tensor<field, queries, d_k> q;
    tensor<field, keys, d_k> k;
    tensor<field, keys, d_v> v;
    scaled_dot_product<field> score;

    // Σ_j e^{s_ij + b_ij} v_j / Σ_j e^{s_ij + b_ij}, over the visible keys
    template <class Visible, class Bias>
    constexpr tensor<field, queries, d_v> in_one_go(const Visible& visible, const Bias& bias) const {
        tensor<field, queries, d_v> z;
        for (std::size_t i = 0; i < 2; ++i) {
            field sum(0), z_0(0), z_1(0);
            for (std::size_t j = 0; j < 4; ++j)
                if (visible(i, j)) {
                    const field e =
                        exp((q(i, 0) * k(j, 0) + q(i, 1) * k(j, 1) + q(i, 2) * k(j, 2)) * score.scale + bias(i, j));
                    sum = sum + e, z_0 = z_0 + e * v(j, 0), z_1 = z_1 + e * v(j, 1);
                }
            z(i, 0) = z_0 / sum, z(i, 1) = z_1 / sum;
        }
        return z;
    }
};
constexpr attended free_attention(draw& x) {
    return {x.matrix<queries, d_k>(), x.matrix<keys, d_k>(), x.matrix<keys, d_v>(), {x.number()}};
}
constexpr auto always = [](std::size_t, std::size_t) { return true; };
constexpr auto no_bias = [](std::size_t, std::size_t) { return field(0); };

// [splits]
// All 8 splits of 4 keys: bit j of `cuts` cuts behind key j. The last query, masked and not.
template <class M>
constexpr agreement every_split(const attended& of, const M& mask, const tensor<field, queries, d_v>& expected) {
    agreement all = agreement::equal;
    for (unsigned cuts = 0; cuts < 8; ++cuts) {
        running_softmax<field, d_v> row;
        std::size_t first = 0;
        for (std::size_t j = 0; j < 4; ++j)
            if (j == 3 || (cuts >> j & 1U) != 0) {
                row.add(of.q[1], of.k, of.v, 1, first, j + 1, mask, of.score);
                first = j + 1;
            }
        if (first != 4 || !row.any) return agreement::different;
        all = all & agree(row.output(0), row.denominator * expected(1, 0)) &
              agree(row.output(1), row.denominator * expected(1, 1));
    }
    return all;
}
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    return every_split(of, everything{}, of.in_one_go(always, no_bias));
}));
// Keys 1 and 3 hidden: blocks without a visible key come first, last, and between. And a bias on every score.
constexpr tensor<bool, queries, keys> may_see{{true, true, false, true}, {false, true, false, true}};
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    const additive_mask bias{x.matrix<queries, keys>()};
    return every_split(of, bias & keep_mask{may_see}, of.in_one_go(may_see, bias.bias));
}));
// Before a visible key has been met nothing is known; and what is known then depends on the shift as the definition
// says: l = Σ e^{s_j − m}, o = Σ e^{s_j − m} v_j.
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    running_softmax<field, d_v> row;
    row.add(of.q[1], of.k, of.v, 1, 0, 1, keep_mask{may_see}, of.score); // key 0 is hidden
    if (row.any || row.denominator != field(0) || row.output(0) != field(0) || row.shift != field(0))
        return agreement::different;
    row.add(of.q[1], of.k, of.v, 1, 1, 4, keep_mask{may_see}, of.score);
    const field e_1 = exp(of.score(of.q[1], of.k[1]) - row.shift), e_3 = exp(of.score(of.q[1], of.k[3]) - row.shift);
    return agree(row.denominator, e_1 + e_3) & agree(row.output(0), e_1 * of.v(1, 0) + e_3 * of.v(3, 0)) &
           agree(row.output(1), e_1 * of.v(1, 1) + e_3 * of.v(3, 1));
}));
// [/splits]

// [blocks]
// Blocks of 1 to 5 keys, and of more than there are.
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    const auto z = of.in_one_go(may_see, no_bias);
    agreement all = agreement::equal;
    constexpr std::size_t blocks[] = {1, 2, 3, 4, 5, ~std::size_t{0}};
    for (const std::size_t block : blocks)
        all = all & agree(blockwise_attention(of.q, of.k, of.v, block, keep_mask{may_see}, of.score), z);
    return all;
}));
// Against attention, with causal masks of both kinds; lengths known at run time.
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    const tensor<field, axis<dynamic>, axis<dynamic>> q(of.q), k(of.k), v(of.v);
    return agree(blockwise_attention(of.q, of.k, of.v, 3, causal_top_left{}, of.score),
                 attention(of.q, of.k, of.v, causal_top_left{}, of.score)) &
           agree(blockwise_attention(q, k, v, 2, causal_bottom_right{2, 4}, of.score),
                 attention(of.q, of.k, of.v, causal_bottom_right{2, 4}, of.score));
}));
// By itself the score is scaled by 1/√d_k: here 1/2, in double. A row without a visible key is zero, or NaN.
constexpr tensor<double, queries, axis<4>> q{{1, 0, 0, 1}, {2, 0, 0, 0}};
constexpr tensor<double, axis<3>, axis<4>> k{{0, 1, 1, 0}, {1, 0, 1, 0}, {-1, 1, 0, 0}};
constexpr tensor<double, axis<3>, d_v> v{{1, 2}, {3, 6}, {0, 1}};
constexpr keep_mask second_row_alone{tensor<bool, queries, axis<3>>{{false, false, false}, {true, true, true}}};
constexpr auto zeros = blockwise_attention(q, k, v, 2, second_row_alone);
constexpr auto nans = blockwise_attention(q, k, v, 2, second_row_alone, scaled_by_dimension{}, empty_row::nan);
static_assert(zeros == blockwise_attention(q, k, v, 2, second_row_alone, scaled_dot_product<double>{0.5}));
static_assert(!(zeros == blockwise_attention(q, k, v, 2, second_row_alone, dot_product{})));
static_assert(zeros(0, 0) == 0 && zeros(0, 1) == 0 && zeros(1, 0) > 2 && zeros(1, 0) < 3);
static_assert(nans(0, 0) != nans(0, 0) && nans(0, 1) != nans(0, 1) && nans(1, 0) == zeros(1, 0) &&
              nans(1, 1) == zeros(1, 1));
// In double the running shift keeps exp from overflowing: great scores give the bits that small ones give, as long as
// their differences are the same.
constexpr auto in_blocks_of = [](std::size_t block, double s_0, double s_1, double s_2) {
    return blockwise_attention(tensor<double, axis<1>, axis<1>>{{1}},
                               tensor<double, axis<3>, axis<1>>{{s_0}, {s_1}, {s_2}}, v, block, everything{},
                               dot_product{});
};
static_assert(in_blocks_of(1, 1000, 1001, 998) == in_blocks_of(1, 0, 1, -2) &&
              in_blocks_of(2, 1000, 1001, 998) == in_blocks_of(2, 0, 1, -2));
static_assert(in_blocks_of(1, -1001, -1000, -1003) == in_blocks_of(1, -1, 0, -3) &&
              in_blocks_of(3, 998, 1000, 1001) == in_blocks_of(3, -2, 0, 1));
static_assert(in_blocks_of(1, 1001, 0, 0) == tensor<double, axis<1>, d_v>{{1, 2}} &&
              in_blocks_of(1, 0, 0, 1001) == tensor<double, axis<1>, d_v>{{0, 1}});
// [/blocks]

} // namespace
} // namespace attest::proofs
