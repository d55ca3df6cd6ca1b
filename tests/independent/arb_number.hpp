// SPDX-License-Identifier: BSL-1.0
/// \file
/// `arb_number`: a ball of Arb (FLINT from version 3 on), with operators. The only file that knows Arb's names for arithmetic.
///
/// A ball holds the exact value: Arb proves that each of its operations keeps it inside. It is computed with `arb_number::precision` bits; what fits into
/// them stays exact (radius 0), sums, products, quotients and roots alike.
#pragma once

// Debian 12 has Arb 2.23 beside FLINT 2.9; since FLINT 3 it is a part of it.
#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#else
#include <arb.h>
#endif

#include <concepts>
#include <stdexcept>
#include <string>

namespace independent {

/// A number of any exponent, exact: an end of a ball.
class arf_number {
public:
    arf_number() { arf_init(x_); }
    explicit arf_number(double value) : arf_number() { arf_set_d(x_, value); }
    arf_number(const arf_number& other) : arf_number() { arf_set(x_, other.x_); }
    arf_number(arf_number&& other) noexcept : arf_number() { arf_swap(x_, other.x_); }
    arf_number& operator=(const arf_number& other) {
        arf_set(x_, other.x_);
        return *this;
    }
    arf_number& operator=(arf_number&& other) noexcept {
        arf_swap(x_, other.x_);
        return *this;
    }
    ~arf_number() { arf_clear(x_); }
    [[nodiscard]] arf_ptr get() { return x_; }
    [[nodiscard]] arf_srcptr get() const { return x_; }

private:
    arf_t x_;
};

class arb_number {
public:
    /// Bits of every result. One for the whole program, which has one thread.
    static inline slong precision = 256;

    arb_number() { arb_init(x_); }
    template <std::same_as<int> I> arb_number(I value) : arb_number() { arb_set_si(x_, value); } // NOLINT(google-explicit-constructor)
    explicit arb_number(double value) : arb_number() { arb_set_d(x_, value); }                   // exact
    arb_number(const arb_number& other) : arb_number() { arb_set(x_, other.x_); }
    arb_number(arb_number&& other) noexcept : arb_number() { arb_swap(x_, other.x_); }
    arb_number& operator=(const arb_number& other) {
        arb_set(x_, other.x_);
        return *this;
    }
    arb_number& operator=(arb_number&& other) noexcept {
        arb_swap(x_, other.x_);
        return *this;
    }
    ~arb_number() { arb_clear(x_); }
    /// A decimal (1e-5 is ten to the minus five) or a hex float that double holds.
    [[nodiscard]] static arb_number from_text(const std::string& text) {
        if (text.find('x') != std::string::npos) return arb_number(std::stod(text));
        arb_number a;
        if (arb_set_str(a.x_, text.c_str(), precision) != 0) throw std::invalid_argument("'" + text + "' is no number");
        return a;
    }

    [[nodiscard]] arb_ptr get() { return x_; }
    [[nodiscard]] arb_srcptr get() const { return x_; }
    [[nodiscard]] bool is_exact() const { return arb_is_exact(x_) != 0; }
    [[nodiscard]] bool is_finite() const { return arb_is_finite(x_) != 0; }

    // In place where the left operand is about to go, which saves most of the copies.
    friend arb_number operator+(arb_number a, const arb_number& b) {
        arb_add(a.x_, a.x_, b.x_, precision);
        return a;
    }
    friend arb_number operator-(arb_number a, const arb_number& b) {
        arb_sub(a.x_, a.x_, b.x_, precision);
        return a;
    }
    friend arb_number operator*(arb_number a, const arb_number& b) {
        arb_mul(a.x_, a.x_, b.x_, precision);
        return a;
    }
    friend arb_number operator/(arb_number a, const arb_number& b) {
        arb_div(a.x_, a.x_, b.x_, precision);
        return a;
    }
    friend arb_number operator-(arb_number a) {
        arb_neg(a.x_, a.x_);
        return a;
    }
    arb_number& operator+=(const arb_number& b) {
        arb_add(x_, x_, b.x_, precision);
        return *this;
    }
    /// *this += a · b
    arb_number& add_product(const arb_number& a, const arb_number& b) {
        arb_addmul(x_, a.x_, b.x_, precision);
        return *this;
    }

    friend arb_number exp(const arb_number& a) { return of(arb_exp, a); }
    friend arb_number log(const arb_number& a) { return of(arb_log, a); }
    friend arb_number sqrt(const arb_number& a) { return of(arb_sqrt, a); }
    friend arb_number tanh(const arb_number& a) { return of(arb_tanh, a); }
    friend arb_number sin(const arb_number& a) { return of(arb_sin, a); }
    friend arb_number cos(const arb_number& a) { return of(arb_cos, a); }
    /// 1/cosh a; its square is the derivative of tanh.
    friend arb_number sech(const arb_number& a) { return of(arb_sech, a); }
    /// The root of degree n of a > 0.
    friend arb_number root(const arb_number& a, unsigned n) {
        arb_number result;
        arb_root_ui(result.x_, a.x_, n, precision);
        return result;
    }
    /// 2^k, exactly.
    [[nodiscard]] static arb_number power_of_two(long k) {
        arb_number a(1);
        arb_mul_2exp_si(a.x_, a.x_, k);
        return a;
    }

    /// Both the same exact number: certainly equal.
    friend bool same_exact(const arb_number& a, const arb_number& b) { return a.is_exact() && b.is_exact() && arb_equal(a.x_, b.x_) != 0; }
    /// Whether the middle of a is the greater one. To choose a shift, where any choice is right.
    friend bool middle_is_greater(const arb_number& a, const arb_number& b) { return arf_cmp(arb_midref(a.x_), arb_midref(b.x_)) > 0; }

private:
    static arb_number of(void (*function)(arb_t, const arb_t, slong), const arb_number& a) {
        arb_number result;
        function(result.x_, a.x_, precision);
        return result;
    }

    arb_t x_;
};

/// Sets the precision as long as it lives.
class with_precision {
public:
    explicit with_precision(slong bits) { arb_number::precision = bits; }
    ~with_precision() { arb_number::precision = before_; }
    with_precision(const with_precision&) = delete;
    with_precision& operator=(const with_precision&) = delete;

private:
    slong before_ = arb_number::precision;
};

} // namespace independent
