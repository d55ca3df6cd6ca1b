// SPDX-License-Identifier: BSL-1.0
#include "attest/gradient/attention.hpp"
#include "attest/formula/alibi.hpp"
#include "attest/formula/mask_extras.hpp"
#include "catch.hpp"
#include "gradient/derivatives.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

using namespace attest;
using derived::big;

namespace {

struct n_q : axis<3> {};
struct n_k : axis<4> {};
struct d_k : axis<2> {};
struct d_v : axis<3> {};
struct d_q : axis<3> {}; // of the scores that allow another dimension than d_k
struct hidden : axis<2> {};
using dyn = axis<dynamic>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
using typed = decltype(attention_vjp(of<float, n_q, d_k>(), of<float, n_k, d_k>(), of<float, n_k, d_v>(), of<float, dyn, dyn>()));
static_assert(std::is_same_v<decltype(typed::dq), tensor<float, n_q, d_k>>);
static_assert(std::is_same_v<decltype(typed::dk), tensor<float, n_k, d_k>>);
static_assert(std::is_same_v<decltype(typed::dv), tensor<float, n_k, d_v>>);
static_assert(std::is_same_v<decltype(typed::dsink), float> && std::is_same_v<decltype(typed::dscore), no_score_weights>);

// In a constant expression, on both compilers. Causal: the first token reads itself alone, so nothing moves its weight.
constexpr tensor<double, axis<2>, axis<2>> unit{{1, 0}, {0, 1}}, values{{2, 0}, {0, 3}};
constexpr auto causal = attention_vjp(unit, unit, values, causal_top_left{}, unit);
static_assert(causal.dq[0] == tensor<double, axis<2>>{0, 0} && !(causal.dq[1] == tensor<double, axis<2>>{0, 0}));
static_assert(causal.dv(0, 0) == 1, "z_1 = v_1");

template <class Q, class DQ> struct problem {
    Q q;
    tensor<big, n_k, d_k> k = derived::filled(tensor<big, n_k, d_k>{}, 2);
    tensor<big, n_k, d_v> v = derived::filled(tensor<big, n_k, d_v>{}, 3);
    tensor<big, n_q, d_v> dout = derived::filled(tensor<big, n_q, d_v>{}, 4);
    DQ dual_q = derived::constants(q);
    tensor<dual<big>, n_k, d_k> dual_k = derived::constants(k);
    tensor<dual<big>, n_k, d_v> dual_v = derived::constants(v);
};
template <axis_type D> auto problem_of() {
    return problem<tensor<big, n_q, D>, tensor<dual<big>, n_q, D>>{derived::filled(tensor<big, n_q, D>{}, 1)};
}

// The gradients by q, k and v, with mask and score in both arithmetics. The duals are read again for each evaluation, by reference.
template <class P, class M, class Score, class DualM, class DualScore>
auto check_attention(P& p, const M& mask, const Score& score, const DualM& dual_mask, const DualScore& dual_score) {
    const auto gradient = attention_vjp(p.q, p.k, p.v, mask, score, p.dout);
    const auto value = [&] { return derived::along(p.dout, attention(p.dual_q, p.dual_k, p.dual_v, dual_mask, dual_score)); };
    derived::check_derivative(p.dual_q, gradient.dq, value);
    derived::check_derivative(p.dual_k, gradient.dk, value);
    derived::check_derivative(p.dual_v, gradient.dv, value);
    return gradient;
}
// The same for a mask that has no numbers, with the scaled dot product.
template <class M> void check_plain_mask(const M& mask) {
    auto p = problem_of<d_k>();
    check_attention(p, mask, scaled_by_dimension{}, mask, scaled_by_dimension{});
}

constexpr tensor<bool, n_q, n_k> holes{{true, false, true, false}, {false, false, false, false}, {true, true, true, true}};
constexpr tensor<bool, n_q, n_k> kept{{true, false, true, true}, {false, true, true, false}, {true, true, false, true}};

} // namespace

TEST_CASE("gradients of attention are those of dual numbers, with any mask", "[gradient]") {
    check_plain_mask(everything{});
    check_plain_mask(causal_top_left{});
    check_plain_mask(causal_bottom_right{3, 4});
    check_plain_mask(sliding_window{1, 0, 1});
    check_plain_mask(sliding_window{1, 1, 0} & causal_bottom_right{3, 4});
    check_plain_mask(keep_mask{holes});
    check_plain_mask(drop_mask{holes});
}

