// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/multi_head.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/alibi.hpp"
#include "attest/formula/learned_score.hpp"
#include "attest/formula/rope.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

using namespace attest;

namespace {

struct n : axis<3> {};
struct m : axis<5> {};
struct d_model : axis<6> {};
struct d_memory : axis<4> {};
struct n_heads : axis<4> {};
struct n_kv : axis<2> {};
struct d_k : axis<2> {};
struct d_v : axis<3> {};
using dyn = axis<dynamic>;
using big = real<50>;

template <class S> using full = multi_head_weights<S, d_model, n_heads, d_k, d_v>;
template <class S> using grouped = multi_head_weights<S, d_model, n_heads, d_k, d_v, n_kv>;
template <class S> using cross = multi_head_weights<S, d_model, n_heads, d_k, d_v, n_heads, d_memory>;
using loose_weights = multi_head_weights<double, dyn, dyn, dyn>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
template <class T> const T& made();
static_assert(std::is_same_v<decltype(multi_head_attention(of<float, n, d_model>(), made<full<float>>())), tensor<float, n, d_model>>);
static_assert(std::is_same_v<decltype(multi_head_attention(of<float, n, d_model>(), of<float, m, d_memory>(), made<cross<float>>())), tensor<float, n, d_model>>,
              "a row for each query, whatever the memory");
static_assert(std::is_same_v<decltype(concatenated_heads(of<float, n, d_model>(), of<float, n, d_model>(), made<full<float>>(), attention_how<>{})),
                             tensor<float, n, heads<n_heads, d_v>>>);
static_assert(std::is_same_v<decltype(project_heads(of<float, n, d_model>(), of<float, n, d_model>(), made<grouped<float>>()).k), tensor<float, n, heads<n_kv, d_k>>>);
static_assert(heads<n_heads, d_v>::size == 12 && heads<n_kv, d_k>::size == 4);
static_assert(full<float>{}.d_k() == 2 && full<float>{}.d_v() == 3 && grouped<float>{}.n_kv_heads == 2 && loose_weights{}.n_heads == dynamic);

// In a constant expression, on both compilers: one head, all projections 1, so this is plain attention.
constexpr bool one_head_is_attention() {
    struct d : axis<2> {};
    multi_head_weights<double, d, axis<1>, d> w;
    for (std::size_t c = 0; c < 2; ++c) w.w_q(c, c) = w.w_k(c, c) = w.w_v(c, c) = w.w_o(c, c) = 1;
    const tensor<double, axis<2>, d> x{{1, 0}, {0.5, 2}};
    return multi_head_attention(x, w) == attention(x, x, x) &&
           multi_head_attention(x, w, attention_how{.mask = causal_top_left{}}) == attention(x, x, x, causal_top_left{});
}
static_assert(one_head_is_attention());

template <class X> X filled(X x, std::uint64_t seed) { // k/32 between −1 and 1
    std::mt19937_64 generator(seed);
    using S = typename X::value_type;
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = S(static_cast<int>(generator() % 65) - 32) / S(32);
    return x;
}
template <class W, class F> void each(W& w, const F& f) {
    f(w.w_q), f(w.w_k), f(w.w_v), f(w.w_o), f(w.b_q), f(w.b_k), f(w.b_v), f(w.b_o);
}
template <class W> W some_weights(std::uint64_t seed) {
    W w;
    each(w, [&](auto& x) { x = filled(x, seed++); });
    return w;
}
template <class S, class A> auto unnamed(const tensor<S, A>& x) { return tensor<S, dyn>(x); }
template <class S, class A, class B> auto unnamed(const tensor<S, A, B>& x) { return tensor<S, dyn, dyn>(x); }
// The same weights on dynamic axes.
template <class S, class... Axes> auto unnamed(const multi_head_weights<S, Axes...>& w) {
    multi_head_weights<S, dyn, dyn, dyn> result;
    const auto copy = [](auto& to, const auto& from) { to = std::remove_cvref_t<decltype(to)>(unnamed(from)); };
    copy(result.w_q, w.w_q), copy(result.w_k, w.w_k), copy(result.w_v, w.w_v), copy(result.w_o, w.w_o);
    copy(result.b_q, w.b_q), copy(result.b_k, w.b_k), copy(result.b_v, w.b_v), copy(result.b_o, w.b_o);
    result.n_heads = w.n_heads;
    result.n_kv_heads = w.n_kv_heads;
    return result;
}
// Columns first to first + count of a matrix, and of a bias.
template <class S, class A, class B> auto columns(const tensor<S, A, B>& x, std::size_t first, std::size_t count) {
    auto part = tensor<S, dyn, dyn>::with_lengths(x.length(0), count);
    for (std::size_t i = 0; i < x.length(0); ++i)
        for (std::size_t c = 0; c < count; ++c) part(i, c) = x(i, first + c);
    return part;
}
template <class S, class A> auto columns(const tensor<S, A>& x, std::size_t first, std::size_t count) {
    auto part = tensor<S, dyn>::with_lengths(count);
    for (std::size_t c = 0; c < count; ++c) part(c) = x(first + c);
    return part;
}
// head_h of the lecture, written by itself: Attention(X W_Q,h, M W_K,h, M W_V,h).
template <class X, class M, class W, class Mask> auto head_by_itself(const X& x, const M& memory, const W& w, std::size_t h, std::size_t of_keys, const Mask& mask) {
    const auto q = project_in_out(unnamed(x), columns(w.w_q, 2 * h, 2), columns(w.b_q, 2 * h, 2));
    const auto k = project_in_out(unnamed(memory), columns(w.w_k, 2 * of_keys, 2), columns(w.b_k, 2 * of_keys, 2));
    const auto v = project_in_out(unnamed(memory), columns(w.w_v, 3 * of_keys, 3), columns(w.b_v, 3 * of_keys, 3));
    return attention(q, k, v, mask);
}
double distance(const big& a, const big& b) { return std::abs(static_cast<double>(a - b)); }

} // namespace

