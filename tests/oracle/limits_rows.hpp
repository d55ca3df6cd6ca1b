// SPDX-License-Identifier: BSL-1.0
// Rows of kernels.hpp's inputs with their exact values in long double, and the facts that the limits take; and inputs that are known to mislead
// limits.
#pragma once

#include "attest/oracle/limits_forward.hpp"
#include "kernels.hpp"

namespace limit_rows {

using namespace attest;
using wide = long double;

inline double scale_of(const kernels::inputs& in) { return in.scale != 0 ? in.scale : 1 / std::sqrt(static_cast<double>(in.d_k)); }
inline std::vector<double> slice(const std::vector<double>& x, std::size_t row, std::size_t length) {
    return {x.begin() + static_cast<long>(row * length), x.begin() + static_cast<long>((row + 1) * length)};
}
inline std::vector<score_vector> keys_of(const kernels::inputs& in) {
    std::vector<score_vector> keys;
    for (std::size_t j = 0; j < in.n_k; ++j) keys.push_back(score_vector::key(slice(in.k, j, in.d_k), scale_of(in)));
    return keys;
}

struct row {
    std::vector<std::size_t> visible;
    row_facts facts;
    std::vector<wide> out;
    std::optional<query_moves> moves;

    row(const kernels::inputs& in, std::size_t i, const std::vector<score_vector>& keys, bool in_16_bits) {
        const double scale = scale_of(in);
        facts.rule = score_rule::dot(in.d_k, scale);
        const score_vector q = score_vector::query(slice(in.q, i, in.d_k), scale);
        std::vector<wide> score;
        wide m = -INFINITY, sum = 0;
        for (std::size_t j = 0; j < in.n_k; ++j) {
            if (!in.visible(i, j)) continue;
            visible.push_back(j);
            wide s = 0;
            for (std::size_t c = 0; c < in.d_k; ++c) s += static_cast<wide>(q.x[c]) * static_cast<wide>(in.k[j * in.d_k + c]);
            s *= in.scale != 0 ? static_cast<wide>(in.scale) : 1 / std::sqrt(static_cast<wide>(in.d_k));
            facts.scaled.push_back(static_cast<double>(s));
            facts.sizes.push_back(size_of_dot(q, keys[j], in_16_bits));
            if (!in.bias.empty()) {
                facts.mask.push_back(in.bias[i * in.n_k + j]);
                s += static_cast<wide>(in.bias[i * in.n_k + j]);
            }
            score.push_back(s);
            m = std::max(m, s);
        }
        for (const wide s : score) sum += std::exp(s - m);
        out.assign(in.d_v, 0);
        for (std::size_t a = 0; a < visible.size(); ++a) {
            const wide weight = std::exp(score[a] - m) / sum;
            facts.score.push_back(static_cast<double>(score[a]));
            facts.weight.push_back(static_cast<double>(weight));
            for (std::size_t c = 0; c < in.d_v; ++c) out[c] += weight * static_cast<wide>(in.v[visible[a] * in.d_v + c]);
        }
        facts.lse = static_cast<double>(m + std::log(sum));
        if (!in_16_bits) return;
        facts.key_alike = share_of_fractions(in.k);
        moves.emplace(
            facts, q, in.d_v, [&](std::size_t a, std::size_t c) { return in.k[visible[a] * in.d_k + c]; },
            [&](std::size_t a, std::size_t e) { return in.v[visible[a] * in.d_v + e]; });
    }
    [[nodiscard]] const query_moves* query() const { return moves ? &*moves : nullptr; }
};

// The greatest error of a kernel's outputs in units of the limits: before the store, and stored.
struct shares {
    double before = 0, stored = 0, certain = 0;
};
// `made`: out, before it is stored.
inline shares shares_of(const kernels::inputs& in, const arithmetic& a, const std::vector<double>& made, double lambda) {
    shares greatest;
    const std::vector<score_vector> keys = keys_of(in);
    for (std::size_t i = 0; i < in.n_q; ++i) {
        const row x(in, i, keys, a.score > 0);
        if (x.visible.empty()) continue;
        const forward_limits limits(a, x.facts, lambda);
        for (std::size_t e = 0; e < in.d_v; ++e) {
            const double o = static_cast<double>(x.out[e]), got = made[i * in.d_v + e];
            const auto value = [&](std::size_t at) { return in.v[x.visible[at] * in.d_v + e]; };
            const element_limits l = limits.out(o, value, x.query(), e);
            const auto hull = limits.hull(value);
            const double noise = 0x1p-58 * (std::fabs(hull.low) + std::fabs(hull.high)); // of long double
            const auto off = [&](double x_got) { return static_cast<double>(std::fabs(static_cast<wide>(x_got) - x.out[e])); };
            if (off(got) > noise) greatest.before = std::max(greatest.before, off(got) / l.expected);
            if (off(got) > noise) greatest.certain = std::max(greatest.certain, off(got) / l.certain);
            const double limit = l.expected + half_ulp_of_store(a.output, std::fabs(o) + l.expected);
            if (limit > 0 && off(round_to(a.output, got)) > noise) greatest.stored = std::max(greatest.stored, off(round_to(a.output, got)) / limit);
        }
    }
    return greatest;
}

// Logits of a small spread around one value; with `far`, around that value.
inline void spread_keys(kernels::inputs& in, kernels::generator& r, const format& f, double spread, double far = 0) {
    for (std::size_t j = 1; j < in.n_k; ++j)
        for (std::size_t c = 0; c < in.d_k; ++c) in.k[j * in.d_k + c] = far == 0 ? in.k[c] : 0;
    if (far != 0) {
        std::fill(in.q.begin(), in.q.end(), 0.0);
        std::fill(in.k.begin(), in.k.end(), 0.0);
        in.scale = 1;
        in.q[1] = 1;
        for (std::size_t j = 0; j < in.n_k; ++j) in.k[j * in.d_k + 1] = round_to(f, far);
    }
    in.q[0] = round_to(f, spread / scale_of(in));
    for (std::size_t j = 0; j < in.n_k; ++j) in.k[j * in.d_k] = round_to(f, r.normal());
}
// v follows the score: the worst for errors that are not independent.
inline void follow_keys(kernels::inputs& in) {
    for (std::size_t j = 0; j < in.n_k; ++j)
        for (std::size_t e = 0; e < in.d_v; ++e) in.v[j * in.d_v + e] = in.k[j * in.d_k] > 0 ? 1 : -1;
}

// One query, n keys, from N(0, 1).
inline kernels::inputs normal_inputs(kernels::generator& r, std::size_t n, std::size_t d, const format& f) {
    return {1, n, d, d, kernels::draw(r, d, 0, 1, f), kernels::draw(r, n * d, 0, 1, f), kernels::draw(r, n * d, 0, 1, f), {}, "none", 0};
}

} // namespace limit_rows
