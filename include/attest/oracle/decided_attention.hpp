// SPDX-License-Identifier: BSL-1.0
/// \file
/// What exact arguments (oracle/decided.hpp) say of the elements of a case's rows.
#pragma once

#include "attest/oracle/attention_outputs.hpp"
#include "attest/oracle/decided.hpp"

namespace attest {

/// The rows of one case, one slice at a time. The engine's scalar is any: only what the case gives is read.
template <class S> class decided_attention {
public:
    decided_attention(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, const attention_engine<S>& engine, const std::optional<matrix_stack>& dout)
        : how_{how}, p_{p}, engine_{engine}, dout_{dout} {
        if (how.score == score_kind::bilinear) w_stack_ = stack_of("w", *find(inputs, "w"), tensor_layout::bhnd);
        common_.score = how.score;
        common_.scale = exact_scale(how, p.d_k);
        common_.softcap = how.softcap.has_value();
        common_.keep_scale = exact_keep_scale(how);
        if (how.score == score_kind::additive) {
            common_.additive_is_finite = true;
            for (const char* name : {"w1", "w2", "b"}) common_.additive_is_finite = common_.additive_is_finite && detail::all_finite(*find(inputs, name));
        }
        if (how.position == position_kind::rope) common_.rotated = how.rope_dim.value_or(p.d_k);
        if (const array_view* given = find(inputs, "alibi_slopes"))
            for (std::size_t h = 0; h < given->elements(); ++h) slopes_.push_back(decode(*given, h));
        if (const array_view* given = find(inputs, "sink"))
            for (std::size_t h = 0; h < given->elements(); ++h) sinks_.push_back(decode(*given, h));
    }

    /// Makes a row current; `visible`: the keys that it sees, which must stay.
    void enter(std::size_t slice, std::size_t i, const std::vector<std::size_t>& visible) {
        const std::size_t heads = engine_.rules().heads(), h = slice % heads, b = slice / heads;
        const std::ptrdiff_t shift = engine_.rules().shift(b);
        decided_inputs in = common_;
        k_.emplace(p_.k[source_slice(p_.batch, p_.k.batch, slice)]);
        v_.emplace(p_.v[source_slice(p_.batch, p_.v.batch, slice)]);
        in.q = detail::row_of(p_.q[source_slice(p_.batch, p_.q.batch, slice)], i);
        in.k = &*k_;
        in.v = &*v_;
        in.visible = visible;
        if (w_stack_) {
            w_.emplace((*w_stack_)[0]);
            in.w = &*w_;
        }
        bias_.clear();
        distance_.clear();
        kept_.clear();
        positions_.clear();
        for (const std::size_t j : visible) {
            if (p_.bias) bias_.push_back((*p_.bias)[source_slice(p_.batch, p_.bias->batch, slice)](i, j));
            if (how_.position == position_kind::alibi) {
                const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i) - shift;
                distance_.push_back(static_cast<double>(ahead < 0 ? -ahead : ahead));
            }
            if (how_.dropout_p) kept_.push_back(engine_.keeps(i, j) ? 1 : 0);
            if (in.rotated != 0) positions_.push_back(position(b, static_cast<std::ptrdiff_t>(j)));
        }
        in.bias = bias_;
        in.distance = distance_;
        in.kept = kept_;
        in.positions = positions_;
        if (in.rotated != 0) in.position = position(b, static_cast<std::ptrdiff_t>(i) + shift);
        if (how_.position == position_kind::alibi) in.slope = slopes_.empty() ? exact_alibi_slope(h, heads) : std::optional(slopes_[h]);
        if (!sinks_.empty()) in.sink = sinks_[h];
        if (dout_) in.dz = detail::row_of((*dout_)[slice], i);
        in_ = in;
        visible_ = &visible;
        row_.emplace(in_);
    }

    /// Element e (a key, or a component) of one of the row's results.
    [[nodiscard]] exact_fact element(std::string_view name, std::size_t e) const {
        if (visible_->empty() && !in_.sink) return exact_fact::unknown(); // declared
        if (name == "lse") return row_->lse();
        if (name == "out") return row_->out(e);
        if (name == "dq") return row_->dq(e);
        const auto at = static_cast<std::size_t>(std::lower_bound(visible_->begin(), visible_->end(), e) - visible_->begin());
        if (at == visible_->size() || (*visible_)[at] != e) return exact_fact::unknown(); // hidden: declared, or a raw score that the row does not see
        return name == "weights" ? row_->weight(at) : name == "scores" ? row_->score(at) : row_->raw_score(at);
    }
    [[nodiscard]] const decided_row& row() const { return *row_; }
    [[nodiscard]] const std::optional<exact_rational>& scale() const { return common_.scale; }

private:
    // Positions are doubles, or whole numbers.
    [[nodiscard]] double position(std::size_t b, std::ptrdiff_t t) const { return engine_.rules().position(b, t).nearest_double(); }

    const conventions& how_;
    const attention_problem& p_;
    const attention_engine<S>& engine_;
    const std::optional<matrix_stack>& dout_;
    std::optional<matrix_stack> w_stack_;
    std::vector<double> slopes_, sinks_;
    decided_inputs common_, in_;
    std::optional<matrix_view> k_, v_, w_;
    std::vector<double> bias_, distance_, positions_;
    std::vector<char> kept_;
    const std::vector<std::size_t>* visible_ = nullptr;
    std::optional<decided_row> row_;
};

} // namespace attest
