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

// Never less than longest_climb forwards and backwards, and cheaper: of blocks of 8. A climb meets at most the rest of the block in which it begins; then at
// most all of the next one; and after it, of blocks whose greatest score is new, the scores above the greatest before.
[[nodiscard]] inline std::size_t bound_of_climbs(std::span<const double> score) {
    constexpr std::size_t size = 8;
    const std::size_t blocks = (score.size() + size - 1) / size;
    std::vector<double> greatest(blocks);
    for (std::size_t b = 0; b < score.size() / size; ++b) {
        const double* const s = score.data() + b * size;
        greatest[b] = std::max(std::max(std::max(s[0], s[1]), std::max(s[2], s[3])), std::max(std::max(s[4], s[5]), std::max(s[6], s[7])));
    }
    if (score.size() % size != 0) greatest.back() = *std::max_element(score.end() - static_cast<std::ptrdiff_t>(score.size() % size), score.end());
    const auto above = [&](std::size_t b, double least) {
        const double* const s = score.data() + b * size;
        const auto is = [&](std::size_t k) { return s[k] > least ? std::size_t{1} : std::size_t{0}; };
        if ((b + 1) * size <= score.size()) return ((is(0) + is(1)) + (is(2) + is(3))) + ((is(4) + is(5)) + (is(6) + is(7)));
        std::size_t count = 0;
        for (std::size_t k = 0; b * size + k < score.size(); ++k) count += is(k);
        return count;
    };
    struct step {
        std::size_t block, climb; // from the block's greatest on
    };
    std::vector<step> ahead(blocks); // as in longest_climb
    std::size_t longest = 0;
    for (const bool forwards : {true, false}) {
        std::size_t depth = 0;
        for (std::size_t k = blocks; k-- > 0;) {
            const std::size_t b = forwards ? k : blocks - 1 - k;
            while (depth > 0 && !(greatest[ahead[depth - 1].block] > greatest[b])) --depth;
            const std::size_t climb = depth == 0 ? 0 : ahead[depth - 1].climb + above(ahead[depth - 1].block, greatest[b]);
            ahead[depth++] = {b, climb};
            longest = std::max(longest, climb);
        }
    }
    return longest + 2 * size;
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
    if (static_cast<double>(bound_of_climbs(score)) <= random) return std::min(count, random); // neither is more
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
        return std::min(sizes_, std::max(high_ - low_, greatest_random(lambda, prefix_, squares_, greatest_)));
    }
    // Of terms chosen independently of their values.
    [[nodiscard]] static double greatest_random(double lambda, double all, double squares, double greatest) {
        const double sum = all < 0 ? -all : all;
        return sum + unfused(lambda / 2 * attest::sqrt(squares)) + unfused(unfused(lambda * lambda) / 6 * greatest);
    }
    [[nodiscard]] double sizes() const { return sizes_; }

private:
    double prefix_ = 0, low_ = 0, high_ = 0, squares_ = 0, greatest_ = 0, sizes_ = 0;
};

} // namespace attest::detail
