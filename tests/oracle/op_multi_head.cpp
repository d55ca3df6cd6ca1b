// SPDX-License-Identifier: BSL-1.0
// The op multi_head_attention: values and gradients against plain formulas, right and wrong programs judged.
#include "blocks.hpp"

using namespace asked;

namespace {

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();
namespace rules = attest::rules;

options two_heads() {
    options o;
    o.heads = o.kv_heads = 2;
    return o;
}

} // namespace

TEST_CASE("multi-head self-attention, with and without biases, in both layouts of weights", "[oracle]") {
    source s(51);
    for (const bool out_in : {false, true})
        for (const bool biases : {false, true})
            for (const char* causal : {"none", "top-left"}) {
                options o = two_heads();
                o.out_in = out_in;
                o.causal = causal;
                INFO((out_in ? "out_in" : "in_out") << (biases ? ", biases, " : ", no biases, ") << causal);
                hold(asked_heads(s, o, {2, 3, 0, 5, 2, 3}, biases), heads_model(o));
            }
    // Some of the biases.
    const options o = two_heads();
    question asked = asked_heads(s, o, {});
    asked.inputs.erase("b_k");
    asked.inputs.erase("b_o");
    hold(asked, heads_model(o));
}

TEST_CASE("cross-attention to a memory of its own length, dimension and batch", "[oracle]") {
    source s(52);
    for (const std::size_t b_memory : lengths{2, 1})
        for (const char* causal : {"none", "top-left", "bottom-right"}) {
            options o = two_heads();
            o.causal = causal;
            INFO("memory's batch " << b_memory << ", " << causal);
            hold(asked_heads(s, o, {2, 2, 4, 4, 3, 2, 0, 3, b_memory}), heads_model(o));
        }
}

TEST_CASE("fewer key-value heads", "[oracle]") {
    source s(53);
    options o;
    o.heads = 4;
    for (const std::size_t kv : lengths{1, 2, 4}) {
        o.kv_heads = kv;
        hold(asked_heads(s, o, {1, 2, 0, 4, 2, 2}), heads_model(o));
    }
    o.kv_heads = 2;
    // Heads tiled for heads repeated.
    const question asked = asked_heads(s, o, {1, 3, 0, 4, 1, 1}, false);
    question other = asked; // query heads 1 and 2 exchanged, in w_q and w_o: they then read the other's keys
    for (std::size_t i = 0; i < 4; ++i) {
        std::swap(other.inputs["w_q"].values[i * 4 + 1], other.inputs["w_q"].values[i * 4 + 2]);
        std::swap(other.inputs["w_o"].values[4 + i], other.inputs["w_o"].values[8 + i]);
    }
    fails(asked, other, heads_model(o), {"weights", "out"});
}

TEST_CASE("weights per head, and their mean", "[oracle]") {
    source s(54);
    for (const bool mean : {false, true}) {
        options o = two_heads();
        o.mean_weights = mean;
        o.causal = "top-left";
        question asked = asked_heads(s, o, {2, 3});
        asked.inputs["dropout_mask"] = s.booleans({2, 2, 3, 3});
        o.dropped = 0.5L;
        asked.settings = settings_of_blocks("multi_head_attention", o);
        hold(asked, heads_model(o));
    }
    options o = two_heads();
    o.mean_weights = true;
    question asked = asked_heads(s, o, {1, 3});
    members sum = only(candidates_of(run<double>(asked, heads_model(o))), {"weights"});
    for (double& x : sum["weights"].values) x *= 2;
    CHECK(is_bad(checked(asked, sum).verdict));
    said(refusal_of(asked, {{"weights", s.normal({1, 2, 3, 3})}}), {"weights [1, 2, 3, 3]", "expected [1, 3, 3]"});
}