TEST_CASE("gradients of attention with dropout are those of dual numbers", "[gradient]") {
    auto p = problem_of<d_k>();
    const big scale = big(5) / big(4);
    const auto gradient = check_attention(p, dropout_mask{kept, scale}, scaled_by_dimension{}, dropout_mask{kept, dual<big>(scale)}, scaled_by_dimension{});
    // Dropped weights still stand in the denominator: the key gets a gradient, its value none from that row.
    tensor<bool, n_q, n_k> none;
    const auto nothing = attention_vjp(p.q, p.k, p.v, dropout_mask{none, scale}, scaled_by_dimension{}, p.dout);
    CHECK(nothing.dv == tensor<big, n_k, d_v>{});
    CHECK(nothing.dq == tensor<big, n_q, d_k>{});
    CHECK(!(gradient.dq == attention_vjp(p.q, p.k, p.v, p.dout).dq));
    check_attention(p, dropout_mask{kept, scale} & causal_top_left{}, dot_product{}, dropout_mask{kept, dual<big>(scale)} & causal_top_left{}, dot_product{});
}

TEST_CASE("gradients of an additive mask and of a sink are those of dual numbers", "[gradient]") {
    auto p = problem_of<d_k>();
    const auto bias = derived::filled(tensor<big, n_q, n_k>{}, 5);
    auto dual_bias = derived::constants(bias);
    const big sink(0.5);
    const auto with_both = additive_mask{bias} & attention_sink{sink} & keep_mask{holes} & dropout_mask{kept, big(2)};
    const auto dual_mask = [&](const dual<big>& s) { return additive_mask{view<dual<big>, n_q, n_k>(dual_bias)} & attention_sink{s} & keep_mask{holes} & dropout_mask{kept, dual<big>(2)}; };
    const auto gradient = check_attention(p, with_both, scaled_by_dimension{}, dual_mask(dual<big>(sink)), scaled_by_dimension{});

    tensor<big, n_q, n_k> dbias;
    std::vector<std::size_t> order;
    const auto same = attention_vjp(p.q, p.k, p.v, with_both, scaled_by_dimension{}, p.dout, empty_row::zero, [&](std::size_t i, std::size_t j, const big& ds) {
        dbias(i, j) = ds;
        order.push_back(10 * i + j);
    });
    CHECK(order == std::vector<std::size_t>{0, 2, 20, 21, 22, 23}); // the visible keys, row by row
    CHECK(same.dq == gradient.dq);
    const auto value = [&](const dual<big>& s) {
        return derived::along(p.dout, attention(p.dual_q, p.dual_k, p.dual_v, dual_mask(s), scaled_by_dimension{}));
    };
    derived::check_derivative(dual_bias, dbias, [&] { return value(dual<big>(sink)); });
    const big wanted = value(dual<big>(sink, big(1))).derivative();
    CAPTURE(gradient.dsink.text(50), wanted.text(50));
    CHECK(derived::agrees(gradient.dsink, wanted));
    CHECK(!(wanted == big(0)));
    // No sink, no gradient of it. ALiBi's bias is an additive mask without a tensor.
    CHECK(attention_vjp(p.q, p.k, p.v, p.dout).dsink == big(0));
    check_attention(p, alibi<big>{big(0.25), 1} & causal_bottom_right{3, 4}, scaled_by_dimension{},
                    alibi<dual<big>>{dual<big>(big(0.25)), 1} & causal_bottom_right{3, 4}, scaled_by_dimension{});
}

TEST_CASE("gradients of attention with each score, and of the score's weights, are those of dual numbers", "[gradient]") {
    auto p = problem_of<d_k>();
    check_attention(p, causal_top_left{}, dot_product{}, causal_top_left{}, dot_product{});
    check_attention(p, everything{}, scaled_dot_product<big>{big(0.3)}, everything{}, scaled_dot_product<dual<big>>{dual<big>(big(0.3))});
    check_attention(p, everything{}, softcapped{scaled_by_dimension{}, big(1.5)}, everything{}, softcapped{scaled_by_dimension{}, dual<big>(big(1.5))});

    auto other = problem_of<d_q>(); // queries of another dimension than keys
    const bilinear general{derived::filled(tensor<big, d_q, d_k>{}, 6)};
    bilinear dual_general{derived::constants(general.w)};
    const auto of_general = check_attention(other, keep_mask{holes}, general, keep_mask{holes}, dual_general);
    derived::check_derivative(dual_general.w, of_general.dscore.w, [&] {
        return derived::along(other.dout, attention(other.dual_q, other.dual_k, other.dual_v, keep_mask{holes}, dual_general));
    });

    const additive score{derived::filled(tensor<big, hidden, d_k>{}, 7), derived::filled(tensor<big, hidden, d_q>{}, 8),
                         derived::filled(tensor<big, hidden>{}, 9)};
    additive dual_score{derived::constants(score.w1), derived::constants(score.w2), derived::constants(score.b)};
    const auto of_additive = check_attention(other, sliding_window{1, 1}, score, sliding_window{1, 1}, dual_score);
    const auto value = [&] { return derived::along(other.dout, attention(other.dual_q, other.dual_k, other.dual_v, sliding_window{1, 1}, dual_score)); };
    derived::check_derivative(dual_score.w1, of_additive.dscore.w1, value);
    derived::check_derivative(dual_score.w2, of_additive.dscore.w2, value);
    derived::check_derivative(dual_score.b, of_additive.dscore.b, value);
}

