// SPDX-License-Identifier: BSL-1.0
// What must hold of every case of every op, whatever its conventions.
#pragma once

#include "asked.hpp"
#include "catch.hpp"

namespace asked {

inline std::vector<std::string> names_of(const members& all) {
    std::vector<std::string> names;
    for (const auto& [name, m] : all) names.push_back(name);
    return names;
}
inline const attest::output_result& result_of(const attest::check_result& r, const std::string& name) {
    for (const auto& output : r.outputs)
        if (output.name == name) return output;
    FAIL("no result for " << name);
    return r.outputs.front();
}

/// What a refusal says: one line, with all of these parts.
inline void said(const std::string& text, std::initializer_list<const char*> parts) {
    INFO("said: " << text);
    CHECK_FALSE(text.empty());
    CHECK(text.find('\n') == std::string::npos);
    for (const char* part : parts) {
        INFO("expected: " << part);
        CHECK(text.find(part) != std::string::npos);
    }
}

/// Wrong, or good enough for a weaker arithmetic than the one in force.
inline bool is_bad(attest::verdict v) { return v == attest::verdict::wrong || v == attest::verdict::inaccurate; }

inline long double greatest_of(const plain::tensor<long double>& t) {
    long double greatest = 0;
    for (const long double x : t.values)
        if (x != plain::padding<long double> && std::isfinite(x)) greatest = std::max(greatest, std::fabs(x));
    return greatest;
}
/// Whether a tensor is 0 but for rounding: the gradient of a key's bias, say, which moves all scores of a row alike.
inline bool vanishes(const outcome<long double>& all, const std::string& name) {
    long double greatest = 0;
    for (const auto& [other, t] : all.tensors) greatest = std::max(greatest, greatest_of(t));
    return greatest_of(all.tensors.at(name)) <= 1e-15L * greatest;
}

/// The values of `evaluate` are those of long double, to 1e-15 and as far as long double itself goes: where sums cancel it is off by the 2^11th part of what
/// double is off by, which `made` tells; 2^6 are granted.
inline void hold_values(const question& asked, const outcome<long double>& right, const members& made) {
    strings wanted;
    for (const auto& [name, t] : right.tensors) wanted.push_back(name);
    const auto values = values_of(asked, wanted);
    for (const auto& [name, t] : right.tensors) {
        INFO("values of " << name);
        REQUIRE(values.contains(name));
        const evaluated& e = values.at(name);
        lengths shape = t.shape;
        if (e.shape.size() != shape.size()) {
            for (std::size_t k = 0; k < asked.unit_dimensions && shape.size() > 1; ++k) shape.erase(shape.begin());
        }
        REQUIRE(e.shape == shape);
        long double of_double = 0;
        for (std::size_t at = 0; at < t.values.size(); ++at)
            if (t.values[at] != plain::padding<long double> && std::isfinite(t.values[at])) of_double = std::max(of_double, std::fabs(static_cast<long double>(made.at(name).values[at]) - t.values[at]));
        for (std::size_t at = 0; at < t.values.size(); ++at) {
            const long double x = t.values[at], y = e.values[at];
            if (x == plain::padding<long double>) continue;
            INFO("element " << at << ": reference " << static_cast<double>(x) << ", attest " << static_cast<double>(y) << ", apart " << static_cast<double>(y - x));
            if (std::isfinite(x)) CHECK(std::fabs(y - x) <= 1e-15L * std::fabs(x) + of_double / 64);
            else CHECK((std::isnan(x) ? std::isnan(y) : x == y));
        }
    }
}

/// A right computation in double passes, result by result. Results that are all constant (nothing rounds in them) may be anything that passes.
inline void hold_right(const question& asked, const members& made) {
    const auto result = checked(asked, made);
    CHECK(attest::passes(result.verdict));
    CHECK(result.first_bad_stage.empty());
    CHECK(result.arithmetic == "f64");
    CHECK(result.outputs.size() == made.size());
    for (const auto& output : result.outputs) {
        INFO(output.name << " is " << attest::name_of(output.verdict) << ": " << output.max_ulp << " ULP, share " << output.limit_share << ", blind " << output.blind << " of "
                         << output.elements << ", unjudged " << output.unjudged << ", outside " << output.outside_certain);
        CHECK(attest::passes(output.verdict));
        CHECK(output.limits_derived);
        CHECK(output.arithmetic == "f64");
    }
}

/// One element off by a millionth fails, in every result.
inline void hold_wrong(const question& asked, const members& made, const outcome<long double>& right) {
    members spoiled;
    for (const auto& [name, m] : made) {
        member bad = m;
        std::size_t at = m.values.size();
        for (std::size_t e = 0; e < m.values.size(); ++e)
            if (right.tensors.at(name).values[e] != plain::padding<long double> && std::isfinite(m.values[e]) && m.values[e] != 0 &&
                (at == m.values.size() || std::fabs(m.values[e]) > std::fabs(bad.values[at])))
                at = e;
        if (at == m.values.size()) continue;
        bad.values[at] = vanishes(right, name) ? 1e-6 : bad.values[at] * (1 + 1e-6);
        spoiled[name] = bad;
    }
    if (spoiled.empty()) return;
    const auto result = checked(asked, spoiled);
    CHECK(is_bad(result.verdict));
    CHECK(result.first_bad_stage == result.outputs.front().name);
    for (const auto& output : result.outputs) {
        INFO(output.name << " is " << attest::name_of(output.verdict) << " with one element off by 1e-6: " << output.max_ulp << " ULP, share " << output.limit_share);
        CHECK(is_bad(output.verdict));
        CHECK(output.outside_certain == 1);
    }
}

/// Declared f32, nothing is judged but what is exact.
inline void hold_undecided(const question& asked, const members& made) {
    const auto result = checked(asked, made, {{"arithmetic", "f32"}});
    for (const auto& output : result.outputs) {
        if (!output.propagated) continue;
        INFO(output.name << " is " << attest::name_of(output.verdict) << ", exact " << output.exact << " of " << output.elements);
        CHECK_FALSE(output.limits_derived);
        CHECK(output.verdict == (output.exact == output.elements ? attest::verdict::exact : attest::verdict::undecided));
    }
}

/// All of it, for a model (given<N> → results<N>).
template <class Model> void hold(const question& asked, const Model& model) {
    const auto right = run<long double>(asked, model);
    const members made = candidates_of(run<double>(asked, model));
    hold_values(asked, right, made);
    hold_right(asked, made);
    hold_wrong(asked, made, right);
    hold_undecided(asked, made);
}

/// What `model` gives for `other` is no answer to `asked`: every one of `names` fails, and the first of them in the order of computation is named.
template <class Model> void fails(const question& asked, const question& other, const Model& model, const strings& names) {
    const members made = only(candidates_of(run<double>(other, model)), names);
    const auto result = checked(asked, made);
    CHECK(is_bad(result.verdict));
    CHECK(result.first_bad_stage == names.front());
    for (const std::string& name : names) {
        const auto& output = result_of(result, name);
        INFO(name << " is " << attest::name_of(output.verdict) << ": " << output.max_ulp << " ULP");
        CHECK(is_bad(output.verdict));
    }
}

} // namespace asked
