// SPDX-License-Identifier: BSL-1.0
/// \file
/// From a case's row to what the limits need of it, in double: sizes of scores, what is added, dropout's factors, the sink.
#pragma once

#include "attest/oracle/ladder.hpp"
#include "attest/oracle/limits_forward.hpp"

#include <array>

namespace attest {

namespace detail {

[[nodiscard]] inline double_matrix doubles_of(const array_view& a) {
    double_matrix m{a.shape[0], a.shape[1], {}};
    for (std::size_t e = 0; e < a.elements(); ++e) m.values.push_back(decode(a, e));
    return m;
}

} // namespace detail

/// The facts of one slice after the other. What is given must stay.
class attention_facts {
public:
    /// `in_16_bits`: whether any arithmetic in question stores scores in 16 bits. `kernels`: for all limits of the rows.
    attention_facts(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, bool in_16_bits,
                    const fast::limit_kernels& kernels = fast::compiled_limit_kernels())
        : how_{how}, p_{p}, in_16_bits_{in_16_bits}, kernels_{&kernels} {
        const array_view *const q = find(inputs, "q"), *const k = find(inputs, "k");
        if (how.score == score_kind::bilinear) {
            const array_view& w = *find(inputs, "w");
            bilinear_.emplace(detail::doubles_of(w));
            rule_ = score_rule::bilinear(w.shape[0], w.shape[1]);
            rule_.inputs = width_of({q, k, &w});
        } else if (how.score == score_kind::additive) {
            const array_view &w1 = *find(inputs, "w1"), &w2 = *find(inputs, "w2"), &b = *find(inputs, "b");
            std::vector<double> numbers;
            for (std::size_t e = 0; e < b.elements(); ++e) numbers.push_back(decode(b, e));
            b_ = numbers;
            additive_.emplace(detail::doubles_of(w1), detail::doubles_of(w2), std::move(numbers));
            rule_ = score_rule::additive(b_.size(), w2.shape[1], w1.shape[1]);
            rule_.inputs = width_of({q, k, &w1, &w2, &b});
        } else {
            rule_ = score_rule::dot(p.d_k, 1);
            rule_.inputs = width_of({q, k});
        }
        const auto scale = detail::number_of<exact_number>("scale", how.scale.value_or("1"));
        signed_scale_ = !how.scale && how.score == score_kind::scaled ? static_cast<double>(scaled_dot_product<exact_number>::of_dimension(p.d_k).scale) : static_cast<double>(scale);
        rule_.scale = detail::size_of(signed_scale_);
        if (how.softcap) rule_.cap = static_cast<double>(detail::number_of<exact_number>("softcap", *how.softcap));
        rule_.rotated = how.position == position_kind::rope;
        values_width_ = width_of({find(inputs, "v")});
        rule_.added = width_of({find(inputs, "mask"), find(inputs, "alibi_slopes"), find(inputs, "sink")});
        if (rule_.rotated) rotation_ = {how.rope_dim.value_or(0), how.rope_half, how.rope_base ? static_cast<double>(detail::number_of<exact_number>("rope-base", *how.rope_base)) : 10000.0};
        if (how.dropout_p) keep_scale_ = 1 / (1 - static_cast<double>(detail::number_of<exact_number>("dropout-p", *how.dropout_p)));
    }

    /// Makes a slice current, as an engine in balls has it.
    template <class S> void enter(const attention_engine<ball<S>>& engine, std::size_t slice) {
        slice_ = slice;
        const std::size_t b = slice / engine.rules().heads();
        shift_ = engine.rules().shift(b);
        const auto row = [](const auto& m, std::size_t i) {
            std::vector<double> x(m.length(1));
            for (std::size_t c = 0; c < x.size(); ++c) x[c] = m(i, c).nearest_double();
            return x;
        };
        const auto turned = [&](std::vector<double> x, std::ptrdiff_t token) {
            return rule_.rotated ? rotated_vector(std::move(x), rotation_, engine.rules().position(b, token).nearest_double(), in_16_bits_) : score_vector(std::move(x), in_16_bits_);
        };
        queries_.clear();
        keys_.clear();
        bilinear_keys_.clear();
        additive_keys_.clear();
        values_of_keys_.clear();
        rule_.key_turn = 0;
        for (std::size_t i = 0; i < engine.rules().queries(slice); ++i) queries_.push_back(turned(row(engine.q(), i), static_cast<std::ptrdiff_t>(i) + shift_));
        for (std::size_t j = 0; j < p_.n_k; ++j) {
            keys_.push_back(turned(row(engine.k(), j), static_cast<std::ptrdiff_t>(j)));
            rule_.key_turn = std::max(rule_.key_turn, keys_.back().greatest_turn());
            values_of_keys_.insert(values_of_keys_.end(), keys_.back().x.begin(), keys_.back().x.end());
            if (bilinear_) bilinear_keys_.push_back(bilinear_->of_key(keys_.back()));
            if (additive_) additive_keys_.push_back(additive_->of_key(keys_.back()));
        }
        if (is_dot()) transpose_keys();
        key_alike_ = in_16_bits_ ? share_of_fractions(values_of_keys_) : 1;
        slope_ = engine.alibi_slope().value_or(0);
        sink_ = engine.sink_logit();
        kept_ = [&engine](std::size_t i, std::size_t j) { return engine.keeps(i, j); };
        v_.emplace(p_.v[source_slice(p_.batch, p_.v.batch, slice)]);
        bias_.reset();
        if (p_.bias && p_.bias_adds) bias_.emplace((*p_.bias)[source_slice(p_.batch, p_.bias->batch, slice)]);
    }

