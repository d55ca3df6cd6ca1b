// SPDX-License-Identifier: BSL-1.0
/// \file
/// What decides over a query and a key, from a case: causal alignment, window, padding, mask, ALiBi, dropout, sink; and the positions of rotations.
#pragma once

#include "attest/formula/alibi.hpp"
#include "attest/formula/mask_extras.hpp"
#include "attest/formula/rope.hpp"
#include "attest/oracle/scalars.hpp"

#include <cmath>

namespace attest::detail {

/// One slice's mask: that of one batch element and head.
template <class S, bool Sink> struct pair_mask {
    causal_alignment causal = causal_alignment::none;
    std::optional<window_size> window;
    std::size_t queries = 0, keys = 0; ///< without padding
    std::ptrdiff_t shift = 0;          ///< the key position of query 0
    std::optional<matrix_view> bias, kept;
    S keep_scale{1};
    std::optional<S> slope;
    S sink_logit;

    [[nodiscard]] bool visible(std::size_t i, std::size_t j) const {
        if (i >= queries || j >= keys) return false;
        const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i) - shift; // of the query's own position
        if (causal != causal_alignment::none && ahead > 0) return false;
        if (window && !sliding_window{window->left, window->right, shift}.visible(i, j)) return false;
        return !bias || (*bias)(i, j) != -infinity_of_double;
    }
    [[nodiscard]] S added(std::size_t i, std::size_t j) const {
        S sum(0);
        if (bias && (*bias)(i, j) != 0) sum = S((*bias)(i, j));
        if (slope) {
            const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i) - shift;
            sum = sum - *slope * S(static_cast<double>(ahead < 0 ? -ahead : ahead));
        }
        return sum;
    }
    [[nodiscard]] S factor(std::size_t i, std::size_t j) const { return !kept ? S(1) : (*kept)(i, j) != 0 ? keep_scale : S(0); }
    [[nodiscard]] S sink() const
        requires Sink
    {
        return sink_logit;
    }
};

/// A position that RoPE may turn by: usage_error unless it is a number up to 2^53.
[[nodiscard]] inline double rotation_position(const std::string& name, double position) {
    if (!(std::abs(position) <= 0x1p53)) throw usage_error(name + " holds " + std::to_string(position) + "; expected numbers up to 2^53");
    return position;
}

