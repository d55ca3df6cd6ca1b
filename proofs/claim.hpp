// SPDX-License-Identifier: BSL-1.0
/// \file
/// `claim`: one statement of the lectures, and what became of it. Data alone: the program prints it, and the proofs are held against it (settle.hpp).
#pragma once

#include <cstddef>
#include <string_view>

namespace attest::proofs {

/// Is the statement, as it is printed, right?
enum class wording { correct, imprecise, wrong, not_checkable };

/// How that was settled.
enum class outcome {
    proved,       ///< by the compiler: types, exact arithmetic, enclosures with proven ends, full enumeration
    refuted,      ///< by the compiler: what is printed is false, and what is meant is proved
    identity,     ///< identity (probabilistic): both sides agree at random points of a finite field; see `seeds` and `degree`
    tested,       ///< at run time, or by a program that must not compile, on what `tests` says
    not_checkable ///< an opinion, a citation, history, or to be seen by reading alone: `by` says which
};

/// By what means.
enum class means {
    types,        ///< shapes and what may not compile
    exact,        ///< whole numbers, fractions, numbers a + b√2; a counterexample, or enough points to determine a polynomial
    polynomials,  ///< formulas evaluated in symbols
    enclosures,   ///< intervals whose ends are whole numbers of 2^−128
    enumeration,  ///< every outcome of a discrete distribution
    moments,      ///< expectations as symbols, independence as a hypothesis
    field,        ///< random points of a finite field
    doubles,      ///< the bits of double, in constant expressions
    opinion,      ///< nothing that a program could check: an opinion or an interpretation,
    empirical,    ///< an observation about trained models,
    citation,     ///< what others wrote,
    history,      ///< what came first,
    reading       ///< or what shows in the lecture's text alone, which is no part of this project: a lost letter, a reference to nothing
};

/// An entry of the ledger.
struct claim {
    std::string_view id;              ///< A015: lecture A (attention), B (foundations) or E (exercises)
    std::string_view statement;       ///< what the lecture says, in our words
    wording text;                     ///< whether that is so
    outcome status;                   ///< how this was settled
    means by;                         ///< by what means, above all
    std::string_view details;         ///< on which shapes, in which arithmetic, at which points
    std::string_view correction = {}; ///< what is true instead, of a statement that is imprecise or wrong
    std::string_view value = {};      ///< the value or enclosure. The proof reads its numbers from here: one digit changed, and it does not compile
    std::string_view value_is = {};   ///< what these numbers are: "the weights". For people, and bound to nothing
    std::string_view tests = {};      ///< entries of ctest that settle it too or alone, separated by spaces: "compile_fail/query_key_dimension"
    unsigned seeds = 0;               ///< of an identity: the number of random points
    unsigned degree = 0;              ///< of an identity without exp: a bound of the numerator's degree, so that the error is at most (degree/p)^seeds

    /// The number of random points, for the part that asks them. It says itself what is known of the degree, as it says the digits that are printed: of a
    /// claim that states anything else these are 0 points, which no identity takes.
    [[nodiscard]] constexpr unsigned points_with_exp() const { return degree == 0 ? seeds : 0; }
    [[nodiscard]] constexpr unsigned points_of_degree(unsigned at_most) const { return degree == at_most ? seeds : 0; }

    /// Number `index` of `value`: its pieces between blanks, commas and parentheses that begin with a digit, or with a sign and a digit.
    [[nodiscard]] constexpr std::string_view number(std::size_t index = 0) const {
        constexpr std::string_view between = " ,;()[]{}=";
        const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
        for (std::size_t begin = 0; begin < value.size();) {
            std::size_t end = begin;
            while (end < value.size() && between.find(value[end]) == std::string_view::npos) ++end;
            const std::string_view piece = value.substr(begin, end - begin);
            const bool is_signed = piece.size() > 1 && piece[0] == '-';
            if (!piece.empty() && is_digit(piece[is_signed ? 1 : 0]) && index-- == 0) return piece;
            begin = end + 1;
        }
        return {}; // which no reader of numbers takes
    }
    /// Is `value` this text, with its numbers in the places of the #? So that the words between them are bound to the proof as well.
    [[nodiscard]] constexpr bool value_reads(std::string_view words) const {
        std::size_t at = 0, index = 0;
        for (const char& c : words) {
            const std::string_view next = c == '#' ? number(index++) : std::string_view(&c, 1);
            if (next.empty() || !value.substr(at).starts_with(next)) return false;
            at += next.size();
        }
        return at == value.size();
    }
};

} // namespace attest::proofs
