// SPDX-License-Identifier: BSL-1.0
// B035: a sequence longer than the table of learned positions.
// EXPECT: a table of learned positions must have a row for each position of the sequence: no sequence is longer than the table
#include "attest/formula/position.hpp"

struct L_max : attest::axis<4> {};
struct tokens : attest::axis<5> {};
struct d_model : attest::axis<2> {};

int main() {
    attest::tensor<double, L_max, d_model> table;
#ifdef ATTEST_TWIN
    attest::tensor<double, L_max, d_model> x;
#else
    attest::tensor<double, tokens, d_model> x;
#endif
    return attest::add_positions(x, table)(0, 0) > 0;
}
