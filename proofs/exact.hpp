// SPDX-License-Identifier: BSL-1.0
/// \file
/// `exact`: the numbers (a + b√2)/c, for what the proofs say exactly where an interval could only come close.
#pragma once

#include "attest/arithmetic/scalar.hpp"

#include <numeric>
#include <stdexcept>

namespace attest::proofs {

/// (a + b√2)/c, in lowest terms with c > 0, so that equal numbers have equal parts.
///
/// Its exponential is 2^x, known where x is an integer: scores are counted in units of log 2. What holds for it in
/// every base holds for e. Its root is known for 2. Elsewhere both throw, and so does a part that outgrows its integer:
/// in a constant expression neither compiles.
class exact {
public:
    constexpr exact(long long a = 0, long long b = 0, long long c = 1)
        : a_{a}, b_{b}, c_{c} { // NOLINT(google-explicit-constructor)
        if (c == 0) throw std::domain_error("division by 0");
        const long long divisor = std::gcd(std::gcd(a, b), c) * (c < 0 ? -1 : 1);
        a_ /= divisor, b_ /= divisor, c_ /= divisor;
    }

    friend constexpr exact operator-(const exact& x) { return {-x.a_, -x.b_, x.c_}; }
    friend constexpr exact operator+(const exact& x, const exact& y) {
        return {x.a_ * y.c_ + y.a_ * x.c_, x.b_ * y.c_ + y.b_ * x.c_, x.c_ * y.c_};
    }
    friend constexpr exact operator-(const exact& x, const exact& y) { return x + -y; }
    friend constexpr exact operator*(const exact& x, const exact& y) {
        return {x.a_ * y.a_ + 2 * x.b_ * y.b_, x.a_ * y.b_ + x.b_ * y.a_, x.c_ * y.c_};
    }
    // 1/(a + b√2) = (a − b√2)/(a² − 2b²), which is 0 only at 0: √2 is irrational.
    friend constexpr exact operator/(const exact& x, const exact& y) {
        return x * exact(y.a_ * y.c_, -y.b_ * y.c_, y.a_ * y.a_ - 2 * y.b_ * y.b_);
    }
    friend constexpr bool operator==(const exact&, const exact&) = default;

    friend constexpr exact attest_sqrt(const exact& x) {
        return x == exact(2) ? exact(0, 1) : throw std::domain_error("this root is not known exactly");
    }
    friend constexpr exact attest_exp(const exact& x) {
        if (x.b_ != 0 || x.c_ != 1) throw std::domain_error("this exponential is not known exactly");
        return x.a_ < 0 ? exact(1, 0, 1LL << -x.a_) : exact(1LL << x.a_);
    }
    /// Any shift will do.
    friend constexpr exact attest_shift_point(const exact& x, const exact&) { return x; }

private:
    long long a_, b_, c_;
};

/// √2, and p/q.
inline constexpr exact root_two{0, 1};
[[nodiscard]] constexpr exact ratio(long long p, long long q) { return {p, 0, q}; }

static_assert(root_two * root_two == exact(2) && exact(1) / root_two == root_two / exact(2) &&
              ratio(2, -4) == ratio(-1, 2));

} // namespace attest::proofs
