// SPDX-License-Identifier: BSL-1.0
// A number of an ordinary arithmetic that remembers how it was made: its gradient is what an autograd framework would compute, operation by
// operation. Nothing here comes from the library.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace plain {

template <class T> class number {
public:
    using scalar = T;

    number() = default;
    number(T x) : value{x} {} // NOLINT(google-explicit-constructor)
    /// A number whose gradient is wanted.
    static number leaf(T x) {
        number n(x);
        n.at = static_cast<long>(tape().size());
        tape().push_back({});
        return n;
    }
    static void forget() { tape().clear(); }
    /// Σ seed · ∂(number) for every entry of the tape.
    static std::vector<T> backward(const std::vector<std::pair<number, T>>& seeds) {
        std::vector<T> slope(tape().size(), T(0));
        for (const auto& [n, seed] : seeds)
            if (n.at >= 0) slope[static_cast<std::size_t>(n.at)] += seed;
        for (std::size_t e = tape().size(); e-- > 0;) {
            const entry& made = tape()[e];
            if (made.a >= 0) slope[static_cast<std::size_t>(made.a)] += made.da * slope[e];
            if (made.b >= 0) slope[static_cast<std::size_t>(made.b)] += made.db * slope[e];
        }
        return slope;
    }

    friend number operator-(const number& x) { return made(-x.value, x, T(-1)); }
    friend number operator+(const number& x, const number& y) { return made(x.value + y.value, x, T(1), y, T(1)); }
    friend number operator-(const number& x, const number& y) { return made(x.value - y.value, x, T(1), y, T(-1)); }
    friend number operator*(const number& x, const number& y) { return made(x.value * y.value, x, y.value, y, x.value); }
    friend number operator/(const number& x, const number& y) {
        const T ratio = x.value / y.value;
        return made(ratio, x, T(1) / y.value, y, -ratio / y.value);
    }
    friend number exp(const number& x) {
        const T y = std::exp(x.value);
        return made(y, x, y);
    }
    friend number log(const number& x) { return made(std::log(x.value), x, T(1) / x.value); }
    friend number sqrt(const number& x) {
        const T y = std::sqrt(x.value);
        return made(y, x, T(1) / (T(2) * y));
    }
    friend number tanh(const number& x) {
        const T y = std::tanh(x.value);
        return made(y, x, T(1) - y * y);
    }
    friend number erf(const number& x) { return made(std::erf(x.value), x, T(1.128379167095512573896158903121545172L) * std::exp(-x.value * x.value)); }
    friend number positive_part(const number& x) { return x.value > 0 ? x : made(T(0), x, T(0)); }

    T value{};
    long at = -1; // where on the tape; −1: a constant

private:
    struct entry {
        long a = -1, b = -1;
        T da{}, db{};
    };
    static std::vector<entry>& tape() {
        static std::vector<entry> all;
        return all;
    }
    static number made(T value, const number& a, T da, const number& b = number(), T db = T(0)) {
        number n(value);
        if (a.at < 0 && b.at < 0) return n;
        n.at = static_cast<long>(tape().size());
        tape().push_back({a.at, b.at, da, db});
        return n;
    }
};

} // namespace plain
