// SPDX-License-Identifier: BSL-1.0
#include "attest/shape/heads.hpp"
#include "attest/formula/matmul.hpp"
#include "catch.hpp"

#include <type_traits>

using namespace attest;

namespace {

struct n : axis<3> {};
struct d_model : axis<512> {};
struct H : axis<8> {};
struct d_k : per_head<d_model, H> {};
struct d_v : per_head<d_model, H> {};
struct run_time_heads : axis<dynamic> {};

static_assert(d_k::size == 64 && d_v::size == 64, "512 / 8");
static_assert(!meets<d_k, d_v>, "64 as well, and another axis");
static_assert(lengths_may_agree<d_k, d_v> && !is_anonymous<d_k>);
static_assert(axis_type<per_head<d_model, H>> && !is_anonymous<per_head<d_model, H>>);
static_assert(is_dynamic<per_head<d_model, run_time_heads>> && is_dynamic<heads<run_time_heads, d_v>> && is_dynamic<heads<H, run_time_heads>>);

using concat = heads<H, d_v>;
static_assert(concat::size == 512 && axis_type<concat>);
static_assert(!meets<concat, d_model>, "H · d_v components are not the model's, though there are as many: W_O brings them there");
static_assert(meets<concat, heads<H, d_v>> && !meets<concat, heads<H, d_k>>);

// Concat · W_O has the shape of the input.
using projected = decltype(matmul(std::declval<const tensor<double, n, concat>&>(), std::declval<const tensor<double, concat, d_model>&>()));
static_assert(std::is_same_v<projected, tensor<double, n, d_model>>);

// Small numbers for a product that is really computed.
struct model : axis<6> {};
struct two : axis<2> {};
struct head_width : per_head<model, two> {};

} // namespace

TEST_CASE("Concat times W_O is the sum of the heads' own products", "[shape]") {
    static_assert(head_width::size == 3);
    tensor<double, n, heads<two, head_width>> concatenated;
    tensor<double, heads<two, head_width>, model> w_o;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 6; ++c) concatenated(i, c) = static_cast<double>(1 + i * 6 + c);
    for (std::size_t c = 0; c < 6; ++c)
        for (std::size_t j = 0; j < 6; ++j) w_o(c, j) = static_cast<double>((c * 5 + j * 3) % 7);
    const auto z = matmul(concatenated, w_o);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 6; ++j) {
            double sum = 0; // small integers: exact in every order
            for (std::size_t h = 0; h < 2; ++h)
                for (std::size_t c = 0; c < 3; ++c) sum += concatenated(i, h * 3 + c) * w_o(h * 3 + c, j);
            CAPTURE(i, j);
            CHECK(z(i, j) == sum);
        }
}
