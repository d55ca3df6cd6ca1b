// SPDX-License-Identifier: BSL-1.0
// The gradients of attention: each is the transpose of the derivative. With all of dq, dk, dv, and of what masks and scores
// hold, free at once, ⟨dout, J (dq, dk, dv, …)⟩ = ⟨vjp(dout), (dq, dk, dv, …)⟩, where J comes from dual numbers.

#include "../identity.hpp"

#include "attest/formula/mask_extras.hpp"
#include "attest/gradient/attention.hpp"

namespace attest::proofs {
namespace {

struct n_q : axis<3> {};
struct n_k : axis<4> {};
struct d_k : axis<2> {};
struct d_q : axis<6> {}; // of the scores that allow another dimension than d_k
struct d_v : axis<5> {};
struct hidden : axis<2> {};

// [problem]
// A point (q, k, v), a direction there, and a gradient of the output.
template <axis_type DQ>
struct problem {
    tensor<field, n_q, DQ> q, dq;
    tensor<field, n_k, d_k> k, dk;
    tensor<field, n_k, d_v> v, dv;
    tensor<field, n_q, d_v> dout;

    constexpr explicit problem(draw& x)
        : q{x.matrix<n_q, DQ>()}, dq{x.matrix<n_q, DQ>()}, k{x.matrix<n_k, d_k>()}, dk{x.matrix<n_k, d_k>()},
          v{x.matrix<n_k, d_v>()}, dv{x.matrix<n_k, d_v>()}, dout{x.matrix<n_q, d_v>()} {}

