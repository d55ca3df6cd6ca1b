// SPDX-License-Identifier: BSL-1.0
/// \file
/// Identities between formulas, tested at random points of a finite field (attest/arithmetic/field.hpp), and the vector-Jacobian products held against the
/// derivatives of `dual`.
///
/// ```cpp
/// static_assert(identity(4, [](draw& x) {
///     const auto q = x.matrix<n, d_k>(), k = x.matrix<m, d_k>();
///     return agree(matmul(q, transpose(k)), scores(q, k));
/// }));
/// ```
#pragma once

#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/field.hpp"
#include "attest/shape/tensor.hpp"

namespace attest::proofs {

/// Free variables, one after the other: the same for the same seed.
class draw {
public:
    constexpr explicit draw(unsigned seed) : seed_{seed} {}

    [[nodiscard]] constexpr field number() { return field::indeterminate(seed_, count_++); }
    /// Positive, in the sense of the field: a square.
    [[nodiscard]] constexpr field positive() {
        const field root = number();
        return root * root;
    }
    template <axis_type D>
    [[nodiscard]] constexpr tensor<field, D> vector() {
        tensor<field, D> x;
        for (std::size_t i = 0; i < x.length(0); ++i) x(i) = number();
        return x;
    }
    template <axis_type N, axis_type D>
    [[nodiscard]] constexpr tensor<field, N, D> matrix() {
        tensor<field, N, D> x;
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t j = 0; j < x.length(1); ++j) x(i, j) = number();
        return x;
    }

private:
    std::uint64_t seed_, count_ = 0;
};

/// What one point says: both sides are equal, or not, or a root on the way does not exist. `different_as_terms`: they differ, but a root or an opaque function is
/// on the way, and may be to blame.
enum class agreement { equal, different, different_as_terms, undefined };

/// Both, if both are defined.
[[nodiscard]] constexpr agreement operator&(agreement a, agreement b) {
    if (a == agreement::undefined || b == agreement::undefined) return agreement::undefined;
    if (a == agreement::different || b == agreement::different) return agreement::different;
    return a == agreement::equal ? b : a;
}

[[nodiscard]] constexpr agreement agree(const field& a, const field& b) {
    if (!a.defined() || !b.defined()) return agreement::undefined;
    return a == b ? agreement::equal : a.is_formal() || b.is_formal() ? agreement::different_as_terms : agreement::different;
}
/// Values and derivatives.
[[nodiscard]] constexpr agreement agree(const dual<field>& a, const dual<field>& b) {
    return agree(a.value(), b.value()) & agree(a.derivative(), b.derivative());
}
/// Two vectors or two matrices, element by element. Throws no_such_part (does not compile) unless their lengths are equal.
template <class X, class Y>
    requires((vector_like<X> && vector_like<Y>) || (matrix_like<X> && matrix_like<Y>))
[[nodiscard]] constexpr agreement agree(const X& x, const Y& y) {
    agreement all = agreement::equal;
    if constexpr (vector_like<X>) {
        if (x.length(0) != y.length(0)) throw no_such_part("two vectors of different lengths are compared");
        for (std::size_t i = 0; i < x.length(0); ++i) all = all & agree(x(i), y(i));
    } else {
        if (x.length(0) != y.length(0) || x.length(1) != y.length(1)) throw no_such_part("two matrices of different shapes are compared");
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t j = 0; j < x.length(1); ++j) all = all & agree(x(i, j), y(i, j));
    }
    return all;
}

namespace detail {
// The first `points` defined points; at each, what `sides(draw&)` gives must be `wanted`.
template <class F, class Wanted>
constexpr bool at_points(unsigned points, const F& sides, const Wanted& wanted) {
    constexpr unsigned most_draws = 4096; // a root exists at one point in 2 or 4
    for (unsigned seed = 1; points != 0; ++seed) {
        if (seed > most_draws) throw no_such_part("no point where every root exists: is one of a number that is no square, such as sqrt(d_k)?");
        draw x(seed);
        const agreement here = sides(x);
        if (here == agreement::undefined) continue;
        if (!wanted(here)) return false;
        --points;
    }
    return true;
}
} // namespace detail

/// Do both sides agree at as many random points? `sides(draw&)` draws a point and says whether they agree there.
template <class F>
[[nodiscard]] constexpr bool identity(unsigned points, const F& sides) {
    return points != 0 && detail::at_points(points, sides, [](agreement a) { return a == agreement::equal; });
}
/// Do the sides differ at a random point? Then they are not the same function: no probability is left. Not of terms with roots or opaque functions.
template <class F>
[[nodiscard]] constexpr bool no_identity(const F& sides) {
    return detail::at_points(1, sides, [](agreement a) { return a == agreement::different; });
}
/// The same of terms with roots or opaque functions: they are not the same function for every sign of the roots, and every function in place of the opaque ones.
/// Whoever asks has to say why that is what he wants.
template <class F>
[[nodiscard]] constexpr bool no_identity_of_terms(const F& sides) {
    return detail::at_points(1, sides, [](agreement a) { return a == agreement::different || a == agreement::different_as_terms; });
}

/// x + dx·ε.
[[nodiscard]] constexpr dual<field> along(const field& x, const field& dx) { return {x, dx}; }
template <class X, class D>
    requires((vector_like<X> && vector_like<D>) || (matrix_like<X> && matrix_like<D>))
[[nodiscard]] constexpr auto along(const X& x, const D& dx) {
    if constexpr (vector_like<X>) {
        auto y = tensor<dual<field>, axis_of<X, 0>>::with_lengths(x.length(0));
        for (std::size_t i = 0; i < x.length(0); ++i) y(i) = dual<field>(x(i), dx(i));
        return y;
    } else {
        auto y = tensor<dual<field>, axis_of<X, 0>, axis_of<X, 1>>::with_lengths(x.length(0), x.length(1));
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t j = 0; j < x.length(1); ++j) y(i, j) = dual<field>(x(i, j), dx(i, j));
        return y;
    }
}
/// Σ a b over all elements, where a dual number counts by its derivative: ⟨dy, J dx⟩ of `inner(dy, f(along(x, dx)))`. A vector-Jacobian product g of f is
/// the transpose of f's derivative just if ⟨dy, J dx⟩ = ⟨g, dx⟩ for all dx and dy.
[[nodiscard]] constexpr field counted(const field& x) { return x; }
[[nodiscard]] constexpr field counted(const dual<field>& x) { return x.derivative(); }
[[nodiscard]] constexpr field inner(const field& a, const field& b) { return a * b; }
[[nodiscard]] constexpr field inner(const field& a, const dual<field>& b) { return a * counted(b); }
template <class A, class B>
    requires((vector_like<A> && vector_like<B>) || (matrix_like<A> && matrix_like<B>))
[[nodiscard]] constexpr field inner(const A& a, const B& b) {
    field sum(0);
    if (a.length(0) != b.length(0)) throw no_such_part("the inner product of two tensors of different lengths");
    if constexpr (vector_like<A>) {
        for (std::size_t i = 0; i < a.length(0); ++i) sum = sum + counted(a(i)) * counted(b(i));
    } else {
        if (a.length(1) != b.length(1)) throw no_such_part("the inner product of two tensors of different shapes");
        for (std::size_t i = 0; i < a.length(0); ++i)
            for (std::size_t j = 0; j < a.length(1); ++j) sum = sum + counted(a(i, j)) * counted(b(i, j));
    }
    return sum;
}

} // namespace attest::proofs
