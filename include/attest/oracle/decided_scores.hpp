// SPDX-License-Identifier: BSL-1.0
/// \file
/// The scores of one row of attention in exact arithmetic: which of them are equal, and what else is known of them without enclosures.
///
/// A score is s_j = g(r_j σ) + m_j − λ t_j with the raw score r_j, the scale σ, g(x) = x or cap · tanh(x/cap), a mask's bias m_j, and ALiBi's slope
/// λ times the distance t_j. All inputs are doubles. q · k and qᵀ W k are rational; tanh(W_1 k + W_2 q) and what RoPE turns are not, but equal keys
/// (at equal positions) have equal raw scores: those are *opaque*. An attention sink is one more entry of the row with r = 0 and t = 0, whose bias
/// is its logit, and whose value and key are 0.
///
/// What the facts rest on:
/// - σ is rational, or 1/√d with d no square, which is irrational; λ is rational, or a power of 2 with a fraction as its exponent, irrational and
///   algebraic. If one of the two at most is irrational, then s = s' just when the parts agree: for rational σ and λ the numbers themselves; for
///   irrational σ both r = r' and m − λt = m' − λt', since otherwise σ = (m' − λt' − m + λt)/(r − r') would be rational; for irrational λ likewise.
/// - tanh x is transcendental for algebraic x ≠ 0: e^2x = (1 + tanh x)/(1 − tanh x) is, by Lindemann's theorem.
/// - Lindemann and Weierstrass: for distinct algebraic numbers s_1, …, s_G the numbers e^{s_1}, …, e^{s_G} are linearly independent over the
///   algebraic numbers.
#pragma once

#include "attest/oracle/decided_inputs.hpp"
#include "attest/oracle/exact_fact.hpp"

#include <map>

namespace attest {

/// See the head of this file. What is asked for is computed once. Where an input that counts is not finite, nothing is known.
class decided_scores {
public:
    explicit decided_scores(const decided_inputs& in) : in_{in} {}
    decided_scores(const decided_scores&) = delete;
    decided_scores& operator=(const decided_scores&) = delete;

    /// Keys, and the sink if there is one.
    [[nodiscard]] std::size_t entries() const { return in_.keys() + (in_.sink ? 1 : 0); }

    /// r_j, where it is rational; q · k where RoPE turns neither, or both alike, or a zero; 0 of zeros.
    [[nodiscard]] exact_fact raw_score(std::size_t j) const {
        if (!finite()) return {};
        const auto& raw = raws().at(j).value;
        return raw ? exact_fact::of(exact_rational(*raw)) : exact_fact::unknown();
    }

    /// s_j. A rational number if r_j σ is (or 0, where it is capped) and λ t_j; irrational if just one of r_j σ and λ t_j is; with a cap
    /// transcendental for r_j σ ≠ 0.
    [[nodiscard]] exact_fact score(std::size_t j) const {
        if (!finite()) return {};
        const std::optional<dyadic>& raw = counted(j).value;
        if (!raw) return {};
        const bool sloped = !in_.slope && distance(j) != 0; // −λ t_j is irrational
        const exact_rational bias(bias_with_slope(j));
        if (raw->is_zero()) return sloped ? exact_fact::irrational() : exact_fact::of(bias);
        if (in_.softcap) return exact_fact::irrational(); // transcendental and algebraic
        if (!in_.scale) return sloped ? exact_fact::unknown() : exact_fact::irrational();
        return sloped ? exact_fact::irrational() : exact_fact::of(exact_rational(*raw) * *in_.scale + bias);
    }

    /// log Σ_j e^{s_j}: the score of a single entry. If all scores are algebraic and there are two entries at least, it is transcendental: were it
    /// an algebraic number t, then Σ_g n_g e^{s_g} − e^t = 0 with distinct s_g that n_g entries share. By Lindemann and Weierstrass each
    /// coefficient is 0, that of e^t being n_g − 1 or −1: so there is one group, and it has one entry.
    [[nodiscard]] exact_fact lse() const {
        if (!finite() || entries() == 0) return {};
        if (entries() == 1) return score(0);
        for (std::size_t e = 0; e < entries(); ++e)
            if (const auto& raw = counted(e).value; !raw || (in_.softcap && !raw->is_zero())) return {};
        return exact_fact::irrational();
    }

    /// Entries of equal scores, in the order of their first.
    using group = std::vector<std::size_t>;
    [[nodiscard]] const std::vector<group>& groups() const {
        if (groups_.empty()) find_groups();
        return groups_;
    }
    /// Whether entries of different groups are known to have different scores, and all scores to be algebraic but for one number that is added to
    /// each: then Lindemann and Weierstrass apply to Σ_j c_j e^{s_j}, and it is 0 for algebraic c_j just when Σ c_j is 0 over each group.
    [[nodiscard]] bool separated() const {
        (void)groups();
        return separated_;
    }

