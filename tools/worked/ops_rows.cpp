// SPDX-License-Identifier: BSL-1.0
// What is done to each row, or to each number, by itself: the norms, ReLU and GELU.
#include "ops.hpp"

namespace attest::worked {

namespace {

const math mu("μ", "\\mu"), normalised("n", "\\hat{x}"), epsilon("ε", "\\varepsilon");

math squared(const math& x) { return {x.text + "²", x.latex + "^2"}; }

// gamma or beta, one for each component; nothing where it is not given.
std::optional<std::vector<number>> vector_of(const problem& given, std::string_view name, std::size_t d) {
    const tensor* t = given.find(name);
    if (t == nullptr) return std::nullopt;
    if (t->shape != std::vector<std::size_t>{d}) throw usage_error(std::string(name) + " " + shape_text(t->shape) + " does not go with x, whose rows have " + std::to_string(d) + " components; expected [" + std::to_string(d) + "]");
    return t->entries;
}
table as_row(const std::vector<number>& x) {
    table t(1, x.size());
    t.entries = x;
    return t;
}
math summed(std::size_t n, const std::function<math(std::size_t)>& term) {
    math m;
    for (std::size_t c = 0; c < n; ++c) m += (c == 0 ? math("") : math(" + ")) + term(c);
    return m;
}
math parentheses(const math& m) { return {"(" + m.text + ")", "(" + m.latex + ")"}; }
math fraction_of(const math& sum, std::size_t n) { return {"(" + sum.text + ")/" + std::to_string(n), "\\frac{" + sum.latex + "}{" + std::to_string(n) + "}"}; }
// The number, with a bar or parentheses only where it is negative, squared.
math square_in_digits(writer& to, const number& x) { return squared(to.operand(x)); }

void write_scale_and_shift(writer& to, const table& rows, const std::optional<std::vector<number>>& gamma, const std::optional<std::vector<number>>& beta) {
    if (!gamma && !beta) return;
    to.say_step(std::string(gamma ? "Times gamma" : "") + (gamma && beta ? ", " : "") + (beta ? "plus beta" : "") + ", component by component");
    table out = rows;
    formulas lines;
    for (std::size_t i = 0; i < rows.rows; ++i)
        for (std::size_t c = 0; c < rows.columns; ++c) {
            number& y = out(i, c);
            math formula = indexed(normalised, i, c), numbers = to.operand(y);
            bool rounded = !to.is_exact(y);
            if (gamma) {
                formula = indexed(math("γ", "\\gamma"), c) + times() + formula;
                numbers = to.operand((*gamma)[c]) + times() + numbers;
                rounded = rounded || !to.is_exact((*gamma)[c]);
                y = (*gamma)[c] * y;
            }
            if (beta) {
                formula += math(" + ") + indexed(math("β", "\\beta"), c);
                numbers += math(" + ") + to.operand((*beta)[c]);
                rounded = rounded || !to.is_exact((*beta)[c]);
                y = y + (*beta)[c];
            }
            lines.push_back({indexed("y", i, c), to.value(y, {{false, formula}, {rounded, numbers}})});
        }
    to.put(std::move(lines));
    to.put("Y", out);
}

// With the mean taken away first, or not: layer_norm, rms_norm.
void write_norm(writer& to, const problem& given, bool centred) {
    const tensor& x = given.need("x", 1);
    const std::size_t d = x.last(0);
    const auto gamma = vector_of(given, "gamma", d), beta = centred ? vector_of(given, "beta", d) : std::nullopt;
    const number eps(number_from<fraction>("eps", given.how.eps.value_or("1e-5")));
    const std::size_t divisor = centred && given.how.variance_unbiased ? d - 1 : d;
    if (divisor == 0) throw usage_error("variance=unbiased divides by d - 1, which is 0: x " + shape_text(x.shape) + " has rows of 1 component");
    const std::vector<std::size_t> slices = joined_slices({{"x", &x}}, false);
    to.say(1, centred ? "LayerNorm" : "RMSNorm");
    to.say_marks();
    for (std::size_t s = 0; s < element_count(slices); ++s) {
        begin_slice(to, slices, s);
        const table rows = slice_of(x, slices, s);
        const std::size_t n = rows.rows;
        to.say_step("Given");
        to.put("X", rows);
        if (gamma) to.put(math("γ", "\\gamma"), as_row(*gamma));
        if (beta) to.put(math("β", "\\beta"), as_row(*beta));
        to.put({{epsilon, to.value(eps)}});
        formulas lines;
        std::vector<number> means(n), spreads(n);
        if (centred) {
            to.say_step("Means");
            for (std::size_t i = 0; i < n; ++i) {
                for (const number& e : rows.row(i)) means[i] = means[i] + e;
                means[i] = means[i] / number(static_cast<int>(d));
                const link sum = to.sum(rows.row(i));
                lines.push_back({indexed(mu, i), to.value(means[i], {{false, fraction_of(summed(d, [i](std::size_t c) { return indexed("x", i, c); }), d)}, {sum.rounded, fraction_of(sum.what, d)}})});
            }
            to.put(std::move(lines));
            lines.clear();
        }
        to.say_step(centred ? (given.how.variance_unbiased ? "Variances, divided by d - 1" : "Variances") : "Means of the squares");
        const math spread = centred ? math("var", "v") : math("ms", "r");
        for (std::size_t i = 0; i < n; ++i) {
            bool rounded = false;
            for (const number& e : rows.row(i)) {
                const number apart = e - means[i];
                spreads[i] = spreads[i] + apart * apart;
                rounded = rounded || !to.is_exact(apart);
            }
            spreads[i] = spreads[i] / number(static_cast<int>(divisor));
            const math formula = fraction_of(summed(d, [&](std::size_t c) { return squared(centred ? parentheses(indexed("x", i, c) + math(" - ") + indexed(mu, i)) : indexed("x", i, c)); }), divisor);
            const math numbers = fraction_of(summed(d, [&](std::size_t c) { return square_in_digits(to, rows(i, c) - means[i]); }), divisor);
            lines.push_back({indexed(spread, i), to.value(spreads[i], {{false, formula}, {rounded, numbers}})});
        }
        to.put(std::move(lines));
        lines.clear();
        to.say_step(gamma || beta ? "Normalised" : "Normalised: the result");
        table out(n, d);
        const math entry = gamma || beta ? normalised : math("y");
        for (std::size_t i = 0; i < n; ++i) {
            const number inside = given.how.eps_in_std ? spreads[i] : spreads[i] + eps, root = sqrt(inside), below = given.how.eps_in_std ? root + eps : root;
            if (below.is(0)) throw usage_error("row " + std::to_string(i + 1) + " of x has no spread, and eps is 0: the norm divides by 0");
            const math under = given.how.eps_in_std ? root_of(indexed(spread, i)) + math(" + ") + epsilon : root_of(parentheses(indexed(spread, i) + math(" + ") + epsilon));
            for (std::size_t c = 0; c < d; ++c) {
                const number above = rows(i, c) - means[i];
                out(i, c) = above / below;
                const math upper = centred ? indexed("x", i, c) + math(" - ") + indexed(mu, i) : indexed("x", i, c);
                const link step{!to.is_exact(above) || !to.is_exact(below), over(to.digits(above), to.digits(below))};
                const math formula{(centred ? "(" + upper.text + ")" : upper.text) + "/" + (given.how.eps_in_std ? "(" + under.text + ")" : under.text), "\\frac{" + upper.latex + "}{" + under.latex + "}"};
                lines.push_back({indexed(entry, i, c), to.value(out(i, c), {{false, formula}, step})});
            }
        }
        to.put(std::move(lines));
        to.put(gamma || beta ? math("N", "\\hat{X}") : math("Y"), out);
        write_scale_and_shift(to, out, gamma, beta);
    }
}

void write_each(writer& to, const problem& given, const std::string& title, table (*write)(writer&, const table&, const math&, const math&)) {
    const tensor& x = given.need("x", 1);
    const std::vector<std::size_t> slices = joined_slices({{"x", &x}}, false);
    to.say(1, title);
    to.say_marks();
    for (std::size_t s = 0; s < element_count(slices); ++s) {
        begin_slice(to, slices, s);
        const table rows = slice_of(x, slices, s);
        to.say_step("Given");
        to.put("X", rows);
        to.say_step("Each number by itself");
        to.put("Y", write(to, rows, "x", "y"));
    }
}

} // namespace

table write_relu(writer& to, const table& x, const math& from, const math& name) {
    table out = x;
    formulas lines;
    for (std::size_t i = 0; i < x.rows; ++i)
        for (std::size_t c = 0; c < x.columns; ++c) {
            if (sign(x(i, c)).value_or(1) < 0) out(i, c) = number(0);
            const link step{!to.is_exact(x(i, c)), math("max(", "\\max(") + to.digits(x(i, c)) + math(", 0)")};
            lines.push_back({indexed(name, i, c), to.value(out(i, c), {{false, math("max(", "\\max(") + indexed(from, i, c) + math(", 0)")}, step})});
        }
    to.put(std::move(lines));
    return out;
}
table write_gelu(writer& to, const table& x, const math& from, const math& name) {
    table out = x;
    formulas lines;
    const math half = over("1", "2");
    for (std::size_t i = 0; i < x.rows; ++i)
        for (std::size_t c = 0; c < x.columns; ++c) {
            const number argument = x(i, c) / sqrt(number(2)), phi = (number(1) + erf(argument)) / number(2);
            out(i, c) = x(i, c) * phi;
            const math of = parentheses(indexed(from, i, c));
            const math formula = half + times() + parentheses(math("1 + erf(", "1 + \\operatorname{erf}(") + over(indexed(from, i, c), root_of("2")) + math(")"));
            const link step{!to.is_exact(x(i, c)) || !to.is_exact(phi), to.operand(x(i, c)) + times() + to.digits(phi)};
            lines.push_back({math("Φ", "\\Phi") + of, to.value(phi, {{false, formula}})});
            lines.push_back({indexed(name, i, c), to.value(out(i, c), {{false, indexed(from, i, c) + times() + math("Φ", "\\Phi") + of}, step})});
        }
    to.put(std::move(lines));
    return out;
}

void write_layer_norm_op(writer& to, const problem& given) { write_norm(to, given, true); }
void write_rms_norm_op(writer& to, const problem& given) { write_norm(to, given, false); }
void write_relu_op(writer& to, const problem& given) { write_each(to, given, "ReLU", write_relu); }
void write_gelu_op(writer& to, const problem& given) { write_each(to, given, "GELU", write_gelu); }

} // namespace attest::worked
