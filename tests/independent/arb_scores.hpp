// SPDX-License-Identifier: BSL-1.0
/// \file
/// Scores of one query and one key, and what a change of a score does to both.
///
///     dot        u = Σ_c q_c k_c
///     scaled     u = Σ_c q_c k_c,           times scale, which is 1/√d_k unless given
///     bilinear   u = Σ_ab q_a W_ab k_b
///     additive   u = Σ_a b_a tanh(Σ_c W1_ac k_c + Σ_c W2_ac q_c)
///     softcap    s = cap · tanh(u · scale/cap)
#pragma once

#include "arb_number.hpp"
#include "question.hpp"

#include <vector>

namespace independent {

using arb_row = std::vector<arb_number>;
using arb_matrix = std::vector<arb_row>;

/// Matrix [b, h] of a tensor.
[[nodiscard]] inline arb_matrix matrix_of(const table& t, std::size_t b, std::size_t h) {
    arb_matrix m(t.rows());
    for (std::size_t r = 0; r < t.rows(); ++r)
        for (std::size_t c = 0; c < t.columns(); ++c) m[r].emplace_back(t.values[t.at(b, h, r, c)]);
    return m;
}

[[nodiscard]] inline arb_matrix zeros(std::size_t rows, std::size_t columns) { return arb_matrix(rows, arb_row(columns)); }

/// Σ_c a_c b_c
[[nodiscard]] inline arb_number sum_of_products(const arb_row& a, const arb_row& b) {
    arb_number sum;
    for (std::size_t c = 0; c < a.size(); ++c) sum.add_product(a[c], b[c]);
    return sum;
}

class arb_score {
public:
    explicit arb_score(const question& asked) : kind_{asked.how.score}, scale_(1) {
        if (kind_ == score_rule::scaled) {
            const auto d = static_cast<double>(asked["k"].columns());
            scale_ = asked.how.scale ? arb_number::from_text(*asked.how.scale) : arb_number(1) / sqrt(arb_number(d));
        }
        if (asked.how.softcap) cap_ = arb_number::from_text(*asked.how.softcap);
        if (kind_ == score_rule::bilinear) w_ = matrix_of(asked["w"], 0, 0);
        if (kind_ == score_rule::additive) {
            w1_ = matrix_of(asked["w1"], 0, 0);
            w2_ = matrix_of(asked["w2"], 0, 0);
            b_ = matrix_of(asked["b"], 0, 0)[0];
        }
    }

    /// u, before scale and cap.
    [[nodiscard]] arb_number raw(const arb_row& q, const arb_row& k) const {
        if (kind_ == score_rule::bilinear) {
            arb_number sum;
            for (std::size_t a = 0; a < q.size(); ++a) sum.add_product(q[a], sum_of_products(w_[a], k));
            return sum;
        }
        if (kind_ == score_rule::additive) {
            arb_number sum;
            for (std::size_t a = 0; a < b_.size(); ++a) sum.add_product(b_[a], tanh(sum_of_products(w1_[a], k) + sum_of_products(w2_[a], q)));
            return sum;
        }
        return sum_of_products(q, k);
    }
    /// s, from u.
    [[nodiscard]] arb_number scaled_and_capped(const arb_number& u) const {
        if (!cap_) return u * scale_;
        return *cap_ * tanh(u * scale_ / *cap_);
    }
    /// ds/du
    [[nodiscard]] arb_number slope(const arb_number& u) const {
        if (!cap_) return scale_;
        const arb_number one_over_cosh = sech(u * scale_ / *cap_);
        return scale_ * one_over_cosh * one_over_cosh;
    }
    /// Adds du · ∂u/∂q to dq, and du · ∂u/∂k to dk.
    void add_gradient(const arb_row& q, const arb_row& k, const arb_number& du, arb_row& dq, arb_row& dk) const {
        if (kind_ == score_rule::bilinear) {
            for (std::size_t a = 0; a < q.size(); ++a)
                for (std::size_t b = 0; b < k.size(); ++b) {
                    dq[a] += du * w_[a][b] * k[b];
                    dk[b] += du * w_[a][b] * q[a];
                }
        } else if (kind_ == score_rule::additive) {
            for (std::size_t a = 0; a < b_.size(); ++a) {
                const arb_number one_over_cosh = sech(sum_of_products(w1_[a], k) + sum_of_products(w2_[a], q));
                const arb_number inside = du * b_[a] * one_over_cosh * one_over_cosh;
                for (std::size_t c = 0; c < q.size(); ++c) dq[c] += inside * w2_[a][c];
                for (std::size_t c = 0; c < k.size(); ++c) dk[c] += inside * w1_[a][c];
            }
        } else {
            for (std::size_t c = 0; c < q.size(); ++c) {
                dq[c].add_product(du, k[c]);
                dk[c].add_product(du, q[c]);
            }
        }
    }

private:
    score_rule kind_;
    arb_number scale_;
    std::optional<arb_number> cap_;
    arb_matrix w_, w1_, w2_;
    arb_row b_;
};

} // namespace independent
