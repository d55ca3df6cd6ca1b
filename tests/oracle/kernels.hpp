// SPDX-License-Identifier: BSL-1.0
// Emulated attention kernels, right ones in many styles: what tests hold the limits against. Nothing here comes from the library but the formats'
// rounding, which has tests of its own.
#pragma once

#include "attest/arithmetic/formats.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace kernels {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// A generator of its own, so that the inputs are the same with every standard library.
class generator {
public:
    explicit generator(std::uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15ULL + 1} {}
    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    double normal() { return (uniform() + uniform() + uniform() + uniform() - 2) * 1.7320508; } // near enough
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }

private:
    std::uint64_t state_;
};

// One head. Matrices in C order; the numbers are those of the stored format already.
struct inputs {
    std::size_t n_q = 1, n_k = 1, d_k = 1, d_v = 1;
    std::vector<double> q, k, v;
    std::vector<double> bias;   // n_q × n_k, added after the scale; −∞ hides; empty: none
    std::string causal = "none"; // as the convention is written
    double scale = 0;           // 0: 1/√d_k

    [[nodiscard]] bool visible(std::size_t i, std::size_t j) const {
        if (causal == "top-left" && j > i) return false;
        if (causal == "bottom-right" && j + n_q > i + n_k) return false;
        return bias.empty() || bias[i * n_k + j] != -infinity;
    }
};

inline std::vector<double> draw(generator& r, std::size_t count, double mean, double spread, const attest::format& stored) {
    std::vector<double> x(count);
    for (double& value : x) value = attest::round_to(stored, mean + spread * r.normal());
    return x;
}

enum class order { sequential, reversed, pairwise, shuffled };
enum class scaling { of_product, of_query, of_both };

struct style {
    std::size_t block = 0;                            // keys a block of a flash-like kernel; 0: plain
    bool split = false;                               // blocks are normalised each, and merged by their lse (flash decoding)
    order sum = order::sequential;
    bool fma = false;                                 // products into sums
    scaling scale = scaling::of_product;
    bool base_two = false;                            // exp2, log2 e folded into the scale
    bool divide_first = false;                        // plain: weights are normalised before the product with V
    bool reciprocal = false;                          // times 1/l for / l
    const attest::format* weights = nullptr;          // weights are stored in it before the product with V
    bool sum_of_stored = false;                       // … and the denominator sums what is stored
    const attest::format* everything = nullptr;       // scaled q and k, and scores, are stored in it
    bool tf32 = false;                                // operands of products rounded to 11 bits
    int exp_bias = 0;                                 // exp is off by about `exp_bias` units in the last place, always the same way
    std::uint64_t seed = 1;

    [[nodiscard]] std::string text() const {
        const char* orders[] = {"sequential", "reversed", "pairwise", "shuffled"};
        const char* scalings[] = {"product", "query", "both"};
        return (block ? (split ? "split " : "block ") + std::to_string(block) : std::string("plain")) + " " + orders[static_cast<int>(sum)] + " scale on " +
               scalings[static_cast<int>(scale)] + (fma ? " fma" : "") + (base_two ? " exp2" : "") + (divide_first ? " divide-first" : "") +
               (reciprocal ? " reciprocal" : "") + (weights ? " stored weights" : "") + (sum_of_stored ? " summed as stored" : "") +
               (everything ? " all stored" : "") + (tf32 ? " tf32" : "") + (exp_bias ? " exp off by " + std::to_string(exp_bias) : "");
    }
};

struct outputs {
    std::vector<double> raw_scores, scores, weights, lse, out; // weights and scores: of plain kernels alone
};

