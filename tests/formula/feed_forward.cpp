// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/feed_forward.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"
#include "gradient/rational.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>

using namespace attest;
using exactly::rational;

namespace {

struct n : axis<4> {};
struct d_model : axis<3> {};
struct d_ff : axis<5> {};
using dyn = axis<dynamic>;
using big = real<50>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
template <class W> const W& any();
using weights_f = feed_forward_weights<float, d_model, d_ff>;
static_assert(std::is_same_v<decltype(feed_forward(of<float, n, d_model>(), any<weights_f>())), tensor<float, n, d_model>>);
static_assert(std::is_same_v<decltype(feed_forward(of<float, dyn, dyn>(), any<weights_f>())), tensor<float, dyn, d_model>>);
static_assert(std::is_same_v<decltype(feed_forward(of<float, n, d_model>(), feed_forward_weights<float, dyn, dyn>{})), tensor<float, n, dyn>>);
// W_2 may lead elsewhere than back to d_model.
static_assert(std::is_same_v<decltype(feed_forward(of<float, n, d_model>(), of<float, d_model, d_ff>(), of<float, d_ff>(), of<float, d_ff, axis<2>>(),
                                                   of<float, axis<2>>())),
                             tensor<float, n, axis<2>>>);

// By hand: x = (1, -2), x W_1 + b_1 = (1 + 2 + 1, 2 - 6 + 0, -1 + 0 + 3) = (4, -4, 2), ReLU makes (4, 0, 2), times W_2 is (4 + 4, 8 - 2), plus b_2.
constexpr tensor<int, axis<1>, axis<2>> token{{1, -2}};
constexpr feed_forward_weights<int, axis<2>, axis<3>> by_hand{{{1, 2, -1}, {-1, 3, 0}}, {1, 0, 3}, {{1, 2}, {5, 7}, {2, -1}}, {10, 20}};
static_assert(feed_forward(token, by_hand) == tensor<int, axis<1>, axis<2>>{{18, 26}});
// A101: the maps are affine, not linear: FFN(0) = ReLU(b_1) W_2 + b_2 = (1 + 6 + 10, 2 - 3 + 20).
static_assert(feed_forward(tensor<int, axis<1>, axis<2>>{}, by_hand) == tensor<int, axis<1>, axis<2>>{{17, 19}});

template <class X> void fill(X& x, std::mt19937_64& generator) {
    using S = typename X::value_type;
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = S(static_cast<int>(generator() % 65) - 32) / S(16);
}
template <class S> struct question {
    tensor<S, n, d_model> x;
    feed_forward_weights<S, d_model, d_ff> w;
};
template <class S> question<S> random_question(std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    question<S> q;
    fill(q.x, generator);
    fill(q.w.w_1, generator);
    fill(q.w.b_1, generator);
    fill(q.w.w_2, generator);
    fill(q.w.b_2, generator);
    return q;
}

} // namespace

TEST_CASE("A096: FFN(P X) = P FFN(X) for every permutation of four tokens, exactly", "[formula]") {
    const auto q = random_question<rational>(1);
    const auto y = feed_forward(q.x, q.w);
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    int permutations = 0;
    do {
        tensor<rational, n, d_model> permuted, wanted;
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t c = 0; c < 3; ++c) permuted(i, c) = q.x(order[i], c), wanted(i, c) = y(order[i], c);
        CHECK(feed_forward(permuted, q.w) == wanted);
        ++permutations;
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(permutations == 24);
}

TEST_CASE("A100: a token's result depends on no other token, exactly", "[formula]") {
    const auto q = random_question<rational>(2);
    const auto y = feed_forward(q.x, q.w);
    for (std::size_t i = 0; i < 4; ++i) {
        auto changed = q.x;
        for (std::size_t other = 0; other < 4; ++other)
            for (std::size_t c = 0; c < 3; ++c)
                if (other != i) changed(other, c) = changed(other, c) * rational(-7) + rational(1);
        const auto z = feed_forward(changed, q.w);
        for (std::size_t c = 0; c < 3; ++c) CHECK(z(i, c) == y(i, c));
        CHECK_FALSE(z == y);
    }
}

