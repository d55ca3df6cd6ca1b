// SPDX-License-Identifier: BSL-1.0
// One row of attention for the tests of the exact decisions: its memory, and its values by the formulas in 384 bits.
#pragma once

#include "attest/formula/alibi.hpp"
#include "attest/formula/attention.hpp"
#include "attest/formula/learned_score.hpp"
#include "attest/formula/mask_extras.hpp"
#include "attest/formula/rope.hpp"
#include "attest/gradient/softmax.hpp"
#include "attest/oracle/decided.hpp"
#include "attest/oracle/scalars.hpp"
#include "kernels.hpp"

namespace decided_tests {

using namespace attest;
using wide = real<100>;
using fact = exact_fact::kind;

inline wide wide_of(const exact_rational& x) {
    const auto number = [](const exact_integer& n) { return wide::number(boost::multiprecision::cpp_int(n)); };
    return wide(wide::number(number(numerator(x)) / number(denominator(x))));
}
inline exact_rational fraction(long long p, long long q = 1) { return {exact_integer(p), exact_integer(q)}; }
inline exact_rational decimal(const char* text) { return number_from<exact_rational>("a number", text); }

// p/q with a small q that agrees with x to 60 digits: then x is that number, as far as a test can know.
inline std::optional<exact_rational> small_fraction(const wide& x) {
    exact_integer p0 = 0, q0 = 1, p1 = 1, q1 = 0;
    wide::number rest = x.value();
    while (true) {
        const wide::number whole = floor(rest);
        const exact_integer a(whole.convert_to<boost::multiprecision::cpp_int>());
        const exact_integer p2 = a * p1 + p0, q2 = a * q1 + q0;
        if (q2 > 1000000000) return std::nullopt;
        if (abs(wide_of(exact_rational(p2, q2)) - x) < wide(1e-60)) return exact_rational(p2, q2);
        p0 = p1, q0 = q1, p1 = p2, q1 = q2;
        rest = 1 / (rest - whole);
    }
}

// Everything that a row may have. q and k before the rotation.
struct row {
    std::vector<double> q, k, v, w, w1, w2, b, bias, distance, positions, dz;
    std::vector<char> kept;
    std::vector<std::size_t> visible;
    std::size_t d_k = 1, d_v = 1;
    score_kind score = score_kind::scaled;
    std::optional<double> sink;
    std::optional<exact_rational> scale = exact_rational(1);
    exact_rational keep_scale = 1;
    std::optional<double> cap;
    std::size_t rotated = 0, irrational_slope_of = 0; // heads; 0: `slope`
    std::optional<double> slope;
    double position = 0;
    std::size_t root_of = 0; // σ = 1/√root_of, where there is no scale

    [[nodiscard]] std::size_t n() const { return visible.size(); }
    [[nodiscard]] static matrix_view view_of(const std::vector<double>& m, std::size_t rows, std::size_t columns) {
        return {m.data(), extents<dynamic_axis, dynamic_axis>(rows, columns)};
    }
};

// A row of n keys, all visible.
inline row row_of(std::vector<double> q, std::vector<double> k, std::vector<double> v) {
    row r;
    r.d_k = q.size();
    const std::size_t n = k.size() / q.size();
    r.d_v = v.size() / n;
    r.q = std::move(q);
    r.k = std::move(k);
    r.v = std::move(v);
    for (std::size_t j = 0; j < n; ++j) r.visible.push_back(j);
    r.dz.assign(r.d_v, 1.0);
    return r;
}

// The facts, with the inputs that they refer to.
struct facts {
    matrix_view k, v, w;
    decided_inputs in;
    decided_row say;

