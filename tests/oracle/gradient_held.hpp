// SPDX-License-Identifier: BSL-1.0
// An emulated backward kernel's gradients, held against their limits.
#pragma once

#include "attest/oracle/gradient_limits.hpp"
#include "gradient_families.hpp"

#include <cstdio>

namespace gradient_held {

using wide = long double;
inline std::vector<double> doubles(const std::vector<wide>& x) { return {x.begin(), x.end()}; }

// Bounds of a dot product's scores, made here so that they do not depend on those of forward limits: scaled by d + 8 roundings, in X with stored
// operands, each store, cap and bias.
class score_bounds {
public:
    score_bounds(const kernels::gradient_inputs& in, const kernels::exact_gradients& g, std::size_t i, std::size_t j) : in_{in} {
        const double scale = std::fabs(in.score_scale());
        for (std::size_t c = 0; c < in.d_k; ++c) {
            const double term = std::fabs(in.q[i * in.d_k + c] * in.k[j * in.d_k + c]) * scale;
            size_ += term;
            terms_.emplace_back(in.q[i * in.d_k + c], in.k[j * in.d_k + c]);
            operands_ += std::fabs(in.q[i * in.d_k + c]) + std::fabs(in.k[j * in.d_k + c]);
        }
        score_ = std::fabs(static_cast<double>(g.score[i * in.n_k + j]));
        before_ = in.bias.empty() ? score_ : std::fabs(static_cast<double>(g.score[i * in.n_k + j] - in.bias[i * in.n_k + j]));
    }
    // Its bound, and the root of the sum of squares of what is stored.
    [[nodiscard]] std::pair<double, double> in(const attest::arithmetic& a) const {
        const double scale = std::fabs(in_.score_scale()), one = a.operand + a.query_key, depth = static_cast<double>(in_.d_k);
        double bound = (2 * one + one * one + attest::detail::roundings(depth + 8, a.unit)) * size_;
        bound += std::max(1.0, scale) * (2 * (depth + 1) * a.tiny + (a.tiny + a.operand_tiny + (a.query_key > 0 ? a.weight_tiny : 0)) * operands_);
        double squares = 0; // q may be scaled by the scale or by its root, k by its root
        for (const auto& [q, k] : terms_) {
            const double of_q = std::max(stored(a, q, scale), stored(a, q, std::sqrt(scale))) * k * scale,
                         of_k = stored(a, k, std::sqrt(scale)) * q * scale;
            squares += of_q * of_q + of_k * of_k;
        }
        const auto store = [&](double x) {
            if (!(a.score > 0)) return;
            const double b = attest::detail::store_error(a.output, x + bound);
            bound += b;
            squares += b * b;
        };
        if (size_ / scale > a.greatest / 1.5 || (a.score > 0 && !(score_ + bound < a.greatest / 2))) return {kernels::infinity, kernels::infinity};
        if (in_.cap > 0) { // s/cap, tanh and the product, none steeper than the score itself
            bound += 12 * a.unit * (size_ + bound);
            for (int k = 0; k < 3 && a.score > 0; ++k) {
                const double b = a.score * (size_ + bound) + a.weight_tiny * std::max(1.0, in_.cap);
                bound += b;
                squares += b * b;
            }
        }
        store(before_);
        if (!in_.bias.empty()) {
            bound += 2 * a.unit * (score_ + bound);
            store(score_);
        }
        return {bound, std::sqrt(squares)};
    }

private:
    // x's share in the error of x times a factor, stored.
    static double stored(const attest::arithmetic& a, double x, double factor) {
        return a.query_key > 0 && factor != attest::round_to({1, -126, 127}, factor)
                   ? attest::detail::store_error(a.output, std::fabs(x * factor)) / factor
                   : 0;
    }

    const kernels::gradient_inputs& in_;
    std::vector<std::pair<double, double>> terms_; // q_c, k_c
    double size_ = 0, operands_ = 0, score_ = 0, before_ = 0;
};

inline attest::gradient_shape shape_of(const kernels::gradient_inputs& in) {
    attest::gradient_shape s;
    s.rows = in.n_q;
    s.n_k = in.n_k;
    s.d_k = in.d_k;
    s.d_v = in.d_v;
    s.scale = in.score_scale();
    s.cap = in.cap;
    s.v = in.v;
    s.to_query.value = in.k;
    return s;
}
inline attest::gradient_row_facts facts_of(const kernels::gradient_inputs& in, const kernels::exact_gradients& g, std::size_t i,
                                           const std::vector<const attest::arithmetic*>& possible) {
    attest::gradient_row_facts f;
    f.errors.resize(possible.size());
    for (std::size_t j = 0; j < in.n_k; ++j) {
        if (!in.visible(i, j)) continue;
        const std::size_t at = i * in.n_k + j;
        f.key.push_back(j);
        f.score.push_back(static_cast<double>(g.score[at]));
        f.weight.push_back(static_cast<double>(g.weight[at]));
        if (!in.kept.empty()) f.factor.push_back(static_cast<double>(g.factor[at]));
        if (in.cap > 0) f.tanh.push_back(static_cast<double>(g.tanh[at]));
        const score_bounds bounds(in, g, i, j);
        for (std::size_t a = 0; a < possible.size(); ++a) {
            const auto [bound, noise] = bounds.in(*possible[a]);
            attest::arithmetic plain = attest::detail::without_stores(*possible[a]);
            plain.operand = plain.operand_tiny = 0; // the same operands both times
            f.errors[a].bound.push_back(bound);
            f.errors[a].plain.push_back(bounds.in(plain).first);
            if (possible[a]->score > 0) f.errors[a].noise.push_back(noise);
        }
    }
    for (std::size_t a = 0; a < possible.size(); ++a) f.errors[a].sink = 4 * possible[a]->unit * std::fabs(in.sink);
    f.lse = static_cast<double>(g.lse[i]);
    f.sink_weight = static_cast<double>(g.sink_weight[i]);
    f.dz = {in.dz.data() + i * in.d_v, in.d_v};
    f.to_key.value = {in.q.data() + i * in.d_k, in.d_k};
    return f;
}

// The limits of all gradients of an input, in several arithmetics: [arithmetic][element].
struct limits_of_input {
    std::vector<std::vector<attest::element_limits>> dq, dk, dv, ds;
    std::vector<attest::gradient_score_errors> score_errors_of_first_row;

