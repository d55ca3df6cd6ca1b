// SPDX-License-Identifier: BSL-1.0
/// \file
/// The expected limit of the output: beyond it, a right kernel whose rounding errors are unbiased and independent comes with a probability below the
/// false alarm's.
///
/// It is a model, not a proof. What it assumes: errors of storing in 16 bits lie within half a ULP (for weights, whose binade depends on the kernel's
/// shift, within a unit of the value), have mean zero, and are independent, but for values that round alike (limits_alike.hpp) and for sources that
/// several keys share; the order of sums was fixed before the values were known. What it does not assume: anything about the errors of f32 (or f64)
/// itself. Those are added up linearly as in the certain limit, since sums of equal numbers, and the bias of an exp, are not independent; but for
///
/// - rescalings, of which there are not n but as many as new maxima (limits_order.hpp);
/// - additions, each off by a unit of a partial sum, and not of Σ|terms| (ibid.).
///
/// Derivation, in the notation of limits_row.hpp, with v_j for f_j v_j. A weight's ε_j = e_j + η_j, e_j what 16 bits do to the score, |e_j| <= E_j,
/// and |η_j| <= L_j the rest. Exactly,
///
///     o' − o = Σ α_j (e^{ε_j} − 1)(v_j − o) / Σ α_l e^{ε_l},      e^{ε} − 1 = e + (e^e − 1 − e) + e^e (e^η − 1).
///
/// 1. Σ α_j e_j (v_j − o) is linear in independent sources, each within ±b and with the derivative d: by Hoeffding it is beyond λ √Σ(b d)² with
///    probability 2 e^{−λ²/2} at most. The sources: each score's stores (raw, scaled, capped, added to), and the key's as scaled, once for the key: b
///    in limits_score.hpp; what is stored of the query, once for the row (limits_query.hpp); the rounding that all keys have in common by the
///    fractions of their elements (share_of_fractions), as a relative error of the scale; the slope of ALiBi. Derivatives of the key's own sources
///    are taken where they are greatest over the errors of the others, e^{E_j} α_j |v_j − o|.
/// 2. e^e − 1 − e is never negative. For a key's own sources its mean is below e^{V/2} − 1, V = Σ b² (Hoeffding's lemma); what the query adds is
///    below e^E B²/2, with B the lesser of its certain bound and λ times the root of its squares. Signs of v_j − o are kept: the greater of the
///    positive and of the negative part counts. (The rest, of second order and zero mean, is left out.)
/// 3. The η add Σ α_j e^{E_j} (e^{L_j} − 1)|v_j − o|. A key with E_j > 1 is added here whole, with the certain α_j (e^{E_j + L_j} − 1).
/// 4. The denominator is not below 1 − λ √(…) − …, the same sums with 1 for v_j − o, nor below Σ α e^{−E − L}.
/// 5. A weight's store σ_j acts through α'_j v_j, or through α'_j (v_j − o) where the denominator sums stored weights; the greater of the two sums of
///    squares counts. Weights of the last subnormals are not unbiased: those of at most 4 times half the smallest are added linearly.
///
/// 1 and 5 are one sum of squares. It is an expected limit only where it is below the certain one, which it never exceeds. Scores, weights and lse
/// have one source that dominates: for them the two are the same.
#pragma once

#include "attest/oracle/limits_alike.hpp"
#include "attest/oracle/limits_order.hpp"
#include "attest/oracle/limits_query.hpp"

