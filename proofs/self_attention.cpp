// SPDX-License-Identifier: BSL-1.0
// What kind of mapping attention is, self-attention on raw tokens, what every mechanism of the lectures does, who attends to
// whom, and what a distance of 60 steps does to a signal.

#include "exact.hpp"
#include "identity.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/attention.hpp"
#include "attest/formula/learned_score.hpp"
#include "attest/formula/projection.hpp"

namespace attest::proofs {
namespace {

constexpr unsigned points = 4;

// Is x what is printed, "3/2"?
constexpr bool is(const exact& x, std::string_view printed) {
    const std::size_t slash = printed.find('/');
    return x * whole_number(printed.substr(slash + 1)) == exact(whole_number(printed.substr(0, slash)));
}

struct n : axis<3> {};
struct d : axis<2> {};
struct four : axis<4> {};
struct d_v : axis<5> {};

// [A016]
// One query, the keys 0 and 1 in units of log 2, the values 0 and 1.
constexpr exact read_by(const exact& q, const exact& last_key = 1) {
    return attend(tensor<exact, axis<1>>{q}, tensor<exact, axis<2>, axis<1>>{{0}, {last_key}},
                  tensor<exact, axis<2>, axis<1>>{{0}, {1}}, 0, everything{}, dot_product{})
        .out(0);
}
constexpr tensor<exact, axis<2>, axis<1>> ones_and_twos{{0}, {1}}, doubled{{0}, {2}};
constexpr bool self_attention_is_not_linear =
    raw_self_attention(ones_and_twos)(1, 0) == ratio(2, 3) && raw_self_attention(doubled)(1, 0) == ratio(32, 17);

// A(Q, K, a V + b W) = a A(Q, K, V) + b A(Q, K, W).
constexpr bool linear_in_the_values = identity(points, [](draw& x) {
    const auto q = x.matrix<n, d>();
    const auto k = x.matrix<four, d>();
    const auto v = x.matrix<four, d_v>(), w = x.matrix<four, d_v>();
    const field a = x.number(), b = x.number();
    const scaled_dot_product<field> score{x.number()};
    const auto z = [&](const auto& values) { return attention(q, k, values, everything{}, score); };
    const auto combined = [&a, &b](auto r, const auto& s) {
        for (std::size_t i = 0; i < r.length(0); ++i)
            for (std::size_t c = 0; c < r.length(1); ++c) r(i, c) = a * r(i, c) + b * s(i, c);
        return r;
    };
    return agree(z(combined(v, w)), combined(z(v), z(w)));
});

const entry A016 = settle("A016", fails_as_printed([] { return !(read_by(2) == 2 * read_by(1)) && !(read_by(0) == 0); }),
                          fails_as_printed([] { return !(read_by(1, 2) == 2 * read_by(1, 1)); }), // in K
                          fails_as_printed([] { return self_attention_is_not_linear; }), holds_corrected([](const claim& c) {
                              return is(read_by(1), c.number(0)) && is(read_by(2), c.number(1)) && is(read_by(0), c.number(2));
                          }),
                          holds_corrected([](const claim& c) { return c.points_with_exp() == points && linear_in_the_values; }));
// By the scores 0 and 1 themselves the values 0 and 1 would give 1.
constexpr tensor<exact, axis<1>, axis<1>> Q{{1}};
constexpr tensor<exact, axis<2>, axis<1>> K{{0}, {1}}, V{{0}, {1}};
constexpr exact by_the_scores = matmul(scores(Q, K), V)(0, 0);
const entry A057 = settle("A057", fails_as_printed([] {
                              return by_the_scores == 1 && !(attention(Q, K, V, everything{}, dot_product{})(0, 0) == by_the_scores);
                          }),
                          holds_corrected([](const claim& c) { return is(read_by(1), c.number()); }));
// [/A016]

// [B013]
// o_i = Σ_j α_ij x_j with α_ij = e^{x_i · x_j} / Σ_k e^{x_i · x_k}, spelled out.
constexpr field e_to_the_score(const tensor<field, n, d>& x, std::size_t i, std::size_t j) {
    return exp(x(i, 0) * x(j, 0) + x(i, 1) * x(j, 1));
}
constexpr field alpha_of(const tensor<field, n, d>& x, std::size_t i, std::size_t j) {
    return e_to_the_score(x, i, j) / (e_to_the_score(x, i, 0) + e_to_the_score(x, i, 1) + e_to_the_score(x, i, 2));
}
constexpr bool raw_self_attention_is_as_defined = identity(points, [](draw& x) {
    const auto tokens = x.matrix<n, d>();
    tensor<field, n, d> o;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t c = 0; c < 2; ++c) o(i, c) = o(i, c) + alpha_of(tokens, i, j) * tokens(j, c);
    return agree(raw_self_attention(tokens), o);
});

// The tokens x_1 = 1 and x_2 = 2: symmetric scores, weights that are not.
struct tokens : axis<2> {};
constexpr tensor<interval, tokens, axis<1>> one_and_two{{1}, {2}};
constexpr auto e = scores(one_and_two, one_and_two);
constexpr auto alpha = softmax(e);
static_assert(surely(e(0, 1) == e(1, 0)) && surely(alpha(0, 1) != alpha(1, 0)));

const entry B013 = settle("B013", holds([](const claim& c) { return c.points_with_exp() == points && raw_self_attention_is_as_defined; }),
                          holds([](const claim& c) {
                              return prints(alpha(0, 0), c.number(0), 5) && prints(alpha(0, 1), c.number(1), 5) &&
                                     prints(alpha(1, 0), c.number(2), 5) && prints(alpha(1, 1), c.number(3), 5);
                          }));
// A dot product is not a similarity: token 1 attends more to token 2 than to itself.
const entry B015 = settle("B015", fails_as_printed([] { return surely(alpha(0, 1) > alpha(0, 0)); }), holds_corrected([] {
                              return surely(e(0, 1) > e(0, 0)) && surely(e(0, 1) == e(1, 0)) && surely(alpha(0, 1) != alpha(1, 0));
                          }));
// [/B013]

// [B014]
constexpr bool outputs_are_means_of_inputs = identity(points, [](draw& x) {
    const auto tokens = x.matrix<n, d>();
    const field m = x.number();
    const auto o = raw_self_attention(tokens);
    agreement all = agreement::equal;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 2; ++c) {
            field sum = 0;
            for (std::size_t j = 0; j < 3; ++j) sum = sum + alpha_of(tokens, i, j) * (tokens(j, c) - m);
            all = all & agree(o(i, c) - m, sum);
        }
    return all;
});
// Each of three scores may be anything from −8 to 8: no weight is 0.
constexpr interval any_score = hull(interval(-8), interval(8));
constexpr auto any_weights = softmax(tensor<interval, n>{any_score, any_score, any_score});
constexpr bool weights_are_positive = surely(any_weights(0) > 0) && surely(any_weights(1) > 0) && surely(any_weights(2) > 0);

