// SPDX-License-Identifier: BSL-1.0
// A score function of one's own has a gradient only if it brings one.
// EXPECT: the score function has no gradient: overload score_vjp for it, and zero_score_gradient if it has weights
#include "attest/gradient/attention.hpp"

struct n : attest::axis<3> {};
struct d_k : attest::axis<4> {};

struct half_dot_product {
    template <class Q, class K> constexpr double operator()(const Q& q, const K& k) const { return attest::dot(q, k) / 2; }
};
struct halved : attest::dot_product {};

int main() {
    attest::tensor<double, n, d_k> Q, K, V, dout;
#ifdef ATTEST_TWIN
    const auto gradient = attest::attention_vjp(Q, K, V, attest::everything{}, halved{}, dout);
#else
    const auto gradient = attest::attention_vjp(Q, K, V, attest::everything{}, half_dot_product{}, dout);
#endif
    return gradient.dq(0, 0) > 0;
}
