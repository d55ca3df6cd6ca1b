// SPDX-License-Identifier: BSL-1.0
// Matrix product and transpose. Both sides of each law are polynomials in the entries: equal polynomials are equal for all
// matrices of these shapes, over any commutative ring. Larger shapes, and lengths that are known at run time alone, follow at
// random points of the finite field.

#include "identity.hpp"
#include "polynomial.hpp"

#include "attest/formula/matmul.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct m : axis<3> {};
struct p : axis<4> {};
struct r : axis<5> {};

// [product]
constexpr tensor<int, n, m> a{{1, 2, 3}, {4, 5, 6}};
constexpr tensor<int, m, axis<2>> b{{7, 8}, {9, 10}, {11, 12}};
static_assert(matmul(a, b) == tensor<int, n, axis<2>>{{58, 64}, {139, 154}});
static_assert(transpose(a) == tensor<int, m, n>{{1, 4}, {2, 5}, {3, 6}});

// (A B)_ij = Σ_c A_ic B_cj and (Aᵀ)_ji = A_ij.
constexpr bool product_and_transpose_are_the_definitions = [] {
    symbols entry;
    const auto x = entry.matrix<n, m>();
    const auto y = entry.matrix<m, axis<3>>();
    const auto product = matmul(x, y);
    const auto transposed = transpose(x);
    for (std::size_t i = 0; i < n::size; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            const polynomial sum = x(i, 0) * y(0, j) + x(i, 1) * y(1, j) + x(i, 2) * y(2, j);
            if (!(product(i, j) == sum && transposed(j, i) == x(i, j))) return false;
        }
    return true;
}();
static_assert(product_and_transpose_are_the_definitions);

// x · y = Σ_c x_c y_c.
constexpr bool dot_is_the_definition = [] {
    symbols entry;
    const auto x = entry.vector<m>(), y = entry.vector<m>();
    return dot(x, y) == x(0) * y(0) + x(1) * y(1) + x(2) * y(2) && dot(x, y) == dot(y, x);
}();
static_assert(dot_is_the_definition);
static_assert(dot(tensor<int, axis<dynamic>>{1, 2, 3}, tensor<int, m>{4, 5, 6}) == 32);
// [/product]

// [transpose]
// (Aᵀ)ᵀ = A and (A B)ᵀ = Bᵀ Aᵀ
constexpr bool transpose_reverses_products = [] {
    symbols entry;
    const auto x = entry.matrix<n, m>();
    const auto y = entry.matrix<m, axis<3>>();
    return transpose(transpose(x)) == x && transpose(matmul(x, y)) == matmul(transpose(y), transpose(x));
}();
static_assert(transpose_reverses_products);
static_assert(transpose(matmul(a, b)) == matmul(transpose(b), transpose(a)));
// [/transpose]

// [associative]
// (A B) C = A (B C): (weights · X) W_V = weights · (X W_V).
constexpr bool product_is_associative = [] {
    symbols entry;
    const auto x = entry.matrix<axis<1>, n>();
    const auto y = entry.matrix<n, m>();
    const auto z = entry.matrix<m, axis<2>>();
    return matmul(matmul(x, y), z) == matmul(x, matmul(y, z));
}();
static_assert(product_is_associative);
// [/associative]

// [identity]
// I A = A = A I.
constexpr bool identity_changes_nothing = [] {
    symbols entry;
    const auto x = entry.matrix<n, m>();
    const tensor<polynomial, n, n> identity_n{{1, 0}, {0, 1}};
    const tensor<polynomial, m, m> identity_m{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    return matmul(identity_n, x) == x && matmul(x, identity_m) == x;
}();
static_assert(identity_changes_nothing);
// [/identity]

// [larger]
// 2 × 3, 3 × 4 and 4 × 5; both sides have degree 3, so that the error is at most (3/p)^4, below 10^−71.
static_assert(identity(4, [](draw& entry) {
    const auto x = entry.matrix<n, m>();
    const auto y = entry.matrix<m, p>();
    const auto z = entry.matrix<p, r>();
    const auto left = matmul(matmul(x, y), z);
    agreement sums = agreement::equal;
    for (std::size_t i = 0; i < n::size; ++i)
        for (std::size_t j = 0; j < r::size; ++j) {
            field sum(0);
            for (std::size_t c = 0; c < m::size; ++c)
                for (std::size_t d = 0; d < p::size; ++d) sum = sum + x(i, c) * y(c, d) * z(d, j);
            sums = sums & agree(left(i, j), sum);
        }
    return sums & agree(left, matmul(x, matmul(y, z))) & agree(transpose(left), matmul(transpose(z), transpose(matmul(x, y))));
}));
// The same with lengths that are known at run time alone.
static_assert(identity(4, [](draw& entry) {
    using any = axis<dynamic>;
    const auto x = entry.matrix<n, m>();
    const auto y = entry.matrix<m, p>();
    const tensor<field, any, any> same_x(x), same_y(y);
    return agree(matmul(x, y), matmul(same_x, same_y)) & agree(transpose(y), transpose(same_y)) &
           agree(dot(x[0], x[1]), dot(same_x[0], same_x[1]));
}));
// [/larger]

// [A068]
// Row i of weights · V is Σ_j α_ij v_j. Here α = (1, 2, 3), not normalised, to see each value.
constexpr tensor<int, axis<1>, m> alpha{{1, 2, 3}};
static_assert(matmul(alpha, b) == tensor<int, axis<1>, axis<2>>{{1 * 7 + 2 * 9 + 3 * 11, 1 * 8 + 2 * 10 + 3 * 12}});
// [/A068]

} // namespace
} // namespace attest::proofs
