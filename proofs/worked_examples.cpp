// SPDX-License-Identifier: BSL-1.0
// The two examples of attention in the exercises, digit by digit. Their problem statements are lost: the inputs are inferred from the
// scores. The digits that are right are proved, those that are wrong are refuted and said by how much, and the right ones stand in
// the ledger.

#include "identity.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/rational.hpp"
#include "attest/formula/attention.hpp"

#include <stdexcept>

namespace attest::proofs {
namespace {

struct tokens : axis<2> {};
struct d_k : axis<2> {};
struct d_v : axis<2> {};

template <class S>
using vectors = tensor<S, tokens, d_k>;
template <class S>
using values = tensor<S, tokens, d_v>;

// What is printed, as the number that it is; with what it should be, is_exactly() compares it.
constexpr interval enclosed(std::string_view printed) { return interval::decimal(printed); }
constexpr rational exactly(std::string_view printed) { return rational::decimal(printed); }
// A printed fraction, "2.02812/3.02812".
struct fraction {
    std::string_view above, below;
    constexpr explicit fraction(std::string_view printed)
        : above{printed.substr(0, printed.find('/'))}, below{printed.substr(printed.find('/') + 1)} {}
    [[nodiscard]] constexpr interval value() const { return enclosed(above) / enclosed(below); }
};

// A printed vector, "(2,0)", of the two components x and y.
constexpr bool is_vector(std::string_view printed, const interval& x, const interval& y) {
    const std::size_t comma = printed.find(',');
    return printed.front() == '(' && printed.back() == ')' && is_exactly(x, printed.substr(1, comma - 1)) &&
           is_exactly(y, printed.substr(comma + 1, printed.size() - comma - 2));
}

// q_1 = k_1 = (1, 0), q_2 = k_2 = (0, 1); v_1 = (2, 0), v_2 = (0, 3).
namespace retrieval {

// [E013]
constexpr vectors<interval> q{{1, 0}, {0, 1}}, k{{1, 0}, {0, 1}};
constexpr values<interval> v{{2, 0}, {0, 3}};
constexpr vectors<rational> q_exact{{1, 0}, {0, 1}}, k_exact{{1, 0}, {0, 1}};
constexpr values<rational> v_exact{{2, 0}, {0, 3}};

constexpr auto raw = scores(q_exact, k_exact);
constexpr auto s = scaled_scores(q, k);
constexpr auto alpha = softmax(s);
constexpr auto z = attention(q, k, v);

const entry E013 =
    settle("E013", holds("0.70711", [](std::string_view printed) { return prints(s(0, 0), printed, 5); }),
           holds("1", [](std::string_view printed) { return is_exactly(raw(0, 0), printed); }),
           holds("2", [](std::string_view printed) { return pins(s(0, 0) * s(0, 0) * enclosed(printed), 1); }), // s_11² · 2 = 1
           holds("0", [](std::string_view printed) { return is_exactly(s(0, 1), printed); }),
           holds([](const claim& c) { return prints(s(0, 0), c.number(), 12); }));
// [/E013]

// [E014]
constexpr interval e_s11 = exp(s(0, 0));
constexpr interval denominator = e_s11 + exp(s(0, 1));
// To the letter, with 0.70711 for the score, both are right.
const entry E014 = settle(
    "E014", fails_as_printed("2.02812", [](std::string_view printed) { return misprint(e_s11, printed, -1, "2.02811"); }),
    holds_corrected("0.70711",
                    [](std::string_view printed) {
                        return prints(s(0, 0), printed, 5) && prints(exp(enclosed(printed)), "2.02812", 5);
                    }),
    holds_corrected([](const claim& c) { return prints(e_s11, c.number(0), 5) && prints(e_s11, c.number(1), 10); }));
const entry E015 = settle(
    "E015", fails_as_printed("3.02812", [](std::string_view printed) { return misprint(denominator, printed, -1, "3.02811"); }),
    holds_corrected("0.70711",
                    [](std::string_view printed) {
                        return prints(s(0, 0), printed, 5) && prints(exp(enclosed(printed)) + exp(s(0, 1)), "3.02812", 5);
                    }),
    holds_corrected("0", [](std::string_view printed) { return is_exactly(s(0, 1), printed); }),
    holds_corrected([](const claim& c) { return prints(denominator, c.number(0), 5) && prints(denominator, c.number(1), 10); }));
// [/E014]

// [E016]
const entry E016 = settle(
    "E016", fails_as_printed("0.66975", [](std::string_view printed) { return misprint(alpha(0, 0), printed, +1, "0.66976"); }),
    fails_as_printed("2.02812/3.02812",
                     [](std::string_view printed) {
                         const fraction f(printed);
                         return misprint(e_s11, f.above, -1, "2.02811") && misprint(denominator, f.below, -1, "3.02811") &&
                                misprint(f.value(), "0.66975", +1, "0.66976");
                     }),
    holds_corrected([](const claim& c) { return prints(alpha(0, 0), c.number(0), 5) && prints(alpha(0, 0), c.number(1), 20); }));
const entry E017 = settle(
    "E017", fails_as_printed("0.33025", [](std::string_view printed) { return misprint(alpha(0, 1), printed, -1, "0.33024"); }),
    fails_as_printed(
        "1-0.66975",
        [](std::string_view printed) {
            return printed.starts_with("1-") && misprint(alpha(0, 0), printed.substr(2), +1, "0.66976") && 1 - exactly(printed.substr(2)) == exactly("0.33025");
        }),
    holds_corrected("1", // the difference is right, and the weights do add to 1
                    [](std::string_view printed) {
                        return exactly(printed) - exactly("0.66975") == exactly("0.33025") &&
                               pins(alpha(0, 0) + alpha(0, 1), enclosed(printed));
                    }),
    holds_corrected([](const claim& c) { return prints(alpha(0, 1), c.number(0), 5) && prints(alpha(0, 1), c.number(1), 17); }));
// [/E016]

// [E018]
const entry E018 = settle("E018", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& x) {
                                  const auto a = softmax(x.vector<tokens>());
                                  return agree(a(0) + a(1), 1);
                              });
                          }),
                          holds("1", [](std::string_view printed) {
                              return exactly("0.66975") + exactly("0.33025") == exactly(printed) &&
                                     pins(alpha(0, 0) + alpha(0, 1), enclosed(printed));
                          }));
