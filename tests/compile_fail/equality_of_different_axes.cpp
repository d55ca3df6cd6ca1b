// SPDX-License-Identifier: BSL-1.0
// Queries compared with keys: as many numbers, and another meaning.
// EXPECT: tensors that are combined element by element must have the same shape [same length, different axis]
// EXPECT: n_q
// EXPECT: n_k
#include "attest/shape/tensor.hpp"

struct n_q : attest::axis<3> {};
struct n_k : attest::axis<3> {};
struct d : attest::axis<2> {};

int main() {
    attest::tensor<double, n_q, d> x;
#ifdef ATTEST_TWIN
    attest::tensor<double, n_q, d> y;
#else
    attest::tensor<double, n_k, d> y;
#endif
    return x == y;
}
