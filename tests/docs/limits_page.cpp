// SPDX-License-Identifier: BSL-1.0
// docs/limits.md: its tables are the code's, made from oracle/arithmetics.hpp and by the limits themselves.
#include "catch.hpp"
#include "docs/tables.hpp"

#include "attest/elementary/log.hpp"
#include "attest/oracle/limits_forward.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using attest::arithmetic;

const std::filesystem::path page = std::filesystem::path(ATTEST_SOURCE_DIR) / "docs" / "limits.md";

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

// A constant: 0, a power of two, or the greatest number of a format. All that the table holds is one of these.
std::string text_of(double x) {
    if (x == 0) return "0";
    if (x == attest::formats::f64.greatest()) return "f64's";
    if (x == attest::formats::f32.greatest()) return "f32's";
    if (x == attest::formats::f16.greatest()) return "65504";
    if (x == attest::formats::bf16.greatest()) return "bf16's";
    REQUIRE(attest::detail::is_power_of_two(x));
    const int exponent = attest::detail::split(x).exponent;
    return (exponent < 0 ? "2^−" : "2^") + std::to_string(exponent < 0 ? -exponent : exponent);
}
std::string name_of(const attest::format& f) {
    return f == attest::formats::f64 ? "f64" : f == attest::formats::f32 ? "f32" : f == attest::formats::f16 ? "f16" : "bf16";
}

struct constant {
    const char* name;
    double arithmetic::*value;
};
constexpr constant constants[] = {
    {"unit", &arithmetic::unit},
    {"tiny", &arithmetic::tiny},
    {"operand", &arithmetic::operand},
    {"operand_tiny", &arithmetic::operand_tiny},
    {"exp_relative", &arithmetic::exp_relative},
    {"exp_slope", &arithmetic::exp_slope},
    {"exp_flush", &arithmetic::exp_flush},
    {"function", &arithmetic::function},
    {"query_key", &arithmetic::query_key},
    {"score", &arithmetic::score},
    {"weight", &arithmetic::weight},
    {"weight_tiny", &arithmetic::weight_tiny},
    {"greatest", &arithmetic::greatest},
};

std::string constants_rows() {
    std::string rows = "| |", line = "|---|";
    for (const arithmetic& a : attest::arithmetics) {
        rows += " " + code(a.name) + " |";
        line += "---|";
    }
    rows += "\n" + line + "\n";
    for (const constant& c : constants) {
        rows += "| " + code(c.name) + " |";
        for (const arithmetic& a : attest::arithmetics) rows += " " + text_of(a.*c.value) + " |";
        rows += "\n";
    }
    rows += "| " + code("output") + " |";
    for (const arithmetic& a : attest::arithmetics) rows += " " + name_of(a.output) + " |";
    return rows + "\n";
}

// What a suffix leaves as it is stays blank; what none of them changes has no column.
std::string suffixes_rows() {
    std::vector<constant> changed;
    const auto of = [](const arithmetic& a, const char* suffix) { return *attest::find_arithmetic(std::string(a.name) + suffix); };
    constexpr const char* suffixes[] = {"/truncate", "/ftz", "/truncate/ftz"};
    for (const constant& c : constants)
        for (const arithmetic& a : attest::arithmetics)
            for (const char* suffix : suffixes)
                if (of(a, suffix).*c.value != a.*c.value && (changed.empty() || changed.back().value != c.value)) changed.push_back(c);
    std::string rows = "| |", line = "|---|";
    for (const constant& c : changed) {
        rows += " " + code(c.name) + " |";
        line += "---|";
    }
    rows += "\n" + line + "\n";
    for (const arithmetic& a : attest::arithmetics)
        for (const char* suffix : suffixes) {
            rows += "| " + code(std::string(a.name) + suffix) + " |";
            for (const constant& c : changed) {
                const double now = of(a, suffix).*c.value;
                rows += " " + (now == a.*c.value ? "" : text_of(now) + " ") + "|";
            }
            rows += "\n";
        }
    return rows;
}

// Both limits of rows whose scores are (j·φ) mod 1 and taken for exact, v_j = 1, −1, 1, …, before the store, in units of a weight's rounding.
std::string growth_rows() {
    const arithmetic& a = *attest::find_arithmetic("bf16+f32");
    const double lambda = attest::expected_factor(65536, 1e-9);
    char text[200];
    std::snprintf(text, sizeof text, "| keys | certain, in 2^−8 | expected, in 2^−8 (λ = %.2f) | expected/certain |\n|---|---|---|---|\n", lambda);
    std::string rows = text;
    for (const std::size_t n : {16U, 64U, 256U, 1024U, 4096U}) {
        attest::row_facts f;
        f.scores_are_inputs = true;
        double sum = 0, exact = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const double product = attest::detail::unfused(static_cast<double>(j) * 0x1.3c6ef372fe95p-1);
            f.score.push_back(product - static_cast<double>(static_cast<std::size_t>(product)));
            f.weight.push_back(attest::exp(f.score.back()));
            sum += f.weight.back();
        }
        f.lse = attest::log(sum);
        const auto value = [](std::size_t j) { return j % 2 == 0 ? 1.0 : -1.0; };
        for (std::size_t j = 0; j < n; ++j) {
            f.weight[j] /= sum;
            exact += f.weight[j] * value(j);
        }
        const attest::element_limits limits = attest::forward_limits(a, f, lambda).out(exact, value);
        std::snprintf(text, sizeof text, "| %zu | %.3f | %.3f | %.2f |\n", n, limits.certain * 256, limits.expected * 256, limits.expected / limits.certain);
        rows += text;
    }
    return rows;
}

} // namespace

TEST_CASE("the tables of limits are the code's", "[docs]") {
    docs::hold_tables(page, {{"growth", growth_rows()}, {"constants", constants_rows()}, {"suffixes", suffixes_rows()}});
}
