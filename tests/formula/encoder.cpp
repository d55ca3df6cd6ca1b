// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/encoder.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"
#include "formula/layer_weights.hpp"

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

using namespace attest;

namespace {

struct n : axis<3> {};
struct d_model : axis<4> {};
struct H : axis<2> {};
struct H_kv : axis<1> {};
struct d_k : per_head<d_model, H> {};
struct d_v : axis<3> {};
struct d_ff : axis<5> {};
using dyn = axis<dynamic>;
using big = real<50>;

template <class S> using weights = encoder_layer_weights<S, d_model, H, d_k, d_v, d_ff, H_kv>;
template <class S> using tokens = tensor<S, n, d_model>;
template <class S> using dynamic_weights = encoder_layer_weights<S, dyn, dyn, dyn, dyn, dyn, dyn>;

// A112: n × d, as the input.
template <class W> const W& any();
static_assert(std::is_same_v<decltype(encoder_layer(any<tokens<float>>(), any<weights<float>>())), tokens<float>>);
static_assert(std::is_same_v<decltype(encoder(any<tokens<float>>(), any<layer_stack<weights<float>, 2>>())), tokens<float>>);
static_assert(std::is_same_v<decltype(encoder(any<tensor<float, dyn, dyn>>(), any<layer_stack<weights<float>, 2>>())), tensor<float, dyn, d_model>>);
static_assert(std::is_same_v<decltype(encoder(any<tokens<float>>(), any<std::vector<dynamic_weights<float>>>())), tokens<float>>);
static_assert(std::is_same_v<decltype(encoder_layer_stages(any<tokens<float>>(), any<weights<float>>()).norm1_out), tokens<float>>);

// In a constant expression: with weights of zeros the sublayers add nothing, and a pre-norm layer gives back its input.
constexpr bool zero_layer_is_the_identity() {
    const tensor<double, n, d_model> x{{1, 2, 3, 4}, {5, 6, 7, 9}, {-1, 0, 1, 0}};
    const layer_stack<weights<double>, 2> zeros;
    return encoder(x, zeros, nullptr, {.norm = norm_position::pre}) == x;
}
static_assert(zero_layer_is_the_identity());

block_options<big> options_of(norm_position norm, activation_kind kind) {
    block_options<big> options;
    options.norm = norm;
    options.activation.kind = kind;
    options.layer_norm.eps = big(1) / big(1000);
    return options;
}
const norm_position positions[] = {norm_position::post, norm_position::pre};
const activation_kind kinds[] = {activation_kind::relu, activation_kind::gelu};

using rows = std::vector<std::vector<big>>;
template <class X> rows rows_of(const X& x) {
    rows r(x.length(0), std::vector<big>(x.length(1)));
    for (std::size_t i = 0; i < x.length(0); ++i)
        for (std::size_t c = 0; c < x.length(1); ++c) r[i][c] = x(i, c);
    return r;
}
template <class X> bool close(const X& x, const rows& y) {
    bool all = x.length(0) == y.size();
    for (std::size_t i = 0; i < x.length(0); ++i)
        for (std::size_t c = 0; c < x.length(1); ++c) {
            INFO("(" << i << ", " << c << "): " << x(i, c).text(45) << " and " << y[i][c].text(45));
            CHECK(abs(x(i, c) - y[i][c]) < big(1e-40));
            all = all && abs(x(i, c) - y[i][c]) < big(1e-40);
        }
    return all;
}

// An independent twin: the lectures' definitions, one element at a time.
namespace twin {
rows plus(const rows& a, const rows& b) {
    rows sum = a;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t c = 0; c < a[i].size(); ++c) sum[i][c] = a[i][c] + b[i][c];
    return sum;
}
rows norm(const rows& x, const layer_norm_weights<big, d_model>& w, const big& eps) {
    rows y = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        big sum(0), squares(0);
        for (const big& e : x[i]) sum = sum + e, squares = squares + e * e;
        const big mu = sum / big(4), variance = squares / big(4) - mu * mu;
        for (std::size_t c = 0; c < 4; ++c) y[i][c] = w.gamma(c) * (x[i][c] - mu) / attest::sqrt(variance + eps) + w.beta(c);
    }
    return y;
}
rows ffn(const rows& x, const feed_forward_weights<big, d_model, d_ff>& w, const activation& act) {
    rows y(x.size(), std::vector<big>(4));
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t o = 0; o < 4; ++o) {
            y[i][o] = w.b_2(o);
            for (std::size_t h = 0; h < 5; ++h) {
                big hidden = w.b_1(h);
                for (std::size_t c = 0; c < 4; ++c) hidden = hidden + x[i][c] * w.w_1(c, h);
                y[i][o] = y[i][o] + act(hidden) * w.w_2(h, o);
            }
        }
    return y;
}
// Two query heads of 2 components that share one key-value head, values of 3 components; causal or not.
rows attend(const rows& x, const multi_head_weights<big, d_model, H, d_k, d_v, H_kv>& w, bool causal) {
    const auto project = [&](std::size_t i, const auto& matrix, const auto& bias, std::size_t o) {
        big sum = bias(o);
        for (std::size_t c = 0; c < 4; ++c) sum = sum + x[i][c] * matrix(c, o);
        return sum;
    };
    rows y(x.size(), std::vector<big>(4));
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::vector<big> concat;
        for (std::size_t h = 0; h < 2; ++h) {
            std::vector<big> e;
            big total(0);
            for (std::size_t j = 0; j < (causal ? i + 1 : x.size()); ++j) {
                big score(0);
                for (std::size_t c = 0; c < 2; ++c) score = score + project(i, w.w_q, w.b_q, 2 * h + c) * project(j, w.w_k, w.b_k, c);
                e.push_back(attest::exp(score / attest::sqrt(big(2))));
                total = total + e.back();
            }
            for (std::size_t c = 0; c < 3; ++c) {
                big z(0);
                for (std::size_t j = 0; j < e.size(); ++j) z = z + e[j] / total * project(j, w.w_v, w.b_v, c);
                concat.push_back(z);
            }
        }
        for (std::size_t o = 0; o < 4; ++o) {
            y[i][o] = w.b_o(o);
            for (std::size_t c = 0; c < 6; ++c) y[i][o] = y[i][o] + concat[c] * w.w_o(c, o);
        }
    }
    return y;
}
} // namespace twin

} // namespace