const entry B014 = settle("B014", holds([](const claim& c) { return c.points_with_exp() == points && outputs_are_means_of_inputs; }),
                          holds([] { return weights_are_positive; }));
// [/B014]

// [B012]
// Two tokens in exact numbers: their scores x_i · x_j are in units of log 2. "Every other" leaves out the own position, and
// the causal mask.
constexpr tensor<exact, tokens, axis<1>> exact_one_and_two{{1}, {2}};
constexpr tensor<bool, tokens, tokens> own_position{{true, false}, {false, true}};
constexpr auto causal = softmax(scores(exact_one_and_two, exact_one_and_two), causal_top_left{});

const entry B012 =
    settle("B012", fails_as_printed([] {
               return !(raw_self_attention(exact_one_and_two) == raw_self_attention(exact_one_and_two, drop_mask{own_position}));
           }),
           fails_as_printed([] { return causal(0, 1) == 0; }),
           holds_corrected([] { return weights_are_positive; }), // each of them, the own one too
           holds_corrected([] { return causal(0, 0) == 1 && causal(1, 0) == ratio(1, 5) && causal(1, 1) == ratio(4, 5); }));
// [/B012]

// [B001]
// Softmax's weights are positive and add to 1. Sigmoid attention has the weights 2^s/(2^s + 1), here for three scores 0 in
// units of log 2: they add to 3/2. Linear attention has the weights φ(q) · φ(k_j) / Σ_l φ(q) · φ(k_l), here φ = ReLU, q = (1,
// 0) and the keys (1, 0) and (0, 1): one is 0.
constexpr exact sigmoid(const exact& s) { return exp(s) / (exp(s) + 1); }
constexpr tensor<exact, axis<1>, axis<2>> feature_of_q{{1, 0}};
constexpr tensor<exact, axis<2>, axis<2>> features_of_k{{1, 0}, {0, 1}};
constexpr auto products = scores(feature_of_q, features_of_k);
constexpr exact linear_weight = products(0, 1) / (products(0, 0) + products(0, 1));
constexpr auto softmax_of_zeros = softmax(tensor<exact, n>{0, 0, 0});

