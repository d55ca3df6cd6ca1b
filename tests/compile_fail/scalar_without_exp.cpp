// SPDX-License-Identifier: BSL-1.0
// A rational-like scalar has no exponential: its softmax is no rational number.
// EXPECT: softmax needs a scalar with an exponential: attest::exp must take it
#include "attest/formula/softmax.hpp"

namespace mine {
template <bool Exponential> struct fraction {
    int numerator = 0, denominator = 1;
    constexpr fraction() = default;
    constexpr explicit fraction(int n, int d = 1) : numerator{n}, denominator{d} {}
    friend constexpr fraction operator+(fraction a, fraction b) {
        return fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
    }
    friend constexpr fraction operator-(fraction a) { return fraction(-a.numerator, a.denominator); }
    friend constexpr fraction operator-(fraction a, fraction b) { return a + -b; }
    friend constexpr fraction operator*(fraction a, fraction b) { return fraction(a.numerator * b.numerator, a.denominator * b.denominator); }
    friend constexpr fraction operator/(fraction a, fraction b) { return fraction(a.numerator * b.denominator, a.denominator * b.numerator); }
    friend constexpr bool operator<(fraction a, fraction b) { return a.numerator * b.denominator < b.numerator * a.denominator; }
    friend constexpr fraction attest_exp(fraction a)
        requires Exponential
    {
        return a;
    }
};
} // namespace mine

int main() {
#ifdef ATTEST_TWIN
    attest::tensor<mine::fraction<true>, attest::axis<2>> x;
#else
    attest::tensor<mine::fraction<false>, attest::axis<2>> x;
#endif
    return attest::softmax(x)(0).numerator;
}