TEST_CASE("all options of attention inside of heads", "[oracle]") {
    source s(55);
    const auto hold_with = [&](const options& o, const std::string& name = "", const member& m = {}, const block_sizes& n = {}) {
        question asked = asked_heads(s, o, n);
        if (!name.empty()) asked.inputs[name] = m;
        hold(asked, heads_model(o));
        return asked;
    };
    options o = two_heads();
    o.window = {1, 0};
    hold_with(o);
    o = two_heads();
    o.cap = 2;
    hold_with(o);
    o = two_heads();
    o.score = "dot";
    hold_with(o);
    o = two_heads();
    hold_with(o, "mask", s.booleans({2, 1, 3, 3}));
    hold_with(o, "mask", s.normal({3, 3}));
    hold_with(o, "sink", s.normal({2}));
    o.nan_if_empty = true;
    hold_with(o, "mask", integers({3, 3}, {1, 0, 1, 1, 1, 1, 0, 1, 1}, dtype::boolean));
    o = two_heads();
    o.drop = true;
    hold_with(o, "mask", s.booleans({2, 1, 1, 3}));
    o = two_heads();
    o.position = "alibi";
    o.causal = "top-left";
    hold_with(o);
    hold_with(o, "alibi_slopes", s.normal({2}));
    for (const bool half : {false, true}) {
        o = two_heads();
        o.position = "rope";
        o.half = half;
        o.offset = 5;
        hold_with(o, "", {}, {2, 3, 0, 4, 4, 2});
        hold_with(o, "", {}, {2, 3, 2, 4, 4, 2});
        hold_with(o, "positions", integers({3}, {4, 0, 2}), {2, 3, 0, 4, 4, 2});
        hold_with(o, "positions", integers({2, 3}, {4, 0, 2, 7, 8, 9}), {2, 3, 0, 4, 4, 2});
    }
}

TEST_CASE("padding of sequences in multi-head attention", "[oracle]") {
    source s(56);
    for (const bool mean : {false, true})
        for (const std::size_t memory : lengths{0, 4}) {
            options o = two_heads();
            o.mean_weights = mean;
            INFO((mean ? "mean weights, " : "weights per head, ") << "memory " << memory);
            question asked = asked_heads(s, o, {2, 3, memory});
            asked.inputs["q_lengths"] = integers({2}, {3, 1});
            asked.inputs["k_lengths"] = integers({2}, {2, 3});
            for (std::size_t c = 0; c < 8; ++c) asked.inputs["dout"].values[16 + c] = 0; // of padding
            hold(asked, heads_model(o));
            members made = candidates_of(run<double>(asked, heads_model(o)));
            // dx of padding is nobody's: where tokens are keys, too, of what is neither.
            made["dx"].values[(3 + 2) * 4] = memory == 0 ? made["dx"].values[(3 + 2) * 4] : quiet;
            hold_right(asked, made);
            made["dx"].values[0] += 1e-3;
            CHECK(checked(asked, made).first_bad_stage == "dx");
            if (memory == 0) continue;
            members garbage = candidates_of(run<double>(asked, heads_model(o)));
            garbage["dmemory"].values[3 * 4] = quiet; // batch element 0 has two keys
            hold_right(asked, garbage);
            garbage["dmemory"].values[4] += 1e-3;
            CHECK(checked(asked, garbage).first_bad_stage == "dmemory");
            question poisoned = asked;
            for (std::size_t c = 0; c < 4; ++c) poisoned.inputs["memory"].values[3 * 4 + c] = quiet;
            hold_right(poisoned, only(garbage, {"weights", "out"}));
        }
}

