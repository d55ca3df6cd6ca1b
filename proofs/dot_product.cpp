// SPDX-License-Identifier: BSL-1.0
// What a dot product measures, and what all of them cost: angle and distance, as polynomials in all components at once.

#include "exact.hpp"
#include "identity.hpp"
#include "polynomial.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/elementary/sin_cos.hpp"
#include "attest/formula/activation.hpp"
#include "attest/formula/score.hpp"
#include "attest/formula/softmax.hpp"

namespace attest::proofs {
namespace {

struct n_q : axis<3> {};
struct n_k : axis<4> {};
struct d_k : axis<2> {};
struct d_4 : axis<4> {};

// [E039]
// |q − k|² = |q|² + |k|² − 2 q·k.
template <axis_type D>
constexpr polynomial norm_squared(const tensor<polynomial, D>& x) {
    return dot_product{}(x, x);
}
template <axis_type D>
constexpr tensor<polynomial, D> difference(const tensor<polynomial, D>& x, const tensor<polynomial, D>& y) {
    tensor<polynomial, D> result;
    for (std::size_t c = 0; c < D::size; ++c) result(c) = x(c) - y(c);
    return result;
}
constexpr bool law_of_cosines = [] {
    symbols x;
    const auto q = x.vector<d_4>(), k = x.vector<d_4>();
    return norm_squared(difference(q, k)) == norm_squared(q) + norm_squared(k) - 2 * dot_product{}(q, k);
}();
const entry A006 =
    settle("A006", fails_as_printed([](const claim& of) {
               const tensor<int, axis<1>, axis<1>> q{{1}};
               const tensor<int, axis<2>, axis<1>> keys{{1}, {2}}; // the first is the query itself
               const auto s = scores(q, keys);
               return s(0, 0) < s(0, 1) && spells(of.number(0), "#", s(0, 0)) && spells(of.number(1), "#", s(0, 1));
           }),
           holds_corrected([] { return law_of_cosines; }));
// By the law of cosines q·k = |q| |k| cos θ in the triangle of q, k and q − k, and there is such an angle: Lagrange's identity
// |q|² |k|² − (q·k)² = Σ_{a<b} (q_a k_b − q_b k_a)² is not negative.
constexpr bool lagrange = [] {
    symbols x;
    const auto q = x.vector<d_4>(), k = x.vector<d_4>();
    const polynomial product = dot_product{}(q, k);
    polynomial squares = 0;
    for (std::size_t a = 0; a < d_4::size; ++a)
        for (std::size_t b = a + 1; b < d_4::size; ++b) squares = squares + square(q(a) * k(b) - q(b) * k(a));
    return norm_squared(q) * norm_squared(k) - product * product == squares;
}();
const entry E039 = settle("E039", holds([] { return law_of_cosines && lagrange; }));
const entry E040 = settle("E040", fails_as_printed([](const claim& of) {
                              const rational hundredth = rational::ratio(1, 100);
                              const tensor<rational, d_k> q{hundredth, 0}; // q = k: the cosine of their angle is 1
                              const rational q_k = dot_product{}(q, q);
                              return q_k == rational::decimal(of.number()) &&
                                     q_k * q_k == dot_product{}(q, q) * dot_product{}(q, q) && q_k < hundredth;
                          }),
                          holds_corrected([] {
                              symbols x;
                              const auto q = x.vector<d_4>();
                              const polynomial factor = x.next();
                              auto k = q;
                              for (std::size_t c = 0; c < d_4::size; ++c) k(c) = factor * q(c);
                              // k = factor q: the greatest that |q·k| ≤ |q| |k| allows
                              return lagrange && dot_product{}(q, k) == factor * norm_squared(q) &&
                                     square(dot_product{}(q, k)) == norm_squared(q) * norm_squared(k);
                          }));
// [/E039]

// [E041]
// E041: derivatives of q·k along q_c, along q_c and k_c, along q_c twice.
const entry E041 = settle("E041", holds([] {
                              using first = dual<polynomial>;
                              using second = dual<first>;
                              struct d_3 : axis<3> {};
                              symbols x;
                              const auto q = x.vector<d_3>(), k = x.vector<d_3>();
                              for (std::size_t c = 0; c < d_3::size; ++c) {
                                  tensor<second, d_3> q_along, k_along, k_fixed, q_twice;
                                  for (std::size_t a = 0; a < d_3::size; ++a) {
                                      const polynomial here = a == c ? 1 : 0;
                                      q_along(a) = second(first(q(a), here), first(0));
                                      q_twice(a) = second(first(q(a), here), first(here, 0));
                                      k_along(a) = second(first(k(a), 0), first(here, 0));
                                      k_fixed(a) = second(first(k(a), 0), first(0));
                                  }
                                  const second mixed = dot_product{}(q_along, k_along), twice = dot_product{}(q_twice, k_fixed);
                                  if (!(mixed.value().derivative() == k(c) && mixed.derivative().value() == q(c) &&
                                        mixed.derivative().derivative() == 1 && twice.derivative().value() == k(c) &&
                                        twice.derivative().derivative() == 0))
                                      return false;
                              }
                              return true;
                          }),
                          holds([] {
                              return surely(step(dual<interval>(3, 1)).derivative() == 0) &&
                                     surely(step(dual<interval>(-3, 1)).derivative() == 0);
                          }));
// [/E041]

// [E042]
// E042: a number that knows how many multiplications made it.
class counting {
public:
    constexpr counting(int = 0) {} // NOLINT(google-explicit-constructor)
    [[nodiscard]] constexpr int multiplications() const { return count_; }
    friend constexpr counting operator+(const counting& a, const counting& b) { return of(a.count_ + b.count_); }
    [[maybe_unused]] friend constexpr counting operator-(const counting& a, const counting& b) { return a + b; }
    [[maybe_unused]] friend constexpr counting operator-(const counting& a) { return a; }
    friend constexpr counting operator*(const counting& a, const counting& b) { return of(a.count_ + b.count_ + 1); }
    [[maybe_unused]] friend constexpr counting operator/(const counting& a, const counting& b) { return a * b; }

private:
    static constexpr counting of(int count) {
        counting x;
        x.count_ = count;
        return x;
    }
    int count_ = 0;
};
// Of a product of an n × m and an m × p matrix.
template <std::size_t N, std::size_t M, std::size_t P>
constexpr int cost_of_product() {
    const auto product = matmul(tensor<counting, axis<N>, axis<M>>{}, tensor<counting, axis<M>, axis<P>>{});
    int all = 0;
    for (std::size_t i = 0; i < N; ++i)
        for (std::size_t j = 0; j < P; ++j) all += product(i, j).multiplications();
    return all;
}
template <std::size_t N, std::size_t D>
constexpr int cost_of_scores() {
    const auto s = matmul(tensor<counting, axis<N>, axis<D>>{}, transpose(tensor<counting, axis<N>, axis<D>>{}));
    int all = 0;
    for (std::size_t i = 0; i < N; ++i)
        for (std::size_t j = 0; j < N; ++j) all += s(i, j).multiplications();
    return all;
}
const entry E042 = settle("E042", fails_as_printed([] { // twice as many tokens
                              return cost_of_scores<4, 2>() == 4 * cost_of_scores<2, 2>() && cost_of_scores<8, 2>() == 4 * cost_of_scores<4, 2>();
                          }),
                          fails_as_printed([] { // than X W_Q: less for n < d_model = 4, as much for n = d_model, more for n > d_model
                              return cost_of_product<8, 4, 2>() == 8 * 4 * 2 && cost_of_scores<3, 2>() < cost_of_product<3, 4, 2>() &&
                                     cost_of_scores<4, 2>() == cost_of_product<4, 4, 2>() && cost_of_scores<8, 2>() > cost_of_product<8, 4, 2>();
                          }),
                          holds_corrected([] {
                              symbols x;
                              const auto q = x.matrix<n_q, d_k>();
                              const auto k = x.matrix<n_k, d_k>();
                              return scores(q, k) == matmul(q, transpose(k));
                          }),
                          holds_corrected([] { // n² d_k multiplications
                              return cost_of_scores<2, 2>() == 2 * 2 * 2 && cost_of_scores<3, 2>() == 3 * 3 * 2 &&
                                     cost_of_scores<4, 2>() == 4 * 4 * 2 && cost_of_scores<6, 3>() == 6 * 6 * 3 &&
                                     cost_of_scores<8, 2>() == 8 * 8 * 2;
                          }));
// [/E042]

// [E043]
// E043: for keys of one length, and nothing normalised, −|q − k|² differs from 2 q·k by the same number in a whole row, −|q|² − |k|², which softmax does
// not see.
constexpr bool one_shift_for_keys_of_one_length = [] {
    symbols x;
    const auto q = x.matrix<n_q, d_k>();
    const polynomial a = x.next(), b = x.next();
    const tensor<polynomial, n_k, d_k> k{{a, b}, {-a, b}, {b, -a}, {-b, -a}};
    const auto s = scores(q, k);
    for (std::size_t i = 0; i < n_q::size; ++i)
        for (std::size_t j = 0; j < n_k::size; ++j)
            if (!(-norm_squared(difference(tensor<polynomial, d_k>(q[i]), tensor<polynomial, d_k>(k[j]))) - 2 * s(i, j) ==
                  -dot_product{}(q[i], q[i]) - (a * a + b * b)))
                return false;
    return true;
}();
// So of q = (1, 0) and four keys of length 1, with scores in units of log 2, both give the same weights, which are not all alike.
constexpr bool same_weights_for_keys_of_length_1 = [] {
    const tensor<exact, d_k> q{1, 0};
    const tensor<exact, n_k, d_k> k{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    tensor<exact, n_k> distances, products;
    for (std::size_t j = 0; j < n_k::size; ++j) {
        const exact a = q(0) - k(j, 0), b = q(1) - k(j, 1);
        distances(j) = -(a * a + b * b), products(j) = 2 * dot_product{}(q, k[j]);
    }
    const auto weights = softmax(distances);
    return weights == softmax(products) && !(distances == products) && weights(0) == 16 * weights(2);
}();
// [2q, −1, −|q|²] times [k, |k|², 1] is −|q − k|², for all pairs in one product.
struct extended : axis<4> {};
constexpr bool is_one_product_of_longer_vectors = [] {
    symbols x;
    const auto q = x.matrix<n_q, d_k>();
    const auto k = x.matrix<n_k, d_k>();
    tensor<polynomial, n_q, extended> left;
    tensor<polynomial, n_k, extended> right;
    for (std::size_t i = 0; i < n_q::size; ++i)
        left(i, 0) = 2 * q(i, 0), left(i, 1) = 2 * q(i, 1), left(i, 2) = -1, left(i, 3) = -dot_product{}(q[i], q[i]);
    for (std::size_t j = 0; j < n_k::size; ++j)
        right(j, 0) = k(j, 0), right(j, 1) = k(j, 1), right(j, 2) = dot_product{}(k[j], k[j]), right(j, 3) = 1;
    const auto product = scores(left, right);
    for (std::size_t i = 0; i < n_q::size; ++i)
        for (std::size_t j = 0; j < n_k::size; ++j)
            if (!(product(i, j) == -(square(q(i, 0) - k(j, 0)) + square(q(i, 1) - k(j, 1))))) return false;
    return true;
}();
const entry E043 =
    settle("E043", fails_as_printed([] { return one_shift_for_keys_of_one_length; }), fails_as_printed([] { return same_weights_for_keys_of_length_1; }),
           holds_corrected([] { return is_one_product_of_longer_vectors; }),
           holds_corrected([](const claim& of) {
               return identity(of.points_with_exp(), [](draw& x) {
                   const auto q = x.matrix<n_q, d_k>();
                   const auto k = x.matrix<n_k, d_k>();
                   const field half = field(1) / 2;
                   struct with_norm : axis<3> {};
                   tensor<field, n_q, with_norm> q_1;
                   tensor<field, n_k, with_norm> k_norm;
                   tensor<field, n_q, n_k> distances;
                   for (std::size_t i = 0; i < n_q::size; ++i) q_1(i, 0) = q(i, 0), q_1(i, 1) = q(i, 1), q_1(i, 2) = 1;
                   for (std::size_t j = 0; j < n_k::size; ++j)
                       k_norm(j, 0) = k(j, 0), k_norm(j, 1) = k(j, 1), k_norm(j, 2) = -(half * dot_product{}(k[j], k[j]));
                   for (std::size_t i = 0; i < n_q::size; ++i)
                       for (std::size_t j = 0; j < n_k::size; ++j) {
                           const field a = q(i, 0) - k(j, 0), b = q(i, 1) - k(j, 1);
                           distances(i, j) = -(half * (a * a + b * b));
                       }
                   return agree(softmax(distances), softmax(scores(q_1, k_norm)));
               });
           }),
           holds_corrected([](const claim& of) { // keys r (cos, sin): of one length
               return identity(of.points_with_exp(), [](draw& x) {
                   const auto q = x.matrix<n_q, d_k>();
                   const field half = field(1) / 2, r = x.number();
                   tensor<field, n_k, d_k> k;
                   for (std::size_t j = 0; j < n_k::size; ++j) {
                       const field angle = exp(x.number());
                       k(j, 0) = r * cos(angle), k(j, 1) = r * sin(angle);
                   }
                   tensor<field, n_q, n_k> distances;
                   for (std::size_t i = 0; i < n_q::size; ++i)
                       for (std::size_t j = 0; j < n_k::size; ++j) {
                           const field a = q(i, 0) - k(j, 0), b = q(i, 1) - k(j, 1);
                           distances(i, j) = -(half * (a * a + b * b));
                       }
                   return agree(softmax(distances), softmax(scores(q, k)));
               });
           }));
// [/E043]

} // namespace
} // namespace attest::proofs
