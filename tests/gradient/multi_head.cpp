// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/multi_head.hpp"
#include "attest/formula/alibi.hpp"
#include "attest/formula/mask_extras.hpp"
#include "attest/formula/rope.hpp"
#include "catch.hpp"
#include "gradient/derivatives.hpp"

#include <cmath>
#include <string>
#include <type_traits>

using namespace attest;
using derived::big;

namespace {

struct n : axis<3> {};
struct m : axis<4> {};
struct d_model : axis<4> {};
struct d_memory : axis<3> {};
struct n_heads : axis<2> {};
struct one_head : axis<1> {};
struct d_k : axis<2> {};
struct d_v : axis<3> {};
using dyn = axis<dynamic>;

template <class S> using cross_weights = multi_head_weights<S, d_model, n_heads, d_k, d_v, n_heads, d_memory>;
template <class S> using grouped_weights = multi_head_weights<S, d_model, n_heads, d_k, d_v, one_head>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
template <class T> const T& made();
using cross = decltype(multi_head_attention_vjp(of<float, n, d_model>(), of<float, m, d_memory>(), made<cross_weights<float>>(), attention_how<>{}, of<float, n, d_model>()));
static_assert(std::is_same_v<decltype(cross::dx), tensor<float, n, d_model>>);
static_assert(std::is_same_v<decltype(cross::dmemory), tensor<float, m, d_memory>>);
static_assert(std::is_same_v<decltype(cross::dw), cross_weights<float>>);
static_assert(std::is_same_v<decltype(cross::dsink), tensor<float, n_heads>>);
using self = decltype(multi_head_attention_vjp(of<float, n, d_model>(), made<grouped_weights<float>>(), attention_how<>{}, of<float, n, d_model>()));
static_assert(std::is_same_v<decltype(self::dx), tensor<float, n, d_model>>);
static_assert(std::is_same_v<decltype(self::dw), grouped_weights<float>>);

// f(tensor) for each tensor of weights, and f(tensor, tensor) for each of two.
template <class W, class F> void each(W& w, const F& f) {
    f(w.w_q), f(w.w_k), f(w.w_v), f(w.w_o), f(w.b_q), f(w.b_k), f(w.b_v), f(w.b_o);
}
template <class W, class V, class F> void each(W& w, const V& v, const F& f) {
    f(w.w_q, v.w_q), f(w.w_k, v.w_k), f(w.w_v, v.w_v), f(w.w_o, v.w_o);
    f(w.b_q, v.b_q), f(w.b_k, v.b_k), f(w.b_v, v.b_v), f(w.b_o, v.b_o);
}
template <class W> W some_weights(std::uint64_t seed) {
    W w;
    each(w, [&](auto& x) {
        derived::fill(x, seed++);
        for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = x.data()[e] / typename std::remove_cvref_t<decltype(x)>::value_type(2);
    });
    return w;
}
template <class S, class... Axes> auto constants(const multi_head_weights<S, Axes...>& w) {
    multi_head_weights<dual<S>, Axes...> result;
    each(result, w, [](auto& to, const auto& from) { to = derived::constants(from); });
    result.n_heads = w.n_heads;
    result.n_kv_heads = w.n_kv_heads;
    return result;
}

template <class W, class DW, class Value> void check_weights(W& dual_w, const DW& dw, const Value& value) {
    each(dual_w, dw, [&](auto& x, const auto& gradient) { derived::check_derivative(x, gradient, value); });
}

// The gradients by x, memory and all weights.
template <class How, class DualHow> auto check_cross(const How& how, const DualHow& dual_how) {
    const auto x = derived::filled(tensor<big, n, d_model>{}, 1);
    const auto memory = derived::filled(tensor<big, m, d_memory>{}, 2);
    const auto dout = derived::filled(tensor<big, n, d_model>{}, 3);
    const auto w = some_weights<cross_weights<big>>(4);
    auto dual_x = derived::constants(x);
    auto dual_memory = derived::constants(memory);
    auto dual_w = constants(w);
    auto gradient = multi_head_attention_vjp(x, memory, w, how, dout);
    const auto value = [&] { return derived::along(dout, multi_head_attention(dual_x, dual_memory, dual_w, dual_how)); };
    derived::check_derivative(dual_x, gradient.dx, value);
    derived::check_derivative(dual_memory, gradient.dmemory, value);
    check_weights(dual_w, gradient.dw, value);
    return gradient;
}
template <class How, class DualHow> auto check_self(const How& how, const DualHow& dual_how) {
    const auto x = derived::filled(tensor<big, n, d_model>{}, 11);
    const auto dout = derived::filled(tensor<big, n, d_model>{}, 12);
    const auto w = some_weights<grouped_weights<big>>(13);
    auto dual_x = derived::constants(x);
    auto dual_w = constants(w);
    auto gradient = multi_head_attention_vjp(x, w, how, dout);
    const auto value = [&] { return derived::along(dout, multi_head_attention(dual_x, dual_w, dual_how)); };
    derived::check_derivative(dual_x, gradient.dx, value);
    check_weights(dual_w, gradient.dw, value);
    return gradient;
}

// The same elements without names, on dynamic axes.
template <class S, class A> auto unnamed(const tensor<S, A>& x) { return tensor<S, dyn>(x); }
template <class S, class A, class B> auto unnamed(const tensor<S, A, B>& x) { return tensor<S, dyn, dyn>(x); }

// A sink for each head.
template <class S> struct sinks {
    S logits[2];
    attention_sink<S> head(std::size_t h) const { return {logits[h]}; }
};

constexpr tensor<bool, n, n> holes{{true, false, true}, {false, false, false}, {true, true, true}};
constexpr tensor<bool, n, n> kept{{true, true, false}, {false, true, true}, {true, false, true}};

} // namespace

