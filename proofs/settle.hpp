// SPDX-License-Identifier: BSL-1.0
/// \file
/// `settle`: where a claim meets its proof.
///
/// ```cpp
/// const entry E016 = settle(
///     "E016", fails_as_printed("0.66975", [](std::string_view printed) { return misprint(alpha(0, 0), printed, +1, "0.66976"); }),
///     holds_corrected([](const claim& c) { return prints(alpha(0, 0), c.number(0), 5) && prints(alpha(0, 0), c.number(1), 20); }));
/// ```
/// `settle` is evaluated by the compiler: an entry whose claim is not in the ledger, or one of whose parts is false, does not compile. A statement that is
/// correct takes parts that `holds`; one that is imprecise or wrong takes two, the statement `fails_as_printed` and something else `holds_corrected`. Each
/// part is a lambda that returns true if *its name* is proved; the message about one that does not calls it by its number, `part_is_false<2>`, and shows
/// the claim's id, what the part was given as printed, and the claim's value. It takes nothing, or the printed digits, or the claim, whose `value` it reads by
/// `number(i)`, which some part must do where a claim has one; tests change each digit of both and demand that a part fails.
#pragma once

#include "claims.hpp"

#include <concepts>
#include <source_location>
#include <utility>

namespace attest::proofs {

enum class role { holds, fails_as_printed, holds_corrected };

/// One part of a proof.
template <class F>
struct part {
    role what;
    std::string_view printed;
    F check;
};
namespace detail {
template <class F>
inline constexpr bool takes_printed = requires(const F& f, std::string_view s) {
    { f(s) } -> std::same_as<bool>;
};
} // namespace detail
/// The statement holds, as it is printed.
template <class F>
    requires(!detail::takes_printed<F>)
[[nodiscard]] consteval part<F> holds(F check) { return {role::holds, {}, check}; }
template <class F>
    requires detail::takes_printed<F> // or the digits would prove nothing
[[nodiscard]] consteval part<F> holds(std::string_view printed, F check) { return {role::holds, printed, check}; }
/// The statement, as it is printed, is false.
template <class F>
    requires(!detail::takes_printed<F>)
[[nodiscard]] consteval part<F> fails_as_printed(F check) { return {role::fails_as_printed, {}, check}; }
template <class F>
    requires detail::takes_printed<F> // or the digits would prove nothing
[[nodiscard]] consteval part<F> fails_as_printed(std::string_view printed, F check) { return {role::fails_as_printed, printed, check}; }
/// What is true instead.
template <class F>
    requires(!detail::takes_printed<F>)
[[nodiscard]] consteval part<F> holds_corrected(F check) { return {role::holds_corrected, {}, check}; }
template <class F>
    requires detail::takes_printed<F> // or the digits would prove nothing
[[nodiscard]] consteval part<F> holds_corrected(std::string_view printed, F check) { return {role::holds_corrected, printed, check}; }

/// A part without its type: asked again at run time, with other digits.
struct settled_part {
    role what = role::holds;
    std::string_view printed = {};
    bool (*check)(std::string_view printed, const claim& of) = nullptr;
    bool takes_claim = false;
};

/// What the compiler found true.
struct proof {
    static constexpr std::size_t most_parts = 12;

