// SPDX-License-Identifier: BSL-1.0
// Attention of the double path against long double, within the bound that its docstring states; masks, shapes, heads, threads.

#include "attention_bound.hpp"

#include "attest/formula/mask_extras.hpp"

#include "catch.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

using namespace attest;
using namespace fast_tests;

namespace {

struct n_q : axis<5> {};
struct n_k : axis<9> {};
struct d_k : axis<4> {};
struct d_v : axis<3> {};
struct H : axis<2> {};
template <class... Axes> const tensor<double, Axes...>& of();
static_assert(std::is_same_v<decltype(fast::attention(of<n_q, d_k>(), of<n_k, d_k>(), of<n_k, d_v>())), tensor<double, n_q, d_v>>);
static_assert(std::is_same_v<decltype(fast::attention_with_lse(of<H, n_q, d_k>(), of<H, n_k, d_k>(), of<H, n_k, d_v>()).lse), tensor<double, H, n_q>>);

template <mask M> void check(const matrix& q, const matrix& k, const matrix& v, const M& m, const char* mask_name) {
    const double scale = 0.2;
    const bounded exact = bounded_attention(q, k, v, m, scale);
    for (const fast::kernels* kernel : all_kernels()) {
        const auto result = fast::attention_with_lse(q, k, v, m, {.scale = scale, .with = kernel});
        double worst = 0, worst_lse = 0; // as parts of the bound
        for (std::size_t i = 0; i < q.length(0); ++i) {
            const long double lse_off = std::abs(result.lse(i) - exact.lse[i]);
            if (result.lse(i) != exact.lse[i]) worst_lse = std::max(worst_lse, static_cast<double>(lse_off / exact.lse_bound[i]));
            for (std::size_t c = 0; c < v.length(1); ++c)
                if (result.out(i, c) != exact.out(i, c))
                    worst = std::max(worst, static_cast<double>(std::abs(result.out(i, c) - exact.out(i, c)) / exact.out_bound(i, c)));
        }
        CAPTURE(kernel->name, mask_name, q.length(0), k.length(0), q.length(1), v.length(1));
        CHECK(worst <= 1);
        CHECK(worst_lse <= 1);
    }
}

struct shape {
    std::size_t n_q, n_k, d, d_v;
};

} // namespace

TEST_CASE("attention is within its bound, on every target, for odd shapes and masks", "[fast]") {
    for (const shape& s : {shape{0, 3, 2, 2}, {3, 0, 2, 2}, {1, 1, 1, 1}, {7, 7, 3, 5}, {13, 150, 64, 64}, {97, 31, 80, 33}, {2, 683, 3, 64}}) {
        const matrix q = random_matrix(s.n_q, s.d, 1, 3), k = random_matrix(s.n_k, s.d, 2, 3), v = random_matrix(s.n_k, s.d_v, 3);
        check(q, k, v, everything{}, "everything");
        check(q, k, v, causal_top_left{}, "causal, top left");
        check(q, k, v, causal_bottom_right{s.n_q, s.n_k}, "causal, bottom right");
        check(q, k, v, sliding_window{3, 2, -1}, "window");
        check(q, k, v, causal_top_left{} & sliding_window{3, 2}, "causal window");
        auto seen = tensor<bool, dyn, dyn>::with_lengths(s.n_q, s.n_k);
        for (std::size_t i = 0; i < seen.elements(); ++i) seen.data()[i] = i % 7 < 3;
        check(q, k, v, keep_mask{seen}, "keep");
        check(q, k, v, additive_mask{random_matrix(s.n_q, s.n_k, 4)}, "additive");
        check(q, k, v, drop_mask{seen} & additive_mask{random_matrix(s.n_q, s.n_k, 5)}, "drop and additive");
    }
}

TEST_CASE("ranges of keys are those that the masks say", "[fast]") {
    const auto same = [](const auto& m) {
        std::size_t wrong = 0;
        for (const std::size_t keys : {0U, 1U, 5U, 9U})
            for (std::size_t i = 0; i < 12; ++i) {
                const fast::key_range range = fast::keys_of(m, i, keys);
                for (std::size_t j = 0; j < keys; ++j) wrong += (range.first <= j && j < range.last) != m.visible(i, j);
                wrong += range.first > range.last || range.last > keys;
            }
        return wrong;
    };
    constexpr auto most = static_cast<std::size_t>(-1);
    CHECK(same(everything{}) == 0);
    CHECK(same(causal_top_left{}) == 0);
    for (const std::size_t n : {0U, 1U, 4U, 9U}) CHECK(same(causal_bottom_right{n, 5}) == 0);
    for (const std::size_t left : {std::size_t{0}, std::size_t{2}, most})
        for (const std::size_t right : {std::size_t{0}, std::size_t{3}, most})
            for (const std::ptrdiff_t shift : {-20, -3, 0, 2, 30}) {
                CAPTURE(left, right, shift);
                CHECK(same(sliding_window{left, right, shift}) == 0);
                CHECK(same(sliding_window{left, right, shift} & causal_top_left{}) == 0);
            }
}

