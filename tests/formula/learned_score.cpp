// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/learned_score.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/attention.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

struct n_q : axis<3> {};
struct n_k : axis<4> {};
struct d_q : axis<2> {};
struct d_k : axis<3> {};
struct hidden : axis<5> {};
using dyn = axis<dynamic>;
using big = real<50>;

template <class X> X filled(X x, std::uint64_t seed) { // k/16 between −2 and 2, or whole numbers
    std::mt19937_64 generator(seed);
    using S = typename X::value_type;
    for (std::size_t e = 0; e < x.elements(); ++e) {
        const int k = static_cast<int>(generator() % 65) - 32;
        if constexpr (std::is_same_v<S, int>) x.data()[e] = k;
        else x.data()[e] = S(k) / S(16);
    }
    return x;
}

using general = bilinear<tensor<double, d_q, d_k>>;
using bahdanau = additive<tensor<double, hidden, d_k>, tensor<double, hidden, d_q>, tensor<double, hidden>>;
static_assert(score_function<general, tensor<double, d_q>, view<const double, d_k>>);
static_assert(score_function<bahdanau, tensor<double, d_q>, view<const double, d_k>>);
static_assert(score_function<softcapped<general, double>, tensor<double, d_q>, view<const double, d_k>>);
static_assert(score_fits<general, d_q, d_k>() && !score_fits<general, d_k, d_q>());
static_assert(score_fits<bahdanau, d_q, d_k>() && !score_fits<bahdanau, d_k, d_k>());
static_assert(!score_fits<additive<tensor<double, hidden, d_k>, tensor<double, d_k, d_q>, tensor<double, hidden>>, d_q, d_k>(), "W_2 has other rows than W_1");
static_assert(!score_fits<additive<tensor<double, hidden, d_k>, tensor<double, hidden, d_q>, tensor<double, d_k>>, d_q, d_k>(), "b is not as long");
static_assert(score_fits<softcapped<general, double>, d_q, d_k>() && !score_fits<softcapped<general, double>, d_k, d_k>(), "the rules of the score inside");

// In constant expressions: (1, 2) [[1, 0, 2], [0, 3, 0]] (1, 1, 1)ᵀ = 1 + 2 + 6 = 9, and a cap that holds.
constexpr tensor<double, d_q> q1{1, 2};
constexpr tensor<double, d_k> k1{1, 1, 1};
static_assert(bilinear{tensor<double, d_q, d_k>{{1, 0, 2}, {0, 3, 0}}}(q1, k1) == 9);
static_assert(softcapped{dot_product{}, 5.0}(k1, tensor<double, d_k>{100, 0, 0}) <= 5);
constexpr additive zero{tensor<double, hidden, d_k>{}, tensor<double, hidden, d_q>{}, tensor<double, hidden>{1, 2, 3, 4, 5}};
static_assert(zero(q1, k1) == 0);

} // namespace

TEST_CASE("the bilinear score is q · (W k) = (Wᵀ q) · k, exactly", "[formula]") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto q = filled(tensor<int, d_q>{}, seed);
        const auto k = filled(tensor<int, d_k>{}, seed + 100);
        const auto w = filled(tensor<int, d_q, d_k>{}, seed + 200);
        const int s = bilinear{w}(q, k);
        CAPTURE(seed);
        CHECK(s == dot(q, project_out_in(k, w)));
        CHECK(s == dot(k, project_in_out(q, w)));
        CHECK(s == bilinear{transpose(w)}(k, q));
    }
}

