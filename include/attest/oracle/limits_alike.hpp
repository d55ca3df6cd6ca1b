// SPDX-License-Identifier: BSL-1.0
/// \file
/// Rounding errors of values that round alike: equal values have equal errors, and values closer than the grid that they are rounded to have errors
/// that differ by their distance, but for a jump where the point between two grid points lies among them.
///
/// The expected limit takes errors for independent. So the values of a row are sorted and cut into runs, at most 1/16 of a ULP wide each; a run is
/// one error, and the squares of runs add up. Within a run, with a_j = b · ∂output/∂value_j, partial sums P_t in order and T = Σ a_j, the errors are
/// −b up to some t and +b from there (or no jump: t = 0), and each is off that by no more than the run's spread, so that
///
///     |Σ error_j ∂output/∂value_j|  <=  max over t of |T − 2 P_t|  +  (spread / b) Σ |a_j|,
///
/// and not less than the root of Σ a_j² is taken. Adjacent runs of one ULP, of which there are up to 32 (of weights: 16 ULP of a binade's end are 32
/// of its start), may still round alike. Then their sum is at most √32 times the root of the sum of their squares, and λ, which multiplies that, is
/// never below 6.
#pragma once

#include "attest/fast/limit_kernels.hpp"
#include "attest/oracle/limits_score_sizes.hpp"

#include <array>
#include <utility>

namespace attest {

namespace detail {

/// Indices by ascending value; of equal values, by ascending index. A radix sort: by the bits of the values, last byte first, which leaves equals in order.
[[nodiscard]] inline std::vector<std::uint32_t> ascending_order(std::span<const double> value) {
    struct entry {
        std::uint64_t bits;
        std::uint32_t index;
    };
    const std::size_t n = value.size();
    std::vector<entry> from(n), to(n);
    std::array<std::array<std::uint32_t, 256>, 8> count{};
    for (std::size_t j = 0; j < n; ++j) {
        const auto bits = std::bit_cast<std::uint64_t>(value[j] + 0.0); // one zero
        from[j] = {bits >> 63 != 0 ? ~bits : bits | std::uint64_t{1} << 63, static_cast<std::uint32_t>(j)};
        for (std::size_t digit = 0; digit < 8; ++digit) ++count[digit][from[j].bits >> 8 * digit & 255];
    }
    for (std::size_t digit = 0; digit < 8 && n > 0; ++digit) {
        if (count[digit][from[0].bits >> 8 * digit & 255] == n) continue; // all have the same
        std::uint32_t first = 0;
        for (std::uint32_t& c : count[digit]) first += std::exchange(c, first);
        for (const entry& e : from) to[count[digit][e.bits >> 8 * digit & 255]++] = e;
        from.swap(to);
    }
    std::vector<std::uint32_t> order(n);
    for (std::size_t j = 0; j < n; ++j) order[j] = from[j].index;
    return order;
}

} // namespace detail

/// See the head of this file.
class alike_runs {
public:
    alike_runs() = default;
    /// `half_ulp(value)`: of the grid that a value is rounded to, in the unit of the values.
    template <class HalfUlp> alike_runs(std::span<const double> value, const HalfUlp& half_ulp) : order_{detail::ascending_order(value)} {
        for (std::size_t first = 0; first < order_.size();) {
            const double start = value[order_[first]], b = half_ulp(start);
            std::size_t last = first + 1;
            while (last < order_.size() && value[order_[last]] - start <= b / 8) ++last;
            const double spread = value[order_[last - 1]] - start;
            runs_.push_back({static_cast<std::uint32_t>(last), spread > 0 ? spread / b : 0});
            first = last;
        }
    }

    /// Σ over runs of the square of what the run may do; `a(j)` as above.
    template <class Amplitude> [[nodiscard]] double square(const Amplitude& a) const {
        double sum = 0;
        std::size_t first = 0;
        for (const run& r : runs_) {
            if (r.end - first == 1) {
                const double one = a(order_[first]);
                sum += detail::unfused(one * one);
            } else sum += square_of(a, first, r);
            first = r.end;
        }
        return sum;
    }

    /// The same as the kernel fast::alike_call takes it.
    [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }
    [[nodiscard]] std::span<const fast::alike_run> runs() const { return runs_; }

private:
    using run = fast::alike_run; // spread in units of b
    template <class Amplitude> [[nodiscard]] double square_of(const Amplitude& a, std::size_t first, const run& r) const {
        double total = 0, squares = 0, sizes = 0;
        for (std::size_t k = first; k < r.end; ++k) {
            const double one = a(order_[k]);
            total += one;
            squares += detail::unfused(one * one);
            sizes += detail::size_of(one);
        }
        double partial = 0, greatest = detail::size_of(total);
        if (r.spread > 0) // equal values do not part
            for (std::size_t k = first; k < r.end; ++k) {
                partial += a(order_[k]);
                greatest = std::max(greatest, detail::size_of(total - 2 * partial));
            }
        const double moved = std::max(greatest, attest::sqrt(squares)) + detail::unfused(r.spread * sizes);
        return detail::unfused(moved * moved);
    }

    std::vector<std::uint32_t> order_;
    std::vector<run> runs_;
};

/// How far all of a matrix's stored elements round alike: the root of Σ_m p_m², p_m being the share of the elements with fraction m in the sum of
/// squares. 1 for a matrix of ±1, about 1/11 for random bf16.
[[nodiscard]] inline double share_of_fractions(std::span<const double> x) {
    std::vector<std::pair<double, double>> squares; // fraction, square
    squares.reserve(x.size());
    double greatest = 0;
    for (const double value : x) greatest = std::max(greatest, detail::size_of(value));
    if (greatest == 0 || !(greatest < detail::infinity_of_double)) return 1;
    for (const double value : x) {
        const double relative = value / greatest;
        squares.emplace_back(detail::fraction_of(value), detail::unfused(relative * relative));
    }
    std::sort(squares.begin(), squares.end());
    double total = 0, shares = 0;
    for (std::size_t first = 0; first < squares.size();) {
        double sum = 0;
        std::size_t k = first;
        for (; k < squares.size() && squares[k].first == squares[first].first; ++k) sum += squares[k].second;
        total += sum;
        shares += detail::unfused(sum * sum);
        first = k;
    }
    return std::min(1.0, attest::sqrt(shares) / total * detail::slack);
}

} // namespace attest
