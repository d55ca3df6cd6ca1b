// SPDX-License-Identifier: BSL-1.0
/// \file
/// The sizes that limits_score.hpp needs, from queries and keys in double: for dot products (also rotated), bilinear and additive scores.
///
/// What a stored component x of a query or key loses is relative to it, and the same for components of the same fraction (their bits but sign and
/// exponent): x and 2x round alike. So over components, Σ (∂raw/∂x · x)² is taken over groups of equal fractions: in a group the terms add up with
/// their signs, or are independent, whichever is more. Half a ULP of x is between u/2 and u of it: u over the fraction. What is stored is x · scale
/// or x · √scale (of a query also x · scale · log2 e), the greatest of these counts; and nothing for a power of two, since x itself has been stored.
#pragma once

#include "attest/elementary/log.hpp"
#include "attest/oracle/limits_score.hpp"

#include <numeric>
#include <span>
#include <vector>

namespace attest {

namespace detail {

[[nodiscard]] inline double fraction_of(double x) { return x == 0 || x - x != 0 ? 0 : split(size_of(x)).fraction; }

// Indices of a row's components, those of equal fractions next to each other; `ends` marks the last of each group.
struct alike_components {
    std::vector<std::uint32_t> order;
    std::vector<unsigned char> ends;

    explicit alike_components(std::span<const double> x) : order(x.size()), ends(x.size(), 1) {
        std::vector<double> fraction;
        fraction.reserve(x.size());
        for (const double value : x) fraction.push_back(fraction_of(value));
        std::iota(order.begin(), order.end(), 0U);
        std::sort(order.begin(), order.end(),
                  [&](std::uint32_t a, std::uint32_t b) { return fraction[a] < fraction[b] || (fraction[a] == fraction[b] && a < b); });
        for (std::size_t k = 0; k + 1 < order.size(); ++k) ends[k] = fraction[order[k]] != fraction[order[k + 1]] ? 1 : 0;
    }

    // Σ over groups of the greater of (Σ a_c)² and Σ a_c².
    template <class Amplitude> [[nodiscard]] double square(const Amplitude& a) const {
        double sum = 0, group = 0, squares = 0;
        for (std::size_t k = 0; k < order.size(); ++k) {
            const double one = a(order[k]);
            group += one;
            squares += unfused(one * one);
            if (ends[k] == 0) continue;
            sum += std::max(unfused(group * group), squares);
            group = squares = 0;
        }
        return sum;
    }
};

} // namespace detail

/// A query or key as the score sees it (after a rotation), and what stands beside it.
struct score_vector {
    std::vector<double> x;
    std::vector<double> norm; ///< rotated: norm of the component's pair, 0 where nothing is turned; else empty
    std::vector<double> turn; ///< rotated: see limits_score.hpp
    std::vector<double> half; ///< half a ULP of the component as stored, in units of u |x_c|
    double sum = 0;           ///< Σ|x_c|
    double greatest = 0;      ///< greatest |x_c|
    detail::alike_components alike;

