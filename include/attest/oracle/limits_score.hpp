// SPDX-License-Identifier: BSL-1.0
/// \file
/// How far a score may be off in an arithmetic: s = cap · tanh(raw · scale / cap) + ALiBi + mask, for each way of making raw.
///
/// Derivation. u is the unit of sums, w that of an operand as the arithmetic keeps it: (1 + w) = (1 + operand)(1 + stored q, k); both are relative.
/// γ_k = ku/(1 − ku).
///
/// raw. A sum of products goes through at most `depth` roundings a term, in any order, so with Σ|terms| of them it is off by less than
///
///     ((1 + w)^factors (1 + γ_{depth + more}) − 1) · (Σ|terms| + E_in) + E_in,
///
/// where E_in is what happened to the terms before. `more` is 8: the scale, or its root on q and on k, with log2 e in it, and their products.
///
/// | raw | terms | factors | E_in |
/// |---|---|---|---|
/// | q · k | q_c k_c | 2 | 0, or the rotation's |
/// | qᵀ W k | q_a W_ab k_b, as (qᵀW)k or qᵀ(Wk) | 4: q, W, k, and the inner product, which is stored as q and k are | 0 |
/// | b · tanh(h), h = W1 k + W2 q | b_a t_a | 2 | Σ \|b_a\| \|tanh(h + e) − t\|, \|e\| <= r H, H = Σ\|W1 k\| + Σ\|W2 q\| |
///
/// For the last, |tanh(h + e) − tanh h| <= (1 − t²) e + e² max|tanh''|/2, and max|tanh''| = 4/(3√3) < 0.77; r has 4 factors (W, its operand, W1 k or
/// W2 q as stored, h as stored). tanh itself is off by `function`.
///
/// A rotation turns a pair (a, b) of norm r by the angle φ = position · base^(−2i/d). Of the exponent's L = |ln base^(−2i/d)| the logarithm, the
/// division and the product lose 11 u (or pow the exponent's rounding), exp 2uL and 8u, the product with the position 2u: φ is off by |φ|(13 L + 12)
/// u, and by |φ| u for i = 0, where the power is 1. That turns the result by r · |φ|(13 L + 12)u. sin and cos are off by 8u of themselves, products
/// and sum by 2u, and |a cos φ| + |b sin φ| <= r. So a rotated component is off by r · (u · turn + 3w), turn = |φ|(13 L + 12) + 10: in 16 bits cos,
/// sin, the products and their sum are stored, beside the component as scaled, which counts as stored q. At φ = 0 nothing is lost. In Σ q'_c k'_c
/// first order is Σ (δq_c |k'_c| + |q'_c| δk_c), and the second δq_c δk_c; in q'ᵀ W k' the other factor is (W k')_c or (q'ᵀW)_c, and |W| stands
/// between in the second. In W1 k' of an additive score the error Σ|W1_c| r_c (u · turn_c + 3w) is at most the h's relative error r (which has w four
/// times and u for each of the d_q + d_k components) times Σ|W1_c| r_c (1 + turn_c/(d_q + d_k)), which therefore counts as part of H.
///
/// scale. Where scores are stored, raw may be, and raw · scale is: half a ULP each, and nothing for raw · scale if the scale is a power of two.
///
/// cap. s/cap rounds (the cap too), tanh is off by `function`, the product rounds; what came in acts through 1 − tanh² at the nearest point to 0 that
/// it can have reached. Stored: each of the three.
///
/// What is added: the mask is exact unless it is wider than the arithmetic; ALiBi's slope is a power (`function`), its product with the distance
/// rounds; with log2 e on the sum two roundings each. Stored: slope, product, sum. (Kernels that add slope · j for −slope · |i − j|, the same up to a
/// constant in the row, round at another size: not covered.)
///
/// Below the normal range an error is absolute, and acts through `operands` = Σ |∂raw/∂x| over all x that are rounded. What may leave the range makes
/// the error infinite: Σ|terms|, also times log2 e, beyond f64 or f32; a stored score beyond its format.
#pragma once

