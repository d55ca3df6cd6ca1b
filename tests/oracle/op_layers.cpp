// SPDX-License-Identifier: BSL-1.0
// Encoder and decoder layers and their stacks: values and gradients against plain formulas, right and wrong programs judged, stage by stage.
#include "blocks.hpp"

using namespace asked;

namespace {

namespace rules = attest::rules;

options two_heads(bool pre) {
    options o;
    o.heads = o.kv_heads = 2;
    o.pre = pre;
    return o;
}

strings order_of(const question& asked, const members& made) {
    strings order;
    (void)values_of(asked, names_of(made), &order);
    return order;
}

// As `hold`, but each stage goes on from those before it that are given: so only one at a time is spoiled, and of them one of `every`, in turn.
template <class Model> void hold_stages(const question& asked, const Model& model, std::size_t every = 3) {
    static std::size_t turn = 0;
    const auto right = run<long double>(asked, model);
    const members made = candidates_of(run<double>(asked, model));
    hold_values(asked, right, made);
    hold_right(asked, made);
    hold_undecided(asked, made);
    for (const auto& [name, m] : made) {
        if (++turn % every != 0) continue;
        members bad = made;
        std::size_t at = 0;
        const auto& values = right.tensors.at(name).values;
        for (std::size_t e = 0; e < m.values.size(); ++e)
            if (values[e] != plain::padding<long double> && (values[at] == plain::padding<long double> || std::fabs(values[e]) > std::fabs(values[at]))) at = e;
        bad[name].values[at] = vanishes(right, name) ? 1e-6 : bad[name].values[at] * (1 + 1e-6);
        const auto result = checked(asked, bad);
        const auto& output = result_of(result, name);
        INFO(name << " with element " << at << " off by 1e-6: " << bad[name].values[at] << " for " << m.values[at] << ", " << attest::name_of(output.verdict) << ", share " << output.limit_share << ", blind "
                  << output.blind << " of " << output.elements);
        CHECK(is_bad(result.verdict));
        CHECK(result.first_bad_stage == name);
    }
}

} // namespace

TEST_CASE("encoder layers, post and pre", "[oracle]") {
    source s(71);
    for (const bool pre : {false, true})
        for (const bool biases : {false, true}) {
            options o = two_heads(pre);
            INFO((pre ? "pre" : "post") << (biases ? ", with" : ", without") << " biases and norms' weights");
            hold_stages(asked_layers(s, o, {1, 3, 0, 4, 2, 3}, 0, biases), layers_model(o));
            o.out_in = true;
            o.activation = "gelu-tanh";
            o.eps = 1e-6L;
            o.mean_weights = true;
            o.causal = "top-left";
            hold_stages(asked_layers(s, o, {2, 2}, 0, biases), layers_model(o));
        }
    options o = two_heads(false);
    o.eps_in_std = o.unbiased = true;
    o.activation = "gelu-erf";
    o.kv_heads = 1;
    hold_stages(asked_layers(s, o, {}), layers_model(o));
    o.position = "rope";
    o.activation = "gelu-sigmoid";
    hold_stages(asked_layers(s, o, {}), layers_model(o));
    o.position = "alibi";
    o.window = {1, 1};
    question asked = asked_layers(s, o, {});
    asked.layout = "nbd";
    asked.inputs["self_attn.mask"] = s.booleans({2, 1, 1, 3});
    hold_stages(asked, layers_model(o));
}