TEST_CASE("a layer against the definitions, at 50 digits: post-norm and pre-norm, ReLU and GELU, masked or not", "[formula]") {
    const auto x = layers::filled<tokens<big>>(1);
    const auto w = layers::filled_weights<weights<big>>(2);
    const rows r = rows_of(x);
    for (const auto kind : kinds) {
        const auto post = options_of(norm_position::post, kind), pre = options_of(norm_position::pre, kind);
        const big eps = post.layer_norm.eps;
        {
            const rows a = twin::norm(twin::plus(r, twin::attend(r, w.self_attn, false)), w.norm1, eps);
            CHECK(close(encoder_layer(x, w, post), twin::norm(twin::plus(a, twin::ffn(a, w.ffn, post.activation)), w.norm2, eps)));
        }
        {
            const rows a = twin::plus(r, twin::attend(twin::norm(r, w.norm1, eps), w.self_attn, true));
            const rows out = twin::plus(a, twin::ffn(twin::norm(a, w.norm2, eps), w.ffn, pre.activation));
            CHECK(close(encoder_layer(x, w, pre, attention_how<causal_top_left>{}), out));
        }
    }
}

TEST_CASE("A081, A082, A107, A108: the stages are the composition of the parts, exactly", "[formula]") {
    const auto x = layers::filled<tokens<big>>(3);
    const auto w = layers::filled_weights<weights<big>>(4);
    const attention_how<causal_top_left> how;
    for (const auto kind : kinds) {
        const auto post = options_of(norm_position::post, kind), pre = options_of(norm_position::pre, kind);
        const auto& ln = post.layer_norm;
        const auto s = encoder_layer_stages(x, w, post, how);
        CHECK(s.self_attn_out == multi_head_attention(x, w.self_attn, how));
        CHECK(s.after_attention == residual(x, s.self_attn_out));
        CHECK(s.norm1_out == layer_norm(s.after_attention, w.norm1, ln));
        CHECK(s.ffn_out == feed_forward(s.norm1_out, w.ffn, post.activation));
        CHECK(s.after_ffn == residual(s.norm1_out, s.ffn_out));
        CHECK(s.norm2_out == layer_norm(s.after_ffn, w.norm2, ln));
        CHECK(s.out == s.norm2_out);
        CHECK(encoder_layer(x, w, post, how) == s.out);

        const auto p = encoder_layer_stages(x, w, pre, how);
        CHECK(p.norm1_out == layer_norm(x, w.norm1, ln));
        CHECK(p.self_attn_out == multi_head_attention(p.norm1_out, w.self_attn, how));
        CHECK(p.after_attention == residual(x, p.self_attn_out));
        CHECK(p.norm2_out == layer_norm(p.after_attention, w.norm2, ln));
        CHECK(p.ffn_out == feed_forward(p.norm2_out, w.ffn, pre.activation));
        CHECK(p.after_ffn == residual(p.after_attention, p.ffn_out));
        CHECK(p.out == p.after_ffn);
        CHECK(encoder_layer(x, w, pre, how) == p.out);
        CHECK_FALSE(p.out == s.out);
    }
}

