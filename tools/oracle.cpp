// SPDX-License-Identifier: BSL-1.0
#include "oracle.hpp"

#include "kernels.hpp"

#include "attest/oracle/check.hpp"
#include "attest/oracle/evaluate.hpp"

namespace attest::program {

check_result run_check(const question& asked, const std::optional<row_sample>& rows, const progress& tell) {
    check_result result = check(asked.given, asked.inputs, asked.candidates, tell, {.rows = rows, .kernels = &fast::best_kernels()});
    result.warnings.insert(result.warnings.begin(), asked.warnings.begin(), asked.warnings.end());
    return result;
}

std::vector<exact_output> run_evaluate(const question& asked, const std::vector<std::string>& wanted, dtype type, int digits, const progress& tell) {
    std::vector<exact_output> results;
    const format target = format_of(type);
    const auto begin = [&](const std::vector<evaluated_output>& outputs) {
        for (const evaluated_output& output : outputs) {
            const std::size_t count = element_count(output.shape);
            exact_output result{{output.name, {type, output.shape, std::vector<std::byte>(count * size_of(type))}}, {}};
            if (digits > 0) result.texts.resize(count);
            results.push_back(std::move(result));
        }
    };
    const auto sink = [&](std::size_t output, std::size_t position, const exact_number& value, double radius) {
        exact_output& result = results[output];
        // What its own error estimate does not tell from zero is given as zero.
        const bool may_be_zero = value.is_finite() && abs(value) <= exact_number(radius);
        const exact_number shown = may_be_zero ? exact_number(0) : value;
        // An estimate as wide as a unit in the last place: precision ran out. At zero there is no unit; what 192 bits leave of sums that cancel is far less.
        const bool settled = !value.is_finite() || radius <= (may_be_zero ? 0x1p-100 : ulp(target, static_cast<double>(value)) / 2);
        encode(result.rounded.value, position, settled ? round_to(target, shown) : std::numeric_limits<double>::quiet_NaN());
        if (digits > 0) result.texts[position] = settled ? shown.text(digits) : "?";
        if (!settled) ++result.unsettled;
        if (value.is_finite() && radius > 0 && (may_be_zero || round_to(target, value - exact_number(radius)) != round_to(target, value + exact_number(radius))))
            ++result.unseparated;
    };
    evaluate(asked.given, asked.inputs, wanted, begin, sink, tell);
    return results;
}

} // namespace attest::program