TEST_CASE("heads, batches, views and threads give what each head gives by itself", "[fast]") {
    const std::size_t b = 2, h = 3, n = 130, m = 70, d = 16, e = 8;
    const auto memory = random_doubles(b * h * (n + m) * d + b * h * m * e, 6);
    using const_double = const double;
    const view<const_double, dyn, dyn, dyn, dyn> q(memory.data(), extents<dyn, dyn, dyn, dyn>(b, h, n, d));
    const view<const_double, dyn, dyn, dyn, dyn> k(q.data() + q.elements(), extents<dyn, dyn, dyn, dyn>(b, h, m, d));
    const view<const_double, dyn, dyn, dyn, dyn> v(k.data() + k.elements(), extents<dyn, dyn, dyn, dyn>(b, h, m, e));
    const auto all = fast::attention_with_lse(q, k, v, causal_top_left{});
    const auto on_three = fast::attention_with_lse(q, k, v, causal_top_left{}, {.threads = 3});
    CHECK(all.out == on_three.out);
    CHECK(all.lse == on_three.lse);
    for (std::size_t i = 0; i < b; ++i)
        for (std::size_t j = 0; j < h; ++j) {
            const auto one = fast::attention_with_lse(q[i][j], k[i][j], v[i][j], causal_top_left{});
            CHECK(one.out == all.out[i][j]);
            CHECK(one.lse == all.lse[i][j]);
        }
    // Keys that lie as d × n.
    const view<const_double, dyn, dyn> transposed(k[0][0].data(), extents<dyn, dyn>(d, m), {1, static_cast<std::ptrdiff_t>(d)});
    const matrix k_transposed(transposed);
    const view<const_double, dyn, dyn> back(k_transposed.data(), extents<dyn, dyn>(m, d), {1, static_cast<std::ptrdiff_t>(m)});
    CHECK(fast::attention(q[0][0], back, v[0][0]) == fast::attention(q[0][0], k[0][0], v[0][0]));
}

TEST_CASE("tiny heads of fixed shape have the bits that the kernels give", "[fast]") {
    const auto same = []<std::size_t Queries, std::size_t Keys, std::size_t D, std::size_t D_v>(std::index_sequence<Queries, Keys, D, D_v>) {
        using fixed_q = tensor<double, axis<Queries>, axis<D>>;
        using fixed_k = tensor<double, axis<Keys>, axis<D>>;
        using fixed_v = tensor<double, axis<Keys>, axis<D_v>>;
        const matrix q = random_matrix(Queries, D, 21, 3), k = random_matrix(Keys, D, 22, 3), v = random_matrix(Keys, D_v, 23);
        fixed_q tiny_q;
        fixed_k tiny_k;
        fixed_v tiny_v;
        std::copy(q.data(), q.data() + q.elements(), tiny_q.data());
        std::copy(k.data(), k.data() + k.elements(), tiny_k.data());
        std::copy(v.data(), v.data() + v.elements(), tiny_v.data());
        for (const std::optional<double> scale : {std::optional<double>(), std::optional(1.0), std::optional(100.0)}) {
            const auto tiny = fast::attention_with_lse(tiny_q, tiny_k, tiny_v, everything{}, {.scale = scale});
            CAPTURE(Queries, Keys, D, D_v);
            CHECK(fast::attention(tiny_q, tiny_k, tiny_v, everything{}, {.scale = scale}) == tiny.out);
            for (const fast::kernels* kernel : all_kernels()) {
                const auto all = fast::attention_with_lse(q, k, v, everything{}, {.scale = scale, .with = kernel});
                CHECK(std::equal(all.out.data(), all.out.data() + all.out.elements(), tiny.out.data()));
                CHECK(std::equal(all.lse.data(), all.lse.data() + all.lse.elements(), tiny.lse.data()));
            }
        }
    };
    same(std::index_sequence<4, 4, 4, 4>());
    same(std::index_sequence<8, 8, 8, 8>());
    same(std::index_sequence<1, 1, 1, 1>());
    same(std::index_sequence<3, 7, 5, 6>());
    same(std::index_sequence<7, 2, 8, 3>());
}

TEST_CASE("a row without a visible key gives zeros, or NaN", "[fast]") {
    const matrix x = random_matrix(4, 4, 7);
    const auto zeros = fast::attention_with_lse(x, x, x, causal_bottom_right{4, 4} & sliding_window{0, 0, -3});
    CHECK(zeros.out(0, 0) == 0);
    CHECK(zeros.lse(0) == -std::numeric_limits<double>::infinity());
    CHECK(zeros.out(3, 1) == x(0, 1));
    const auto nans = fast::attention(x, x, x, causal_bottom_right{4, 4} & sliding_window{0, 0, -3}, {.on_empty = empty_row::nan});
    CHECK(std::isnan(nans(0, 0)));
    CHECK(nans(3, 1) == x(0, 1));
}

TEST_CASE("shapes that do not fit are said", "[fast]") {
    const matrix q = random_matrix(3, 4, 8), k = random_matrix(5, 4, 9), v = random_matrix(5, 2, 10);
    CHECK_THROWS_AS(fast::attention(k, v, v), shape_error);
    CHECK_THROWS_AS(fast::attention(q, k, q), shape_error);
    CHECK_THROWS_AS(fast::attention(q, k, v, causal_bottom_right{3, 4}), shape_error);
    const tensor<double, n_q, d_k> fixed_q{};
    CHECK(fast::attention(fixed_q, k, v).length(0) == 5);
}