TEST_CASE("decoder layers, post and pre", "[oracle]") {
    source s(72);
    for (const bool pre : {false, true}) {
        options o = two_heads(pre);
        o.causal = "top-left"; // of self-attention alone
        INFO((pre ? "pre" : "post"));
        hold_stages(asked_layers(s, o, {2, 2, 3, 4, 2, 2, 5, 4}), layers_model(o));
        o.position = "alibi";
        o.window = {1, 0};
        hold_stages(asked_layers(s, o, {2, 2, 3, 4, 2, 2, 5, 3, 1}, 0, false), layers_model(o)); // the memory has its own dimension, and one batch for all
        o = two_heads(pre);
        o.position = "rope";
        question asked = asked_layers(s, o, {1, 3, 2});
        asked.inputs["cross_attn.mask"] = s.normal({3, 2});
        asked.inputs["self_attn.mask"] = s.booleans({1, 2, 3, 3});
        hold_stages(asked, layers_model(o));
    }
}

TEST_CASE("stacks of two, with a final norm and without", "[oracle]") {
    source s(73);
    for (const bool pre : {false, true})
        for (const bool decodes : {false, true})
            for (const bool biases : {false, true}) {
                options o = two_heads(pre);
                o.causal = "top-left";
                INFO((decodes ? "decoder, " : "encoder, ") << (pre ? "pre" : "post") << (biases ? ", final norm" : ", none"));
                hold_stages(asked_layers(s, o, {1, 2, decodes ? std::size_t{3} : 0, 4, 2, 2, 3}, 2, biases), layers_model(o, 2), 11);
            }
    // Masks of all layers, and of one.
    options o = two_heads(false);
    question asked = asked_layers(s, o, {1, 3}, 2), written = asked;
    asked.inputs["self_attn.mask"] = s.booleans({3, 3});
    asked.inputs["layers.1.self_attn.mask"] = s.booleans({3, 3});
    written.inputs["layers.0.self_attn.mask"] = asked.inputs["self_attn.mask"];
    written.inputs["layers.1.self_attn.mask"] = asked.inputs["layers.1.self_attn.mask"];
    hold_right(asked, candidates_of(run<double>(written, layers_model(o, 2))));
    written.inputs["layers.1.self_attn.mask"] = asked.inputs["self_attn.mask"];
    fails(asked, written, layers_model(o, 2), {"out"});
}

TEST_CASE("stages come in the order of computation", "[oracle]") {
    source s(74);
    for (const bool pre : {false, true}) {
        const options o = two_heads(pre);
        const question encodes = asked_layers(s, o, {}), decodes = asked_layers(s, o, {2, 3, 2});
        question forwards = encodes;
        forwards.inputs.erase("dout");
        CHECK(order_of(forwards, candidates_of(run<double>(forwards, layers_model(o)))) ==
              (pre ? strings{"norm1.out", "self_attn.weights", "self_attn.out", "norm2.out", "ffn.out", "out"} : strings{"self_attn.weights", "self_attn.out", "norm1.out", "ffn.out", "norm2.out", "out"}));
        forwards = decodes;
        forwards.inputs.erase("dout");
        CHECK(order_of(forwards, candidates_of(run<double>(forwards, layers_model(o)))) ==
              (pre ? strings{"norm1.out", "self_attn.weights", "self_attn.out", "norm2.out", "cross_attn.weights", "cross_attn.out", "norm3.out", "ffn.out", "out"}
                   : strings{"self_attn.weights", "self_attn.out", "norm1.out", "cross_attn.weights", "cross_attn.out", "norm2.out", "ffn.out", "norm3.out", "out"}));
        // The reports have the same order.
        const auto result = checked(forwards, candidates_of(run<double>(forwards, layers_model(o))));
        strings reported;
        for (const auto& output : result.outputs) reported.push_back(output.name);
        CHECK(reported == order_of(forwards, candidates_of(run<double>(forwards, layers_model(o)))));
    }
}