namespace {
// −½‖q − k‖²·w, with a weight w: a score function that joins from outside.
template <class S> struct nearness {
    S w;
    template <class Q, class K> S operator()(const Q& q, const K& k) const {
        S sum(0);
        for (std::size_t c = 0; c < q.length(0); ++c) sum = sum + (q(c) - k(c)) * (q(c) - k(c));
        return -(sum * w) / S(2);
    }
};
template <class S> nearness<S> zero_score_gradient(const nearness<S>&) { return {S(0)}; }
template <class S, class Q, class K, class DQ, class DK>
void score_vjp(const nearness<S>& score, const Q& q, const K& k, const S& ds, DQ&& dq, DK&& dk, nearness<S>& dscore) {
    for (std::size_t c = 0; c < q.length(0); ++c) {
        const S g = ds * score.w * (k(c) - q(c));
        dq(c) = dq(c) + g;
        dk(c) = dk(c) - g;
    }
    dscore.w = dscore.w + ds * nearness<S>{S(1)}(q, k);
}
} // namespace

TEST_CASE("a score function of one's own brings its gradient", "[gradient]") {
    auto p = problem_of<d_k>();
    const auto gradient = check_attention(p, causal_top_left{}, nearness<big>{big(0.7)}, causal_top_left{}, nearness<dual<big>>{dual<big>(big(0.7))});
    const big wanted =
        derived::along(p.dout, attention(p.dual_q, p.dual_k, p.dual_v, causal_top_left{}, nearness<dual<big>>{dual<big>(big(0.7), big(1))})).derivative();
    CHECK(derived::agrees(gradient.dscore.w, wanted));
}

TEST_CASE("rows without a visible key have gradient 0, also where they are NaN, and hidden keys are not read", "[gradient]") {
    const auto q = derived::filled(tensor<double, n_q, d_k>{}, 1);
    auto k = derived::filled(tensor<double, n_k, d_k>{}, 2);
    auto v = derived::filled(tensor<double, n_k, d_v>{}, 3);
    auto dout = derived::filled(tensor<double, n_q, d_v>{}, 4);
    const auto zero = attention_vjp(q, k, v, keep_mask{holes}, scaled_by_dimension{}, dout);
    CHECK(zero.dq[1] == tensor<double, d_k>{});
    const auto nan = attention_vjp(q, k, v, keep_mask{holes}, scaled_by_dimension{}, dout, empty_row::nan);
    CHECK(nan.dq == zero.dq);
    CHECK(nan.dk == zero.dk);
    CHECK(nan.dv == zero.dv);
    for (std::size_t c = 0; c < 3; ++c) dout(1, c) = std::nan(""); // what comes to such a row does not matter either
    CHECK(attention_vjp(q, k, v, keep_mask{holes}, scaled_by_dimension{}, dout, empty_row::nan).dv == zero.dv);
    for (std::size_t c = 0; c < 3; ++c) dout(2, c) = 0;
    const auto before = attention_vjp(q, k, v, keep_mask{holes}, scaled_by_dimension{}, dout);
    CHECK(before.dk[1] == tensor<double, d_k>{}); // key 1 is seen by row 2 alone
    tensor<bool, n_q, n_k> without_key_1 = holes;
    without_key_1(2, 1) = false;
    k(1, 0) = std::nan("");
    v(1, 2) = std::numeric_limits<double>::infinity();
    const auto hidden_key = attention_vjp(q, k, v, keep_mask{without_key_1}, scaled_by_dimension{}, dout);
    CHECK(hidden_key.dk[1] == tensor<double, d_k>{});
    CHECK(hidden_key.dv[1] == tensor<double, d_v>{});
    CHECK(hidden_key.dq[0] == before.dq[0]);
    // With a sink such a row is the constant 0 as well.
    const auto sink = attention_vjp(q, k, v, keep_mask{tensor<bool, n_q, n_k>{}} & attention_sink{1.0}, scaled_by_dimension{}, dout, empty_row::nan);
    CHECK(sink.dsink == 0);
    CHECK(sink.dv == tensor<double, n_k, d_v>{});
    // No keys at all.
    const auto no_keys = attention_vjp(q, tensor<double, dyn, d_k>{}, tensor<double, dyn, d_v>{}, dout);
    CHECK(no_keys.dq == tensor<double, n_q, d_k>{});
    CHECK(no_keys.dk.length(0) == 0);
}

