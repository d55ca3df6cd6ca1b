// SPDX-License-Identifier: BSL-1.0
/// \file
/// Error sources that round alike, as in limits_alike.hpp, with many effects each: a source of dS_ij acts on all d components of dq_i.
///
/// Values are sorted by size (opposite values have opposite errors) and cut into runs of at most 1/16 of a ULP. In a run with effects x_l (bound
/// times signed derivative, times the value's sign), their sum T and partial sums P_t in order, the errors add up to at most
///
///     max over t of |T − 2 P_t|  +  (spread/b) Σ |x_l|,    and not less than √Σ x_l² is taken;
///
/// the squares of runs are summed. Where values are the same, T stands for the maximum. That runs are independent is an assumption of the expected
/// limit.
///
/// Sums over n·d terms are what limits cost, so they must be loops that compilers can vectorise, and still give the same bits with and without fused
/// multiply-add. Both hold where all factors have at most 26 bits (`brief`): the product of two is exact, and fusing it changes nothing.
#pragma once

#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/unfused.hpp"
#include "attest/elementary/sqrt.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace attest::detail {

/// x cut to 26 significant bits, and to 0 below 2^−480, where products of two would leave the normal range and no longer be exact.
constexpr double brief(double x) noexcept {
    const double cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x7ffffff});
    return (cut < 0 ? -cut : cut) < 0x1p-480 ? 0.0 : cut;
}
/// For bounds: at least x, for x >= 0, in 26 bits; 0 stays 0.
constexpr double brief_above(double x) noexcept {
    if (x == 0) return 0;
    const double up = std::bit_cast<double>((std::bit_cast<std::uint64_t>(x) + 0x7ffffff) & ~std::uint64_t{0x7ffffff});
    return up < 0x1p-480 ? 0x1p-480 : up;
}

/// The greatest error of storing a number of size up to x: half a ULP, but never more than the number itself, which rounding to nearest does not
/// move farther than to 0. Infinity where it may overflow.
[[nodiscard]] constexpr double store_error(const format& f, double x) noexcept {
    if (!(x <= f.greatest())) return infinity_of_double;
    return std::min(ulp(f, x) / 2, x);
}

/// See the head of this file.
class alike_sources {
public:
    /// `value(l)`: what is stored; `noise(l)`: how far the computed value may be from it; l from 0 to n − 1.
    template <class Value, class Noise> void sort(const format& stored, std::size_t n, const Value& value, const Noise& noise) {
        entries_.resize(n);
        for (std::size_t l = 0; l < n; ++l) {
            const double v = value(l), size = v < 0 ? -v : v, off = noise(l), far = size + off;
            // A value below its own noise is the noise, which is mostly common to many: the sign is not its own any more.
            entries_[l] = {size, far <= stored.greatest() ? ulp(stored, far) / 2 : infinity_of_double, static_cast<std::uint32_t>(l),
                           v < 0 && size > off};
        }
        cut();
    }
    /// What is alike by another measure: `value(l)`, to within `unit(l)` of rounding.
    template <class Value, class Unit> void sort_by(std::size_t n, const Value& value, const Unit& unit) {
        entries_.resize(n);
        for (std::size_t l = 0; l < n; ++l) entries_[l] = {value(l), unit(l), static_cast<std::uint32_t>(l), false};
        cut();
    }

    /// The sum of squares of what runs may do, for one effect x(l) a source.
    template <class X> [[nodiscard]] double square(const X& x) {
        double total = 0;
        add_squares({&total, 1}, [&](std::size_t l, double sign, double* effect) { *effect = sign * x(l); });
        return total;
    }

    /// The same for d effects a source, added to `totals`. `fill(l, sign, x)` writes sign·x_0 … sign·x_{d−1}, each a sum of products of numbers in
    /// 26 bits.
    template <class Fill> void add_squares(std::span<double> totals, const Fill& fill) {
        const std::size_t d = totals.size();
        effect_.assign(d, 0);
        clear(d);
        entry start{}; // of the run
        for (const entry& e : entries_) {
            if (e.first) start = e;
            fill(e.source, e.negative ? -1.0 : 1.0, effect_.data());
            if (e.first && e.last) { // alone, the common case
                for (std::size_t c = 0; c < d; ++c) {
                    const double t = brief(effect_[c]);
                    totals[c] += t * t;
                }
                continue;
            }
            for (std::size_t c = 0; c < d; ++c) {
                const double t = brief(effect_[c]);
                sum_[c] += t;
                low_[c] = std::min(low_[c], sum_[c]);
                high_[c] = std::max(high_[c], sum_[c]);
                squares_[c] += t * t;
                sizes_[c] += t < 0 ? -t : t;
            }
            if (!e.last) continue;
            const double spread = e.size - start.size, relative = spread > 0 ? spread / start.half_ulp : 0;
            for (std::size_t c = 0; c < d; ++c) {
                double most = sum_[c] < 0 ? -sum_[c] : sum_[c];
                if (spread > 0) most = std::max(most, std::max(sum_[c] - 2 * low_[c], 2 * high_[c] - sum_[c]));
                const double moved = brief_above(std::max(most, attest::sqrt(squares_[c])) + unfused(relative * sizes_[c]));
                totals[c] += moved * moved;
            }
            clear(d);
        }
    }

private:
    struct entry {
        double size, half_ulp;
        std::uint32_t source;
        bool negative;
        bool first = false, last = false; // of its run
    };

    void cut() {
        std::sort(entries_.begin(), entries_.end(),
                  [](const entry& a, const entry& b) { return a.size < b.size || (a.size == b.size && a.source < b.source); });
        std::size_t first = 0;
        for (std::size_t at = 0; at < entries_.size(); ++at) {
            entries_[at].first = at == 0 || !(entries_[at].size - entries_[first].size <= entries_[first].half_ulp / 8);
            if (!entries_[at].first) continue;
            if (at > 0) entries_[at - 1].last = true;
            first = at;
        }
        if (!entries_.empty()) entries_.back().last = true;
    }
    void clear(std::size_t d) {
        for (std::vector<double>* x : {&sum_, &low_, &high_, &squares_, &sizes_}) x->assign(d, 0);
    }

    std::vector<entry> entries_;
    std::vector<double> effect_, sum_, low_, high_, squares_, sizes_;
};

} // namespace attest::detail