// e^s in place of the score's definition: every score of the library goes through softmax.
template <class Score>
constexpr agreement weights_are_softmax_of(const Score& score, draw& x) {
    const auto q = x.vector<d>();
    const auto k = x.matrix<n, d>();
    const auto row = attend(q, k, k, 0, everything{}, score);
    const field sum = exp(field(score(q, k[0]))) + exp(field(score(q, k[1]))) + exp(field(score(q, k[2])));
    agreement all = agreement::equal;
    for (std::size_t j = 0; j < 3; ++j) all = all & agree(row.weights(j), exp(field(score(q, k[j]))) / sum);
    return all;
}
constexpr bool every_score_goes_through_softmax = identity(points, [](draw& x) {
    const bilinear general{x.matrix<d, d>()};
    const additive bahdanau{x.matrix<n, d>(), x.matrix<n, d>(), x.vector<n>()};
    return weights_are_softmax_of(dot_product{}, x) & weights_are_softmax_of(scaled_dot_product<field>{x.number()}, x) &
           weights_are_softmax_of(general, x) & weights_are_softmax_of(bahdanau, x);
});

const entry B001 = settle("B001", fails_as_printed([](const claim& c) {
                              return softmax_of_zeros(0) + softmax_of_zeros(1) + softmax_of_zeros(2) == 1 &&
                                     is(sigmoid(0) + sigmoid(0) + sigmoid(0), c.number());
                          }),
                          fails_as_printed([] { return weights_are_positive && linear_weight == 0; }),
                          holds_corrected([](const claim& c) { return c.points_with_exp() == points && every_score_goes_through_softmax; }));
// [/B001]

// [E049]
// 180 tokens. All but token 180 change their values, token j at the rate r_j: free numbers. As token 180 stands it does not change;
// after one layer it changes at the rate Σ_j α_180,j r_j. So ∂z_180/∂v_j = α_180,j, for every j at once, and no α is 0.
struct sequence : axis<180> {};
constexpr std::size_t reader = 180, signal = 120;
struct reach {
    field before, after, by_the_weights; // the rates
    std::size_t weights = 0;             // how many of them are not 0
};
constexpr reach of_token_180(draw& x) {
    tensor<dual<field>, axis<1>> q;
    tensor<dual<field>, sequence, axis<1>> k, v;
    q(0) = dual<field>(x.number());
    for (std::size_t t = 0; t < reader; ++t) {
        k(t, 0) = dual<field>(x.number());
        v(t, 0) = dual<field>(x.number(), t + 1 == reader ? field(0) : x.number());
    }
    const auto row = attend(q, k, v, reader - 1, everything{}, dot_product{});
    reach result{v(reader - 1, 0).derivative(), row.out(0).derivative(), 0};
    for (std::size_t t = 0; t < reader; ++t) {
        result.by_the_weights = result.by_the_weights + row.weights(t).value() * v(t, 0).derivative();
        result.weights += row.weights(t).value() == 0 ? 0U : 1U;
    }
    return result;
}
constexpr bool the_gap_does_not_matter = identity(points, [](draw& x) {
    const reach r = of_token_180(x);
    return agree(r.after, r.by_the_weights);
});
// The number of layers before token 180 depends on each of the others, if that is 0 or 1.
constexpr std::size_t path_length = [] {
    draw x(1);
    const reach r = of_token_180(x);
    if (!(r.before == 0)) return std::size_t{0};
    return r.weights == sequence::size && !(r.after == 0) ? std::size_t{1} : throw std::domain_error("one layer is not enough");
}();
constexpr bool is(std::size_t number, std::string_view printed) { return spells(printed, "#", number); }

const entry E049 =
    settle("E049", holds([](const claim& c) { return c.points_with_exp() == points && the_gap_does_not_matter; }),
           holds("1", [](std::string_view printed) { return is(path_length, printed); }),
           holds("180", [](std::string_view printed) { return is(sequence::size, printed) && sequence::size == reader; }),
           holds("120", [](std::string_view printed) { return is(signal, printed); }),
           holds("60", [](std::string_view printed) { return is(reader - signal, printed); }));
