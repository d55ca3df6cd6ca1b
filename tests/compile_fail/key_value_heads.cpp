// SPDX-License-Identifier: BSL-1.0
// Eight heads cannot share three key-value heads evenly.
// EXPECT: the number of key-value heads must divide the number of heads: each serves equally many
// EXPECT: H_kv
#include "attest/formula/multi_head.hpp"

struct n : attest::axis<2> {};
struct d_model : attest::axis<16> {};
struct d_k : attest::axis<2> {};
struct H : attest::axis<8> {};
#ifdef ATTEST_TWIN
struct H_kv : attest::axis<4> {};
#else
struct H_kv : attest::axis<3> {};
#endif

int main() {
    const attest::tensor<float, n, d_model> X;
    const attest::multi_head_weights<float, d_model, H, d_k, d_k, H_kv> w;
    return attest::multi_head_attention(X, w)(0, 0) > 0;
}
