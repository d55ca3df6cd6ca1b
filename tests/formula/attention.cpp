// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/attention.hpp"
#include "attest/formula/mask_extras.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/shape/ranges.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

using namespace attest;

namespace {

struct n_q : axis<4> {};
struct n_k : axis<6> {};
struct d_k : axis<5> {};
struct d_v : axis<3> {};
using dyn = axis<dynamic>;
using big = real<50>;

template <class S, class... Axes> const tensor<S, Axes...>& of();
static_assert(std::is_same_v<decltype(attention(of<float, n_q, d_k>(), of<float, n_k, d_k>(), of<float, n_k, d_v>())), tensor<float, n_q, d_v>>,
              "as many rows as queries, as wide as the values");
static_assert(std::is_same_v<decltype(attention_weights(of<float, n_q, d_k>(), of<float, n_k, d_k>())), tensor<float, n_q, n_k>>);
static_assert(std::is_same_v<decltype(attention(of<double, dyn, d_k>(), of<double, dyn, dyn>(), of<double, n_k, dyn>())), tensor<double, dyn, dyn>>);

// The exercise with q1 = k1 = (1, 0), q2 = k2 = (0, 1), v1 = (2, 0), v2 = (0, 3), in a constant expression on both compilers.
constexpr tensor<double, axis<2>, axis<2>> unit{{1, 0}, {0, 1}}, values{{2, 0}, {0, 3}};
constexpr auto z = attention(unit, unit, values);
static_assert(z(0, 0) > 1.33951 && z(0, 0) < 1.33953 && z(0, 1) > 0.99071 && z(0, 1) < 0.99073);
constexpr auto causal_z = attention(unit, unit, values, causal_top_left{});
static_assert(causal_z[0] == tensor<double, axis<2>>{2, 0}, "the first token reads itself alone");
static_assert(attention_weights(unit, unit)(0, 0) == attention_weights(unit, unit)(1, 1));

// Heap tensors in a constant expression: 33 KiB of values.
constexpr double mean_of_many_values() {
    struct many : axis<64> {};
    tensor<double, many, axis<66>> v;
    for (std::size_t j = 0; j < 64; ++j) v(j, 65) = static_cast<double>(j);
    static_assert(sizeof(v) < 100);
    return attention(tensor<double, axis<1>, axis<2>>{}, tensor<double, many, axis<2>>{}, v)(0, 65);
}
static_assert(mean_of_many_values() == 31.5, "equal scores: the mean, exact here");

struct input {
    tensor<double, n_q, d_k> q;
    tensor<double, n_k, d_k> k;
    tensor<double, n_k, d_v> v;
};
template <class X> void fill(X& x, std::mt19937_64& generator) {
    for (auto& value : attest::elements(x)) value = std::uniform_real_distribution<>(-2, 2)(generator);
}
input random_input(std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    input x;
    fill(x.q, generator);
    fill(x.k, generator);
    fill(x.v, generator);
    return x;
}
template <class S, class... Axes> tensor<S, Axes...> in(const tensor<double, Axes...>& x) {
    auto result = tensor<S, Axes...>(x.lengths());
    for (std::size_t e = 0; e < x.elements(); ++e) result.data()[e] = S(x.data()[e]);
    return result;
}
double distance(const big& a, const big& b) { return std::abs(static_cast<double>(a - b)); }

// An independent twin: the definition in long double, without a shift, a mask as a table.
template <class M> std::vector<long double> twin(const input& x, const M& m) {
    std::vector<long double> z_;
    for (std::size_t i = 0; i < 4; ++i) {
        std::vector<long double> e(6);
        long double sum = 0;
        for (std::size_t j = 0; j < 6; ++j) {
            long double s = 0;
            for (std::size_t c = 5; c-- > 0;) s += static_cast<long double>(x.q(i, c)) * static_cast<long double>(x.k(j, c));
            if (m.visible(i, j)) sum += e[j] = std::exp(s / std::sqrt(5.0L));
        }
        for (std::size_t c = 0; c < 3; ++c) {
            long double out = 0;
            for (std::size_t j = 6; j-- > 0;) out += e[j] * static_cast<long double>(x.v(j, c));
            z_.push_back(sum == 0 ? 0 : out / sum);
        }
    }
    return z_;
}

constexpr tensor<bool, n_q, n_k> holes{{true, false, true, false, true, false},
                                       {false, false, false, false, false, true},
                                       {false, false, false, false, false, false},
                                       {true, true, true, true, true, true}};

} // namespace