    explicit facts(const row& r)
        : k{row::view_of(r.k, r.k.size() / r.d_k, r.d_k)}, v{row::view_of(r.v, r.v.size() / r.d_v, r.d_v)},
          w{row::view_of(r.w, r.w.empty() ? 0 : r.q.size(), r.w.empty() ? 0 : r.d_k)}, in{inputs(r)}, say{in} {}
    facts(const facts&) = delete;
    facts& operator=(const facts&) = delete;

private:
    [[nodiscard]] decided_inputs inputs(const row& r) const {
        decided_inputs i;
        i.q = r.q;
        i.k = &k;
        i.v = &v;
        i.w = &w;
        i.visible = r.visible;
        i.bias = r.bias;
        i.distance = r.distance;
        i.slope = r.slope;
        i.sink = r.sink;
        i.score = r.score;
        i.additive_is_finite = true;
        i.scale = r.scale;
        i.softcap = r.cap.has_value();
        i.rotated = r.rotated;
        i.position = r.position;
        i.positions = r.positions;
        i.kept = r.kept;
        i.keep_scale = r.keep_scale;
        i.dz = r.dz;
        return i;
    }
};

// The same row by the formulas.
struct values {
    vector_in<wide> raw, scores, weights, out, ds, dq;
    matrix_in<wide> dk_before_scale, dv;
    wide lse{0}, sigma{1};

