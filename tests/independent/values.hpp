// SPDX-License-Identifier: BSL-1.0
/// \file
/// Random numbers, ordinary and hostile, of a stored format. The same on every machine.
#pragma once

#include "question.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace independent {

/// SplitMix64: one stream for each seed.
class source {
public:
    explicit source(std::uint64_t seed) : state_{seed} {}
    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    /// 0 … n − 1
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits() % n); }
    bool chance(unsigned percent) { return below(100) < percent; }
    /// [0, 1)
    double uniform() { return std::ldexp(static_cast<double>(bits() >> 11), -53); }
    /// Nearly normal, spread 1: no library's logarithm is in it.
    double normal() {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += uniform();
        return sum;
    }
    // (Below, no expression draws twice where the compiler may choose which is drawn first.)
    double sign() { return chance(50) ? 1.0 : -1.0; }
    template <class T, std::size_t N> const T& one_of(const T (&from)[N]) { return from[below(N)]; }

private:
    std::uint64_t state_;
};

[[nodiscard]] inline double greatest_of(const stored_format& f) { return std::ldexp(2.0 - std::ldexp(1.0, 1 - f.precision), f.greatest_exponent); }
[[nodiscard]] inline double smallest_of(const stored_format& f) { return std::ldexp(1.0, f.least_exponent - (f.precision - 1)); }

/// The nearest number of a format; beyond it the greatest. (The default rounding mode of double is to nearest, ties to even.)
[[nodiscard]] inline double stored(const stored_format& f, double x) {
    if (x == 0 || !std::isfinite(x)) return x;
    const int unit = std::max(std::ilogb(x), f.least_exponent) - (f.precision - 1);
    const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
    return std::clamp(rounded, -greatest_of(f), greatest_of(f));
}

/// Two neighbours of a format, and the number in the middle.
struct tie {
    double low, high, middle;
};
/// Of a random sign and exponent; one in six is subnormal in that format.
inline tie draw_tie(source& random, const stored_format& f) {
    const double half = std::ldexp(1.0, f.precision - 1);
    const bool subnormal = random.below(6) == 0;
    const double whole = subnormal ? std::floor(random.uniform() * std::min(half, 16.0)) : half + std::floor(random.uniform() * half);
    const int unit = subnormal ? f.least_exponent - (f.precision - 1) : static_cast<int>(random.below(7)) - 3 - (f.precision - 1);
    const double sign = random.sign();
    return {sign * std::ldexp(whole, unit), sign * std::ldexp(whole + 1, unit), sign * std::ldexp(2 * whole + 1, unit - 1)};
}

/// A format that is no finer than f.
inline const stored_format& draw_target(source& random, const stored_format& f) {
    for (;;)
        if (const stored_format& target = random.one_of(formats); target.precision <= f.precision) return target;
}

/// n numbers of f whose mean is a tie of the target, or next to it: by 2^−30, 2^−60 or 2^−100 of it, or by the smallest number there is.
inline std::vector<double> draw_tied_mean(source& random, const stored_format& f, std::size_t n, const stored_format& target, const tie& t) {
    const double off[] = {0, 0, t.middle * 0x1p-30, t.middle * 0x1p-60, -t.middle * 0x1p-60, t.middle * 0x1p-100, smallest_of(f)};
    const double delta = random.one_of(off), count = static_cast<double>(n);
    std::vector<double> x(n, t.middle);
    if (target.precision < f.precision) { // the tie itself is a number of f
        if (n > 1 && delta != 0) {
            x[0] = 2 * t.middle;
            x[1] = count * delta;
        } else if (n > 1 && random.chance(50)) {
            x[0] = 2 * t.middle;
            x[1] = 0;
        }
    } else {
        for (std::size_t j = 0; j < n; ++j) x[j] = j % 2 == 0 ? t.low : t.high;
        if ((n & (n - 1)) == 0 && n >= 4 && delta != 0) {
            std::fill(x.begin(), x.end(), 0.0);
            x[0] = count / 2 * t.low;
            x[1] = count / 2 * t.high;
            x[2] = count * delta;
        }
    }
    for (double& each : x) each = stored(f, each);
    return x;
}

inline std::vector<double> draw_tied_mean(source& random, const stored_format& f, std::size_t n) {
    const stored_format& target = draw_target(random, f);
    return draw_tied_mean(random, f, n, target, draw_tie(random, target));
}

