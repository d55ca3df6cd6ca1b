// SPDX-License-Identifier: BSL-1.0
/// \file
/// What a check says: verdicts, and the figures behind them. Plain data.
#pragma once

#include "attest/io/array.hpp"
#include "attest/oracle/row_sample.hpp"
#include "attest/oracle/rung.hpp"
#include "attest/question/conventions.hpp"

#include <optional>

namespace attest {

/// In the order in which the worst of several outputs counts: a case takes its worst.
enum class verdict {
    exact,        ///< every element correctly rounded
    consistent,   ///< every element inside the expected limit of the declared arithmetic
    undecided,    ///< no judgement: the limits say nothing here, or an element differs where nothing is judged
    suspicious,   ///< possible, but for unbiased rounding less likely than the false alarm: outside the expected limit, inside the certain one
    inaccurate,   ///< outside the declared arithmetic's certain limit, inside a weaker one's
    wrong         ///< outside the certain limits of every arithmetic of the stored format
};

[[nodiscard]] constexpr std::string_view name_of(verdict v) noexcept {
    switch (v) {
    case verdict::exact: return "exact";
    case verdict::consistent: return "consistent";
    case verdict::undecided: return "undecided";
    case verdict::suspicious: return "suspicious";
    case verdict::inaccurate: return "inaccurate";
    case verdict::wrong: return "wrong";
    }
    return "?";
}

/// True for the verdicts that pass.
[[nodiscard]] constexpr bool passes(verdict v) noexcept { return v == verdict::exact || v == verdict::consistent; }

/// The element that is farthest from the exact value, in units in the last place; the first of equals.
struct worst_element {
    std::vector<std::size_t> index;
    double got = 0;
    std::string expected;        ///< the exact value, decimal: 20 digits, or as many as are beyond doubt
    double correctly_rounded = 0;
    double ulp = 0;              ///< the distance, to 1/64
    double limit_ulp = 0;        ///< the certain limit there, final store included
    double expected_limit_ulp = 0; ///< the expected limit there, likewise
};

/// One checked tensor.
struct output_result {
    std::string name;
    dtype type = dtype::f64;
    std::vector<std::size_t> shape;
    attest::verdict verdict = attest::verdict::undecided;
    std::string arithmetic;                ///< whose limits these are
    std::string weaker;                    ///< inaccurate: the strictest arithmetic that would do
    std::size_t elements = 0;
    std::size_t exact = 0;                 ///< correctly rounded
    std::size_t outside_certain = 0;       ///< outside the certain limit of `arithmetic`
    std::size_t outside_expected = 0;      ///< outside its expected limit; these include those outside the certain one
    std::size_t rows_outside = 0;          ///< rows with an element outside the certain limit
    std::size_t rows_outside_expected = 0; ///< rows with an element outside the expected limit
    std::size_t rows = 0;                  ///< rows with an element that was compared
    std::size_t not_finite = 0;            ///< NaN or infinite where the exact value is finite
    std::size_t not_finite_right = 0;      ///< NaN or infinite as the exact value is
    std::size_t blind = 0;                 ///< elements where zero, or any of the row's values, is inside the expected limit, or precision ran out
    std::size_t unjudged = 0;              ///< elements that differ in a row that sees NaN or infinity, or that may have overflowed: one suffices for undecided
    rung_counts rungs;                     ///< by which rung elements were settled
    std::size_t decided = 0;               ///< elements whose value a rule gives exactly; not in `rungs`
    std::size_t unseparated = 0;           ///< even the last rung left doubt: a tie, or the side of a limit; both neighbours pass
    double limit_share = 0;                ///< greatest error over certain limit of all finite elements, to 1/4096: above 1 is outside
    double expected_share = 0;             ///< greatest error over expected limit
    double max_ulp = 0;                    ///< to 1/64
    double rms_ulp = 0;
    bool has_expected = false;             ///< somewhere the expected limit is below the certain one
    bool propagated = false;               ///< the limits are the rounding bounds propagated through the formula (oracle/tracked.hpp)
    bool first_order = false;              ///< some of them to first order only (oracle/tape.hpp)
    bool limits_derived = true;            ///< false: there are no limits for this op in this arithmetic yet
    std::optional<worst_element> worst;    ///< nothing if there are no elements
    std::optional<worst_element> first_outside; ///< of the certain limit; if there is none, of the expected one
};

/// An input, as the report names it.
struct input_summary {
    std::string name;
    dtype type = dtype::f64;
    std::vector<std::size_t> shape;
};

/// Seconds that the parts of a check took.
struct check_seconds {
    double evaluate = 0; ///< exact values
    double compare = 0;  ///< limits and verdict
};

struct check_result {
    std::string op;
    settings conventions;           ///< all in force
    std::vector<input_summary> inputs; ///< those that the op used
    std::string arithmetic;         ///< declared, or assumed
    bool assumed = false;
    double false_alarm = 1e-9;      ///< the probability that unbiased rounding goes beyond the expected limit anywhere in this check …
    std::size_t trials = 0;         ///< … over so many: elements of every output, times the arithmetics tried on them
    double lambda = 0;              ///< sqrt(2 ln(2 trials / false_alarm)), or 6 if that is more: so many times the root of the sum of squares an expected limit is; 0: there was none
    std::optional<row_sample> sample; ///< nothing: all rows were checked
    std::size_t rows_checked = 0, rows_total = 0; ///< of a sample
    attest::verdict verdict = attest::verdict::undecided;
    std::string first_bad_stage;    ///< the first output, in the order of computation, that fails; empty if none does
    std::vector<output_result> outputs;
    std::vector<std::string> warnings;
    check_seconds seconds;
};

} // namespace attest