TEST_CASE("gradients of multi-head cross-attention are those of dual numbers", "[gradient]") {
    check_cross(attention_how<>{}, attention_how<>{});
    check_cross(attention_how{.mask = sliding_window{1, 2}}, attention_how{.mask = sliding_window{1, 2}});
}

TEST_CASE("gradients of self-attention with shared keys and values, masks, dropout and a cap are those of dual numbers", "[gradient]") {
    check_self(attention_how{.mask = causal_top_left{}}, attention_how{.mask = causal_top_left{}});
    check_self(attention_how{.mask = keep_mask{holes} & dropout_mask{kept, big(2)}, .score = softcapped{scaled_by_dimension{}, big(2)}},
               attention_how{.mask = keep_mask{holes} & dropout_mask{kept, dual<big>(2)}, .score = softcapped{scaled_by_dimension{}, dual<big>(2)}});
}

TEST_CASE("four heads over two key-value heads: each gets the gradients of its own two", "[gradient]") {
    struct four : axis<4> {};
    struct narrow : axis<1> {};
    const auto x = derived::filled(tensor<big, n, d_model>{}, 81), dout = derived::filled(tensor<big, n, d_model>{}, 82);
    const auto w = some_weights<multi_head_weights<big, d_model, four, d_k, narrow, n_heads>>(83);
    auto dual_w = constants(w);
    const auto dual_x = derived::constants(x);
    const attention_how how{.mask = causal_top_left{}};
    const auto gradient = multi_head_attention_vjp(x, w, how, dout);
    check_weights(dual_w, gradient.dw, [&] { return derived::along(dout, multi_head_attention(dual_x, dual_w, how)); });
}

TEST_CASE("gradients go back through the rotation of queries and keys", "[gradient]") {
    for (const auto pairing : {rope_pairing::interleaved, rope_pairing::half}) {
        const rope_rotation<big> rotation{.how = {.pairing = pairing, .base = big(10)}, .offset = 2};
        const rope_rotation<dual<big>> dual_rotation{.how = {.pairing = pairing, .base = dual<big>(10)}, .offset = 2};
        check_self(attention_how{.mask = causal_top_left{}, .score = scaled_by_dimension{}, .rotation = rotation},
                   attention_how{.mask = causal_top_left{}, .score = scaled_by_dimension{}, .rotation = dual_rotation});
    }
}

TEST_CASE("masks for each head: slopes and sinks, and their gradients", "[gradient]") {
    const big logits[] = {big(0.5), big(-1.0)};
    const auto family = sinks<big>{{logits[0], logits[1]}} & alibi_heads<big>{nullptr, 2, 0} & causal_top_left{};
    const auto dual_family = [&](const dual<big>& first, const dual<big>& second) {
        return sinks<dual<big>>{{first, second}} & alibi_heads<dual<big>>{nullptr, 2, 0} & causal_top_left{};
    };
    const auto gradient = check_self(attention_how{.mask = family}, attention_how{.mask = dual_family(dual<big>(logits[0]), dual<big>(logits[1]))});

    // The sinks' own.
    const auto x = derived::constants(derived::filled(tensor<big, n, d_model>{}, 11));
    const auto dout = derived::filled(tensor<big, n, d_model>{}, 12);
    const auto w = constants(some_weights<grouped_weights<big>>(13));
    for (std::size_t h = 0; h < 2; ++h) {
        const dual<big> first(logits[0], big(h == 0 ? 1 : 0)), second(logits[1], big(h == 1 ? 1 : 0));
        const big wanted = derived::along(dout, multi_head_attention(x, w, attention_how{.mask = dual_family(first, second)})).derivative();
        CAPTURE(h, gradient.dsink(h).text(50), wanted.text(50));
        CHECK(derived::agrees(gradient.dsink(h), wanted));
        CHECK(!(wanted == big(0)));
    }
}

