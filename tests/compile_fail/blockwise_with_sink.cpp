// SPDX-License-Identifier: BSL-1.0
// Attention block by block does not know sinks; it says so instead of leaving them out.
// EXPECT: blockwise_attention takes masks without dropout and without a sink
#include "attest/formula/blockwise.hpp"
#include "attest/formula/mask_extras.hpp"

struct n : attest::axis<3> {};
struct d_k : attest::axis<4> {};

int main() {
    attest::tensor<double, n, d_k> Q, K, V;
    const attest::attention_sink sink{0.5};
    const attest::sliding_window window{1, 1};
    return sink.sink() + window.visible(0, 0) +
#ifdef ATTEST_TWIN
               attest::blockwise_attention(Q, K, V, 2, window)(0, 0) > 0;
#else
               attest::blockwise_attention(Q, K, V, 2, sink)(0, 0) > 0;
#endif
}
