// SPDX-License-Identifier: BSL-1.0
/// \file
/// Attention on balls, forward and backward, in plain loops.
///
/// For one query i, over the keys j that it sees, with u_ij the raw score (of turned q and k, if RoPE turns them), f_ij dropout's factor or 1:
///
///     s_ij = capped and scaled u_ij + b_ij          e_ij = e^{s_ij − m}            l_i = Σ_j e_ij + e^{sink − m}
///     a_ij = e_ij / l_i                             lse_i = m + log l_i            o_i = Σ_j a_ij f_ij v_j
///
///     dv_j = Σ_i a_ij f_ij do_i                     da_ij = f_ij (do_i · v_j)      D_i = Σ_j a_ij da_ij
///     ds_ij = a_ij (da_ij − D_i)                    dmask_ij = ds_ij               du_ij = ds_ij ds_ij/du_ij
///     dq_i = Σ_j du_ij ∂u_ij/∂q_i                   dk_j = Σ_i du_ij ∂u_ij/∂k_j    both turned back
///
/// a, o and ds are computed as fractions over l_i or l_i², so that equal scores, whose e_ij are exactly 1, lose nothing before the one division: ties and
/// zeros then come out exact, with radius 0.
#pragma once

#include "arb_pairs.hpp"

#include <algorithm>
#include <map>

namespace independent {

enum class special { number, nan, minus_infinity };
/// One element of an output.
struct element {
    bool judged = true; ///< false: padding
    special what = special::number;
    arb_number ball;
};
struct output {
    std::vector<std::size_t> shape;
    std::vector<element> elements;
    explicit output(std::vector<std::size_t> of) : shape{std::move(of)} {
        std::size_t count = 1;
        for (const std::size_t length : shape) count *= length;
        elements.resize(count);
    }
    element& operator()(std::size_t b, std::size_t h, std::size_t r, std::size_t c) { return elements[((b * shape[1] + h) * shape[2] + r) * shape[3] + c]; }
};
using answers = std::map<std::string, output>;

/// Softmax of one row: the terms e_j, and their sum l.
struct softmax_row {
    explicit softmax_row(std::size_t n) : seen(n, false), raw(n), bias(n), scores(n), terms(n) {}
    std::vector<bool> seen;
    arb_row raw, bias; ///< where both are exact and equal, so are the scores, whatever their balls say
    arb_row scores, terms;
    std::optional<std::size_t> top; ///< the key of the shift m
    arb_number sum;                 ///< l
    arb_number shift;               ///< m

    void put(std::size_t j, arb_number raw_score, arb_number added, arb_number score) {
        seen[j] = true;
        if (!top || middle_is_greater(score, scores[*top])) top = j;
        raw[j] = std::move(raw_score);
        bias[j] = std::move(added);
        scores[j] = std::move(score);
    }
    void exponentiate(const std::optional<arb_number>& sink) {
        if (!top) {
            if (sink) {
                sum = arb_number(1); // the sink itself is the shift
                shift = *sink;
            }
            return;
        }
        shift = scores[*top];
        for (std::size_t j = 0; j < seen.size(); ++j)
            if (seen[j]) {
                const bool equal = j == *top || (same_exact(raw[j], raw[*top]) && same_exact(bias[j], bias[*top]));
                terms[j] = equal ? arb_number(1) : exp(scores[j] - shift);
                sum += terms[j];
            }
        if (sink) sum += exp(*sink - shift);
    }
    [[nodiscard]] bool sees_nothing() const { return !top; }
    /// a_j
    [[nodiscard]] arb_number weight(std::size_t j) const { return terms[j] / sum; }
    /// l D = Σ_j e_j da_j
    [[nodiscard]] arb_number sum_of_terms_times(const arb_row& da) const {
        arb_number total;
        for (std::size_t j = 0; j < seen.size(); ++j)
            if (seen[j]) total.add_product(terms[j], da[j]);
        return total;
    }
    /// ds_j = a_j (da_j − D), from da_j and l D.
    [[nodiscard]] arb_number through_softmax(std::size_t j, const arb_number& da, const arb_number& sum_times_mean) const {
        return terms[j] * (sum * da - sum_times_mean) / (sum * sum);
    }
};

class attention_on_balls {
public:
    explicit attention_on_balls(const question& asked)
        : asked_{asked}, q_{asked["q"]}, k_{asked["k"]}, v_{asked["v"]}, mask_{asked.find("mask")}, dout_{asked.find("dout")}, score_(asked),
          B_{std::max({q_.batches(), k_.batches(), v_.batches()})}, H_{q_.heads()}, raw_scores_(pairs()), scores_(pairs()), weights_(pairs()),
          lse_({B_, H_, q_.rows(), 1}), out_({B_, H_, q_.rows(), v_.columns()}), dq_(q_.shape), dk_(k_.shape), dv_(v_.shape),
          dmask_(mask_ != nullptr ? mask_->shape : std::vector<std::size_t>{0}) {}

