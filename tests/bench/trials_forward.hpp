// SPDX-License-Identifier: BSL-1.0
// An emulated right kernel's way forward, a row at a time. T: float, or double for f64.
#pragma once

#include "bench/trials_style.hpp"

#include <cstring>

namespace trials {

template <class T> class forward_kernel {
public:
    struct row {
        std::vector<T> out; // before its store
        T lse = 0;          // natural
        T lse_used = 0;     // as backward uses it: base two where scores are
        std::vector<T> weights; // plain kernels keep them
        bool empty = false;
    };

    forward_kernel(const inputs& in, const kernel_style& how) : in_{in}, how_{how}, sum_(how.sum), again_(how.repeated) {
        natural_ = in.scale != 0 ? static_cast<T>(in.scale) : T(1) / std::sqrt(static_cast<T>(in.d_k));
        fold_ = how.base_two && in.bias.empty() && how.everything == rounded_to::nothing; // with a mask in natural units, log2 e comes after it
        factor_ = fold_ ? natural_ * log2_e : natural_;
        scale_ = how.scale == scaling::of_both && !(factor_ > 0) ? scaling::of_query : how.scale; // a negative scale has no root
        const T root = std::sqrt(factor_);
        query_.resize(in.q.size());
        for (std::size_t e = 0; e < in.q.size(); ++e) query_[e] = prepared(static_cast<T>(in.q[e]), scale_ == scaling::of_both ? root : factor_, scale_ != scaling::of_product);
        keys_.resize(in.k.size()); // transposed
        for (std::size_t j = 0; j < in.n_k; ++j)
            for (std::size_t c = 0; c < in.d_k; ++c) keys_[c * in.n_k + j] = prepared(static_cast<T>(in.k[j * in.d_k + c]), root, scale_ == scaling::of_both);
        values_.resize(in.v.size());
        for (std::size_t e = 0; e < in.v.size(); ++e) values_[e] = operand(static_cast<T>(in.v[e]));
        score_.resize(in.n_k);
        raw_.resize(in.n_k);
    }

    // `lost`: so many of the last keys that row i sees are left out, which is a mistake.
    row forward(std::size_t i, std::size_t lost = 0) {
        make_scores(i, sum_);
        seen_ -= std::min(seen_, lost);
        row r;
        r.out.assign(in_.d_v, T(0));
        if (how_.shape == form::plain) plain(r);
        else if (how_.shape == form::flash) flash(0, seen_, r);
        else split(r);
        if (r.empty) {
            std::fill(r.out.begin(), r.out.end(), T(0));
            r.lse = -std::numeric_limits<T>::infinity();
        }
        return r;
    }
    // e^(score − lse) again, of all keys up to the last that the row sees.
    const std::vector<T>& weights_again(std::size_t i, const row& r) {
        make_scores(i, again_);
        weight_.assign(seen_, T(0));
        if (!r.empty)
            for (std::size_t j = 0; j < seen_; ++j) weight_[j] = shifted(j, r.lse_used);
        return weight_;
    }
    // Keys up to the last that the row of the last call could see; those that are hidden before it have weight 0.
    [[nodiscard]] std::size_t seen() const { return seen_; }
    [[nodiscard]] scaling scale_on() const { return scale_; }
    [[nodiscard]] T scale() const { return natural_; }
    // What stands on scaled q (and k), and what takes log2 e out of it again.
    [[nodiscard]] T factor() const { return scale_ == scaling::of_both ? std::sqrt(factor_) : factor_; }
    [[nodiscard]] T unfold() const { return fold_ ? ln2 : T(1); }
    [[nodiscard]] T operand(T x) const { return round_fast(how_.operand, x); }
    sums<T>& sum() { return sum_; }

    static constexpr T log2_e = static_cast<T>(1.44269504088896340736L), ln2 = static_cast<T>(0.69314718055994530942L);

private:
    T prepared(T x, T factor, bool is_scaled) const {
        if (is_scaled) x *= factor;
        return operand(round_fast(how_.everything, x));
    }
    void make_scores(std::size_t i, sums<T>& sum) {
        seen_ = in_.n_k;
        if (in_.causal == "top-left") seen_ = std::min(in_.n_k, i + 1);
        if (in_.causal == "bottom-right") seen_ = i + in_.n_k < in_.n_q ? 0 : std::min(in_.n_k, i + in_.n_k - in_.n_q + 1);
        sum.of_products(query_.data() + i * in_.d_k, keys_.data(), in_.n_k, in_.d_k, seen_, raw_.data());
        const bool unfolded = how_.base_two && !fold_;
        for (std::size_t j = 0; j < seen_; ++j) {
            T s = scale_ == scaling::of_product ? raw_[j] * factor_ : raw_[j];
            s = round_fast(how_.everything, s);
            if (!in_.bias.empty()) s = round_fast(how_.everything, static_cast<T>(s + static_cast<T>(in_.bias[i * in_.n_k + j])));
            score_[j] = !in_.visible(i, j) ? -std::numeric_limits<T>::infinity() : unfolded ? s * log2_e : s;
        }
    }
    T exponential(T x) const {
        if (x == 0) return 1; // in every implementation
        if constexpr (std::is_same_v<T, double>) return how_.base_two ? std::exp2(x) : how_.exp == exp_error::argument ? std::exp2(x * log2_e) : std::exp(x);
        else {
            double e = how_.base_two ? std::exp2(static_cast<double>(x)) : how_.exp == exp_error::argument ? std::exp2(static_cast<double>(x * log2_e)) : std::exp(static_cast<double>(x));
            if (how_.exp == exp_error::above) e *= 1 + 3 * 0x1p-23;
            if (how_.exp == exp_error::below) e *= 1 - 3 * 0x1p-23;
            if (how_.exp == exp_error::scattered) {
                std::uint32_t bits = std::bit_cast<std::uint32_t>(x) * 0x9e3779b9U;
                bits ^= bits >> 15;
                e *= 1 + (static_cast<double>(bits * 0x85ebca6bU) * 0x1p-31 - 1) * (3 * 0x1p-23);
            }
            return static_cast<float>(e);
        }
    }
    // With fma, as flash kernels do it, from the raw score and the scaled maximum.
    T shifted(std::size_t j, T m) const {
        if (score_[j] == -std::numeric_limits<T>::infinity()) return 0;
        if (fold_ && how_.sum.fma && scale_ == scaling::of_product) return exponential(std::fma(raw_[j], factor_, -m));
        return exponential(score_[j] - m);
    }
    T greatest(std::size_t first, std::size_t last, T m) const {
        for (std::size_t j = first; j < last; ++j) m = std::max(m, score_[j]);
        return m;
    }
    void set_lse(row& r, T m, T l) const {
        r.lse_used = how_.base_two ? m + std::log2(l) : m + std::log(l);
        r.lse = how_.base_two ? r.lse_used * ln2 : r.lse_used;
    }
    // Stored where weights are, and rounded as an operand.
    T stored(T weight) const { return operand(round_fast(how_.weights, weight)); }

    void plain(row& r) {
        const T m = greatest(0, seen_, -std::numeric_limits<T>::infinity());
        r.empty = m == -std::numeric_limits<T>::infinity();
        r.weights.assign(seen_, T(0));
        if (r.empty) return;
        weight_.resize(seen_);
        for (std::size_t j = 0; j < seen_; ++j) weight_[j] = shifted(j, m);
        const T l = sum_.of(weight_), inverse = 1 / l;
        set_lse(r, m, l);
        for (std::size_t j = 0; j < seen_; ++j) r.weights[j] = how_.reciprocal ? weight_[j] * inverse : weight_[j] / l;
        for (std::size_t j = 0; j < seen_; ++j) weight_[j] = stored(how_.divide_first ? r.weights[j] : weight_[j]);
        sum_.of_products(weight_.data(), values_.data(), in_.d_v, seen_, in_.d_v, r.out.data());
        if (how_.divide_first) return;
        const T below = how_.sum_of_stored ? sum_.of(weight_) : l;
        for (T& o : r.out) o = how_.reciprocal ? o * (1 / below) : o / below;
    }

    void flash(std::size_t begin, std::size_t end, row& r) {
        T m = -std::numeric_limits<T>::infinity(), l = 0, l_stored = 0;
        for (std::size_t first = begin; first < end; first += how_.block) {
            const std::size_t last = std::min(end, first + how_.block);
            const T top = greatest(first, last, m);
            if (top == -std::numeric_limits<T>::infinity()) continue;
            const T rescale = m == -std::numeric_limits<T>::infinity() ? T(0) : exponential(m - top);
            m = top;
            weight_.resize(last - first);
            for (std::size_t j = first; j < last; ++j) weight_[j - first] = shifted(j, m);
            l = l * rescale + sum_.of(weight_);
            for (T& w : weight_) w = stored(w);
            l_stored = l_stored * rescale + sum_.of(weight_);
            for (T& o : r.out) o *= rescale;
            sum_.add(weight_.data(), values_.data() + first * in_.d_v, in_.d_v, last - first, in_.d_v, r.out.data());
        }
        r.empty = m == -std::numeric_limits<T>::infinity();
        if (r.empty) return;
        set_lse(r, m, l);
        const T below = how_.sum_of_stored ? l_stored : l, inverse = 1 / below;
        for (T& o : r.out) o = how_.reciprocal ? o * inverse : o / below;
    }

    // Every part's own output and lse; then their mean with weights e^(lse of the part − the greatest lse).
    void split(row& r) {
        std::vector<row> parts;
        for (std::size_t first = 0; first < seen_; first += how_.block) {
            row part;
            part.out.assign(in_.d_v, T(0));
            flash(first, std::min(seen_, first + how_.block), part);
            if (!part.empty) parts.push_back(std::move(part));
        }
        r.empty = parts.empty();
        if (r.empty) return;
        T m = -std::numeric_limits<T>::infinity();
        for (const row& part : parts) m = std::max(m, part.lse_used);
        std::vector<T> share;
        for (const row& part : parts) share.push_back(exponential(part.lse_used - m));
        const T l = sum_.of(share);
        set_lse(r, m, l);
        for (std::size_t c = 0; c < in_.d_v; ++c) {
            T o = 0;
            for (std::size_t k = 0; k < parts.size(); ++k) o += share[k] * parts[k].out[c];
            r.out[c] = o / l;
        }
    }

    const inputs& in_;
    const kernel_style& how_;
    sums<T> sum_, again_;
    bool fold_ = false;
    T natural_ = 1, factor_ = 1;
    scaling scale_ = scaling::of_product;
    std::vector<T> query_, keys_, values_; // operands of the products
    std::vector<T> raw_, score_, weight_;
    std::size_t seen_ = 0;
};

} // namespace trials