    /// Pairs (g, h) of groups, in both orders, by the sum of their scores: those of one list have equal sums. Where `separated`, those of different
    /// lists have different sums, since the parts of which scores are made agree just when the sums do.
    using pairs = std::vector<std::pair<std::size_t, std::size_t>>;
    [[nodiscard]] std::vector<pairs> pairs_by_sum() const {
        (void)groups();
        const auto before = [](const score_parts& a, const score_parts& b) { return order(a, b) < 0; };
        std::map<score_parts, std::size_t, decltype(before)> number(before);
        std::vector<pairs> lists;
        for (std::size_t g = 0; g < parts_.size(); ++g)
            for (std::size_t h = 0; h < parts_.size(); ++h) {
                const std::size_t list = number.emplace(sum_of(parts_[g], parts_[h]), lists.size()).first->second;
                if (list == lists.size()) lists.emplace_back();
                lists[list].emplace_back(g, h);
            }
        return lists;
    }

    /// Whether all that goes into the scores is a number.
    [[nodiscard]] bool finite() const {
        if (!finite_) finite_ = all_finite();
        return *finite_;
    }

    /// A raw score: its value, or of opaque ones the same number for equal ones.
    struct raw_of_entry {
        std::optional<dyadic> value;
        std::size_t opaque = 0;
        friend bool operator==(const raw_of_entry& a, const raw_of_entry& b) { return a.value == b.value && (a.value || a.opaque == b.opaque); }
    };
    /// Of each entry.
    [[nodiscard]] const std::vector<raw_of_entry>& raws() const {
        if (raws_.empty()) find_raws();
        return raws_;
    }
    /// What counts of it: 0 where σ is.
    [[nodiscard]] const raw_of_entry& counted(std::size_t e) const { return in_.scale && *in_.scale == 0 ? zero_ : raws().at(e); }
    /// Of each key the number of the first key that is the same (at the same position).
    [[nodiscard]] const std::vector<std::size_t>& same_keys() const {
        if (same_.empty()) find_same_keys();
        return same_;
    }
    /// (Wᵀ q)_c, or q_c: r_j = Σ_c of it times k_jc.
    [[nodiscard]] const std::vector<dyadic>& query() const {
        if (query_.empty()) find_query();
        return query_;
    }
    [[nodiscard]] bool query_is_zero() const { return detail::all_zero(in_.q); }

private:
    [[nodiscard]] std::span<const double> key(std::size_t j) const { return detail::row_of(*in_.k, in_.visible[j]); }
    [[nodiscard]] double distance(std::size_t e) const { return e < in_.distance.size() ? in_.distance[e] : 0; }
    // m, and −λ t where that is rational.
    [[nodiscard]] dyadic bias_with_slope(std::size_t e) const {
        if (e >= in_.keys()) return dyadic(*in_.sink);
        dyadic m = in_.bias.empty() ? dyadic() : dyadic(in_.bias[e]);
        if (in_.slope && distance(e) != 0) m = m - dyadic(*in_.slope) * dyadic(distance(e));
        return m;
    }

    [[nodiscard]] bool all_finite() const {
        for (const std::span<const double> given : {in_.q, in_.bias, in_.distance, in_.positions})
            if (!detail::all_numbers(given)) return false;
        if (in_.sink && !detail::all_numbers({&*in_.sink, 1})) return false;
        if (in_.slope && !detail::all_numbers({&*in_.slope, 1})) return false;
        if (in_.score == score_kind::additive && !in_.additive_is_finite) return false;
        if (in_.score == score_kind::bilinear)
            for (std::size_t a = 0; a < in_.w->length(0); ++a)
                if (!detail::all_numbers(detail::row_of(*in_.w, a))) return false;
        if (in_.k != nullptr)
            for (std::size_t j = 0; j < in_.keys(); ++j)
                if (!detail::all_numbers(key(j))) return false;
        return true;
    }

    void find_same_keys() const {
        const auto before = [&](std::size_t a, std::size_t b) {
            if (in_.rotated != 0 && in_.positions[a] != in_.positions[b]) return in_.positions[a] < in_.positions[b];
            const auto x = key(a), y = key(b);
            return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
        };
        std::map<std::size_t, std::size_t, decltype(before)> first(before);
        for (std::size_t j = 0; j < in_.keys(); ++j) same_.push_back(first.emplace(j, j).first->second);
    }

    void find_query() const {
        if (in_.score != score_kind::bilinear) {
            for (const double c : in_.q) query_.emplace_back(c);
            return;
        }
        sum_of_products sum;
        for (std::size_t c = 0; c < in_.w->length(1); ++c) {
            for (std::size_t a = 0; a < in_.q.size(); ++a) sum.add(in_.q[a], (*in_.w)(a, c));
            query_.push_back(sum.take());
        }
    }

