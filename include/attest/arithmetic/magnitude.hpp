// SPDX-License-Identifier: BSL-1.0
/// \file
/// Upper bounds: numbers >= 0 whose sums and products are never below the true ones. The radii of enclosures.
///
/// Two of them: `upper_bound`, a double; and `magnitude`, a double with an exponent of 64 bits beside it, for radii far below 10^−308.
#pragma once

#include "attest/arithmetic/power_of_two.hpp"
#include "attest/arithmetic/unfused.hpp"

namespace attest {

/// A double that only ever errs upwards; infinity: nothing is known.
class upper_bound {
public:
    constexpr upper_bound() = default;
    /// x itself, without its sign; NaN is infinity.
    constexpr explicit upper_bound(double x) noexcept : value_{x != x ? detail::infinity_of_double : x < 0 ? -x : x} {}

    /// An upper bound of the number, as a double.
    [[nodiscard]] constexpr double as_double() const noexcept { return value_; }
    [[nodiscard]] constexpr bool is_zero() const noexcept { return value_ == 0; }
    [[nodiscard]] constexpr bool is_finite() const noexcept { return value_ < detail::infinity_of_double; }

    // One rounding is off by 2^−53 of the result, a product below the normal range by 2^−1075; the factor makes up for the first, what is added for the second.
    friend constexpr upper_bound operator+(upper_bound a, upper_bound b) noexcept { return upper_bound((a.value_ + b.value_) * raise); }
    friend constexpr upper_bound operator*(upper_bound a, upper_bound b) noexcept {
        if (a.value_ == 0 || b.value_ == 0) return upper_bound();
        return upper_bound(detail::unfused(detail::unfused(a.value_ * b.value_) * raise) + 0x1p-1074);
    }
    /// For a divisor that is a lower bound and not 0.
    friend constexpr upper_bound operator/(upper_bound a, upper_bound least) noexcept {
        if (a.value_ == 0) return a;
        return upper_bound(detail::unfused(detail::unfused(a.value_ / least.value_) * raise) + 0x1p-1074);
    }
    friend constexpr bool operator<(upper_bound a, upper_bound b) noexcept { return a.value_ < b.value_; }
    friend constexpr bool operator<=(upper_bound a, upper_bound b) noexcept { return a.value_ <= b.value_; }
    /// x · 2^k.
    [[nodiscard]] constexpr upper_bound times_power_of_two(std::int64_t k) const noexcept {
        if (value_ == 0 || !is_finite()) return *this;
        if (k > 2100) return upper_bound(detail::infinity_of_double);
        return upper_bound((k < -2100 ? 0.0 : detail::times_power_of_two(value_, static_cast<int>(k))) + 0x1p-1074);
    }

private:
    static constexpr double raise = 1 + 0x1p-51;
    double value_ = 0;
};

/// fraction · 2^exponent with a fraction in [1, 2), or 0, or infinity.
class magnitude {
public:
    constexpr magnitude() = default;
    constexpr explicit magnitude(double x) noexcept {
        const double size = x < 0 ? -x : x;
        if (size == 0) return;
        if (!(size < detail::infinity_of_double)) {
            fraction_ = detail::infinity_of_double;
            return;
        }
        const auto parts = detail::split(size);
        fraction_ = parts.fraction;
        exponent_ = parts.exponent;
    }
    /// 2^k.
    [[nodiscard]] static constexpr magnitude power_of_two(std::int64_t k) noexcept {
        magnitude m;
        m.fraction_ = 1;
        m.exponent_ = k;
        return m;
    }

    [[nodiscard]] constexpr double as_double() const noexcept {
        if (fraction_ == 0 || !is_finite()) return fraction_;
        if (exponent_ > 1022) return detail::infinity_of_double;
        if (exponent_ < -1022) return exponent_ < -1074 ? 0x1p-1074 : detail::times_power_of_two(fraction_, static_cast<int>(exponent_)) + 0x1p-1074;
        return detail::times_power_of_two(fraction_, static_cast<int>(exponent_));
    }
    [[nodiscard]] constexpr bool is_zero() const noexcept { return fraction_ == 0; }
    [[nodiscard]] constexpr bool is_finite() const noexcept { return fraction_ < detail::infinity_of_double; }
    /// e with number < 2^(e + 1); of a finite number that is not 0.
    [[nodiscard]] constexpr std::int64_t exponent() const noexcept { return exponent_; }
    [[nodiscard]] constexpr double fraction() const noexcept { return fraction_; }

    friend constexpr magnitude operator+(magnitude a, magnitude b) noexcept {
        if (a.fraction_ == 0 || !b.is_finite()) return b;
        if (b.fraction_ == 0 || !a.is_finite()) return a;
        if (a.exponent_ < b.exponent_) return b + a;
        // What is far smaller counts as 2^−60 of the greater.
        const std::int64_t apart = a.exponent_ - b.exponent_;
        const double other = apart > 60 ? 0x1p-59 : detail::times_power_of_two(b.fraction_, -static_cast<int>(apart));
        return scaled((a.fraction_ + other) * raise, a.exponent_);
    }
    friend constexpr magnitude operator*(magnitude a, magnitude b) noexcept {
        if (a.fraction_ == 0 || b.fraction_ == 0) return magnitude();
        if (!a.is_finite() || !b.is_finite()) return magnitude(detail::infinity_of_double);
        return scaled(detail::unfused(a.fraction_ * b.fraction_) * raise, a.exponent_ + b.exponent_);
    }
    friend constexpr magnitude operator/(magnitude a, magnitude least) noexcept {
        if (a.fraction_ == 0 || !a.is_finite()) return a;
        if (least.fraction_ == 0) return magnitude(detail::infinity_of_double);
        return scaled(a.fraction_ / least.fraction_ * raise, a.exponent_ - least.exponent_);
    }
    friend constexpr bool operator<(magnitude a, magnitude b) noexcept {
        if (!a.is_finite() || !b.is_finite() || a.fraction_ == 0 || b.fraction_ == 0) return a.fraction_ < b.fraction_;
        return a.exponent_ < b.exponent_ || (a.exponent_ == b.exponent_ && a.fraction_ < b.fraction_);
    }
    friend constexpr bool operator<=(magnitude a, magnitude b) noexcept { return !(b < a); }
    [[nodiscard]] constexpr magnitude times_power_of_two(std::int64_t k) const noexcept {
        magnitude m = *this;
        if (fraction_ != 0 && is_finite()) m.exponent_ += k;
        return m;
    }

private:
    static constexpr double raise = 1 + 0x1p-51;
    // A product of fractions is below 4.1, a quotient above 0.49.
    static constexpr magnitude scaled(double fraction, std::int64_t exponent) noexcept {
        magnitude m;
        for (; fraction >= 2; fraction /= 2) ++exponent;
        for (; fraction < 1; fraction *= 2) --exponent;
        m.fraction_ = fraction;
        m.exponent_ = exponent;
        return m;
    }
    double fraction_ = 0;
    std::int64_t exponent_ = 0;
};

} // namespace attest