// [/E018]

// [E019]
// Where the printed point would be if it were on the segment from v_1 to v_2: there, x/2 + y/3 = 1.
constexpr rational on_segment(std::string_view x, std::string_view y) {
    return exactly(x) / v_exact(0, 0) + exactly(y) / v_exact(1, 1);
}
// A printed decimal whose last digit, in parentheses, goes on for ever: "0.99999(6)". Throws std::invalid_argument if it is no such, or could be shorter.
constexpr rational periodic(std::string_view printed) {
    const std::string_view before = printed.substr(0, printed.find('('));
    if (printed.size() != before.size() + 3 || !printed.ends_with(')') || !well_spelled(before) || before.back() == printed[before.size() + 1])
        throw std::invalid_argument("no digit in parentheses");
    rational unit = 1;
    for (std::size_t i = 0; i < places_of(before); ++i) unit = unit / 10;
    return exactly(before) + unit * exactly(printed.substr(before.size() + 1, 1)) / 9;
}
static_assert(periodic("0.1(6)") == rational::ratio(1, 6));

const entry E019 =
    settle("E019", fails_as_printed("1.33950", [](std::string_view printed) { return misprint(z(0, 0), printed, +2, "1.33952"); }),
           fails_as_printed("0.99074", [](std::string_view printed) { return misprint(z(0, 1), printed, -2, "0.99072"); }),
           fails_as_printed("0.66975",
                            [](std::string_view printed) {
                                return misprint(alpha(0, 0), printed, +1, "0.66976") &&
                                       exactly(printed) * v_exact(0, 0) == exactly("1.33950");
                            }),
           fails_as_printed("0.33025",
                            [](std::string_view printed) {
                                return misprint(alpha(0, 1), printed, -1, "0.33024") &&
                                       exactly(printed) * v_exact(1, 1) - exactly("0.99074") == exactly("0.00001");
                            }),
           fails_as_printed([] { return on_segment("1.33950", "0.99074") == exactly("599998/600000"); }),
           holds_corrected("0.99999(6)", [](std::string_view printed) { return periodic(printed) == on_segment("1.33950", "0.99074"); }),
           holds_corrected("(2,0)", [](std::string_view printed) { return is_vector(printed, v(0, 0), v(0, 1)); }),
           holds_corrected("(0,3)", [](std::string_view printed) { return is_vector(printed, v(1, 0), v(1, 1)); }),
           holds_corrected([](const claim& c) { return prints(z(0, 0), c.number(0), 5) && prints(z(0, 1), c.number(1), 5); }),
           holds_corrected([](const claim& c) { return is_exactly(exactly("0.33025") * v_exact(1, 1), c.number(2), 5); }));
