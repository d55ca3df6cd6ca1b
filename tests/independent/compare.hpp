// SPDX-License-Identifier: BSL-1.0
/// \file
/// One case put to both sides, and their answers held against each other, element by element.
#pragma once

#include "arb_ops.hpp"
#include "arb_rounding.hpp"
#include "attest_side.hpp"

#include <array>
#include <cstdint>
#include <ctime>
#include <functional>

namespace independent {

/// Precisions that are tried until every element rounds to one number in every format. The first is beyond what attest starts with.
inline constexpr slong precisions[] = {256, 1024, 4096, 12288};

/// What Arb knows of an element in the end.
struct known {
    bool judged = true, settled = false, exact = false;
    special what = special::number;
    two_ends ends;
    std::array<two_roundings, format_count> to;
};
struct known_output {
    std::vector<std::size_t> shape;
    std::vector<known> elements;
};

/// With `least` bits at least.
[[nodiscard]] inline std::map<std::string, known_output> arb_values(const question& asked, slong least) {
    std::map<std::string, known_output> all;
    bool open = true;
    for (const slong bits : precisions) {
        if (!open) break;
        open = bits < least;
        const with_precision in_force(bits);
        for (const auto& [name, output] : answer(asked)) {
            known_output& o = all[name];
            o.shape = output.shape;
            o.elements.resize(output.elements.size());
            for (std::size_t e = 0; e < output.elements.size(); ++e) {
                const element& now = output.elements[e];
                known& k = o.elements[e];
                k.judged = now.judged;
                k.what = now.what;
                if ((k.settled && bits > least) || !now.judged || now.what != special::number) continue;
                k.ends = ends_of(now.ball);
                k.settled = now.ball.is_finite();
                k.exact = now.ball.is_exact();
                for (std::size_t f = 0; f < format_count && now.ball.is_finite(); ++f) {
                    k.to[f] = k.ends.rounded_to(formats[f]);
                    k.settled = k.settled && k.to[f].one();
                }
                open = open || !k.settled;
            }
        }
    }
    return all;
}

struct counts {
    std::size_t elements = 0, claims = 0, disjoint = 0, wrong = 0, missing = 0;
    std::size_t attest_open = 0, arb_open = 0, both_open = 0; ///< in the end unseparated in some format
    std::size_t exact_open = 0;                               ///< attest's, where Arb has an exact number
    std::map<std::string, std::size_t> settled;               ///< by rung; not those that are open

