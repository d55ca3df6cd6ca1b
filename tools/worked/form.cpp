// SPDX-License-Identifier: BSL-1.0
#include "form.hpp"

namespace attest::worked {

namespace {

// So many terms are enough for three rows of a board example under one denominator; more cost more than they tell.
constexpr std::size_t most_terms = 200;

void add_to(surd& into, const integer& n, const fraction& f) {
    fraction& at = into[n];
    at += f;
    if (at == 0) into.erase(n);
}
surd sum_of(surd a, const surd& b) {
    for (const auto& [n, f] : b) add_to(a, n, f);
    return a;
}
// √m·√n = g·√((m/g)·(n/g)) for every common divisor g.
surd product_of(const surd& a, const surd& b) {
    surd result;
    for (const auto& [m, f] : a)
        for (const auto& [n, h] : b) {
            const integer g = gcd(m, n);
            add_to(result, integer((m / g) * (n / g)), fraction(f * h * fraction(g)));
        }
    return result;
}
exponential_sum sum_of(exponential_sum a, const exponential_sum& b) {
    for (const auto& [exponent, c] : b) {
        surd& at = a[exponent];
        at = sum_of(std::move(at), c);
        if (at.empty()) a.erase(exponent);
    }
    return a;
}
exponential_sum product_of(const exponential_sum& a, const exponential_sum& b) {
    exponential_sum result;
    for (const auto& [x, c] : a)
        for (const auto& [y, d] : b) {
            const surd exponent = sum_of(x, y);
            surd& at = result[exponent];
            at = sum_of(std::move(at), product_of(c, d));
            if (at.empty()) result.erase(exponent);
        }
    return result;
}
surd negative(surd a) {
    for (auto& [n, f] : a) f = -f;
    return a;
}
bool fits(const exponential_sum& a) { return a.size() <= most_terms; }
bool product_fits(const exponential_sum& a, const exponential_sum& b) { return a.size() * b.size() <= 40 * most_terms; }

// √n as f·√m with what squares of small primes take out of it.
std::pair<fraction, integer> simplified_root(integer n) {
    integer outside = 1;
    for (unsigned p = 2; p < 1000; p += p == 2 ? 1 : 2)
        while (n % (p * p) == 0) {
            n /= p * p;
            outside *= p;
        }
    integer rest;
    const integer r = sqrt(n, rest);
    if (rest == 0) return {fraction(outside * r), 1};
    return {fraction(outside), n};
}

} // namespace

std::optional<fraction> root_of_square(const fraction& x) {
    if (x < 0) return std::nullopt;
    integer rest;
    const integer above = sqrt(integer(numerator(x)), rest);
    if (rest != 0) return std::nullopt;
    const integer below = sqrt(integer(denominator(x)), rest);
    if (rest != 0) return std::nullopt;
    return fraction(above, below);
}

form::form(const fraction& x) {
    if (x != 0) above_ = {{{}, {{1, x}}}};
}

form::form(exponential_sum above, exponential_sum below) : above_{std::move(above)}, below_{std::move(below)} {
    // A denominator of one term f·√n·e^a is 1 after multiplying with √n·e^−a/(f·n): then sums find common denominators more often.
    if (below_.size() != 1 || below_.begin()->second.size() != 1) return;
    const auto& [exponent, c] = *below_.begin();
    const auto& [n, f] = *c.begin();
    above_ = product_of(above_, {{negative(exponent), {{n, fraction(1 / (f * fraction(n)))}}}});
    below_ = {{{}, {{1, 1}}}};
}

const surd* form::as_surd() const {
    static const surd zero;
    if (above_.empty()) return &zero;
    const bool whole = below_.size() == 1 && below_.begin()->first.empty() && below_.begin()->second == surd{{1, 1}};
    return whole && above_.size() == 1 && above_.begin()->first.empty() ? &above_.begin()->second : nullptr;
}

std::optional<form> form::sum(const form& a, const form& b) {
    if (a.above_.empty()) return b;
    if (b.above_.empty()) return a;
    if (a.below_ == b.below_) return form(sum_of(a.above_, b.above_), a.below_);
    if (!product_fits(a.above_, b.below_) || !product_fits(b.above_, a.below_) || !product_fits(a.below_, b.below_)) return std::nullopt;
    form result(sum_of(product_of(a.above_, b.below_), product_of(b.above_, a.below_)), product_of(a.below_, b.below_));
    if (!fits(result.above_) || !fits(result.below_)) return std::nullopt;
    return result;
}
std::optional<form> form::product(const form& a, const form& b) {
    if (!product_fits(a.above_, b.above_) || !product_fits(a.below_, b.below_)) return std::nullopt;
    form result(product_of(a.above_, b.above_), product_of(a.below_, b.below_));
    if (!fits(result.above_) || !fits(result.below_)) return std::nullopt;
    return result;
}
std::optional<form> form::quotient(const form& a, const form& b) {
    if (b.above_.empty()) return std::nullopt;
    form inverse;
    inverse.above_ = b.below_;
    inverse.below_ = b.above_;
    return product(a, form(std::move(inverse.above_), std::move(inverse.below_)));
}
std::optional<form> form::root(const form& a) {
    const std::optional<fraction> x = a.as_fraction();
    if (!x || *x < 0) return std::nullopt;
    if (*x == 0) return form();
    const integer p(numerator(*x)), q(denominator(*x)); // √(p/q) = √(p·q)/q
    const auto [outside, n] = simplified_root(integer(p * q));
    form result;
    result.above_ = {{{}, {{n, fraction(outside / fraction(q))}}}};
    return result;
}
std::optional<form> form::exponential(const form& a) {
    const surd* exponent = a.as_surd();
    if (exponent == nullptr) return std::nullopt;
    form result;
    result.above_ = {{*exponent, {{1, 1}}}};
    return result;
}

std::optional<fraction> form::as_fraction() const {
    if (above_.empty()) return fraction(0);
    // above = r·below, term by term.
    if (above_.size() != below_.size()) return std::nullopt;
    const surd &first = above_.begin()->second, &under = below_.begin()->second;
    if (first.size() != under.size() || first.begin()->first != under.begin()->first) return std::nullopt;
    const fraction r = first.begin()->second / under.begin()->second;
    auto d = below_.begin();
    for (const auto& [exponent, c] : above_) {
        if (exponent != d->first || c != product_of(d->second, {{1, r}})) return std::nullopt;
        ++d;
    }
    return r;
}

} // namespace attest::worked