TEST_CASE("W = 1 gives the dot product (B003); a diagonal W weights the components, any other mixes them (B004)", "[formula]") {
    const tensor<int, d_k, d_k> one{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, diagonal{{2, 0, 0}, {0, 3, 0}, {0, 0, 5}}, shift{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    const auto q = filled(tensor<int, d_k>{}, 1), k = filled(tensor<int, d_k>{}, 2);
    CHECK(bilinear{one}(q, k) == dot(q, k));
    CHECK(bilinear{diagonal}(q, k) == 2 * q(0) * k(0) + 3 * q(1) * k(1) + 5 * q(2) * k(2));
    CHECK(bilinear{shift}(q, k) == q(0) * k(1) + q(1) * k(2) + q(2) * k(0));
    CHECK(bilinear{shift}(q, k) != bilinear{shift}(k, q)); // and then it is not symmetric
}

TEST_CASE("the additive score is b · tanh(W_1 k + W_2 q), and at most ‖b‖₁ (B005)", "[formula]") {
    // tanh 1, with one hidden component: 0.5 · 1.5 + 0.25 · 1 = 1.
    const additive one{tensor<big, axis<1>, axis<1>>{{big(0.5)}}, tensor<big, axis<1>, axis<1>>{{big(0.25)}}, tensor<big, axis<1>>{big(3)}};
    const big s = one(tensor<big, axis<1>>{big(1)}, tensor<big, axis<1>>{big(1.5)}) / big(3);
    CHECK(s.text(50) == "0.76159415595576488811945828260479359041276859725794");

    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto w1 = filled(tensor<double, hidden, d_k>{}, seed);
        const auto w2 = filled(tensor<double, hidden, d_q>{}, seed + 100);
        const auto b = filled(tensor<double, hidden>{}, seed + 200);
        const auto q = filled(tensor<double, d_q>{}, seed + 300);
        const auto k = filled(tensor<double, d_k>{}, seed + 400);
        const double score = additive{w1, w2, b}(q, k);
        long double twin = 0, norm = 0;
        for (std::size_t a = 5; a-- > 0;) {
            long double inside = 0; // exact: few binary digits
            for (std::size_t c = 0; c < 3; ++c) inside += static_cast<long double>(w1(a, c) * k(c));
            for (std::size_t c = 0; c < 2; ++c) inside += static_cast<long double>(w2(a, c) * q(c));
            twin += static_cast<long double>(b(a)) * std::tanh(inside);
            norm += std::abs(static_cast<long double>(b(a)));
        }
        CAPTURE(seed, score, twin, norm);
        // tanh within 4 units of the last place (8 · 2^−53, and the twin's own within 1 of 2^−53), a product, and five sums of at most ‖b‖₁.
        CHECK(std::abs(static_cast<double>(static_cast<long double>(score) - twin)) <= static_cast<double>(norm) * 15 * 0x1p-53);
        CHECK(std::abs(score) <= static_cast<double>(norm) * (1 + 15 * 0x1p-53));
        // Odd in q and k together.
        auto minus_q = q;
        auto minus_k = k;
        for (std::size_t c = 0; c < 2; ++c) minus_q(c) = -q(c);
        for (std::size_t c = 0; c < 3; ++c) minus_k(c) = -k(c);
        CHECK(additive{w1, w2, b}(minus_q, minus_k) == -score);
    }
}

TEST_CASE("the soft cap: odd, monotone, below the cap, and near the score where that is small", "[formula]") {
    const tensor<big, axis<1>> one{big(1)};
    const big cap(30);
    big before = -cap;
    for (int k = -400; k <= 400; ++k) {
        const big s = big(k) / big(4);
        const tensor<big, axis<1>> q{s}, minus_q{-s};
        const big capped = softcapped{dot_product{}, cap}(q, one);
        CAPTURE(k, capped.text(50));
        CHECK(before < capped);
        CHECK(capped < cap);
        CHECK(abs(capped + softcapped{dot_product{}, cap}(minus_q, one)) < big(1e-48));
        const big cube = abs(s * s * s) / (big(3) * cap * cap);
        CHECK(abs(capped - s) <= cube + big(1e-48)); // |tanh x − x| <= |x|³/3
        before = capped;
    }
}

TEST_CASE("a cap over the scaled dot product takes d_k from where it is used", "[formula]") {
    const auto q = filled(tensor<double, n_q, d_k>{}, 1);
    const auto k = filled(tensor<double, n_k, d_k>{}, 2);
    const auto v = filled(tensor<double, n_k, d_q>{}, 3);
    const softcapped by_dimension{scaled_by_dimension{}, 2.0};
    const softcapped by_hand{scaled_dot_product<double>::of_dimension(3), 2.0};
    CHECK(attention(q, k, v, everything{}, by_dimension) == attention(q, k, v, everything{}, by_hand));
    CHECK(attention(q, k, v, everything{}, softcapped{by_dimension, 1.0}) == attention(q, k, v, everything{}, softcapped{by_hand, 1.0}));
    CHECK(!(attention(q, k, v, everything{}, by_hand) == attention(q, k, v)));
}

TEST_CASE("scores with weights: matrices of them, attention with them, on fixed and dynamic axes", "[formula]") {
    const auto q = filled(tensor<double, n_q, d_q>{}, 11);
    const auto k = filled(tensor<double, n_k, d_k>{}, 12);
    const auto v = filled(tensor<double, n_k, d_k>{}, 13);
    const auto w = filled(tensor<double, d_q, d_k>{}, 14);
    const bilinear score{w};
    const auto s = scores(q, k, score);
    static_assert(std::is_same_v<decltype(s), const tensor<double, n_q, n_k>>);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) CHECK(s(i, j) == score(q[i], k[j]));
    const auto z = attention(q, k, v, causal_top_left{}, score);
    static_assert(std::is_same_v<decltype(z), const tensor<double, n_q, d_k>>, "d_q and d_k may differ");
    CHECK(z == matmul(softmax(s, causal_top_left{}), v));
    const bilinear loose{tensor<double, dyn, dyn>(w)};
    CHECK(attention(tensor<double, dyn, dyn>(q), tensor<double, dyn, dyn>(k), tensor<double, dyn, dyn>(v), causal_top_left{}, loose) == z);
    const bilinear of_view{view<const double, d_q, d_k>(w)};
    CHECK(attention(q, k, v, causal_top_left{}, of_view) == z);

    const additive learned{filled(tensor<double, hidden, d_k>{}, 15), filled(tensor<double, hidden, d_q>{}, 16), filled(tensor<double, hidden>{}, 17)};
    const additive loosely{tensor<double, dyn, dyn>(learned.w1), tensor<double, dyn, dyn>(learned.w2), tensor<double, dyn>(learned.b)};
    CHECK(scores(q, k, learned) == scores(q, k, loosely));
}