TEST_CASE("attention agrees with its definition, written another way", "[formula]") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const input x = random_input(seed);
        const auto agrees = [&](const auto& m) {
            const auto got = attention(x.q, x.k, x.v, m);
            const auto wanted = twin(x, m);
            for (std::size_t e = 0; e < 12; ++e) {
                CAPTURE(seed, e, got.data()[e]);
                CHECK(std::abs(got.data()[e] - static_cast<double>(wanted[e])) <= 710.5 * 0x1p-53); // the count is below, at the 50 digits
            }
        };
        agrees(everything{});
        agrees(causal_top_left{});
        agrees(causal_bottom_right{4, 6});
        agrees(keep_mask{holes});
        agrees(causal_top_left{} & drop_mask{holes});
        agrees(sliding_window{1, 1, 1});
        agrees(sliding_window{2, 0} & causal_top_left{});
    }
}

TEST_CASE("the row form is the matrix form, bit for bit", "[formula]") {
    const input x = random_input(40);
    const auto same = [&](const auto& m) {
        const auto a = attention_weights(x.q, x.k, m);
        const auto z_ = attention(x.q, x.k, x.v, m);
        CHECK(z_ == matmul<rules::value_for_each_key>(a, x.v));
        for (std::size_t i = 0; i < 4; ++i) {
            const auto row = attend(x.q[i], x.k, x.v, i, m, scaled_dot_product<double>::of_dimension(5));
            static_assert(std::is_same_v<decltype(row), const attention_row<double, n_k, d_v>>);
            CHECK(row.weights == a[i]);
            CHECK(row.out == z_[i]);
            for (std::size_t j = 0; j < 6; ++j)
                if (m.visible(i, j)) CHECK(row.scores(j) == with_bias(m, i, j, scaled_scores(x.q, x.k)(i, j)));
        }
    };
    same(everything{});
    same(causal_bottom_right{4, 6});
    same(keep_mask{holes});
    same(sliding_window{0, 2});
    same(attention_sink{0.5} & causal_bottom_right{4, 6});
    same(keep_mask{holes} & attention_sink{-3.0});
    tensor<double, n_q, n_k> bias;
    std::mt19937_64 generator(41);
    fill(bias, generator);
    bias(1, 2) = -std::numeric_limits<double>::infinity();
#if !defined(__FP_FAST_FMA) && !defined(__FMA__) // else the compiler may contract score · scale + bias, in one form and not in the other
    same(additive_mask{bias});
    same(additive_mask{bias} & causal_top_left{});
#endif
}

TEST_CASE("attention in float, double and 50 digits agrees to their own precision", "[formula]") {
    for (std::uint64_t seed = 50; seed < 80; ++seed) {
        const input x = random_input(seed);
        // The same inputs in all three: floats.
        const auto q = in<float>(x.q);
        const auto k = in<float>(x.k);
        const auto v = in<float>(x.v);
        const tensor<double, n_q, d_k> q2(q);
        const tensor<double, n_k, d_k> k2(k);
        const tensor<double, n_k, d_v> v2(v);
        const auto exact = attention(in<big>(q2), in<big>(k2), in<big>(v2));
        const auto in_double = attention(q2, k2, v2);
        const auto in_float = attention(q, k, v);
        for (std::size_t e = 0; e < 12; ++e) {
            CAPTURE(seed, e, static_cast<double>(exact.data()[e]), in_double.data()[e], in_float.data()[e]);
            // |q_c k_c| <= 4: a score is off by at most 20 · (5 + 3) u, a weight by 2 · 160 u + (6 + 4 + 18) u, an output by 2 (that + 7) u.
            CHECK(distance(big(in_double.data()[e]), exact.data()[e]) <= 710 * 0x1p-53);
            CHECK(distance(big(static_cast<double>(in_float.data()[e])), exact.data()[e]) <= 710 * 0x1p-24);
        }
    }
}

TEST_CASE("attention on fixed and dynamic axes, tensors and views has the same bits", "[formula]") {
    const input x = random_input(90);
    const auto fixed = attention(x.q, x.k, x.v, causal_top_left{});
    const tensor<double, dyn, dyn> q(x.q), k(x.k), v(x.v);
    CHECK(attention(q, k, v, causal_top_left{}) == fixed);
    CHECK(attention(x.q, k, x.v, causal_top_left{}) == fixed);
    const std::vector<double> memory(x.k.data(), x.k.data() + 30);
    CHECK(attention(x.q, shaped<n_k, d_k>(memory), x.v, causal_top_left{}) == fixed);
    // Keys stored component by component, values with room between the rows, queries from last to first.
    const auto k_by_components = transpose(x.k);
    std::vector<double> padded(6 * 7);
    for (std::size_t j = 0; j < 6; ++j)
        for (std::size_t c = 0; c < 3; ++c) padded[j * 7 + c] = x.v(j, c);
    const view<const double, n_k, d_k> k_view(k_by_components.data(), {}, {1, 6});
    const view<const double, n_k, d_v> v_view(padded.data(), {}, {7, 1});
    CHECK(attention(x.q, k_view, v_view, causal_top_left{}) == fixed);
    const view<const double, n_q, d_k> reversed(x.q.data() + 15, {}, {-5, 1});
    const auto reversed_result = attention(reversed, x.k, x.v), in_order = attention(x.q, x.k, x.v);
    for (std::size_t i = 0; i < 4; ++i) CHECK(reversed_result[3 - i] == in_order[i]);
}