    /// A row of the current slice. `f`: a former row's facts, whose memory it may have.
    [[nodiscard]] row_facts row(const row_values& values, row_facts f = {}) {
        f.score = values.scores;
        f.weight = values.weights;
        f.lse = values.lse;
        f.kernels = kernels_;
        f.rule = rule_;
        f.values = values_width_;
        f.rule.query_turn = queries_[values.i].greatest_turn();
        f.key_alike = key_alike_;
        prepare_query(values.i);
        if (is_dot() && !values.visible.empty()) multiply_keys(values.i, values.visible.front(), values.visible.back() + 1);
        const bool plain = is_dot() && !rule_.rotated;
        const std::size_t n = values.visible.size();
        if (plain) add_plain_sizes(f.plain, values);
        f.scaled.resize(needs_scaled() ? n : 0);
        for (std::size_t l = 0; l < f.scaled.size(); ++l)
            f.scaled[l] = detail::unfused((is_dot() ? raw_[values.visible[l]] : raw(values.i, values.visible[l])) * signed_scale_);
        f.sizes.clear();
        if (!plain || in_16_bits_) {
            f.sizes.reserve(n);
            if (plain) square_keys(values.i, values.visible.empty() ? 0 : values.visible.back() + 1);
            for (const std::size_t j : values.visible) f.sizes.push_back(plain ? size_of_plain(values.i, j) : size(values.i, j));
        }
        for (std::vector<double>* x : {&f.alibi, &f.mask, &f.factor}) x->clear();
        if (how_.position != position_kind::alibi && !bias_ && !how_.dropout_p) return with_sink(std::move(f), values);
        for (const std::size_t j : values.visible) {
            if (how_.position == position_kind::alibi) {
                const std::ptrdiff_t ahead = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(values.i) - shift_;
                f.alibi.push_back(-detail::unfused(slope_ * static_cast<double>(ahead < 0 ? -ahead : ahead)));
            }
            if (bias_) f.mask.push_back((*bias_)(values.i, j));
            if (how_.dropout_p) f.factor.push_back(kept_(values.i, j) ? keep_scale_ : 0.0);
        }
        return with_sink(std::move(f), values);
    }
    /// Of raw of any key, after row(…) of the same query.
    [[nodiscard]] score_size size(std::size_t i, std::size_t j) const {
        if (bilinear_) return (*bilinear_)(*bilinear_query_, bilinear_keys_[j], in_16_bits_);
        if (additive_) return (*additive_)(additive_query_, additive_keys_[j], in_16_bits_);
        return size_of_dot(queries_[i], keys_[j], in_16_bits_);
    }
    /// raw, in double.
    [[nodiscard]] double raw(std::size_t i, std::size_t j) const {
        double sum = 0;
        if (additive_) {
            for (std::size_t a = 0; a < b_.size(); ++a) sum += detail::unfused(b_[a] * attest::tanh(additive_keys_[j].value[a] + additive_query_.value[a]));
            return sum;
        }
        const std::vector<double>&q = bilinear_ ? bilinear_query_->through.x : queries_[i].x, &k = keys_[j].x;
        for (std::size_t c = 0; c < k.size(); ++c) sum += detail::unfused(q[c] * k[c]);
        return sum;
    }
    /// A query as the score sees it, for query_moves and gradients.
    [[nodiscard]] const score_vector& query(std::size_t i) const { return bilinear_ ? bilinear_query_->through : queries_[i]; }
    [[nodiscard]] const std::vector<double>& given_query(std::size_t i) const { return queries_[i].x; }
    /// Additive: W1 k + W2 q of the prepared query.
    [[nodiscard]] double hidden(std::size_t j, std::size_t a) const { return additive_keys_[j].value[a] + additive_query_.value[a]; }
    /// What its error is relative to: Σ|W1 k| + Σ|W2 q| and what rotations add (limits_score.hpp).
    [[nodiscard]] double hidden_size(std::size_t j, std::size_t a) const { return additive_keys_[j].size[a] + additive_query_.size[a]; }
    [[nodiscard]] double key(std::size_t j, std::size_t c) const { return keys_[j].x[c]; }
    /// What the errors of a component are relative to: the norm of its pair where it is rotated, else itself.
    [[nodiscard]] double size_of_key(std::size_t j, std::size_t c) const { return size_of_component(keys_[j], c); }
    [[nodiscard]] double size_of_query(std::size_t i, std::size_t c) const { return size_of_component(queries_[i], c); }
    /// RoPE: the greatest `turn` (limits_score.hpp) of a row's components, and the other component of a pair.
    [[nodiscard]] double query_turn(std::size_t i) const { return queries_[i].greatest_turn(); }
    [[nodiscard]] double key_turn(std::size_t j) const { return keys_[j].greatest_turn(); }
    [[nodiscard]] std::optional<std::size_t> partner(std::size_t c) const {
        const std::size_t r = !rule_.rotated ? 0 : rotation_.dimensions == 0 ? p_.d_k : rotation_.dimensions;
        if (c >= r) return std::nullopt;
        if (rotation_.half) return c < r / 2 ? c + r / 2 : c - r / 2;
        return c % 2 == 0 ? c + 1 : c - 1;
    }
    [[nodiscard]] const std::vector<double>& keys() const { return values_of_keys_; }
    [[nodiscard]] const matrix_view& values() const { return *v_; }
    [[nodiscard]] const score_rule& rule() const { return rule_; }
    [[nodiscard]] double scale() const { return signed_scale_; }
    [[nodiscard]] bool in_16_bits() const { return in_16_bits_; }
    /// Whether derivatives of raw are rows of keys and queries themselves (dot products, rotated or not).
    [[nodiscard]] bool is_dot() const { return !bilinear_ && !additive_; }

private:
    [[nodiscard]] static double size_of_component(const score_vector& of, std::size_t c) {
        return std::max(detail::size_of(of.x[c]), of.norm.empty() ? 0.0 : of.norm[c]);
    }
    [[nodiscard]] row_facts with_sink(row_facts f, const row_values& values) const {
        f.sink = sink_;
        if (sink_) f.sink_weight = attest::exp(*sink_ - values.lse);
        return f;
    }
    // As fast::dot_sizes_call takes the keys.
    void transpose_keys() {
        squared_.reset();
        const std::size_t n = keys_.size(), block = fast::key_block, padded = (n + block - 1) / block * block, d = keys_.empty() ? 0 : keys_.front().x.size();
        transposed_.assign(d * padded, 0.0);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t c = 0; c < d; ++c) transposed_[(j / block * d + c) * block + j % block] = keys_[j].x[c];
        sums_of_keys_.resize(n);
        greatest_of_keys_.resize(n);
        for (std::size_t j = 0; j < n; ++j) {
            sums_of_keys_[j] = keys_[j].sum;
            greatest_of_keys_[j] = keys_[j].greatest;
        }
        raw_.resize(padded);
        for (std::vector<double>& terms : terms_of_) terms.resize(padded);
        multiplied_ = {};
    }
    void add_plain_sizes(plain_sizes& to, const row_values& values) const {
        const score_vector& q = queries_[values.i];
        const std::vector<std::size_t>& visible = values.visible;
        const std::size_t n = visible.size();
        to.of_query = q.greatest;
        to.terms.resize(n);
        to.operands.resize(n);
        to.of_key.resize(n);
        const auto add = [&](const auto& key) {
            for (std::size_t l = 0; l < n; ++l) {
                const std::size_t j = key(l);
                to.terms[l] = terms_[j];
                to.operands[l] = q.sum + sums_of_keys_[j];
                to.of_key[l] = greatest_of_keys_[j];
            }
        };
        if (n > 0 && visible.back() - visible.front() + 1 == n) add([first = visible.front()](std::size_t l) { return first + l; }); // without gaps
        else add([&](std::size_t l) { return visible[l]; });
    }
    // For scores stored in 16 bits, of the first keys: score_size's key_square, of 8 neighbouring queries at once, and the square of its `query`.
    void square_keys(std::size_t i, std::size_t count) {
        constexpr std::size_t lanes = fast::limit_lanes, block = fast::key_block;
        const std::size_t d = queries_[i].x.size(), first = i / lanes * lanes;
        const auto squares = [&](const double* x, std::size_t stride, std::size_t n, const score_vector& of, double* to) {
            kernels_->alike_squares({x, stride, n, d, of.x.data(), of.half.data(), of.alike.order.data(), of.alike.ends.data(), to});
        };
        if (squared_ != first) {
            squared_ = first;
            std::vector<double> x(d * lanes);
            for (std::size_t l = 0; l < lanes && first + l < queries_.size(); ++l)
                for (std::size_t c = 0; c < d; ++c) x[c * lanes + l] = queries_[first + l].x[c];
            key_squares_.resize(keys_.size() * lanes);
            for (std::size_t j = 0; j < keys_.size(); ++j) squares(x.data(), lanes, lanes, keys_[j], key_squares_.data() + j * lanes);
        }
        query_squares_.resize(raw_.size());
        for (std::size_t j = 0; j < count; j += block) squares(transposed_.data() + j * d, block, block, queries_[i], query_squares_.data() + j);
    }
    [[nodiscard]] score_size size_of_plain(std::size_t i, std::size_t j) const {
        const score_vector &q = queries_[i], &k = keys_[j];
        return {.terms = terms_[j], .operands = q.sum + k.sum, .key_square = key_squares_[j * fast::limit_lanes + i % fast::limit_lanes],
                .query = attest::sqrt(query_squares_[j]), .of_query = q.greatest, .of_key = k.greatest};
    }
    // Σ|q_c k_c| of these keys, and raw where it is needed. Where rows come one after the other, without raw, a few queries at once.
    void multiply_keys(std::size_t i, std::size_t first, std::size_t last) {
        const std::vector<double>& q = queries_[i].x;
        if (needs_scaled()) {
            terms_ = terms_of_[0].data();
            kernels_->dot_sizes({q.data(), transposed_.data(), q.size(), first, last, raw_.data(), terms_of_[0].data()});
            return;
        }
        if (!(multiplied_.first_query <= i && i < multiplied_.last_query && multiplied_.first_key <= first && last <= multiplied_.last_key)) {
            const std::size_t block = fast::key_block, count = i == last_query_ + 1 ? std::min(at_once, queries_.size() - i) : 1;
            multiplied_ = {i, i + count, first / block * block, (last + block - 1) / block * block};
            const double* query[at_once];
            double* sizes[at_once];
            for (std::size_t l = 0; l < count; ++l) {
                query[l] = queries_[i + l].x.data();
                sizes[l] = terms_of_[l].data();
            }
            kernels_->product_sizes({query, count, transposed_.data(), q.size(), first, last, sizes});
        }
        last_query_ = i;
        terms_ = terms_of_[i - multiplied_.first_query].data();
    }
    // Scores without a cap, of which none is stored in 16 bits, need not be known before anything is added.
    [[nodiscard]] bool needs_scaled() const { return in_16_bits_ || rule_.cap > 0; }
    void prepare_query(std::size_t i) {
        if (bilinear_) bilinear_query_ = bilinear_->of_query(queries_[i]);
        if (additive_) additive_query_ = additive_->of_query(queries_[i]);
    }

