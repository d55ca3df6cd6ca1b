// SPDX-License-Identifier: BSL-1.0
// The two examples of attention in the exercises, digit by digit. Their problem statements are lost: the inputs are
// inferred from the scores. The lecture's digits that are right are proved, those that are wrong are refuted, and the
// right ones stand beside them.

#include "exact.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/attention.hpp"

namespace attest::proofs {
namespace {

struct tokens : axis<2> {};
struct d_k : axis<2> {};
struct d_v : axis<2> {};

template <class S>
using vectors = tensor<S, tokens, d_k>;
template <class S>
using values = tensor<S, tokens, d_v>;

constexpr interval tiny = interval::power_of_two(-120);

// q_1 = k_1 = (1, 0), q_2 = k_2 = (0, 1); v_1 = (2, 0), v_2 = (0, 3).
namespace retrieval {

// [E013]
constexpr vectors<interval> q{{1, 0}, {0, 1}}, k{{1, 0}, {0, 1}};
constexpr values<interval> v{{2, 0}, {0, 3}};

constexpr auto s = scaled_scores(q, k);
constexpr auto alpha = softmax(s);
constexpr auto z = attention(q, k, v);

// E013: s_11 = 1/√2 = 0.70711 and s_12 = 0.
static_assert(rounds_to(s(0, 0), "0.70711"));
static_assert(surely(s(0, 1) == 0));
// [/E013]

// [E014]
// E014: "e^0.70711 = 2.02812" is true of 0.70711; of 1/√2, which is meant, it is 2.02811.
constexpr interval e_literally = exp(interval::decimal("0.70711"));
constexpr interval e_s11 = exp(s(0, 0));
static_assert(rounds_to(e_literally, "2.02812"));
static_assert(rounds_to(e_s11, "2.02811") && refutes(e_s11, "2.02812"));
// E015: the denominator is 3.02811, not 3.02812.
static_assert(rounds_to(e_s11 + 1, "3.02811") && refutes(e_s11 + 1, "3.02812"));
// [/E014]

// [E016]
// E016: α_11 = 0.66976, not 0.66975. The lecture's own fraction says so as well.
static_assert(rounds_to(alpha(0, 0), "0.66976") && refutes(alpha(0, 0), "0.66975"));
static_assert(rounds_to(alpha(0, 0), "0.66976154932665692562"));
constexpr interval printed_fraction = interval::decimal("2.02812") / interval::decimal("3.02812");
static_assert(rounds_to(printed_fraction, "0.66976") && refutes(printed_fraction, "0.66975"));
// E017: α_12 = 0.33024, not 0.33025.
static_assert(rounds_to(alpha(0, 1), "0.33024") && refutes(alpha(0, 1), "0.33025"));
static_assert(rounds_to(alpha(0, 1), "0.33023845067334307"));
// [/E016]

// E018: the weights add to 1.
static_assert(contains(alpha(0, 0) + alpha(0, 1), 1) && surely((alpha(0, 0) + alpha(0, 1)).width() < tiny));

// [E019]
// E019: z_1 = (1.33952, 0.99072), not (1.33950, 0.99074).
static_assert(rounds_to(z(0, 0), "1.33952") && refutes(z(0, 0), "1.33950"));
static_assert(rounds_to(z(0, 1), "0.99072") && refutes(z(0, 1), "0.99074"));
// The printed second coordinate is not even that of the printed weight: 3 · 0.33025 = 0.99075.
static_assert(3 * 33025 == 99075);
// E024: z_1 lies on the segment from v_1 to v_2, where x/2 + y/3 = 1. The printed point does not: 1.33950/2 + 0.99074/3
// = 599998/600000.
static_assert(contains(z(0, 0) / 2 + z(0, 1) / 3, 1) && surely((z(0, 0) / 2 + z(0, 1) / 3).width() < tiny));
static_assert(3 * 133950 + 2 * 99074 == 599998);
// [/E019]

// E020: token 1 mostly grabs v_1. E021: its query matched key 1.
static_assert(surely(alpha(0, 0) > interval::ratio(1, 2)));
static_assert(surely(s(0, 0) > s(0, 1)));
// E022: "a third" of v_2 is 0.0031 too much. E023: a soft lookup, 0 < α < 1.
static_assert(rounds_to(interval::ratio(1, 3) - alpha(0, 1), "0.0031"));
static_assert(surely(alpha(0, 1) > 0) && surely(alpha(0, 0) < 1));

// E026: s_22 = 1/√2 = 0.70711, and s_21 = 0.
static_assert(rounds_to(s(1, 1), "0.70711") && surely(s(1, 0) == 0));
// E027: α_22 = 0.66976 and α_21 = 0.33024, not 0.66975 and 0.33025.
static_assert(rounds_to(alpha(1, 1), "0.66976") && refutes(alpha(1, 1), "0.66975"));
static_assert(rounds_to(alpha(1, 0), "0.33024") && refutes(alpha(1, 0), "0.33025"));

// E028: the mirror of token 1, exactly: the raw scores are those of token 1, swapped, and equal scores have equal
// weights.
constexpr vectors<int> q_raw{{1, 0}, {0, 1}};
constexpr auto raw = scores(q_raw, q_raw);
static_assert(raw(1, 1) == raw(0, 0) && raw(1, 0) == raw(0, 1));
static_assert(contains(alpha(1, 1), alpha(0, 0)) && contains(alpha(0, 0), alpha(1, 1)));

// [E029]
// E029: z_2 = (0.66048, 2.00928), not (0.66049, 2.00924).
static_assert(rounds_to(z(1, 0), "0.66048") && refutes(z(1, 0), "0.66049"));
static_assert(rounds_to(z(1, 1), "2.00928") && refutes(z(1, 1), "2.00924"));
// The printed point is not on the segment either: 0.66049/2 + 2.00924/3 = 599995/600000.
static_assert(3 * 66049 + 2 * 200924 == 599995);

// No weight α at all gives the four printed coordinates as the roundings of (2α, 3(1 − α)) and (2(1 − α), 3α). Each of
// them leaves α a range, half a printed unit to both sides, here in units of 10^−6/6; two of the ranges are disjoint.
struct range {
    long long least, greatest;
};
constexpr range alpha_from(long long printed, long long value) { // value · α = printed · 10^−5
    return {(10 * printed - 5) * 6 / value, (10 * printed + 5) * 6 / value};
}
constexpr range rest_from(long long printed, long long value) { // value · (1 − α) = printed · 10^−5
    return {6'000'000 - alpha_from(printed, value).greatest, 6'000'000 - alpha_from(printed, value).least};
}
constexpr range by_x_1 = alpha_from(133950, 2), by_y_1 = rest_from(99074, 3);
constexpr range by_x_2 = rest_from(66049, 2), by_y_2 = alpha_from(200924, 3);
static_assert(by_y_2.greatest < by_x_2.least);
// z_2 alone needs two weights. One weight, 0.669752, does give z_1 as printed; it is neither the true nor the printed
// one.
static_assert(by_y_1.least < 669752 * 6 && 669752 * 6 < by_x_1.greatest && by_x_1.least < by_y_1.least);
static_assert(refutes(alpha(0, 0), "0.669752"));
// [/E029]

} // namespace retrieval

// q_1 = k_1 = (1, 1), q_2 = k_2 = (1, −1); v_1 = (1, 0), v_2 = (0, 1).
namespace symmetric {

// [E066]
constexpr vectors<interval> q{{1, 1}, {1, -1}}, k{{1, 1}, {1, -1}};
constexpr values<interval> v{{1, 0}, {0, 1}};

constexpr auto s = scaled_scores(q, k);
constexpr auto alpha = softmax(s);
constexpr auto z = attention(q, k, v);

// E067: s_11 = 2/√2 = 1.41421 and s_12 = 0; E071: token 2 mirrors it.
static_assert(rounds_to(s(0, 0), "1.41421") && surely(s(0, 1) == 0));
static_assert(rounds_to(s(1, 1), "1.41421") && surely(s(1, 0) == 0));

// E068: 4.11325 is e^√2; of the printed "e^1.41421" it is not the right rounding, 4.11324 is.
constexpr interval e_literally = exp(interval::decimal("1.41421"));
static_assert(rounds_to(exp(s(0, 0)), "4.11325"));
static_assert(rounds_to(e_literally, "4.11324") && refutes(e_literally, "4.11325"));

// E069: α_11 = 4.11325/5.11325 = 0.80443, α_12 = 0.19557; E071: and token 2 mirrors it.
static_assert(rounds_to(alpha(0, 0), "0.80443") && rounds_to(alpha(0, 0), "0.804429683"));
static_assert(rounds_to(alpha(0, 1), "0.19557") && rounds_to(alpha(0, 1), "0.195570317"));
static_assert(rounds_to(alpha(1, 1), "0.80443") && rounds_to(alpha(1, 0), "0.19557"));
static_assert(rounds_to(interval::decimal("4.11325") / interval::decimal("5.11325"), "0.80443"));

// E070: z_1 = (0.80443, 0.19557); E072: z_2 = (0.19557, 0.80443).
static_assert(rounds_to(z(0, 0), "0.80443") && rounds_to(z(0, 1), "0.19557"));
static_assert(rounds_to(z(1, 0), "0.19557") && rounds_to(z(1, 1), "0.80443"));
// [/E066]

// E073: each token takes about 20 % of the other, one as much as the other.
static_assert(rounds_to(100 * alpha(0, 1), "20") && rounds_to(100 * alpha(1, 0), "20"));
static_assert(contains(alpha(0, 1), alpha(1, 0)) && contains(alpha(1, 0), alpha(0, 1)));
// E074: each query matches its own key.
static_assert(surely(s(0, 0) > s(0, 1)) && surely(s(1, 1) > s(1, 0)));

// [E077]
// E077, E078: under the causal mask token 1 reads itself alone, α_11 = 1, α_12 = 0 and z_1 = v_1 = (1, 0), exactly: in
// numbers (a + b√2)/c, where the score is √2 and the exponential is asked for at 0 alone.
constexpr vectors<exact> q_exact{{1, 1}, {1, -1}};
constexpr values<exact> v_exact{{1, 0}, {0, 1}};
constexpr auto scaled = scaled_dot_product<exact>::of_dimension(2);
constexpr auto token_1 = attend(q_exact[0], q_exact, v_exact, 0, causal_top_left{}, scaled);
static_assert(token_1.scores(0) == root_two);
static_assert(token_1.weights(0) == 1 && token_1.weights(1) == 0);
static_assert(token_1.out == v_exact[0]);
// [/E077]

// The enclosures agree; token 2 sees every key and is not changed by the mask.
constexpr auto z_causal = attention(q, k, v, causal_top_left{});
static_assert(contains(z_causal(0, 0), 1) && surely(z_causal(0, 0).width() < tiny) && surely(z_causal(0, 1) == 0));
static_assert(rounds_to(z_causal(1, 0), "0.19557") && rounds_to(z_causal(1, 1), "0.80443"));

} // namespace symmetric

} // namespace
} // namespace attest::proofs