TEST_CASE("A097: without the activation the two maps are one; with ReLU they are not", "[formula]") {
    const auto q = random_question<rational>(3);
    const auto both = with_bias_on_rows(matmul(with_bias_on_rows(matmul(q.x, q.w.w_1), q.w.b_1), q.w.w_2), q.w.b_2);
    const auto w = matmul(q.w.w_1, q.w.w_2);
    const auto b = project_in_out(q.w.b_1, q.w.w_2);
    const auto one = with_bias_on_rows(with_bias_on_rows(matmul(q.x, w), b), q.w.b_2);
    CHECK(both == one);
    // An affine map takes the mean of two tokens to the mean of their images; FFN with ReLU does not.
    const auto image_of_mean = [&](auto f) {
        tensor<rational, axis<3>, d_model> tokens;
        for (std::size_t c = 0; c < 3; ++c) {
            tokens(0, c) = q.x(0, c);
            tokens(1, c) = q.x(1, c);
            tokens(2, c) = (q.x(0, c) + q.x(1, c)) / rational(2);
        }
        const auto y = f(tokens);
        bool affine = true;
        for (std::size_t c = 0; c < 3; ++c) affine = affine && y(2, c) == (y(0, c) + y(1, c)) / rational(2);
        return affine;
    };
    CHECK(image_of_mean([&](const auto& tokens) { return with_bias_on_rows(matmul(tokens, w), b); }));
    CHECK_FALSE(image_of_mean([&](const auto& tokens) { return feed_forward(tokens, q.w); }));
}

TEST_CASE("FFN against the definition, one element at a time, at 50 digits", "[formula]") {
    const auto q = random_question<big>(4);
    const activation kinds[] = {{}, {activation_kind::gelu, {}}, {activation_kind::gelu, gelu_form::tanh}, {activation_kind::gelu, gelu_form::sigmoid}};
    tensor<big, n, d_model> earlier;
    for (const activation& act : kinds) {
        const auto y = feed_forward(q.x, q.w, act);
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t o = 0; o < 3; ++o) {
                big sum = q.w.b_2(o);
                for (std::size_t h = 0; h < 5; ++h) {
                    big hidden = q.w.b_1(h);
                    for (std::size_t c = 0; c < 3; ++c) hidden = hidden + q.x(i, c) * q.w.w_1(c, h);
                    sum = sum + act(hidden) * q.w.w_2(h, o);
                }
                INFO("(" << i << ", " << o << "): " << y(i, o).text(30) << " and " << sum.text(30));
                CHECK(abs(y(i, o) - sum) < big(1e-45));
            }
        CHECK_FALSE(y == earlier); // each activation is another
        earlier = y;
    }
}

TEST_CASE("dynamic axes give the same, and absent biases are zeros", "[formula]") {
    auto q = random_question<rational>(5);
    feed_forward_weights<rational, dyn, dyn> w{tensor<rational, dyn, dyn>(q.w.w_1), tensor<rational, dyn>(q.w.b_1), tensor<rational, dyn, dyn>(q.w.w_2),
                                               tensor<rational, dyn>(q.w.b_2)};
    const tensor<rational, dyn, dyn> x(q.x);
    CHECK(feed_forward(x, w) == feed_forward(q.x, q.w));
    CHECK(feed_forward(x, w.w_1, w.b_1, w.w_2, w.b_2) == feed_forward(x, w));
    w.b_1 = {};
    w.b_2 = {};
    q.w.b_1 = {};
    q.w.b_2 = {};
    CHECK(feed_forward(x, w) == feed_forward(q.x, q.w));
}

TEST_CASE("A103: what does not fit is refused with the rule's sentence and the two lengths", "[formula]") {
    const auto x = tensor<double, dyn, dyn>::with_lengths(2, 3);
    const auto message = [&](std::size_t rows_1, std::size_t bias_1, std::size_t rows_2, std::size_t bias_2) {
        feed_forward_weights<double, dyn, dyn> w{tensor<double, dyn, dyn>::with_lengths(rows_1, 5), tensor<double, dyn>::with_lengths(bias_1),
                                                 tensor<double, dyn, dyn>::with_lengths(rows_2, 3), tensor<double, dyn>::with_lengths(bias_2)};
        try {
            (void)feed_forward(x, w);
        } catch (const shape_error& e) {
            return std::string(e.what());
        }
        return std::string("fits");
    };
    const std::string row = rules::weight_row_for_each_input::sentence, bias = rules::bias_for_each_output::sentence;
    CHECK(message(3, 5, 5, 3) == "fits");
    CHECK(message(4, 5, 5, 3) == row + " (3 and 4)");
    CHECK(message(3, 4, 5, 3) == bias + " (5 and 4)");
    CHECK(message(3, 5, 3, 3) == row + " (5 and 3)");
    CHECK(message(3, 5, 5, 5) == bias + " (3 and 5)");
}