    /// `rounds`: whether any arithmetic in question stores it; if not, `alike` stays empty.
    explicit score_vector(std::vector<double> components, bool rounds = true)
        : x{std::move(components)}, half(x.size(), 1.0), alike{rounds ? std::span<const double>(x) : std::span<const double>()} {
        for (const double c : x) {
            sum += detail::size_of(c);
            greatest = std::max(greatest, detail::size_of(c));
        }
    }
    /// Of a dot product with that scale, given in the format that the arithmetic stores.
    [[nodiscard]] static score_vector query(std::vector<double> components, double scale) {
        const double log2_e = 1.4426950408889634;
        return stored_as(std::move(components), {scale, attest::sqrt(detail::size_of(scale)), scale * log2_e});
    }
    [[nodiscard]] static score_vector key(std::vector<double> components, double scale) {
        return stored_as(std::move(components), {scale, attest::sqrt(detail::size_of(scale)), 1});
    }
    [[nodiscard]] double greatest_turn() const { return turn.empty() ? 0 : *std::max_element(turn.begin(), turn.end()); }

private:
    [[nodiscard]] static score_vector stored_as(std::vector<double> components, const std::array<double, 3>& factors) {
        score_vector v(std::move(components));
        for (std::size_t c = 0; c < v.x.size(); ++c) {
            v.half[c] = 0;
            for (const double factor : factors) {
                const double fraction = detail::fraction_of(v.x[c] * factor);
                if (!detail::is_power_of_two(detail::size_of(factor)) && fraction > 0) v.half[c] = std::max(v.half[c], 1 / fraction);
            }
        }
        return v;
    }
};

/// Pair i of r rotated components: 2i and 2i + 1, or with `half` i and i + r/2.
struct rotation_rule {
    std::size_t dimensions = 0; ///< r; 0: all
    bool half = false;
    double base = 10000;
};

/// A row after its rotation by `position`.
[[nodiscard]] inline score_vector rotated_vector(std::vector<double> x, const rotation_rule& how, double position, bool rounds = true) {
    score_vector v(std::move(x), rounds);
    const std::size_t d = v.x.size(), r = how.dimensions == 0 ? d : how.dimensions;
    v.norm.assign(d, 0.0);
    v.turn.assign(d, 0.0);
    const double log_base = attest::log(how.base);
    for (std::size_t i = 0; i < r / 2; ++i) {
        const double exponent = detail::unfused(static_cast<double>(2 * i) / static_cast<double>(r) * log_base), length = detail::size_of(exponent);
        const double angle = detail::size_of(position) * attest::exp(-exponent);
        if (angle == 0) continue; // cos is 1, sin is 0
        const std::size_t a = how.half ? i : 2 * i, b = how.half ? i + r / 2 : 2 * i + 1;
        v.norm[a] = v.norm[b] = attest::sqrt(detail::unfused(v.x[a] * v.x[a]) + detail::unfused(v.x[b] * v.x[b]));
        v.turn[a] = v.turn[b] = detail::unfused(angle * (i == 0 ? 1 : detail::unfused(13 * length) + 12)) + 10;
    }
    return v;
}

namespace detail {

// What a rotation stores of a component x of a pair of norm r, as a sum of squares: its two products r² in all, cos and sin 2r² (each is shared by the
// two components of the pair), x as their sum and as scaled 2x². Angles differ, so nothing is taken to round alike.
[[nodiscard]] inline double square_of_rotated(double norm, double x) { return unfused(3 * unfused(norm * norm)) + 2 * unfused(x * x); }

} // namespace detail

/// Of q · k. `terms`: Σ|q_c k_c|, in order. `in_16_bits`: also what the expected limit of scores stored in 16 bits needs.
[[nodiscard]] inline score_size size_of_dot(const score_vector& q, const score_vector& k, double terms, bool in_16_bits) {
    const std::size_t d = q.x.size();
    score_size s;
    s.terms = terms;
    s.operands = q.sum + k.sum;
    s.of_query = q.greatest;
    s.of_key = k.greatest;
    const bool rotated = !q.norm.empty();
    if (rotated)
        for (std::size_t c = 0; c < d; ++c) {
            const double of_q = detail::unfused(q.norm[c] * detail::size_of(k.x[c])), of_k = detail::unfused(k.norm[c] * detail::size_of(q.x[c]));
            s.turned += detail::unfused(of_q * q.turn[c]) + detail::unfused(of_k * k.turn[c]);
            s.norms += of_q + of_k;
            s.crossed += detail::unfused(q.norm[c] * k.norm[c]);
        }
    if (!in_16_bits) return s;
    if (!rotated) {
        s.key_square = k.alike.square([&](std::size_t c) { return detail::unfused(q.x[c] * k.x[c] * k.half[c]); });
        s.query = attest::sqrt(q.alike.square([&](std::size_t c) { return detail::unfused(q.x[c] * k.x[c] * q.half[c]); }));
        return s;
    }
    double query = 0;
    for (std::size_t c = 0; c < d; ++c) {
        s.key_square += detail::unfused(detail::unfused(q.x[c] * q.x[c]) * detail::square_of_rotated(k.norm[c], k.x[c]));
        query += detail::unfused(detail::unfused(k.x[c] * k.x[c]) * detail::square_of_rotated(q.norm[c], q.x[c]));
    }
    s.query = attest::sqrt(query);
    return s;
}
[[nodiscard]] inline score_size size_of_dot(const score_vector& q, const score_vector& k, bool in_16_bits) {
    double terms = 0;
    for (std::size_t c = 0; c < q.x.size(); ++c) terms += detail::unfused(detail::size_of(q.x[c]) * detail::size_of(k.x[c]));
    return size_of_dot(q, k, terms, in_16_bits);
}

/// A matrix in double, rows one after the other.
struct double_matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<double> values;
    [[nodiscard]] double operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

/// Of qᵀ W k. Prepare each query and each key once.
class bilinear_sizes {
public:
    explicit bilinear_sizes(double_matrix w) : w_{std::move(w)} {}

