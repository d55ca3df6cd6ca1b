// SPDX-License-Identifier: BSL-1.0
/// \file
/// Figures of a report that are the same whatever the order in which elements come, and whichever rung settled them: distances and ratios in cells, and
/// sums of squares of cells, exactly.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/arithmetic/real.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace attest::detail {

/// The nearest multiple of 2^−fraction_bits, for 0 <= x < 2^(46 − fraction_bits); beyond, x to 47 bits; infinity stays. It never falls where x grows, so
/// that two bounds of a number that lie in one cell tell the number's.
[[nodiscard]] inline double to_cell(double x, int fraction_bits) {
    if (!(x < infinity_of_double)) return x;
    const int last = x < power_of_two(46 - fraction_bits) ? -fraction_bits : split(x).exponent - 46;
    return times_power_of_two(std::floor(times_power_of_two(x, -last) + 0.5), last);
}

/// Distances are compared and shown to 1/64 ULP, ratios to a limit to 1/4096.
inline constexpr int bits_of_distances = 6, bits_of_shares = 12;

/// The root of the mean square of finite distances, each a multiple of 1/64. Sums are exact.
class distances_squared {
public:
    void add(double distance) {
        ++count_;
        if (distance == 0) return;
        const fraction_and_exponent parts = split(distance);
        integer sixtyfourths(static_cast<std::uint64_t>(times_power_of_two(parts.fraction, 52)));
        const int shift = parts.exponent - 52 + bits_of_distances; // what is cut are zeros
        if (shift >= 0) sixtyfourths <<= static_cast<unsigned>(shift);
        else sixtyfourths >>= static_cast<unsigned>(-shift);
        total_ += sixtyfourths * sixtyfourths;
    }
    /// 0 for none; infinity beyond the range of double.
    [[nodiscard]] double root() const {
        if (count_ == 0) return 0;
        using wide = real<50>::number;
        const wide mean = wide(total_) / wide(count_);
        return static_cast<double>(ldexp(real<50>(wide(boost::multiprecision::sqrt(mean))), -bits_of_distances));
    }

private:
    using integer = boost::multiprecision::cpp_int;
    integer total_ = 0; // of squares of 64ths
    std::size_t count_ = 0;
};

} // namespace attest::detail
