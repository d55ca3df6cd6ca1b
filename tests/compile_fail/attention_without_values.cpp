// SPDX-License-Identifier: BSL-1.0
// softmax(Q Kᵀ / √d_k) is n × n (A015 forgets V); where attention's n × d_v is needed it does not fit.
// EXPECT: tensors that are combined element by element must have the same shape
// EXPECT-GNU: (64 == 3)
// EXPECT-Clang: 64 == 3
#include "attest/formula/attention.hpp"

struct n : attest::axis<3> {};
struct d_k : attest::axis<16> {};
struct d_v : attest::axis<64> {};

int main() {
    attest::tensor<double, n, d_k> Q, K;
    attest::tensor<double, n, d_v> V;
    const auto A = attest::attention_weights(Q, K);
    const auto Z = attest::attention(Q, K, V);
#ifdef ATTEST_TWIN
    const attest::tensor<double, n, d_v> out(Z);
#else
    const attest::tensor<double, n, d_v> out(A);
#endif
    return A(0, 0) + Z(0, 0) + out(0, 0) > 0;
}