namespace attest {

/// See the head of this file. Arithmetic, facts and certain limits are the caller's, and must stay.
class expected_output {
public:
    expected_output(const arithmetic& a, const row_facts& f, const row_limits& certain, double lambda)
        : a_{a}, f_{f}, certain_{certain}, lambda_{lambda}, core_arithmetic_{detail::without_stores(a)},
          core_(core_arithmetic_, f, detail::expected_rescalings(certain.scores(), lambda), a.query_key > 0 ? a.weight_tiny : 0, &certain) {
        stores_scores_ = a.score > 0 && !f.scores_are_inputs;
        stores_weights_ = a.weight > 0;
        add_entries();
        if (stores_scores_) {
            const format& stored = a.output;
            const auto half_ulp = [&](double value) { return ulp(stored, value) / 2; };
            alike_scaled_ = alike_runs(f.scaled, half_ulp);
            if (has_added_) alike_added_ = alike_runs(std::span(certain.scores()).first(f.weight.size()), half_ulp);
        }
        if (stores_weights_) {
            // Relative widths are those of the score. A weight far below 1 may be subnormal in its format, normalised as it may be.
            double greatest = -detail::infinity_of_double;
            for (const double s : certain.scores()) greatest = std::max(greatest, s);
            const double far = attest::log(a.weight_tiny / a.weight) + 1; // nearer, the first of the two is the greater
            alike_weights_ = alike_runs(certain.scores(), [&](double s) {
                return s - greatest > far ? a.weight : std::max(a.weight, std::min(1.0, a.weight_tiny / attest::exp(std::max(s - greatest, -600.0))));
            });
        }
    }
    expected_output(const expected_output&) = delete;
    expected_output& operator=(const expected_output&) = delete;

