// SPDX-License-Identifier: BSL-1.0
// d_k and d_v have 64 components each, and are not the same: these "keys" are values.
// EXPECT: the keys K must have as many components as the queries Q: both have dimension d_k, and a score is the dot product q_i . k_j [same length, different axis]
// EXPECT: d_k
// EXPECT: d_v
#include "attest/formula/attention.hpp"
#include "attest/shape/heads.hpp"

struct n : attest::axis<3> {};
struct d_model : attest::axis<512> {};
struct H : attest::axis<8> {};
struct d_k : attest::per_head<d_model, H> {};
struct d_v : attest::per_head<d_model, H> {};

int main() {
    attest::tensor<double, n, d_k> Q;
    attest::tensor<double, n, d_v> V;
#ifdef ATTEST_TWIN
    attest::tensor<double, n, d_k> K;
#else
    attest::tensor<double, n, d_v> K;
#endif
    return attest::attention(Q, K, V)(0, 0) > 0;
}
