// SPDX-License-Identifier: BSL-1.0
// An emulated right kernel: forward, and back to dq, dk and dv.
#pragma once

#include "bench/trials_forward.hpp"

namespace trials {

// In C order; empty: not asked for. Rows that were not asked for are 0.
struct results {
    std::vector<double> out, lse, dq, dk, dv;
};

template <class T> class emulation {
public:
    emulation(const inputs& in, const std::vector<double>& dout, const kernel_style& how) : in_{in}, how_{how}, kernel_(in, how) {
        for (const double x : dout) {
            dout_.push_back(static_cast<T>(x));
            dout_operand_.push_back(kernel_.operand(dout_.back()));
        }
    }

    // out and lse of these rows.
    results forward(const std::vector<std::size_t>& rows) {
        results r;
        begin_rows(r);
        for (const std::size_t i : rows) put_row(r, i, kernel_.forward(i));
        return r;
    }
    // dq, too, of these rows; with `columns`, which takes all rows, dk and dv.
    results backward(const std::vector<std::size_t>& rows, bool columns) {
        results r;
        begin_rows(r);
        r.dq.resize(in_.n_q * in_.d_k);
        const bool on_query = kernel_.scale_on() != scaling::of_product, on_key = kernel_.scale_on() == scaling::of_both;
        const std::vector<T> query = operands(in_.q, on_query), key = operands(in_.k, on_key), values = transposed(in_.v, in_.n_k, in_.d_v);
        ds_.assign(columns ? in_.n_q * in_.n_k : 0, T(0));
        stored_.assign(columns ? in_.n_q * in_.n_k : 0, T(0));
        std::vector<T> dq(in_.d_k);
        // The factor that is still missing from dq: the scale, or what stands on k alone.
        const T of_query = on_key ? kernel_.factor() * kernel_.unfold() : early() ? T(1) : kernel_.scale();
        for (const std::size_t i : rows) {
            put_row(r, i, score_gradients(i, values));
            const std::size_t seen = kernel_.seen();
            if (columns) std::copy_n(gradient_.data(), seen, ds_.data() + i * in_.n_k);
            if (columns) std::copy_n(weight_.data(), seen, stored_.data() + i * in_.n_k);
            kernel_.sum().of_products(gradient_.data(), key.data(), in_.d_k, seen, in_.d_k, dq.data());
            for (std::size_t c = 0; c < in_.d_k; ++c) r.dq[i * in_.d_k + c] = static_cast<double>(scaled(dq[c], of_query));
        }
        if (!columns) return r;
        const T of_key = on_key ? kernel_.factor() * kernel_.unfold() : on_query ? kernel_.unfold() : early() ? T(1) : kernel_.scale();
        r.dk = over_rows(ds_, query, in_.d_k, [&](T x) { return on_query && !on_key ? x * of_key : scaled(x, of_key); });
        r.dv = over_rows(stored_, dout_operand_, in_.d_v, [](T x) { return x; });
        return r;
    }

private:
    using row = typename forward_kernel<T>::row;
    void begin_rows(results& r) const {
        r.out.resize(in_.n_q * in_.d_v);
        r.lse.resize(in_.n_q);
    }
    void put_row(results& r, std::size_t i, const row& made) const {
        for (std::size_t c = 0; c < in_.d_v; ++c) r.out[i * in_.d_v + c] = static_cast<double>(made.out[c]);
        r.lse[i] = static_cast<double>(made.lse);
    }
    [[nodiscard]] bool early() const { return how_.scale_early && kernel_.scale_on() == scaling::of_product; }
    // The gradient of scaled q or k is stored before the last scaling.
    [[nodiscard]] T scaled(T x, T factor) const { return factor == T(1) ? x : round_fast(how_.everything, x) * factor; }
    std::vector<T> operands(const std::vector<double>& given, bool is_scaled) const {
        std::vector<T> x;
        for (const double number : given) {
            const T as_given = static_cast<T>(number);
            x.push_back(kernel_.operand(is_scaled ? round_fast(how_.everything, static_cast<T>(as_given * kernel_.factor())) : as_given));
        }
        return x;
    }
    std::vector<T> transposed(const std::vector<double>& given, std::size_t rows, std::size_t columns) const {
        std::vector<T> x(given.size());
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t c = 0; c < columns; ++c) x[c * rows + i] = kernel_.operand(static_cast<T>(given[i * columns + c]));
        return x;
    }

    // Makes `gradient_`, dS as it enters the products with k and q, and `weight_`, the weights as they enter that with dout.
    row score_gradients(std::size_t i, const std::vector<T>& values) {
        row r = kernel_.forward(i);
        weight_ = how_.keep_weights ? r.weights : kernel_.weights_again(i, r);
        const std::size_t seen = kernel_.seen();
        for (T& w : weight_) w = round_fast(how_.everything, w);
        gradient_.resize(seen); // of the weights
        kernel_.sum().of_products(dout_operand_.data() + i * in_.d_v, values.data(), in_.n_k, in_.d_v, seen, gradient_.data());
        for (T& g : gradient_) g = round_fast(how_.everything, g);
        T mean = 0;
        if (how_.mean == mean_from::weights) mean = kernel_.sum().dot(weight_.data(), gradient_.data(), seen);
        else {
            std::vector<T> out = r.out;
            if (how_.mean == mean_from::stored_out)
                for (T& o : out) o = round_fast(how_.output, o);
            mean = kernel_.sum().dot(dout_.data() + i * in_.d_v, out.data(), in_.d_v);
        }
        for (std::size_t j = 0; j < seen; ++j) {
            if (!in_.visible(i, j)) {
                gradient_[j] = 0;
                continue;
            }
            T ds = how_.apart ? weight_[j] * gradient_[j] - weight_[j] * mean : weight_[j] * (gradient_[j] - mean);
            if (early()) ds *= kernel_.scale();
            gradient_[j] = kernel_.operand(round_fast(how_.score_gradients, ds));
            weight_[j] = kernel_.operand(round_fast(how_.weights, weight_[j]));
        }
        return r;
    }
    // Σ_i x_ij row_i for every key j.
    template <class Last> std::vector<double> over_rows(const std::vector<T>& x, const std::vector<T>& rows, std::size_t d, const Last& last) {
        std::vector<double> all;
        std::vector<T> column(in_.n_q), sum(d);
        for (std::size_t j = 0; j < in_.n_k; ++j) {
            for (std::size_t i = 0; i < in_.n_q; ++i) column[i] = x[i * in_.n_k + j];
            kernel_.sum().of_products(column.data(), rows.data(), d, in_.n_q, d, sum.data());
            for (const T s : sum) all.push_back(static_cast<double>(last(s)));
        }
        return all;
    }

    const inputs& in_;
    const kernel_style& how_;
    forward_kernel<T> kernel_;
    std::vector<T> dout_, dout_operand_, weight_, gradient_, ds_, stored_;
};

} // namespace trials
