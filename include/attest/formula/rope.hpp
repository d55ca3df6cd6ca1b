// SPDX-License-Identifier: BSL-1.0
/// \file
/// RoPE: queries and keys are rotated by angles that grow with the position (Su et al., arXiv 2104.09864; B036), so that q_m · k_n sees the positions
/// through m − n alone (B037).
#pragma once

#include "attest/arithmetic/scalar.hpp"
#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/elementary/sin_cos.hpp"
#include "attest/shape/tensor.hpp"

namespace attest {

/// Which components are one pair i, of r that are rotated: (2i, 2i + 1), or (i, i + r/2).
enum class rope_pairing { interleaved, half };

namespace detail {
/// More dimensions than there are cannot be rotated.
struct rotated_dimensions_exist {
    static constexpr const char* sentence = "RoPE must not rotate more dimensions than the vector has";
    static constexpr void check(std::size_t rotated, std::size_t d) {
        if (rotated > d) throw shape_error(sentence, rotated, d);
    }
};
} // namespace detail

/// Pair i of r rotated dimensions at position p turns by p · θ_i, θ_i = base^(−2i/r): (a, b) → (a cos − b sin, a sin + b cos).
template <class S> struct rope {
    rope_pairing pairing = rope_pairing::interleaved;
    S base = S(10000);
    std::size_t dimensions = 0; ///< r: the first so many are rotated, the others stay as they are; 0: all

    /// Shapes: d → d. Throws shape_error unless r is even and at most d. Positions may be fractional or negative.
    template <vector_like X> [[nodiscard]] constexpr auto rotate(const X& x, const S& position) const { return turned<false>(x, position); }

    /// The transpose of `rotate`, which is the rotation by −position: the gradient of x from that of the result. Shapes: d → d.
    template <vector_like X> [[nodiscard]] constexpr auto rotate_back(const X& dy, const S& position) const { return turned<true>(dy, position); }

private:
    template <bool Back, vector_like X> [[nodiscard]] constexpr auto turned(const X& x, const S& position) const {
        constexpr bool same_scalar = std::same_as<S, scalar_of<X>>;
        static_assert(same_scalar, "a rotation and what it rotates must have the same scalar");
        constexpr bool has_all = has_exp<S> && has_log<S> && has_sin<S> && has_cos<S>;
        static_assert(has_all, "rotations need a scalar that attest::exp, attest::log, attest::sin and attest::cos take");
        const std::size_t d = x.length(0), r = dimensions == 0 ? d : dimensions;
        detail::rotated_dimensions_exist::check(r, d);
        rules::even_dimension::check<axis<dynamic>>(r);
        auto y = tensor<scalar_of<X>, axis_of<X, 0>>::with_lengths(d);
        if constexpr (same_scalar && has_all) { // else the compiler has spoken
            for (std::size_t c = r; c < d; ++c) y(c) = x(c);
            if (r == 0) return y;
            const S log_base = attest::log(base);
            for (std::size_t i = 0; i < r / 2; ++i) {
                const S exponent = S(static_cast<int>(2 * i)) / S(static_cast<int>(r));
                const S angle = position * attest::exp(-(exponent * log_base));
                const S cosine = attest::cos(angle), sine = Back ? S(-attest::sin(angle)) : S(attest::sin(angle));
                const std::size_t a = pairing == rope_pairing::interleaved ? 2 * i : i;
                const std::size_t b = pairing == rope_pairing::interleaved ? 2 * i + 1 : i + r / 2;
                y(a) = x(a) * cosine - x(b) * sine;
                y(b) = x(a) * sine + x(b) * cosine;
            }
        }
        return y;
    }
};

/// RoPE as attention takes it: token i stands at position offset + i, or at positions[i] if they are given (n of them, kept by the caller; then the
/// offset is not used).
template <class S> struct rope_rotation {
    rope<S> how{};
    std::size_t offset = 0;
    const S* positions = nullptr;

    [[nodiscard]] constexpr S position(std::size_t i) const {
        if (positions != nullptr) return positions[i];
        return S(static_cast<int>(offset + i));
    }
    /// The row of token i, rotated. Shapes: d → d.
    template <vector_like X> [[nodiscard]] constexpr auto operator()(const X& row, std::size_t i) const { return how.rotate(row, position(i)); }
    /// The gradient of the row of token i from that of the rotated one. Shapes: d → d.
    template <vector_like X> [[nodiscard]] constexpr auto back(const X& drow, std::size_t i) const { return how.rotate_back(drow, position(i)); }
};

/// Each row at its own position. Shapes: n × d → n × d.
template <matrix_like X, class S> [[nodiscard]] constexpr auto rope_rows(const X& x, const rope_rotation<S>& rotation) {
    auto y = tensor<scalar_of<X>, axis_of<X, 0>, axis_of<X, 1>>::with_lengths(x.length(0), x.length(1));
    for (std::size_t i = 0; i < x.length(0); ++i) {
        const auto row = rotation(x[i], i);
        for (std::size_t c = 0; c < x.length(1); ++c) y(i, c) = row(c);
    }
    return y;
}

} // namespace attest