TEST_CASE("the first bad stage of a wrong layer", "[oracle]") {
    source s(75);
    for (const bool pre : {false, true})
        for (const bool decodes : {false, true}) {
            options o = two_heads(pre);
            o.causal = "top-left";
            INFO((decodes ? "decoder, " : "encoder, ") << (pre ? "pre" : "post"));
            const question asked = asked_layers(s, o, {2, 3, decodes ? std::size_t{3} : 0, 4, 2, 2, 4});
            strings stages;
            for (const auto& [name, t] : run<double>(asked, layers_model(o)).tensors)
                if (name == "out" || name.ends_with(".out") || name.ends_with(".weights")) stages.push_back(name);
            const auto first_bad = [&](const question& other, const options& how) {
                const auto result = checked(asked, only(candidates_of(run<double>(other, layers_model(how))), stages));
                // By the output alone it is found as well.
                CHECK(is_bad(checked(asked, only(candidates_of(run<double>(other, layers_model(how))), {"out"})).verdict));
                return result.first_bad_stage;
            };
            const auto transposed = [&](const std::string& name) {
                question other = asked;
                for (std::size_t i = 0; i < 4; ++i)
                    for (std::size_t j = 0; j < 4; ++j) other.inputs[name].values[j * 4 + i] = asked.inputs.at(name).values[i * 4 + j];
                return other;
            };
            const auto without = [&](const std::string& name) {
                question other = asked;
                other.inputs.erase(name);
                return other;
            };
            CHECK(first_bad(transposed("self_attn.w_q"), o) == "self_attn.weights");
            CHECK(first_bad(transposed("self_attn.w_o"), o) == "self_attn.out");
            CHECK(first_bad(transposed("ffn.w_1"), o) == "ffn.out");
            CHECK(first_bad(without("ffn.b_2"), o) == "ffn.out");
            CHECK(first_bad(without("norm1.gamma"), o) == "norm1.out");
            CHECK(first_bad(without("norm2.beta"), o) == "norm2.out");
            if (decodes) {
                CHECK(first_bad(transposed("cross_attn.w_k"), o) == "cross_attn.weights");
                CHECK(first_bad(transposed("cross_attn.w_v"), o) == "cross_attn.out");
                CHECK(first_bad(without("norm3.gamma"), o) == "norm3.out");
            }
            options other = o;
            other.causal = "none";
            CHECK(first_bad(asked, other) == "self_attn.weights");
            other = o;
            other.pre = !pre; // a norm moved
            CHECK(first_bad(asked, other) == (pre ? "norm1.out" : "self_attn.weights"));
            other = o;
            other.eps = 1e-6L;
            CHECK(first_bad(asked, other) == "norm1.out");
            other = o;
            other.activation = "gelu-erf";
            CHECK(first_bad(asked, other) == "ffn.out");
            // The residual forgotten: the output of the last sublayer for the output.
            members bad = only(candidates_of(run<double>(asked, layers_model(o))), stages);
            if (pre) {
                bad["out"] = bad["ffn.out"];
                CHECK(checked(asked, bad).first_bad_stage == "out");
            }
        }
    // In a stack the layer is named.
    const options o = two_heads(false);
    const question asked = asked_layers(s, o, {1, 3, 0, 4, 2, 2, 4}, 3);
    question other = asked;
    other.inputs.erase("layers.1.ffn.b_1");
    strings stages;
    for (const auto& [name, t] : run<double>(asked, layers_model(o, 3)).tensors)
        if (name == "out" || name.ends_with(".out")) stages.push_back(name);
    const auto result = checked(asked, only(candidates_of(run<double>(other, layers_model(o, 3))), stages));
    CHECK(result.first_bad_stage == "layers.1.ffn.out");
    CHECK(attest::passes(result_of(result, "layers.1.norm1.out").verdict));
    // Each stage goes on from those that the case gives: what comes after the mistake is right.
    CHECK(attest::passes(result_of(result, "layers.1.norm2.out").verdict));
    CHECK(attest::passes(result_of(result, "layers.2.self_attn.out").verdict));
    question unnormed = asked;
    unnormed.inputs.erase("norm.gamma");
    unnormed.inputs.erase("norm.beta");
    CHECK(checked(asked, only(candidates_of(run<double>(unnormed, layers_model(o, 3))), stages)).first_bad_stage == "out");
}