TEST_CASE("weights that do not fit the vectors are the rule's error at run time", "[formula]") {
    const auto q = tensor<double, dyn, dyn>::with_lengths(3, 2), k = tensor<double, dyn, dyn>::with_lengths(4, 3);
    const auto matrix = [](std::size_t rows, std::size_t columns) { return tensor<double, dyn, dyn>::with_lengths(rows, columns); };
    const auto b = tensor<double, dyn>::with_lengths(5);
    CHECK_NOTHROW(scores(q, k, bilinear{matrix(2, 3)}));
    CHECK_THROWS_WITH(scores(q, k, bilinear{matrix(3, 3)}), std::string(rules::bilinear_row_for_each_query_component::sentence) + " (2 and 3)");
    CHECK_THROWS_WITH(scores(q, k, bilinear{matrix(2, 2)}), std::string(rules::bilinear_column_for_each_key_component::sentence) + " (3 and 2)");
    CHECK_NOTHROW(scores(q, k, additive{matrix(5, 3), matrix(5, 2), b}));
    const std::string input = rules::weight_column_for_each_input::sentence, rows = rules::additive_hidden_dimension::sentence;
    CHECK_THROWS_WITH(scores(q, k, additive{matrix(5, 2), matrix(5, 2), b}), input + " (3 and 2)");
    CHECK_THROWS_WITH(scores(q, k, additive{matrix(5, 3), matrix(5, 3), b}), input + " (2 and 3)");
    CHECK_THROWS_WITH(scores(q, k, additive{matrix(5, 3), matrix(4, 2), b}), rows + " (5 and 4)");
    CHECK_THROWS_WITH(scores(q, k, additive{matrix(6, 3), matrix(6, 2), b}), rows + " (6 and 5)");
    CHECK_THROWS_WITH(scores(q, k, softcapped{bilinear{matrix(2, 2)}, 1.0}), std::string(rules::bilinear_column_for_each_key_component::sentence) + " (3 and 2)");
    CHECK_THROWS_WITH((bilinear{matrix(2, 2)}(q[0], k[0])), std::string(rules::bilinear_column_for_each_key_component::sentence) + " (3 and 2)");
}
