// SPDX-License-Identifier: BSL-1.0
/// \file
/// How far one row of a right backward kernel's da, D and dS can be from their exact values: proved bounds, in one arithmetic.
///
/// Absolute bounds are carried from step to step, with what structure there is (u: the unit; st(x): the error of storing x in 16 bits, where the
/// arithmetic does):
///
/// - da_l = f_l Σ_c dz_c v_lc: γ Σ|terms|, operands rounded in tf32 (and inputs wider than the arithmetic), and in arithmetic X stored, before and
///   after the factor f of dropout;
/// - D, as Σ α da or as Σ_c dz_c out_c with the out as it was stored. The errors of weights that leave their sum at 1 act through da − D (and −D, for
///   a sink), others through da, in both ways alike. The first way adds Σ α e_da and its own sum, in X also the stores of weights and of their
///   products with da; the second the stores of forward's weights (through da, or da − D where stored weights are summed), its sums, and st(out_c)
///   |dz_c|. The bound is the greater;
/// - dS_l = α_l (da_l − D) = α_l da_l − α_l D:
///       e_dS = e_α |da − D| + (α + e_α)(e_da + e_D + 4u (|da| + |D|)), in X also st(α)(|da − D| + e_da + e_D) + st(α da), of α as it was stored.
///   Of that, two things are the same in the whole row: D, and a factor e^c of its weights. With α̂ = e^c (α + a) and D̂ = e^{c'} (D + δ),
///       dS_l = e^c ((α + a)(da + e_da) − (α + a)(e^{c'} (D + δ))),
///   so that sums Σ dS_l κ_l, such as dq, are off by (e^c − 1)|Σ dS κ| + e^c ((e^{c'} − 1)|D| + e^{c'} |δ|) |Σ α κ| and for each key by |κ_l| e^c
///   (a |da − D| + (α + a) e_da + a e_D): `apart`;
/// - what goes on to q and k: times 1 − t² for a softcap, t = tanh(s/cap) being off by no more than the score over the cap; stored in 16 bits with
///   or without the scale.
#pragma once

#include "attest/oracle/gradient_limits_weights.hpp"

namespace attest::detail {

[[nodiscard]] inline bool stores_weights(const arithmetic& a) { return a.weight > 0; } ///< X+f32, X
[[nodiscard]] inline bool stores_scores(const arithmetic& a) { return a.score > 0; }   ///< X

/// Storing a number of this size in 16 bits, if the arithmetic does.
[[nodiscard]] inline double error_of_store(const arithmetic& a, double size) {
    return stores_weights(a) ? std::max(store_error(a.output, size), std::min(a.weight_tiny, size)) : 0;
}
/// Before and after dropout's factor.
struct two_stores {
    double before = 0, after = 0;
};
[[nodiscard]] inline two_stores errors_of_stores(const arithmetic& a, double size, double factor) {
    if (!stores_weights(a) || factor == 0) return {};
    if (factor == 1) return {error_of_store(a, size), 0};
    const double before = unfused(factor * error_of_store(a, size));
    return {before, error_of_store(a, unfused(factor * size) + before)};
}
/// In the unit of whatever it is a part of.
[[nodiscard]] inline double error_of_store_anywhere(const arithmetic& a, double size) {
    return stores_weights(a) ? std::min(unfused(a.weight * size) + a.weight_tiny, size) : 0;
}
/// What 1 is in units of before the scale, if it is an error after it or before: at least 1.
[[nodiscard]] inline double most_over_scale(double scale) { return 1 / std::min(std::max(size_of(scale), 0x1p-100), 1.0); }
/// Storing what is passed on, with the scale in it or not.
[[nodiscard]] inline double error_of_store_scaled(const arithmetic& a, double size, double scale) {
    const double s = size_of(scale), own = error_of_store(a, size);
    return s > 0 ? std::max(own, error_of_store(a, unfused(s * size)) / s) : own;
}
/// How often dS is stored on its way to q and k: in X with a softcap also times cap, times 1 − t², and divided by cap.
[[nodiscard]] inline int stores_of_ds(const arithmetic& a, bool capped) { return !stores_weights(a) ? 0 : stores_scores(a) && capped ? 4 : 1; }

[[nodiscard]] inline double greatest_sum(const arithmetic& a) {
    return a.unit < formats::f32.unit_roundoff() ? formats::f64.greatest() : formats::f32.greatest();
}

class gradient_row_bounds {
public:
    gradient_weight_bounds weight;
    std::vector<double> da_error;
    std::vector<double> ds_error;     ///< before dS is stored
    std::vector<double> slope_error;  ///< of 1 − t²
    std::vector<double> passed_error; ///< of what goes on to q and k, stored
    std::vector<double> passed_apart; ///< the same without what is common to the row
    std::vector<double> out_high;     ///< |out_c| before it is stored
    double d_error = 0;
    double of_sum = 0, of_mean = 0; ///< what is common to the row: relative to Σ dS κ, and what acts through Σ α κ
    bool unbounded = false;