TEST_CASE("layouts of tokens", "[oracle]") {
    source s(57);
    const options o = two_heads();
    for (const char* layout : {"bnhd", "nbd"})
        for (const std::size_t memory : lengths{0, 4}) {
            question asked = asked_heads(s, o, {2, 3, memory});
            asked.layout = layout;
            INFO(layout << ", memory " << memory);
            hold(asked, heads_model(o));
        }
    // A sequence without batch, and a single token.
    question asked = asked_heads(s, o, {1, 3, 4});
    members out = only(candidates_of(run<double>(asked, heads_model(o))), {"weights", "out", "dx", "dmemory", "dw_q", "db_o"});
    for (const char* name : {"x", "dout", "memory"}) asked.inputs[name].shape.erase(asked.inputs[name].shape.begin());
    for (const char* name : {"out", "dx", "dmemory", "weights"}) out[name].shape.erase(out[name].shape.begin());
    hold_right(asked, out);
    question one = asked_heads(s, o, {1, 1, 4});
    members made = only(candidates_of(run<double>(one, heads_model(o))), {"out", "dx", "dw_k"});
    one.inputs["x"].shape = one.inputs["dout"].shape = made["out"].shape = made["dx"].shape = {4};
    one.inputs["memory"].shape = {4, 4};
    hold_right(one, made);
    question self = asked_heads(s, o, {1, 1});
    members of_self = only(candidates_of(run<double>(self, heads_model(o))), {"out", "weights", "dx"});
    self.inputs["x"].shape = self.inputs["dout"].shape = of_self["out"].shape = of_self["dx"].shape = {4};
    of_self["weights"].shape = {2, 1, 1};
    hold_right(self, of_self);
}

TEST_CASE("wrong multi-head attention fails", "[oracle]") {
    source s(58);
    const options o = two_heads();
    const question asked = asked_heads(s, o, {2, 3, 0, 4, 2, 2});
    for (const char* weight : {"w_q", "w_k", "w_v", "w_o"}) { // each transposed
        question other = asked;
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t j = 0; j < 4; ++j) other.inputs[weight].values[j * 4 + i] = asked.inputs.at(weight).values[i * 4 + j];
        INFO(weight << " transposed");
        const bool of_scores = std::string(weight) == "w_q" || std::string(weight) == "w_k";
        fails(asked, other, heads_model(o), of_scores ? strings{"weights", "out"} : strings{"out"});
        if (!of_scores) CHECK(attest::passes(checked(asked, only(candidates_of(run<double>(other, heads_model(o))), {"weights"})).verdict));
    }
    for (const char* bias : {"b_q", "b_v", "b_o"}) { // each forgotten
        question other = asked;
        other.inputs.erase(bias);
        INFO(bias << " forgotten");
        fails(asked, other, heads_model(o), {"out"});
    }
    // A key's bias moves all scores of a row alike.
    question other = asked;
    other.inputs.erase("b_k");
    CHECK(attest::passes(checked(asked, only(candidates_of(run<double>(other, heads_model(o))), {"weights", "out"})).verdict));
    // Two heads exchanged in w_o.
    other = asked;
    std::rotate(other.inputs["w_o"].values.begin(), other.inputs["w_o"].values.begin() + 8, other.inputs["w_o"].values.end());
    fails(asked, other, heads_model(o), {"out", "dx", "dw_q", "dw_k", "dw_v"});
    // The scale of d_model, not of a head.
    options late = o;
    late.scale = 0.5L;
    fails(asked, asked, heads_model(late), {"weights", "out", "dx"});
    // The gradient of x without the way through keys and values.
    members bad = candidates_of(run<double>(asked, heads_model(o)));
    question crossed = asked;
    crossed.inputs["memory"] = asked.inputs.at("x");
    bad["dx"] = candidates_of(run<double>(crossed, heads_model(o))).at("dx");
    CHECK(checked(asked, bad).first_bad_stage == "dx");
}

TEST_CASE("multi-head attention in f32 is undecided, or exact", "[oracle]") {
    source s(59, attest::formats::f32);
    const options o = two_heads();
    const question asked = asked_heads(s, o, {});
    const auto result = checked(asked, candidates_of(run<float>(asked, heads_model(o)), dtype::f32));
    CHECK(result.verdict == attest::verdict::undecided);
    for (const auto& output : result.outputs) CHECK((output.propagated && !output.limits_derived && output.arithmetic == "f32"));
}

