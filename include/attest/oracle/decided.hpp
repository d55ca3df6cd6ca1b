// SPDX-License-Identifier: BSL-1.0
/// \file
/// What is known of the elements of one row of attention without enclosures: values that no precision separates from a midpoint or from 0, and the
/// proof that others are none.
///
/// With weights a_j, scores s_j, raw scores r_j, and the groups g of equal scores (decided_scores.hpp):
/// - *A weighted mean* Σ a_j x_j with rational x_j (out: x = f v; D: x = da; a weight: x = 1 at one key) is t just when Σ_g e^{s_g} Σ_{j in g}
///   (x_j − t) = 0. So it is t if the mean of x over every group is t. Where Lindemann and Weierstrass apply (`separated`) the converse holds for
///   algebraic t: if the means differ, it is transcendental.
/// - *ds_j* = a_j (da_j − D) is (da_j − D)/n in a row of one group, and 0 if D = da_j. Else, if Lindemann and Weierstrass apply, it is
///   transcendental: ds_j = t means Σ_{k,l} e^{s_k + s_l} ([k = j](da_j − da_l) − t) = 0. The greatest exponent, twice the greatest score, comes
///   from pairs within one group alone, the least likewise; in that of the two groups that does not hold j, each term is −t. So t = 0, hence D =
///   da_j.
/// - *dq* of a score that is linear in k is σ P with P = Σ_j ds_j k_j. With S, A, B and C the sums of 1, da, k and da·k over a group,
///
///       P (Σ_g S_g e^{s_g})² = Σ_{g,h} (C_g S_h − B_g A_h) e^{s_g + s_h}.
///
///   Where Lindemann and Weierstrass apply, P is rational just when the sums of C_g S_h − B_g A_h over all (g, h) of one s_g + s_h have one ratio
///   to the sums of S_g S_h, which is P; else P is transcendental. Without them, (g, h) and (h, g) together give S_g S_h (c_g + c_h + (ᾱ_g −
///   ᾱ_h)(k̄_g − k̄_h)), with a group's means ᾱ of da and k̄ of k, and its covariance c = mean(da k) − ᾱ k̄. So P = t if each c_g = t and either
///   all ᾱ_g or all k̄_g are equal.
/// - *With a cap* each ds_j is multiplied by h_j = 1 − tanh²(r_j σ/cap), equal within a group, and transcendental for r_j σ ≠ 0. Σ ds_j k_j over
///   a group is a_g S_g (c_g + (ᾱ_g − D) k̄_g): so all is 0 if each c_g = 0 and either all ᾱ_g are equal or all k̄_g are 0. If all r_j are equal, h
///   is a factor of P.
#pragma once

#include "attest/oracle/decided_scores.hpp"

namespace attest {

/// See the head of this file. Keys are numbers j of the visible ones. `in` must stay, with what it refers to. A row without a visible key and sink
/// has gradients 0; its other elements are declared, and unknown here. The first question costs n_k · d_k additions at most, others n_k; all
/// answers are exact.
class decided_row {
public:
    explicit decided_row(const decided_inputs& in) : in_{in}, scores_(in) {}

    [[nodiscard]] exact_fact raw_score(std::size_t j) const { return scores_.raw_score(j); }
    [[nodiscard]] exact_fact score(std::size_t j) const { return scores_.score(j); }
    [[nodiscard]] exact_fact lse() const { return scores_.lse(); }

    /// Before dropout's factor.
    [[nodiscard]] exact_fact weight([[maybe_unused]] std::size_t j) const {
        if (!scores_.finite()) return {};
        const std::size_t n = scores_.entries();
        if (n == 1 || scores_.groups().size() == 1) return exact_fact::of(exact_rational(exact_integer(1), exact_integer(n)));
        return otherwise(); // 1/n_g in one group, 0 in the others
    }

