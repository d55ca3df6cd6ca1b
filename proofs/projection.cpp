// SPDX-License-Identifier: BSL-1.0
// Projections: queries, keys and values from tokens, in the two layouts of a weight matrix.

#include "identity.hpp"
#include "settle.hpp"
#include "unit_matrices.hpp"

#include "attest/formula/projection.hpp"
#include "attest/gradient/projection.hpp"
#include "attest/shape/heads.hpp"

namespace attest::proofs {
namespace {

namespace layouts {

struct n : axis<2> {};
struct d : axis<3> {};
struct d_k : axis<2> {};

// [B016]
// B016: "q = W x" and, twelve lines later, "X W" with the same W. The shapes are transposes of each other:
using column_convention = tensor<int, d_k, d>;
using row_convention = tensor<int, d, d_k>;
static_assert(std::same_as<decltype(project_out_in(tensor<int, d>{}, column_convention{})), tensor<int, d_k>>);
static_assert(std::same_as<decltype(project_in_out(tensor<int, n, d>{}, row_convention{})), tensor<int, n, d_k>>);
// No W fits both formulas, unless it is square; and then they differ.
template <class W>
constexpr bool fits_W_x = rules::weight_column_for_each_input::holds<d, axis_of<W, 1>>;
template <class W>
constexpr bool fits_X_W = rules::weight_row_for_each_input::holds<d, axis_of<W, 0>>;
constexpr bool one_matrix_for_both_formulas = (fits_W_x<column_convention> && fits_X_W<column_convention>) ||
                                              (fits_W_x<row_convention> && fits_X_W<row_convention>);
constexpr tensor<int, axis<2>> token{1, 0};
constexpr tensor<int, axis<2>, axis<2>> square{{1, 2}, {3, 4}};
static_assert(project_in_out(token, square) == tensor<int, axis<2>>{1, 2});
static_assert(project_out_in(token, square) == tensor<int, axis<2>>{1, 3});
// With transposed weights the two are the same, for all X and W: both sides are linear in each.
constexpr bool transposed_weights_agree = [] {
    for (std::size_t i = 0; i < units<n, d>; ++i)
        for (std::size_t j = 0; j < units<d, d_k>; ++j) {
            const auto x = unit<n, d>(i);
            const auto w = unit<d, d_k>(j);
            const auto y = project_in_out(x, w), z = project_out_in(x, transpose(w));
            if (!(y == z)) return false;
            for (std::size_t t = 0; t < n::size; ++t) // token by token
                if (!(project_out_in(x[t], transpose(w)) == y[t] && project_in_out(x[t], w) == y[t])) return false;
        }
    return true;
}();
const entry B016 = settle("B016", fails_as_printed([] {
                              return !one_matrix_for_both_formulas && !(project_out_in(token, square) == project_in_out(token, square));
                          }),
                          holds_corrected([] { return fits_W_x<column_convention> && fits_X_W<row_convention> && transposed_weights_agree; }));
// [/B016]

// [E001]
// E001: q = W_Q x, k = W_K x and v = W_V x, each by a matrix of its own, from the same token: q_o = Σ_c W_oc x_c, for all W and x, since both sides
// are linear in each.
struct d_v : axis<4> {};
template <class D_out>
constexpr bool column_formula_holds = [] {
    for (std::size_t i = 0; i < d::size; ++i)
        for (std::size_t j = 0; j < units<D_out, d>; ++j) {
            tensor<int, d> x;
            x(i) = 1;
            const auto w = unit<D_out, d>(j);
            const tensor<int, D_out> y = project_out_in(x, w);
            for (std::size_t o = 0; o < D_out::size; ++o) {
                int sum = 0;
                for (std::size_t c = 0; c < d::size; ++c) sum += w(o, c) * x(c);
                if (y(o) != sum) return false;
            }
        }
    return true;
}();
const entry E001 = settle("E001", holds([] { return column_formula_holds<d_k> && column_formula_holds<d_v>; }));
// [/E001]

// [A062]
// A060, A062: V (n × d_v) = X (n × d) W_V (d × d_v): W_V has a row for each component, not for each token.
using X = tensor<int, n, d>;
using V = decltype(project_in_out(X{}, tensor<int, d, d_v>{}));
constexpr bool values_are_products = [] {
    for (std::size_t a = 0; a < units<n, d>; ++a)
        for (std::size_t b = 0; b < units<d, d_v>; ++b) {
            const auto x = unit<n, d>(a);
            const auto w_v = unit<d, d_v>(b);
            const V v = project_in_out(x, w_v);
            for (std::size_t i = 0; i < n::size; ++i)
                for (std::size_t o = 0; o < d_v::size; ++o) {
                    int sum = 0;
                    for (std::size_t c = 0; c < d::size; ++c) sum += x(i, c) * w_v(c, o);
                    if (v(i, o) != sum) return false;
                }
        }
    return true;
}();
const entry A060 = settle("A060", holds([] { return std::same_as<V, tensor<int, n, d_v>> && values_are_products; }));
const entry A062 = settle("A062", holds([] {
                              return std::same_as<V, tensor<int, n, d_v>> && values_are_products && rules::weight_row_for_each_input::holds<d, d> &&
                                     !rules::weight_row_for_each_input::holds<d, n>;
                          }));
// A059: W_V is learned: it has a gradient, of its own shape, for all X and dV: dW_V = Xᵀ dV.
constexpr bool values_have_a_gradient = [] {
    for (std::size_t a = 0; a < units<n, d>; ++a)
        for (std::size_t b = 0; b < units<n, d_v>; ++b) {
            const auto x = unit<n, d>(a);
            const auto dv = unit<n, d_v>(b);
            const tensor<int, d, d_v> dw = project_in_out_vjp(x, tensor<int, d, d_v>{}, dv).dw;
            if (!(dw == matmul(transpose(x), dv))) return false;
        }
    return true;
}();
const entry A059 = settle("A059", holds([] { return values_are_products && values_have_a_gradient; }));
// What lies in the kernel of W_V is gone.
constexpr tensor<int, d, d_k> W_V{{1, 0}, {0, 1}, {1, 1}};
static_assert(project_in_out(tensor<int, d>{1, 1, -1}, W_V) == tensor<int, d_k>{0, 0});
// [/A062]

} // namespace layouts

namespace dimensions {

// [A063]
// A063: d > d_k wherever there are several heads (512 over 8 and 1024 over 16 in Vaswani et al., 768 over 12 in BERT-Base); d = d_k with one.
template <std::size_t D, std::size_t H>
struct head_of : per_head<axis<D>, axis<H>> {};
template <std::size_t D, std::size_t H>
constexpr bool is_narrower = D > head_of<D, H>::size;
const entry A063 = settle("A063", holds([] {
                              return is_narrower<512, 8> && is_narrower<1024, 16> && is_narrower<768, 12> && is_narrower<64, 8> && is_narrower<2, 2> && !is_narrower<512, 1>;
                          }));
// [/A063]

} // namespace dimensions

// Both layouts, written out, for all inputs of these shapes: Y_io = b_o + Σ_c X_ic W_co, and Σ_c W_oc x_c + b_o for each token x.
namespace written_out {

struct n : axis<2> {};
struct d_in : axis<3> {};
struct d_out : axis<4> {};

template <class X, class W, class B>
constexpr auto x_w(const X& x, const W& w, const B& b) {
    tensor<field, n, d_out> y;
    for (std::size_t i = 0; i < n::size; ++i)
        for (std::size_t o = 0; o < d_out::size; ++o) {
            y(i, o) = b(o);
            for (std::size_t c = 0; c < d_in::size; ++c) y(i, o) = y(i, o) + x(i, c) * w(c, o);
        }
    return y;
}

static_assert(identity(2, [](draw& f) {
    const auto x = f.matrix<n, d_in>();
    const auto w = f.matrix<d_in, d_out>();
    const auto b = f.vector<d_out>();
    const tensor<field, d_out> zero;
    const auto y = x_w(x, w, zero), z = x_w(x, w, b);
    return agree(project_in_out(x, w), y) & agree(project_out_in(x, transpose(w)), y) & agree(project_in_out(x, w, b), z) &
           agree(project_out_in(x, transpose(w), b), z) & agree(with_bias_on_rows(y, b), z) & agree(project_in_out(x[1], w), y[1]) &
           agree(project_out_in(x[1], transpose(w)), y[1]);
}));

// The same of dynamic axes, where a bias of length 0 is none; on a named axis of length 0 it is a bias, of no component.
using some = axis<dynamic>;
static_assert(identity(1, [](draw& f) {
    const auto x = f.matrix<n, d_in>();
    const auto w = f.matrix<d_in, d_out>();
    const auto b = f.vector<d_out>();
    const tensor<field, some, some> x_(x), w_(w), transposed(transpose(w));
    const tensor<field, some> b_(b), none;
    const auto y = x_w(x, w, tensor<field, d_out>{}), z = x_w(x, w, b);
    return agree(project_in_out(x_, w_), y) & agree(project_out_in(x_, transposed), y) & agree(project_in_out(x_, w_, b_), z) &
           agree(project_out_in(x_, transposed, b_), z) & agree(project_in_out(x_, w_, none), y) & agree(project_out_in(x_, transposed, none), y) &
           agree(project_in_out(x_[1], w_), y[1]) & agree(project_out_in(x_[1], transposed), y[1]);
}));
// Does a lambda without captures have a value that the compiler knows? Not if it throws.
template <class F>
concept has_value = requires { typename std::bool_constant<(F{}(), true)>; };
constexpr auto projected = [](std::size_t d, std::size_t rows, std::size_t n_biases) {
    using matrix = tensor<int, some, some>;
    return project_in_out(matrix::with_lengths(2, d), matrix::with_lengths(rows, 4), tensor<int, some>::with_lengths(n_biases)).elements();
};
static_assert(projected(3, 3, 4) == 8 && projected(3, 3, 0) == 8);
static_assert(has_value<decltype([] { return projected(3, 3, 4); })>);
static_assert(!has_value<decltype([] { return projected(3, 2, 4); })> && !has_value<decltype([] { return projected(3, 3, 3); })>);

} // namespace written_out

} // namespace
} // namespace attest::proofs