/// tied_means: of each column. tied_groups: of its even rows, and of its odd rows, the same tie. alternating: two rows in turn.
enum class recipe { ordinary, wide, subnormal, small_integers, zeros, constant, tied_means, tied_groups, cancelling, large, greatest, repeated, alternating, nearly_equal };

/// A matrix of rows × columns, by a recipe. `size`: what `large` is about.
inline std::vector<double> draw_matrix(source& random, const stored_format& f, std::size_t rows, std::size_t columns, recipe by, double size = 1) {
    std::vector<double> m(rows * columns);
    const auto fill = [&](auto one) {
        for (double& x : m) x = stored(f, one());
    };
    const double constant = random.normal();
    switch (by) {
    case recipe::ordinary:
    case recipe::repeated:
    case recipe::alternating:
    case recipe::nearly_equal: fill([&] { return random.normal(); }); break;
    case recipe::wide:
        fill([&] {
            const auto exponent = static_cast<int>(random.below(31)) - 20;
            return std::ldexp(random.normal(), exponent);
        });
        break;
    case recipe::subnormal: {
        const double most = random.chance(50) ? 4 : std::ldexp(1.0, f.precision);
        fill([&] {
            const double sign = random.sign();
            return sign * std::floor(random.uniform() * most) * smallest_of(f);
        });
        break;
    }
    case recipe::small_integers: fill([&] { return static_cast<double>(random.below(5)) - 2; }); break;
    case recipe::zeros: fill([&] { return random.below(8) == 0 ? random.normal() : random.sign() * 0.0; }); break;
    case recipe::constant: fill([&] { return constant; }); break;
    case recipe::tied_means:
        for (std::size_t c = 0; c < columns; ++c) {
            const std::vector<double> column = draw_tied_mean(random, f, rows);
            for (std::size_t r = 0; r < rows; ++r) m[r * columns + c] = column[r];
        }
        break;
    case recipe::tied_groups:
        for (std::size_t c = 0; c < columns; ++c) {
            const stored_format& target = draw_target(random, f);
            const tie t = draw_tie(random, target);
            for (std::size_t group = 0; group < 2; ++group) {
                const std::vector<double> column = draw_tied_mean(random, f, (rows + 1 - group) / 2, target, t);
                for (std::size_t r = group; r < rows; r += 2) m[r * columns + c] = column[r / 2];
            }
        }
        break;
    case recipe::cancelling: { // pairs of rows that differ in sign, and a little more
        const double much = std::ldexp(1.0, static_cast<int>(random.below(f.precision == 11 ? 10 : 40)));
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c) {
                const bool second = r % 2 == 1;
                m[r * columns + c] = second && random.chance(80) ? -m[(r - 1) * columns + c] : stored(f, random.normal() * (second || r + 1 == rows ? 1 : much));
            }
        break;
    }
    case recipe::large: fill([&] { return random.normal() * size; }); break;
    case recipe::greatest:
        fill([&] {
            const double sign = random.sign();
            return sign * greatest_of(f) * (random.chance(30) ? 1 : random.uniform());
        });
        break;
    }
    if (by == recipe::repeated || by == recipe::nearly_equal) { // one row or two, again and again
        const std::size_t originals = std::min<std::size_t>(rows, 1 + random.below(2));
        for (std::size_t r = originals; r < rows; ++r) {
            const std::size_t from = random.below(originals);
            for (std::size_t c = 0; c < columns; ++c) {
                double& x = m[r * columns + c];
                x = m[from * columns + c];
                if (by == recipe::nearly_equal && random.chance(30) && x != 0) // the next number of the format, up or down
                    x = stored(f, x + random.sign() * std::ldexp(1.0, std::max(std::ilogb(x), f.least_exponent) - (f.precision - 1)));
            }
        }
    }
    if (by == recipe::alternating)
        for (std::size_t e = 2 * columns; e < m.size(); ++e) m[e] = m[e - 2 * columns];
    return m;
}

/// A matrix as often as there are batches and heads.
inline table draw_table(source& random, const stored_format& f, std::vector<std::size_t> shape, recipe by, double size = 1) {
    table t{shape, {}, f.name};
    for (std::size_t s = 0; s < shape[0] * shape[1]; ++s) {
        const std::vector<double> m = draw_matrix(random, f, shape[2], shape[3], by, size);
        t.values.insert(t.values.end(), m.begin(), m.end());
    }
    return t;
}

} // namespace independent