    // ⟨dout, J (dq, dk, dv, …)⟩, with mask and score in dual numbers.
    template <mask M, class Score>
    [[nodiscard]] constexpr field change(const M& m, const Score& score) const {
        return inner(dout, attention(along(q, dq), along(k, dk), along(v, dv), m, score));
    }
    // ⟨vjp(dout), (dq, dk, dv)⟩.
    template <class G>
    [[nodiscard]] constexpr field change(const G& gradient) const {
        return inner(gradient.dq, dq) + inner(gradient.dk, dk) + inner(gradient.dv, dv);
    }
};
// [/problem]

// Query 2 (the second) sees no key, and its gradients are 0.
constexpr tensor<bool, n_q, n_k> sees{{true, false, true, true}, {false, false, false, false}, {true, true, false, true}};
constexpr tensor<bool, n_q, n_k> kept{{true, true, false, true}, {true, false, true, true}, {false, true, true, true}};

// [plain]
// Masks that hold no numbers, with a free scale.
template <mask M>
constexpr bool is_transpose_of_derivative(const M& m) {
    return identity(2, [&m](draw& x) {
        const problem<d_k> p(x);
        const field scale = x.number();
        const auto gradient = attention_vjp(p.q, p.k, p.v, m, scaled_dot_product<field>{scale}, p.dout);
        return agree(p.change(m, scaled_dot_product<dual<field>>{dual<field>(scale)}), p.change(gradient)) &
               agree(gradient.dsink, 0);
    });
}
static_assert(is_transpose_of_derivative(everything{}));
static_assert(is_transpose_of_derivative(causal_top_left{}));
static_assert(is_transpose_of_derivative(sliding_window{1, 1, 0} & causal_bottom_right{3, 4}));
static_assert(is_transpose_of_derivative(keep_mask{sees}));

// The forms without a score take 1/√d_k, and those without a mask take none.
static_assert(identity(2, [](draw& x) {
    const problem<d_k> p(x);
    const auto gradient = attention_vjp(p.q, p.k, p.v, p.dout), masked = attention_vjp(p.q, p.k, p.v, keep_mask{sees}, p.dout);
    return agree(p.change(everything{}, scaled_by_dimension{}), p.change(gradient)) &
           agree(p.change(keep_mask{sees}, scaled_by_dimension{}), p.change(masked));
}));
// [/plain]

// [masks]
// All that a mask may hold: a bias, a sink, and dropout's factors. `write_mask` is called for the visible keys alone.
template <bool WithSink, bool WithDropout>
constexpr bool mask_has_its_gradients() {
    return identity(2, [](draw& x) {
        const problem<d_k> p(x);
        const auto bias = x.matrix<n_q, n_k>(), dbias = x.matrix<n_q, n_k>();
        const field sink = x.number(), dsink = x.number(), factor = x.number();
        const auto with_all = [](const auto& b, const auto& s, const auto& f) {
            const auto plain = additive_mask{b} & keep_mask{sees};
            if constexpr (WithSink && WithDropout)
                return plain & attention_sink{s} & dropout_mask{kept, f};
            else if constexpr (WithSink)
                return plain & attention_sink{s};
            else
                return plain & dropout_mask{kept, f};
        };
        tensor<field, n_q, n_k> written;
        std::size_t calls = 0;
        const auto gradient = attention_vjp(p.q, p.k, p.v, with_all(bias, sink, factor), dot_product{}, p.dout, empty_row::zero,
                                            [&](std::size_t i, std::size_t j, const field& ds) {
                                                written(i, j) = ds;
                                                ++calls;
                                            });
        const field by_dual = p.change(with_all(along(bias, dbias), along(sink, dsink), dual<field>(factor)), dot_product{});
        return agree(by_dual, p.change(gradient) + inner(written, dbias) + gradient.dsink * dsink) &
               agree(field(static_cast<int>(calls)), 6) & (WithSink ? agreement::equal : agree(gradient.dsink, 0));
    });
}
static_assert(mask_has_its_gradients<true, true>());
static_assert(mask_has_its_gradients<true, false>());
static_assert(mask_has_its_gradients<false, true>());

// A sink in front of keys that may all be seen, and in a row without a key: there it is the whole row, and its gradient 0.
static_assert(identity(2, [](draw& x) {
    const problem<d_k> p(x);
    const field sink = x.number(), dsink = x.number();
    const auto gradient = attention_vjp(p.q, p.k, p.v, attention_sink{sink}, dot_product{}, p.dout);
    return agree(p.change(attention_sink{along(sink, dsink)}, dot_product{}), p.change(gradient) + gradient.dsink * dsink);
}));
// [/masks]

// [scores]
// Scores with weights of their own, for queries that are wider than keys: their gradients are sums over all pairs.
static_assert(identity(2, [](draw& x) {
    const problem<d_q> p(x);
    const auto w = x.matrix<d_q, d_k>(), dw = x.matrix<d_q, d_k>();
    const auto gradient = attention_vjp(p.q, p.k, p.v, causal_top_left{}, bilinear{w}, p.dout);
    return agree(p.change(causal_top_left{}, bilinear{along(w, dw)}), p.change(gradient) + inner(gradient.dscore.w, dw));
}));
static_assert(identity(2, [](draw& x) {
    const problem<d_q> p(x);
    const auto w1 = x.matrix<hidden, d_k>(), dw1 = x.matrix<hidden, d_k>();
    const auto w2 = x.matrix<hidden, d_q>(), dw2 = x.matrix<hidden, d_q>();
    const auto b = x.vector<hidden>(), db = x.vector<hidden>();
    const auto gradient = attention_vjp(p.q, p.k, p.v, everything{}, additive{w1, w2, b}, p.dout);
    return agree(p.change(everything{}, additive{along(w1, dw1), along(w2, dw2), along(b, db)}),
                 p.change(gradient) + inner(gradient.dscore.w1, dw1) + inner(gradient.dscore.w2, dw2) +
                     inner(gradient.dscore.b, db));
}));
static_assert(identity(2, [](draw& x) {
    const problem<d_k> p(x);
    const field cap = x.number();
    const auto gradient = attention_vjp(p.q, p.k, p.v, everything{}, softcapped{scaled_by_dimension{}, cap}, p.dout);
    return agree(p.change(everything{}, softcapped{scaled_by_dimension{}, dual<field>(cap)}), p.change(gradient));
}));
// [/scores]

// [D]
// ds_ij = α_ij (da_ij − D_i) with da_ij = dz_i · v_j and D_i = Σ_j α_ij da_ij, which is dz_i · z_i (arXiv 2205.14135); each
// row of ds adds to 0.
static_assert(identity(2, [](draw& x) {
    const problem<d_k> p(x);
    const scaled_dot_product<field> score{x.number()};
    const auto z = attention(p.q, p.k, p.v, everything{}, score);
    const auto alpha = softmax(scores(p.q, p.k, score));
    tensor<field, n_q, n_k> ds;
    (void)attention_vjp(p.q, p.k, p.v, everything{}, score, p.dout, empty_row::zero,
                        [&ds](std::size_t i, std::size_t j, const field& x_ij) { ds(i, j) = x_ij; });
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 3; ++i) {
        field sum = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            all = all & agree(ds(i, j), alpha(i, j) * (inner(p.dout[i], p.v[j]) - inner(p.dout[i], z[i])));
            sum = sum + ds(i, j);
        }
        all = all & agree(sum, 0);
    }
    return all;
}));
// [/D]

} // namespace
} // namespace attest::proofs