TEST_CASE("head h is attention with columns of its own (B021, B022), bit for bit", "[formula]") {
    const auto x = filled(tensor<double, n, d_model>{}, 1);
    const auto memory = filled(tensor<double, m, d_memory>{}, 2);
    const auto w = some_weights<cross<double>>(3);
    const auto concat = concatenated_heads(x, memory, w, attention_how{.mask = sliding_window{1, 1, 1}});
    for (std::size_t h = 0; h < 4; ++h) CHECK(columns(concat, 3 * h, 3) == head_by_itself(x, memory, w, h, h, sliding_window{1, 1, 1}));
    const auto y = multi_head_attention(x, memory, w, attention_how{.mask = sliding_window{1, 1, 1}});
    CHECK(y == project_in_out(concat, w.w_o, w.b_o));
}

TEST_CASE("Concat(heads) W_O is the sum of head_h W_O,h (B026), and the order of the heads does not matter", "[formula]") {
    const auto x = filled(tensor<big, n, d_model>{}, 4);
    const auto w = some_weights<full<big>>(5);
    const auto y = multi_head_attention(x, w);
    const auto concat = concatenated_heads(x, x, w, attention_how<>{});
    tensor<big, n, d_model> sum;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 6; ++c) sum(i, c) = w.b_o(c);
    for (std::size_t h = 0; h < 4; ++h) {
        const auto head = columns(concat, 3 * h, 3);
        auto rows = tensor<big, dyn, dyn>::with_lengths(3, 6);
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 6; ++c) rows(r, c) = w.w_o(3 * h + r, c);
        const auto part = matmul(head, rows);
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t c = 0; c < 6; ++c) sum(i, c) = sum(i, c) + part(i, c);
    }
    for (std::size_t e = 0; e < 18; ++e) CHECK(distance(sum.data()[e], y.data()[e]) < 1e-50);

    // Heads in another order: columns of W_Q, W_K, W_V and rows of W_O move together.
    const std::size_t order[] = {2, 0, 3, 1};
    auto moved = w;
    for (std::size_t h = 0; h < 4; ++h) {
        for (std::size_t c = 0; c < 2; ++c) {
            moved.b_q(2 * h + c) = w.b_q(2 * order[h] + c);
            moved.b_k(2 * h + c) = w.b_k(2 * order[h] + c);
            for (std::size_t r = 0; r < 6; ++r) {
                moved.w_q(r, 2 * h + c) = w.w_q(r, 2 * order[h] + c);
                moved.w_k(r, 2 * h + c) = w.w_k(r, 2 * order[h] + c);
            }
        }
        for (std::size_t c = 0; c < 3; ++c) {
            moved.b_v(3 * h + c) = w.b_v(3 * order[h] + c);
            for (std::size_t r = 0; r < 6; ++r) {
                moved.w_v(r, 3 * h + c) = w.w_v(r, 3 * order[h] + c);
                moved.w_o(3 * h + c, r) = w.w_o(3 * order[h] + c, r);
            }
        }
    }
    const auto same = multi_head_attention(x, moved);
    for (std::size_t e = 0; e < 18; ++e) CHECK(distance(same.data()[e], y.data()[e]) < 1e-50);
    auto forgotten = moved;
    forgotten.w_o = w.w_o; // the rows of W_O left where they were: another function
    CHECK(distance(multi_head_attention(x, forgotten)(0, 0), y(0, 0)) > 1e-3);
}