// [/E049]

// [E050]
// The recurrence h_t = h_{t−1}/2 + x_t: each update halves what x_120 has left behind.
constexpr rational trace_of_signal = [] {
    dual<rational> h;
    for (std::size_t t = 1; t <= reader; ++t)
        h = h / dual<rational>(2) + dual<rational>(rational(t), rational(t == signal ? 1 : 0));
    return h.derivative();
}();
constexpr std::size_t updates = [] {
    rational trace = trace_of_signal;
    std::size_t halved = 0;
    for (; trace < 1; ++halved) trace = trace * 2;
    return halved;
}();
const entry E050 = settle("E050", holds("60", [](std::string_view printed) { return is(updates, printed); }),
                          holds("120", [](std::string_view printed) { return is(reader - updates, printed); }));
// [/E050]

// [E051]
// Three tokens with two components. W_V and W_K see the sum of the two alone, so that (1, −1) is in the kernel of both.
constexpr tensor<exact, n, d> sequence_1{{1, 0}, {2, 1}, {0, 1}}, sequence_2{{1, 0}, {2 + 5, 1 - 5}, {0, 1}};
constexpr tensor<exact, d, axis<1>> sum_of_both{{1}, {1}}, w_q{{1}, {0}};
constexpr auto read(const tensor<exact, n, d>& input) {
    const auto seen = project_in_out(input, sum_of_both);
    return attention(project_in_out(input, w_q), seen, seen, everything{}, dot_product{});
}
constexpr auto read_1 = read(sequence_1), read_2 = read(sequence_2);
constexpr bool kernel_is_lost = !(sequence_1 == sequence_2) && read_1(0, 0) == read_2(0, 0) && read_1(2, 0) == read_2(2, 0);
// And where nothing is lost in W_V, other values may have the same mean.
constexpr tensor<exact, axis<1>, axis<1>> zero_query{{0}};
constexpr tensor<exact, tokens, axis<1>> values_1{{0}, {2}}, values_2{{2}, {0}};
constexpr bool mean_mixes = attention(zero_query, values_1, values_1, everything{}, dot_product{}) ==
                            attention(zero_query, values_2, values_2, everything{}, dot_product{});
// What holds: key j and its value may be anywhere, here moved to the front; the output is the same.
struct five : axis<5> {};
constexpr bool distance_does_not_matter = identity(points, [](draw& x) {
    const auto q = x.vector<d>();
    const auto k = x.matrix<five, d>(), v = x.matrix<five, d>();
    const auto z = attend(q, k, v, 0, everything{}, dot_product{}).out;
    agreement all = agreement::equal;
    for (std::size_t j = 0; j < 5; ++j) {
        auto moved_k = k, moved_v = v;
        for (std::size_t t = 0; t <= j; ++t)
            for (std::size_t c = 0; c < 2; ++c) {
                moved_k(t, c) = k(t == 0 ? j : t - 1, c);
                moved_v(t, c) = v(t == 0 ? j : t - 1, c);
            }
        all = all & agree(attend(q, moved_k, moved_v, 0, everything{}, dot_product{}).out, z);
    }
    return all;
});
const entry E051 = settle("E051", fails_as_printed([] { return kernel_is_lost; }), fails_as_printed([] { return mean_mixes; }),
                          holds_corrected([](const claim& c) { return c.points_with_exp() == points && distance_does_not_matter; }));
// [/E051]

// [E052]
// Score 24 log 2 for key 120, and 0 for the others: as near to 1 as one likes, and never 1.
constexpr exact large_weight = [] {
    tensor<exact, sequence, axis<1>> k;
    k(signal - 1, 0) = 24;
    return attend(tensor<exact, axis<1>>{1}, k, k, reader - 1, everything{}, dot_product{}).weights(signal - 1);
}();
const entry E052 = settle(
    "E052", holds([](const claim& c) { return is(large_weight, c.number()) && !(large_weight == 1) && weights_are_positive; }),
    holds("180",
          [](std::string_view printed) { return is(sequence::size, printed) && large_weight == ratio(1 << 24, (1 << 24) + 179); }),
    holds("120", [](std::string_view printed) { return is(signal, printed); }));
// [/E052]

} // namespace
} // namespace attest::proofs