TEST_CASE("self-attention is permutation-equivariant: all 24 orders of 4 tokens", "[formula]") {
    const input x = random_input(91);
    tensor<big, n_q, d_k> q = in<big>(x.q), k;
    tensor<big, n_q, d_v> v;
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t c = 0; c < 5; ++c) k(i, c) = big(x.k(i, c));
        for (std::size_t c = 0; c < 3; ++c) v(i, c) = big(x.v(i, c));
    }
    const auto rows_in_order = [](const auto& m, const std::vector<std::size_t>& order) {
        auto result = m;
        for (std::size_t i = 0; i < order.size(); ++i)
            for (std::size_t c = 0; c < m.length(1); ++c) result(i, c) = m(order[i], c);
        return result;
    };
    const auto plain = attention(q, k, v), causal = attention(q, k, v, causal_top_left{});
    std::vector<std::size_t> order{0, 1, 2, 3};
    bool causal_mask_sees_the_order = false;
    do {
        const auto pq = rows_in_order(q, order), pk = rows_in_order(k, order);
        const auto pv = rows_in_order(v, order);
        const auto all = attention(pq, pk, pv), wanted = rows_in_order(plain, order);
        const auto keys_alone = attention(q, pk, pv);
        const auto masked = attention(pq, pk, pv, causal_top_left{}), masked_wanted = rows_in_order(causal, order);
        for (std::size_t e = 0; e < 12; ++e) {
            CHECK(distance(all.data()[e], wanted.data()[e]) < 1e-50);        // tokens permuted: outputs permuted
            CHECK(distance(keys_alone.data()[e], plain.data()[e]) < 1e-50);  // keys with their values permuted: nothing changes
            causal_mask_sees_the_order |= distance(masked.data()[e], masked_wanted.data()[e]) > 0.1;
        }
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(causal_mask_sees_the_order);
}

TEST_CASE("under a causal mask the future changes no bit of the past", "[formula]") {
    input x = random_input(92);
    const auto before = attention(x.q, x.k, x.v, causal_top_left{});
    for (std::size_t from = 4; from-- > 1;) { // keys and values from `from` on become something else, NaN among it
        for (std::size_t c = 0; c < 5; ++c) x.k(from, c) = c == 0 ? std::nan("") : -17;
        for (std::size_t c = 0; c < 3; ++c) x.v(from, c) = std::numeric_limits<double>::infinity();
        const auto after = attention(x.q, x.k, x.v, causal_top_left{});
        for (std::size_t i = 0; i < from; ++i) CHECK(after[i] == before[i]);
        CHECK(std::isnan(after(from, 0)));
    }
}

TEST_CASE("outputs lie in the convex hull of the values, and are linear in them", "[formula]") {
    for (std::uint64_t seed = 100; seed < 120; ++seed) {
        const input x = random_input(seed), y = random_input(seed + 1000);
        const auto q = in<big>(x.q);
        const auto k = in<big>(x.k);
        const auto v = in<big>(x.v), w = in<big>(y.v);
        auto combined = v;
        for (std::size_t e = 0; e < 18; ++e) combined.data()[e] = big(3) * v.data()[e] - w.data()[e];
        const auto zv = attention(q, k, v), zw = attention(q, k, w), zc = attention(q, k, combined);
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t c = 0; c < 3; ++c) {
                CAPTURE(seed, i, c);
                CHECK(distance(zc(i, c), big(3) * zv(i, c) - zw(i, c)) < 1e-50);
                big least = v(0, c), greatest = v(0, c);
                for (std::size_t j = 1; j < 6; ++j) {
                    least = v(j, c) < least ? v(j, c) : least;
                    greatest = greatest < v(j, c) ? v(j, c) : greatest;
                }
                CHECK(least < zv(i, c));
                CHECK(zv(i, c) < greatest);
            }
    }
}

