// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/mask_extras.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/attention.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

struct n_q : axis<2> {};
struct n_k : axis<3> {};
struct d : axis<2> {};
using dyn = axis<dynamic>;
using big = real<50>;
using booleans = tensor<bool, n_q, n_k>;

template <class X> X filled(X x, std::uint64_t seed) { // k/16 between −2 and 2
    std::mt19937_64 generator(seed);
    for (std::size_t e = 0; e < x.elements(); ++e)
        x.data()[e] = typename X::value_type(static_cast<int>(generator() % 65) - 32) / typename X::value_type(16);
    return x;
}

using dropout = dropout_mask<booleans, double>;
static_assert(mask<dropout> && mask<attention_sink<double>>);
static_assert(detail::has_factor<dropout> && !detail::has_sink<dropout> && !detail::is_additive<dropout>);
static_assert(detail::has_sink<attention_sink<double>> && !detail::has_factor<attention_sink<double>>);
static_assert(!detail::has_factor<both_masks<causal_top_left, everything>> && !detail::has_sink<both_masks<causal_top_left, everything>>);
static_assert(detail::has_factor<both_masks<dropout, attention_sink<double>>> && detail::has_sink<both_masks<dropout, attention_sink<double>>>);
static_assert(!detail::has_sink<both_masks<attention_sink<double>, attention_sink<double>>>, "one sink, not two");

constexpr booleans kept{{true, false, true}, {true, true, false}}, also_kept{{true, true, false}, {true, true, true}};
constexpr auto twice = dropout_mask{kept, 2.0} & dropout_mask{also_kept, 4.0};
static_assert(dropout_mask{kept, 2.0}.factor(0, 0) == 2 && dropout_mask{kept, 2.0}.factor(0, 1) == 0 && dropout_mask{kept, 2.0}.visible(0, 1));
static_assert(twice.factor(0, 0) == 8 && twice.factor(0, 1) == 0 && twice.factor(0, 2) == 0 && twice.factor(1, 1) == 8);
static_assert((everything{} & dropout_mask{kept, 2.0}).factor(0, 2) == 2 && (dropout_mask{kept, 2.0} & everything{}).factor(0, 2) == 2);
static_assert((attention_sink{3.0} & causal_top_left{}).sink() == 3 && (causal_top_left{} & attention_sink{3.0}).sink() == 3);

// A bias of h + 1 for head h.
struct counted {
    double value;
    constexpr bool visible(std::size_t, std::size_t) const { return true; }
    constexpr double added(std::size_t, std::size_t) const { return value; }
};
struct by_head {
    constexpr counted head(std::size_t h) const { return {static_cast<double>(h + 1)}; }
};
static_assert(mask_family<by_head> && !mask_family<causal_top_left> && !mask<by_head>);
constexpr auto with_causal = by_head{} & causal_top_left{};
constexpr auto causal_first = causal_top_left{} & by_head{};
constexpr auto two_families = by_head{} & with_causal;
static_assert(mask_family<decltype(with_causal)> && mask_family<decltype(causal_first)> && mask_family<decltype(two_families)>);
static_assert(mask_of_head(by_head{}, 2).added(0, 0) == 3);
static_assert(with_causal.head(1).added(0, 0) == 2 && !with_causal.head(1).visible(0, 1) && with_causal.head(1).visible(1, 1));
static_assert(causal_first.head(1).added(0, 0) == 2 && !causal_first.head(1).visible(0, 1));
static_assert(two_families.head(4).added(0, 0) == 10);
constexpr causal_top_left for_all{};
static_assert(&mask_of_head(for_all, 7) == &for_all, "any other mask is that of all heads");

} // namespace

TEST_CASE("dropout multiplies the weights in the sum, and leaves softmax as it is", "[formula]") {
    const auto q = filled(tensor<double, n_q, d>{}, 1);
    const auto k = filled(tensor<double, n_k, d>{}, 2);
    const auto v = filled(tensor<double, n_k, d>{}, 3);
    const dropout_mask dropped{kept, 4.0}; // a power of two: the products are exact
    const auto a = attention_weights(q, k);
    CHECK(attention_weights(q, k, dropped) == a);
    auto factors = a;
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j) factors(i, j) = kept(i, j) ? a(i, j) * 4 : 0;
    CHECK(attention(q, k, v, dropped) == matmul<rules::value_for_each_key>(factors, v));
    CHECK(attend(q[0], k, v, 0, dropped, scaled_dot_product<double>::of_dimension(2)).weights == a[0]);
    // Everything dropped: 0, which is not a row without a visible key.
    CHECK(attention(q, k, v, dropout_mask{booleans{}, 4.0}, empty_row::nan) == tensor<double, n_q, d>{});
}