TEST_CASE("a stack is layer after layer, whatever holds the layers, and the final norm comes last", "[formula]") {
    const auto x = layers::filled<tokens<big>>(5);
    const layer_stack<weights<big>, 2> stack{{layers::filled_weights<weights<big>>(6), layers::filled_weights<weights<big>>(7)}};
    const weights<big> array[]{stack[0], stack[1]};
    const auto norm = layers::filled_weights<layer_norm_weights<big, d_model>>(8);
    const attention_how<causal_top_left> how;
    CHECK(stack.size() == 2);
    for (const auto position : positions) {
        const auto options = options_of(position, activation_kind::relu);
        const auto two = encoder_layer(encoder_layer(x, stack[0], options, how), stack[1], options, how);
        CHECK(encoder(x, stack, nullptr, options, how) == two);
        CHECK(encoder(x, array, nullptr, options, how) == two);
        CHECK(encoder(x, std::vector<weights<big>>(array, array + 2), nullptr, options, how) == two);
        CHECK(encoder(x, std::span<const weights<big>>(array), nullptr, options, how) == two);
        CHECK(encoder(x, std::array<weights<big>, 2>{array[0], array[1]}, nullptr, options, how) == two);
        CHECK(encoder(x, stack, &norm, options, how) == layer_norm(two, norm, options.layer_norm));
        const layer_norm_weights<big, d_model>* const none = nullptr;
        CHECK(encoder(x, stack, none, options, how) == two);
        CHECK(encoder(view<const big, n, d_model>(x), stack, none, options, how) == two);
        CHECK_FALSE(encoder(x, std::array<weights<big>, 2>{array[1], array[0]}, nullptr, options, how) == two);
    }
    CHECK(encoder(x, std::vector<weights<big>>{}) == x);
    CHECK(encoder(x, std::vector<weights<big>>{}, &norm) == layer_norm(x, norm));
}

