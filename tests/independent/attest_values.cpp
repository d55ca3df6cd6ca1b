// SPDX-License-Identifier: BSL-1.0
#include "attest_inputs.hpp"

#include "attest/oracle/evaluate.hpp"
#include "checked.hpp"

namespace independent {

std::vector<std::pair<std::string, std::string>> settings_text(const question& asked) { return settings_of(asked.how); }

std::vector<claims> values_of_attest(const question& asked, const std::vector<std::string>& wanted) {
    const attest_inputs inputs(asked);
    std::vector<claims> all;
    once::evaluate(
        settings_of(asked.how), inputs.views, wanted,
        [&](const std::vector<attest::evaluated_output>& begun) {
            for (const attest::evaluated_output& o : begun) all.push_back({o.name, o.shape, {}});
        },
        [&](std::size_t output, std::size_t position, const attest::exact_number& value, double radius_in_double) {
            // A radius that the value's 192 bits do not carry must not get lost when it is added.
            const attest::exact_number given(radius_in_double), least = ldexp(abs(value), -190), radius = given.is_zero() || least < given ? given : least;
            claim c{position, "evaluate", true, taken_apart(value), taken_apart(given), {}, {}};
            for (std::size_t f = 0; f < format_count; ++f) {
                c.low[f] = attest::round_to(attest_formats[f], value - radius);
                c.high[f] = attest::round_to(attest_formats[f], value + radius);
            }
            all.at(output).all.push_back(std::move(c));
        });
    return all;
}

} // namespace independent