TEST_CASE("wrong gradients of layers fail", "[oracle]") {
    source s(76);
    for (const bool pre : {false, true}) {
        const options o = two_heads(pre);
        const question asked = asked_layers(s, o, {2, 3, 2, 4, 2, 2, 4});
        const members right = candidates_of(run<double>(asked, layers_model(o)));
        const auto spoiled = [&](const std::string& name, double factor) {
            members bad = right;
            for (double& x : bad[name].values) x *= factor;
            return checked(asked, bad).first_bad_stage;
        };
        for (const char* name : {"dx", "dmemory", "self_attn.dw_q", "self_attn.db_v", "cross_attn.dw_k", "norm1.dgamma", "norm3.dbeta", "ffn.dw_1", "ffn.db_2"}) {
            CHECK(spoiled(name, 0.5) == name); // of a mean over the batch
            CHECK(spoiled(name, -1) == name);
        }
        // dx without the residual's way: what flows through the sublayers alone.
        members bad = right;
        for (std::size_t e = 0; e < bad["dx"].values.size(); ++e) bad["dx"].values[e] -= asked.inputs.at("dout").values[e];
        CHECK(checked(asked, bad).first_bad_stage == "dx");
    }
}

TEST_CASE("padding in layers and stacks", "[oracle]") {
    source s(77);
    for (const bool pre : {false, true})
        for (const std::size_t stack : lengths{0, 2}) {
            const options o = two_heads(pre);
            question asked = asked_layers(s, o, {2, 3, 2}, stack), written = asked;
            INFO((pre ? "pre, " : "post, ") << stack << " layers");
            for (std::size_t l = 0; l < std::max<std::size_t>(stack, 1); ++l) {
                const std::string prefix = stack == 0 ? "" : "layers." + std::to_string(l) + ".";
                for (const char* part : {"self_attn.", "cross_attn."}) written.inputs[prefix + part + "q_lengths"] = integers({2}, {2, 3});
                written.inputs[prefix + "self_attn.k_lengths"] = integers({2}, {2, 3});
                written.inputs[prefix + "cross_attn.k_lengths"] = integers({2}, {2, 1});
            }
            asked = written;
            if (stack != 0) { // of all layers
                for (const char* part : {"self_attn.", "cross_attn."})
                    for (const char* name : {"q_lengths", "k_lengths"}) {
                        for (const char* layer : {"layers.0.", "layers.1."}) asked.inputs.erase(std::string(layer) + part + name);
                        asked.inputs[std::string(part) + name] = written.inputs["layers.0." + std::string(part) + name];
                    }
            }
            for (std::size_t c = 0; c < 4; ++c) asked.inputs["dout"].values[2 * 4 + c] = written.inputs["dout"].values[2 * 4 + c] = 0;
            members made = candidates_of(run<double>(written, layers_model(o, stack)));
            hold_values(written, run<long double>(written, layers_model(o, stack)), made);
            hold_right(asked, made);
            made["dx"].values[2 * 4 + 1] = 1e6;
            made["dmemory"].values[(2 + 1) * 4] = 1e6;
            made["out"].values[2 * 4 + 3] = std::numeric_limits<double>::quiet_NaN();
            hold_right(asked, made);
            made["dmemory"].values[2 * 4] += 1e-3;
            CHECK(checked(asked, made).first_bad_stage == "dmemory");
            made["out"].values[4] += 1e-3;
            CHECK(checked(asked, made).first_bad_stage == "out");
        }
}

TEST_CASE("layers in f32 are undecided, or exact", "[oracle]") {
    source s(78, attest::formats::f32);
    const options o = two_heads(true);
    const question asked = asked_layers(s, o, {});
    members made = candidates_of(run<float>(asked, layers_model(o)), dtype::f32);
    CHECK(checked(asked, made).verdict == attest::verdict::undecided);
    made["norm1.out"].values[0] += 1;
    const auto result = checked(asked, made);
    CHECK(result.verdict == attest::verdict::undecided);
    CHECK(result.first_bad_stage.empty());
    CHECK_FALSE(result_of(result, "norm1.out").limits_derived);
}