#include "attest/arithmetic/unfused.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/elementary/tanh.hpp"
#include "attest/fast/limit_kernels.hpp"
#include "attest/oracle/arithmetics.hpp"
#include "attest/oracle/input_width.hpp"

#include <algorithm>

namespace attest {

/// What all scores of a problem have in common.
struct score_rule {
    double scale = 1;          ///< its size
    double cap = 0;            ///< 0: none
    double factors = 2;        ///< rounded factors of a term
    double depth = 0;          ///< roundings of a term on its way into the sum
    double inner_depth = 0;    ///< additive: those of h; else 0
    bool rotated = false;      ///< by RoPE
    double query_turn = 0;     ///< greatest `turn` of a component of the query, and of a key
    double key_turn = 0;
    input_width inputs = {};   ///< of q, k and the score's weights
    input_width added = {};    ///< of mask, slopes and sink

    [[nodiscard]] static score_rule dot(std::size_t d_k, double scale) {
        return {.scale = scale < 0 ? -scale : scale, .depth = static_cast<double>(d_k)};
    }
    [[nodiscard]] static score_rule bilinear(std::size_t d_q, std::size_t d_k) { return {.factors = 4, .depth = static_cast<double>(d_q + d_k)}; }
    [[nodiscard]] static score_rule additive(std::size_t a, std::size_t d_q, std::size_t d_k) {
        return {.depth = static_cast<double>(a), .inner_depth = static_cast<double>(d_q + d_k + 1)};
    }
};

/// What one score is made of, sums of sizes: in double, from positive terms.
struct score_size {
    double terms = 0;        ///< Σ|terms| of raw
    double operands = 0;     ///< Σ |∂raw/∂x| over all x that are rounded
    double inner = 0;        ///< additive: Σ |b|(1 − t²) H
    double inner_square = 0; ///< additive: Σ |b| H²
    double turned = 0;       ///< rotated: Σ_c r_q,c turn_c |k_c| + |q_c| r_k,c turn_c; `bilinear`: with (W k)_c and (qᵀW)_c
    double norms = 0;        ///< rotated: Σ_c r_q,c |k_c| + |q_c| r_k,c
    double crossed = 0;      ///< rotated: Σ_c r_q,c r_k,c
    double key_square = 0;   ///< Σ (∂raw/∂x · x)² over what is stored of the key alone, what rounds alike being one (limits_alike.hpp)
    double query = 0;        ///< the root of the same over what is stored of the query
    double of_query = 0;     ///< greatest component of a query, and of a key, that may carry the scale
    double of_key = 0;
};

/// The parts of a score's error that storing in 16 bits makes, as the expected limit has them: greatest errors of independent sources.
struct score_sources {
    double own = 0;         ///< root of the sum of squares over what concerns this score alone, before anything is added
    double query = 0;       ///< the same over the stored components of the query, which act on all its scores
    double query_bound = 0; ///< certain bound of what they do
    double slope = 1;       ///< of the cap
};

namespace detail {

inline constexpr double slack = 1 + 0x1p-30;

// k roundings of relative error u each, multiplied out: (1 + u)^k − 1 and its like stay below k·u / (1 − k·u).
constexpr double roundings(double k, double u) noexcept { return k * u < 0.5 ? k * u / (1 - unfused(k * u)) : infinity_of_double; }

// (1 + a)(1 + b) − 1, without rounding at 1.
constexpr double together(double a, double b) noexcept { return a + b + unfused(a * b); }

// (1 + a)^k − 1
constexpr double power_of(double a, double k) noexcept {
    double product = 0;
    for (; k > 0; --k) product = together(product, a);
    return product;
}

// The unit of a rounding to the arithmetic's input format, if that changes what is given.
[[nodiscard]] constexpr double input_unit(const arithmetic& a, const input_width& given) noexcept {
    return given.fits(a.output) ? 0 : a.output.unit_roundoff();
}
[[nodiscard]] constexpr double input_tiny(const arithmetic& a, const input_width& given) noexcept {
    return given.fits(a.output) ? 0 : times_power_of_two(0.5, a.output.tiny_exponent());
}

[[nodiscard]] constexpr bool is_power_of_two(double x) noexcept { return x > 0 && x < infinity_of_double && split(x).fraction == 1; }

} // namespace detail

/// See the head of this file. All results are bounds of |computed − exact|, without the final store; infinity where the score may overflow.
class score_errors {
public:
    score_errors(const arithmetic& a, const score_rule& r) : score_errors(a, r, a.query_key > 0 ? a.weight_tiny : 0) {}
    /// `stored_tiny`: what a stored q or k loses below the normal range of its format.
    score_errors(const arithmetic& a, const score_rule& r, double stored_tiny) : a_{a}, r_{r} {
        kept_ = detail::together(a.operand, a.query_key);
        factor_ = detail::together(kept_, detail::input_unit(a, r.inputs));
        kept_tiny_ = std::max(a.tiny, stored_tiny) + a.operand_tiny + detail::input_tiny(a, r.inputs);
        score_tiny_ = a.score > 0 ? a.weight_tiny : 0;
        root_of_scale_ = attest::sqrt(r.scale);
        const auto relative = [&](double more) { return detail::together(detail::power_of(factor_, r.factors), detail::roundings(r.depth + more, a.unit)); };
        relative_ = relative(0);
        relative_scaled_ = relative(8);
    }

