// SPDX-License-Identifier: BSL-1.0
/// \file
/// Arithmetic modulo one number: what `field` is made of. Products, powers, inverses, roots, and the rotations of the plane modulo a prime.
#pragma once

#include <cstdint>

namespace attest::modular {

/// A whole number from 0 to the modulus − 1. Moduli here are below 2^62.
using residue = std::uint64_t;

[[nodiscard]] constexpr residue sum(residue a, residue b, residue modulus) noexcept {
    const residue s = a + b; // below 2^63
    return s >= modulus ? s - modulus : s;
}
[[nodiscard]] constexpr residue negative(residue a, residue modulus) noexcept { return a == 0 ? 0 : modulus - a; }
[[nodiscard]] constexpr residue product(residue a, residue b, residue modulus) noexcept {
    __extension__ using wide = unsigned __int128; // both compilers have it, and call it an extension
    return static_cast<residue>(static_cast<wide>(a) * b % modulus);
}
/// a^exponent, by squaring.
[[nodiscard]] constexpr residue power(residue a, residue exponent, residue modulus) noexcept {
    residue result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1U) != 0) result = product(result, a, modulus);
        a = product(a, a, modulus);
    }
    return result;
}
/// 1/a modulo a prime, for a != 0: a^{prime − 2}, by Fermat.
[[nodiscard]] constexpr residue inverse(residue a, residue prime) noexcept { return power(a, prime - 2, prime); }

/// The root of a that is itself a square, modulo a prime ≡ 3 mod 4; `exists` is false where a is not a square. Of the two roots r and −r just one is a
/// square, since −1 is none: so roots are unique, and the root of a product is the product of the roots.
struct root {
    residue value;
    bool exists;
};
[[nodiscard]] constexpr root square_root(residue a, residue prime) noexcept {
    const residue r = power(a, (prime + 1) / 4, prime);
    return {r, product(r, r, prime) == a};
}

/// A point of the circle x² + y² = 1 modulo a prime ≡ 3 mod 4. The points are a cyclic group of prime + 1 elements: where there is no √−1, x + y√−1 with
/// x² + y² = 1 are the elements of norm 1 of the field with prime² elements. So an angle is an exponent modulo prime + 1, and the rule for the sum of
/// two angles is the rule of sine and cosine.
struct point {
    residue cosine, sine;
    friend constexpr bool operator==(const point&, const point&) = default;
};
[[nodiscard]] constexpr point together(const point& a, const point& b, residue prime) noexcept {
    const auto minus = [prime](residue x) { return negative(x, prime); };
    return {sum(product(a.cosine, b.cosine, prime), minus(product(a.sine, b.sine, prime)), prime),
            sum(product(a.cosine, b.sine, prime), product(a.sine, b.cosine, prime), prime)};
}
[[nodiscard]] constexpr point turned(point by, residue times, residue prime) noexcept {
    point result{1, 0};
    for (; times != 0; times >>= 1) {
        if ((times & 1U) != 0) result = together(result, by, prime);
        by = together(by, by, prime);
    }
    return result;
}

/// A number that looks random, the same for the same pair: the finaliser of SplitMix64 (Steele, Lea, Flood, 10.1145/2660193.2660195), below `modulus`.
[[nodiscard]] constexpr residue scrambled(residue seed, residue index, residue modulus) noexcept {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15U + index * 0xd1342543de82ef95U + 0x632be59bd9b4e019U;
    for (int round = 0; round < 2; ++round) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        z ^= z >> 31;
    }
    return z % modulus;
}

} // namespace attest::modular