TEST_CASE("dynamic axes give the same, and what is absent is 0 or 1", "[formula]") {
    const auto x = layers::filled<tokens<big>>(9);
    auto w = layers::filled_weights<weights<big>>(10);
    const tensor<big, dyn, dyn> x_dynamic(x);
    dynamic_weights<big> v;
    const auto copy = [](auto& to, const auto& from) { // heads<H, d_k> and heads<dynamic, dynamic> do not meet: by elements
        using T = std::remove_cvref_t<decltype(to)>;
        if constexpr (T::rank == 1) to = T::with_lengths(from.length(0));
        else to = T::with_lengths(from.length(0), from.length(1));
        for (std::size_t e = 0; e < from.elements(); ++e) to.data()[e] = from.data()[e];
    };
    copy(v.self_attn.w_q, w.self_attn.w_q), copy(v.self_attn.w_k, w.self_attn.w_k), copy(v.self_attn.w_v, w.self_attn.w_v), copy(v.self_attn.w_o, w.self_attn.w_o);
    copy(v.ffn.w_1, w.ffn.w_1), copy(v.ffn.w_2, w.ffn.w_2);
    v.self_attn.n_heads = 2;
    v.self_attn.n_kv_heads = 1;
    const auto without_vectors = w;
    w.self_attn.b_q = {}, w.self_attn.b_k = {}, w.self_attn.b_v = {}, w.self_attn.b_o = {};
    w.ffn.b_1 = {}, w.ffn.b_2 = {}, w.norm1 = {}, w.norm2 = {};
    for (const auto position : positions) {
        const auto options = options_of(position, activation_kind::gelu);
        CHECK(encoder_layer(x_dynamic, v, options) == encoder_layer(x, w, options));
    }
    w = without_vectors;
    copy(v.self_attn.b_q, w.self_attn.b_q), copy(v.self_attn.b_k, w.self_attn.b_k), copy(v.self_attn.b_v, w.self_attn.b_v), copy(v.self_attn.b_o, w.self_attn.b_o);
    copy(v.ffn.b_1, w.ffn.b_1), copy(v.ffn.b_2, w.ffn.b_2);
    copy(v.norm1.gamma, w.norm1.gamma), copy(v.norm1.beta, w.norm1.beta), copy(v.norm2.gamma, w.norm2.gamma), copy(v.norm2.beta, w.norm2.beta);
    for (const auto position : positions) {
        const auto options = options_of(position, activation_kind::gelu);
        CHECK(encoder_layer(x_dynamic, v, options) == encoder_layer(x, w, options));
    }
}

TEST_CASE("what does not fit is refused with the rule's sentence and the two lengths", "[formula]") {
    dynamic_weights<double> w;
    const auto resize = [](auto& t, auto... lengths) { t = std::remove_cvref_t<decltype(t)>::with_lengths(lengths...); };
    resize(w.self_attn.w_q, 4, 4), resize(w.self_attn.w_k, 4, 4), resize(w.self_attn.w_v, 4, 4), resize(w.self_attn.w_o, 4, 4);
    w.self_attn.n_heads = w.self_attn.n_kv_heads = 2;
    resize(w.ffn.w_1, 4, 6), resize(w.ffn.w_2, 6, 4);
    const auto message = [&](std::size_t d, norm_position position) {
        try {
            (void)encoder(tensor<double, dyn, dyn>::with_lengths(3, d), std::vector{w}, nullptr, {.norm = position});
        } catch (const shape_error& e) {
            return std::string(e.what());
        }
        return std::string("fits");
    };
    for (const auto position : positions) {
        CHECK(message(4, position) == "fits");
        CHECK(message(5, position) == std::string(rules::weight_row_for_each_input::sentence) + " (5 and 4)");
    }
    resize(w.self_attn.w_o, 4, 3);
    CHECK(message(4, norm_position::post) == std::string(rules::residual_keeps_shape::sentence) + " (4 and 3)");
    resize(w.self_attn.w_o, 4, 4);
    resize(w.norm1.gamma, 3);
    CHECK(message(4, norm_position::post) == std::string(rules::norm_weight_for_each_component::sentence) + " (4 and 3)");
}