// [/E019]

// [E020]
// The column of the token whose value or key is printed as "v_1" or "key 1".
constexpr std::size_t column_of(std::string_view printed, std::string_view pattern) {
    const auto [token] = whole_numbers<1>(printed, pattern);
    if (token != 1 && token != 2) throw std::invalid_argument("there are two tokens");
    return static_cast<std::size_t>(token - 1);
}
const entry E020 = settle("E020", holds("v_1", [](std::string_view value) { return surely(alpha(0, column_of(value, "v_#")) > interval::ratio(1, 2)); }));
const entry E021 = settle("E021", holds("key 1", [](std::string_view key) {
                              const std::size_t its = column_of(key, "key #"), other = 1 - its;
                              return raw(0, its) > raw(0, other) && surely(alpha(0, its) > alpha(0, other));
                          }));
const entry E022 = settle(
    "E022", fails_as_printed([] { return surely(alpha(0, 1) < interval::ratio(1, 3)); }), holds_corrected([](const claim& c) {
        return prints(alpha(0, 1), c.number(0), 5) && prints(interval::ratio(1, 3) - alpha(0, 1), c.number(1), 4);
    }));
const entry E023 =
    settle("E023", holds([] { return surely(alpha(0, 1) > 0) && surely(alpha(0, 1) < alpha(0, 0)) && surely(alpha(0, 0) < 1); }));
// [/E020]

// [E024]
const entry E024 =
    settle("E024", holds([](const claim& c) {
               return identity(c.points_with_exp(), [](draw& x) {
                   const auto query = x.vector<d_k>();
                   const auto keys = x.matrix<tokens, d_k>();
                   const auto z_1 = attend(query, keys, values<field>{{2, 0}, {0, 3}}, 0, everything{}, dot_product{}).out;
                   return agree(z_1(0) / 2 + z_1(1) / 3, 1);
               });
           }),
           holds("(2,0)", [](std::string_view printed) { return is_vector(printed, v(0, 0), v(0, 1)); }),
           holds("(0,3)", [](std::string_view printed) { return is_vector(printed, v(1, 0), v(1, 1)); }),
           holds([] { return surely(z(0, 0) > 0) && surely(z(0, 1) > 0); }),
           holds([] { return pins(z(0, 0) / v(0, 0) + z(0, 1) / v(1, 1), 1); }));
// [/E024]

// [E025]
const entry E025 = settle("E025", holds("0", [](std::string_view printed) { return is_exactly(raw(1, 0), printed); }),
                          holds("1", [](std::string_view printed) { return is_exactly(raw(1, 1), printed); }));
const entry E026 = settle("E026", holds("0", [](std::string_view printed) { return is_exactly(s(1, 0), printed); }),
                          holds("0.70711", [](std::string_view printed) { return prints(s(1, 1), printed, 5); }),
                          holds("2", [](std::string_view printed) { return pins(s(1, 1) * sqrt(enclosed(printed)), 1); }),
                          holds([](const claim& c) { return prints(s(1, 1), c.number(), 12); }));
const entry E027 = settle(
    "E027", fails_as_printed("0.66975", [](std::string_view printed) { return misprint(alpha(1, 1), printed, +1, "0.66976"); }),
    fails_as_printed("0.33025", [](std::string_view printed) { return misprint(alpha(1, 0), printed, -1, "0.33024"); }),
    holds_corrected([](const claim& c) { return prints(alpha(1, 1), c.number(0), 5) && prints(alpha(1, 0), c.number(1), 5); }));
const entry E028 = settle("E028", holds([] { return raw(1, 1) == raw(0, 0) && raw(1, 0) == raw(0, 1); }), holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& x) {
                                  const field own = x.number(), other = x.number();
                                  const auto a_1 = softmax(tensor<field, tokens>{own, other}),
                                             a_2 = softmax(tensor<field, tokens>{other, own});
                                  return agree(a_2(1), a_1(0)) & agree(a_2(0), a_1(1));
                              });
                          }));
// [/E025]