TEST_CASE("cases with an exact answer: one key, no scores, keys far apart", "[formula]") {
    const input x = random_input(130);
    // One visible key: its value, whatever the query.
    tensor<bool, n_q, n_k> one;
    for (std::size_t i = 0; i < 4; ++i) one(i, 5 - i) = true;
    const auto z_ = attention(x.q, x.k, x.v, keep_mask{one});
    for (std::size_t i = 0; i < 4; ++i) CHECK(z_[i] == x.v[5 - i]);
    // q = 0: the mean of the values.
    const auto mean = attention(in<big>(tensor<double, n_q, d_k>{}), in<big>(x.k), in<big>(x.v));
    for (std::size_t c = 0; c < 3; ++c) {
        big sum(0);
        for (std::size_t j = 0; j < 6; ++j) sum = sum + big(x.v(j, c));
        CHECK(distance(mean(0, c), sum / big(6)) < 1e-50);
    }
    // A score 10^6 above the rest takes all.
    const auto hard = attention(tensor<double, axis<1>, axis<1>>{{1e3}}, tensor<double, axis<3>, axis<1>>{{-1}, {1e3}, {0}},
                                tensor<double, axis<3>, axis<1>>{{5}, {6}, {7}});
    CHECK(hard(0, 0) == 6);
}

TEST_CASE("rows without a visible key are zero or NaN, as asked, and no keys at all is such a row", "[formula]") {
    const input x = random_input(131);
    const auto zero = attention(x.q, x.k, x.v, keep_mask{holes});
    const auto nan = attention(x.q, x.k, x.v, keep_mask{holes}, empty_row::nan);
    for (std::size_t c = 0; c < 3; ++c) {
        CHECK(zero(2, c) == 0);
        CHECK(std::isnan(nan(2, c)));
        CHECK(nan(0, c) == zero(0, c));
    }
    CHECK(std::isnan(attention_weights(x.q, x.k, keep_mask{holes}, empty_row::nan)(2, 0)));
    CHECK(attention_weights(x.q, x.k, keep_mask{holes})(2, 0) == 0);
    const tensor<double, dyn, d_k> no_keys;
    const tensor<double, dyn, d_v> no_values;
    CHECK(attention(x.q, no_keys, no_values) == tensor<double, n_q, d_v>{});
    CHECK(std::isnan(attention(x.q, no_keys, no_values, everything{}, empty_row::nan)(3, 2)));
    CHECK(attention(tensor<double, dyn, d_k>{}, x.k, x.v).length(0) == 0);
    // The hidden values are not multiplied by 0: ∞ and NaN behind a mask do no harm.
    input hidden = x;
    for (std::size_t c = 0; c < 3; ++c) hidden.v(1, c) = c == 0 ? std::nan("") : std::numeric_limits<double>::infinity();
    tensor<bool, n_q, n_k> all_but_one;
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 6; ++j) all_but_one(i, j) = j != 1;
    CHECK(attention(hidden.q, hidden.k, hidden.v, keep_mask{all_but_one}) == attention(x.q, x.k, x.v, keep_mask{all_but_one}));
}

TEST_CASE("NaN and infinity in the input spoil the rows that read them, and no others", "[formula]") {
    input x = random_input(132);
    const auto clean = attention(x.q, x.k, x.v);
    x.q(1, 2) = std::nan("");
    const auto got = attention(x.q, x.k, x.v);
    for (std::size_t i = 0; i < 4; ++i) {
        if (i == 1) CHECK((std::isnan(got(i, 0)) && std::isnan(got(i, 2))));
        else CHECK(got[i] == clean[i]);
    }
    x = random_input(132);
    x.v(3, 1) = std::nan("");
    const auto column = attention(x.q, x.k, x.v);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(std::isnan(column(i, 1)));
        CHECK(column(i, 0) == clean(i, 0));
    }
}

TEST_CASE("self-attention on the tokens themselves (B013): x = (1), (2)", "[formula]") {
    const tensor<double, axis<2>, axis<1>> x{{1}, {2}};
    const auto a = softmax(scores(x, x));
    const auto rounds_to = [](double value, int hundred_thousandths) { return std::abs(value * 1e5 - hundred_thousandths) < 0.5; };
    CHECK((rounds_to(a(0, 0), 26894) && rounds_to(a(0, 1), 73106)));
    CHECK((rounds_to(a(1, 0), 11920) && rounds_to(a(1, 1), 88080)));
    const auto out = raw_self_attention(x);
    static_assert(std::is_same_v<decltype(out), const tensor<double, axis<2>, axis<1>>>);
    CHECK(out == matmul(a, x));
    CHECK(a(0, 1) > a(0, 0)); // token 1 reads token 2 more than itself (B015)
    // d = 1: the scale is 1. In general the second form is attention(X, X, X), and without projections.
    CHECK(raw_self_attention(x, everything{}, scaled_by_dimension{}) == out);
    CHECK(raw_self_attention(x, causal_top_left{})(0, 0) == 1);
    const input y = random_input(134);
    CHECK(raw_self_attention(y.q) == attention(y.q, y.q, y.q, everything{}, dot_product{}));
    CHECK(raw_self_attention(y.q, causal_top_left{}, scaled_by_dimension{}) == attention(y.q, y.q, y.q, causal_top_left{}));
}

