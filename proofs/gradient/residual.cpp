// SPDX-License-Identifier: BSL-1.0
// The gradient of a residual connection is the transpose of its derivative: both terms get all of dy.

#include "../identity.hpp"

#include "attest/formula/residual.hpp"
#include "attest/gradient/residual.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct d : axis<3> {};

// [vjp]
static_assert(identity(4, [](draw& at) {
    const auto x = at.matrix<n, d>(), f = at.matrix<n, d>(), dx = at.matrix<n, d>(), df = at.matrix<n, d>(), dy = at.matrix<n, d>();
    const auto gradient = residual_vjp(dy);
    return agree(inner(dy, residual(along(x, dx), along(f, df))), inner(gradient.dx, dx) + inner(gradient.dsublayer, df));
}));
// [/vjp]
static_assert(identity(4, [](draw& at) {
    const auto x = at.vector<d>(), f = at.vector<d>(), dx = at.vector<d>(), df = at.vector<d>(), dy = at.vector<d>();
    const auto gradient = residual_vjp(dy);
    return agree(inner(dy, residual(along(x, dx), along(f, df))), inner(gradient.dx, dx) + inner(gradient.dsublayer, df));
}));

} // namespace
} // namespace attest::proofs
