// SPDX-License-Identifier: BSL-1.0
#include "attest_inputs.hpp"

#include "attest/oracle/certified_attention.hpp"
#include "attest/oracle/certified_softmax.hpp"
#include "attest/oracle/not_numbers.hpp"

namespace independent {

namespace {

// The visitor of the ladder: writes down what every rung says.
class recorder {
public:
    recorder(std::vector<claims>& all, bool every_rung) : all_{all}, every_rung_{every_rung} {}

    void begin_row(const attest::row_values&) const {}
    void begin_columns() const {}
    template <class Engine> void begin_slice(const Engine&, std::size_t) const {}
    template <class Gradient> void end_slice(const Gradient&, std::size_t) const {}

    template <class S> bool element(const attest::certified_element<S>& e) {
        const attest::enclosure x = attest::enclosure_of(e.value);
        claim c{e.position, attest::name_of(e.from).data(), e.last, taken_apart(x.value), taken_apart(x.radius), {}, {}};
        if (!x.known) c.radius.infinite = 1;
        else if constexpr (std::same_as<S, attest::big_float>) // all of its digits, where the enclosure has 192 bits
            if (e.value.is_number()) {
                c.middle = taken_apart(e.value.middle().mantissa(), e.value.middle().last_exponent());
                c.radius = taken_apart(attest::detail::exact_of(e.value.radius()));
            }
        bool settled = x.known;
        for (std::size_t f = 0; f < format_count; ++f) {
            const attest::rounded_ends ends = attest::ends_of(attest_formats[f], e.value);
            c.low[f] = ends.low;
            c.high[f] = ends.high;
            settled = settled && (ends.low == ends.high || !x.value.is_finite());
        }
        c.last = e.last || (settled && !every_rung_);
        const bool done = c.last;
        all_.at(e.output).all.push_back(std::move(c));
        return done;
    }
    void decided(std::size_t output, std::size_t position, std::size_t, const attest::exact_rational& x, std::size_t, std::size_t) {
        const attest::enclosure e = attest::enclosure_of(x);
        claim c{position, attest::name_of(attest::rung::decided).data(), true, taken_apart(e.value), taken_apart(e.radius), {}, {}};
        for (std::size_t f = 0; f < format_count; ++f) c.low[f] = c.high[f] = attest::round_to(attest_formats[f], x);
        all_.at(output).all.push_back(std::move(c));
    }
    /// What is no number.
    void declared(std::size_t output, std::size_t position, const attest::exact_number& x) { all_.at(output).all.push_back({position, "declared", true, taken_apart(x), {}, {}, {}}); }

private:
    std::vector<claims>& all_;
    bool every_rung_;
};

std::vector<claims> softmax_rungs(const attest::conventions& how, const std::vector<attest::named_view>& inputs, const question& asked, bool every_rung) {
    const attest::softmax_problem p = attest::make_softmax_problem(how, inputs);
    std::vector<std::string> names;
    for (const char* name : {"out", "dx"})
        if (std::find(asked.wanted.begin(), asked.wanted.end(), name) != asked.wanted.end()) names.emplace_back(name);
    std::vector<claims> all;
    for (const std::string& name : names) all.push_back({name, p.shape, {}});
    recorder record(all, every_rung);
    const attest::softmax_rows rows{p, names.back() == "dx" ? attest::find(inputs, "dout") : nullptr};
    attest::certified_rows ladder(rows, names, record);
    for (std::size_t fibre = 0; fibre < p.fibres(); ++fibre) ladder.add_row(0, fibre);
    ladder.run(attest::rung::in_double, how.precision, {});
    return all;
}

// As `check` does it for candidates in every format.
std::vector<claims> attention_rungs(const attest::conventions& how, const std::vector<attest::named_view>& inputs, const question& asked, bool every_rung) {
    const attest::attention_problem p = attest::make_attention_problem(how, inputs);
    std::vector<attest::certified_output> outputs;
    std::vector<claims> all;
    for (const std::string& name : asked.wanted) {
        auto [output, shape] = attest::attention_output(how, inputs, p, name);
        outputs.push_back(std::move(output));
        all.push_back({name, shape, {}});
    }
    recorder record(all, every_rung);
    const attest::not_numbers apart(how, inputs, p, outputs);
    attest::certified_attention ladder(how, inputs, p, outputs, record);
    apart.for_each_row([&](std::size_t slice, std::size_t i) { ladder.add_row(slice, i); });
    apart.for_each([](std::size_t, std::size_t) { return true; }, [&](std::size_t o, std::size_t position, const attest::exact_number& value) { record.declared(o, position, value); });
    apart.for_each_column([&](std::size_t o, std::size_t position, const attest::exact_number& value) { record.declared(o, position, value); });
    for (std::size_t o = 0; o < outputs.size() && apart.none(); ++o)
        if (!outputs[o].of_rows)
            for (std::size_t e = 0; e < attest::element_count(all[o].shape); ++e) ladder.add_column_element(o, e);
    ladder.run(attest::rung::in_double, {});
    return all;
}

} // namespace

std::vector<claims> rungs_of_attest(const question& asked, bool every_rung) {
    attest::settings settings = settings_of(asked.how);
    if (every_rung) settings.emplace_back("precision", "768");
    const attest::conventions how = attest::read_conventions(settings);
    const attest_inputs inputs(asked);
    if (how.op == "softmax") return softmax_rungs(how, inputs.views, asked, every_rung);
    if (how.op != "score") return attention_rungs(how, inputs.views, asked, every_rung);
    const attest::score_as_attention scores(how, inputs.views);
    return attention_rungs(scores.how, scores.inputs, asked, every_rung);
}

} // namespace independent
