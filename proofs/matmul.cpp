// SPDX-License-Identifier: BSL-1.0
// Matrix product and transpose. Both sides of each law are linear in each matrix, so a law that holds for the matrices
// with a single 1 holds for all matrices of its shapes, over any commutative ring: the compiler tries them all.

#include "attest/formula/matmul.hpp"

namespace attest::proofs {
namespace {

struct n : axis<2> {};
struct m : axis<3> {};
struct p : axis<2> {};
struct r : axis<2> {};

// Number `index` of the matrices with a single 1.
template <class A, class B>
constexpr tensor<int, A, B> unit(std::size_t index) {
    tensor<int, A, B> result;
    result.data()[index] = 1;
    return result;
}
template <class A, class B>
constexpr std::size_t units = A::size * B::size;

// [product]
constexpr tensor<int, n, m> a{{1, 2, 3}, {4, 5, 6}};
constexpr tensor<int, m, p> b{{7, 8}, {9, 10}, {11, 12}};
static_assert(matmul(a, b) == tensor<int, n, p>{{58, 64}, {139, 154}});
static_assert(transpose(a) == tensor<int, m, n>{{1, 4}, {2, 5}, {3, 6}});
// [/product]

// [transpose]
// (Aᵀ)ᵀ = A
constexpr bool transpose_is_an_involution = [] {
    for (std::size_t i = 0; i < units<n, m>; ++i)
        if (!(transpose(transpose(unit<n, m>(i))) == unit<n, m>(i))) return false;
    return true;
}();
static_assert(transpose_is_an_involution);

// (A B)ᵀ = Bᵀ Aᵀ
constexpr bool transpose_reverses_products = [] {
    for (std::size_t i = 0; i < units<n, m>; ++i)
        for (std::size_t j = 0; j < units<m, p>; ++j) {
            const auto x = unit<n, m>(i);
            const auto y = unit<m, p>(j);
            if (!(transpose(matmul(x, y)) == matmul(transpose(y), transpose(x)))) return false;
        }
    return true;
}();
static_assert(transpose_reverses_products);
static_assert(transpose(matmul(a, b)) == matmul(transpose(b), transpose(a)));
// [/transpose]

// [associative]
// (A B) C = A (B C): (weights · X) W_V = weights · (X W_V).
constexpr bool product_is_associative = [] {
    for (std::size_t i = 0; i < units<n, m>; ++i)
        for (std::size_t j = 0; j < units<m, p>; ++j)
            for (std::size_t l = 0; l < units<p, r>; ++l) {
                const auto x = unit<n, m>(i);
                const auto y = unit<m, p>(j);
                const auto z = unit<p, r>(l);
                if (!(matmul(matmul(x, y), z) == matmul(x, matmul(y, z)))) return false;
            }
    return true;
}();
static_assert(product_is_associative);
// [/associative]

// [identity]
// I A = A = A I.
constexpr tensor<int, n, n> identity_n{{1, 0}, {0, 1}};
constexpr tensor<int, m, m> identity_m{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
constexpr bool identity_changes_nothing = [] {
    for (std::size_t i = 0; i < units<n, m>; ++i) {
        const auto x = unit<n, m>(i);
        if (!(matmul(identity_n, x) == x && matmul(x, identity_m) == x)) return false;
    }
    return true;
}();
static_assert(identity_changes_nothing);
// [/identity]

// [A068]
// A068: row i of weights · V is Σ_j α_ij v_j. Here α = (1, 2, 3), not normalised, to see each value.
constexpr tensor<int, axis<1>, m> alpha{{1, 2, 3}};
static_assert(matmul(alpha, b) == tensor<int, axis<1>, p>{{1 * 7 + 2 * 9 + 3 * 11, 1 * 8 + 2 * 10 + 3 * 12}});
// [/A068]

} // namespace
} // namespace attest::proofs
