// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/blockwise.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/alibi.hpp"
#include "attest/formula/learned_score.hpp"
#include "catch.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

struct n_q : axis<4> {};
struct n_k : axis<6> {};
struct d_k : axis<5> {};
struct d_v : axis<3> {};
using dyn = axis<dynamic>;
using big = real<50>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
static_assert(std::is_same_v<decltype(blockwise_attention(of<float, n_q, d_k>(), of<float, n_k, d_k>(), of<float, n_k, d_v>(), 2)), tensor<float, n_q, d_v>>);

// In a constant expression, on both compilers.
constexpr tensor<double, axis<2>, axis<2>> unit{{1, 0}, {0, 1}}, values{{2, 0}, {0, 3}};
constexpr auto z = blockwise_attention(unit, unit, values, 1, causal_top_left{});
static_assert(z(0, 0) == 2 && z(0, 1) == 0 && z(1, 1) > 2.00927 && z(1, 1) < 2.00929);

struct input {
    tensor<double, n_q, d_k> q;
    tensor<double, n_k, d_k> k;
    tensor<double, n_k, d_v> v;
};
input random_input(std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    input x;
    const auto fill = [&](auto& t) {
        for (std::size_t e = 0; e < t.elements(); ++e) t.data()[e] = std::uniform_real_distribution<>(-2, 2)(generator);
    };
    fill(x.q), fill(x.k), fill(x.v);
    return x;
}
template <class S, class... Axes> tensor<S, Axes...> in(const tensor<double, Axes...>& x) {
    auto result = tensor<S, Axes...>(x.lengths());
    for (std::size_t e = 0; e < x.elements(); ++e) result.data()[e] = S(x.data()[e]);
    return result;
}

constexpr tensor<bool, n_q, n_k> holes{{true, false, true, false, true, false},
                                       {false, false, false, false, false, true},
                                       {false, false, false, false, false, false},
                                       {true, true, true, true, true, true}};

} // namespace

TEST_CASE("attention block by block is attention, for every size of a block and every mask", "[formula]") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const input x = random_input(seed);
        const auto q = in<big>(x.q);
        const auto k = in<big>(x.k);
        const auto v = in<big>(x.v);
        const auto agrees = [&](const auto& m) {
            const auto wanted = attention(q, k, v, m);
            for (std::size_t block = 1; block <= 8; ++block) {
                const auto exact = blockwise_attention(q, k, v, block, m);
                const auto in_double = blockwise_attention(x.q, x.k, x.v, block, m);
                for (std::size_t e = 0; e < 12; ++e) {
                    CAPTURE(seed, block, e, exact.data()[e].text(50), wanted.data()[e].text(50), in_double.data()[e]);
                    CHECK(abs(exact.data()[e] - wanted.data()[e]) < big(1e-50));
                    // u = 2^−53. |q_c k_c| <= 4: a score is off by at most 20 · (5 + 3) u = 160 u. A term p v of numerator or denominator: 160 u of its
                    // score, 18 u each of the arguments of its exponential and of those that rescale it (|s − m| <= 18), 2 u for each of up to 7
                    // exponentials, 6 u for products with them, 6 u in the sum, 1 u for the product with v: 160 + 36 + 14 + 13 = 223. Twice that, and the
                    // quotient: 447 u, of |v| <= 2.
                    CHECK(std::abs(static_cast<double>(big(in_double.data()[e]) - wanted.data()[e])) <= 895 * 0x1p-53);
                }
            }
        };
        agrees(everything{});
        agrees(causal_top_left{});
        agrees(causal_bottom_right{4, 6});
        agrees(sliding_window{1, 1, 1});
        agrees(keep_mask{holes});
    }
}

TEST_CASE("blocks with biases, with other scores, and on dynamic axes", "[formula]") {
    const input x = random_input(30);
    const auto q = in<big>(x.q);
    const auto k = in<big>(x.k);
    const auto v = in<big>(x.v);
    const auto same = [](const auto& a, const auto& b) {
        for (std::size_t e = 0; e < a.elements(); ++e) CHECK(abs(a.data()[e] - b.data()[e]) < big(1e-50));
    };
    const auto slopes = alibi<big>{big(0.5), 2} & causal_bottom_right{4, 6};
    const softcapped capped{scaled_by_dimension{}, big(3)};
    for (std::size_t block = 1; block <= 6; ++block) {
        same(blockwise_attention(q, k, v, block, slopes), attention(q, k, v, slopes));
        same(blockwise_attention(q, k, v, block, everything{}, dot_product{}), attention(q, k, v, everything{}, dot_product{}));
        same(blockwise_attention(q, k, v, block, slopes, capped), attention(q, k, v, slopes, capped));
        CHECK(blockwise_attention(tensor<big, dyn, dyn>(q), tensor<big, dyn, dyn>(k), tensor<big, dyn, dyn>(v), block, slopes) ==
              blockwise_attention(q, k, v, block, slopes));
    }
    // Blocks that reach beyond the keys, and beyond what can be counted.
    CHECK(blockwise_attention(q, k, v, static_cast<std::size_t>(-1)) == blockwise_attention(q, k, v, 6));
}