TEST_CASE("query head h reads key-value head ⌊h·H_kv/H⌋", "[formula]") {
    const auto x = filled(tensor<double, n, d_model>{}, 6);
    const auto w = some_weights<grouped<double>>(7);
    const auto concat = concatenated_heads(x, x, w, attention_how{.mask = causal_top_left{}});
    const std::size_t reads[] = {0, 0, 1, 1};
    for (std::size_t h = 0; h < 4; ++h) {
        CHECK(columns(concat, 3 * h, 3) == head_by_itself(x, x, w, h, reads[h], causal_top_left{}));
        if (h == 1 || h == 2) CHECK(!(columns(concat, 3 * h, 3) == head_by_itself(x, x, w, h, h % 2, causal_top_left{}))); // tiled instead of repeated
    }
    // The same as four key-value heads, each of the two repeated.
    full<double> repeated;
    repeated.w_q = w.w_q, repeated.b_q = w.b_q, repeated.w_o = w.w_o, repeated.b_o = w.b_o;
    for (std::size_t h = 0; h < 4; ++h) {
        for (std::size_t c = 0; c < 2; ++c) {
            repeated.b_k(2 * h + c) = w.b_k(2 * reads[h] + c);
            for (std::size_t r = 0; r < 6; ++r) repeated.w_k(r, 2 * h + c) = w.w_k(r, 2 * reads[h] + c);
        }
        for (std::size_t c = 0; c < 3; ++c) {
            repeated.b_v(3 * h + c) = w.b_v(3 * reads[h] + c);
            for (std::size_t r = 0; r < 6; ++r) repeated.w_v(r, 3 * h + c) = w.w_v(r, 3 * reads[h] + c);
        }
    }
    CHECK(multi_head_attention(x, w, attention_how{.mask = causal_top_left{}}) == multi_head_attention(x, repeated, attention_how{.mask = causal_top_left{}}));
    // Six heads over three and over two, and over one.
    for (const std::size_t h_kv : {1U, 2U, 3U, 6U}) {
        std::vector<std::size_t> served(h_kv);
        for (std::size_t h = 0; h < 6; ++h) ++served.at(h * h_kv / 6);
        for (const std::size_t count : served) CHECK(count == 6 / h_kv);
    }
}

TEST_CASE("columns of a head are a view: of tensors and of views, to read and to write", "[formula]") {
    auto all = filled(tensor<double, n, heads<n_heads, d_v>>{}, 8);
    const auto& constant = all;
    static_assert(std::is_same_v<decltype(head_columns<d_v>(constant, 1, 3)), view<const double, n, d_v>>);
    static_assert(std::is_same_v<decltype(head_columns<d_v>(all, 1, 3)), view<double, n, d_v>>);
    for (std::size_t h = 0; h < 4; ++h) CHECK(head_columns<d_v>(constant, h, 3) == tensor<double, n, d_v>(columns(all, 3 * h, 3)));
    head_columns<d_v>(all, 2, 3)(1, 0) = 17;
    CHECK(all(1, 6) == 17);
    // A view with strides of its own: the transpose of a matrix that holds components in rows.
    const auto turned = transpose(all);
    const view<const double, n, heads<n_heads, d_v>> by_components(turned.data(), {}, {1, 3});
    for (std::size_t h = 0; h < 4; ++h) CHECK(head_columns<d_v>(by_components, h, 3) == head_columns<d_v>(constant, h, 3));
    CHECK(head_columns<dyn>(constant, 3, 3) == head_columns<d_v>(constant, 3, 3));
}