    limits_of_input(const kernels::gradient_inputs& in, const kernels::exact_gradients& g, const std::vector<const attest::arithmetic*>& possible,
                    double lambda) {
        std::vector<std::size_t> keys(in.n_k);
        std::iota(keys.begin(), keys.end(), std::size_t{0});
        attest::attention_gradient_limits limits(possible, shape_of(in), lambda, keys);
        for (auto* x : {&dq, &dk, &dv, &ds}) x->resize(possible.size());
        for (std::size_t i = 0; i < in.n_q; ++i) {
            const attest::gradient_row_facts f = facts_of(in, g, i, possible);
            if (i == 0) score_errors_of_first_row = f.errors;
            limits.row(f);
            for (std::size_t a = 0; a < possible.size(); ++a) {
                for (std::size_t c = 0; c < in.d_k; ++c) dq[a].push_back(limits.dq(a, c));
                std::vector<attest::element_limits> row(in.n_k, attest::element_limits{0, 0});
                for (std::size_t l = 0; l < f.key.size(); ++l) row[f.key[l]] = limits.ds(a, l);
                ds[a].insert(ds[a].end(), row.begin(), row.end());
            }
        }
        for (std::size_t a = 0; a < possible.size(); ++a)
            for (std::size_t j = 0; j < in.n_k; ++j) {
                for (std::size_t c = 0; c < in.d_k; ++c) dk[a].push_back(limits.dk(a, j, c));
                for (std::size_t c = 0; c < in.d_v; ++c) dv[a].push_back(limits.dv(a, j, c));
            }
    }
    // Of all elements of dq, dk and dv, those whose expected limit is below 0.9 of the certain one.
    [[nodiscard]] double share_of_narrower(std::size_t a) const {
        double narrower = 0, all = 0;
        for (const auto* x : {&dq[a], &dk[a], &dv[a]})
            for (const attest::element_limits& l : *x) {
                all += 1;
                narrower += l.expected < 0.9 * l.certain ? 1 : 0;
            }
        return narrower / all;
    }
};

// Error over limit, the final store in both; 0 where nothing is said.
inline double share_of(const attest::format& stored, double made, wide exact, double limit) {
    if (!(limit < kernels::infinity)) return 0;
    const double size = std::fabs(static_cast<double>(exact)) + limit;
    if (!(size < stored.greatest())) return 0;
    const double error = static_cast<double>(std::fabs(attest::round_to(stored, made) - exact)),
                 total = limit == 0 && exact == 0 ? 0 : limit + attest::ulp(stored, size) / 2;
    return error == 0 ? 0 : error <= 1e300 * total ? error / total : kernels::infinity;
}

struct share {
    double certain = 0, expected = 0;
    bool is_ordered = true; // expected <= certain
    void take(const share& x) {
        certain = std::max(certain, x.certain);
        expected = std::max(expected, x.expected);
        is_ordered = is_ordered && x.is_ordered;
    }
};
struct shares_of_all {
    share dq, dk, dv, ds;
    void take(const shares_of_all& x) { dq.take(x.dq), dk.take(x.dk), dv.take(x.dv), ds.take(x.ds); }
    [[nodiscard]] bool outside() const {
        for (const share* x : {&dq, &dk, &dv, &ds})
            if (!(x->certain <= 1 && x->expected <= 1 && x->is_ordered)) return true;
        return false;
    }
    [[nodiscard]] std::string text() const {
        char line[160];
        std::snprintf(line, sizeof line, "certain %.3f %.3f %.3f %.3f, expected %.3f %.3f %.3f %.3f (dq, dk, dv, dS)", dq.certain, dk.certain,
                      dv.certain, ds.certain, dq.expected, dk.expected, dv.expected, ds.expected);
        return line;
    }
};
// The greatest shares of all elements, in arithmetic number a.
inline shares_of_all hold(const attest::format& stored, const kernels::gradients& made, const kernels::exact_gradients& exact,
                          const limits_of_input& limits, std::size_t a) {
    shares_of_all all;
    const auto each = [&](share& s, const std::vector<double>& values, const std::vector<wide>& right,
                          const std::vector<attest::element_limits>& of) {
        for (std::size_t e = 0; e < values.size(); ++e)
            s.take({share_of(stored, values[e], right[e], of[e].certain), share_of(stored, values[e], right[e], of[e].expected),
                    of[e].expected <= of[e].certain});
    };
    each(all.dq, made.dq, exact.dq, limits.dq[a]);
    each(all.dk, made.dk, exact.dk, limits.dk[a]);
    each(all.dv, made.dv, exact.dv, limits.dv[a]);
    each(all.ds, made.ds, exact.ds, limits.ds[a]);
    return all;
}

} // namespace gradient_held