    [[nodiscard]] answers answer() {
        if (dout_ != nullptr) begin_gradients();
        for (std::size_t b = 0; b < B_; ++b)
            for (std::size_t h = 0; h < H_; ++h) slice(b, h);
        answers all;
        all.emplace("raw_scores", std::move(raw_scores_));
        all.emplace("scores", std::move(scores_));
        all.emplace("weights", std::move(weights_));
        all.emplace("lse", std::move(lse_));
        all.emplace("out", std::move(out_));
        if (dout_ == nullptr) return all;
        all.emplace("dq", std::move(dq_));
        all.emplace("dk", std::move(dk_));
        all.emplace("dv", std::move(dv_));
        if (mask_ != nullptr) all.emplace("dmask", std::move(dmask_));
        return all;
    }

private:
    [[nodiscard]] std::vector<std::size_t> pairs() const { return {B_, H_, q_.rows(), k_.rows()}; }
    // Gradients of padding are nobody's, until some slice has a row there that is none.
    void begin_gradients() {
        for (output* gradient : {&dq_, &dk_, &dv_})
            for (element& e : gradient->elements) e.judged = false;
    }
    static void add_rows(output& to, std::size_t b, std::size_t h, const arb_matrix& rows, std::size_t no_padding) {
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t c = 0; c < rows[r].size(); ++c) {
                element& e = to(b, h, r, c);
                e.ball += rows[r][c];
                e.judged = e.judged || r < no_padding;
            }
    }

    void slice(std::size_t b, std::size_t h) {
        // Fewer key-value heads: query head h reads ⌊h H_kv/H⌋. A batch of one serves all.
        const auto batch_of = [b](const table& t) { return t.batches() == 1 ? 0 : b; };
        const auto head_of = [h, this](const table& t) { return h * t.heads() / H_; };
        const pair_rules_of rules(asked_, b, h, H_);
        const arb_matrix Q = rules.turned_queries(matrix_of(q_, batch_of(q_), h)), K = rules.turned_keys(matrix_of(k_, batch_of(k_), head_of(k_))),
                         V = matrix_of(v_, batch_of(v_), head_of(v_));
        arb_matrix dO, dQ = zeros(q_.rows(), q_.columns()), dK = zeros(k_.rows(), k_.columns()), dV = zeros(v_.rows(), v_.columns());
        if (dout_ != nullptr) dO = matrix_of(*dout_, b, h);
        for (std::size_t i = 0; i < q_.rows(); ++i) {
            arb_row raw(k_.rows());
            for (std::size_t j = 0; j < k_.rows(); ++j) {
                raw[j] = score_.raw(Q[i], K[j]);
                element& e = raw_scores_(b, h, i, j);
                e.ball = raw[j];
                e.judged = i < rules.queries && j < rules.keys;
            }
            const softmax_row row = forward_row(b, h, i, rules, raw, V);
            if (dout_ == nullptr || row.sees_nothing()) continue; // an empty row is constant
            arb_row da(k_.rows());
            for (std::size_t j = 0; j < k_.rows(); ++j)
                if (row.seen[j]) da[j] = rules.factor(i, j) * sum_of_products(dO[i], V[j]);
            const arb_number mean = row.sum_of_terms_times(da);
            for (std::size_t j = 0; j < k_.rows(); ++j) {
                if (!row.seen[j]) continue;
                for (std::size_t c = 0; c < v_.columns(); ++c) dV[j][c] += row.terms[j] * rules.factor(i, j) * dO[i][c] / row.sum;
                const arb_number ds = row.through_softmax(j, da[j], mean);
                if (mask_ != nullptr) dmask_.elements[mask_->broadcast_at(b, h, i, j)].ball += ds;
                score_.add_gradient(Q[i], K[j], ds * score_.slope(raw[j]), dQ[i], dK[j]);
            }
        }
        if (dout_ == nullptr) return;
        add_rows(dq_, batch_of(q_), h, rules.turned_queries(std::move(dQ), true), rules.queries);
        add_rows(dk_, batch_of(k_), head_of(k_), rules.turned_keys(std::move(dK), true), rules.keys);
        add_rows(dv_, batch_of(v_), head_of(v_), dV, rules.keys);
    }

    softmax_row forward_row(std::size_t b, std::size_t h, std::size_t i, const pair_rules_of& rules, const arb_row& raw, const arb_matrix& V) {
        const std::size_t n_k = k_.rows();
        softmax_row row(n_k);
        for (std::size_t j = 0; j < n_k; ++j) {
            element& e = scores_(b, h, i, j);
            e.judged = i < rules.queries;
            if (!rules.sees(i, j)) {
                e.what = special::minus_infinity;
                continue;
            }
            const arb_number bias = rules.bias(i, j);
            e.ball = score_.scaled_and_capped(raw[j]) + bias;
            row.put(j, raw[j], bias, e.ball);
        }
        row.exponentiate(rules.sink);
        const bool nothing = row.sees_nothing(), is_nan = nothing && !rules.sink && asked_.how.empty_row_is_nan, padding = i >= rules.queries;
        for (std::size_t j = 0; j < n_k; ++j) {
            element& e = weights_(b, h, i, j);
            e.judged = !padding;
            if (is_nan) e.what = special::nan;
            else if (row.seen[j]) e.ball = row.weight(j);
        }
        element& lse = lse_(b, h, i, 0);
        lse.judged = !padding;
        if (nothing && !rules.sink) lse.what = special::minus_infinity;
        else lse.ball = row.shift + log(row.sum);
        for (std::size_t c = 0; c < v_.columns(); ++c) {
            element& e = out_(b, h, i, c);
            e.judged = !padding;
            if (is_nan) e.what = special::nan;
            if (nothing) continue;
            arb_number sum;
            for (std::size_t j = 0; j < n_k; ++j)
                if (row.seen[j]) sum.add_product(row.terms[j] * rules.factor(i, j), V[j][c]);
            e.ball = sum / row.sum;
        }
        return row;
    }

    const question& asked_;
    const table &q_, &k_, &v_;
    const table *mask_, *dout_;
    arb_score score_;
    std::size_t B_, H_;
    output raw_scores_, scores_, weights_, lse_, out_, dq_, dk_, dv_, dmask_;
};

} // namespace independent