TEST_CASE("the mean over all dropout masks is attention without dropout", "[formula]") {
    // p = 1/2: each of the 8 masks of a row of 3 keys is as likely, and the scale is 2.
    const auto q = filled(tensor<big, n_q, d>{}, 4);
    const auto k = filled(tensor<big, n_k, d>{}, 5);
    const auto v = filled(tensor<big, n_k, d>{}, 6);
    tensor<big, n_q, d> sum;
    for (unsigned bits = 0; bits < 8; ++bits) {
        booleans drawn;
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t j = 0; j < 3; ++j) drawn(i, j) = (bits >> j & 1) != 0;
        const auto z = attention(q, k, v, dropout_mask{drawn, big(2)});
        for (std::size_t e = 0; e < 4; ++e) sum.data()[e] = sum.data()[e] + z.data()[e];
    }
    const auto plain = attention(q, k, v);
    for (std::size_t e = 0; e < 4; ++e) {
        CAPTURE(e, sum.data()[e].text(50), plain.data()[e].text(50));
        CHECK(abs(sum.data()[e] / big(8) - plain.data()[e]) < big(1e-50));
    }
}

TEST_CASE("a sink is a key whose value is 0", "[formula]") {
    const auto q = filled(tensor<big, n_q, d>{}, 7);
    const auto k = filled(tensor<big, n_k, d>{}, 8);
    const auto v = filled(tensor<big, n_k, d>{}, 9);
    for (const double logit : {-40.0, -1.0, 0.0, 2.0, 40.0}) {
        // The same with a fourth key: its score is set to the logit by a bias, its value is 0.
        tensor<big, axis<4>, d> more_k, more_v;
        tensor<big, n_q, axis<4>> bias;
        for (std::size_t c = 0; c < 2; ++c)
            for (std::size_t j = 0; j < 3; ++j) {
                more_k(j, c) = k(j, c);
                more_v(j, c) = v(j, c);
            }
        for (std::size_t i = 0; i < 2; ++i) bias(i, 3) = big(logit); // its key is 0, and so is its score
        const attention_sink sink{big(logit)};
        const auto z = attention(q, k, v, sink), twin = attention(q, more_k, more_v, additive_mask{bias});
        const auto a = attention_weights(q, k, sink);
        for (std::size_t i = 0; i < 2; ++i) {
            big left(1);
            for (std::size_t j = 0; j < 3; ++j) left = left - a(i, j);
            CAPTURE(logit, i, left.text(20));
            CHECK(big(0) < left);
            CHECK(abs(left - attention_weights(q, more_k, additive_mask{bias})(i, 3)) < big(1e-50));
            for (std::size_t c = 0; c < 2; ++c) CHECK(abs(z(i, c) - twin(i, c)) < big(1e-50));
        }
    }
}

TEST_CASE("a row that sees the sink alone is 0, never NaN", "[formula]") {
    const auto q = filled(tensor<double, n_q, d>{}, 10);
    const auto k = filled(tensor<double, n_k, d>{}, 11);
    const auto nothing = keep_mask{booleans{}} & attention_sink{0.5};
    CHECK(attention(q, k, k, nothing, empty_row::nan) == tensor<double, n_q, d>{});
    CHECK(attention_weights(q, k, nothing, empty_row::nan) == tensor<double, n_q, n_k>{});
    // Far scores do not overflow, on either side.
    const auto high = attention(q, k, k, attention_sink{1e4}), low = attention(q, k, k, attention_sink{-1e4});
    CHECK(high == tensor<double, n_q, d>{});
    CHECK(low == attention(q, k, k));
}

TEST_CASE("a dropout mask of the wrong shape is the rule's error at run time", "[formula]") {
    const auto q = tensor<double, dyn, dyn>::with_lengths(3, 2), k = tensor<double, dyn, dyn>::with_lengths(4, 2);
    const auto few = tensor<bool, dyn, dyn>::with_lengths(2, 4), many = tensor<bool, dyn, dyn>::with_lengths(3, 5);
    CHECK_THROWS_WITH(attention(q, k, k, dropout_mask{few, 2.0}), std::string(rules::mask_row_for_each_query::sentence) + " (3 and 2)");
    CHECK_THROWS_WITH(attention(q, k, k, causal_top_left{} & dropout_mask{many, 2.0}), std::string(rules::mask_column_for_each_key::sentence) + " (4 and 5)");
}