    /// Of raw.
    [[nodiscard]] double raw(const score_size& s) const {
        const double in = before_the_sum(s);
        const double error = detail::unfused(relative_ * (s.terms + in)) + in + tiny_of_sum(s);
        return s.terms + error > greatest_sum() ? detail::infinity_of_double : error;
    }

    /// Of raw · scale, capped. `scaled`: |raw · scale|.
    [[nodiscard]] double before_added(const score_size& s, double scaled) const {
        const double in = before_the_sum(s), scale = r_.scale;
        double error = detail::unfused(scale * (detail::unfused(relative_scaled_ * (s.terms + in)) + in));
        error += detail::unfused(std::max(1.0, scale) * tiny_of_sum(s)) + detail::unfused(a_.tiny * s.terms);
        const double size = detail::unfused(scale * s.terms) + error;
        // Some kernels sum the product before they scale it.
        const double unscaled = scale > 0 ? size / scale : std::max(size, s.terms);
        if (unscaled > greatest_sum() || log2_e * size > greatest_sum()) return detail::infinity_of_double;
        // The scale on the query, and log2 e with it; or its root on both.
        const double most = std::max(detail::unfused(log2_e * s.of_query) * std::max(scale, root_of_scale_), s.of_key * root_of_scale_);
        if (!(most * (1 + 0x1p-7) < (a_.query_key > 0 ? a_.output.greatest() : greatest_sum()))) return detail::infinity_of_double;
        if (a_.score > 0) {
            if (!detail::is_power_of_two(scale)) error += detail::unfused(a_.score * (scaled + error)) + detail::unfused(scale * score_tiny_);
            error += detail::unfused(a_.score * (scaled + error)) + score_tiny_;
            if (scaled + error > a_.greatest)
                return detail::infinity_of_double; // that of raw, before the scale, is a mistake: it is what the scale on q and k is for
        }
        return r_.cap > 0 ? capped(scaled, error) : error;
    }

