// SPDX-License-Identifier: BSL-1.0
#include "number.hpp"

#include "attest/oracle/ball_functions.hpp"

#include <map>
#include <utility>

namespace attest::worked {

using enclosed = ball<big_float>;

// What has been found out about a node is kept: a weight is part of many numbers.
struct number::node {
    operation what = operation::value;
    std::shared_ptr<node> a, b;
    std::optional<fraction> value;

    bool form_known = false;
    std::optional<form> found_form;
    std::map<unsigned, enclosed> near; // by bits

    const std::optional<form>& as_form() {
        if (!form_known) found_form = make_form();
        form_known = true;
        return found_form;
    }
    const enclosed& enclosure(unsigned wanted) {
        const auto known = near.find(wanted);
        return known != near.end() ? known->second : near.emplace(wanted, make_enclosure(wanted)).first->second;
    }

private:
    std::optional<form> make_form() {
        if (value) return form(*value);
        if (what == operation::sine || what == operation::cosine || what == operation::error_function || what == operation::logarithm) return std::nullopt;
        const std::optional<form>& x = a->as_form();
        if (!x) return std::nullopt;
        if (what == operation::root) return form::root(*x);
        if (what == operation::exponential) return form::exponential(*x);
        const std::optional<form>& y = b->as_form();
        if (!y) return std::nullopt;
        return what == operation::sum ? form::sum(*x, *y) : what == operation::product ? form::product(*x, *y) : form::quotient(*x, *y);
    }
    enclosed make_enclosure(unsigned wanted) {
        const auto whole = [](const integer& n) { return enclosed(big_float(n, 0), magnitude()); };
        if (value) {
            const working_precision precision(wanted);
            return whole(integer(numerator(*value))) / whole(integer(denominator(*value)));
        }
        const enclosed x = a->enclosure(wanted);
        const enclosed y = b ? b->enclosure(wanted) : enclosed();
        const working_precision precision(wanted);
        switch (what) {
        case operation::sum: return x + y;
        case operation::product: return x * y;
        case operation::quotient: return x / y;
        case operation::root: return attest_sqrt(x);
        case operation::exponential: return attest_exp(x);
        case operation::sine: return attest_sin(x);
        case operation::cosine: return attest_cos(x);
        case operation::logarithm: return attest_log(x);
        case operation::error_function: return error_function(x, wanted);
        case operation::value: break;
        }
        return enclosed::unknown();
    }
    // erf x = 2x/√π e^−x² Σ (2x²)^n/(1·3·…·(2n + 1)), whose terms are all positive; once 2x²/(2n + 3) <= 1/2 the rest after a term is below that term.
    // Where x² > bits, 0 < 1 − |erf x| < e^−x². |erf'| <= 2/√π < 1.13.
    static enclosed error_function(const enclosed& x, unsigned wanted) {
        if (!x.is_known()) return enclosed::unknown();
        const enclosed m = x.point(), square = m * m;
        const double near_square = square.nearest_double();
        const magnitude moved = x.radius() * magnitude(1.13);
        if (near_square > wanted) {
            const enclosed left = attest_exp(-square);
            if (!left.is_known()) return enclosed::unknown();
            const enclosed y = enclosed(1).widened(left.greatest());
            return (m.middle().is_negative() ? -y : y).widened(moved);
        }
        enclosed term(1), sum(1);
        const enclosed twice = square + square;
        for (int n = 1;; ++n) {
            term = term * twice / enclosed(2 * n + 1);
            sum = sum + term;
            if (2 * n + 3 > 4 * near_square + 4 && term.greatest() <= sum.middle_size().times_power_of_two(-static_cast<std::int64_t>(wanted) - 4)) break;
        }
        sum = sum.widened(term.greatest());
        const enclosed pi = detail::half_pi_of<big_float>() * enclosed(2);
        return (enclosed(2) * m / attest_sqrt(pi) * attest_exp(-square) * sum).widened(moved);
    }
};

number::number(const fraction& x) : node_{std::make_shared<node>()} { node_->value = x; }

number number::of(operation what, const number& a, const number& b) {
    number x;
    x.node_ = std::make_shared<node>();
    x.node_->what = what;
    x.node_->a = a.node_;
    x.node_->b = b.node_;
    return x;
}

const std::optional<fraction>& number::exact() const {
    if (!node_->value)
        if (const std::optional<form>& f = node_->as_form()) node_->value = f->as_fraction();
    return node_->value;
}

const enclosed& number::enclosure(unsigned bits) const { return node_->enclosure(bits); }

number operator+(const number& a, const number& b) {
    const auto &x = a.node_->value, &y = b.node_->value;
    if (x && y) return number(fraction(*x + *y));
    if (x && *x == 0) return b;
    if (y && *y == 0) return a;
    return number::of(number::operation::sum, a, b);
}
number operator-(const number& a) { return number(-1) * a; }
number operator-(const number& a, const number& b) { return a + -b; }
number operator*(const number& a, const number& b) {
    const auto &x = a.node_->value, &y = b.node_->value;
    if (x && y) return number(fraction(*x * *y));
    if ((x && *x == 0) || (y && *y == 1)) return a;
    if ((y && *y == 0) || (x && *x == 1)) return b;
    return number::of(number::operation::product, a, b);
}
number operator/(const number& a, const number& b) {
    const auto &x = a.node_->value, &y = b.node_->value;
    if (y && *y == 0) throw std::domain_error("a worked example divides by 0");
    if (x && y) return number(fraction(*x / *y));
    if ((x && *x == 0) || (y && *y == 1)) return a;
    return number::of(number::operation::quotient, a, b);
}
number sqrt(const number& a) {
    if (const auto& x = a.exact())
        if (const std::optional<fraction> root = root_of_square(*x)) return number(*root);
    return number::of(number::operation::root, a, a);
}
number exp(const number& a) { return a.is(0) ? number(1) : number::of(number::operation::exponential, a, a); }
number sin(const number& a) { return a.is(0) ? number(0) : number::of(number::operation::sine, a, a); }
number cos(const number& a) { return a.is(0) ? number(1) : number::of(number::operation::cosine, a, a); }
number erf(const number& a) { return a.is(0) ? number(0) : number::of(number::operation::error_function, a, a); }

namespace {

// The q-th root of a whole number that has one.
std::optional<integer> whole_root(const integer& n, int q) {
    integer low = 0, high = integer(1) << (big_float::length_of(n) / static_cast<unsigned>(q) + 1);
    while (low + 1 < high) {
        const integer middle = (low + high) / 2;
        (pow(middle, static_cast<unsigned>(q)) <= n ? low : high) = middle;
    }
    if (pow(low, static_cast<unsigned>(q)) != n) return std::nullopt;
    return low;
}

} // namespace

number power(const number& base, int p, int q) {
    if (p < 0) return number(1) / power(base, -p, q);
    if (p == 0) return number(1);
    const auto& x = base.exact();
    if (x) {
        const integer above = pow(integer(numerator(*x)), static_cast<unsigned>(p)), below = pow(integer(denominator(*x)), static_cast<unsigned>(p));
        const auto root_above = whole_root(above, q), root_below = whole_root(below, q);
        if (root_above && root_below) return number(fraction(*root_above, *root_below));
    }
    return exp(number::of(number::operation::logarithm, base, base) * number(fraction(p, q)));
}

std::optional<int> sign(const number& x) {
    if (const auto& r = x.exact()) return *r < 0 ? -1 : *r > 0 ? 1 : 0;
    for (unsigned bits = least_bits; bits <= most_bits; bits *= 2) {
        const enclosed& e = x.enclosure(bits);
        if (e.is_known() && !e.middle().is_zero() && e.radius() < middle_of<big_float>::least(e.middle())) return e.middle().is_negative() ? -1 : 1;
    }
    return std::nullopt;
}

} // namespace attest::worked
