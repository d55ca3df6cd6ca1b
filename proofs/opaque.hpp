// SPDX-License-Identifier: BSL-1.0
/// \file
/// `opaque`: compositions of formulas at random points, with any functions in place of exponential, root and activation; and the weights of whole layers
/// as free variables.
///
/// In the field (attest/arithmetic/field.hpp) an exponential cannot be taken of what came out of another one, and a root exists at every second point:
/// an encoder layer has both several times over. But that LN(x + f(x)) is made of its parts in this order, or that a gradient is the transpose of a
/// derivative, needs no law of the exponential and none of the root but their rules of derivation, which `dual` has: e' = e, r' = 1/(2 r). So here they
/// are opaque: the same value for the same argument, and nothing else is known of it. What agrees for such functions agrees for all others, also for the real
/// ones, but for the small probability that two different formulas agree at random points.
#pragma once

#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/field.hpp"
#include "attest/shape/tensor.hpp"

namespace attest::proofs {

/// A whole number modulo the field's p.
class opaque {
    static constexpr modular::residue p = field::p;

public:
    constexpr opaque() = default;
    template <std::same_as<int> I>
    constexpr opaque(I x) // NOLINT(google-explicit-constructor): as in every arithmetic
        : residue_{x < 0 ? modular::negative(static_cast<modular::residue>(-x), p) : static_cast<modular::residue>(x)} {}
    [[nodiscard]] static constexpr opaque indeterminate(std::uint64_t seed, std::uint64_t index) { return of(modular::scrambled(seed, index, p)); }
    [[nodiscard]] static constexpr opaque pi() { return indeterminate(314, 159); }

    friend constexpr opaque operator+(const opaque& a, const opaque& b) { return of(modular::sum(a.residue_, b.residue_, p)); }
    friend constexpr opaque operator-(const opaque& a) { return of(modular::negative(a.residue_, p)); }
    friend constexpr opaque operator-(const opaque& a, const opaque& b) { return a + -b; }
    friend constexpr opaque operator*(const opaque& a, const opaque& b) { return of(modular::product(a.residue_, b.residue_, p)); }
    friend constexpr opaque operator/(const opaque& a, const opaque& b) {
        if (b.residue_ == 0) throw no_such_part("division by 0");
        return of(modular::product(a.residue_, modular::inverse(b.residue_, p), p));
    }
    friend constexpr bool operator==(const opaque&, const opaque&) = default;

    friend constexpr opaque attest_exp(const opaque& x) { return x.through(1); }
    friend constexpr opaque attest_sqrt(const opaque& x) { return x.through(2); }
    /// Odd: so much is known of it.
    friend constexpr opaque attest_tanh(const opaque& x) { return x.through(3) - (-x).through(3); }
    friend constexpr opaque attest_erf(const opaque& x) { return x.through(4); }
    friend constexpr opaque attest_relu(const opaque& x) { return x.through(5); }
    friend constexpr opaque attest_step(const opaque& x) { return x.through(6); }
    /// Any will do, as long as it is the same for the same scores.
    friend constexpr opaque attest_shift_point(const opaque& a, const opaque&) { return a; }

private:
    [[nodiscard]] static constexpr opaque of(modular::residue value) {
        opaque x;
        x.residue_ = value;
        return x;
    }
    [[nodiscard]] constexpr opaque through(std::uint64_t tag) const { return indeterminate(1000 + tag, residue_); }

    modular::residue residue_ = 0;
};
using opaque_dual = dual<opaque>;

/// Free variables, one after the other: the same for the same seed.
class opaque_draw {
public:
    constexpr explicit opaque_draw(unsigned seed) : seed_{seed} {}
    [[nodiscard]] constexpr opaque number() { return opaque::indeterminate(seed_, count_++); }
    /// Fills a vector or a matrix.
    template <class T>
    constexpr void fill(T& x) {
        for (std::size_t i = 0; i < x.elements(); ++i) x.data()[i] = number();
    }
    template <axis_type... A>
    [[nodiscard]] constexpr auto matrix() {
        tensor<opaque, A...> x;
        fill(x);
        return x;
    }

private:
    std::uint64_t seed_, count_ = 0;
};

/// Is `sides(opaque_draw&)` true at as many points?
template <class F>
[[nodiscard]] constexpr bool for_any_functions(unsigned points, const F& sides) {
    for (unsigned seed = 1; seed <= points; ++seed) {
        opaque_draw x(seed);
        if (!sides(x)) return false;
    }
    return points != 0;
}

/// f(tensors...) for each tensor of a layer's weights (or of a norm's, a network's, an attention's), the same one of all `w` at a time.
template <class F, class... W>
constexpr void for_each_tensor(const F& f, W&... w) {
    if constexpr ((requires { w.gamma; } && ...)) {
        f(w.gamma...), f(w.beta...);
    } else if constexpr ((requires { w.w_1; } && ...)) {
        f(w.w_1...), f(w.b_1...), f(w.w_2...), f(w.b_2...);
    } else if constexpr ((requires { w.w_q; } && ...)) {
        f(w.w_q...), f(w.w_k...), f(w.w_v...), f(w.w_o...), f(w.b_q...), f(w.b_k...), f(w.b_v...), f(w.b_o...);
    } else {
        for_each_tensor(f, w.self_attn...), for_each_tensor(f, w.norm1...), for_each_tensor(f, w.ffn...), for_each_tensor(f, w.norm2...);
        if constexpr ((requires { w.cross_attn; } && ...)) for_each_tensor(f, w.cross_attn...), for_each_tensor(f, w.norm3...);
    }
}

template <class W>
[[nodiscard]] constexpr W free_weights(opaque_draw& x) {
    W w{};
    for_each_tensor([&x](auto& t) { x.fill(t); }, w);
    return w;
}

/// x + dx·ε, and Σ a b, of tensors; b counts by its derivative, if it has one.
template <class T, class X, class D>
constexpr void set_along(T& to, const X& x, const D& dx) {
    for (std::size_t i = 0; i < to.elements(); ++i) to.data()[i] = opaque_dual(x.data()[i], dx.data()[i]);
}
[[nodiscard]] constexpr opaque counted(const opaque& x) { return x; }
[[nodiscard]] constexpr opaque counted(const opaque_dual& x) { return x.derivative(); }
template <class A, class B>
[[nodiscard]] constexpr opaque inner_product(const A& a, const B& b) {
    opaque sum(0);
    for (std::size_t i = 0; i < a.elements(); ++i) sum = sum + a.data()[i] * counted(b.data()[i]);
    return sum;
}

/// The same of weights. `Dual`: the weights' type with dual numbers.
template <class Dual, class W>
[[nodiscard]] constexpr Dual weights_along(const W& w, const W& dw) {
    Dual result{};
    for_each_tensor([](auto& to, const auto& x, const auto& dx) { set_along(to, x, dx); }, result, w, dw);
    return result;
}
template <class W>
[[nodiscard]] constexpr opaque inner_product_of_weights(const W& a, const W& b) {
    opaque sum(0);
    for_each_tensor([&sum](const auto& x, const auto& y) { sum = sum + inner_product(x, y); }, a, b);
    return sum;
}

} // namespace attest::proofs