TEST_CASE("multi-head attention refuses what does not fit", "[oracle]") {
    source s(60);
    options o = two_heads();
    const question asked = asked_heads(s, o, {2, 3, 5, 4, 3, 2, 0, 6});
    const auto with = [&](const std::string& name, const member& m, const attest::settings& more = {}, const char* wanted = "out") {
        question other = asked;
        other.inputs[name] = m;
        return refusal_of(other, {{wanted, s.normal({2, 3, 4})}}, more);
    };
    said(with("x", s.normal({2, 3, 5})), {rules::weight_row_for_each_input::sentence, "x [2, 3, 5]", "w_q [4, 6]"});
    said(with("w_q", s.normal({5, 6})), {rules::weight_row_for_each_input::sentence, "x [2, 3, 4]", "w_q [5, 6]"});
    said(with("memory", s.normal({2, 5, 4})), {rules::weight_row_for_each_input::sentence, "memory [2, 5, 4]", "w_k [6, 6]"});
    said(with("w_v", s.normal({4, 4})), {rules::weight_row_for_each_input::sentence, "memory [2, 5, 6]", "w_v [4, 4]"});
    said(with("w_k", s.normal({6, 8})), {rules::query_key_dimension::sentence, "w_k [6, 8]", "[any, 6]"});
    said(with("w_q", s.normal({4, 7})), {rules::heads_divide_model::sentence, "w_q [4, 7]", "7 and 2"});
    said(with("w_v", s.normal({6, 5})), {rules::heads_divide_model::sentence, "w_v [6, 5]", "5 and 2"});
    said(with("w_o", s.normal({5, 4})), {rules::output_row_for_each_head_component::sentence, "w_o [5, 4]", "[4, 4]"});
    said(with("w_o", s.normal({4, 5})), {rules::residual_keeps_shape::sentence, "w_o [4, 5]", "[4, 4]"});
    said(with("b_q", s.normal({4})), {rules::bias_for_each_output::sentence, "b_q [4]", "[6]"});
    said(with("b_o", s.normal({1, 4})), {"b_o [1, 4]", "one dimension"});
    said(with("w_q", s.normal({24})), {"w_q [24]", "two dimensions"});
    said(with("x", s.normal({2, 3, 4}), {{"weight-layout", "out_in"}}), {rules::weight_column_for_each_input::sentence, "x [2, 3, 4]", "w_q [4, 6]"});
    said(with("memory", s.normal({3, 5, 6})), {"x [2, 3, 4]", "memory [3, 5, 6]", "batch"});
    said(with("mask", s.booleans({3, 4})), {rules::mask_column_for_each_key::sentence, "mask [3, 4]"});
    said(with("mask", s.booleans({4, 5})), {rules::mask_row_for_each_query::sentence, "mask [4, 5]"});
    said(with("sink", s.normal({3})), {"sink [3]", "each head, 2"});
    said(with("k_lengths", integers({2}, {6, 1})), {"k_lengths", "from 0 to 5"});
    said(with("positions", integers({4}, {0, 1, 2, 3}), {{"position", "rope"}, {"rope-dim", "2"}}), {"positions [4]", "[5]"});
    said(with("nothing", s.normal({1}), {{"position", "rope"}}), {rules::even_dimension::sentence, "w_q [4, 6]", "3 and 2"});
    said(with("nothing", s.normal({1}), {{"position", "rope"}, {"rope-dim", "4"}}), {"w_q [4, 6]", "rope-dim", "4"});
    said(with("dropout_mask", s.booleans({3, 5})), {"dropout_mask", "dropout-p"});
    said(with("dout", s.normal({2, 3, 5}), {}, "dx"), {rules::gradient_has_shape_of_output::sentence, "dout [2, 3, 5]", "out [2, 3, 4]"});
    said(with("nothing", s.normal({1}), {{"heads", "3"}}), {"w_v [6, 4]", rules::heads_divide_model::sentence});
    said(with("nothing", s.normal({1}), {{"kv-heads", "1"}}), {"w_k [6, 6]", rules::query_key_dimension::sentence});
    said(with("nothing", s.normal({1}), {{"heads", "3"}, {"kv-heads", "2"}}), {"kv-heads=2", "heads=3"});
    // What is not there.
    const auto without = [&](const std::string& name, const char* wanted) {
        question other = asked;
        other.inputs.erase(name);
        return refusal_of(other, {{wanted, s.normal({2, 3, 4})}});
    };
    said(without("w_k", "out"), {"w_k", "missing"});
    said(without("x", "out"), {"multi_head_attention needs an input 'x'"});
    said(without("b_q", "db_q"), {"'db_q'", "'b_q' is not"});
    said(without("memory", "dmemory"), {});
    said(without("dout", "dw_o"), {"needs an input 'dout'"});
    question self = asked_heads(s, o, {});
    said(refusal_of(self, {{"dmemory", s.normal({2, 3, 4})}}), {"dmemory", "no memory"});
    o.heads = 0;
    question headless = self;
    headless.settings = {{"op", "multi_head_attention"}};
    said(refusal_of(headless, {{"out", s.normal({2, 3, 4})}}), {"needs heads"});
}

