// SPDX-License-Identifier: BSL-1.0
// The gradients of a projection are the transpose of its derivative: ⟨dY, J(dX, dW, db)⟩ = ⟨gX, dX⟩ + ⟨gW, dW⟩ + ⟨gb, db⟩, for all of them.

#include "../identity.hpp"

#include "attest/gradient/projection.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct d_in : axis<3> {};
struct d_out : axis<4> {};
using some = axis<dynamic>;

// A point and a direction.
struct point {
    tensor<field, n, d_in> x, dx;
    tensor<field, d_in, d_out> w, dw;
    tensor<field, d_out> b, db;
    tensor<field, n, d_out> dy;

    constexpr explicit point(draw& f)
        : x{f.matrix<n, d_in>()}, dx{f.matrix<n, d_in>()}, w{f.matrix<d_in, d_out>()}, dw{f.matrix<d_in, d_out>()}, b{f.vector<d_out>()},
          db{f.vector<d_out>()}, dy{f.matrix<n, d_out>()} {}
};

static_assert(identity(2, [](draw& f) {
    const point p(f);
    const field forward = inner(p.dy, project_in_out(along(p.x, p.dx), along(p.w, p.dw), along(p.b, p.db)));
    const auto g = project_in_out_vjp(p.x, p.w, p.dy);
    return agree(forward, inner(g.dx, p.dx) + inner(g.dw, p.dw) + inner(g.db, p.db));
}));
static_assert(identity(2, [](draw& f) {
    const point p(f);
    const auto w = transpose(p.w), dw = transpose(p.dw);
    const field forward = inner(p.dy, project_out_in(along(p.x, p.dx), along(w, dw), along(p.b, p.db)));
    const auto g = project_out_in_vjp(p.x, w, p.dy);
    return agree(forward, inner(g.dx, p.dx) + inner(g.dw, dw) + inner(g.db, p.db));
}));

// Both layouts have the same gradients, but for the transposed weights; on dynamic axes too, with nothing but lengths to go by.
static_assert(identity(1, [](draw& f) {
    const point p(f);
    const tensor<field, some, some> x(p.x), w(p.w), transposed(transpose(p.w)), dy(p.dy);
    const auto g = project_in_out_vjp(p.x, p.w, p.dy);
    const auto in_out = project_in_out_vjp(x, w, dy), out_in = project_out_in_vjp(x, transposed, dy);
    return agree(in_out.dx, g.dx) & agree(in_out.dw, g.dw) & agree(in_out.db, g.db) & agree(out_in.dx, g.dx) & agree(transpose(out_in.dw), g.dw) &
           agree(out_in.db, g.db);
}));

} // namespace
} // namespace attest::proofs