    // Whether RoPE leaves the query's part of the raw score as it is: it turns by 0, or turns zeros.
    [[nodiscard]] bool raw_is_rational(std::size_t j) const {
        if (in_.score == score_kind::additive) return false;
        if (in_.rotated == 0) return true;
        const bool zero_q = detail::all_zero(in_.q.first(in_.rotated)), zero_k = detail::all_zero(key(j).first(in_.rotated));
        // W mixes components, so both must stay as they are. Without it turned zeros add nothing, and rotations by the same angles cancel.
        if (in_.score == score_kind::bilinear) return query_is_zero() || ((zero_q || in_.position == 0) && (zero_k || in_.positions[j] == 0));
        return zero_q || zero_k || in_.position == in_.positions[j];
    }

    void find_raws() const {
        raws_.assign(entries(), {dyadic(), 0});
        if (in_.k == nullptr || (in_.score != score_kind::additive && query_is_zero())) return;
        sum_of_products sum;
        for (std::size_t j = 0; j < in_.keys(); ++j) {
            if (same_keys()[j] != j) {
                raws_[j] = raws_[same_keys()[j]];
            } else if (!raw_is_rational(j)) {
                raws_[j] = {std::nullopt, j};
            } else if (in_.score == score_kind::bilinear) {
                for (std::size_t c = 0; c < query().size(); ++c) raws_[j].value = *raws_[j].value + query()[c] * dyadic(key(j)[c]);
            } else {
                for (std::size_t c = 0; c < in_.q.size(); ++c) sum.add(in_.q[c], key(j)[c]);
                raws_[j].value = sum.take();
            }
        }
    }

    // What two entries agree in just when their scores are known to be equal.
    struct score_parts {
        raw_of_entry raw;
        dyadic rest;
        double distance = 0; // where λ is irrational
    };
    static int order(const score_parts& a, const score_parts& b) {
        if (a.raw.value.has_value() != b.raw.value.has_value()) return a.raw.value ? 1 : -1;
        if (a.raw.value)
            if (const int raw = dyadic::order(*a.raw.value, *b.raw.value); raw != 0) return raw;
        if (!a.raw.value && a.raw.opaque != b.raw.opaque) return a.raw.opaque < b.raw.opaque ? -1 : 1;
        if (a.distance != b.distance) return a.distance < b.distance ? -1 : 1;
        return dyadic::order(a.rest, b.rest);
    }

    static score_parts sum_of(const score_parts& a, const score_parts& b) {
        score_parts sum{a.raw, a.rest + b.rest, a.distance + b.distance}; // if one raw score is opaque, all are the same one
        if (a.raw.value) sum.raw.value = *a.raw.value + *b.raw.value;
        return sum;
    }

    void find_groups() const {
        const bool sloped = !in_.slope && !in_.distance.empty();
        const auto before = [](const score_parts& a, const score_parts& b) { return order(a, b) < 0; };
        std::map<score_parts, std::size_t, decltype(before)> number(before);
        bool same_raw = true, same_distance = true, all_rational = true;
        // All scores times the denominator of σ are dyadic.
        const dyadic above = in_.scale ? dyadic(numerator(*in_.scale), 0) : dyadic();
        const dyadic below = in_.scale ? dyadic(denominator(*in_.scale), 0) : dyadic();
        for (std::size_t e = 0; e < entries(); ++e) {
            const raw_of_entry& raw = counted(e);
            same_raw = same_raw && raw == counted(0);
            same_distance = same_distance && distance(e) == distance(0);
            all_rational = all_rational && raw.value;
            score_parts parts{raw, bias_with_slope(e), sloped ? distance(e) : 0};
            if (raw.value && in_.scale && !in_.softcap) {
                parts.rest = *raw.value * above + parts.rest * below;
                parts.raw.value = dyadic();
            }
            const std::size_t g = number.emplace(parts, groups_.size()).first->second;
            if (g == groups_.size()) {
                groups_.emplace_back();
                parts_.push_back(std::move(parts));
            }
            groups_[g].push_back(e);
        }
        // Equal raw scores: g(rσ) is the number that is added to each, and the rest m − λt differs where its parts do. Without a cap and opaque
        // scores all are algebraic.
        separated_ = same_raw || (!in_.softcap && all_rational && (in_.scale || !sloped || same_distance));
    }

    const decided_inputs& in_;
    raw_of_entry zero_{dyadic(), 0};
    mutable std::optional<bool> finite_;
    mutable std::vector<raw_of_entry> raws_;
    mutable std::vector<std::size_t> same_;
    mutable std::vector<dyadic> query_;
    mutable std::vector<group> groups_;
    mutable std::vector<score_parts> parts_; // of each group
    mutable bool separated_ = false;
};

} // namespace attest