    [[nodiscard]] exact_fact out(std::size_t c) const {
        if (!scores_.finite() || scores_.entries() == 0) return {};
        std::vector<double> x(scores_.entries(), 0.0);
        for (std::size_t j = 0; j < in_.keys(); ++j) {
            const double v = (*in_.v)(in_.visible[j], c);
            if (!(v - v == 0)) return {};
            if (is_kept(j)) x[j] = v;
        }
        const bool constant = std::all_of(x.begin(), x.end(), [&](double one) { return one == x.front(); });
        if (constant) return kept(exact_fact::of(exact_rational(dyadic(x.front()))));
        sum_of_products sum;
        const auto all = common_mean([&](const group& g) {
            for (const std::size_t e : g) sum.add(x[e]);
            return sum.take();
        });
        return all ? kept(exact_fact::of(all->value())) : otherwise();
    }
    /// Whether component c of the output is the rational number t; nothing if that is not known.
    [[nodiscard]] std::optional<bool> out_equals(std::size_t c, const exact_rational& t) const {
        const exact_fact fact = out(c);
        if (fact.what == exact_fact::kind::unknown) return std::nullopt;
        return fact.has_value() && fact.value == t;
    }

    /// Whether all ds_j are 0, and with them what the row gives to dq, dk and the mask's gradient, whatever the score: if all da are equal (a
    /// sink's is 0).
    [[nodiscard]] bool gradient_is_zero() const {
        if (scores_.entries() == 0) return true;
        const auto* const da = gradients();
        return da != nullptr && std::all_of(da->begin(), da->end(), [&](const dyadic& x) { return x == da->front(); });
    }

    /// The gradient of score j, as it enters softmax: what the row gives to an additive mask, and dx of the op softmax.
    [[nodiscard]] exact_fact ds(std::size_t j) const {
        if (gradient_is_zero()) return exact_fact::of(0);
        const auto* const da = gradients();
        if (da == nullptr) return {};
        const std::size_t n = scores_.entries();
        if (const auto& d = mean_gradient()) {
            const dyadic rest = (*da)[j] * dyadic::whole(d->count) - d->sum; // times the count
            if (rest.is_zero()) return exact_fact::of(0);
            if (scores_.groups().size() == 1) return kept(exact_fact::of(exact_rational(rest) / exact_rational(exact_integer(n) * exact_integer(n))));
        }
        return otherwise();
    }

    /// What the row gives to dv_jc: its weight, dropout's factor, and dz_c.
    [[nodiscard]] exact_fact dv(std::size_t j, std::size_t c) const {
        if (!(in_.dz[c] - in_.dz[c] == 0) || !scores_.finite()) return {};
        return kept(times(weight(j), exact_rational(dyadic(is_kept(j) ? in_.dz[c] : 0.0))));
    }

    /// dq_c. The additive score's, and components that RoPE turns: known where it is 0 by the ds alone, or since all keys are one: their ds sum to 0.
    [[nodiscard]] exact_fact dq(std::size_t c) const {
        if (gradient_is_zero()) return exact_fact::of(0);
        if (gradients() == nullptr) return {};
        const auto& same = scores_.same_keys();
        if (!in_.sink && std::all_of(same.begin(), same.end(), [](std::size_t j) { return j == 0; })) return exact_fact::of(0);
        if (!is_linear_in_component(c)) return {};
        bool one_raw = true;
        for (std::size_t e = 1; e < scores_.entries(); ++e) one_raw = one_raw && scores_.counted(e) == scores_.counted(0);
        const auto k = key_component(c);
        // With a cap, h is 1 if all raw scores are 0.
        const auto& raw = scores_.counted(0).value;
        const bool plain = !in_.softcap || (one_raw && raw && raw->is_zero());
        if (plain && scores_.separated() && scores_.groups().size() <= most_groups_in_pairs) {
            const auto p = sum_by_pairs(k);
            if (!p) return in_.scale && *in_.scale == 0 ? exact_fact::of(0) : exact_fact::irrational(); // transcendental, σ algebraic
            return times(kept(exact_fact::of(*p)), in_.scale);
        }
        const auto p = sum_by_means(k, !in_.softcap || one_raw);
        if (!p) return {};
        if (*p == 0 || plain) return times(kept(exact_fact::of(*p)), in_.scale);
        return raw ? exact_fact::irrational() : exact_fact::unknown(); // h is transcendental; of an opaque score who knows
    }

