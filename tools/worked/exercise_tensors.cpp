// SPDX-License-Identifier: BSL-1.0
// Questions about tensors of small whole numbers. What is asked and what the key works out is one problem.
#include "exercise.hpp"

namespace attest::worked {

namespace {

problem problem_of(const settings& given, const std::vector<std::pair<std::string, table>>& tensors) {
    problem p;
    p.how = read_conventions(given);
    for (const auto& [name, t] : tensors) {
        const tensor_info* known = find_tensor(find_op(p.how.op).inputs, name);
        const bool one_dimension = known != nullptr && known->shape.find(',') == std::string_view::npos;
        p.tensors.emplace(name, tensor{one_dimension ? std::vector<std::size_t>{t.columns} : std::vector<std::size_t>{t.rows, t.columns}, t.entries, false, {}});
    }
    return p;
}

// The worked solution without its title and the line about the marks, which the sheet has; its headings one level down.
document key_of(const problem& p) {
    document all = worked_solution(p, exercise_decimals);
    all.blocks.erase(all.blocks.begin(), all.blocks.begin() + 2);
    for (block& b : all.blocks)
        if (heading* h = std::get_if<heading>(&b); h != nullptr && h->level == 2) h->level = 3;
    return all;
}

question asked(sentence words, const std::vector<std::pair<math, table>>& shown, const problem& p) {
    writer to(exercise_decimals);
    to.say(std::move(words));
    for (const auto& [name, t] : shown) to.put(name, t);
    return {std::move(to.steps), key_of(p)};
}

bool all_equal(const table& t) {
    return std::all_of(t.entries.begin(), t.entries.end(), [&t](const number& x) { return x.exact() == t.entries.front().exact(); });
}
// Not all entries equal, which would leave nothing to compute. In a thousand tries there is one.
table varied(random_integers& random, std::size_t rows, std::size_t columns, int least, int greatest) {
    table t = random.matrix(rows, columns, least, greatest);
    for (int tries = 0; all_equal(t) && tries < 1000; ++tries) t = random.matrix(rows, columns, least, greatest);
    return t;
}
std::size_t size_between(random_integers& random, int least, int greatest) { return static_cast<std::size_t>(random.between(least, greatest)); }

struct attention_tensors {
    table q, k, v;
};
attention_tensors draw_attention(random_integers& random, std::size_t n_q, std::size_t n_k) {
    attention_tensors t;
    // Scores that are all equal would make a question of averages.
    for (int tries = 0; tries < 1000; ++tries) {
        t.q = varied(random, n_q, 2, -1, 2);
        t.k = varied(random, n_k, 2, -1, 2);
        if (!all_equal(product(t.q, transposed(t.k)))) break;
    }
    t.v = varied(random, n_k, 2, 0, 4);
    return t;
}
std::vector<std::pair<math, table>> shown(const attention_tensors& t) { return {{"Q", t.q}, {"K", t.k}, {"V", t.v}}; }

const math scores_symbol("S"), weights_symbol("A"), outputs_symbol("Z");

} // namespace

question ask_softmax(random_integers& random) {
    const table x = varied(random, 1, size_between(random, 2, 4), -2, 3);
    return asked({"Give the softmax of the row ", math("X"), "."}, {{"X", x}}, problem_of({{"op", "softmax"}}, {{"x", x}}));
}

question ask_attention(random_integers& random) {
    const std::size_t n = size_between(random, 2, 3);
    const attention_tensors t = draw_attention(random, n, n);
    return asked({"Self-attention, scores scaled by ", math("1/√2", "1/\\sqrt{2}"), ". Give the scores ", scores_symbol, ", the weights ", weights_symbol, " and the outputs ", outputs_symbol, "."}, shown(t),
                 problem_of({{"op", "attention"}}, {{"q", t.q}, {"k", t.k}, {"v", t.v}}));
}

question ask_causal(random_integers& random) {
    const attention_tensors t = draw_attention(random, 3, 3);
    return asked({"Causal self-attention: token i sees the tokens up to and including i. The scores are scaled by ", math("1/√2", "1/\\sqrt{2}"), ". Give the weights ", weights_symbol, " and the outputs ", outputs_symbol, "."},
                 shown(t), problem_of({{"op", "attention"}, {"causal", "top-left"}}, {{"q", t.q}, {"k", t.k}, {"v", t.v}}));
}

question ask_cross_attention(random_integers& random) {
    const std::size_t n_q = size_between(random, 1, 2);
    const attention_tensors t = draw_attention(random, n_q, n_q + 1);
    return asked({"Cross-attention: the queries come from one sequence, keys and values from another. The scores are scaled by ", math("1/√2", "1/\\sqrt{2}"), ". Give the shapes of ", scores_symbol, ", ", weights_symbol, " and ",
                  outputs_symbol, ", and their entries."},
                 shown(t), problem_of({{"op", "attention"}}, {{"q", t.q}, {"k", t.k}, {"v", t.v}}));
}

question ask_gradients(random_integers& random) {
    const attention_tensors t = draw_attention(random, 2, 2);
    const table dz = varied(random, 2, 2, -1, 2);
    std::vector<std::pair<math, table>> all = shown(t);
    all.emplace_back("dZ", dz);
    return asked({"A loss depends on the outputs of this attention (scores scaled by ", math("1/√2", "1/\\sqrt{2}"), ") with the gradient ", math("dZ"), ". Give ", math("dV"), ", ", math("dA"), ", ", math("dS"), ", ", math("dQ"), " and ",
                  math("dK"), "."},
                 all, problem_of({{"op", "attention"}}, {{"q", t.q}, {"k", t.k}, {"v", t.v}, {"dout", dz}}));
}

question ask_multi_head(random_integers& random) {
    const table x = varied(random, 2, 2, 0, 2), w_q = varied(random, 2, 2, -1, 1), w_k = varied(random, 2, 2, -1, 1), w_v = varied(random, 2, 2, 0, 2), w_o = varied(random, 2, 2, -1, 1);
    const auto w = [](const char* of) { return math(std::string("W_") + of, std::string("W_{") + of + "}"); };
    return asked({"Two heads of one component each: head h reads column h of ", w("Q"), ", ", w("K"), " and ", w("V"), ". Give the output of each head, and ", math("Y"), ", their concatenation times ", w("O"), "."},
                 {{"X", x}, {w("Q"), w_q}, {w("K"), w_k}, {w("V"), w_v}, {w("O"), w_o}},
                 problem_of({{"op", "multi_head_attention"}, {"heads", "2"}}, {{"x", x}, {"w_q", w_q}, {"w_k", w_k}, {"w_v", w_v}, {"w_o", w_o}}));
}

question ask_positions(random_integers& random) {
    if (random.between(0, 1) == 0) {
        const std::string n = std::to_string(random.between(2, 4)), d = std::to_string(2 * random.between(1, 2));
        return asked({"Give the table of sinusoidal positions for " + n + " positions, counted from 0, and " + d + " components."}, {}, problem_of({{"op", "sinusoidal"}, {"length", n}, {"d-model", d}}, {}));
    }
    const table x = varied(random, 2, 2, -2, 3);
    const std::string offset = std::to_string(random.between(0, 3));
    return asked({"Rotary positions: the rows of ", math("X"), " stand at the positions from " + offset + " on. Give the rotated rows; the two components are one pair, which one position turns by 1 radian."}, {{"X", x}},
                 problem_of({{"op", "rope"}, {"position-offset", offset}}, {{"x", x}}));
}

question ask_layer_norm(random_integers& random) {
    table x = varied(random, 1, size_between(random, 3, 4), -1, 5);
    const table gamma = random.matrix(1, x.columns, 1, 2), beta = random.matrix(1, x.columns, -1, 1);
    return asked({"LayerNorm of the row ", math("X"), ", with variances divided by " + std::to_string(x.columns) + " and ", math("ε = 0", "\\varepsilon = 0"), ". Give the mean, the variance and the result."},
                 {{"X", x}, {math("γ", "\\gamma"), gamma}, {math("β", "\\beta"), beta}}, problem_of({{"op", "layer_norm"}, {"eps", "0"}}, {{"x", x}, {"gamma", gamma}, {"beta", beta}}));
}

question ask_feed_forward(random_integers& random) {
    const table x = varied(random, 1, 2, -2, 3), w_1 = varied(random, 2, 3, -2, 2), b_1 = random.matrix(1, 3, -1, 1), w_2 = varied(random, 3, 2, -1, 2), b_2 = random.matrix(1, 2, -1, 1);
    return asked({"Feed-forward with ReLU: ", math("Y = max(X·W_1 + b_1, 0)·W_2 + b_2", "Y = \\max(XW_1 + b_1, 0)\\,W_2 + b_2"), ". Give the hidden row before and after ReLU, and ", math("Y"), "."},
                 {{"X", x}, {indexed("W", 0), w_1}, {indexed("b", 0), b_1}, {indexed("W", 1), w_2}, {indexed("b", 1), b_2}},
                 problem_of({{"op", "feed_forward"}}, {{"x", x}, {"w_1", w_1}, {"b_1", b_1}, {"w_2", w_2}, {"b_2", b_2}}));
}

} // namespace attest::worked