// [E029]
// No weight α at all gives the four printed coordinates as the roundings of z_1 = (2 α, 3 (1 − α)) and z_2 = (2 (1 − α), 3 α).
// Each of them leaves α a range: half a unit of its last place to both sides.
struct range {
    rational least, greatest;
};
constexpr range weight_behind(std::string_view printed, const rational& value) { // value · α rounds to what is printed
    const rational half_unit = rational::ratio(1, 2 * printed_decimal<rational::integer>::read(printed).unit);
    return {(exactly(printed) - half_unit) / value, (exactly(printed) + half_unit) / value};
}
constexpr range rest_of(const range& weight) { return {1 - weight.greatest, 1 - weight.least}; }
constexpr bool disjoint(const range& a, const range& b) { return a.greatest < b.least || b.greatest < a.least; }
constexpr bool inside(const rational& x, const range& r) { return r.least < x && x < r.greatest; }

constexpr range by_x_1 = weight_behind("1.33950", v_exact(0, 0)), by_y_1 = rest_of(weight_behind("0.99074", v_exact(1, 1)));
constexpr range by_x_2 = rest_of(weight_behind("0.66049", v_exact(0, 0))), by_y_2 = weight_behind("2.00924", v_exact(1, 1));
// z_2 alone needs two weights. One weight does give z_1 as printed, 0.669752; it is neither the true nor the printed one.
static_assert(disjoint(by_x_2, by_y_2) && !disjoint(by_x_1, by_y_1));
static_assert(inside(exactly("0.669752"), by_x_1) && inside(exactly("0.669752"), by_y_1) && refutes(alpha(0, 0), "0.669752"));

const entry E029 = settle(
    "E029", fails_as_printed("0.66049", [](std::string_view printed) { return misprint(z(1, 0), printed, -1, "0.66048"); }),
    fails_as_printed("2.00924", [](std::string_view printed) { return misprint(z(1, 1), printed, +4, "2.00928"); }),
    fails_as_printed("0.33025", [](std::string_view printed) { return misprint(alpha(1, 0), printed, -1, "0.33024"); }),
    fails_as_printed("0.66975", [](std::string_view printed) { return misprint(alpha(1, 1), printed, +1, "0.66976"); }),
    fails_as_printed([] { return disjoint(by_x_2, by_y_2) && on_segment("0.66049", "2.00924") == exactly("599995/600000"); }),
    holds_corrected("(2,0)", [](std::string_view printed) { return is_vector(printed, v(0, 0), v(0, 1)); }),
    holds_corrected("(0,3)", [](std::string_view printed) { return is_vector(printed, v(1, 0), v(1, 1)); }),
    holds_corrected([](const claim& c) { return prints(z(1, 0), c.number(0), 5) && prints(z(1, 1), c.number(1), 5); }),
    holds_corrected([](const claim& c) { // what follows from the printed weights
        return is_exactly(exactly("0.33025") * v_exact(0, 0), c.number(2), 5) &&
               is_exactly(exactly("0.66975") * v_exact(1, 1), c.number(3), 5);
    }));
// [/E029]

} // namespace retrieval