    /// The same for many plain ones without a cap, by their kernel.
    [[nodiscard]] fast::score_errors_call before_added_call() const {
        fast::score_errors_call call{};
        call.relative = relative_scaled_;
        call.tiny_of_sum = detail::unfused(2 * (r_.depth + 1) * a_.tiny);
        call.kept_tiny = kept_tiny_;
        call.tiny = a_.tiny;
        call.scale = r_.scale;
        call.root_of_scale = root_of_scale_;
        call.greatest_sum = greatest_sum();
        call.greatest_operand = a_.query_key > 0 ? a_.output.greatest() : greatest_sum();
        call.log2_e = log2_e;
        call.stored = a_.score > 0;
        call.scale_is_power = detail::is_power_of_two(r_.scale);
        call.score = a_.score;
        call.score_tiny = score_tiny_;
        call.greatest = a_.greatest;
        return call;
    }

    /// Of the score, from that of what was before; `score`, `alibi`, `mask`: sizes of the sum and of what is added.
    [[nodiscard]] double with_added(double error, double score, double alibi, double mask) const {
        if (alibi == 0 && mask == 0) return error;
        const double unit = detail::together(detail::power_of(a_.unit, 2), a_.score);
        const double input = detail::input_unit(a_, r_.added), slope = detail::together(a_.function, detail::power_of(a_.unit, 4));
        error += detail::unfused(detail::together(slope, detail::together(detail::power_of(a_.score, 2), input)) * alibi);
        error += detail::unfused(input * mask) + detail::input_tiny(a_, r_.added);
        if (alibi != 0) error += 2 * (a_.tiny + score_tiny_);
        // Both: three terms, summed in any order.
        if (alibi != 0 && mask != 0) error += detail::unfused(unit * (score + error + alibi + mask)) + score_tiny_ + a_.tiny;
        return error + detail::unfused(unit * (score + error)) + score_tiny_ + a_.tiny;
    }
    /// Of a score that is given: exact, unless it is wider than the arithmetic, and is rounded to it first; and of a sink's logit.
    [[nodiscard]] double of_input(double score) const {
        return detail::unfused(detail::input_unit(a_, r_.inputs) * detail::size_of(score)) + detail::input_tiny(a_, r_.inputs);
    }
    [[nodiscard]] double of_sink(double logit) const {
        return detail::unfused(detail::input_unit(a_, r_.added) * detail::size_of(logit)) + detail::unfused(2 * a_.unit * detail::size_of(logit));
    }
    /// Whether a sum of that size may overflow.
    [[nodiscard]] bool overflows(double sum) const { return sum > a_.greatest || log2_e * sum > greatest_sum(); }

