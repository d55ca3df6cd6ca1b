// SPDX-License-Identifier: BSL-1.0
// Softmax of a vector: the definition and the digits that the lectures print, the shift that changes nothing, what scaling the scores
// does, masks and sinks. (Softmax of a matrix: softmax_rows.cpp. Its saturation: gradient/softmax.cpp.)

#include "exact.hpp"
#include "identity.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "softmax_example.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/score.hpp"
#include "attest/formula/softmax.hpp"

namespace attest::proofs {
namespace {

struct queries : axis<2> {};
struct keys : axis<3> {};

// [definition]
// What the lectures print: e^{x_j} / Σ_l e^{x_l}, without a shift. The code shifts, and the field shifts by a number
// that has nothing to do with the scores.
template <class X, class Visible = attest::detail::every_index>
constexpr auto as_printed(const X& x, const Visible& visible = {}, const scalar_of<X>* sink = nullptr) {
    auto a = tensor<scalar_of<X>, axis_of<X, 0>>::with_lengths(x.length(0));
    scalar_of<X> sum(0);
    for (std::size_t l = 0; l < x.length(0); ++l)
        if (visible(l)) sum = sum + exp(x(l));
    if (sink != nullptr) sum = sum + exp(*sink);
    for (std::size_t j = 0; j < x.length(0); ++j)
        if (visible(j)) a(j) = exp(x(j)) / sum;
    return a;
}

// A011: the weights of each row are the softmax of its scores.
const entry A011 = settle("A011", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& x) {
                                  const auto e = x.matrix<queries, keys>();
                                  const auto a = softmax(e);
                                  return agree(a[0], as_printed(e[0])) & agree(a[1], as_printed(e[1]));
                              });
                          }));

// A012: what counts is how one weight compares with another: a_ij / a_il = e^{s_ij − s_il}.
const entry A012 = settle("A012", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& x) {
                                  const auto e = x.matrix<queries, keys>();
                                  const auto a = softmax(e);
                                  agreement all = agreement::equal;
                                  for (std::size_t i = 0; i < 2; ++i)
                                      for (std::size_t j = 0; j < 3; ++j)
                                          for (std::size_t l = 0; l < 3; ++l)
                                              all = all & agree(a(i, j) / a(i, l), exp(e(i, j) - e(i, l)));
                                  return all;
                              });
                          }));

// A046: the same function of a vector of K = 5 scores.
const entry A046 = settle("A046", holds([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& x) {
                                  const auto z = x.vector<classes>();
                                  return agree(softmax(z), as_printed(z));
                              });
                          }));
// [/definition]

// [A047]
// A047: softmax(1.3, 5.1, 2.2, 0.7, 1.1) = (0.02, 0.90, 0.05, 0.01, 0.02).
constexpr auto a = weights_of_logits;
constexpr interval log_sum = log_sum_exp(logits);
const entry A047 =
    settle("A047", holds("0.02", [](std::string_view printed) { return prints(a(0), printed, 2); }),
           holds("0.90", [](std::string_view printed) { return prints(a(1), printed, 2); }),
           holds("0.05", [](std::string_view printed) { return prints(a(2), printed, 2); }),
           holds("0.01", [](std::string_view printed) { return prints(a(3), printed, 2); }),
           holds("0.02", [](std::string_view printed) { return prints(a(4), printed, 2); }),
           // The scores are read off the weights: x_j = log a_j + log Σ e^{x_l}.
           holds("1.3", [](std::string_view printed) { return prints(log(a(0)) + log_sum, printed, 1); }),
           holds("5.1", [](std::string_view printed) { return prints(log(a(1)) + log_sum, printed, 1); }),
           holds("2.2", [](std::string_view printed) { return prints(log(a(2)) + log_sum, printed, 1); }),
           holds("0.7", [](std::string_view printed) { return prints(log(a(3)) + log_sum, printed, 1); }),
           holds("1.1", [](std::string_view printed) { return prints(log(a(4)) + log_sum, printed, 1); }),
           holds([](const claim& c) {
               for (std::size_t j = 0; j < 5; ++j)
                   if (!prints(a(j), c.number(j), 7)) return false;
               return true;
           }));