// q_1 = k_1 = (1, 1), q_2 = k_2 = (1, −1); v_1 = (1, 0), v_2 = (0, 1).
namespace symmetric {

// [E066]
constexpr vectors<interval> q{{1, 1}, {1, -1}}, k{{1, 1}, {1, -1}};
constexpr values<interval> v{{1, 0}, {0, 1}};
constexpr vectors<rational> q_exact{{1, 1}, {1, -1}}, k_exact{{1, 1}, {1, -1}};

constexpr auto raw = scores(q_exact, k_exact);
constexpr auto s = scaled_scores(q, k);
constexpr auto alpha = softmax(s);
constexpr auto z = attention(q, k, v);

// The two terms of the score of query i and key j, "1 - 1".
constexpr bool terms_are(std::size_t i, std::size_t j, std::string_view printed) {
    const std::size_t sign = printed.find_first_of("+-");
    const rational first = exactly(printed.substr(0, sign - 1)), second = exactly(printed.substr(sign + 2));
    return q_exact(i, 0) * k_exact(j, 0) == first && q_exact(i, 1) * k_exact(j, 1) == (printed[sign] == '-' ? -second : second);
}

const entry E066 = settle("E066", holds("1 + 1", [](std::string_view printed) { return terms_are(0, 0, printed); }),
                          holds("2", [](std::string_view printed) { return is_exactly(raw(0, 0), printed); }),
                          holds("1 - 1", [](std::string_view printed) { return terms_are(0, 1, printed); }),
                          holds("0", [](std::string_view printed) { return is_exactly(raw(0, 1), printed); }));
const entry E067 = settle("E067", holds("1.41421", [](std::string_view printed) { return prints(s(0, 0), printed, 5); }),
                          holds("2", [](std::string_view printed) { return pins(s(0, 0) * s(0, 0), enclosed(printed)); }),
                          holds("0", [](std::string_view printed) { return is_exactly(s(0, 1), printed); }),
                          holds([](const claim& c) { return prints(s(0, 0), c.number(), 9); }));
// [/E066]

// [E068]
constexpr interval e_s11 = exp(s(0, 0));
const entry E068 =
    settle("E068",
           fails_as_printed("1.41421",
                            [](std::string_view printed) {
                                return prints(s(0, 0), printed, 5) && misprint(exp(enclosed(printed)), "4.11325", -1, "4.11324");
                            }),
           holds_corrected("4.11325", [](std::string_view printed) { return prints(e_s11, printed, 5); }),
           holds_corrected([](const claim& c) {
               const interval e_literally = exp(enclosed("1.41421"));
               return prints(e_literally, c.number(0), 5) && prints(e_literally, c.number(1), 7);
           }));
const entry E069 = settle(
    "E069",
    holds("4.11325/5.11325",
          [](std::string_view printed) {
              const fraction f(printed);
              return prints(e_s11, f.above, 5) && prints(e_s11 + exp(s(0, 1)), f.below, 5) && prints(f.value(), "0.80443", 5);
          }),
    holds("0.80443", [](std::string_view printed) { return prints(alpha(0, 0), printed, 5); }),
    holds("0.19557", [](std::string_view printed) { return prints(alpha(0, 1), printed, 5); }),
    holds([](const claim& c) { return prints(alpha(0, 0), c.number(0), 9) && prints(alpha(0, 1), c.number(1), 9); }));
const entry E070 = settle(
    "E070",
    holds("(1,0)", [](std::string_view printed) { return is_vector(printed, v(0, 0), v(0, 1)); }),
    holds("(0,1)", [](std::string_view printed) { return is_vector(printed, v(1, 0), v(1, 1)); }),
    holds("0.80443", [](std::string_view printed) { return prints(z(0, 0), printed, 5) && prints(alpha(0, 0), printed, 5); }),
    holds("0.19557", [](std::string_view printed) { return prints(z(0, 1), printed, 5) && prints(alpha(0, 1), printed, 5); }));
// [/E068]

// [E071]
const entry E071 = settle("E071", holds("1 - 1", [](std::string_view printed) { return terms_are(1, 0, printed); }),
                          holds("0", [](std::string_view printed) { return is_exactly(raw(1, 0), printed); }),
                          holds("1 + 1", [](std::string_view printed) { return terms_are(1, 1, printed); }),
                          holds("2", [](std::string_view printed) { return is_exactly(raw(1, 1), printed); }),
                          holds("0.80443", [](std::string_view printed) { return prints(alpha(1, 1), printed, 5); }),
                          holds("0.19557", [](std::string_view printed) { return prints(alpha(1, 0), printed, 5); }));
const entry E072 = settle(
    "E072",
    holds("(1,0)", [](std::string_view printed) { return is_vector(printed, v(0, 0), v(0, 1)); }),
    holds("(0,1)", [](std::string_view printed) { return is_vector(printed, v(1, 0), v(1, 1)); }),
    holds("0.19557", [](std::string_view printed) { return prints(z(1, 0), printed, 5) && prints(alpha(1, 0), printed, 5); }),
    holds("0.80443", [](std::string_view printed) { return prints(z(1, 1), printed, 5) && prints(alpha(1, 1), printed, 5); }));
const entry E073 = settle(
    "E073",
    holds("20",
          [](std::string_view printed) {
              return prints(100 * alpha(0, 1), printed, 0) && prints(100 * alpha(1, 0), printed, 0);
          }),
    holds([](const claim& c) { return prints(alpha(0, 1), c.number(), 5) && prints(alpha(1, 0), c.number(), 5); }),
    holds([] { return surely(alpha(0, 0) > alpha(0, 1)) && surely(alpha(1, 1) > alpha(1, 0)); }),
    holds([] { return raw == transpose(raw) && raw(0, 0) == raw(1, 1); }));
const entry E074 = settle("E074", holds([] { return raw(0, 0) > raw(0, 1) && raw(1, 1) > raw(1, 0) && q_exact == k_exact; }));
// [/E071]

} // namespace symmetric

} // namespace
} // namespace attest::proofs