/// The rules of all slices, read once from a case. `prefix`: "", "self_attn." or "cross_attn.". `batch`: that of the scores, head last.
template <class S> class pair_rules {
public:
    pair_rules(const conventions& how, const std::vector<named_view>& inputs, const std::string& prefix, std::vector<std::size_t> batch, std::size_t n_q,
               std::size_t n_k, bool self = true)
        : how_{how}, shape_{std::move(batch), n_q, n_k}, self_{self} {
        if (const array_view* mask = find_rule(inputs, prefix, "mask")) {
            bias_ = mask_stack(prefix + "mask", *mask, how, shape_);
            warn_of_float_mask(prefix + "mask", *mask, *bias_, warnings_);
            warn_of_padding_mask(prefix + "mask", *mask, shape_, warnings_);
        }
        if (const array_view* kept = find_rule(inputs, prefix, "dropout_mask")) {
            if (!how.dropout_p) throw usage_error(prefix + "dropout_mask is given: declare dropout-p, the probability that a weight is dropped");
            kept_ = pair_stack(prefix + "dropout_mask", *kept, shape_, [](double entry) {
                if (entry != 0 && entry != 1) throw usage_error("dropout_mask holds " + std::to_string(entry) + "; expected 0 (dropped) and 1 (kept) alone");
                return entry;
            });
        } else if (how.dropout_p && *how.dropout_p != "0") throw usage_error("dropout-p is given, but no '" + prefix + "dropout_mask': without it the result is random");
        if (how.dropout_p) keep_scale_ = S(1) / (S(1) - number_of<S>("dropout-p", *how.dropout_p));
        read_per_head(inputs, prefix);
        queries_ = lengths(inputs, prefix, "q_lengths", n_q);
        keys_ = lengths(inputs, prefix, "k_lengths", n_k);
        read_positions(inputs, prefix);
    }

    /// An input under the prefix; in a stack, where a layer has none of its own, that of all layers ("self_attn.mask" for "layers.0.self_attn.mask").
    [[nodiscard]] static const array_view* find_rule(const std::vector<named_view>& inputs, const std::string& prefix, const std::string& name) {
        if (const array_view* const own = find(inputs, prefix + name)) return own;
        return prefix.starts_with("layers.") ? find(inputs, prefix.substr(prefix.find('.', 7) + 1) + name) : nullptr;
    }
    [[nodiscard]] std::size_t heads() const { return shape_.batch.empty() ? 1 : shape_.batch.back(); }
    [[nodiscard]] bool has_sink() const { return sink_.has_value(); }
    /// Positions are those of one sequence: a decoder's attention to its memory has none.
    [[nodiscard]] position_kind position_rule() const { return self_ ? how_.position : position_kind::none; }
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    /// Rows of that slice that are no padding.
    [[nodiscard]] std::size_t queries(std::size_t slice) const { return queries_[slice / heads()]; }

    /// Keys of that slice that are no padding.
    [[nodiscard]] std::size_t keys(std::size_t slice) const { return keys_[slice / heads()]; }

    /// The mask of a slice (batch element and head).
    template <bool Sink> [[nodiscard]] pair_mask<S, Sink> mask(std::size_t slice) const {
        pair_mask<S, Sink> m;
        const std::size_t h = slice % heads(), b = slice / heads();
        // Causal masking is that of self-attention: a decoder's cross-attention sees the whole memory.
        m.causal = self_ ? how_.causal : causal_alignment::none;
        if (self_) m.window = how_.window;
        m.queries = queries_[b];
        m.keys = keys_[b];
        m.shift = shift(b);
        if (bias_) m.bias.emplace((*bias_)[source_slice(shape_.batch, bias_->batch, slice)]);
        if (kept_) m.kept.emplace((*kept_)[source_slice(shape_.batch, kept_->batch, slice)]);
        m.keep_scale = keep_scale_;
        if (position_rule() == position_kind::alibi) m.slope = slopes_[h];
        if constexpr (Sink) m.sink_logit = (*sink_)(h);
        return m;
    }
    /// The key position of query 0 of batch element b.
    [[nodiscard]] std::ptrdiff_t shift(std::size_t b) const {
        return how_.causal == causal_alignment::bottom_right ? static_cast<std::ptrdiff_t>(keys_[b]) - static_cast<std::ptrdiff_t>(queries_[b]) : 0;
    }
    /// The position of token t (a key, or a query and the shift) of batch element b.
    [[nodiscard]] S position(std::size_t b, std::ptrdiff_t t) const {
        if (positions_.empty()) return S(static_cast<double>(t + static_cast<std::ptrdiff_t>(how_.position_offset)));
        const std::size_t n = positions_.front().size();
        if (t < 0 || static_cast<std::size_t>(t) >= n) throw usage_error("positions has " + std::to_string(n) + " entries, but a token stands at index " + std::to_string(t));
        return S(positions_[positions_.size() == 1 ? 0 : b][static_cast<std::size_t>(t)]);
    }

private:
    void read_per_head(const std::vector<named_view>& inputs, const std::string& prefix) {
        const auto one_per_head = [&](const std::string& name, const array_view& given) {
            auto v = exact_vector_of<S>(prefix + name, given);
            if (v.length(0) != heads()) throw usage_error(prefix + name + " " + shape_text(given.shape) + " must have one entry for each head, " + std::to_string(heads()));
            return v;
        };
        if (const array_view* sink = find_rule(inputs, prefix, "sink")) sink_ = one_per_head("sink", *sink);
        const array_view* const slopes = find_rule(inputs, prefix, "alibi_slopes");
        if (slopes != nullptr && position_rule() != position_kind::alibi) throw usage_error(prefix + "alibi_slopes is given: declare position=alibi");
        if (position_rule() != position_kind::alibi) return;
        const vector_in<S> given = slopes != nullptr ? one_per_head("alibi_slopes", *slopes) : vector_in<S>();
        for (std::size_t h = 0; h < heads(); ++h) slopes_.push_back(slopes != nullptr ? given(h) : alibi_slope<S>(h, heads()));
    }

    // Of each batch element; without the input all are full.
    [[nodiscard]] std::vector<std::size_t> lengths(const std::vector<named_view>& inputs, const std::string& prefix, const char* name, std::size_t full) const {
        const std::size_t batches = element_count(shape_.batch) / std::max<std::size_t>(heads(), 1);
        const array_view* const given = find_rule(inputs, prefix, name);
        if (given == nullptr) return std::vector<std::size_t>(batches, full);
        if (given->elements() != batches) throw usage_error(prefix + name + " " + shape_text(given->shape) + " must have one entry for each batch element, " + std::to_string(batches));
        std::vector<std::size_t> result;
        for (std::size_t b = 0; b < batches; ++b) {
            const double length = decode(*given, b);
            if (!(length >= 0 && length <= static_cast<double>(full)) || length != static_cast<double>(static_cast<std::size_t>(length)))
                throw usage_error(prefix + name + " holds " + (length == std::floor(length) && std::abs(length) < 1e15 ? std::to_string(static_cast<long long>(length)) : std::to_string(length)) + "; expected an integer from 0 to " + std::to_string(full));
            result.push_back(static_cast<std::size_t>(length));
        }
        return result;
    }

    void read_positions(const std::vector<named_view>& inputs, const std::string& prefix) {
        const array_view* const given = find_rule(inputs, prefix, "positions");
        if (given == nullptr) return;
        if (position_rule() != position_kind::rope) throw usage_error(prefix + "positions is given: declare position=rope");
        const std::size_t rank = given->shape.size(), batches = element_count(shape_.batch) / std::max<std::size_t>(heads(), 1);
        const std::size_t n = std::max(shape_.n_q, shape_.n_k);
        if ((rank != 1 && rank != 2) || given->shape.back() != n || (rank == 2 && given->shape[0] != batches && given->shape[0] != 1))
            throw usage_error(prefix + "positions " + shape_text(given->shape) + " must be [n] or [b, n]: [" + std::to_string(n) + "] or [" + std::to_string(batches) + ", " + std::to_string(n) + "]");
        for (std::size_t e = 0; e < given->elements(); ++e) {
            if (e % n == 0) positions_.emplace_back();
            positions_.back().push_back(rotation_position(prefix + "positions", decode(*given, e)));
        }
    }

    const conventions& how_;
    pair_shape shape_;
    bool self_;
    std::optional<matrix_stack> bias_, kept_;
    S keep_scale_{1};
    std::optional<vector_in<S>> sink_;
    std::vector<S> slopes_;
    std::vector<std::size_t> queries_, keys_;
    std::vector<std::vector<double>> positions_;
    std::vector<std::string> warnings_;
};

