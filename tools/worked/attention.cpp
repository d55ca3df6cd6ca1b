// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

namespace attest::worked {

namespace {

const math alpha("α", "\\alpha");

// q·k/√2, (8)/√2, …
math scaled(const math& x, const score_rule& rule, std::size_t d_k, writer& to) {
    if (rule.how == score_rule::kind::by_root) return over(x, root_of(math(std::to_string(d_k))));
    return x + times() + to.operand(rule.factor);
}

void write_raw_scores(writer& to, const attention_slice& a, table& raw) {
    to.say_step("Raw scores");
    formulas lines;
    for (std::size_t i = 0; i < a.q.rows; ++i)
        for (std::size_t j = 0; j < a.k.rows; ++j) {
            raw(i, j) = number(0);
            for (std::size_t m = 0; m < a.q.columns; ++m) raw(i, j) = raw(i, j) + a.q(i, m) * a.k(j, m);
            lines.push_back({indexed("q", i) + times() + indexed("k", j), to.value(raw(i, j), {to.dot(a.q.row(i), a.k.row(j))})});
        }
    to.put(std::move(lines));
    to.put(math("Q·Kᵀ", "QK^\\top"), raw);
}

// Whether any visible score is beyond ±30, where e^s would have too many digits for a board.
bool is_far(const table& scores, const std::vector<bool>& visible, std::size_t i) {
    for (std::size_t j = 0; j < scores.columns; ++j)
        if (visible[i * scores.columns + j] && (compare(scores(i, j), 30).value_or(1) > 0 || compare(scores(i, j), -30).value_or(-1) < 0)) return true;
    return false;
}

} // namespace

void write_scores(writer& to, const attention_slice& a, attention_values& values) {
    const std::size_t n_q = a.q.rows, n_k = a.k.rows, d_k = a.q.columns;
    values.raw = values.scores = table(n_q, n_k);
    values.visible = a.visible;
    write_raw_scores(to, a, values.raw);
    bool hides = false;
    for (const bool seen : a.visible) hides = hides || !seen;
    const bool plain = a.rule.how == score_rule::kind::plain;
    to.say_step(std::string(plain ? "Scores, not scaled" : "Scaled scores") + (a.added ? ", with what the mask adds" : "") + (hides ? "; hidden ones are minus infinity" : ""));
    const number c = a.rule.scale(d_k);
    formulas lines;
    for (std::size_t i = 0; i < n_q; ++i)
        for (std::size_t j = 0; j < n_k; ++j) {
            const math left = indexed("s", i, j);
            if (!a.sees(i, j)) {
                lines.push_back({left, {{false, minus_infinity_sign() + math(" (hidden)", "\\quad\\text{(hidden)}")}}});
                continue;
            }
            const number bias = a.added ? (*a.added)(i, j) : number(0);
            values.scores(i, j) = values.raw(i, j) * c + bias;
            if (plain && !a.added) {
                lines.push_back({left, to.value(values.scores(i, j), {{false, indexed("q", i) + times() + indexed("k", j)}})});
                continue;
            }
            link step{!to.is_exact(values.raw(i, j)) || !to.is_exact(bias) || (!plain && !to.is_exact(a.rule.factor)), {}};
            const math raw = a.rule.how == score_rule::kind::by_factor ? to.operand(values.raw(i, j)) : to.digits(values.raw(i, j));
            step.what = plain ? raw : scaled(raw, a.rule, d_k, to);
            if (a.added) step.what += math(" + ") + to.operand(bias);
            lines.push_back({left, to.value(values.scores(i, j), {step})});
        }
    to.put(std::move(lines));
    to.put("S", values.scores, [&a](std::size_t i, std::size_t j) { return a.sees(i, j); });
}

table write_softmax(writer& to, const table& scores, const std::vector<bool>& visible, const math& name, const math& weight, const math& matrix) {
    const std::size_t n = scores.rows, m = scores.columns;
    const auto sees = [&](std::size_t i, std::size_t j) { return visible[i * m + j]; };
    to.say_step("Exponentials and their sums, row by row");
    table powers(n, m), weights(n, m);
    std::vector<number> sums(n);
    std::vector<bool> shifted(n), empty(n, true);
    formulas lines;
    const auto exponent = [&](std::size_t i, std::size_t j) { return shifted[i] ? indexed(name, i, j) + math(" - ") + indexed("m", i) : indexed(name, i, j); };
    for (std::size_t i = 0; i < n; ++i) {
        shifted[i] = is_far(scores, visible, i);
        number greatest;
        for (std::size_t j = 0; j < m; ++j) {
            if (!sees(i, j)) continue;
            if (shifted[i] && (empty[i] || compare(scores(i, j), greatest).value_or(0) > 0)) greatest = scores(i, j);
            empty[i] = false;
        }
        if (empty[i]) {
            to.say({"Row " + std::to_string(i + 1) + " sees no key: its weights are 0 by convention (empty-row=zero)."});
            continue;
        }
        if (shifted[i]) {
            to.say({"In row " + std::to_string(i + 1) + " a score is beyond ", math("±30", "\\pm 30"), ": the greatest one, ", indexed("m", i),
                    ", is subtracted before the exponential, which changes no weight."});
            lines.push_back({indexed("m", i), to.value(greatest, {})});
        }
        std::vector<number> terms;
        math sum_of;
        for (std::size_t j = 0; j < m; ++j) {
            if (!sees(i, j)) continue;
            const number x = shifted[i] ? scores(i, j) - greatest : scores(i, j);
            powers(i, j) = exp(x);
            terms.push_back(powers(i, j));
            sums[i] = sums[i] + powers(i, j);
            sum_of += (terms.size() == 1 ? math("") : math(" + ")) + e_to(exponent(i, j));
            // e to a rounded number may round to another digit than e to the exact one: it is not written.
            std::vector<link> as_power;
            if (to.is_exact(x)) as_power.push_back({false, e_to(to.digits(x))});
            lines.push_back({e_to(exponent(i, j)), to.value(powers(i, j), as_power)});
        }
        std::vector<link> steps = {{false, sum_of}};
        if (terms.size() > 1) steps.push_back(to.sum(terms));
        lines.push_back({indexed(math("Σ", "\\Sigma"), i), to.value(sums[i], steps)});
    }
    to.put(std::move(lines));
    to.say_step("Weights: each exponential divided by the sum of its row");
    lines.clear();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j) {
            if (!sees(i, j)) {
                if (!empty[i]) lines.push_back({indexed(weight, i, j), {{false, math("0 (hidden)", "0\\quad\\text{(hidden)}")}}});
                continue;
            }
            weights(i, j) = powers(i, j) / sums[i];
            const link step{!to.is_exact(powers(i, j)) || !to.is_exact(sums[i]), over(to.digits(powers(i, j)), to.digits(sums[i]))};
            lines.push_back({indexed(weight, i, j), to.value(weights(i, j), {step})});
        }
    to.put(std::move(lines));
    to.put(matrix, weights);
    return weights;
}

attention_values write_attention(writer& to, const attention_slice& a) {
    attention_values values;
    to.say_step("Given");
    to.put("Q", a.q);
    to.put("K", a.k);
    to.put("V", a.v);
    if (a.dout) to.put("dZ", *a.dout);
    write_scores(to, a, values);
    values.weights = write_softmax(to, values.scores, a.visible, "s", alpha, math("A"));
    to.say_step("Outputs: the values, weighted");
    values.out = product(values.weights, a.v);
    formulas lines;
    for (std::size_t i = 0; i < a.q.rows; ++i) {
        math formula;
        for (std::size_t j = 0; j < a.k.rows; ++j) formula += (j == 0 ? math("") : math(" + ")) + indexed(alpha, i, j) + indexed(math("·v", " v"), j);
        const link result = to.vector(values.out.row(i));
        std::vector<link> links = {{false, formula}, to.combination(values.weights.row(i), a.v)};
        links.push_back(result);
        lines.push_back({indexed("z", i), links});
    }
    to.put(std::move(lines));
    to.put("Z", values.out);
    if (a.dout) write_attention_gradients(to, a, values);
    return values;
}

} // namespace attest::worked