TEST_CASE("a sink takes weight from every row, and a window leaves the rest unread", "[formula]") {
    input x = random_input(135);
    const auto a = attention_weights(x.q, x.k), b = attention_weights(x.q, x.k, attention_sink{0.0});
    for (std::size_t i = 0; i < 4; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < 6; ++j) {
            CHECK(b(i, j) < a(i, j));
            sum += b(i, j);
        }
        CHECK(sum < 1);
    }
    const sliding_window window{1, 0};
    const auto before = attention(x.q, x.k, x.v, window);
    for (std::size_t c = 0; c < 3; ++c) x.v(0, c) = std::nan(""); // seen by queries 0 and 1
    const auto after = attention(x.q, x.k, x.v, window);
    CHECK(after[2] == before[2]);
    CHECK(after[3] == before[3]);
    CHECK(std::isnan(after(1, 0)));
}

TEST_CASE("a score of one's own, a scale of one's own, and a rule for empty rows beside them", "[formula]") {
    const input x = random_input(133);
    const auto scaled = attention(x.q, x.k, x.v);
    CHECK(attention(x.q, x.k, x.v, everything{}, scaled_dot_product<double>::of_dimension(5)) == scaled);
    CHECK(attention(x.q, x.k, x.v, everything{}, dot_product{}) != scaled);
    CHECK(attention(x.q, x.k, x.v, everything{}, scaled_dot_product<double>{1}) == attention(x.q, x.k, x.v, everything{}, dot_product{}));
    CHECK(std::isnan(attention(x.q, x.k, x.v, keep_mask{holes}, dot_product{}, empty_row::nan)(2, 0)));
    // A scale of 0 forgets the scores.
    const auto flat = attention(x.q, x.k, x.v, everything{}, scaled_dot_product<double>{0});
    for (std::size_t i = 1; i < 4; ++i) CHECK(flat[i] == flat[0]);
}

TEST_CASE("inputs that do not fit are the rule's error at run time", "[formula]") {
    const auto q = tensor<double, dyn, dyn>::with_lengths(2, 3);
    const auto k = tensor<double, dyn, dyn>::with_lengths(5, 3), k4 = tensor<double, dyn, dyn>::with_lengths(5, 4);
    const auto v = tensor<double, dyn, dyn>::with_lengths(5, 7), v6 = tensor<double, dyn, dyn>::with_lengths(6, 7);
    const auto few = tensor<bool, dyn, dyn>::with_lengths(1, 5), many = tensor<bool, dyn, dyn>::with_lengths(2, 6);
    CHECK_NOTHROW(attention(q, k, v));
    CHECK_THROWS_WITH(attention(q, k4, v), std::string(rules::query_key_dimension::sentence) + " (3 and 4)");
    CHECK_THROWS_WITH(attention_weights(q, k4), std::string(rules::query_key_dimension::sentence) + " (3 and 4)");
    CHECK_THROWS_WITH(attention(q, k, v6), std::string(rules::value_for_each_key::sentence) + " (5 and 6)");
    CHECK_THROWS_WITH(attention(q, k, v, keep_mask{few}), std::string(rules::mask_row_for_each_query::sentence) + " (2 and 1)");
    CHECK_THROWS_WITH(attention(q, k, v, keep_mask{many}), std::string(rules::mask_column_for_each_key::sentence) + " (5 and 6)");
    CHECK_THROWS_WITH(attention(q, k, v, causal_bottom_right{2, 6}), std::string(rules::mask_column_for_each_key::sentence) + " (5 and 6)");
    CHECK_THROWS_WITH(attend(q[0], k4, v, 0, everything{}, dot_product{}), std::string(rules::query_key_dimension::sentence) + " (3 and 4)");
    CHECK_THROWS_WITH(attend(q[0], k, v6, 0, everything{}, dot_product{}), std::string(rules::value_for_each_key::sentence) + " (5 and 6)");
    // A fixed axis against a dynamic one, and an error even where there is no query to look at.
    CHECK_THROWS_AS(attention(tensor<double, dyn, d_k>{}, k, v), shape_error);
}
