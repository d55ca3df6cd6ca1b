// SPDX-License-Identifier: BSL-1.0
#include "attest/question/op.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

#include <set>

using namespace asked;
using attest::find_op;
using attest::op_info;
using attest::tensor_info;

namespace {

std::string inputs_of(const char* op) {
    std::string text;
    for (const tensor_info& t : find_op(op).inputs) text += std::string(t.name) + (t.optional ? "? " : " ");
    return text;
}
std::string outputs_of(const char* op) {
    std::string text;
    for (const tensor_info& t : find_op(op).outputs) text += std::string(t.name) + " ";
    return text;
}
// Every name of a list with a prefix.
std::string prefixed(const std::string& prefix, const std::string& list) {
    std::string text;
    for (std::size_t at = 0; at < list.size(); at = list.find(' ', at) + 1) text += prefix + list.substr(at, list.find(' ', at) + 1 - at);
    return text;
}

const std::string besides = "mask? q_lengths? k_lengths? sink? alibi_slopes? dropout_mask? positions? ";
const std::string heads = "w_q w_k w_v w_o b_q? b_k? b_v? b_o? ";
const std::string dheads = "dw_q db_q dw_k db_k dw_v db_v dw_o db_o ";
const std::string ffn = "w_1 b_1? w_2 b_2? ", dffn = "dw_1 db_1 dw_2 db_2 ", norm = "gamma? beta? ", dnorm = "dgamma dbeta ";
const std::string encoder_weights = prefixed("self_attn.", heads + besides) + prefixed("norm1.", norm) + prefixed("ffn.", ffn) + prefixed("norm2.", norm);
const std::string dencoder = prefixed("self_attn.", dheads) + prefixed("norm1.", dnorm) + prefixed("ffn.", dffn) + prefixed("norm2.", dnorm);
const std::string encoder_stages = "self_attn.weights self_attn.out norm1.out ffn.out norm2.out out ";
const std::string decoder_weights = prefixed("self_attn.", heads + besides) + prefixed("norm1.", norm) + prefixed("cross_attn.", heads + besides) + prefixed("norm2.", norm) +
                                    prefixed("ffn.", ffn) + prefixed("norm3.", norm);
const std::string ddecoder = prefixed("self_attn.", dheads) + prefixed("norm1.", dnorm) + prefixed("cross_attn.", dheads) + prefixed("norm2.", dnorm) + prefixed("ffn.", dffn) +
                             prefixed("norm3.", dnorm);
const std::string decoder_stages = "self_attn.weights self_attn.out norm1.out cross_attn.weights cross_attn.out norm2.out ffn.out norm3.out out ";

} // namespace

TEST_CASE("each op is found by its name, and no two share one", "[question]") {
    std::set<std::string_view> names;
    for (const op_info& op : attest::ops()) {
        CAPTURE(op.name);
        CHECK(names.insert(op.name).second);
        CHECK(&find_op(op.name) == &op);
        CHECK_FALSE(op.summary.empty());
        CHECK_FALSE(op.outputs.empty());
        std::set<std::string_view> tensors;
        for (const tensor_info& t : op.inputs) CHECK(tensors.insert(t.name).second);
        for (const tensor_info& t : op.outputs) {
            CHECK(tensors.insert(t.name).second);
            CHECK_FALSE(t.optional);
        }
        for (const std::string_view name : tensors) CHECK((attest::is_input(op, name) != attest::is_output(op, name) || name.find(".N.") != std::string_view::npos));
    }
    CHECK(names == std::set<std::string_view>{"score", "softmax", "attention", "multi_head_attention", "sinusoidal", "learned_position", "rope", "layer_norm", "rms_norm",
                                              "relu", "gelu", "feed_forward", "encoder_layer", "decoder_layer", "encoder", "decoder"});
}

