// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention in plain sums, as the lectures define it, over 3 queries and 4 keys: what its proofs hold against the code.
#pragma once

#include "identity.hpp"

#include "attest/formula/attention.hpp"

namespace attest::proofs {

struct queries : axis<3> {};
struct keys : axis<4> {};
struct d_k : axis<2> {};
struct d_v : axis<5> {};

// [definition]
/// α_ij = e^{s_ij} / Σ_l e^{s_il}, and z_ic = Σ_j α_ij v_jc.
template <matrix_like S>
[[nodiscard]] constexpr auto weights_of(const S& s) {
    auto alpha = tensor<field, axis_of<S, 0>, axis_of<S, 1>>{};
    for (std::size_t i = 0; i < s.length(0); ++i) {
        field sum = 0;
        for (std::size_t l = 0; l < s.length(1); ++l) sum = sum + exp(s(i, l));
        for (std::size_t j = 0; j < s.length(1); ++j) alpha(i, j) = exp(s(i, j)) / sum;
    }
    return alpha;
}
template <matrix_like A, matrix_like V>
[[nodiscard]] constexpr auto weighted_sums(const A& alpha, const V& v) {
    auto z = tensor<field, axis_of<A, 0>, axis_of<V, 1>>{};
    for (std::size_t i = 0; i < alpha.length(0); ++i)
        for (std::size_t c = 0; c < v.length(1); ++c)
            for (std::size_t j = 0; j < v.length(0); ++j) z(i, c) = z(i, c) + alpha(i, j) * v(j, c);
    return z;
}
/// s_ij = Σ_c q_ic k_jc · scale.
template <matrix_like Q, matrix_like K>
[[nodiscard]] constexpr auto scores_of(const Q& q, const K& k, const field& scale) {
    auto s = tensor<field, axis_of<Q, 0>, axis_of<K, 0>>{};
    for (std::size_t i = 0; i < q.length(0); ++i)
        for (std::size_t j = 0; j < k.length(0); ++j)
            for (std::size_t c = 0; c < q.length(1); ++c) s(i, j) = s(i, j) + q(i, c) * k(j, c) * scale;
    return s;
}

/// Free queries, keys and values, with a free scale for 1/√d_k, and what the definition makes of them.
struct problem {
    tensor<field, queries, d_k> q;
    tensor<field, keys, d_k> k;
    tensor<field, keys, d_v> v;
    scaled_dot_product<field> score;
    tensor<field, queries, keys> s, alpha;
    tensor<field, queries, d_v> z;

    constexpr explicit problem(draw& x) : problem(x, x.number()) {}
    constexpr problem(draw& x, const field& scale)
        : q{x.matrix<queries, d_k>()}, k{x.matrix<keys, d_k>()}, v{x.matrix<keys, d_v>()}, score{scale}, s{scores_of(q, k, scale)},
          alpha{weights_of(s)}, z{weighted_sums(alpha, v)} {}
};
/// √2 exists in the field, and is the root of d_k here.
[[nodiscard]] constexpr field scale_of_d_k() { return 1 / sqrt(field(d_k::size == 2 ? 2 : 0)); }
// [/definition]

/// Row by row, as the code goes: every stage.
[[nodiscard]] constexpr agreement every_stage_is_as_defined(draw& x) {
    const problem p(x);
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 3; ++i) {
        const auto row = attend(p.q[i], p.k, p.v, i, everything{}, p.score);
        all = all & agree(row.scores, p.s[i]) & agree(row.weights, p.alpha[i]) & agree(row.out, p.z[i]);
    }
    return all;
}

} // namespace attest::proofs
