// SPDX-License-Identifier: BSL-1.0
/// \file
/// `natural`: what the inner loop of a series does with integers, and no more: ⌊a · b · 2^−W⌋, ⌊a/n⌋ for a small n, a + b.
///
/// In a constant expression each of Boost's operations costs a compiler more than a hundred steps; a whole term of a series
/// costs some 80 of these, and so the functions take less than half the time.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <limits>
#include <stdexcept>

namespace attest::fixed_point {

/// A natural number of as many bits as Z has, a checked `cpp_int` of fixed width. What does not fit throws
/// std::overflow_error.
template <class Z>
class natural {
    using limb = boost::multiprecision::limb_type;
    using two_limbs = boost::multiprecision::double_limb_type;
    static constexpr unsigned limb_bits = std::numeric_limits<limb>::digits;
    static constexpr unsigned size = (std::numeric_limits<Z>::digits + limb_bits - 1) / limb_bits;

public:
    constexpr natural() = default;
    /// z, for z >= 0.
    constexpr explicit natural(const Z& z) {
        if (z.backend().sign()) throw std::overflow_error("a negative number is not a natural one");
        used_ = static_cast<unsigned>(z.backend().size());
        for (unsigned i = 0; i < used_; ++i) limbs_[i] = z.backend().limbs()[i];
        trim();
    }
    [[nodiscard]] constexpr explicit operator Z() const {
        Z z = 0;
        z.backend().resize(used_ == 0 ? 1 : used_, used_ == 0 ? 1 : used_);
        for (unsigned i = 0; i < used_; ++i) z.backend().limbs()[i] = limbs_[i];
        return z;
    }
    [[nodiscard]] constexpr bool is_zero() const { return used_ == 0; }

    constexpr natural& operator+=(const natural& other) {
        const unsigned both = used_ < other.used_ ? other.used_ : used_;
        limb carry = 0;
        for (unsigned i = 0; i < both; ++i) {
            const two_limbs sum = two_limbs(limbs_[i]) + other.limbs_[i] + carry;
            limbs_[i] = static_cast<limb>(sum);
            carry = static_cast<limb>(sum >> limb_bits);
        }
        used_ = both;
        if (carry != 0) push(carry);
        return *this;
    }
    /// ⌊this/n⌋.
    constexpr natural& operator/=(unsigned n) {
        two_limbs rest = 0;
        for (unsigned i = used_; i-- > 0;) {
            rest = rest << limb_bits | limbs_[i];
            limbs_[i] = static_cast<limb>(rest / n);
            rest %= n;
        }
        trim();
        return *this;
    }
    /// ⌊this · factor · 2^−W⌋.
    template <unsigned W>
    constexpr void multiply_and_shift(const natural& factor) {
        limb product[2 * size] = {};
        for (unsigned i = 0; i < used_; ++i) {
            two_limbs carry = 0;
            for (unsigned j = 0; j < factor.used_; ++j) {
                carry += two_limbs(limbs_[i]) * factor.limbs_[j] + product[i + j]; // at most (2^b − 1)² + 2(2^b − 1) < 2^2b
                product[i + j] = static_cast<limb>(carry);
                carry >>= limb_bits;
            }
            product[i + factor.used_] = static_cast<limb>(carry);
        }
        constexpr unsigned skipped = W / limb_bits, shift = W % limb_bits;
        const unsigned all = used_ + factor.used_;
        const unsigned before = used_;
        used_ = 0;
        for (unsigned i = skipped; i < all; ++i) {
            limb next = product[i] >> shift;
            if constexpr (shift != 0) {
                if (i + 1 < all) next |= product[i + 1] << (limb_bits - shift);
            }
            push(next);
        }
        for (unsigned i = used_; i < before; ++i) limbs_[i] = 0;
        trim();
    }

private:
    constexpr void push(limb next) {
        if (used_ < size) limbs_[used_++] = next;
        else if (next != 0) throw std::overflow_error("a natural number is too large for its limbs");
    }
    constexpr void trim() {
        while (used_ > 0 && limbs_[used_ - 1] == 0) --used_;
    }

    limb limbs_[size] = {}; // the lowest first; 0 from `used_` on
    unsigned used_ = 0;
};

} // namespace attest::fixed_point
