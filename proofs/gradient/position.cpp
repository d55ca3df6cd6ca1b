// SPDX-License-Identifier: BSL-1.0
// The gradients of added positions are the transposes of the derivatives: ⟨dy, J (dx, dtable)⟩ = ⟨vjp(dy), (dx, dtable)⟩ for all of them.

#include "../opaque.hpp"

#include "attest/gradient/position.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct d : axis<3> {};
struct rows : axis<6> {};

template <axis_type... A>
constexpr tensor<opaque_dual, A...> along(const tensor<opaque, A...>& x, const tensor<opaque, A...>& dx) {
    tensor<opaque_dual, A...> result;
    set_along(result, x, dx);
    return result;
}

static_assert(for_any_functions(2, [](opaque_draw& free) {
    const auto x = free.matrix<n, d>(), dx = free.matrix<n, d>(), dy = free.matrix<n, d>();
    const auto table = free.matrix<rows, d>(), dtable = free.matrix<rows, d>();
    for (std::size_t offset = 0; offset <= 4; ++offset) {
        const auto back = add_positions_vjp(dy, table, offset);
        const auto y = add_positions(along(x, dx), along(table, dtable), offset);
        if (inner_product(dy, y) != inner_product(back.dx, dx) + inner_product(back.dtable, dtable)) return false;
    }
    return true;
}));

// Without an offset; and on axes of run time, where of the table only the shape matters.
static_assert(for_any_functions(1, [](opaque_draw& free) {
    const auto dy = free.matrix<n, d>();
    const auto table = free.matrix<rows, d>();
    using of_run_time = tensor<opaque, axis<dynamic>, axis<dynamic>>;
    const auto unsaid = add_positions_vjp(dy, table), at_0 = add_positions_vjp(dy, table, 0), at_4 = add_positions_vjp(dy, table, 4);
    const auto dynamic_at_4 = add_positions_vjp(of_run_time(dy), of_run_time(table), 4);
    return unsaid.dtable == at_0.dtable && dynamic_at_4.dx == of_run_time(dy) && dynamic_at_4.dtable == of_run_time(at_4.dtable) && at_4.dx == dy;
}));

} // namespace
} // namespace attest::proofs
