// SPDX-License-Identifier: BSL-1.0
// Concat(head_1, …, head_8) has 8 · 64 components (B022, B025); a W_O for one head does not fit.
// EXPECT: W_O must have one row for each component of Concat(head_1, ..., head_H): H times d_v rows
// EXPECT-GNU: (512 == 64)
// EXPECT-Clang: 512 == 64
#include "attest/formula/multi_head.hpp"

struct n : attest::axis<3> {};
struct d_model : attest::axis<32> {};
struct H : attest::axis<8> {};
struct d_v : attest::axis<64> {};
using all_heads = attest::heads<H, d_v>;

int main() {
    const attest::tensor<float, n, all_heads> concat;
#ifdef ATTEST_TWIN
    const attest::tensor<float, all_heads, d_model> W_O;
#else
    const attest::tensor<float, d_v, d_model> W_O;
#endif
    return attest::matmul<attest::rules::output_row_for_each_head_component>(concat, W_O)(0, 0) > 0;
}