// The printed digits add to 1.00 as well, which rounded weights need not do.
static_assert(2 + 90 + 5 + 1 + 2 == 100);
// [/A047]

// [shift]
// What is added to every score cancels: in the field for all scores and shifts, exactly in rational weights, and within
// the width of the enclosures for 1000.7.
constexpr bool shift_cancels(unsigned points) {
    return identity(points, [](draw& x) {
        const auto z = x.vector<keys>();
        const field shift = x.number();
        return agree(softmax(tensor<field, keys>{z(0) + shift, z(1) + shift, z(2) + shift}), softmax(z));
    });
}
static_assert(shift_cancels(4));

// A001: a score alone says nothing: of the keys 0 and 0, and of the keys 1 and 1, the query 1 gives the first the same weight.
using two_keys = tensor<exact, axis<2>, axis<1>>;
constexpr tensor<exact, axis<1>, axis<1>> query_of_one{{1}};
constexpr auto both_0 = scores(query_of_one, two_keys{{0}, {0}}), both_1 = scores(query_of_one, two_keys{{1}, {1}});
const entry A001 = settle("A001", fails_as_printed([](const claim& c) {
                              const exact weight = softmax(both_0)(0, 0);
                              return !(both_0(0, 0) == both_1(0, 0)) && weight == softmax(both_1)(0, 0) && c.number() == "1/2" && weight == ratio(1, 2);
                          }),
                          holds_corrected([](const claim& c) { return shift_cancels(c.points_with_exp()); }));
constexpr auto unshifted = softmax(tensor<exact, keys>{1, 3, 0});
static_assert(softmax(tensor<exact, keys>{1 + 20, 3 + 20, 0 + 20}) == unshifted);
static_assert(softmax(tensor<exact, keys>{1 - 20, 3 - 20, 0 - 20}) == unshifted);

constexpr interval tiny = interval::power_of_two(-120);
constexpr bool close(const interval& x, const interval& y) { return meet(x, y) && surely(hull(x, y).width() < tiny); }
constexpr auto shifted = [] {
    tensor<interval, classes> moved;
    for (std::size_t j = 0; j < moved.length(0); ++j) moved(j) = logits(j) + interval::decimal("1000.7");
    return softmax(moved);
}();
static_assert(close(shifted(0), a(0)) && close(shifted(1), a(1)) && close(shifted(2), a(2)) &&
              close(shifted(3), a(3)) && close(shifted(4), a(4)));

// A043: "large-magnitude scores push softmax into near one-hot distributions". Two scores of 1000 share equally; (4,
// −4) is nearly one-hot, as (1008, 1000) is.
constexpr int small[] = {4, -4}, large[] = {1008, 1000};
const entry A043 = settle(
    "A043", fails_as_printed([] {
        return softmax(tensor<exact, axis<2>>{1000, 1000}) == tensor<exact, axis<2>>{ratio(1, 2), ratio(1, 2)};
    }),
    // Differences do it. Two scores that are g apart: the greater has the weight 1/(1 + e^−g), whatever they are.
    holds_corrected([](const claim& c) {
        return shift_cancels(c.points_with_exp()) && identity(c.points_with_exp(), [](draw& x) {
                   const field z = x.number(), gap = x.number();
                   return agree(softmax(tensor<field, axis<2>>{z + gap, z})(0), field(1) / (field(1) + exp(-gap)));
               });
    }),
    holds_corrected("(4, -4)", [](std::string_view pair) { return spells(pair, "(#, #)", small[0], small[1]); }),
    holds_corrected("(1008, 1000)", [](std::string_view pair) { return spells(pair, "(#, #)", large[0], large[1]); }),
    holds_corrected([](const claim& c) {
        return prints(softmax(tensor<interval, axis<2>>{small[0], small[1]})(0), c.number(0), 9) &&
               prints(softmax(tensor<interval, axis<2>>{large[0], large[1]})(0), c.number(0), 9);
    }));
// [/shift]