    const conventions& how_;
    const attention_problem& p_;
    bool in_16_bits_;
    const fast::limit_kernels* kernels_;
    input_width values_width_;
    score_rule rule_;
    double signed_scale_ = 1, keep_scale_ = 1, slope_ = 0, key_alike_ = 1;
    rotation_rule rotation_;
    std::optional<bilinear_sizes> bilinear_;
    std::optional<additive_sizes> additive_;
    std::vector<double> b_;
    std::size_t slice_ = 0;
    std::ptrdiff_t shift_ = 0;
    std::vector<score_vector> queries_, keys_;
    std::vector<double> values_of_keys_;
    std::vector<bilinear_sizes::key> bilinear_keys_;
    std::vector<additive_sizes::projected> additive_keys_;
    std::vector<double> transposed_, sums_of_keys_, greatest_of_keys_, raw_; // the keys; of the last query
    static constexpr std::size_t at_once = fast::product_sizes_call::most_queries;
    struct {
        std::size_t first_query = 0, last_query = 0, first_key = 0, last_key = 0;
    } multiplied_;                                       // what is in terms_of_, for a query each
    std::array<std::vector<double>, at_once> terms_of_;
    const double* terms_ = nullptr;                      // of the last query
    std::size_t last_query_ = 0;
    std::optional<std::size_t> squared_; // the first of the queries of key_squares_
    std::vector<double> key_squares_, query_squares_;
    std::optional<bilinear_sizes::query> bilinear_query_;
    additive_sizes::projected additive_query_;
    std::optional<double> sink_;
    std::function<bool(std::size_t, std::size_t)> kept_;
    std::optional<matrix_view> v_, bias_;
};

} // namespace attest