    /// Of what is stored in 16 bits. `error`: that of the score before anything is added.
    [[nodiscard]] score_sources sources(const score_size& s, double scaled, double error) const {
        score_sources parts;
        if (a_.score == 0 || !(error < detail::infinity_of_double)) return parts;
        const format& f = a_.output;
        parts.slope = slope(scaled, error);
        const double scale = r_.scale, size = scaled + error,
                     key = detail::unfused(detail::unfused(a_.query_key * a_.query_key) * detail::unfused(scale * scale) * s.key_square);
        const double of_raw = detail::is_power_of_two(scale) || scale == 0 ? 0 : detail::unfused(scale * half_ulp(f, size / scale)),
                     of_scaled = half_ulp(f, size);
        // The scale is on the product, and raw may be stored; or on q and k.
        double squares = std::max(key, detail::unfused(of_raw * of_raw)) + detail::unfused(of_scaled * of_scaled);
        if (r_.cap > 0) {
            const double quotient = detail::unfused(a_.score * size) + score_tiny_,
                         y = detail::unfused(r_.cap * attest::tanh(scaled / r_.cap)) + error;
            const double product = half_ulp(f, y), function = detail::unfused(a_.score * y) + detail::unfused(r_.cap * score_tiny_);
            squares = detail::unfused((squares + detail::unfused(quotient * quotient)) * detail::unfused(parts.slope * parts.slope)) +
                      detail::unfused(product * product) + detail::unfused(function * function);
        }
        parts.own = detail::unfused(attest::sqrt(squares) * detail::slack);
        const double through = detail::unfused(detail::unfused(parts.slope * scale) * a_.query_key);
        parts.query = detail::unfused(detail::unfused(through * s.query) * detail::slack);
        parts.query_bound = detail::unfused(through * (s.terms + s.inner + 2 * s.norms) * (1 + 4 * a_.query_key));
        return parts;
    }
    /// Of the stores after something was added: greatest errors, root of the sum of squares.
    [[nodiscard]] double added_source(double score, double alibi, double mask, double error) const {
        if (a_.score == 0 || (alibi == 0 && mask == 0)) return 0;
        const double sum = half_ulp(a_.output, score + error), product = alibi == 0 ? 0 : half_ulp(a_.output, alibi);
        const double between = alibi == 0 || mask == 0 ? 0 : half_ulp(a_.output, score + error + alibi + mask);
        return detail::unfused(attest::sqrt(detail::unfused(sum * sum) + detail::unfused(product * product) + detail::unfused(between * between)) *
                               detail::slack);
    }

private:
    // A kernel that uses exp2 has scores times log2 e.
    static constexpr double log2_e = 1.4427;
    // Products are summed in f64 or f32.
    [[nodiscard]] double greatest_sum() const { return a_.unit < formats::f32.unit_roundoff() ? formats::f64.greatest() : formats::f32.greatest(); }
    [[nodiscard]] static double half_ulp(const format& f, double x) { return ulp(f, x) / 2; }

    [[nodiscard]] double tiny_of_sum(const score_size& s) const {
        return detail::unfused(2 * (r_.depth + 1) * a_.tiny) + detail::unfused((r_.rotated ? 4 : 1) * kept_tiny_ * s.operands);
    }

    // E_in. The last factor takes in what is of second order.
    [[nodiscard]] double before_the_sum(const score_size& s) const {
        double error = 0;
        if (r_.inner_depth > 0) {
            const double h = detail::together(detail::power_of(factor_, 4), detail::roundings(r_.inner_depth, a_.unit));
            error += detail::unfused(h * s.inner) + detail::unfused(0.385 * h * h * s.inner_square) + detail::unfused(a_.function * s.terms);
        }
        if (r_.rotated) {
            const double stores = 3 * kept_;
            error +=
                detail::unfused(a_.unit * s.turned) + detail::unfused(stores * s.norms) +
                detail::unfused(s.crossed * (detail::unfused(a_.unit * r_.query_turn) + stores) * (detail::unfused(a_.unit * r_.key_turn) + stores));
        }
        return detail::unfused(error * (1 + 8 * (kept_ + a_.unit)));
    }

    // 1 − tanh² where it is greatest.
    [[nodiscard]] double slope(double scaled, double error) const {
        if (r_.cap == 0) return 1;
        const double t = attest::tanh(std::max(scaled - error, 0.0) / r_.cap);
        return std::min(1.0, detail::unfused((1 - t) * (1 + t)) + 0x1p-50);
    }
    [[nodiscard]] double capped(double scaled, double error) const {
        error += detail::unfused(detail::together(detail::power_of(a_.unit, 3), a_.score) * (scaled + error));
        const double moved = detail::unfused(slope(scaled, error) * error), y = detail::unfused(r_.cap * attest::tanh(scaled / r_.cap));
        const double product = detail::together(detail::together(a_.function, detail::power_of(a_.unit, 3)), detail::power_of(a_.score, 2));
        return moved + detail::unfused(product * (y + moved)) + detail::unfused((a_.tiny + score_tiny_) * (2 * r_.cap + 2));
    }

    const arithmetic& a_;
    score_rule r_;
    double kept_, factor_, kept_tiny_, score_tiny_, root_of_scale_;
    double relative_, relative_scaled_; // what a term of the sum loses: of raw; of raw · scale
};

} // namespace attest