    /// What is added up over the entries for one component of the output.
    struct output_sums {
        double moved, all, prefix, lowest, highest, squares, greatest, sizes; // main_sums_call (fast/limit_kernels.hpp)
        double sum_of_sizes, low, high, absolute;                             // size_sums_call
        double operands, operands_apart, tiny, tiny_apart;                    // pair_sums_call, of most · stored, and of tiny
        double above, below, cheap, rounded, of_slope, of_scale;              // score_sums_call
        double scaled_squares, added_squares, squares_through_v, squares_through_x; // alike_call, of own, added and stored
    };
    /// For component e of the output; without `moves` what is stored of the query is taken the cheap way.
    [[nodiscard]] double output(double exact, const output_sums& s, const query_moves* moves, std::size_t e) const {
        return total(s, detail::size_of(exact), exact, moves, e);
    }
    /// The coefficients of those sums, of each entry; those that are empty are all 0. Of `most`, Σ most |v| is added up only where scores are stored; elsewhere
    /// most <= α + raised, and it is bounded by the other sums: by up to a third more where L is near 1, for raised is α L e^L.
    struct output_coefficients {
        std::vector<double> raised, most, operands, tiny, behind, bent, query, alibi, scaled, own, added, stored;
        bool finite = true;
    };
    [[nodiscard]] const double* summed_most() const { return stores_scores_ ? c_.most.data() : nullptr; }
    [[nodiscard]] const output_coefficients& for_output() const { return c_; }
    /// See partial_sums.
    [[nodiscard]] double greatest_random_sum(double all, double squares, double greatest) const {
        return detail::partial_sums::greatest_random(lambda_, all, squares, greatest);
    }
    [[nodiscard]] const alike_runs& alike_scaled() const { return alike_scaled_; }
    [[nodiscard]] const alike_runs& alike_added() const { return alike_added_; }
    [[nodiscard]] const alike_runs& alike_weights() const { return alike_weights_; }

private:
    // exp of what is stored makes, of the rest, and of minus both.
    struct exponentials {
        std::vector<double> bound, rest, down;
    };
    void add_entries() {
        const std::size_t n = certain_.entries();
        const std::vector<double>&rest = core_.log_weights(), &all_errors = certain_.errors(), &core_errors = core_.errors();
        if (!stores_scores_ && !stores_weights_) return add_plain_entries();
        exponentials e{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
        std::vector<double> bound(n);
        for (std::size_t j = 0; j < n; ++j) {
            bound[j] = stores_scores_ ? std::max(all_errors[j] - core_errors[j], 0.0) : 0; // what is stored makes the difference of the two
            e.down[j] = -(bound[j] + rest[j]);
        }
        if (stores_scores_) f_.kernels->exponentials(bound.data(), n, e.bound.data());
        f_.kernels->exponentials(rest.data(), n, e.rest.data());
        f_.kernels->exponentials(e.down.data(), n, e.down.data());
        c_.raised.resize(n);
        c_.most.resize(n);
        if (core_.stored_most() > 0) c_.operands.resize(n);
        if (stores_scores_)
            for (std::vector<double>* x : {&c_.bent, &c_.own, &c_.added, &c_.query, &c_.scaled, &c_.alibi}) x->resize(n);
        if (stores_weights_) {
            c_.stored.resize(n);
            c_.tiny.resize(n);
        }
        bool any_tiny = false;
        for (std::size_t j = 0; j < n; ++j) add_entry(j, bound[j], rest[j], stores_scores_ ? e.bound[j] : 1.0, e.rest[j], e.down[j], any_tiny);
        if (!any_tiny) c_.tiny.clear();
        if (any_tiny && !f_.factor.empty()) {
            c_.behind.resize(n);
            for (std::size_t j = 0; j < f_.factor.size(); ++j) c_.behind[j] = f_.factor[j] > 1 && c_.tiny[j] > 0 ? a_.weight_tiny : 0;
        }
        for (const std::vector<double>* x : {&c_.raised, &c_.most, &c_.operands, &c_.tiny, &c_.bent, &c_.own, &c_.added, &c_.query, &c_.scaled, &c_.alibi, &c_.stored})
            for (const double one : *x) c_.finite &= one - one == 0;
        finish_entries();
    }
    // The same where nothing is stored in 16 bits.
    void add_plain_entries() {
        const std::size_t n = certain_.entries();
        const std::vector<double>&rest = core_.log_weights(), &w = core_.weights();
        const bool needs_most = core_.stored_most() > 0 || of_operands() > 0;
        if (needs_most) c_.most.resize(n);
        c_.raised.resize(n);
        const fast::grown_weights_sums sums =
            f_.kernels->grown_weights({n, w.data(), rest.data(), detail::slack, needs_most ? c_.most.data() : nullptr, c_.raised.data()});
        raised_sum_ = sums.raised;
        low_sum_ = sums.shrunk;
        if (!(sums.greatest_log_weight <= 1)) {
            raised_sum_ = 0;
            for (std::size_t j = 0; j < n; ++j) {
                if (!(rest[j] <= 1)) {
                    c_.raised[j] = certain_.raised_by(j, certain_.log_weights()[j]);
                    if (needs_most) c_.most[j] = w[j] + c_.raised[j];
                }
                raised_sum_ += c_.raised[j];
            }
        }
        c_.finite = raised_sum_ < detail::infinity_of_double;
        if (core_.stored_most() > 0) {
            c_.operands.resize(n);
            for (std::size_t j = 0; j < n; ++j) c_.operands[j] = detail::unfused(c_.most[j] * core_.stored()[j]);
        }
        finish_entries();
    }
    [[nodiscard]] double of_operands() const { return a_.operand_tiny + detail::input_tiny(a_, f_.values); }
    void finish_entries() {
        if (!c_.finite) of_values_ = detail::infinity_of_double;
        if (of_operands() == 0 || !c_.finite) return;
        for (std::size_t j = 0; j < c_.most.size(); ++j)
            of_values_ += detail::unfused(detail::unfused((j < f_.weight.size() ? f_.factor_of(j) : 0) * c_.most[j]) * of_operands());
    }
    void add_entry(std::size_t j, double bound, double rest, double exp_of_bound, double exp_of_rest, double exp_down, bool& any_tiny) {
        const bool is_key = j < f_.weight.size();
        const double w = core_.weights()[j], all = certain_.log_weights()[j];
        const bool small = bound <= 1 && rest <= 1;
        const double grown = small ? exp_of_bound : 1,
                     up = small ? detail::unfused(w * grown * exp_of_rest) : w + certain_.raised_by(j, all);
        c_.most[j] = up;
        const double raised = small ? detail::unfused(w * grown * detail::expm1_above(rest, exp_of_rest)) : up - w;
        c_.raised[j] = raised;
        raised_sum_ += raised;
        low_sum_ += detail::unfused(w * exp_down);
        if (!c_.operands.empty()) c_.operands[j] = detail::unfused(up * core_.stored()[j]);
        if (stores_scores_) {
            score_sources parts;
            double added = 0;
            if (is_key) {
                const score_errors& of = certain_.of_scores();
                parts = of.sources(f_.sizes[j], f_.scaled_size(j), certain_.errors_before_added()[j]);
                added = of.added_source(detail::size_of(f_.score[j]), f_.alibi_size(j), f_.mask_size(j), certain_.errors()[j]);
                has_added_ = has_added_ || added > 0;
            }
            const double by_query = std::min(parts.query_bound, lambda_ * parts.query),
                         variance = detail::unfused(parts.own * parts.own) + detail::unfused(added * added);
            c_.bent[j] = small ? detail::unfused(w * grown * (detail::unfused(by_query * by_query) / 2 + detail::expm1_above(variance / 2))) : 0;
            c_.own[j] = small ? detail::unfused(w * grown * parts.own) : 0;
            c_.added[j] = small ? detail::unfused(w * grown * added) : 0;
            c_.query[j] = small ? detail::unfused(w * parts.query) : 0;
            // Sources that all keys have in common, relative to the scale and to ALiBi's slope.
            c_.scaled[j] = small && is_key ? detail::unfused(a_.query_key * f_.key_alike * w * parts.slope * f_.scaled[j]) : 0;
            c_.alibi[j] = small && is_key ? detail::unfused(a_.score * w * f_.alibi_size(j)) : 0;
            bent_sum_ += c_.bent[j];
        }
        if (!stores_weights_) return;
        const double store = f_.factor.empty() ? certain_.stored()[j] : a_.weight;
        const bool last_subnormals = w <= 4 * a_.weight_tiny;
        c_.stored[j] = !last_subnormals ? std::max(detail::unfused(store * up), a_.weight_tiny) : 0;
        c_.tiny[j] = last_subnormals ? std::min(up, a_.weight_tiny) : 0;
        any_tiny = any_tiny || last_subnormals;
        greatest_store_ = std::max(greatest_store_, store);
    }

    // The least denominator.
    [[nodiscard]] double least_sum(const query_moves* moves) const {
        if (!stores_scores_) return low_sum_;
        if (squares_of_sum_ < 0)
            squares_of_sum_ = alike_scaled_.square([&](std::size_t j) { return c_.own[j]; }) +
                              (has_added_ ? alike_added_.square([&](std::size_t j) { return c_.added[j]; }) : 0);
        if (moves == nullptr) return low_sum_;
        const double by_query = detail::unfused(detail::unfused(a_.query_key * a_.query_key) * moves->square_of_sum());
        return std::max(low_sum_, 1 - detail::unfused(lambda_ * attest::sqrt(squares_of_sum_ + by_query)) - raised_sum_ - bent_sum_ - 0x1p-30);
    }

    [[nodiscard]] double total(const output_sums& s, double o, double exact, const query_moves* moves, std::size_t e) const {
        const double least = least_sum(moves);
        if (!(least > 0)) return detail::infinity_of_double;
        const auto square = [](double x) { return detail::unfused(x * x); };
        // Of the scores, through v − o.
        double of_scores = 0, more = 0;
        if (stores_scores_) {
            of_scores =
                s.scaled_squares + square(s.of_scale) + square(s.of_slope);
            if (has_added_) of_scores += s.added_squares;
            if (moves == nullptr) of_scores += square(s.cheap);
            else {
                of_scores += detail::unfused(square(a_.query_key) * moves->square(e, exact));
                more = detail::unfused(lambda_ * query_moves::rounded * s.rounded);
            }
        }
        const double off = 0x1.001p-31 * s.sizes; // o is only as good as the weights, and v − o is rounded
        const double moved = s.moved + detail::unfused(off * raised_sum_), flushed = detail::flushed(a_, s.sum_of_sizes, certain_.entries(), o);
        const double linear = (moved + flushed + std::max(s.above, s.below) + more) / least;
        const double hull = s.low == s.high ? 0.0 : std::max(std::max(s.high - exact, exact - s.low), 0.0) + detail::unfused(0x1p-52 * o) + off;
        const double by_scores = of_scores / square(least);
        const bool is_cut = !(detail::unfused(lambda_ * attest::sqrt(by_scores)) + linear < hull);
        const double e1 = is_cut ? hull : detail::unfused(lambda_ * attest::sqrt(by_scores)) + linear;
        // Of the weights' stores, through v or through v − o.
        double through_v = 0, through_x = 0;
        if (stores_weights_) {
            const double over = square(least);
            through_v = s.squares_through_v / over;
            through_x = s.squares_through_x / over;
            if (!f_.factor.empty()) { // stored before the factor, and after it
                through_x += through_v;
                through_v *= 2;
            }
        }
        const double sum = core_.sum_error(), all = (stores_scores_ ? s.all : s.sizes + moved + detail::unfused(o * raised_sum_)) / least, roundings = static_cast<double>(certain_.entries()) + core_.rescalings() + 4;
        // Sums in 16 bits' company are off from those of the exact weights.
        const double partial = std::min(all, greatest_partial_sum(s) + (all - s.sizes) + detail::unfused(2 * greatest_store_ * all));
        const double of_values =
            detail::together(core_.factor_error(), detail::together(a_.operand, detail::input_unit(a_, f_.values)));
        const double product =
            detail::unfused(a_.unit * (detail::unfused(roundings * partial) + 4 * all)) / (1 - sum) + detail::unfused(of_values * all);
        const auto added_up = [&](double squares, double linear_part) {
            const double likely = is_cut ? hull + detail::unfused(lambda_ * attest::sqrt(squares))
                                         : linear + detail::unfused(lambda_ * attest::sqrt(by_scores + squares));
            return detail::unfused(likely * (1 + 2 * sum)) + linear_part + detail::unfused(product * (1 + greatest_store_)) +
                   detail::unfused(sum * (o + e1));
        };
        const double alone = added_up(through_v, detail::unfused((1 + of_values) * s.operands / least) + s.tiny / least);
        const double both = added_up(through_x / square(1 - greatest_store_),
                                     (s.operands_apart + s.tiny_apart) / least + detail::unfused(2 * (greatest_store_ + core_greatest_store()) * e1));
        const double absolute = 4 * static_cast<double>(certain_.entries()) * a_.tiny + s.absolute + of_values_ / least;
        return detail::unfused((std::max(alone, both) + detail::unfused(absolute * (1 + 2 * a_.exp_relative))) / (1 - sum) * slack);
    }
    [[nodiscard]] double greatest_partial_sum(const output_sums& s) const {
        return detail::partial_sums(s.prefix, s.lowest, s.highest, s.squares, s.greatest, s.sizes).greatest(lambda_);
    }
    [[nodiscard]] double core_greatest_store() const { return a_.operand; }

    // The signed sums here lose more of what they add up than positive ones: up to √n units of 2^−53 · n.
    static constexpr double slack = 1 + 0x1p-20;

    const arithmetic& a_;
    const row_facts& f_;
    const row_limits& certain_;
    double lambda_;
    arithmetic core_arithmetic_;
    row_limits core_; // without stores in 16 bits, and with the expected number of rescalings
    bool stores_scores_ = false, stores_weights_ = false, has_added_ = false;
    output_coefficients c_;
    double of_values_ = 0, low_sum_ = 0, raised_sum_ = 0, bent_sum_ = 0, greatest_store_ = 0;
    alike_runs alike_scaled_, alike_added_, alike_weights_;
    mutable double squares_of_sum_ = -1;
};

} // namespace attest