// [E058]
// E058 to E061: scores (8, 0) are nearly one-hot; divided by √64 they are a blend.
constexpr auto of_two = [](const interval& s1, const interval& s2) {
    return softmax(tensor<interval, axis<2>>{s1, s2});
};
constexpr auto unscaled = of_two(8, 0);
const entry E058 = settle(
    "E058",
    holds("8", [](std::string_view s1) { return rounds_to(of_two(interval::decimal(s1), 0)(0), "0.99966465"); }),
    holds("0", [](std::string_view s2) { return is_exactly(interval(0), s2) && rounds_to(of_two(8, interval::decimal(s2))(0), "0.99966465"); }),
    holds("2980.958", [](std::string_view printed) { return prints(exp(interval(8)), printed, 3); }),
    holds("2981.958", [](std::string_view printed) { return prints(exp(interval(8)) + exp(interval(0)), printed, 3); }),
    holds("2980.958/2981.958=0.99966", [](std::string_view line) { // of the printed quotient, and of the true one
        return line.starts_with("2980.958/2981.958=") && prints(interval::decimal("2980.958") / interval::decimal("2981.958"), line.substr(18), 5) &&
               prints(unscaled(0), line.substr(18), 5);
    }),
    holds([](const claim& c) { return prints(unscaled(0), c.number(), 9); }));
const entry E059 =
    settle("E059", holds("0.00034", [](std::string_view printed) { return prints(unscaled(1), printed, 5); }),
           holds([](const claim& c) { return prints(unscaled(1), c.number(), 9); }),
           holds([] { return surely(1 - unscaled(0) < interval::ratio(1, 1000)); })); // nearly one-hot

// E060: d_k = 64, q · k_1 = 8, q · k_2 = 0.
struct d_64 : axis<64> {};
constexpr auto scaled_by_root = [](int d_k, const rational& product) {
    return dot_product{}(tensor<rational, axis<1>>{product}, tensor<rational, axis<1>>{1}) *
           scaled_dot_product<rational>::of_dimension(static_cast<std::size_t>(d_k)).scale;
};
constexpr auto scaled = of_two(1, 0);
const entry E060 = settle(
    "E060",
    holds("8", [](std::string_view product) { return scaled_by_root(d_64::size, rational::decimal(product)) == 1; }),
    holds("8",
          [](std::string_view root) {
              return 1 / scaled_dot_product<rational>::of_dimension(d_64::size).scale == rational::decimal(root);
          }),
    holds("1", [](std::string_view score) { return is_exactly(scaled_by_root(d_64::size, 8), score); }),
    holds("0", [](std::string_view score) { return is_exactly(scaled_by_root(d_64::size, 0), score); }));
const entry E061 = settle(
    "E061", holds("1", [](std::string_view s1) { return rounds_to(of_two(interval::decimal(s1), 0)(0), "0.73106"); }),
    holds("2.71828", [](std::string_view printed) { return prints(exp(interval(1)), printed, 5); }),
    holds("3.71828", [](std::string_view printed) { return prints(exp(interval(1)) + 1, printed, 5); }),
    holds("2.71828/3.71828=0.73106", [](std::string_view line) { // of the printed quotient, and of the true one
        return line.starts_with("2.71828/3.71828=") && prints(interval::decimal("2.71828") / interval::decimal("3.71828"), line.substr(16), 5) &&
               prints(scaled(0), line.substr(16), 5);
    }),
    holds("0.26894", [](std::string_view printed) { return prints(scaled(1), printed, 5); }),
    holds([](const claim& c) { return prints(scaled(0), c.number(0), 9) && prints(scaled(1), c.number(1), 9); }));
// [/E058]

// [overflow]
// In double it is the shift that keeps exp from overflowing: great scores give the bits that small ones give, as long
// as their differences are the same.
constexpr auto of_doubles = [](double s_0, double s_1, double s_2) {
    return softmax(tensor<double, keys>{s_0, s_1, s_2});
};
static_assert(of_doubles(1000, 1001, 998) == of_doubles(0, 1, -2) &&
              of_doubles(-1001, -1000, -1003) == of_doubles(-1, 0, -3));
constexpr auto with_sink_in_double = [](double sink, double s_0, double s_1, double s_2) {
    return softmax(tensor<double, keys>{s_0, s_1, s_2}, attest::detail::every_index{}, empty_row::zero, &sink);
};
static_assert(of_doubles(0, 0, 1001) == tensor<double, keys>{0, 0, 1} &&
              of_doubles(1001, 0, 0) == tensor<double, keys>{1, 0, 0});