TEST_CASE("masks, sinks and slopes for each head", "[formula]") {
    const auto x = filled(tensor<double, n, d_model>{}, 9);
    const auto w = some_weights<full<double>>(10);
    const auto family = alibi_heads<double>{nullptr, 4, 0} & causal_top_left{};
    const auto concat = concatenated_heads(x, x, w, attention_how{.mask = family});
    for (std::size_t h = 0; h < 4; ++h) CHECK(columns(concat, 3 * h, 3) == head_by_itself(x, x, w, h, h, family.head(h)));
    CHECK(!(multi_head_attention(x, w, attention_how{.mask = family}) == multi_head_attention(x, w, attention_how{.mask = causal_top_left{}})));
}

TEST_CASE("rotated queries and keys: only the differences of positions matter, and values are not rotated", "[formula]") {
    const auto x = filled(tensor<big, n, d_model>{}, 11);
    const auto w = some_weights<grouped<big>>(12);
    const auto at = [&](std::size_t offset) {
        return multi_head_attention(x, w, attention_how{.mask = causal_top_left{}, .score = scaled_by_dimension{}, .rotation = rope_rotation<big>{.offset = offset}});
    };
    const auto here = at(0), there = at(1000);
    for (std::size_t e = 0; e < 18; ++e) CHECK(distance(here.data()[e], there.data()[e]) < 1e-50);
    const auto unrotated = multi_head_attention(x, w, attention_how{.mask = causal_top_left{}});
    CHECK(distance(here(2, 0), unrotated(2, 0)) > 1e-3);
    for (std::size_t c = 0; c < 6; ++c) CHECK(distance(here(0, c), unrotated(0, c)) < 1e-50); // the first token reads its own value
}

TEST_CASE("scores with weights, scales and rules for empty rows reach every head", "[formula]") {
    const auto x = filled(tensor<double, n, d_model>{}, 13);
    const auto w = some_weights<full<double>>(14);
    const auto plain = multi_head_attention(x, w);
    const auto scaled = scaled_dot_product<double>::of_dimension(2); // d_k of a head, not d_model
    CHECK(multi_head_attention(x, w, attention_how{.mask = everything{}, .score = scaled}) == plain);
    CHECK(!(multi_head_attention(x, w, attention_how{.mask = everything{}, .score = scaled_dot_product<double>::of_dimension(6)}) == plain));
    // A bilinear score with W = 1/√d_k on the diagonal is the scaled one.
    const auto tokens = filled(tensor<big, n, d_model>{}, 13);
    const auto weights = some_weights<full<big>>(14);
    const big scale = scaled_dot_product<big>::of_dimension(2).scale;
    const bilinear diagonal{tensor<big, d_k, d_k>{{scale, big(0)}, {big(0), scale}}};
    const auto general = multi_head_attention(tokens, weights, attention_how{.mask = everything{}, .score = diagonal});
    const auto wanted = multi_head_attention(tokens, weights);
    for (std::size_t e = 0; e < 18; ++e) CHECK(distance(general.data()[e], wanted.data()[e]) < 1e-50);
    tensor<bool, n, n> nothing;
    const auto zero = multi_head_attention(x, w, attention_how{.mask = keep_mask{nothing}});
    for (std::size_t i = 0; i < 3; ++i) CHECK(zero[i] == w.b_o); // all heads are 0
    CHECK(std::isnan(multi_head_attention(x, w, attention_how{.mask = keep_mask{nothing}, .on_empty = empty_row::nan})(0, 0)));
}

TEST_CASE("multi-head attention on dynamic axes; biases that are absent", "[formula]") {
    const auto x = filled(tensor<double, n, d_model>{}, 15);
    const auto memory = filled(tensor<double, m, d_model>{}, 16);
    auto w = some_weights<multi_head_weights<double, d_model, n_heads, d_k, d_k, n_kv>>(17);
    auto loose = unnamed(w);
    static_assert(std::is_same_v<decltype(multi_head_attention(unnamed(x), loose)), tensor<double, dyn, dyn>>);
    CHECK(multi_head_attention(unnamed(x), loose) == multi_head_attention(x, w));
    CHECK(multi_head_attention(unnamed(x), unnamed(memory), loose) == multi_head_attention(x, memory, w));
    w.b_q = {}, w.b_k = {}, w.b_v = {}, w.b_o = {};
    loose.b_q = {}, loose.b_k = {}, loose.b_v = {}, loose.b_o = {};
    CHECK(loose.b_q.length(0) == 0);
    CHECK(multi_head_attention(unnamed(x), loose) == multi_head_attention(x, w));
    // No memory at all: every row is empty. No tokens: no rows.
    CHECK(multi_head_attention(x, tensor<double, dyn, d_model>{}, w) == tensor<double, n, d_model>{});
    CHECK(multi_head_attention(tensor<double, dyn, d_model>{}, w).length(0) == 0);
}