    /// `bound`, `repeated`, `sink`, `rescalings`: see gradient_weight_bounds.
    void make(const arithmetic& a, const gradient_row_values& r, const gradient_row_facts& f, const gradient_shape& shape, const brief_matrix& v,
              std::span<const double> bound, std::span<const double> repeated, double sink, double rescalings) {
        for (std::vector<double>* x : {&da_error, &ds_error, &slope_error, &passed_error, &passed_apart}) x->assign(r.n, 0);
        of_sum = of_mean = d_error = 0;
        weight.make(a, f, bound, repeated, sink, rescalings);
        unbounded = weight.unbounded;
        if (unbounded || r.n == 0) return;
        input_unit_ = input_unit(a, shape.inputs);
        input_tiny_ = input_tiny(a, shape.inputs) + a.operand_tiny;
        of_da(a, r, f, v);
        make_mean(a, r, f, v);
        for (std::size_t l = 0; l < r.n; ++l) {
            const double apart = of_ds(a, r, l);
            passed_apart[l] = passed(a, r, f, shape, l, bound[l], apart);
            passed_error[l] = passed(a, r, f, shape, l, bound[l], ds_error[l]);
            unbounded = unbounded || !(passed_error[l] < infinity_of_double);
        }
    }

private:
    void of_da(const arithmetic& a, const gradient_row_values& r, const gradient_row_facts& f, const brief_matrix& v) {
        const auto d_v = static_cast<double>(v.d);
        const double operand = together(a.operand, input_unit_), product = together(together(operand, operand), roundings(d_v + 3, a.unit));
        double of_dz = 0;
        for (const double x : r.dz_size) of_dz += x;
        for (std::size_t l = 0; l < r.n; ++l) {
            const double factor = r.factor[l];
            if (factor == 0) continue; // dropped: 0, exactly
            double e = unfused(product * r.da_size[l]) + unfused(2 * (d_v + 2) * a.tiny * std::max(1.0, factor));
            if (input_tiny_ > 0) { // an operand below the normal range, times the other
                double sizes = of_dz;
                for (std::size_t c = 0; c < v.d; ++c) sizes += v.magnitudes(f.key[l])[c];
                e += unfused(unfused(input_tiny_ * sizes) * factor);
            }
            if (!(unfused(r.da_size[l] * (1 + product)) < greatest_sum(a))) e = infinity_of_double;
            if (stores_scores(a)) {
                const two_stores stored = errors_of_stores(a, (size_of(r.da[l]) + e) / factor, factor);
                e += stored.before + stored.after;
            }
            da_error[l] = e;
        }
    }

