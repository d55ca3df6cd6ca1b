// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/score.hpp"
#include "attest/arithmetic/formats.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

struct n_q : axis<3> {};
struct n_k : axis<4> {};
struct d_k : axis<16> {};
using dyn = axis<dynamic>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
static_assert(std::is_same_v<decltype(scaled_scores(of<float, n_q, d_k>(), of<float, n_k, d_k>())), tensor<float, n_q, n_k>>);
static_assert(!rules::query_key_dimension::holds<d_k, n_k>);
static_assert(score_function<dot_product, view<const double, d_k>, view<const double, d_k>>);
static_assert(score_function<scaled_dot_product<double>, view<const double, d_k>, view<const double, d_k>>);
struct says_nothing {
    template <class Q, class K> void operator()(const Q&, const K&) const {}
};
static_assert(!score_function<says_nothing, view<const double, d_k>, view<const double, d_k>>);

// The exercise: q = (3, 4), k = (0, 2), d_k = 2.
constexpr tensor<double, axis<2>> q1{3, 4}, k2{0, 2};
static_assert(dot_product{}(q1, k2) == 8);
static_assert(scaled_dot_product<double>::of_dimension(64).scale == 0.125, "1/√64 = 1/8, exactly");
static_assert(scaled_dot_product<double>{0.5}(q1, k2) == 4, "a scale of one's own");

template <class S, class... Axes> tensor<S, Axes...> random_matrix(std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    tensor<S, Axes...> x;
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = S(std::ldexp(static_cast<double>(generator() % 4096) - 2048, -10));
    return x;
}

} // namespace

TEST_CASE("scores are Q times K transposed, scaled", "[formula]") {
    const auto q = random_matrix<double, n_q, d_k>(24);
    const auto k = random_matrix<double, n_k, d_k>(25);
    const auto raw = scores(q, k);
    CHECK(raw == matmul(q, transpose(k))); // sums of multiples of 2^-20: exact
    const auto scaled = scaled_scores(q, k);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) CHECK(scaled(i, j) == raw(i, j) / 4); // √16
}

TEST_CASE("scores with √d_k irrational stay within three roundings of the exact value", "[formula]") {
    struct d5 : axis<5> {};
    const auto q = random_matrix<double, n_q, d5>(26);
    const auto k = random_matrix<double, n_k, d5>(27);
    const auto approximate = scaled_scores(q, k);
    const auto exact = scaled_scores(tensor<real<50>, n_q, d5>([&] {
                                         tensor<real<50>, n_q, d5> to;
                                         for (std::size_t e = 0; e < 15; ++e) to.data()[e] = real<50>(q.data()[e]);
                                         return to;
                                     }()),
                                     [&] {
                                         tensor<real<50>, n_k, d5> to;
                                         for (std::size_t e = 0; e < 20; ++e) to.data()[e] = real<50>(k.data()[e]);
                                         return to;
                                     }());
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
            const double wanted = static_cast<double>(exact(i, j));
            CAPTURE(i, j, approximate(i, j), wanted);
            // The dot product is exact here; the root, the quotient 1/√5 and the product round once each.
            CHECK(std::abs(static_cast<double>(real<50>(approximate(i, j)) - exact(i, j))) <= 3.001 * 0x1p-53 * std::abs(wanted));
        }
}

TEST_CASE("a score function of one's own", "[formula]") {
    const auto q = random_matrix<double, n_q, d_k>(28);
    const auto negative_distance = [](const auto& a, const auto& b) {
        double sum = 0;
        for (std::size_t c = 0; c < a.length(0); ++c) sum -= (a(c) - b(c)) * (a(c) - b(c));
        return sum / 2;
    };
    const auto s = scores(q, q, negative_distance);
    const auto raw = scores(q, q);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            CHECK(s(i, j) == raw(i, j) - (raw(i, i) + raw(j, j)) / 2); // −½‖q − k‖² = q·k − ½‖q‖² − ½‖k‖²; exact here
            CHECK(s(i, i) == 0);
        }
}

TEST_CASE("raw scores of a sequence with itself are symmetric, their softmax need not be (B013)", "[formula]") {
    const auto x = random_matrix<double, n_q, d_k>(31);
    const auto s = scores(x, x);
    CHECK(s == transpose(s));
    CHECK(scores(x, x, scaled_dot_product<double>{0.5}) == transpose(scores(x, x, scaled_dot_product<double>{0.5})));
}

TEST_CASE("the scale stands for 1/√d_k until d_k is known", "[formula]") {
    static_assert(std::is_same_v<decltype(score_of_dimension<double>(scaled_by_dimension{}, 16)), scaled_dot_product<double>>);
    static_assert(std::is_same_v<decltype(score_of_dimension<double>(dot_product{}, 16)), const dot_product&>);
    CHECK(score_of_dimension<double>(scaled_by_dimension{}, 16).scale == 0.25);
    static_assert(score_fits<scaled_by_dimension, d_k, d_k>() && !score_fits<scaled_by_dimension, d_k, n_k>());
}

TEST_CASE("queries and keys of different dimension are the rule's error at run time", "[formula]") {
    const auto q = tensor<double, dyn, dyn>::with_lengths(2, 3), k = tensor<double, dyn, dyn>::with_lengths(2, 4);
    const std::string text = std::string(rules::query_key_dimension::sentence) + " (3 and 4)";
    CHECK_THROWS_WITH(scores(q, k), text);
    CHECK_THROWS_WITH(scaled_scores(q, k), text);
    CHECK_THROWS_WITH(scores(q, tensor<double, axis<2>, axis<4>>{}), text);
    CHECK_THROWS_WITH((dot_product{}(q[0], k[0])), text);
}

TEST_CASE("fixed and dynamic axes give the same scores, bit for bit", "[formula]") {
    const auto q = random_matrix<float, n_q, d_k>(29);
    const auto k = random_matrix<float, n_k, d_k>(30);
    CHECK(scaled_scores(tensor<float, dyn, dyn>(q), tensor<float, dyn, dyn>(k)) == scaled_scores(q, k));
}