TEST_CASE("layers refuse what does not fit", "[oracle]") {
    source s(79);
    const options o = two_heads(false);
    const question layer = asked_layers(s, o, {2, 3, 5, 4, 2, 2, 6, 3}), stack = asked_layers(s, o, {2, 3}, 2);
    const auto with = [&](const question& from, const std::string& name, const member& m, const char* wanted = "out", const attest::settings& more = {}) {
        question other = from;
        other.inputs[name] = m;
        return refusal_of(other, {{wanted, s.normal({2, 3, 4})}}, more);
    };
    said(with(layer, "self_attn.w_q", s.normal({5, 4})), {rules::weight_row_for_each_input::sentence, "x [2, 3, 4]", "self_attn.w_q [5, 4]"});
    said(with(layer, "cross_attn.w_k", s.normal({4, 4})), {rules::weight_row_for_each_input::sentence, "memory [2, 5, 3]", "cross_attn.w_k [4, 4]"});
    said(with(layer, "cross_attn.w_v", s.normal({4, 4})), {rules::weight_row_for_each_input::sentence, "memory [2, 5, 3]", "cross_attn.w_v [4, 4]"});
    said(with(layer, "ffn.w_1", s.normal({5, 6})), {rules::weight_row_for_each_input::sentence, "x [2, 3, 4]", "ffn.w_1 [5, 6]"});
    said(with(layer, "ffn.w_2", s.normal({6, 5})), {rules::residual_keeps_shape::sentence, "ffn.w_2 [6, 5]"});
    said(with(layer, "self_attn.w_o", s.normal({4, 5})), {rules::residual_keeps_shape::sentence, "self_attn.w_o [4, 5]"});
    said(with(layer, "norm3.gamma", s.normal({5})), {rules::norm_weight_for_each_component::sentence, "norm3.gamma [5]", "4"});
    said(with(layer, "norm1.beta", s.normal({3})), {rules::norm_weight_for_each_component::sentence, "norm1.beta [3]", "4"});
    said(with(layer, "ffn.b_1", s.normal({4})), {rules::bias_for_each_output::sentence, "ffn.b_1 [4]"});
    said(with(layer, "cross_attn.mask", s.booleans({3, 3})), {rules::mask_column_for_each_key::sentence, "cross_attn.mask [3, 3]", "[3, 5]"});
    said(with(layer, "self_attn.mask", s.booleans({3, 5})), {rules::mask_column_for_each_key::sentence, "self_attn.mask [3, 5]", "[3, 3]"});
    said(with(layer, "memory", s.normal({3, 5, 3})), {"x [2, 3, 4]", "memory [3, 5, 3]", "batch"});
    said(with(layer, "self_attn.sink", s.normal({2})), {"sink", "multi_head_attention"});
    said(with(layer, "cross_attn.positions", integers({5}, {0, 1, 2, 3, 4}), "out", {{"position", "rope"}}), {"cross_attn.positions"});
    said(with(layer, "x", s.normal({4})), {"x [4]", "dimensions"});
    said(with(layer, "dout", s.normal({3, 4}), "dx"), {rules::gradient_has_shape_of_output::sentence, "dout [3, 4]", "out [2, 3, 4]"});
    said(with(layer, "nothing", s.normal({1}), "norm1.out", {{"heads", "3"}}), {rules::heads_divide_model::sentence, "self_attn.w_q [4, 4]"});
    const auto without = [&](const question& from, const std::string& name, const char* wanted = "out") {
        question other = from;
        other.inputs.erase(name);
        return refusal_of(other, {{wanted, s.normal({2, 3, 4})}});
    };
    said(without(layer, "memory"), {"decoder_layer needs an input 'memory'"});
    said(without(layer, "cross_attn.w_v"), {"cross_attn.w_v", "missing"});
    said(without(layer, "ffn.w_1"), {"ffn.w_1", "missing"});
    said(without(layer, "norm2.gamma", "norm2.dgamma"), {"'norm2.dgamma'", "'norm2.gamma' is not"});
    said(without(layer, "self_attn.b_q", "self_attn.db_q"), {"'self_attn.db_q'", "'self_attn.b_q' is not"});
    said(without(stack, "layers.1.ffn.w_2"), {"layers.1.ffn.w_2", "missing"});
    said(without(stack, "norm.beta", "norm.dbeta"), {"'norm.dbeta'", "'norm.beta' is not"});
    // Layers with a gap in their numbers.
    question gap = stack;
    for (const auto& [name, m] : stack.inputs)
        if (name.starts_with("layers.1.")) {
            gap.inputs.erase(name);
            gap.inputs["layers.2." + name.substr(9)] = m;
        }
    said(refusal_of(gap, {{"out", s.normal({2, 3, 4})}}), {"layers.2.", "layers.1 is missing"});
    question none{{{"op", "encoder"}, {"heads", "2"}}, {{"x", s.normal({2, 3, 4})}}};
    said(refusal_of(none, {{"out", s.normal({2, 3, 4})}}), {"layers.0.self_attn.w_q"});
    said(refusal_of(stack, {{"layers.2.out", s.normal({2, 3, 4})}}), {"layers.2.out"});
    none.settings = {{"op", "encoder"}};
    said(refusal_of(none, {{"out", s.normal({2, 3, 4})}}), {"needs heads"});
    // No residual between x and another dimension.
    said(with(layer, "x", s.normal({2, 3, 6})), {rules::weight_row_for_each_input::sentence, "x [2, 3, 6]", "self_attn.w_q [4, 4]"});
}