TEST_CASE("the inputs of each op", "[question]") {
    CHECK(inputs_of("score") == "q k w? w1? w2? b? ");
    CHECK(inputs_of("softmax") == "x dout? ");
    CHECK(inputs_of("attention") == "q k v " + besides + "w? w1? w2? b? dout? ");
    CHECK(inputs_of("multi_head_attention") == "x memory? " + heads + besides + "dout? ");
    CHECK(inputs_of("sinusoidal").empty());
    CHECK(inputs_of("learned_position") == "x table dout? ");
    CHECK(inputs_of("rope") == "x positions? dout? ");
    CHECK(inputs_of("layer_norm") == "x gamma? beta? dout? ");
    CHECK(inputs_of("rms_norm") == "x gamma? dout? ");
    CHECK(inputs_of("relu") == "x dout? ");
    CHECK(inputs_of("gelu") == "x dout? ");
    CHECK(inputs_of("feed_forward") == "x " + ffn + "dout? ");
    CHECK(inputs_of("encoder_layer") == "x " + encoder_weights + "dout? ");
    CHECK(inputs_of("decoder_layer") == "x memory " + decoder_weights + "dout? ");
    CHECK(inputs_of("encoder") == "x " + prefixed("layers.N.", encoder_weights) + "norm.gamma? norm.beta? " + prefixed("self_attn.", besides) + "dout? ");
    CHECK(inputs_of("decoder") == "x memory " + prefixed("layers.N.", decoder_weights) + "norm.gamma? norm.beta? " + prefixed("self_attn.", besides) + prefixed("cross_attn.", besides) +
                                     "dout? ");
}

TEST_CASE("the outputs of each op, in the order of computation, gradients after them", "[question]") {
    CHECK(outputs_of("score") == "scores ");
    CHECK(outputs_of("softmax") == "out dx ");
    CHECK(outputs_of("attention") == "raw_scores scores weights lse out dq dk dv dmask ");
    CHECK(outputs_of("multi_head_attention") == "weights out dx dmemory " + dheads);
    CHECK(outputs_of("sinusoidal") == "out ");
    CHECK(outputs_of("learned_position") == "out dx dtable ");
    CHECK(outputs_of("rope") == "out dx ");
    CHECK(outputs_of("layer_norm") == "out dx dgamma dbeta ");
    CHECK(outputs_of("rms_norm") == "out dx dgamma ");
    CHECK(outputs_of("relu") == "out dx ");
    CHECK(outputs_of("gelu") == "out dx ");
    CHECK(outputs_of("feed_forward") == "out dx " + dffn);
    CHECK(outputs_of("encoder_layer") == encoder_stages + "dx " + dencoder);
    CHECK(outputs_of("decoder_layer") == decoder_stages + "dx dmemory " + ddecoder);
    CHECK(outputs_of("encoder") == prefixed("layers.N.", encoder_stages) + "out dx " + prefixed("layers.N.", dencoder) + "norm.dgamma norm.dbeta ");
    CHECK(outputs_of("decoder") == prefixed("layers.N.", decoder_stages) + "out dx dmemory " + prefixed("layers.N.", ddecoder) + "norm.dgamma norm.dbeta ");
}

TEST_CASE("every gradient is that of an input, has its shape, and needs dout", "[question]") {
    for (const op_info& op : attest::ops()) {
        bool gradients = false;
        for (const tensor_info& t : op.outputs) {
            const std::size_t last = t.name.rfind('.') == std::string_view::npos ? 0 : t.name.rfind('.') + 1;
            if (t.name[last] != 'd') continue;
            CAPTURE(op.name, t.name);
            gradients = true;
            const std::string of = std::string(t.name.substr(0, last)) + std::string(t.name.substr(last + 1));
            const tensor_info* const input = attest::find_tensor(op.inputs, of);
            // The table's patterns hold the letter N where a name has an index.
            const std::string with_index = of.substr(0, 9) == "layers.N." ? "layers.0." + of.substr(9) : of;
            const tensor_info* const meant = input != nullptr ? input : attest::find_tensor(op.inputs, with_index);
            REQUIRE(meant != nullptr);
            CHECK(meant->shape == t.shape);
            CHECK(attest::gradient_name(of) == t.name);
        }
        CAPTURE(op.name);
        CHECK(gradients == attest::is_input(op, "dout"));
    }
}