namespace {
// A bias for each head.
template <class T> struct biases {
    T bias[2];
    additive_mask<T> head(std::size_t h) const { return {bias[h]}; }
};
} // namespace

TEST_CASE("the gradient of each head's additive mask, and of weights that heads share in their score", "[gradient]") {
    const auto x = derived::filled(tensor<big, n, d_model>{}, 21);
    const auto dout = derived::filled(tensor<big, n, d_model>{}, 22);
    const auto w = some_weights<grouped_weights<big>>(23);
    const tensor<big, n, n> bias[] = {derived::filled(tensor<big, n, n>{}, 31), derived::filled(tensor<big, n, n>{}, 32)};
    const bilinear score{derived::filled(tensor<big, d_k, d_k>{}, 33)};
    const attention_how how{.mask = biases<tensor<big, n, n>>{{bias[0], bias[1]}} & keep_mask{holes}, .score = score};
    tensor<big, n, n> dbias[2];
    const auto gradient =
        multi_head_attention_vjp(x, w, how, dout, [&](std::size_t h, std::size_t i, std::size_t j, const big& ds) { dbias[h](i, j) = ds; });

    const auto dual_x = derived::constants(x);
    const auto dual_w = constants(w);
    tensor<dual<big>, n, n> dual_bias[] = {derived::constants(bias[0]), derived::constants(bias[1])};
    auto dual_score_weights = derived::constants(score.w);
    const auto value = [&] {
        const attention_how dual_how{.mask = biases<tensor<dual<big>, n, n>>{{dual_bias[0], dual_bias[1]}} & keep_mask{holes},
                                     .score = bilinear{dual_score_weights}};
        return derived::along(dout, multi_head_attention(dual_x, dual_w, dual_how));
    };
    derived::check_derivative(dual_bias[0], dbias[0], value);
    derived::check_derivative(dual_bias[1], dbias[1], value);
    derived::check_derivative(dual_score_weights, gradient.dscore.w, value);
}

TEST_CASE("gradients of multi-head attention on dynamic axes, with and without biases", "[gradient]") {
    const auto x = derived::filled(tensor<big, n, d_model>{}, 41);
    const auto dout = derived::filled(tensor<big, n, d_model>{}, 42);
    auto w = some_weights<grouped_weights<big>>(43);
    multi_head_weights<big, dyn, dyn, dyn> loose;
    each(loose, w, [](auto& to, const auto& from) { to = std::remove_cvref_t<decltype(to)>(unnamed(from)); });
    loose.n_heads = 2;
    loose.n_kv_heads = 1;
    const attention_how how{.mask = causal_top_left{}};
    const auto fixed = multi_head_attention_vjp(x, w, how, dout);
    const auto dynamic_gradient = multi_head_attention_vjp(unnamed(x), loose, how, unnamed(dout));
    static_assert(std::is_same_v<decltype(dynamic_gradient.dw), multi_head_weights<big, dyn, dyn, dyn>>);
    CHECK(dynamic_gradient.dx == fixed.dx);
    const auto same = [](const auto& a, const auto& b) { CHECK(unnamed(a) == unnamed(b)); };
    each(dynamic_gradient.dw, fixed.dw, same);
    CHECK(dynamic_gradient.dw.n_heads == 2);
    CHECK(dynamic_gradient.dw.n_kv_heads == 1);

    // Biases that are absent count as 0, and have a gradient nevertheless.
    loose.b_q = {}, loose.b_k = {}, loose.b_v = {}, loose.b_o = {};
    w.b_q = {}, w.b_k = {}, w.b_v = {}, w.b_o = {};
    const auto without = multi_head_attention_vjp(unnamed(x), loose, how, unnamed(dout));
    CHECK(without.dw.b_k.length(0) == 2);
    each(without.dw, multi_head_attention_vjp(x, w, how, dout).dw, same);
}