TEST_CASE("unmasked, tokens may come in any order; under a causal mask the future changes no bit of the past", "[formula]") {
    const auto x = layers::filled<tokens<big>>(11);
    const layer_stack<weights<big>, 2> stack{{layers::filled_weights<weights<big>>(12), layers::filled_weights<weights<big>>(13)}};
    for (const auto position : positions) {
        const auto options = options_of(position, activation_kind::gelu);
        const auto y = encoder(x, stack, nullptr, options);
        tokens<big> turned;
        rows wanted(3);
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t c = 0; c < 4; ++c) turned(i, c) = x((i + 1) % 3, c);
            for (std::size_t c = 0; c < 4; ++c) wanted[i].push_back(y((i + 1) % 3, c));
        }
        CHECK(close(encoder(turned, stack, nullptr, options), wanted));

        const attention_how<causal_top_left> causal;
        const auto z = encoder(x, stack, nullptr, options, causal);
        auto changed = x;
        for (std::size_t c = 0; c < 4; ++c) changed(2, c) = x(2, c) * big(5) + big(static_cast<int>(c));
        const auto z_changed = encoder(changed, stack, nullptr, options, causal);
        CHECK(z_changed[0] == z[0]);
        CHECK(z_changed[1] == z[1]);
        CHECK_FALSE(z_changed[2] == z[2]);
    }
}

TEST_CASE("A109: where the feed-forward network adds nothing, post-norm still normalises what came in", "[formula]") {
    // Post-norm: LN(X_pa), which is X_pa only as far as that is normalised already: ε stands in the way a second time. Pre-norm: X_pa itself.
    const auto x = layers::filled<tokens<big>>(14);
    auto w = layers::filled_weights<weights<big>>(15);
    w.ffn = {};
    w.norm1 = {};
    w.norm2 = {};
    block_options<big> options;
    const auto s = encoder_layer_stages(x, w, options);
    CHECK(s.out == layer_norm(s.norm1_out, w.norm2));
    big worst(0);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 4; ++c) worst = abs(s.out(i, c) - s.norm1_out(i, c)) < worst ? worst : abs(s.out(i, c) - s.norm1_out(i, c));
    CHECK(worst > big(0));
    options.norm = norm_position::pre;
    const auto p = encoder_layer_stages(x, w, options);
    CHECK(p.out == p.after_attention);
}

TEST_CASE("A110: post-norm bounds every row of the output by its own gamma and beta; pre-norm does not", "[formula]") {
    const auto x = layers::filled<tokens<double>>(16);
    auto w = layers::filled_weights<weights<double>>(17);
    for (std::size_t e = 0; e < w.ffn.w_2.elements(); ++e) w.ffn.w_2.data()[e] *= 1e6;
    const auto norm_of_row = [](const auto& y, std::size_t i) {
        double squares = 0;
        for (std::size_t c = 0; c < 4; ++c) squares += y(i, c) * y(i, c);
        return std::sqrt(squares);
    };
    double gamma = 0, beta = 0;
    for (std::size_t c = 0; c < 4; ++c) gamma = std::max(gamma, std::abs(w.norm2.gamma(c))), beta += w.norm2.beta(c) * w.norm2.beta(c);
    const auto post = encoder_layer(x, w), pre = encoder_layer(x, w, {.norm = norm_position::pre});
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(norm_of_row(post, i) <= 2 * gamma + std::sqrt(beta));
        CHECK(norm_of_row(pre, i) > 1e5);
    }
}

TEST_CASE("a token that may see no key is carried by the residual alone", "[formula]") {
    const auto x = layers::filled<tokens<double>>(18);
    const auto w = layers::filled_weights<weights<double>>(19);
    const keep_mask may_see{tensor<bool, n, n>{{true, true, false}, {false, false, false}, {true, true, true}}};
    const auto zero = encoder_layer_stages(x, w, {}, attention_how<keep_mask<tensor<bool, n, n>>>{.mask = may_see});
    for (std::size_t c = 0; c < 4; ++c) CHECK(zero.self_attn_out(1, c) == w.self_attn.b_o(c));
    const auto nan = encoder_layer(x, w, {}, attention_how<keep_mask<tensor<bool, n, n>>>{.mask = may_see, .on_empty = empty_row::nan});
    for (std::size_t c = 0; c < 4; ++c) {
        CHECK(std::isnan(nan(1, c)));
        CHECK(nan(0, c) == zero.out(0, c));
        CHECK(nan(2, c) == zero.out(2, c));
    }
}
