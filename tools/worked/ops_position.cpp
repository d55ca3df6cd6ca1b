// SPDX-License-Identifier: BSL-1.0
// Positions: the sinusoidal table, and rotations. Positions and components are counted from 0 here, as in their formulas.
#include "ops.hpp"

namespace attest::worked {

namespace {

math pair_of(const char* name, std::size_t t, std::size_t c) { return {std::string(name) + "(" + std::to_string(t) + ", " + std::to_string(c) + ")", "\\mathrm{" + std::string(name) + "}(" + std::to_string(t) + ", " + std::to_string(c) + ")"}; }
math function_of(const char* name, const math& x) { return {std::string(name) + "(" + x.text + ")", "\\" + std::string(name) + "(" + x.latex + ")"}; }
int whole(std::size_t n) { return static_cast<int>(n); }
math power_of(const math& base, std::size_t above, std::size_t below, bool negative) {
    if (above == 0) return base + math("^0");
    const std::string exponent = std::string(negative ? "-" : "") + std::to_string(above) + "/" + std::to_string(below);
    return {base.text + "^(" + exponent + ")", base.latex + "^{" + exponent + "}"};
}

} // namespace

void write_sinusoidal_op(writer& to, const problem& given) {
    const std::size_t n = *given.how.length, d = *given.how.d_model;
    refuse_large("the table", {n, d});
    to.say(1, "Sinusoidal positions");
    to.say_marks();
    to.say_step("Each component of each position; positions and components are counted from 0");
    table out(n, d);
    formulas lines;
    for (std::size_t t = 0; t < n; ++t)
        for (std::size_t c = 0; c < d; ++c) {
            const std::size_t even = c - c % 2;
            const number angle = number(whole(t)) / power(number(10000), whole(even), whole(d));
            const char* const f = c % 2 == 0 ? "sin" : "cos";
            out(t, c) = c % 2 == 0 ? sin(angle) : cos(angle);
            const math formula = function_of(f, math(std::to_string(t)) + math("/") + power_of("10000", even, d, false));
            lines.push_back({pair_of("PE", t, c), to.value(out(t, c), {{false, formula}, {!to.is_exact(angle), function_of(f, to.digits(angle))}})});
        }
    to.put(std::move(lines));
    to.put(math("PE", "\\mathrm{PE}"), out);
}

void write_rope_op(writer& to, const problem& given) {
    const tensor& x = given.need("x", 2);
    const std::size_t d = x.last(0), r = given.how.rope_dim.value_or(d);
    if (r > d || r % 2 != 0) throw usage_error("rope rotates " + std::to_string(r) + " of the " + std::to_string(d) + " components of x " + shape_text(x.shape) + "; expected an even number, at most all of them");
    const std::string base_text = given.how.rope_base.value_or("10000");
    if (const detail::number_parts parts = detail::parse_number("rope-base", base_text); parts.exponent > 60 || parts.exponent < -60)
        throw usage_error("--rope-base " + base_text + ": its exponent is beyond 60; the angles of a worked example are written out");
    const number base(number_from<fraction>("rope-base", base_text));
    const std::vector<std::size_t> slices = joined_slices({{"x", &x}}, false);
    to.say(1, "Rotary positions");
    to.say_marks();
    for (std::size_t s = 0; s < element_count(slices); ++s) {
        begin_slice(to, slices, s);
        const table rows = slice_of(x, slices, s);
        to.say_step("Given");
        to.put("X", rows);
        to.say_step("Angles: of pair p, one position further");
        std::vector<number> turns(r / 2);
        formulas lines;
        for (std::size_t p = 0; p < r / 2; ++p) {
            turns[p] = power(base, -whole(2 * p), whole(r));
            lines.push_back({math("θ_" + std::to_string(p), "\\theta_{" + std::to_string(p) + "}"), to.value(turns[p], {{!to.is_exact(base), power_of(to.operand(base), 2 * p, r, true)}})});
        }
        to.put(std::move(lines));
        to.say_step("Each pair of components, turned by its position times its angle; both are counted from 0");
        table out = rows;
        lines.clear();
        for (std::size_t i = 0; i < rows.rows; ++i)
            for (std::size_t p = 0; p < r / 2; ++p) {
                const std::size_t a = given.how.rope_half ? p : 2 * p, b = given.how.rope_half ? p + r / 2 : 2 * p + 1, t = given.how.position_offset + i;
                const number angle = number(whole(t)) * turns[p], cosine = cos(angle), sine = sin(angle);
                out(i, a) = rows(i, a) * cosine - rows(i, b) * sine;
                out(i, b) = rows(i, a) * sine + rows(i, b) * cosine;
                const math in_digits = to.digits(angle);
                const bool rounded = !to.is_exact(angle) || !to.is_exact(rows(i, a)) || !to.is_exact(rows(i, b));
                const auto turned = [&](const char* first, const char* sign_between, const char* second) {
                    return link{rounded, to.operand(rows(i, a)) + times() + function_of(first, in_digits) + math(sign_between) + to.operand(rows(i, b)) + times() + function_of(second, in_digits)};
                };
                lines.push_back({pair_of("y", t, a), to.value(out(i, a), {turned("cos", " - ", "sin")})});
                lines.push_back({pair_of("y", t, b), to.value(out(i, b), {turned("sin", " + ", "cos")})});
            }
        to.put(std::move(lines));
        to.put("Y", out);
    }
}

} // namespace attest::worked
