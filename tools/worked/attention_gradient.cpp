// SPDX-License-Identifier: BSL-1.0
// From dZ back to dV, dA, dS, dQ and dK.
#include "attention.hpp"

namespace attest::worked {

namespace {

const math alpha("α", "\\alpha"), dalpha("dα", "d\\alpha"), mean("D"); // of the gradients of a row's weights, as FlashAttention calls it

struct factor_in_front {
    math written;
    number value;
    bool rounded; // as it is written
};

// name_1 = Σ_j a_1j·of_j, for each row of `coefficients`, times a factor that is written in front.
table write_combinations(writer& to, const math& name, const math& matrix, const table& coefficients, const table& rows, const std::function<math(std::size_t, std::size_t)>& symbol,
                         const math& of, const std::optional<factor_in_front>& factor) {
    const table summed = product(coefficients, rows);
    table result = summed;
    if (factor)
        for (number& x : result.entries) x = x * factor->value;
    formulas lines;
    for (std::size_t i = 0; i < result.rows; ++i) {
        math formula;
        for (std::size_t j = 0; j < rows.rows; ++j) formula += (j == 0 ? math("") : math(" + ")) + symbol(i, j) + times() + indexed(of, j);
        link numbers = to.combination(coefficients.row(i), rows);
        if (factor) {
            formula = factor->written + times() + math("(") + formula + math(")");
            numbers.what = factor->written + times() + math("(") + numbers.what + math(")");
            numbers.rounded = numbers.rounded || factor->rounded;
        }
        lines.push_back({indexed(name, i), {{factor && factor->rounded, formula}, numbers, to.vector(result.row(i))}});
    }
    to.put(std::move(lines));
    to.put(matrix, result);
    return result;
}

} // namespace

table write_softmax_gradient(writer& to, const table& weights, const table& dweights, const math& weight, const math& dscore, const math& matrix) {
    const std::size_t n = weights.rows, m = weights.columns;
    const math dweight = math("d") + weight;
    formulas lines;
    std::vector<number> sums(n);
    for (std::size_t i = 0; i < n; ++i) {
        math formula;
        for (std::size_t j = 0; j < m; ++j) {
            sums[i] = sums[i] + weights(i, j) * dweights(i, j);
            formula += (j == 0 ? math("") : math(" + ")) + indexed(weight, i, j) + times() + indexed(dweight, i, j);
        }
        lines.push_back({indexed(mean, i), to.value(sums[i], {{false, formula}, to.dot(weights.row(i), dweights.row(i))})});
    }
    table result(n, m);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) {
            result(i, j) = weights(i, j) * (dweights(i, j) - sums[i]);
            const math formula = indexed(weight, i, j) + times() + math("(") + indexed(dweight, i, j) + math(" - ") + indexed(mean, i) + math(")");
            const bool rounded = !to.is_exact(weights(i, j)) || !to.is_exact(dweights(i, j)) || !to.is_exact(sums[i]);
            const math numbers = to.operand(weights(i, j)) + times() + math("(") + to.digits(dweights(i, j)) + math(" - ") + to.operand(sums[i]) + math(")");
            lines.push_back({indexed(dscore, i, j), to.value(result(i, j), {{false, formula}, {rounded, numbers}})});
        }
    to.put(std::move(lines));
    to.put(matrix, result);
    return result;
}

void write_attention_gradients(writer& to, const attention_slice& a, const attention_values& values) {
    const table& dz = *a.dout;
    to.say_step("Gradient of the values: each output passes its gradient on, weighted");
    write_combinations(to, "dv", "dV", transposed(values.weights), dz, [](std::size_t j, std::size_t i) { return indexed(alpha, i, j); }, "dz", std::nullopt);

    to.say_step("Gradient of the weights");
    const table dweights = product(dz, transposed(a.v));
    formulas lines;
    for (std::size_t i = 0; i < dweights.rows; ++i)
        for (std::size_t j = 0; j < dweights.columns; ++j)
            lines.push_back({indexed(dalpha, i, j), to.value(dweights(i, j), {{false, indexed("dz", i) + times() + indexed("v", j)}, to.dot(dz.row(i), a.v.row(j))})});
    to.put(std::move(lines));
    to.put("dA", dweights);

    to.say_step("Gradient of the scores, through softmax");
    const table dscores = write_softmax_gradient(to, values.weights, dweights, alpha, "ds", "dS");

    to.say_step("Gradients of the queries and keys");
    std::optional<factor_in_front> factor;
    if (a.rule.how == score_rule::kind::by_root) factor.emplace(factor_in_front{over("1", root_of(math(std::to_string(a.q.columns)))), a.rule.scale(a.q.columns), false});
    if (a.rule.how == score_rule::kind::by_factor) factor.emplace(factor_in_front{to.operand(a.rule.factor), a.rule.factor, !to.is_exact(a.rule.factor)});
    write_combinations(to, "dq", "dQ", dscores, a.k, [](std::size_t i, std::size_t j) { return indexed("ds", i, j); }, "k", factor);
    write_combinations(to, "dk", "dK", transposed(dscores), a.q, [](std::size_t j, std::size_t i) { return indexed("ds", i, j); }, "q", factor);
}

} // namespace attest::worked