    /// What the row gives to dk_jc, but for the factor σ, which all rows have in common: `times(sum of all rows, in.scale)` is dk_jc. (ds_j q_c, or
    /// ds_j (Wᵀ q)_c.)
    [[nodiscard]] exact_fact dk_before_scale(std::size_t j, std::size_t c) const {
        const exact_fact d = ds(j);
        if (d.is_zero()) return d;
        if (d.what == exact_fact::kind::unknown || in_.score == score_kind::additive) return {};
        if (scores_.query_is_zero()) return exact_fact::of(0);
        if (!is_linear_in_component(c)) return {};
        const exact_rational q(scores_.query().at(c));
        const auto& raw = scores_.counted(j).value;
        if (!in_.softcap || q == 0 || (raw && raw->is_zero())) return times(d, q);
        return raw && d.has_value() ? exact_fact::irrational() : exact_fact::unknown(); // h_j is transcendental
    }

private:
    using group = decided_scores::group;
    // A sum and how many it is the sum of.
    struct mean {
        dyadic sum;
        std::size_t count;
        [[nodiscard]] exact_rational value() const { return exact_rational(sum) / exact_rational(exact_integer(count)); }
        [[nodiscard]] bool is(const dyadic& other_sum, std::size_t other_count) const {
            return sum * dyadic::whole(other_count) == other_sum * dyadic::whole(count);
        }
    };

    [[nodiscard]] bool is_kept(std::size_t j) const { return in_.kept.empty() || in_.kept[j] != 0; }
    [[nodiscard]] exact_fact kept(const exact_fact& x) const { return times(x, in_.keep_scale); }
    // Whether component c of k meets one of q as it is.
    [[nodiscard]] bool is_linear_in_component(std::size_t c) const {
        return in_.score != score_kind::additive && (in_.rotated == 0 || (in_.score != score_kind::bilinear && c >= in_.rotated));
    }
    // What is true of a row of several groups whose means differ.
    [[nodiscard]] exact_fact otherwise() const { return scores_.separated() ? exact_fact::irrational() : exact_fact::unknown(); }

    // The mean that all groups have, of numbers whose sum over a group is given; nothing if two differ.
    template <class SumOf> [[nodiscard]] std::optional<mean> common_mean(const SumOf& sum_of) const {
        const auto& groups = scores_.groups();
        const mean first{sum_of(groups.front()), groups.front().size()};
        for (std::size_t g = 1; g < groups.size(); ++g)
            if (!first.is(sum_of(groups[g]), groups[g].size())) return std::nullopt;
        return first;
    }

    // da of every entry, but for the factor of dropout; nothing where it is not known, since an input is not finite.
    [[nodiscard]] const std::vector<dyadic>* gradients() const {
        if (!looked_) {
            looked_ = true;
            known_ = scores_.finite() && find_gradients();
        }
        return known_ ? &da_ : nullptr;
    }
    [[nodiscard]] bool find_gradients() const {
        if (!detail::all_numbers(in_.dz) || !detail::all_numbers(in_.da)) return false;
        da_.assign(scores_.entries(), dyadic());
        sum_of_products sum;
        for (std::size_t j = 0; j < in_.keys(); ++j) {
            if (in_.v == nullptr) {
                if (is_kept(j)) da_[j] = dyadic(in_.da[j]);
                continue;
            }
            const auto v = detail::row_of(*in_.v, in_.visible[j]);
            if (!detail::all_numbers(v)) return false;
            if (!is_kept(j)) continue;
            for (std::size_t c = 0; c < v.size(); ++c) sum.add(in_.dz[c], v[c]);
            da_[j] = sum.take();
        }
        return true;
    }
    // D, if the means of all groups agree.
    [[nodiscard]] const std::optional<mean>& mean_gradient() const {
        if (!mean_gradient_) mean_gradient_.emplace(common_mean([&](const group& g) { return sum_over(g, da_); }));
        return *mean_gradient_;
    }
    static dyadic sum_over(const group& g, const std::vector<dyadic>& x) {
        dyadic sum;
        for (const std::size_t e : g) sum = sum + x[e];
        return sum;
    }

