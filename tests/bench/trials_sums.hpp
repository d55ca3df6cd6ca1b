// SPDX-License-Identifier: BSL-1.0
// Sums of products in every order that a kernel may take, for many columns at once: all of attention's matrix products are of this form.
#pragma once

#include "oracle/kernels.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace trials {

// `lanes`: term t goes to lane t mod `width`, as in vector units. `blocked`: runs of `width` terms are summed each. `shuffled`: one permutation for each number of terms, drawn once,
// whatever the values are.
enum class summing { sequential, reversed, shuffled, lanes, blocked, pairwise };

struct sum_style {
    summing order = summing::sequential;
    std::size_t width = 8;
    bool fma = false;
    std::uint64_t seed = 1;

    [[nodiscard]] std::string text() const {
        const char* names[] = {"sequential", "reversed", "shuffled", "lanes ", "blocked ", "pairwise"};
        return names[static_cast<int>(order)] + (order == summing::lanes || order == summing::blocked ? std::to_string(width) : "") + (fma ? " fma" : "");
    }
};

template <class T> class sums {
public:
    explicit sums(const sum_style& how) : how_{how} {}

    // to_c += Σ_t weight_t row_tc over n rows of d numbers; `stride`: from one row to the next. A chain continues what `to` holds; other orders make their own sum and add it.
    void add(const T* weight, const T* row, std::size_t stride, std::size_t n, std::size_t d, T* to) {
        if (n == 0) return;
        switch (how_.order) {
        case summing::sequential:
            for (std::size_t t = 0; t < n; ++t) step(weight[t], row + t * stride, d, to);
            return;
        case summing::reversed:
            for (std::size_t t = n; t-- > 0;) step(weight[t], row + t * stride, d, to);
            return;
        case summing::shuffled:
            for (const std::uint32_t t : permutation(n)) step(weight[t], row + t * stride, d, to);
            return;
        case summing::lanes: {
            const std::size_t lanes = std::min(how_.width, n);
            parts_.assign(lanes * d, T(0));
            for (std::size_t t = 0; t < n; ++t) step(weight[t], row + t * stride, d, parts_.data() + (t % lanes) * d);
            for (std::size_t apart = 1; apart < lanes; apart *= 2)
                for (std::size_t lane = 0; lane + apart < lanes; lane += 2 * apart) plus(parts_.data() + lane * d, parts_.data() + (lane + apart) * d, d);
            plus(to, parts_.data(), d);
            return;
        }
        case summing::blocked:
            for (std::size_t first = 0; first < n; first += how_.width) {
                parts_.assign(d, T(0));
                for (std::size_t t = first; t < std::min(n, first + how_.width); ++t) step(weight[t], row + t * stride, d, parts_.data());
                plus(to, parts_.data(), d);
            }
            return;
        case summing::pairwise: pairwise(weight, row, stride, n, d, to); return;
        }
    }
    void of_products(const T* weight, const T* row, std::size_t stride, std::size_t n, std::size_t d, T* to) {
        std::fill_n(to, d, T(0));
        add(weight, row, stride, n, d, to);
    }
    T dot(const T* a, const T* b, std::size_t n) {
        T sum = 0;
        add(a, b, 1, n, 1, &sum);
        return sum;
    }
    T of(const std::vector<T>& x) {
        if (ones_.size() < x.size()) ones_.assign(x.size(), T(1));
        return dot(ones_.data(), x.data(), x.size());
    }

private:
    void step(T weight, const T* row, std::size_t d, T* to) const {
        if (how_.fma)
            for (std::size_t c = 0; c < d; ++c) to[c] = std::fma(weight, row[c], to[c]);
        else
            for (std::size_t c = 0; c < d; ++c) to[c] += weight * row[c];
    }
    static void plus(T* to, const T* x, std::size_t d) {
        for (std::size_t c = 0; c < d; ++c) to[c] += x[c];
    }
    // As a binary counter: level l holds the sum of 2^l terms, if it holds one.
    void pairwise(const T* weight, const T* row, std::size_t stride, std::size_t n, std::size_t d, T* to) {
        std::size_t levels = 1;
        while ((std::size_t{1} << levels) <= n) ++levels;
        parts_.assign((levels + 1) * d, T(0));
        T* const carry = parts_.data() + levels * d;
        for (std::size_t t = 0; t < n; ++t) {
            for (std::size_t c = 0; c < d; ++c) carry[c] = weight[t] * row[t * stride + c];
            std::size_t level = 0;
            for (; (t >> level) & 1U; ++level) plus(carry, parts_.data() + level * d, d);
            std::copy_n(carry, d, parts_.data() + level * d);
        }
        std::fill_n(carry, d, T(0));
        for (std::size_t level = 0; level < levels; ++level)
            if ((n >> level) & 1U) plus(carry, parts_.data() + level * d, d);
        plus(to, carry, d);
    }
    const std::vector<std::uint32_t>& permutation(std::size_t n) {
        std::vector<std::uint32_t>& order = permutations_[n];
        if (order.empty()) {
            order.resize(n);
            std::iota(order.begin(), order.end(), 0U);
            kernels::generator r(how_.seed + n);
            for (std::size_t k = n; k > 1; --k) std::swap(order[k - 1], order[r.below(k)]);
        }
        return order;
    }

    sum_style how_;
    std::vector<T> parts_, ones_;
    std::map<std::size_t, std::vector<std::uint32_t>> permutations_;
};

} // namespace trials
