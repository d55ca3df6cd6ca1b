// SPDX-License-Identifier: BSL-1.0
/// \file
/// What exact arguments (oracle/decided_attention.hpp) say of gradients that are sums over rows: exact sums of what all rows give.
#pragma once

#include "attest/oracle/decided_attention.hpp"

#include <map>

namespace attest {

/// An element of an output: its number, and the position in C order.
using output_element = std::pair<std::size_t, std::size_t>;

namespace detail {

// The own slice, row and component of an element of dk, dv or dq.
struct column_place {
    std::size_t slice = 0, row = 0, component = 0;
};
[[nodiscard]] inline column_place place_of(const certified_output& output, std::size_t position) {
    for (std::size_t slice = 0; slice < element_count(output.of->batch); ++slice)
        for (std::size_t row = 0; row < output.of->rows; ++row) {
            const std::size_t first = first_of_row(output.at, output.of->batch, slice, row);
            for (std::size_t component = 0; component < output.of->columns; ++component)
                if (first + component * output.at.stride.back() == position) return {slice, row, component};
        }
    return {};
}

// What row i of the slice, which `exact` has entered, gives to an element of dq, dk (before the scale) or dv.
template <class S>
[[nodiscard]] exact_fact given_to(const certified_output& output, const column_place& to, const attention_problem& p, std::size_t slice, std::size_t i, const std::vector<std::size_t>& visible, decided_attention<S>& exact) {
    if (source_slice(p.batch, output.of->batch, slice) != to.slice) return exact_fact::of(0);
    if (output.name == "dq") return i == to.row ? exact.row().dq(to.component) : exact_fact::of(0);
    const auto key = std::lower_bound(visible.begin(), visible.end(), to.row);
    if (key == visible.end() || *key != to.row) return exact_fact::of(0);
    const auto j = static_cast<std::size_t>(key - visible.begin());
    return output.name == "dv" ? exact.row().dv(j, to.component) : exact.row().dk_before_scale(j, to.component);
}

} // namespace detail

/// Calls decided(output, position, value) for those of the elements that exact arguments give, and returns the others. Of a mask each pair of query and key is asked for
/// once; of the others each row for each element: where that is too much, none is decided.
template <class S, class Decided>
[[nodiscard]] std::vector<output_element> decide_columns(const attention_problem& p, const std::vector<certified_output>& outputs, const std::vector<output_element>& elements, attention_engine<S>& engine,
                                                         decided_attention<S>& exact, const Decided& decided) {
    constexpr std::size_t greatest_exact_sums = 10'000'000;
    std::vector<exact_sum> sums(elements.size());
    std::vector<detail::column_place> places(elements.size()); // not of dmask
    std::vector<std::size_t> others;                           // of dk, dv and dq
    std::map<output_element, std::size_t> of_mask;             // of dmask
    for (std::size_t at = 0; at < elements.size(); ++at) {
        const auto& [o, position] = elements[at];
        if (outputs[o].of == nullptr) of_mask.emplace(elements[at], at);
        else {
            places[at] = detail::place_of(outputs[o], position);
            others.push_back(at);
        }
    }
    if ((others.size() + (of_mask.empty() ? 0 : p.n_k)) * p.slices() * p.n_q > greatest_exact_sums) return elements;
    for (std::size_t slice = 0; slice < p.slices(); ++slice) {
        engine.enter(slice);
        for (std::size_t i = 0; i < engine.rules().queries(slice); ++i) {
            const std::vector<std::size_t> visible = engine.visible_keys(i);
            exact.enter(slice, i, visible);
            for (const std::size_t at : others) sums[at].add(detail::given_to(outputs[elements[at].first], places[at], p, slice, i, visible, exact));
            for (std::size_t o = 0; o < outputs.size() && !of_mask.empty(); ++o) {
                if (outputs[o].name != "dmask") continue;
                for (std::size_t j = 0; j < visible.size(); ++j) {
                    const auto open = of_mask.find({o, gradient_sums<S>::position_in_mask(p, outputs[o], slice, i, visible[j])});
                    if (open != of_mask.end()) sums[open->second].add(exact.row().ds(j));
                }
            }
        }
    }
    std::vector<output_element> left;
    for (std::size_t at = 0; at < elements.size(); ++at) {
        const auto& [o, position] = elements[at];
        const exact_fact fact = outputs[o].name == "dk" ? times(sums[at].result(), exact.scale()) : sums[at].result();
        if (fact.has_value()) decided(o, position, fact.value);
        else left.push_back(elements[at]);
    }
    return left;
}

} // namespace attest
