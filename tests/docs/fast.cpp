// SPDX-License-Identifier: BSL-1.0
// The example of docs/fast.md.
#include "attest/fast/attention_gradient.hpp"
#include "attest/fast/projection.hpp"
#include "catch.hpp"

// In a namespace without a name, so that another example may have axes of the same name.
namespace {
// [snippet]
#include <attest/fast/attention_gradient.hpp>
#include <attest/fast/projection.hpp>

using any = attest::axis<attest::dynamic>;
using heads = attest::tensor<double, any, any, any>; // heads × tokens × components

heads attended(const heads& q, const heads& k, const heads& v) {
    return attest::fast::attention(q, k, v, attest::causal_top_left{}, {.threads = 2});
}

heads gradient_of_queries(const heads& q, const heads& k, const heads& v, const heads& dout) {
    const auto forward = attest::fast::attention_with_lse(q, k, v);
    return attest::fast::attention_vjp(q, k, v, forward, dout).dq;
}

// With fixed axes a wrong shape does not compile, as everywhere.
struct n : attest::axis<2> {};
struct d_model : attest::axis<3> {};
struct d_k : attest::axis<1> {};
const attest::tensor<double, n, d_model> x{{1, 2, 3}, {4, 5, 6}};
const attest::tensor<double, d_model, d_k> w{{1}, {0}, {-1}};
const attest::tensor<double, n, d_k> projected = attest::fast::project_in_out(x, w); // -2, -2
// [/snippet]
} // namespace

TEST_CASE("the numbers of docs/fast.md", "[docs]") {
    CHECK(projected(0, 0) == -2);
    CHECK(projected(1, 0) == -2);
    auto q = heads::with_lengths(2, 3, 4), v = heads::with_lengths(2, 3, 1);
    for (std::size_t i = 0; i < v.elements(); ++i) v.data()[i] = static_cast<double>(i);
    CHECK(attended(q, q, v)(1, 2, 0) == 4); // the mean of 3, 4, 5
    CHECK(gradient_of_queries(q, q, v, v) == q);
}