    struct query {
        score_vector given;
        score_vector through;   ///< qᵀW
        std::vector<double> terms; ///< Σ_a |q_a W_ab|
        double operands;        ///< Σ_b of it
    };
    struct key {
        score_vector given;
        std::vector<double> through; ///< W k
        std::vector<double> norms;   ///< rotated: Σ_b |W_ab| r_b
        double operands;             ///< Σ_ab |W_ab k_b|
    };
    [[nodiscard]] query of_query(score_vector q) const {
        std::vector<double> through(w_.columns, 0.0), terms(w_.columns, 0.0);
        for (std::size_t a = 0; a < w_.rows; ++a)
            for (std::size_t b = 0; b < w_.columns; ++b) {
                const double term = detail::unfused(q.x[a] * w_(a, b));
                through[b] += term;
                terms[b] += detail::size_of(term);
            }
        double operands = 0;
        for (const double t : terms) operands += t;
        return {std::move(q), score_vector(std::move(through)), std::move(terms), operands};
    }
    [[nodiscard]] key of_key(score_vector k) const {
        std::vector<double> through(w_.rows, 0.0), norms(k.norm.empty() ? 0 : w_.rows, 0.0);
        double operands = 0;
        for (std::size_t a = 0; a < w_.rows; ++a)
            for (std::size_t b = 0; b < w_.columns; ++b) {
                const double term = detail::unfused(w_(a, b) * k.x[b]);
                through[a] += term;
                operands += detail::size_of(term);
                if (!norms.empty()) norms[a] += detail::unfused(detail::size_of(w_(a, b)) * k.norm[b]);
            }
        return {std::move(k), std::move(through), std::move(norms), operands};
    }
    [[nodiscard]] score_size operator()(const query& q, const key& k, bool in_16_bits) const {
        score_size s;
        for (std::size_t b = 0; b < w_.columns; ++b) s.terms += detail::unfused(q.terms[b] * detail::size_of(k.given.x[b]));
        // W itself, and the products inside.
        s.operands = q.operands + k.operands + detail::unfused(q.given.sum * k.given.sum) +
                     detail::unfused(static_cast<double>(w_.rows) * k.given.sum) + detail::unfused(static_cast<double>(w_.columns) * q.given.sum);
        if (!q.given.norm.empty()) add_rotations(s, q, k);
        if (!in_16_bits) return s;
        // Either qᵀW is stored, and k; or W k, and q.
        const auto left = [&](std::size_t b) { return detail::unfused(q.through.x[b] * k.given.x[b]); };
        double right = 0;
        for (std::size_t a = 0; a < w_.rows; ++a) {
            const double one = detail::unfused(q.given.x[a] * k.through[a]);
            right += detail::unfused(one * one);
        }
        s.key_square = k.given.alike.square(left) + right;
        s.query = attest::sqrt(q.through.alike.square(left) +
                               q.given.alike.square([&](std::size_t a) { return detail::unfused(q.given.x[a] * k.through[a]); }) +
                               rotated_square(q.given, k.through));
        s.key_square += rotated_square(k.given, q.through.x);
        return s;
    }

private:
    static void add_rotations(score_size& s, const query& q, const key& k) {
        const auto add = [&s](const score_vector& of, const std::vector<double>& derivative) {
            for (std::size_t c = 0; c < of.x.size(); ++c) {
                const double one = detail::unfused(of.norm[c] * detail::size_of(derivative[c]));
                s.turned += detail::unfused(one * of.turn[c]);
                s.norms += one;
            }
        };
        add(q.given, k.through);
        add(k.given, q.through.x);
        for (std::size_t a = 0; a < q.given.x.size(); ++a) s.crossed += detail::unfused(q.given.norm[a] * k.norms[a]);
    }
    [[nodiscard]] static double rotated_square(const score_vector& of, const std::vector<double>& derivative) {
        double sum = 0;
        for (std::size_t c = 0; c < of.norm.size(); ++c)
            sum += detail::unfused(detail::unfused(derivative[c] * derivative[c]) * detail::square_of_rotated(of.norm[c], of.x[c]));
        return sum;
    }

