// SPDX-License-Identifier: BSL-1.0
/// \file
/// `evaluate`: the exact values of an op's outputs, element by element.
#pragma once

#include "attest/oracle/certified_attention.hpp"
#include "attest/oracle/certified_softmax.hpp"
#include "attest/oracle/not_numbers.hpp"
#include "attest/oracle/run_stages.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/find_if.hpp>

namespace attest {

/// An output that is evaluated, and its shape in the layout of the question.
struct evaluated_output {
    std::string name;
    std::vector<std::size_t> shape;
};

/// Receives every element of every wanted output: number of the output, position in C order, value, and the greatest error of the value (for score, softmax and attention
/// proved, for the others an estimate).
using element_sink = std::function<void(std::size_t, std::size_t, const exact_number&, double)>;

namespace detail {

// Whether a number of 60 bits may be the exact value: then more digits do not say to which side of a tie it lies, but an exact argument may.
[[nodiscard]] inline bool may_be_short(const enclosure& x) {
    if (x.value.is_zero()) return true;
    using boost::multiprecision::round;
    const auto scaled = ldexp(x.value, static_cast<int>(59 - x.value.exponent()));
    const exact_number nearest(exact_number::number(round(scaled.value())));
    return abs(scaled - nearest) <= ldexp(x.radius, static_cast<int>(59 - x.value.exponent()));
}

// Takes what is known to 50 digits, or exactly; on the last rung whatever there is.
struct evaluating_visitor {
    static constexpr bool ignores_rows = true;
    const element_sink& sink;
    void begin_row(const row_values&) const {}
    void begin_columns() const {}
    template <class S> void begin_slice(const attention_engine<ball<S>>&, std::size_t) const {}
    template <class S> void end_slice(const slice_gradient<ball<S>>&, std::size_t) const {}
    void decided(std::size_t output, std::size_t position, std::size_t, const exact_rational& x, std::size_t, std::size_t) const {
        const enclosure e = attest::enclosure_of(x);
        sink(output, position, e.value, e.radius.is_zero() ? 0 : next_up(static_cast<double>(e.radius)));
    }
    template <class S> bool element(const certified_element<S>& e) const {
        const enclosure x = enclosure_of(e.value);
        if (!e.last && (!x.known || (!x.radius.is_zero() && (!(x.radius <= ldexp(abs(x.value), -166)) || may_be_short(x))))) return false;
        const auto radius = static_cast<double>(x.radius);
        sink(e.output, e.position, x.value, !x.known ? infinity_of_double : x.radius.is_zero() ? 0 : next_up(radius));
        return true;
    }
};

// Rows that see a NaN or an infinity: what the formula makes of them, as far as that goes.
inline void evaluate_softmax(const conventions& how, const std::vector<named_view>& inputs, const std::vector<std::string>& wanted,
                             const std::function<void(const std::vector<evaluated_output>&)>& begin, const element_sink& sink, const progress& tell) {
    const softmax_problem p = make_softmax_problem(how, inputs);
    const bool gradient = ranges::contains(wanted, "dx");
    const softmax_rows rows{p, gradient ? &dout_of(inputs, how.op, p.shape) : nullptr};
    std::vector<std::string> names;
    for (const char* name : {"out", "dx"})
        if (ranges::contains(wanted, name)) names.emplace_back(name);
    std::vector<evaluated_output> outputs;
    for (const std::string& name : names) outputs.push_back({name, p.shape});
    begin(outputs);
    evaluating_visitor visitor{sink};
    certified_rows ladder(rows, names, visitor);
    softmax_rows::engine<exact_number> plain(rows);
    for (std::size_t fibre = 0; fibre < p.fibres(); ++fibre) {
        if (rows.sees_numbers_alone(0, fibre)) ladder.add_row(0, fibre);
        else
            plain.row(fibre, [](const auto&) {}, [&](std::string_view name, std::size_t e, const exact_number& value) {
                const auto o = static_cast<std::size_t>(ranges::find(names, name) - names.begin());
                if (o < names.size()) sink(o, rows.position(0, fibre, e), value, 0);
            });
    }
    ladder.run(rung::in_real, how.precision, tell);
}

inline void evaluate_attention(const conventions& how, const std::vector<named_view>& inputs, const std::vector<std::string>& wanted,
                               const std::function<void(const std::vector<evaluated_output>&)>& begin, const element_sink& sink, const progress& tell) {
    const attention_problem p = make_attention_problem(how, inputs);
    std::vector<evaluated_output> outputs;
    std::vector<certified_output> certified;
    for (const tensor_info& output : find_op("attention").outputs) {
        if (!ranges::contains(wanted, output.name)) continue;
        auto [one, shape] = attention_output(how, inputs, p, std::string(output.name));
        outputs.push_back({one.name, shape});
        certified.push_back(std::move(one));
    }
    begin(outputs);
    if (ranges::all_of(outputs, [](const evaluated_output& output) { return element_count(output.shape) == 0; })) return;
    // Tokens that are padding: what an empty row has.
    std::vector<std::vector<bool>> told;
    for (const evaluated_output& output : outputs) told.emplace_back(element_count(output.shape), false);
    const element_sink marking = [&](std::size_t output, std::size_t position, const exact_number& value, double radius) {
        told[output][position] = true;
        sink(output, position, value, radius);
    };
    evaluating_visitor visitor{marking};
    certified_attention ladder(how, inputs, p, certified, visitor);
    const not_numbers apart(how, inputs, p, certified);
    apart.for_each_row([&](std::size_t slice, std::size_t i) { ladder.add_row(slice, i); });
    apart.for_each([](std::size_t, std::size_t) { return true; }, [&](std::size_t o, std::size_t position, const exact_number& value) { marking(o, position, value, 0); });
    apart.for_each_column([&](std::size_t o, std::size_t position, const exact_number& value) { marking(o, position, value, 0); });
    for (std::size_t o = 0; o < certified.size(); ++o)
        if (!certified[o].of_rows && apart.none())
            for (std::size_t e = 0; e < element_count(outputs[o].shape); ++e) ladder.add_column_element(o, e);
    ladder.run(rung::in_real, tell);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const std::string& name = outputs[o].name;
        const bool is_log = name == "scores" || name == "lse", is_empty_row = (name == "out" || name == "weights") && how.empty_row_is_nan;
        const exact_number padding = is_log ? -std::numeric_limits<exact_number>::infinity() : is_empty_row ? std::numeric_limits<exact_number>::quiet_NaN() : exact_number(0);
        for (std::size_t e = 0; e < told[o].size(); ++e)
            if (!told[o][e]) sink(o, e, padding, 0);
    }
}

inline void evaluate_stages(const conventions& how, const std::vector<named_view>& inputs, const std::vector<std::string>& wanted,
                            const std::function<void(const std::vector<evaluated_output>&)>& begin, const element_sink& sink, const progress& tell) {
    const staged exact = run_stages(how, inputs, wanted, tell);
    std::vector<evaluated_output> outputs;
    for (const stage& s : exact.stages) outputs.push_back({s.name, s.shape});
    begin(outputs);
    for (std::size_t o = 0; o < exact.stages.size(); ++o)
        for (std::size_t e = 0; e < exact.stages[o].values.size(); ++e) {
            const tracked& value = exact.stages[o].values[e];
            double radius = value.value().is_finite() ? value.error(tracked_kind::value) : 0;
            // What its estimate does not tell from zero has no digits to show.
            if (!value.value().is_zero() && abs(value.value()) <= exact_number(radius)) radius = infinity_of_double;
            sink(o, e, value.value(), radius);
        }
}

} // namespace detail

/// Evaluates the wanted outputs of an op. `begin` gets their names and shapes, in the order of computation, before the first element comes.
/// Throws usage_error as `check` does, and for an output that the op does not have.
inline void evaluate(const settings& given, const std::vector<named_view>& inputs, const std::vector<std::string>& wanted,
                     const std::function<void(const std::vector<evaluated_output>&)>& begin, const element_sink& sink, const progress& tell = {}) {
    const conventions how = read_conventions(given);
    if (how.op.empty()) throw usage_error("no op is given; see `attest list` for the ops");
    const op_info& op = find_op(how.op);
    for (const std::string& name : wanted)
        if (!is_output(op, name)) throw usage_error("'" + name + "' is not an output of " + how.op);
    if (how.op == "softmax") detail::evaluate_softmax(how, inputs, wanted, begin, sink, tell);
    else if (how.op == "score") {
        const score_as_attention scores(how, inputs);
        detail::evaluate_attention(scores.how, scores.inputs, wanted, begin, sink, tell);
    }
    else if (how.op == "attention") detail::evaluate_attention(how, inputs, wanted, begin, sink, tell);
    else detail::evaluate_stages(how, inputs, wanted, begin, sink, tell);
}

} // namespace attest