    // (W k_j)_c, or k_jc; 0 of the sink.
    [[nodiscard]] std::vector<dyadic> key_component(std::size_t c) const {
        std::vector<dyadic> k(scores_.entries());
        sum_of_products sum;
        for (std::size_t j = 0; j < in_.keys(); ++j) {
            const auto row = detail::row_of(*in_.k, in_.visible[j]);
            if (in_.score == score_kind::bilinear) {
                for (std::size_t b = 0; b < row.size(); ++b) sum.add((*in_.w)(c, b), row[b]);
                k[j] = sum.take();
            } else k[j] = dyadic(row[c]);
        }
        return k;
    }
    // P without dropout's factor, by the sums of two scores: nothing if it is transcendental. For a row that is separated.
    static constexpr std::size_t most_groups_in_pairs = 64;
    [[nodiscard]] std::optional<exact_rational> sum_by_pairs(const std::vector<dyadic>& k) const {
        std::vector<dyadic> size, a, b, both;
        for (const group& g : scores_.groups()) {
            size.push_back(dyadic::whole(g.size()));
            a.push_back(sum_over(g, da_));
            b.push_back(sum_over(g, k));
            both.push_back(sum_of_both(g, k));
        }
        if (pairs_.empty()) pairs_ = scores_.pairs_by_sum();
        std::optional<mean> first;
        for (const auto& list : pairs_) {
            dyadic sum;
            std::size_t count = 0;
            for (const auto& [g, h] : list) {
                sum = sum + both[g] * size[h] - b[g] * a[h];
                count += scores_.groups()[g].size() * scores_.groups()[h].size();
            }
            if (!first) first = mean{sum, count};
            else if (!first->is(sum, count)) return std::nullopt;
        }
        return first->value();
    }
    // The same by the means of the groups: nothing if they say nothing. `one_factor`: the derivatives of the cap are equal, or there is no cap;
    // else only 0 is known.
    [[nodiscard]] std::optional<exact_rational> sum_by_means(const std::vector<dyadic>& k, bool one_factor) const {
        const auto key_mean = common_mean([&](const group& g) { return sum_over(g, k); });
        if (!mean_gradient() && (!key_mean || (!one_factor && !key_mean->sum.is_zero()))) return std::nullopt;
        // The covariance of a group, times the square of its size.
        const auto covariance = [&](const group& g) { return sum_of_both(g, k) * dyadic::whole(g.size()) - sum_over(g, da_) * sum_over(g, k); };
        const auto& groups = scores_.groups();
        const mean first{covariance(groups.front()), groups.front().size() * groups.front().size()};
        if (!one_factor && !first.sum.is_zero()) return std::nullopt;
        for (const group& g : groups)
            if (!first.is(covariance(g), g.size() * g.size())) return std::nullopt;
        return first.value();
    }
    [[nodiscard]] dyadic sum_of_both(const group& g, const std::vector<dyadic>& k) const {
        dyadic sum;
        for (const std::size_t e : g) sum = sum + da_[e] * k[e];
        return sum;
    }

    const decided_inputs& in_;
    decided_scores scores_;
    mutable bool looked_ = false, known_ = false;
    mutable std::vector<dyadic> da_;
    mutable std::vector<decided_scores::pairs> pairs_;
    mutable std::optional<std::optional<mean>> mean_gradient_;
};

} // namespace attest