    void make_mean(const arithmetic& a, const gradient_row_values& r, const gradient_row_facts& f, const brief_matrix& v) {
        const auto count = static_cast<double>(r.n), d_v = static_cast<double>(v.d);
        const double sum = roundings(count + 3, a.unit), operands = together(a.operand, together(a.operand, input_unit_));
        const double forward = together(operands, roundings(count + 2 * weight.rescalings + 10, a.unit));
        double moved = unfused(weight.sink_error * size_of(r.d)), noise = 0, from_da = 0, from_out = 0, all = 0;
        std::vector<double> out_error(v.d, 0.0), out_size(v.d, 0.0), sum_of_sizes(v.d, 0.0), of_error(r.n), of_size(r.n), of_factor(r.n);
        for (std::size_t l = 0; l < r.n; ++l) {
            const double w = weight.high[l], da = size_of(r.da[l]), e = da_error[l], stored = error_of_store_anywhere(a, w);
            moved += unfused(weight.normalised[l] * r.mean_size[l]);
            noise += unfused((weight.apart[l] - weight.normalised[l]) * da);
            const double store = stores_scores(a) ? error_of_store(a, w) : 0, kept = w + store; // below the normal range not near w
            from_da += unfused(kept * e) + unfused((store + unfused(sum * kept)) * (da + e)) + 2 * a.tiny;
            if (stores_scores(a)) from_da += error_of_store(a, unfused(kept * (da + e)));
            from_out += unfused(stored / (1 - a.weight) * std::max(da, r.mean_size[l]));
            all += unfused(w * r.da_size[l]);
            of_size[l] = brief_above(r.factor[l] * w);
            of_error[l] = brief_above(r.factor[l] * (weight.error[l] + 2 * stored + unfused(forward * w)));
            of_factor[l] = brief_above(r.factor[l]);
        }
        const std::vector<const double*> sizes = v.rows(v.magnitude, &f.key, r.n);
        f.kernels->row_sums({r.n, v.d, sizes.data(), 3, {of_error.data(), of_size.data(), of_factor.data()}, nullptr, {out_error.data(), out_size.data(), sum_of_sizes.data()}});
        const double dz_unit = input_unit_;
        from_out += unfused(together(forward, dz_unit) * all);
        out_high.resize(v.d);
        double of_products = 0; // Σ |dz out|
        for (std::size_t c = 0; c < v.d; ++c) {
            const double o = size_of(r.out[c]);
            out_high[c] = o + std::min(out_error[c], out_size[c] + o) + 4 * count * a.tiny;
            const double kept = stores_weights(a) ? error_of_store(a, out_high[c]) : unfused(a.unit * out_high[c]);
            from_out += unfused(r.dz_size[c] * (kept + unfused(roundings(d_v + 2, a.unit) * (out_high[c] + kept)))) + 2 * a.tiny +
                        unfused(input_tiny_ * out_high[c]);
            // Sums of weights that are relative to the greatest so far, or to a shift 8 bits below it, may overflow where out itself does not.
            if (!(0x1p9 * sum_of_sizes[c] < greatest_sum(a))) unbounded = true;
            of_products += unfused(r.dz_size[c] * (out_high[c] + kept));
        }
        if (!(of_products * (1 + 0x1p-10) < greatest_sum(a))) unbounded = true;
        // However far the weights are off, their mean of da stays in the hull.
        const double hull = std::max(std::max(r.da_high - r.d, r.d - r.da_low), 0.0) + unfused(0x1p-23 * r.d_size);
        const double own = std::min(moved, hull) + noise + std::max(from_da, from_out), factor = 1 + weight.common;
        d_error = unfused(weight.common * size_of(r.d)) + unfused(factor * own);
        of_sum = weight.common;
        of_mean = unfused(factor * d_error);
    }

    // Sets ds_error; gives what is not common to the row.
    double of_ds(const arithmetic& a, const gradient_row_values& r, std::size_t l) {
        const double store = stores_scores(a) ? error_of_store(a, weight.high[l]) : 0, w = weight.high[l] + store;
        const double da = size_of(r.da[l]) + da_error[l], d = size_of(r.d) + d_error, apart = da_error[l] + d_error;
        if (!((da + d) * (1 + 0x1p-10) < greatest_sum(a))) unbounded = true; // da − D
        double own = unfused(unfused(roundings(4, a.unit) * w) * (da + d)) + unfused(store * (r.mean_size[l] + d_error)) + 4 * a.tiny;
        if (stores_scores(a)) own += error_of_store(a, unfused(w * da));
        ds_error[l] = unfused(weight.error[l] * r.mean_size[l]) + unfused(w * apart) + own;
        return unfused((1 + weight.common) * (unfused(weight.apart[l] * (r.mean_size[l] + d_error)) + unfused(w * da_error[l]))) + own;
    }

    // What `e` of dS is when it has gone through the cap and was stored.
    double passed(const arithmetic& a, const gradient_row_values& r, const gradient_row_facts& f, const gradient_shape& shape, std::size_t l,
                  double score_error, double e) {
        double size = r.ds_size[l] + ds_error[l];
        if (!f.tanh.empty()) {
            const double t = size_of(f.tanh[l]), off = score_error / shape.cap;
            slope_error[l] = std::min(unfused(off * (2 * t + off)) + roundings(3, a.unit), 1.0);
            const double slope = r.slope[l] + slope_error[l],
                         more = unfused(size * slope_error[l]) + unfused(unfused(roundings(4, a.unit) * slope) * size) + 4 * a.tiny;
            e = unfused(r.slope[l] * e) + more;
            size = unfused(r.slope[l] * size) + more;
            if (stores_scores(a)) {
                if (!(unfused(size * std::max(1.0, shape.cap)) < a.output.greatest())) return infinity_of_double;
                const double stored = unfused(a.weight * size) + unfused(a.weight_tiny * std::max(std::max(1.0, shape.cap), 1 / shape.cap));
                e += unfused(3 * stored);
                size += unfused(3 * stored);
            }
        }
        return e + unfused(a.tiny * most_over_scale(shape.scale)) + error_of_store_scaled(a, size, shape.scale);
    }

    double input_unit_ = 0, input_tiny_ = 0;
};

} // namespace attest::detail