TEST_CASE("self-attention's gradient is the sum of the two roles of x", "[gradient]") {
    const auto x = derived::filled(tensor<big, n, d_model>{}, 51), dout = derived::filled(tensor<big, n, d_model>{}, 52);
    const auto w = some_weights<grouped_weights<big>>(53);
    const auto both = multi_head_attention_vjp(x, x, w, attention_how<>{}, dout);
    const auto one = multi_head_attention_vjp(x, w, attention_how<>{}, dout);
    for (std::size_t e = 0; e < x.elements(); ++e) CHECK(one.dx.data()[e] == both.dx.data()[e] + both.dmemory.data()[e]);
    CHECK(one.dw.w_k == both.dw.w_k);
}

TEST_CASE("one token: only values and W_O get a gradient", "[gradient]") {
    const auto x = derived::filled(tensor<big, axis<1>, d_model>{}, 61), dout = derived::filled(tensor<big, axis<1>, d_model>{}, 62);
    const auto w = some_weights<grouped_weights<big>>(63);
    const auto gradient = multi_head_attention_vjp(x, w, attention_how<>{}, dout);
    CHECK(gradient.dw.w_q == decltype(w.w_q){});
    CHECK(gradient.dw.w_k == decltype(w.w_k){});
    CHECK(gradient.dw.b_o == dout[0]);
    CHECK(!(gradient.dw.w_v == decltype(w.w_v){}));
}

TEST_CASE("a row without a visible key makes no gradient NaN", "[gradient]") {
    const auto x = derived::filled(tensor<double, n, d_model>{}, 71), dout = derived::filled(tensor<double, n, d_model>{}, 72);
    const auto w = some_weights<grouped_weights<double>>(73);
    attention_how how{.mask = keep_mask{holes}};
    const auto zero = multi_head_attention_vjp(x, w, how, dout);
    how.on_empty = empty_row::nan;
    CHECK(std::isnan(multi_head_attention(x, w, how)(1, 0)));
    const auto nan = multi_head_attention_vjp(x, w, how, dout);
    CHECK(nan.dx == zero.dx);
    each(nan.dw, zero.dw, [](const auto& a, const auto& b) { CHECK(a == b); });
    // Nothing visible anywhere: b_O alone is left.
    const auto nothing = multi_head_attention_vjp(x, w, attention_how{.mask = keep_mask{tensor<bool, n, n>{}}, .on_empty = empty_row::nan}, dout);
    CHECK(nothing.dx == tensor<double, n, d_model>{});
    CHECK(nothing.dw.w_o == decltype(w.w_o){});
    CHECK(nothing.dw.b_o == zero.dw.b_o);
}

TEST_CASE("gradients of multi-head attention say the rules of shapes at run time", "[gradient]") {
    multi_head_weights<double, dyn, dyn, dyn> w;
    w.w_q = decltype(w.w_q)::with_lengths(4, 4), w.w_k = decltype(w.w_k)::with_lengths(4, 4), w.w_v = decltype(w.w_v)::with_lengths(4, 4);
    w.w_o = decltype(w.w_o)::with_lengths(4, 4);
    w.n_heads = w.n_kv_heads = 2;
    const auto x = tensor<double, dyn, dyn>::with_lengths(3, 4);
    CHECK(multi_head_attention_vjp(x, w, attention_how<>{}, x).dx.length(0) == 3);
    const std::string sentence = rules::gradient_has_shape_of_output::sentence;
    CHECK_THROWS_WITH(multi_head_attention_vjp(x, w, attention_how<>{}, tensor<double, dyn, dyn>::with_lengths(4, 4)), sentence + " (4 and 3)");
    CHECK_THROWS_WITH(multi_head_attention_vjp(x, w, attention_how<>{}, tensor<double, dyn, dyn>::with_lengths(3, 5)), sentence + " (5 and 4)");
    w.w_o = decltype(w.w_o)::with_lengths(5, 4);
    CHECK_THROWS_WITH(multi_head_attention_vjp(x, w, attention_how<>{}, x), std::string(rules::output_row_for_each_head_component::sentence) + " (4 and 5)");
    w.n_kv_heads = 3;
    CHECK_THROWS_WITH(multi_head_attention_vjp(x, w, attention_how<>{}, x), std::string(rules::key_value_heads_divide_heads::sentence) + " (2 and 3)");
}