static_assert(with_sink_in_double(1003, 2, 1, 0) == tensor<double, keys>{});
static_assert(with_sink_in_double(1003, 1000, 1001, 998) == with_sink_in_double(3, 0, 1, -2));
static_assert(with_sink_in_double(1000, 998, 1001, 1002) == with_sink_in_double(0, -2, 1, 2));
constexpr auto log_sum_in_double = [](double sink, double s_0, double s_1) {
    return log_sum_exp(tensor<double, axis<2>>{s_0, s_1}, attest::detail::every_index{}, &sink);
};
static_assert(log_sum_in_double(1003, 2, 1) == 1003 && log_sum_in_double(2, 1, 1003) == 1003 &&
              log_sum_in_double(1, 1003, 2) == 1003);
static_assert(log_sum_exp(tensor<double, axis<2>>{2, 1003}) == 1003 &&
              log_sum_exp(tensor<double, axis<2>>{1003, 2}) == 1003);
// [/overflow]

// [masked]
// Every choice of visible entries, with a sink and without. Hidden entries get 0, and without a visible one all do.
struct picked {
    unsigned bits;
    constexpr bool operator()(std::size_t j) const { return (bits >> j & 1U) != 0; }
};
template <unsigned bits>
constexpr bool chooses_the_sum = identity(1, [](draw& x) {
    constexpr picked visible{bits};
    const auto z = x.vector<keys>();
    const field sink = x.number();
    const auto with_sink = as_printed(z, visible, &sink);
    return agree(softmax(z, visible), as_printed(z, visible)) &
           agree(softmax(z, visible, empty_row::zero, &sink), with_sink) &
           agree(softmax(z, visible, empty_row::nan, &sink), with_sink);
});
static_assert(chooses_the_sum<0> && chooses_the_sum<1> && chooses_the_sum<2> && chooses_the_sum<3>);
static_assert(chooses_the_sum<4> && chooses_the_sum<5> && chooses_the_sum<6> && chooses_the_sum<7>);
// Without a visible entry and without a sink, NaN where that is asked for.
constexpr tensor<double, keys> in_double{1, 2, 3};
constexpr auto nothing = softmax(in_double, picked{0}), undefined = softmax(in_double, picked{0}, empty_row::nan);
static_assert(nothing == tensor<double, keys>{} && undefined(0) != undefined(0) && undefined(1) != undefined(1) &&
              undefined(2) != undefined(2));
// A hidden entry does not shift: here it would overflow.
static_assert(softmax(tensor<double, keys>{0, 1001, 0}, picked{0b110}) == tensor<double, keys>{0, 1, 0});
// Lengths known at run time.
static_assert(identity(1, [](draw& x) {
    const auto z = x.matrix<queries, keys>();
    const tensor<field, axis<dynamic>, axis<dynamic>> run_time(z);
    return agree(softmax(run_time), softmax(z));
}));
// [/masked]

// [log_sum_exp]
// log Σ e^{x_j}, over the visible entries and the sink.
constexpr interval e_to[] = {exp(logits(0)), exp(logits(1)), exp(logits(2)), exp(logits(3)), exp(logits(4))};
constexpr interval sink = interval::decimal("1.9"), e_to_sink = exp(sink);
static_assert(close(log_sum, log(e_to[0] + e_to[1] + e_to[2] + e_to[3] + e_to[4])));
constexpr picked first_and_third{0b00101};
static_assert(close(log_sum_exp(logits, first_and_third), log(e_to[0] + e_to[2])));
static_assert(close(log_sum_exp(logits, first_and_third, &sink), log(e_to[0] + e_to[2] + e_to_sink)));
static_assert(close(log_sum_exp(logits, picked{0b10010}, &sink), log(e_to[1] + e_to[4] + e_to_sink)));
static_assert(close(log_sum_exp(logits, picked{0}, &sink), sink));
static_assert(log_sum_exp(in_double, picked{0}) == -std::numeric_limits<double>::infinity());
// [/log_sum_exp]

} // namespace
} // namespace attest::proofs
