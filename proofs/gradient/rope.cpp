// SPDX-License-Identifier: BSL-1.0
// The gradient of a rotation is its transpose: ⟨dy, J dx⟩ = ⟨vjp(dy), dx⟩, both pairings, some dimensions, positions counted or told.

#include "../identity.hpp"

#include "attest/gradient/rope.hpp"

namespace attest::proofs {
namespace {

struct n : axis<3> {};
struct d : axis<5> {};

// With base = exp(a free number), and the same as a dual number: base and positions are no variables.
struct both_rotations {
    rope_rotation<field> plain;
    rope_rotation<dual<field>> of_dual;
};
constexpr agreement is_transposed(draw& x, const both_rotations& rotation) {
    const auto X = x.matrix<n, d>(), dX = x.matrix<n, d>(), dy = x.matrix<n, d>();
    return agree(inner(rope_rows_vjp(dy, rotation.plain), dX), inner(dy, rope_rows(along(X, dX), rotation.of_dual)));
}
static_assert(identity(2, [](draw& x) {
    const field base = attest::exp(x.number());
    const field told[] = {7, -2, 5};
    const dual<field> told_as_dual[] = {7, -2, 5};
    agreement all = agreement::equal;
    constexpr rope_pairing pairings[] = {rope_pairing::interleaved, rope_pairing::half};
    for (const rope_pairing pairing : pairings) {
        const rope<field> plain{pairing, base, 4};
        const rope<dual<field>> of_dual{pairing, dual<field>(base), 4};
        all = all & is_transposed(x, {{plain, 3}, {of_dual, 3}}) & is_transposed(x, {{plain, 0, told}, {of_dual, 0, told_as_dual}});
    }
    return all;
}));

// On axes of run time; and back again is where it began.
static_assert(identity(2, [](draw& x) {
    const rope_rotation<field> rotation{{rope_pairing::half, attest::exp(x.number()), 2}, 3};
    const auto dy = x.matrix<n, d>();
    const tensor<field, axis<dynamic>, axis<dynamic>> dy_dynamic(dy);
    return agree(rope_rows_vjp(dy_dynamic, rotation), rope_rows_vjp(dy, rotation)) & agree(rope_rows(rope_rows_vjp(dy, rotation), rotation), dy);
}));

} // namespace
} // namespace attest::proofs