    explicit values(const row& r) {
        const std::size_t n = r.n();
        sigma = r.scale ? wide_of(*r.scale) : wide(1) / attest::sqrt(wide(static_cast<int>(r.root_of)));
        const rope<wide> turn{rope_pairing::interleaved, wide(10), r.rotated};
        const auto turned = [&](const vector_in<wide>& x, double position) {
            return r.rotated == 0 ? x : vector_in<wide>(turn.rotate(x, wide(position)));
        };
        const vector_in<wide> q = turned(copy(r.q, 0, r.q.size()), r.position);
        auto k = matrix_in<wide>::with_lengths(n, r.d_k), v = matrix_in<wide>::with_lengths(n, r.d_v);
        for (std::size_t j = 0; j < n; ++j) {
            const vector_in<wide> row = turned(copy(r.k, r.visible[j] * r.d_k, r.d_k), r.positions.empty() ? 0 : r.positions[j]);
            for (std::size_t c = 0; c < r.d_k; ++c) k(j, c) = row(c);
            for (std::size_t c = 0; c < r.d_v; ++c) v(j, c) = wide(r.v[r.visible[j] * r.d_v + c]);
        }
        raw = vector_in<wide>::with_lengths(n);
        auto slope_of_cap = vector_in<wide>::with_lengths(n);
        const auto score = [&](const auto& query, const auto& key) {
            const wide s = raw_of(r, vector_in<wide>(query), vector_in<wide>(key)) * sigma;
            return r.cap ? wide(*r.cap) * attest::tanh(s / wide(*r.cap)) : s;
        };
        for (std::size_t j = 0; j < n; ++j) {
            raw(j) = raw_of(r, q, vector_in<wide>(k[j]));
            const wide t = r.cap ? attest::tanh(raw(j) * sigma / wide(*r.cap)) : wide(0);
            slope_of_cap(j) = wide(1) - t * t;
        }
        const auto forward = [&](const auto& mask) {
            const auto result = attend(q, k, v, 0, mask, score);
            scores = result.scores;
            weights = result.weights;
            out = result.out;
        };
        auto bias = matrix_in<wide>::with_lengths(1, n), kept = matrix_in<wide>::with_lengths(1, n);
        const wide slope = r.irrational_slope_of != 0 ? alibi_slope<wide>(0, r.irrational_slope_of) : wide(r.slope.value_or(0));
        for (std::size_t j = 0; j < n; ++j) {
            bias(0, j) = wide(r.bias.empty() ? 0 : r.bias[j]) - slope * wide(r.distance.empty() ? 0 : r.distance[j]);
            kept(0, j) = r.kept.empty() || r.kept[j] != 0 ? wide_of(r.keep_scale) : wide(0);
        }
        const row_mask mask{bias, kept};
        if (r.sink) forward(mask & attention_sink<wide>{wide(*r.sink)});
        else forward(mask);
        const wide sink(r.sink.value_or(0));
        lse = log_sum_exp(scores, detail::every_index{}, r.sink ? &sink : nullptr);

        auto da = vector_in<wide>::with_lengths(n);
        dv = matrix_in<wide>::with_lengths(n, r.d_v);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t c = 0; c < r.d_v; ++c) {
                da(j) = da(j) + kept(0, j) * wide(r.dz[c]) * v(j, c);
                dv(j, c) = weights(j) * kept(0, j) * wide(r.dz[c]);
            }
        ds = softmax_vjp(weights, da);
        dq = vector_in<wide>::with_lengths(r.q.size());
        dk_before_scale = matrix_in<wide>::with_lengths(n, r.d_k);
        for (std::size_t j = 0; j < n; ++j) {
            const wide through = ds(j) * slope_of_cap(j);
            auto dk = vector_in<wide>::with_lengths(r.d_k);
            add_gradient(r, q, vector_in<wide>(k[j]), through, sigma, dq, dk);
            if (r.rotated != 0) dk = turn.rotate_back(dk, wide(r.positions[j]));
            for (std::size_t c = 0; c < r.d_k; ++c) dk_before_scale(j, c) = dk(c);
        }
        if (r.rotated != 0) dq = turn.rotate_back(dq, wide(r.position));
    }

private:
    struct row_mask {
        const matrix_in<wide>&bias, &kept;
        [[nodiscard]] bool visible(std::size_t, std::size_t) const { return true; }
        [[nodiscard]] wide added(std::size_t i, std::size_t j) const { return bias(i, j); }
        [[nodiscard]] wide factor(std::size_t i, std::size_t j) const { return kept(i, j); }
    };
    static vector_in<wide> copy(const std::vector<double>& x, std::size_t from, std::size_t count) {
        auto y = vector_in<wide>::with_lengths(count);
        for (std::size_t c = 0; c < count; ++c) y(c) = wide(x[from + c]);
        return y;
    }
    // (W_1 k + W_2 q)_a
    static wide hidden(const row& r, const vector_in<wide>& q, const vector_in<wide>& k, std::size_t a) {
        wide sum(0);
        for (std::size_t c = 0; c < k.length(0); ++c) sum = sum + wide(r.w1[a * k.length(0) + c]) * k(c);
        for (std::size_t c = 0; c < q.length(0); ++c) sum = sum + wide(r.w2[a * q.length(0) + c]) * q(c);
        return sum;
    }
    static wide raw_of(const row& r, const vector_in<wide>& q, const vector_in<wide>& k) {
        wide sum(0);
        if (r.score == score_kind::additive)
            for (std::size_t a = 0; a < r.b.size(); ++a) sum = sum + wide(r.b[a]) * attest::tanh(hidden(r, q, k, a));
        else if (r.score == score_kind::bilinear)
            for (std::size_t a = 0; a < q.length(0); ++a)
                for (std::size_t c = 0; c < k.length(0); ++c) sum = sum + q(a) * wide(r.w[a * k.length(0) + c]) * k(c);
        else
            for (std::size_t c = 0; c < q.length(0); ++c) sum = sum + q(c) * k(c);
        return sum;
    }
    // dq with the scale, dk without.
    static void add_gradient(const row& r, const vector_in<wide>& q, const vector_in<wide>& k, const wide& ds, const wide& sigma,
                             vector_in<wide>& dq, vector_in<wide>& dk) {
        if (r.score == score_kind::additive) {
            for (std::size_t a = 0; a < r.b.size(); ++a) {
                const wide t = attest::tanh(hidden(r, q, k, a)), g = ds * wide(r.b[a]) * (wide(1) - t * t);
                for (std::size_t c = 0; c < k.length(0); ++c) dk(c) = dk(c) + g * wide(r.w1[a * k.length(0) + c]);
                for (std::size_t c = 0; c < q.length(0); ++c) dq(c) = dq(c) + sigma * g * wide(r.w2[a * q.length(0) + c]);
            }
            return;
        }
        for (std::size_t a = 0; a < q.length(0); ++a)
            for (std::size_t c = 0; c < k.length(0); ++c) {
                const wide w(r.score == score_kind::bilinear ? r.w[a * k.length(0) + c] : a == c ? 1.0 : 0.0);
                dq(a) = dq(a) + sigma * ds * w * k(c);
                dk(c) = dk(c) + ds * w * q(a);
            }
    }
};

} // namespace decided_tests
