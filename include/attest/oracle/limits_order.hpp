// SPDX-License-Identifier: BSL-1.0
/// \file
/// What orders of summation can do that were fixed before the values were known: how many new maxima a blockwise kernel meets, and how large its
/// partial sums are.
///
/// λ is that of the expected limit: λ²/2 is the logarithm of 2 over the probability that is left to one element.
#pragma once

#include "attest/elementary/log.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/oracle/limits_score.hpp"

#include <span>
#include <vector>

namespace attest::detail {

// The most new maxima, after the first score, on a way over neighbouring scores in order, from anywhere: the longest chain of "the next that is
// greater".
template <class Score> [[nodiscard]] std::size_t longest_climb(std::size_t n, const Score& score) {
    struct step {
        double score;
        std::size_t climb;
    };
    std::vector<step> ahead; // candidates for the next greater one, greatest first
    std::size_t longest = 0;
    for (std::size_t k = n; k-- > 0;) {
        const double s = score(k);
        while (!ahead.empty() && !(ahead.back().score > s)) ahead.pop_back();
        const std::size_t climb = ahead.empty() ? 0 : ahead.back().climb + 1;
        ahead.push_back({s, climb});
        longest = std::max(longest, climb);
    }
    return longest;
}

// Never less than longest_climb, and cheaper. A climb meets at most the rest of the block in which it begins; then, from the next block's first score on,
// the new maxima of that block; and after it, of blocks whose greatest score is new, the scores above the greatest before.
template <class Score> [[nodiscard]] std::size_t bound_of_climb(std::size_t n, const Score& score) {
    constexpr std::size_t block = 16;
    struct step {
        double greatest;
        std::size_t first, climb; // the block's; from its greatest on
    };
    std::vector<step> ahead; // as in longest_climb
    ahead.reserve(n / block + 1);
    std::size_t longest = 0;
    for (std::size_t end = n; end > 0;) {
        const std::size_t first = (end - 1) / block * block;
        double greatest = score(first);
        std::size_t climb = 0, maxima = 1;
        for (std::size_t k = first + 1; k < end; ++k) {
            const double s = score(k);
            maxima += s > greatest ? 1 : 0;
            greatest = s > greatest ? s : greatest;
        }
        while (!ahead.empty() && !(ahead.back().greatest > greatest)) ahead.pop_back();
        if (!ahead.empty()) {
            climb = ahead.back().climb;
            for (std::size_t k = ahead.back().first; k < std::min(n, ahead.back().first + block); ++k) climb += score(k) > greatest ? 1 : 0;
        }
        ahead.push_back({greatest, first, climb});
        longest = std::max(longest, maxima + climb);
        end = first;
    }
    return longest + block;
}

/// Rescalings of a kernel that goes over the keys, or over any stretch of them, in order or in reverse, by blocks of any size (a block's maximum is
/// new only if its element is); or in an order that has nothing to do with the scores: then the k-th score is a new maximum with probability 1/k,
/// independently, so that Bernstein's inequality bounds their number. Never more than n.
[[nodiscard]] inline double expected_rescalings(std::span<const double> score, double lambda) {
    const std::size_t n = score.size();
    if (n == 0) return 0;
    const auto count = static_cast<double>(n);
    const double exponent = unfused(lambda * lambda) / 2, mean = attest::log(count) + 1;
    const double random = mean + exponent / 3 + attest::sqrt(unfused(exponent * exponent) / 9 + unfused(2 * exponent * mean));
    const auto onwards = [&](std::size_t k) { return score[k]; };
    const auto back = [&](std::size_t k) { return score[n - 1 - k]; };
    if (static_cast<double>(std::max(bound_of_climb(n, onwards), bound_of_climb(n, back))) <= random) return std::min(count, random); // neither is more
    return std::min(count, std::max(static_cast<double>(std::max(longest_climb(n, onwards), longest_climb(n, back))), random));
}

/// The greatest partial sum of terms t_j with sum o: of a stretch of neighbours (in order, in reverse, pairwise, blocked, split), the range of the
/// prefix sums; of k terms that were chosen independently of their values, by Bernstein's inequality (sampling without replacement: variance Σt²/4 at
/// most), |o| + λ/2 · √Σt² + λ²/6 · max|t|. Never more than Σ|t|.
class partial_sums {
public:
    partial_sums() = default;
    /// Added up elsewhere: all; the least and the greatest of 0 and the prefix sums; Σt²; max|t|; Σ|t|.
    partial_sums(double prefix, double low, double high, double squares, double greatest, double sizes)
        : prefix_{prefix}, low_{low}, high_{high}, squares_{squares}, greatest_{greatest}, sizes_{sizes} {}
    void add(double term) {
        const double s = term < 0 ? -term : term;
        prefix_ += term;
        low_ = std::min(low_, prefix_);
        high_ = std::max(high_, prefix_);
        squares_ += unfused(term * term);
        greatest_ = std::max(greatest_, s);
        sizes_ += s;
    }
    [[nodiscard]] double greatest(double lambda) const {
        const double sum = prefix_ < 0 ? -prefix_ : prefix_;
        const double random = sum + unfused(lambda / 2 * attest::sqrt(squares_)) + unfused(unfused(lambda * lambda) / 6 * greatest_);
        return std::min(sizes_, std::max(high_ - low_, random));
    }
    [[nodiscard]] double sizes() const { return sizes_; }

private:
    double prefix_ = 0, low_ = 0, high_ = 0, squares_ = 0, greatest_ = 0, sizes_ = 0;
};

} // namespace attest::detail