TEST_CASE("the running maximum keeps scores far apart from overflowing, in whatever order they come", "[formula]") {
    const tensor<double, axis<1>, axis<1>> q{{1}};
    const tensor<double, axis<4>, axis<1>> rising{{-1e5}, {0}, {1e5}, {1e5}}, falling{{1e5}, {1e5}, {0}, {-1e5}};
    const tensor<double, axis<4>, axis<1>> up{{1}, {2}, {3}, {5}}, down{{3}, {5}, {2}, {1}};
    for (std::size_t block = 1; block <= 4; ++block) {
        CHECK(blockwise_attention(q, rising, up, block)(0, 0) == 4);
        CHECK(blockwise_attention(q, falling, down, block)(0, 0) == 4);
    }
}

TEST_CASE("a row's state after some of the keys is attention over those keys", "[formula]") {
    const input x = random_input(31);
    const auto q = in<big>(x.q);
    const auto k = in<big>(x.k);
    const auto v = in<big>(x.v);
    const auto scale = scaled_dot_product<big>::of_dimension(5);
    running_softmax<big, d_v> row;
    CHECK_FALSE(row.any);
    for (std::size_t last = 1; last <= 6; ++last) {
        row.add(q[0], k, v, 0, last - 1, last, everything{}, scale);
        tensor<bool, n_q, n_k> so_far;
        for (std::size_t j = 0; j < last; ++j) so_far(0, j) = true;
        const auto wanted = attention(q, k, v, keep_mask{so_far});
        big greatest = scale(q[0], k[0]);
        for (std::size_t j = 1; j < last; ++j) greatest = shift_point(greatest, scale(q[0], k[j]));
        CHECK(row.shift == greatest);
        for (std::size_t c = 0; c < 3; ++c) CHECK(abs(row.output(c) / row.denominator - wanted(0, c)) < big(1e-50));
    }
}

TEST_CASE("blocks: rows without a visible key, no keys, hidden NaN", "[formula]") {
    input x = random_input(32);
    for (std::size_t block = 1; block <= 6; ++block) {
        const auto zero = blockwise_attention(x.q, x.k, x.v, block, keep_mask{holes});
        const auto nan = blockwise_attention(x.q, x.k, x.v, block, keep_mask{holes}, scaled_by_dimension{}, empty_row::nan);
        for (std::size_t c = 0; c < 3; ++c) {
            CHECK(zero(2, c) == 0);
            CHECK(std::isnan(nan(2, c)));
            CHECK(zero(1, c) == x.v(5, c)); // one visible key, in the last block
        }
        CHECK(nan[0] == zero[0]);
        input hidden = x;
        for (std::size_t c = 0; c < 3; ++c) hidden.v(1, c) = std::numeric_limits<double>::infinity();
        hidden.k(1, 0) = std::nan("");
        const auto unread = blockwise_attention(hidden.q, hidden.k, hidden.v, block, keep_mask{holes});
        CHECK(unread[0] == zero[0]);
    }
    CHECK(blockwise_attention(x.q, tensor<double, dyn, d_k>{}, tensor<double, dyn, d_v>{}, 2) == tensor<double, n_q, d_v>{});
}

TEST_CASE("blocks of no keys, and inputs that do not fit, are errors at run time", "[formula]") {
    const auto q = tensor<double, dyn, dyn>::with_lengths(3, 2), k = tensor<double, dyn, dyn>::with_lengths(4, 2), v = tensor<double, dyn, dyn>::with_lengths(5, 2);
    CHECK_THROWS_AS(blockwise_attention(q, k, k, 0), shape_error);
    CHECK_THROWS_WITH(blockwise_attention(q, k, v, 1), std::string(rules::value_for_each_key::sentence) + " (4 and 5)");
    CHECK_THROWS_WITH(blockwise_attention(tensor<double, dyn, dyn>::with_lengths(3, 3), k, k, 1), std::string(rules::query_key_dimension::sentence) + " (3 and 2)");
    CHECK_THROWS_WITH(blockwise_attention(q, k, k, 1, causal_bottom_right{3, 5}), std::string(rules::mask_column_for_each_key::sentence) + " (4 and 5)");
}