TEST_CASE("cross-attention of a sequence with itself is self-attention; keys and values of the memory differ (B056)", "[formula]") {
    const auto x = filled(tensor<double, n, d_model>{}, 18);
    const auto w = some_weights<full<double>>(19);
    CHECK(multi_head_attention(x, x, w) == multi_head_attention(x, w));
    const auto of_memory = project_heads(x, x, w);
    CHECK(!(columns(of_memory.k, 0, 8) == columns(of_memory.v, 0, 8))); // "K = V = encoder output" holds before the projections alone
    // Permuting the memory's tokens changes nothing, permuting the queries permutes.
    const auto memory = filled(tensor<big, m, d_model>{}, 20);
    const auto queries = filled(tensor<big, n, d_model>{}, 21);
    const auto weights = some_weights<full<big>>(22);
    auto reversed = memory;
    for (std::size_t j = 0; j < 5; ++j)
        for (std::size_t c = 0; c < 6; ++c) reversed(j, c) = memory(4 - j, c);
    const auto y = multi_head_attention(queries, memory, weights), same = multi_head_attention(queries, reversed, weights);
    for (std::size_t e = 0; e < 18; ++e) CHECK(distance(y.data()[e], same.data()[e]) < 1e-50);
}

TEST_CASE("weights that do not fit are the rule's error at run time", "[formula]") {
    loose_weights w;
    const auto shaped_weights = [&](std::size_t q, std::size_t k, std::size_t v, std::size_t o) {
        w.w_q = decltype(w.w_q)::with_lengths(6, q), w.w_k = decltype(w.w_k)::with_lengths(6, k), w.w_v = decltype(w.w_v)::with_lengths(6, v);
        w.w_o = decltype(w.w_o)::with_lengths(o, 6);
    };
    w.n_heads = w.n_kv_heads = 2;
    const auto x = tensor<double, dyn, dyn>::with_lengths(3, 6);
    shaped_weights(4, 4, 8, 8);
    CHECK(multi_head_attention(x, w) == x);
    shaped_weights(4, 4, 8, 4);
    CHECK_THROWS_WITH(multi_head_attention(x, w), std::string(rules::output_row_for_each_head_component::sentence) + " (8 and 4)");
    shaped_weights(4, 8, 8, 8);
    CHECK_THROWS_WITH(multi_head_attention(x, w), std::string(rules::query_key_dimension::sentence) + " (2 and 4)"); // for each head
    shaped_weights(5, 4, 8, 8);
    CHECK_THROWS_WITH(multi_head_attention(x, w), std::string(rules::heads_divide_model::sentence) + " (5 and 2)");
    shaped_weights(4, 4, 8, 8);
    w.n_kv_heads = 3;
    CHECK_THROWS_WITH(multi_head_attention(x, w), std::string(rules::key_value_heads_divide_heads::sentence) + " (2 and 3)");
    w.n_kv_heads = 0;
    CHECK_THROWS_WITH(multi_head_attention(x, w), std::string(rules::key_value_heads_divide_heads::sentence) + " (2 and 0)");
    w.n_kv_heads = 2;
    CHECK_THROWS_WITH(multi_head_attention(tensor<double, dyn, dyn>::with_lengths(3, 5), w), std::string(rules::weight_row_for_each_input::sentence) + " (5 and 6)");
    w.b_k = decltype(w.b_k)::with_lengths(3);
    CHECK_THROWS_WITH(multi_head_attention(x, w), std::string(rules::bias_for_each_output::sentence) + " (4 and 3)");
    w.b_k = {};
    CHECK_THROWS_WITH(multi_head_attention(x, w, attention_how{.mask = causal_bottom_right{3, 4}}), std::string(rules::mask_column_for_each_key::sentence) + " (3 and 4)");
    w.n_heads = w.n_kv_heads = dynamic; // forgotten
    CHECK_THROWS_AS(multi_head_attention(x, w), shape_error);
}
