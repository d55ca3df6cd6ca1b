// SPDX-License-Identifier: BSL-1.0
/// \file
/// What a check says: verdicts, and the figures behind them. Plain data.
#pragma once

#include "attest/io/array.hpp"
#include "attest/question/conventions.hpp"

#include <optional>

namespace attest {

/// In the order in which the worst of several outputs counts: a case takes its worst.
enum class verdict {
    exact,        ///< every element correctly rounded
    consistent,   ///< every element inside the limit of the declared arithmetic
    undecided,    ///< no judgement: the limits say nothing here, or an element differs where nothing is judged
    inaccurate,   ///< outside the declared arithmetic's certain limit, inside a weaker one's
    wrong         ///< outside the certain limits of every arithmetic of the stored format
};

[[nodiscard]] constexpr std::string_view name_of(verdict v) noexcept {
    switch (v) {
    case verdict::exact: return "exact";
    case verdict::consistent: return "consistent";
    case verdict::undecided: return "undecided";
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
    std::string expected;        ///< the exact value, decimal
    double correctly_rounded = 0;
    double ulp = 0;              ///< the distance
    double limit_ulp = 0;        ///< the certain limit there, final store included
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
    std::size_t rows_outside = 0;          ///< rows with an element outside the certain limit
    std::size_t rows = 0;
    std::size_t not_finite = 0;            ///< NaN or infinite where the exact value is finite
    std::size_t not_finite_right = 0;      ///< NaN or infinite as the exact value is
    std::size_t blind = 0;                 ///< elements where zero, or any of the row's values, would pass, or the precision does not reach
    std::size_t unjudged = 0;              ///< elements that differ in a row that sees NaN or infinity, or that may have overflowed: one suffices for undecided
    std::size_t unseparated = 0;           ///< precision did not separate two neighbours, or 0; both pass
    double limit_share = 0;                ///< greatest error over certain limit of all finite elements: above 1 is outside
    double max_ulp = 0;                    ///< to 1/64
    double rms_ulp = 0;
    bool propagated = false;               ///< the limits are the rounding bounds propagated through the formula (oracle/tracked.hpp)
    bool first_order = false;              ///< some of them to first order only (oracle/tape.hpp)
    bool limits_derived = true;            ///< false: there are no limits for this op in this arithmetic yet
    std::optional<worst_element> worst;    ///< nothing if there are no elements
    std::optional<worst_element> first_outside;
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
    attest::verdict verdict = attest::verdict::undecided;
    std::string first_bad_stage;    ///< the first output, in the order of computation, that fails; empty if none does
    std::vector<output_result> outputs;
    std::vector<std::string> warnings;
    check_seconds seconds;
};

} // namespace attest
