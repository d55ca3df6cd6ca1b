// SPDX-License-Identifier: BSL-1.0
#include "digits.hpp"

namespace attest::worked {

namespace {

using enclosed = ball<big_float>;

constexpr int most_whole_digits = 21;
constexpr std::size_t longest_fraction = 13; // of numerator and denominator together
constexpr std::int64_t deepest = 20000;      // bits after the point that ends of an enclosure are looked at

integer power_of_ten(int n) { return pow(integer(10), static_cast<unsigned>(n)); }

// floor(m·2^e + 1/2)
integer floor_of_half_up(const integer& m, std::int64_t e) {
    if (e >= 0) return integer(m << static_cast<unsigned>(e));
    const auto down = static_cast<unsigned>(-e);
    const integer x = m + (integer(1) << (down - 1));
    integer quotient = abs(x) >> down;
    if (x < 0 && (quotient << down) != abs(x)) ++quotient;
    return x < 0 ? integer(-quotient) : quotient;
}

// The ends of an enclosure, which may be moved outwards to 2^-deepest.
struct ends {
    integer low, high;
    std::int64_t exponent; // of both: low·2^exponent
};
std::optional<ends> ends_of(const enclosed& x) {
    if (!x.is_known() || !x.is_number()) return std::nullopt;
    big_float middle = x.middle();
    magnitude radius = x.radius();
    if (!middle.is_zero() && middle.exponent() < -deepest) {
        radius = radius + x.middle_size();
        middle = big_float();
    }
    if (!radius.is_zero() && radius.exponent() < -deepest) radius = magnitude::power_of_two(-deepest);
    if ((!middle.is_zero() && middle.exponent() > deepest) || (!radius.is_zero() && radius.exponent() > deepest)) return std::nullopt;
    const big_float r = radius.is_zero() ? big_float() : big_float(radius.fraction()).times_power_of_two(radius.exponent());
    const std::int64_t e = std::min<std::int64_t>({middle.is_zero() ? 0 : middle.last_exponent(), r.is_zero() ? 0 : r.last_exponent(), 0});
    const auto at = [e](const big_float& y) { return integer(y.mantissa() << static_cast<unsigned>(y.is_zero() ? 0 : y.last_exponent() - e)); };
    const integer m = at(middle), s = at(r);
    return ends{integer(m - s), integer(m + s), e};
}

// digits with a point before the last `decimals` of them.
std::string with_point(const integer& n, int decimals) {
    std::string text = integer(abs(n)).str();
    const auto places = static_cast<std::size_t>(decimals);
    if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
    if (places != 0) text.insert(text.size() - places, ".");
    return (n < 0 ? "-" : "") + text;
}
std::string without_last_zeros(std::string text) {
    if (text.find('.') == std::string::npos) return text;
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

// x·10^j for any j; the ball's exponents have 64 bits.
enclosed times_power_of_ten(const enclosed& x, std::int64_t j) {
    enclosed power(1), square(10);
    for (std::int64_t n = j < 0 ? -j : j; n != 0; n /= 2) {
        if (n % 2 != 0) power = power * square;
        if (n > 1) square = square * square;
    }
    return j < 0 ? x / power : x * power;
}

printed scientific(const integer& n, int decimals, std::int64_t power, printed::kind kind) {
    printed p;
    p.is = kind;
    const bool carried = abs(n) == power_of_ten(decimals); // 9.9999… became 10
    p.digits = with_point(carried ? integer(n / 10) : n, decimals - 1);
    p.power = power + (carried ? 1 : 0);
    return p;
}

// |x|·10^j, rounded, halves up.
integer rounded(const fraction& size, std::int64_t j) {
    const integer scale = power_of_ten(static_cast<int>(j < 0 ? -j : j));
    const integer above = j < 0 ? integer(numerator(size)) : integer(numerator(size) * scale), below = j < 0 ? integer(denominator(size) * scale) : integer(denominator(size));
    return integer((2 * above + below) / (2 * below));
}

printed print_fraction(const fraction& x, int decimals) {
    printed p;
    const fraction size = x < 0 ? fraction(-x) : x;
    const integer fixed = rounded(size, decimals), signed_fixed = x < 0 ? integer(-fixed) : fixed;
    const bool short_enough = fixed < power_of_ten(most_whole_digits + decimals);
    if (short_enough && fraction(fixed, power_of_ten(decimals)) == size) {
        p.is = printed::kind::exact;
        p.digits = without_last_zeros(with_point(signed_fixed, decimals));
        return p;
    }
    if (short_enough && fixed >= 10) {
        p.is = printed::kind::rounded;
        p.digits = with_point(signed_fixed, decimals);
    } else {
        // 10^k <= |x| < 10^(k + 1), from the lengths, which may be one off.
        std::int64_t k = static_cast<std::int64_t>(integer(numerator(size)).str().size()) - static_cast<std::int64_t>(integer(denominator(size)).str().size());
        const auto at_least_power = [&](std::int64_t e) {
            return e >= 0 ? numerator(size) >= denominator(size) * power_of_ten(static_cast<int>(e)) : numerator(size) * power_of_ten(static_cast<int>(-e)) >= denominator(size);
        };
        while (!at_least_power(k)) --k;
        while (at_least_power(k + 1)) ++k;
        const integer n = rounded(size, decimals - 1 - k);
        const std::int64_t up = k - decimals + 1;
        const fraction back = up >= 0 ? fraction(integer(n * power_of_ten(static_cast<int>(up)))) : fraction(n, power_of_ten(static_cast<int>(-up)));
        p = scientific(x < 0 ? integer(-n) : n, decimals, k, back == size ? printed::kind::exact : printed::kind::rounded);
        if (p.is_exact()) p.digits = without_last_zeros(p.digits);
    }
    const std::string above = integer(numerator(x)).str(), below = integer(denominator(x)).str();
    if (!p.is_exact() && below != "1" && above.size() + below.size() <= longest_fraction) {
        p.above = above;
        p.below = below;
    }
    return p;
}

// Nothing where this enclosure does not tell.
std::optional<printed> print_fixed(const enclosed& x, int decimals, bool& small) {
    const working_precision precision(working_precision::bits() + 64);
    small = false;
    const auto both = ends_of(x * enclosed(big_float(power_of_ten(decimals), 0), magnitude()));
    if (!both) return std::nullopt;
    const integer low = floor_of_half_up(both->low, both->exponent), high = floor_of_half_up(both->high, both->exponent);
    if (low != high) return std::nullopt;
    small = abs(low) < 10;
    if (small || abs(low) >= power_of_ten(most_whole_digits + decimals)) return std::nullopt;
    printed p;
    p.is = printed::kind::rounded;
    p.digits = with_point(low, decimals);
    return p;
}
std::optional<printed> print_scientific(const enclosed& x, int decimals) {
    if (!x.is_known() || x.middle().is_zero()) return std::nullopt;
    // log10(2), from below or above as it may be: k is corrected.
    auto k = static_cast<std::int64_t>(static_cast<double>(x.middle().exponent()) * 0.30102999566398120);
    const integer one = power_of_ten(decimals - 1), ten = power_of_ten(decimals);
    for (int tries = 0; tries < 5; ++tries) {
        const auto both = ends_of(times_power_of_ten(x, decimals - 1 - k));
        if (!both || (both->low <= 0 && both->high >= 0)) return std::nullopt;
        const bool negative = both->low < 0;
        const integer least = negative ? integer(-both->high) : both->low, greatest = negative ? integer(-both->low) : both->high; // of the size
        const auto bound = [&](const integer& n) { return integer(n << static_cast<unsigned>(-both->exponent)); };
        if (greatest < bound(one)) --k;
        else if (least >= bound(ten)) ++k;
        else if (greatest >= bound(ten)) ++k;
        else if (least < bound(one)) { // a power of ten in between: what is below it may round up to it
            if (floor_of_half_up(10 * least, both->exponent) != ten || floor_of_half_up(greatest, both->exponent) != one) return std::nullopt;
            return scientific(negative ? integer(-one) : one, decimals, k, printed::kind::rounded);
        }
        else {
            const integer low = floor_of_half_up(least, both->exponent), high = floor_of_half_up(greatest, both->exponent);
            if (low != high) return std::nullopt;
            return scientific(negative ? integer(-low) : low, decimals, k, printed::kind::rounded);
        }
    }
    return std::nullopt;
}

} // namespace

printed print(const number& x, int decimals) {
    if (const auto& exact = x.exact()) return print_fraction(*exact, decimals);
    bool small = false;
    for (unsigned bits = least_bits; bits <= most_bits; bits *= 2) {
        const enclosed e = x.enclosure(bits);
        const working_precision precision(bits);
        if (const auto p = print_fixed(e, decimals, small)) return *p;
        if (const auto p = print_scientific(e, decimals); p && (small || *p->power >= most_whole_digits)) return *p;
    }
    printed p;
    const enclosed last = x.enclosure(most_bits);
    if (small && last.is_known() && last.greatest() < magnitude::power_of_two(-3330)) { // 10^-1000 is above 2^-3322
        p.is = printed::kind::tiny;
        p.digits = with_point(0, decimals);
    } else {
        p.digits = "?";
    }
    return p;
}

} // namespace attest::worked
