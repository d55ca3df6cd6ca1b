// SPDX-License-Identifier: BSL-1.0
// An arithmetic whose every operation is off by as much as it may be, and inputs that are the same in every scalar.
#pragma once

#include "attest/formula/decoder.hpp"
#include "attest/oracle/tracked.hpp"

#include <random>
#include <vector>

namespace noise {

using namespace attest;

using D = axis<dynamic>;
template <class S> using vector_of = tensor<S, D>;
template <class S> using matrix_of = tensor<S, D, D>;

// A number whose every operation is off by at most a unit: by all of it in one direction, or by any part of it.
class noisy {
public:
    inline static double unit = 0x1p-53;
    inline static int direction = 0; // 0: any
    inline static std::mt19937_64 bits{7};

    noisy() = default;
    template <std::same_as<int> I> noisy(I x) : value_{x} {}
    explicit noisy(double x) : value_{x} {}
    explicit noisy(const exact_number& x) : value_{x} {}
    static noisy pi() { return off(exact_number::pi(), 1); }
    [[nodiscard]] const exact_number& value() const { return value_; }

    friend noisy operator+(const noisy& a, const noisy& b) { return off(a.value_ + b.value_, 1); }
    friend noisy operator-(const noisy& a, const noisy& b) { return off(a.value_ - b.value_, 1); }
    friend noisy operator*(const noisy& a, const noisy& b) { return off(a.value_ * b.value_, 1); }
    friend noisy operator/(const noisy& a, const noisy& b) { return off(a.value_ / b.value_, 1); }
    friend noisy operator-(const noisy& a) { return noisy(-a.value_); }
    friend bool operator<(const noisy& a, const noisy& b) { return a.value_ < b.value_; }
    friend bool operator==(const noisy& a, const noisy& b) { return a.value_ == b.value_; }
    friend noisy attest_exp(const noisy& a) { return off(attest_exp(a.value_), 8); }
    friend noisy attest_sqrt(const noisy& a) { return off(attest_sqrt(a.value_), 1); }
    friend noisy attest_log(const noisy& a) { return off(attest_log(a.value_), 8); }
    friend noisy attest_tanh(const noisy& a) { return off(attest_tanh(a.value_), 8); }
    friend noisy attest_erf(const noisy& a) { return off(attest_erf(a.value_), 8); }
    friend noisy attest_sin(const noisy& a) { return noisy(attest_sin(a.value_) + exact_number(8 * unit * part())); }
    friend noisy attest_cos(const noisy& a) { return noisy(attest_cos(a.value_) + exact_number(8 * unit * part())); }

private:
    static double part() { return direction != 0 ? direction : std::uniform_real_distribution<double>(-1, 1)(bits); }
    static noisy off(const exact_number& x, double units) { return noisy(x * (exact_number(1) + exact_number(units * unit * part()))); }
    exact_number value_{0};
};

inline exact_number value_of(const noisy& x) { return x.value(); }
inline exact_number value_of(double x) { return exact_number(x); }
inline exact_number value_of(float x) { return exact_number(static_cast<double>(x)); }

// Standard normal numbers, the same for every scalar.
template <class S> matrix_of<S> normal(std::size_t rows, std::size_t columns, unsigned seed, double mean = 0, double deviation = 1) {
    std::mt19937_64 bits(seed);
    std::normal_distribution<double> draw(mean, deviation);
    auto m = matrix_of<S>::with_lengths(rows, columns);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t c = 0; c < columns; ++c) m(i, c) = S(static_cast<double>(static_cast<float>(draw(bits)))); // f32 holds them too
    return m;
}
template <class S> vector_of<S> normal_row(std::size_t n, unsigned seed, double mean = 0) {
    const auto row = normal<S>(1, n, seed, mean);
    auto v = vector_of<S>::with_lengths(n);
    for (std::size_t c = 0; c < n; ++c) v(c) = row(0, c);
    return v;
}
template <class S, class X> void append(std::vector<S>& to, const X& x) {
    for (std::size_t e = 0; e < x.elements(); ++e) to.push_back(x.data()[e]);
}

constexpr std::size_t d_model = 12;

template <class S> layer_norm_weights<S, D> norm_weights(unsigned seed) { return {normal_row<S>(d_model, seed, 1), normal_row<S>(d_model, seed + 1)}; }
template <class S> feed_forward_weights<S, D, D> ffn_weights(unsigned seed) {
    return {normal<S>(d_model, 20, seed, 0, 0.3), normal_row<S>(20, seed + 1), normal<S>(20, d_model, seed + 2, 0, 0.3), normal_row<S>(d_model, seed + 3)};
}
template <class S> auto head_weights(unsigned seed) {
    multi_head_weights<S, D, D, D, D> w;
    const auto fill = [&](auto& to, std::size_t rows, std::size_t columns, unsigned with) {
        to = std::remove_cvref_t<decltype(to)>::with_lengths(rows, columns);
        const auto from = normal<S>(rows, columns, with, 0, 0.5);
        for (std::size_t e = 0; e < from.elements(); ++e) to.data()[e] = from.data()[e];
    };
    fill(w.w_q, d_model, d_model, seed);
    fill(w.w_k, d_model, d_model, seed + 1);
    fill(w.w_v, d_model, d_model, seed + 2);
    fill(w.w_o, d_model, d_model, seed + 3);
    w.n_heads = w.n_kv_heads = 3;
    return w;
}
template <class S> encoder_layer_weights<S, D, D, D, D, D> layer_weights() { return {head_weights<S>(100), norm_weights<S>(110), ffn_weights<S>(120), norm_weights<S>(130)}; }

template <class S> decoder_layer_weights<S, D, D, D, D, D> decoder_weights(unsigned seed) {
    return {head_weights<S>(seed), norm_weights<S>(seed + 10), head_weights<S>(seed + 20), norm_weights<S>(seed + 30), ffn_weights<S>(seed + 40), norm_weights<S>(seed + 50)};
}

} // namespace noise