TEST_CASE("N of a pattern is any index", "[question]") {
    using attest::matches;
    CHECK(matches("layers.N.self_attn.w_q", "layers.0.self_attn.w_q"));
    CHECK(matches("layers.N.self_attn.w_q", "layers.11.self_attn.w_q"));
    CHECK(matches("layers.N.out", "layers.123456.out"));
    CHECK(matches("x", "x"));
    for (const char* const name : {"layers..self_attn.w_q", "layers.N.self_attn.w_q", "layers.self_attn.w_q", "layers.00.self_attn.w_q", "layers.01.self_attn.w_q",
                                   "layers.-1.self_attn.w_q", "layers.1234567.self_attn.w_q", "layers.0.self_attn", "layers.0.self_attn.w_q.x", "layers.0.self_attn.w_k",
                                   "Layers.0.self_attn.w_q", "layers.0x.self_attn.w_q", "layers.0.0.self_attn.w_q", "", ".", "layers.0.self_attn.w_q."}) {
        CAPTURE(name);
        CHECK_FALSE(matches("layers.N.self_attn.w_q", name));
    }
    CHECK_FALSE(matches("x", ""));
    CHECK_FALSE(matches("x", "x."));
    CHECK_FALSE(matches("norm1.out", "norm1"));
    const op_info& encoder = find_op("encoder");
    CHECK(attest::is_input(encoder, "layers.5.ffn.w_1"));
    CHECK(attest::is_output(encoder, "layers.5.ffn.dw_1"));
    CHECK(attest::is_output(encoder, "layers.0.out"));
    CHECK_FALSE(attest::is_input(encoder, "layers.5.cross_attn.w_q"));
    CHECK_FALSE(attest::is_input(find_op("encoder_layer"), "layers.5.ffn.w_1"));
}

TEST_CASE("the layer that a name belongs to", "[question]") {
    CHECK(attest::layer_of("layers.0.out") == 0);
    CHECK(attest::layer_of("layers.11.self_attn.w_q") == 11);
    for (const char* const name : {"", "layers", "layers.", "layers.3", "layers.x.out", "layers.01.out", "norm.gamma", "layer.1.out", "layers.9999999.out"}) {
        CAPTURE(name);
        CHECK_FALSE(attest::layer_of(name).has_value());
    }
}

TEST_CASE("the name of a gradient has a d before the last part", "[question]") {
    CHECK(attest::gradient_name("x") == "dx");
    CHECK(attest::gradient_name("self_attn.w_q") == "self_attn.dw_q");
    CHECK(attest::gradient_name("layers.3.norm2.gamma") == "layers.3.norm2.dgamma");
}

TEST_CASE("an unknown op is refused with the names of those there are", "[question]") {
    for (const char* const name : {"", "attn", "mha", "transformer"}) {
        CAPTURE(name);
        CHECK(says(refusal([&] { return find_op(name); }), {"there is no op '" + std::string(name) + "'; there are score, softmax, attention,", "encoder, decoder"}));
    }
    for (const auto& [name, meant] : std::vector<std::pair<const char*, const char*>>{
             {"Attention", "attention"}, {"attention ", "attention"}, {"layernorm", "layer_norm"}, {"sotfmax", "softmax"}, {"multihead_attention", "multi_head_attention"}, {"rmsnorm", "rms_norm"}}) {
        CAPTURE(name);
        CHECK(says(refusal([&] { return find_op(name); }), {"there is no op '" + std::string(name) + "' (did you mean " + meant + "?)"}));
    }
}
