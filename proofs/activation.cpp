// SPDX-License-Identifier: BSL-1.0
// ReLU, exactly; and of GELU what is exact in double.

#include "attest/formula/activation.hpp"
#include "attest/arithmetic/dual.hpp"
#include "attest/gradient/activation.hpp"

namespace attest::proofs {
namespace {

// [A104]
// A104: ReLU(x) = x for x > 0, else 0; element by element.
struct components : axis<5> {};
static_assert(relu(tensor<int, components>{-7, -1, 0, 1, 7}) == tensor<int, components>{0, 0, 0, 1, 7});

// What follows from it, at every integer from −500 to 500.
template <class Law>
constexpr bool holds(const Law& law) {
    for (int x = -500; x <= 500; ++x)
        if (!law(x)) return false;
    return true;
}
static_assert(holds([](int x) { return relu(x) - relu(-x) == x && relu(x) * relu(-x) == 0; }));
static_assert(holds([](int x) { return relu(relu(x)) == relu(x) && relu(3 * x) == 3 * relu(x); }));
// It is not linear: that is what it is for (A097).
static_assert(relu(1) + relu(-1) != relu(1 + -1));
// [/A104]

// [slope]
// At 0 it has no slope: the difference quotients from the right and from the left are 1 and 0, however small the step.
constexpr double from_the_right = (relu(0x1p-1000) - relu(0.0)) / 0x1p-1000;
constexpr double from_the_left = (relu(0.0) - relu(-0x1p-1000)) / 0x1p-1000;
static_assert(from_the_right == 1 && from_the_left == 0);
// By convention it is 0 there, and ε carries the same slope along.
static_assert(relu_slope(0) == 0 && relu_slope(1) == 1 && relu_slope(-1) == 0);
static_assert(holds([](int x) {
    return relu(dual<int>(x, 3)).value() == relu(x) && relu(dual<int>(x, 3)).derivative() == 3 * relu_slope(x);
}));
// Away from 0 the slope is the difference quotient.
static_assert(holds([](int x) { return x == 0 || 2 * relu_slope(x) == relu(x + 1) - relu(x - 1); }));
// [/slope]

// [A105]
// A105: every form of GELU is 0 at 0, with slope 1/2, and these are exact in double.
constexpr gelu_form forms[] = {gelu_form::erf, gelu_form::tanh, gelu_form::sigmoid};
constexpr bool same_at_zero = [] {
    for (const gelu_form form : forms) {
        const dual<double> at_zero = gelu(dual<double>(0, 1), form);
        if (at_zero.value() != 0 || at_zero.derivative() != 0.5 || gelu_slope(0.0, form) != 0.5) return false;
    }
    return true;
}();
static_assert(same_at_zero);
// [/A105]

} // namespace
} // namespace attest::proofs
