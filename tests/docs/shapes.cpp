// SPDX-License-Identifier: BSL-1.0
// The example of docs/shapes.md.
#include "attest/formula/attention.hpp"
#include "attest/shape/heads.hpp"
#include "attest/shape/print.hpp"
#include "attest/shape/ranges.hpp"
#include "catch.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace {
// [snippet]
#include <attest/formula/attention.hpp>
#include <attest/shape/heads.hpp>
#include <attest/shape/ranges.hpp>

struct d_model : attest::axis<512> {};
struct H : attest::axis<8> {};
struct d_k : attest::per_head<d_model, H> {};   // 64; an error, in words, unless H divides d_model
struct d_v : attest::per_head<d_model, H> {};   // 64 as well, and another axis than d_k
struct n : attest::axis<attest::dynamic> {};    // a length that is known at run time

// Shapes over the memory that a program already has: nothing is copied.
std::vector<float> attend(std::vector<float>& q, std::vector<float>& k, std::vector<float>& v) {
    const std::size_t length = q.size() / d_k::size;
    const auto Q = attest::shaped<n, d_k>(q, length, d_k::size); // throws shape_error unless the size is right
    const auto K = attest::shaped<n, d_k>(k, length, d_k::size);
    const auto V = attest::shaped<n, d_v>(v, length, d_v::size);
    const attest::tensor<float, n, d_v> Z = attest::attention(Q, K, V);
    std::vector<float> row_sums;
    for (const auto row : attest::rows(Z)) {
        row_sums.push_back(0);
        for (const float z : attest::elements(row)) row_sums.back() += z;
    }
    return row_sums;
}
// [/snippet]
static_assert(d_k::size == 64 && d_v::size == 64 && !attest::meets<d_k, d_v> && attest::heads<H, d_v>::size == 512);
} // namespace

TEST_CASE("the example and the message of docs/shapes.md", "[docs]") {
    std::vector<float> q(3 * 64), k(3 * 64, 1), v(3 * 64, 0.5F);
    CHECK(attend(q, k, v) == std::vector<float>{32, 32, 32});
    std::vector<float> short_v(2 * 64);
    CHECK_THROWS_WITH(attend(q, k, short_v), "the memory must hold exactly the elements of the shape laid over it (128 and 192)");
    using dyn = attest::axis<attest::dynamic>;
    const auto Q = attest::tensor<float, dyn, dyn>::with_lengths(3, 64), K = attest::tensor<float, dyn, dyn>::with_lengths(5, 32);
    CHECK_THROWS_WITH(attest::scaled_scores(Q, K), "the keys K must have as many components as the queries Q: both have dimension d_k, and a "
                                                   "score is the dot product q_i . k_j (64 and 32)");
    static_assert(attest::detail::inline_bytes == 16 * 1024);
    std::ostringstream out;
    out << attest::tensor<int, attest::axis<2>, attest::axis<2>>{{1, 2}, {3, 4}};
    CHECK(out.str() == "[[1, 2],\n [3, 4]]");
}