template <class T> class kernel {
public:
    kernel(const inputs& in, const style& how) : in_{in}, how_{how}, random_{how.seed} {}

    outputs run() {
        outputs all;
        for (std::size_t i = 0; i < in_.n_q; ++i) {
            row(i);
            if (how_.block != 0 && how_.split) split(all);
            else if (how_.block != 0) blockwise(all);
            else plain(i, all);
        }
        return all;
    }

private:
    static T stored(const attest::format* f, T x) { return f ? static_cast<T>(attest::round_to(*f, static_cast<double>(x))) : x; }
    T operand(T x) const {
        static constexpr attest::format eleven_bits{11, -126, 127};
        return how_.tf32 ? static_cast<T>(attest::round_to(eleven_bits, static_cast<double>(x))) : x;
    }
    // In long double, moved by the bias and rounded once; e^0 is 1 in every implementation.
    T exponential(T x) const {
        if (x == 0) return 1;
        const auto wide = static_cast<long double>(x);
        const long double e = how_.base_two ? std::exp2(wide) : std::exp(wide);
        return static_cast<T>(e * (1 + how_.exp_bias * static_cast<long double>(std::numeric_limits<T>::epsilon())));
    }

    T reduce(std::vector<T> x) {
        if (x.empty()) return 0;
        if (how_.sum == order::reversed) std::reverse(x.begin(), x.end());
        if (how_.sum == order::shuffled)
            for (std::size_t k = x.size(); k > 1; --k) std::swap(x[k - 1], x[random_.below(k)]);
        if (how_.sum == order::pairwise) {
            for (std::size_t step = 1; step < x.size(); step *= 2)
                for (std::size_t k = 0; k + step < x.size(); k += 2 * step) x[k] += x[k + step];
            return x[0];
        }
        T sum = 0;
        for (const T& value : x) sum += value;
        return sum;
    }
    T dot(const std::vector<T>& a, const std::vector<T>& b) {
        if (how_.fma) {
            T sum = 0;
            for (std::size_t k = 0; k < a.size(); ++k) sum = std::fma(a[k], b[k], sum);
            return sum;
        }
        std::vector<T> terms(a.size());
        for (std::size_t k = 0; k < a.size(); ++k) terms[k] = a[k] * b[k];
        return reduce(terms);
    }

    // The scores of row i: `raw_` as q·k (times what stands on q and k), `score_` as what enters softmax, times log2 e if base two.
    void row(std::size_t i) {
        const T scale = static_cast<T>(1) / std::sqrt(static_cast<T>(in_.d_k));
        T factor = in_.scale != 0 ? static_cast<T>(in_.scale) : scale;
        // With a mask in natural units, log2 e comes after it.
        const bool fold = how_.base_two && in_.bias.empty() && how_.everything == nullptr;
        if (fold) factor *= static_cast<T>(1.44269504088896340736);
        const T root = std::sqrt(factor);
        raw_.assign(in_.n_k, 0);
        score_.assign(in_.n_k, static_cast<T>(-infinity));
        unscaled_ = how_.scale == scaling::of_product ? factor : static_cast<T>(1);
        for (std::size_t j = 0; j < in_.n_k; ++j) {
            std::vector<T> q(in_.d_k), k(in_.d_k);
            for (std::size_t c = 0; c < in_.d_k; ++c) {
                q[c] = static_cast<T>(in_.q[i * in_.d_k + c]);
                k[c] = static_cast<T>(in_.k[j * in_.d_k + c]);
                if (how_.scale == scaling::of_query) q[c] *= factor;
                if (how_.scale == scaling::of_both) {
                    q[c] *= root;
                    k[c] *= root;
                }
                q[c] = operand(stored(how_.everything, q[c]));
                k[c] = operand(stored(how_.everything, k[c]));
            }
            raw_[j] = dot(q, k);
            if (!in_.visible(i, j)) continue;
            T s = how_.scale == scaling::of_product ? static_cast<T>(raw_[j] * factor) : raw_[j];
            s = stored(how_.everything, s);
            if (!in_.bias.empty()) s = stored(how_.everything, static_cast<T>(s + static_cast<T>(in_.bias[i * in_.n_k + j])));
            score_[j] = how_.base_two && !fold ? static_cast<T>(s * static_cast<T>(1.44269504088896340736)) : s;
        }
        fused_shift_ = fold && how_.fma && how_.scale == scaling::of_product;
    }
    // e^(s_j − m); with fma, as flash kernels do it, from the raw score and the scaled maximum.
    T shifted(std::size_t j, T m) const {
        if (score_[j] == static_cast<T>(-infinity)) return 0;
        if (fused_shift_) return exponential(std::fma(raw_[j], unscaled_, -m));
        return exponential(score_[j] - m);
    }

    void plain(std::size_t i, outputs& all) {
        T m = static_cast<T>(-infinity);
        for (const T& s : score_) m = std::max(m, s);
        std::vector<T> p(in_.n_k, 0);
        const bool empty = m == static_cast<T>(-infinity);
        std::vector<T> terms;
        for (std::size_t j = 0; j < in_.n_k; ++j)
            if (in_.visible(i, j) && !empty) {
                p[j] = shifted(j, m);
                if (how_.sum_of_stored) p[j] = stored(how_.weights, p[j]);
                terms.push_back(p[j]);
            }
        const T l = reduce(terms);
        const T inverse = 1 / l;
        std::vector<T> weight(in_.n_k, 0);
        if (!empty)
            for (std::size_t j = 0; j < in_.n_k; ++j) weight[j] = how_.reciprocal ? p[j] * inverse : p[j] / l;
        const T ln2 = static_cast<T>(0.69314718055994530942);
        for (std::size_t j = 0; j < in_.n_k; ++j) {
            all.raw_scores.push_back(static_cast<double>(raw_[j]));
            all.scores.push_back(static_cast<double>(score_[j]));
            all.weights.push_back(static_cast<double>(how_.sum_of_stored ? weight[j] : stored(how_.weights, weight[j])));
        }
        all.lse.push_back(static_cast<double>(how_.base_two ? (m + std::log2(l)) * ln2 : m + std::log(l)));
        for (std::size_t c = 0; c < in_.d_v; ++c) {
            std::vector<T> a, b;
            for (std::size_t j = 0; j < in_.n_k; ++j)
                if (in_.visible(i, j) && !empty) {
                    a.push_back(operand(stored(how_.weights, how_.divide_first ? weight[j] : p[j])));
                    b.push_back(operand(static_cast<T>(in_.v[j * in_.d_v + c])));
                }
            const T sum = dot(a, b);
            all.out.push_back(static_cast<double>(empty ? 0 : how_.divide_first ? sum : how_.reciprocal ? sum * inverse : sum / l));
        }
    }

    // Every block's own output and lse; then their mean with weights e^(lse of the block − the greatest lse).
    void split(outputs& all) {
        const T ln2 = static_cast<T>(0.69314718055994530942);
        std::vector<T> parts;             // d_v of each block
        std::vector<T> lse;               // base two if scores are
        for (std::size_t first = 0; first < in_.n_k; first += how_.block) {
            const std::size_t last = std::min(in_.n_k, first + how_.block);
            T m = static_cast<T>(-infinity);
            for (std::size_t j = first; j < last; ++j) m = std::max(m, score_[j]);
            if (m == static_cast<T>(-infinity)) continue;
            std::vector<T> p(last - first);
            for (std::size_t j = first; j < last; ++j) {
                p[j - first] = shifted(j, m);
                if (how_.sum_of_stored) p[j - first] = stored(how_.weights, p[j - first]);
            }
            const T l = reduce(p);
            lse.push_back(how_.base_two ? m + std::log2(l) : m + std::log(l));
            for (T& weight : p) weight = operand(stored(how_.weights, weight));
            for (std::size_t c = 0; c < in_.d_v; ++c) {
                std::vector<T> b;
                for (std::size_t j = first; j < last; ++j) b.push_back(operand(static_cast<T>(in_.v[j * in_.d_v + c])));
                parts.push_back(dot(p, b) / l);
            }
        }
        T m = static_cast<T>(-infinity), l = 0;
        for (const T x : lse) m = std::max(m, x);
        std::vector<T> w;
        for (const T x : lse) w.push_back(exponential(x - m));
        l = reduce(w);
        all.lse.push_back(static_cast<double>(how_.base_two ? (m + std::log2(l)) * ln2 : m + std::log(l)));
        for (std::size_t c = 0; c < in_.d_v; ++c) {
            T sum = 0;
            for (std::size_t k = 0; k < w.size(); ++k) sum += w[k] * parts[k * in_.d_v + c];
            all.out.push_back(static_cast<double>(w.empty() ? 0 : sum / l));
        }
    }

    void blockwise(outputs& all) {
        T m = static_cast<T>(-infinity), l = 0;
        std::vector<T> acc(in_.d_v, 0);
        for (std::size_t first = 0; first < in_.n_k; first += how_.block) {
            const std::size_t last = std::min(in_.n_k, first + how_.block);
            T top = m;
            for (std::size_t j = first; j < last; ++j) top = std::max(top, score_[j]);
            if (top == static_cast<T>(-infinity)) continue;
            const T rescale = m == static_cast<T>(-infinity) ? 0 : exponential(m - top);
            m = top;
            std::vector<T> terms, p(last - first);
            for (std::size_t j = first; j < last; ++j) {
                p[j - first] = shifted(j, m);
                if (how_.sum_of_stored) p[j - first] = stored(how_.weights, p[j - first]);
                terms.push_back(p[j - first]);
            }
            l = l * rescale + reduce(terms);
            for (T& weight : p) weight = operand(stored(how_.weights, weight));
            for (std::size_t c = 0; c < in_.d_v; ++c) {
                std::vector<T> b;
                for (std::size_t j = first; j < last; ++j) b.push_back(operand(static_cast<T>(in_.v[j * in_.d_v + c])));
                acc[c] = acc[c] * rescale + dot(p, b);
            }
        }
        const bool empty = m == static_cast<T>(-infinity);
        const T ln2 = static_cast<T>(0.69314718055994530942);
        all.lse.push_back(static_cast<double>(how_.base_two ? (m + std::log2(l)) * ln2 : m + std::log(l)));
        const T inverse = 1 / l;
        for (std::size_t c = 0; c < in_.d_v; ++c) all.out.push_back(static_cast<double>(empty ? 0 : how_.reciprocal ? acc[c] * inverse : acc[c] / l));
    }

    const inputs& in_;
    const style& how_;
    generator random_;
    std::vector<T> raw_, score_;
    T unscaled_ = 1;
    bool fused_shift_ = false;
};

} // namespace kernels