    const claim* of = nullptr;
    std::source_location at = {};
    settled_part parts[most_parts] = {};
    std::size_t n_parts = 0;
};

/// A claim's id, and the place where it is written.
struct claim_id {
    std::string_view id;
    std::source_location at;
    consteval claim_id(const char* text, std::source_location here = std::source_location::current()) // NOLINT(google-explicit-constructor)
        : id{text}, at{here} {}
};

namespace detail {

template <class F>
inline constexpr bool takes_claim = requires(const F& f, const claim& c) {
    { f(c) } -> std::same_as<bool>;
};
template <class F>
constexpr bool check_part(std::string_view printed, const claim& of) {
    if constexpr (takes_claim<F>) return F{}(of);
    else if constexpr (takes_printed<F>) return F{}(printed);
    else return F{}();
}

// Not constexpr: reached in a constant expression, they end it, and their names are what the compiler prints.
inline void there_is_no_such_claim() {}
inline void the_claim_has_a_proof_though_it_is_not_checkable() {}
inline void a_correct_claim_needs_a_part_that_holds_and_no_other() {}
inline void an_imprecise_or_wrong_claim_needs_a_part_that_fails_as_printed_and_one_that_holds_corrected() {}
inline void a_claim_with_a_value_needs_a_part_that_takes_the_claim() {}
inline void an_identity_needs_its_seeds_and_a_part_that_takes_the_claim() {}
inline void what_is_proved_does_not_rest_on_random_points() {}
template <std::size_t Number> inline void part_is_false() {} // number 1 is the first; a template, so that compilers print it

// Constexpr, so that compilers print what it was called with: the part's number, the id, and the digits. It asks the part itself, so that they do that
// also of a part that throws.
template <std::size_t Number, class F>
constexpr void demand([[maybe_unused]] std::string_view id, std::string_view printed, [[maybe_unused]] std::string_view value, const claim& of) {
    if (!check_part<F>(printed, of)) part_is_false<Number>();
}
template <std::size_t... I, class... F>
constexpr void demand_all(std::index_sequence<I...>, const claim& of, const part<F>&... parts) {
    (demand<I + 1, F>(of.id, parts.printed, of.value, of), ...);
}

} // namespace detail

/// The proof of a claim; does not compile unless every part of it is true, and the parts are those that the claim needs.
template <class... F>
[[nodiscard]] consteval proof settle(const claim& of, std::source_location at, part<F>... parts) {
    static_assert(sizeof...(F) <= proof::most_parts);
    if (of.status == outcome::not_checkable) detail::the_claim_has_a_proof_though_it_is_not_checkable();
    proof result{&of, at, {settled_part{parts.what, parts.printed, &detail::check_part<F>, detail::takes_claim<F>}...}, sizeof...(F)};
    std::size_t count[3] = {};
    bool takes_claim = false;
    for (std::size_t i = 0; i < result.n_parts; ++i) {
        const settled_part& p = result.parts[i];
        ++count[static_cast<std::size_t>(p.what)];
        takes_claim = takes_claim || p.takes_claim;
    }
    detail::demand_all(std::index_sequence_for<F...>{}, of, parts...);
    const auto [n_holds, n_fails, n_corrected] = count;
    if (of.text == wording::correct && (n_holds == 0 || n_fails + n_corrected != 0)) detail::a_correct_claim_needs_a_part_that_holds_and_no_other();
    if (of.text != wording::correct && (n_fails == 0 || n_corrected == 0))
        detail::an_imprecise_or_wrong_claim_needs_a_part_that_fails_as_printed_and_one_that_holds_corrected();
    if (!of.value.empty() && !takes_claim) detail::a_claim_with_a_value_needs_a_part_that_takes_the_claim();
    if (of.status == outcome::identity && (of.seeds == 0 || !takes_claim)) detail::an_identity_needs_its_seeds_and_a_part_that_takes_the_claim();
    // What is refuted may have random points: then what is true instead is an identity, and its error is stated.
    if (of.status == outcome::proved && of.seeds != 0) detail::what_is_proved_does_not_rest_on_random_points();
    return result;
}
/// The same of the claim that has this id in the ledger.
template <class... F>
[[nodiscard]] consteval proof settle(claim_id id, part<F>... parts) {
    const claim* of = find_claim(id.id);
    if (of == nullptr) detail::there_is_no_such_claim();
    return settle(*of, id.at, parts...);
}

/// An entry of the ledger that the compiler has settled. All entries of a program form a list, for the tests that hold them against the data.
class entry {
public:
    explicit(false) entry(const proof& settled) : proof_{settled}, next_{first_} { first_ = this; } // NOLINT(google-explicit-constructor)
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() = default;

    [[nodiscard]] const claim& of() const noexcept { return *proof_.of; }
    [[nodiscard]] const proof& settled() const noexcept { return proof_; }
    [[nodiscard]] const entry* next() const noexcept { return next_; }
    [[nodiscard]] static const entry* first() noexcept { return first_; }

private:
    proof proof_;
    const entry* next_;
    static constinit inline const entry* first_ = nullptr;
};

} // namespace attest::proofs