TEST_CASE("gradients of attention on fixed and dynamic axes and of views are the same", "[gradient]") {
    const auto p = problem_of<d_k>();
    const auto fixed = attention_vjp(p.q, p.k, p.v, causal_top_left{}, p.dout);
    const tensor<big, dyn, dyn> q(p.q), k(p.k), v(p.v), dout(p.dout);
    const auto loose = attention_vjp(q, k, v, causal_top_left{}, dout);
    CHECK(loose.dq == fixed.dq);
    CHECK(loose.dk == fixed.dk);
    CHECK(loose.dv == fixed.dv);
    const auto turned = transpose(p.v);
    const view<const big, n_k, d_v> v_view(turned.data(), {}, {1, 4});
    CHECK(attention_vjp(p.q, p.k, v_view, causal_top_left{}, p.dout).dk == fixed.dk);
}

TEST_CASE("one query, one key: the value takes all, and the weight does not move", "[gradient]") {
    const tensor<big, axis<1>, d_k> q{{3, -1}}, k{{2, 5}};
    const tensor<big, axis<1>, d_v> v{{1, 2, 3}}, dout{{4, 5, 6}};
    const auto gradient = attention_vjp(q, k, v, dout);
    CHECK(gradient.dv == dout);
    CHECK(gradient.dq == tensor<big, axis<1>, d_k>{});
    CHECK(gradient.dk == tensor<big, axis<1>, d_k>{});
}

TEST_CASE("∂z_i/∂v_j is the weight α_ij, whatever lies between them (E049)", "[gradient]") {
    const auto q = derived::filled(tensor<double, n_q, d_k>{}, 1);
    const auto k = derived::filled(tensor<double, n_k, d_k>{}, 2);
    const auto v = derived::filled(tensor<double, n_k, d_v>{}, 3);
    const auto a = attention_weights(q, k, causal_bottom_right{3, 4});
    for (std::size_t i = 0; i < 3; ++i) {
        tensor<double, n_q, d_v> dout;
        dout(i, 1) = 1;
        const auto dv = attention_vjp(q, k, v, causal_bottom_right{3, 4}, dout).dv;
        for (std::size_t j = 0; j < 4; ++j) {
            CHECK(dv(j, 1) == a(i, j));
            CHECK(dv(j, 0) == 0);
        }
    }
}

TEST_CASE("what does not change attention has no gradient", "[gradient]") {
    const auto p = problem_of<d_k>();
    const auto gradient = attention_vjp(p.q, p.k, p.v, p.dout);
    // All values moved by the same vector: the weights add to 1, so Σ_j dv_j = Σ_i dout_i. All keys moved by the same: Σ_j dk_j = 0.
    for (std::size_t c = 0; c < 3; ++c) {
        big of_values(0), of_outputs(0);
        for (std::size_t j = 0; j < 4; ++j) of_values = of_values + gradient.dv(j, c);
        for (std::size_t i = 0; i < 3; ++i) of_outputs = of_outputs + p.dout(i, c);
        CAPTURE(c, of_values.text(50), of_outputs.text(50));
        CHECK(derived::agrees(of_values, of_outputs));
    }
    for (std::size_t c = 0; c < 2; ++c) {
        big of_keys(0);
        for (std::size_t j = 0; j < 4; ++j) of_keys = of_keys + gradient.dk(j, c);
        CHECK(derived::agrees(of_keys, big(0)));
    }
}

TEST_CASE("gradients of attention say the rules of shapes at run time", "[gradient]") {
    const auto q = tensor<double, dyn, dyn>::with_lengths(3, 2), k = tensor<double, dyn, dyn>::with_lengths(4, 2);
    const auto v = tensor<double, dyn, dyn>::with_lengths(4, 5);
    const std::string sentence = rules::gradient_has_shape_of_output::sentence;
    CHECK_THROWS_WITH(attention_vjp(q, k, v, tensor<double, dyn, dyn>::with_lengths(4, 5)), sentence + " (4 and 3)");
    CHECK_THROWS_WITH(attention_vjp(q, k, v, tensor<double, dyn, dyn>::with_lengths(3, 4)), sentence + " (4 and 5)");
    CHECK_THROWS_WITH(attention_vjp(q, v, v, tensor<double, dyn, dyn>::with_lengths(3, 5)), std::string(rules::query_key_dimension::sentence) + " (2 and 5)");
    CHECK_THROWS_WITH(attention_vjp(q, k, q, tensor<double, dyn, dyn>::with_lengths(3, 2)), std::string(rules::value_for_each_key::sentence) + " (4 and 3)");
    CHECK_THROWS_WITH(attention_vjp(q, k, v, causal_bottom_right{3, 5}, tensor<double, dyn, dyn>::with_lengths(3, 5)),
                      std::string(rules::mask_column_for_each_key::sentence) + " (4 and 5)");
}