    [[nodiscard]] std::size_t faults() const { return disjoint + wrong + missing; }
    counts& operator+=(const counts& more) {
        elements += more.elements;
        claims += more.claims;
        disjoint += more.disjoint;
        wrong += more.wrong;
        missing += more.missing;
        attest_open += more.attest_open;
        arb_open += more.arb_open;
        both_open += more.both_open;
        exact_open += more.exact_open;
        for (const auto& [rung, count] : more.settled) settled[rung] += count;
        return *this;
    }
};

/// What is wrong with a claim, for a message; `what` is empty if nothing is.
struct fault {
    std::string what, output;
    std::size_t index = 0; ///< of the element, in the order [batch, head, row, column]
    claim got{};
    two_ends expected;
};

/// Holds one claim of attest against what Arb knows; says what is wrong, if anything is. `open`: whether it is unseparated in some format.
inline std::string check_claim(const claim& got, const known& expected, bool& open) {
    open = false;
    if (expected.what == special::nan) return got.middle.is_nan ? "" : "should be NaN";
    if (expected.what == special::minus_infinity) return got.middle.infinite == -1 ? "" : "should be -inf";
    open = true;
    if (got.radius.infinite != 0) return ""; // nothing is claimed
    if (got.middle.is_nan || got.middle.infinite != 0 || got.radius.is_nan) return "is no number";
    const two_ends given = ends_of(number_of(got.middle), number_of(got.radius));
    const bool finite = arf_is_finite(expected.ends.low.get()) != 0 && arf_is_finite(expected.ends.high.get()) != 0;
    if (finite && !overlap(given, expected.ends)) return "disjoint";
    open = false;
    for (std::size_t f = 0; f < format_count; ++f) {
        const two_roundings ours{got.low[f], got.high[f]}, theirs = finite ? expected.to[f] : two_roundings{-HUGE_VAL, HUGE_VAL};
        if (!(ours.low <= ours.high) || ours.high < theirs.low || ours.low > theirs.high) return std::string("wrong rounding in ") + formats[f].name;
        if (!ours.one()) {
            open = true;
            continue;
        }
        // Arb did not separate neighbours: attest may know that it is a tie, which goes to the even one.
        double even = 0;
        if (!theirs.one() && neighbours(formats[f], theirs, even) && ours.low != even) return std::string("wrong rounding in ") + formats[f].name + ", unless it is no tie";
    }
    return "";
}

/// Adds the processor's time to a total, as long as it lives.
class stopwatch {
public:
    explicit stopwatch(double& total) : total_{total} {}
    ~stopwatch() { total_ += static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }
    stopwatch(const stopwatch&) = delete;
    stopwatch& operator=(const stopwatch&) = delete;

private:
    double& total_;
    std::clock_t start_ = std::clock();
};

struct seconds {
    double rungs = 0, every_rung = 0, values = 0, arb = 0;
};

/// The claims of one output against what Arb knows. `to_the_end`: the last claim of an element counts for what is open.
inline void compare_output(const question& asked, const claims& ours, const known_output& expected, bool to_the_end, counts& count, const std::function<void(const fault&)>& tell) {
    const std::vector<std::size_t>& s = expected.shape;
    std::vector<std::vector<const claim*>> of(expected.elements.size());
    for (const claim& c : ours.all) of.at(c.position).push_back(&c);
    for (std::size_t e = 0; e < expected.elements.size(); ++e) {
        const known& k = expected.elements[e];
        if (!k.judged) continue;
        std::size_t position = e;
        if (asked.how.op != "softmax" && has_layout(ours.name))
            position = position_in_layout(asked.how.layout, s, e / (s[1] * s[2] * s[3]), e / (s[2] * s[3]) % s[1], e / s[3] % s[2], e % s[3]);
        const std::vector<const claim*>& here = of[position];
        ++count.elements;
        count.claims += here.size();
        if (here.empty() || !here.back()->last) {
            ++count.missing;
            tell({here.empty() ? "missing" : "not finished", ours.name, e, {}, k.ends});
            continue;
        }
        bool open = false, is_disjoint = false, is_wrong = false;
        for (const claim* c : here) {
            const std::string what = check_claim(*c, k, open);
            if (what.empty()) continue;
            (what == "disjoint" ? is_disjoint : is_wrong) = true;
            tell({what, ours.name, e, *c, k.ends});
        }
        count.disjoint += is_disjoint ? 1 : 0;
        count.wrong += is_wrong && !is_disjoint ? 1 : 0;
        if (!to_the_end) continue;
        const bool arb_open = k.what == special::number && !k.settled;
        count.attest_open += open && !arb_open ? 1 : 0;
        count.arb_open += arb_open && !open ? 1 : 0;
        count.both_open += open && arb_open ? 1 : 0;
        count.exact_open += open && k.exact ? 1 : 0;
        if (!open) ++count.settled[here.back()->from];
    }
}

/// All wanted outputs of one case, by the ladder; with `values_too`, also by evaluate. `count_of(output)` counts, `tell` hears of every fault.
inline void compare_case(const question& asked, bool every_rung, bool values_too, const std::function<counts&(const std::string&)>& count_of, const std::function<void(const fault&)>& tell,
                         seconds& spent) {
    std::vector<claims> by_rungs, values;
    {
        const stopwatch watch(every_rung ? spent.every_rung : spent.rungs);
        by_rungs = rungs_of_attest(asked, every_rung);
    }
    if (values_too) {
        const stopwatch watch(spent.values);
        values = values_of_attest(asked, asked.wanted);
    }
    std::map<std::string, known_output> theirs;
    {
        const stopwatch watch(spent.arb);
        theirs = arb_values(asked, every_rung ? 1024 : 256);
    }
    for (const auto* all : {&by_rungs, &values}) {
        const std::size_t due = all == &by_rungs || values_too ? asked.wanted.size() : 0;
        if (all->size() != due) throw std::runtime_error("attest gave " + std::to_string(all->size()) + " outputs of " + std::to_string(due));
        for (const claims& ours : *all) {
            counts& count = count_of(ours.name);
            const known_output& expected = theirs.at(ours.name);
            if (all == &by_rungs) compare_output(asked, ours, expected, !every_rung, count, tell);
            else { // an element is counted once: of evaluate the faults alone
                counts apart;
                compare_output(asked, ours, expected, false, apart, tell);
                count.disjoint += apart.disjoint;
                count.wrong += apart.wrong;
                count.missing += apart.missing;
                count.claims += apart.claims;
            }
        }
    }
}

} // namespace independent