TEST_CASE("multi-head attention of nothing, and of one", "[oracle]") {
    source s(61);
    options o;
    hold(asked_heads(s, o, {1, 1, 0, 1, 1, 1}), heads_model(o));
    hold(asked_heads(s, o, {1, 2, 1, 1, 1, 1, 0, 1}), heads_model(o));
    // No tokens, but parameters: their gradients are 0.
    question none = asked_heads(s, o, {2, 0, 0, 2, 2, 2});
    CHECK(checked(none, {{"dw_q", {{2, 2}, {0, 0, 0, 0}}}, {"db_o", {{2}, {0, 0}}}}).verdict == attest::verdict::exact);
    said(refusal_of(none, {{"out", s.normal({2, 0, 2})}}), {"nothing to compare"});
    none = asked_heads(s, o, {0, 2, 0, 2, 2, 2});
    CHECK(checked(none, {{"dw_q", {{2, 2}, {0, 0, 0, 0}}}}).verdict == attest::verdict::exact);
    CHECK(is_bad(checked(none, {{"dw_q", {{2, 2}, {0, 0, 0, 1}}}}).verdict));
    said(refusal_of(none, {{"weights", s.normal({0, 1, 2, 2})}}), {"nothing to compare"});
    none.inputs["k_lengths"] = integers({0}, {});
    said(refusal_of(none, {{"weights", s.normal({0, 1, 2, 2})}}), {"nothing to compare"});
    // A memory of no tokens: heads are 0, and the output is b_o.
    question empty = asked_heads(s, o, {1, 2, 3, 2, 2, 2, 0, 2});
    empty.inputs["memory"] = {{1, 0, 2}, {}};
    const std::vector<double>& b = empty.inputs["b_o"].values;
    CHECK(checked(empty, {{"out", {{1, 2, 2}, {b[0], b[1], b[0], b[1]}}}}).verdict == attest::verdict::exact);
    // Heads without components.
    question thin = asked_heads(s, o, {1, 2, 0, 2, 0, 2});
    said(refusal_of(thin, {{"out", s.normal({1, 2, 2})}}), {"w_q [2, 0]", "d_k = 0"});
    CHECK(refusal_of(thin, {{"out", s.normal({1, 2, 2})}}, {{"score", "dot"}}).empty());
    thin = asked_heads(s, o, {1, 2, 0, 2, 2, 0});
    const std::vector<double>& b_o = thin.inputs["b_o"].values;
    CHECK(checked(thin, {{"out", {{1, 2, 2}, {b_o[0], b_o[1], b_o[0], b_o[1]}}}}).verdict == attest::verdict::exact);
    question scalar = asked_heads(s, o, {1, 1, 0, 2, 2, 2});
    scalar.inputs["x"].shape = {};
    scalar.inputs["x"].values.resize(1);
    said(refusal_of(scalar, {{"out", {{1, 1, 2}, {0, 0}}}}), {"x []"});
}