TEST_CASE("layers of nothing, and of one", "[oracle]") {
    source s(80);
    for (const bool pre : {false, true}) {
        options o;
        o.pre = pre;
        hold_stages(asked_layers(s, o, {1, 1, 0, 4, 1, 1, 1}), layers_model(o));
        hold_stages(asked_layers(s, o, {1, 1, 1, 4, 1, 1, 1, 1}, 1), layers_model(o, 1));
        // Tokens without a batch.
        question asked = asked_layers(s, o, {1, 2, 3});
        members made = candidates_of(run<double>(asked, layers_model(o)));
        for (auto* from : {&asked.inputs, &made})
            for (auto& [name, m] : *from)
                if (m.shape.size() >= 3) m.shape.erase(m.shape.begin());
        hold_right(asked, made);
        // One component: norms leave beta alone.
        options thin = o;
        question one = asked_layers(s, thin, {1, 2, 0, 1, 1, 1, 1});
        CHECK_NOTHROW(checked(one, only(candidates_of(run<double>(one, layers_model(thin))), {"out"})));
        CHECK_FALSE(is_bad(checked(one, only(candidates_of(run<double>(one, layers_model(thin))), {"out", "norm1.out"})).verdict));
        question empty = asked_layers(s, o, {0, 2});
        said(refusal_of(empty, {{"out", s.normal({0, 2, 4})}}), {"nothing to compare"});
        CHECK(checked(empty, {{"ffn.dw_1", {{4, 5}, std::vector<double>(20, 0.0)}}}).verdict == attest::verdict::exact);
        empty = asked_layers(s, o, {2, 0}, 2);
        said(refusal_of(empty, {{"out", s.normal({2, 0, 4})}}), {"nothing to compare"});
        CHECK(checked(empty, {{"norm.dbeta", {{4}, {0, 0, 0, 0}}}}).verdict == attest::verdict::exact);
    }
}