    double_matrix w_;
};

/// Of b · tanh(W1 k + W2 q). Prepare each query and each key once.
class additive_sizes {
public:
    additive_sizes(double_matrix w1, double_matrix w2, std::vector<double> b) : w1_{std::move(w1)}, w2_{std::move(w2)}, b_{std::move(b)} {}

    /// W x, for a query or a key.
    struct projected {
        std::vector<double> value; ///< W x
        std::vector<double> size;  ///< Σ|W_ac x_c|, and what a rotation adds to the error relative to it (limits_score.hpp)
        std::vector<double> norms; ///< rotated: Σ_c |W_ac| r_c
        std::vector<double> operands;    ///< Σ_c |W_ac| + |x_c|
    };
    [[nodiscard]] projected of_key(const score_vector& k) const { return through(w1_, k); }
    [[nodiscard]] projected of_query(const score_vector& q) const { return through(w2_, q); }

    [[nodiscard]] score_size operator()(const projected& q, const projected& k, bool in_16_bits) const {
        score_size s;
        double query = 0, turned_query = 0, turned_key = 0;
        for (std::size_t a = 0; a < b_.size(); ++a) {
            const double h = k.value[a] + q.value[a], t = attest::tanh(h), b = detail::size_of(b_[a]),
                         slope = detail::unfused((1 - t) * (1 + t)) + 0x1p-50;
            const double size = k.size[a] + q.size[a], through = detail::unfused(b * slope);
            s.terms += detail::unfused(b * detail::size_of(t));
            s.inner += detail::unfused(through * size);
            s.inner_square += detail::unfused(b * detail::unfused(size * size));
            s.operands +=
                detail::size_of(t) + detail::unfused(b * (1 + static_cast<double>(w1_.columns + w2_.columns) + k.operands[a] + q.operands[a]));
            if (!in_16_bits) continue;
            const double of_k = detail::unfused(through * k.value[a]), of_h = detail::unfused(through * h), of_t = detail::unfused(b * t),
                         of_q = detail::unfused(through * q.value[a]);
            s.key_square += detail::unfused(of_k * of_k) + detail::unfused(of_h * of_h) + detail::unfused(of_t * of_t);
            query += detail::unfused(of_q * of_q);
            if (q.norms.empty()) continue;
            turned_query += 2.3 * detail::unfused(through * q.norms[a]); // what a rotation stores of a component: at most √5 r
            turned_key += 2.3 * detail::unfused(through * k.norms[a]);
        }
        s.key_square += detail::unfused(turned_key * turned_key);
        s.query = attest::sqrt(query + detail::unfused(turned_query * turned_query));
        return s;
    }

private:
    [[nodiscard]] projected through(const double_matrix& w, const score_vector& x) const {
        projected p;
        const auto depth = static_cast<double>(w1_.columns + w2_.columns);
        for (std::size_t a = 0; a < w.rows; ++a) {
            double value = 0, size = 0, operands = x.sum, norms = 0;
            for (std::size_t c = 0; c < w.columns; ++c) {
                const double term = detail::unfused(w(a, c) * x.x[c]);
                value += term;
                size += detail::size_of(term);
                operands += detail::size_of(w(a, c));
                if (x.norm.empty()) continue;
                const double turned = detail::unfused(detail::size_of(w(a, c)) * x.norm[c]);
                norms += turned;
                size += turned + detail::unfused(turned * x.turn[c]) / depth;
            }
            p.value.push_back(value);
            p.size.push_back(size);
            p.operands.push_back(operands);
            if (!x.norm.empty()) p.norms.push_back(norms);
        }
        return p;
    }

    double_matrix w1_, w2_;
    std::vector<double> b_;
};

} // namespace attest