/// RoPE as the conventions say.
template <class S> [[nodiscard]] rope<S> rope_of(const conventions& how) {
    const S base = number_of<S>("rope-base", how.rope_base.value_or("10000"));
    if (base < S(0x1p-40)) throw usage_error("'rope-base' must be at least 2^-40, not '" + *how.rope_base + "'"); // angles are a position divided by it, at most
    return {how.rope_half ? rope_pairing::half : rope_pairing::interleaved, base, how.rope_dim.value_or(0)};
}

/// usage_error unless RoPE can rotate d components of this tensor.
inline void check_rotation(const conventions& how, const std::string& name, const array_view& given, std::size_t d) {
    const std::size_t dimensions = how.rope_dim.value_or(d);
    const std::string who = name + " " + shape_text(given.shape) + " has " + std::to_string(d) + " components to rotate";
    if (dimensions > d) throw usage_error(who + ", but rope-dim is " + std::to_string(dimensions));
    try {
        rules::even_dimension::check<dynamic_axis>(dimensions);
    } catch (const shape_error& error) {
        throw usage_error(who + ": " + error.what());
    }
}

/// Rotates rows by their positions, or leaves them.
template <class S> struct optional_rotation {
    std::optional<rope<S>> by;
    std::vector<S> positions;
    template <vector_like X> [[nodiscard]] vector_in<S> operator()(const X& row, std::size_t i) const {
        return by ? vector_in<S>(by->rotate(row, positions[i])) : vector_in<S>(row);
    }
    template <vector_like X> [[nodiscard]] vector_in<S> back(const X& row, std::size_t i) const {
        return by ? vector_in<S>(by->rotate_back(row, positions[i])) : vector_in<S>(row);
    }
};

/// The rotation of n tokens of batch element b, of which the first stands at index `first`.
template <class S> [[nodiscard]] optional_rotation<S> rotation_of(const conventions& how, const pair_rules<S>& rules, std::size_t b, std::size_t n, std::ptrdiff_t first) {
    optional_rotation<S> r;
    if (rules.position_rule() != position_kind::rope) return r;
    r.by = rope_of<S>(how);
    for (std::size_t t = 0; t < n; ++t) r.positions.push_back(rules.position(b, static_cast<std::ptrdiff_t>(t) + first));
    return r;
}

} // namespace attest::detail
