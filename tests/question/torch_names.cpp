// SPDX-License-Identifier: BSL-1.0
#include "attest/question/torch_names.hpp"
#include "attest/question/case.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

using namespace asked;
using attest::archive;
using attest::question;
using attest::settings;

namespace {

// The tensors that a member of an op holds, one after the other.
std::string tensors(const char* op, const char* name) {
    std::string text;
    for (const std::string& tensor : attest::tensors_of_torch_name(attest::find_op(op), name)) text += (text.empty() ? "" : " ") + tensor;
    return text;
}
archive holding(const std::vector<std::pair<std::string, shape>>& members) {
    archive file;
    for (const auto& [name, lengths] : members) file.arrays.push_back({name, counting(lengths)});
    return file;
}
question arranged(const archive& file, const char* op, const attest::case_options& options = {}) {
    return attest::arrange(file, {{"op", op}, {"names", "torch"}}, options);
}
std::string refused(const archive& file, const char* op, const attest::case_options& options = {}) {
    return refusal([&] { return arranged(file, op, options); });
}
std::string names(const std::vector<attest::named_view>& views) {
    std::string text;
    for (const attest::named_view& v : views) text += v.name + " ";
    return text;
}
std::vector<double> values(const attest::array_view& a) {
    std::vector<double> all;
    for (std::size_t e = 0; e < a.elements(); ++e) all.push_back(attest::decode(a, e));
    return all;
}

} // namespace

TEST_CASE("PyTorch's parameters of each module", "[question]") {
    CHECK(tensors("multi_head_attention", "in_proj_weight") == "w_q w_k w_v");
    CHECK(tensors("multi_head_attention", "in_proj_bias") == "b_q b_k b_v");
    CHECK(tensors("multi_head_attention", "q_proj_weight") == "w_q");
    CHECK(tensors("multi_head_attention", "k_proj_weight") == "w_k");
    CHECK(tensors("multi_head_attention", "v_proj_weight") == "w_v");
    CHECK(tensors("multi_head_attention", "out_proj.weight") == "w_o");
    CHECK(tensors("multi_head_attention", "out_proj.bias") == "b_o");
    CHECK(tensors("layer_norm", "weight") == "gamma");
    CHECK(tensors("layer_norm", "bias") == "beta");
    CHECK(tensors("rms_norm", "weight") == "gamma");
    CHECK(tensors("rms_norm", "bias").empty());
    CHECK(tensors("learned_position", "weight") == "table");
    CHECK(tensors("feed_forward", "linear1.weight") == "w_1");
    CHECK(tensors("feed_forward", "linear1.bias") == "b_1");
    CHECK(tensors("feed_forward", "linear2.weight") == "w_2");
    CHECK(tensors("feed_forward", "linear2.bias") == "b_2");
    for (const char* const op : {"encoder_layer", "decoder_layer"}) {
        CAPTURE(op);
        CHECK(tensors(op, "self_attn.in_proj_weight") == "self_attn.w_q self_attn.w_k self_attn.w_v");
        CHECK(tensors(op, "self_attn.in_proj_bias") == "self_attn.b_q self_attn.b_k self_attn.b_v");
        CHECK(tensors(op, "self_attn.out_proj.weight") == "self_attn.w_o");
        CHECK(tensors(op, "self_attn.out_proj.bias") == "self_attn.b_o");
        CHECK(tensors(op, "linear1.weight") == "ffn.w_1");
        CHECK(tensors(op, "linear2.bias") == "ffn.b_2");
        CHECK(tensors(op, "norm1.weight") == "norm1.gamma");
        CHECK(tensors(op, "norm2.bias") == "norm2.beta");
        CHECK(tensors(op, "in_proj_weight").empty());
        CHECK(tensors(op, "norm.weight").empty());
        CHECK(tensors(op, "layers.0.norm1.weight").empty());
    }
    CHECK(tensors("encoder_layer", "norm3.weight").empty());
    CHECK(tensors("encoder_layer", "multihead_attn.in_proj_weight").empty());
    CHECK(tensors("decoder_layer", "norm3.weight") == "norm3.gamma");
    CHECK(tensors("decoder_layer", "multihead_attn.in_proj_weight") == "cross_attn.w_q cross_attn.w_k cross_attn.w_v");
    CHECK(tensors("decoder_layer", "multihead_attn.k_proj_weight") == "cross_attn.w_k");
    CHECK(tensors("decoder_layer", "multihead_attn.weights") == "cross_attn.weights");
    CHECK(tensors("decoder_layer", "multihead_attn.mask") == "cross_attn.mask");
    CHECK(tensors("decoder_layer", "multihead_attn.banana").empty());
    CHECK(tensors("encoder", "layers.11.self_attn.in_proj_bias") == "layers.11.self_attn.b_q layers.11.self_attn.b_k layers.11.self_attn.b_v");
    CHECK(tensors("encoder", "layers.0.linear1.weight") == "layers.0.ffn.w_1");
    CHECK(tensors("encoder", "norm.weight") == "norm.gamma");
    CHECK(tensors("encoder", "norm.bias") == "norm.beta");
    CHECK(tensors("encoder", "norm1.weight").empty());
    CHECK(tensors("encoder", "layers.0.norm.weight").empty());
    CHECK(tensors("decoder", "layers.2.multihead_attn.out_proj.weight") == "layers.2.cross_attn.w_o");
    CHECK(tensors("decoder", "layers.2.norm3.bias") == "layers.2.norm3.beta");
    for (const char* const op : {"attention", "softmax", "relu", "gelu", "rope", "sinusoidal", "score"}) CHECK(tensors(op, "weight").empty());
}

TEST_CASE("every tensor that PyTorch's name stands for is one of the op's, with a gradient", "[question]") {
    for (const attest::op_info& op : attest::ops())
        for (const bool inside : {false, true})
            for (const auto& module : attest::detail::modules_of(op.name, inside))
                for (const auto& parameter : module.parameters) {
                    const bool stack = op.name == "encoder" || op.name == "decoder";
                    const std::string name = (stack && inside ? "layers.4." : "") + std::string(module.prefix) + std::string(parameter.name);
                    CAPTURE(op.name, name);
                    const auto found = attest::tensors_of_torch_name(op, name), gradients = attest::tensors_of_torch_name(op, name + ".grad");
                    REQUIRE_FALSE(found.empty());
                    REQUIRE(found.size() == gradients.size());
                    for (std::size_t i = 0; i < found.size(); ++i) {
                        CHECK(attest::is_input(op, found[i]));
                        CHECK(attest::is_output(op, gradients[i]));
                        CHECK(gradients[i] == attest::gradient_name(found[i]));
                    }
                }
}

TEST_CASE("NAME.grad is the gradient of NAME, whoever named it", "[question]") {
    CHECK(tensors("multi_head_attention", "in_proj_weight.grad") == "dw_q dw_k dw_v");
    CHECK(tensors("multi_head_attention", "out_proj.bias.grad") == "db_o");
    CHECK(tensors("encoder", "layers.3.norm1.weight.grad") == "layers.3.norm1.dgamma");
    CHECK(tensors("decoder_layer", "multihead_attn.in_proj_bias.grad") == "cross_attn.db_q cross_attn.db_k cross_attn.db_v");
    CHECK(tensors("multi_head_attention", "x.grad") == "dx");
    CHECK(tensors("multi_head_attention", "memory.grad") == "dmemory");
    CHECK(tensors("multi_head_attention", "w_q.grad") == "dw_q");
    CHECK(tensors("attention", "q.grad") == "dq");
    CHECK(tensors("attention", "mask.grad") == "dmask");
    CHECK(tensors("softmax", "out.grad") == "dout"); // an input
    CHECK(tensors("attention", "x.grad").empty());
    CHECK(tensors("attention", ".grad").empty());
    CHECK(tensors("attention", "grad").empty());
    CHECK(tensors("layer_norm", "x.grad.grad").empty());
}

TEST_CASE("in_proj_weight and in_proj_bias are three blocks of rows, and nothing is copied", "[question]") {
    const archive file = holding({{"x", {5, 2}}, {"in_proj_weight", {6, 2}}, {"in_proj_bias", {6}}, {"out_proj.weight", {2, 2}}, {"out_proj.bias", {2}}, {"in_proj_weight.grad", {6, 2}}, {"x.grad", {5, 2}}});
    const question q = arranged(file, "multi_head_attention");
    CHECK(names(q.inputs) == "x w_q w_k w_v b_q b_k b_v w_o b_o ");
    CHECK(names(q.candidates) == "dw_q dw_k dw_v dx ");
    CHECK(q.warnings.empty());
    CHECK(attest::find(q.inputs, "w_q")->shape == shape{2, 2});
    CHECK(values(*attest::find(q.inputs, "w_q")) == std::vector<double>{0, 1, 2, 3});
    CHECK(values(*attest::find(q.inputs, "w_k")) == std::vector<double>{4, 5, 6, 7});
    CHECK(values(*attest::find(q.inputs, "w_v")) == std::vector<double>{8, 9, 10, 11});
    CHECK(values(*attest::find(q.inputs, "b_k")) == std::vector<double>{2, 3});
    CHECK(attest::find(q.inputs, "b_v")->shape == shape{2});
    CHECK(values(*attest::find(q.candidates, "dw_v")) == std::vector<double>{8, 9, 10, 11});
    CHECK(attest::find(q.inputs, "w_k")->data == file.arrays[1].value.data.data() + 4 * sizeof(double));
    CHECK(attest::find(q.inputs, "x")->data == file.arrays[0].value.data.data());
    // In another type the rows are as many bytes as they are.
    archive narrow;
    narrow.arrays.push_back({"in_proj_bias", counting({3}, dtype::f16)});
    CHECK(attest::find(arranged(narrow, "multi_head_attention").inputs, "b_v")->data == narrow.arrays[0].value.data.data() + 4);
}

TEST_CASE("rows that 3 does not divide are refused", "[question]") {
    CHECK(refused(holding({{"in_proj_weight", {10, 4}}}), "multi_head_attention") ==
          "member 'in_proj_weight' [10, 4] holds the rows of w_q, w_k and w_v one below the other; expected a number of rows that 3 divides");
    CHECK(says(refused(holding({{"self_attn.in_proj_bias", {4}}}), "encoder_layer"), {"'self_attn.in_proj_bias' [4]", "self_attn.b_q, self_attn.b_k and self_attn.b_v"}));
    CHECK(says(refused(holding({{"in_proj_weight.grad", {}}}), "multi_head_attention"), {"'in_proj_weight.grad' []", "dw_q, dw_k and dw_v"}));
    CHECK(refused(holding({{"in_proj_weight", {0, 4}}}), "multi_head_attention").empty()); // what has no rows has three times none
}

TEST_CASE("learned keys and values are refused by name", "[question]") {
    for (const auto& [op, name] : std::vector<std::pair<const char*, const char*>>{{"multi_head_attention", "bias_k"}, {"multi_head_attention", "bias_v"}, {"encoder_layer", "self_attn.bias_k"},
                                                                                   {"decoder_layer", "multihead_attn.bias_v"}, {"encoder", "layers.0.self_attn.bias_k"}}) {
        CAPTURE(op, name);
        CHECK(says(refused(holding({{name, {1, 1, 4}}}), op), {"member '" + std::string(name) + "' is a learned key or value", "add_bias_kv", op}));
    }
    CHECK(refused(holding({{"bias_k", {4}}}), "layer_norm").empty());
}

TEST_CASE("our own names stay valid beside PyTorch's", "[question]") {
    const archive file = holding({{"x", {4, 6}}, {"memory", {3, 6}}, {"self_attn.in_proj_weight", {18, 6}}, {"multihead_attn.in_proj_weight", {18, 6}}, {"linear1.weight", {8, 6}}, {"self_attn.mask", {4, 4}},
                                  {"cross_attn.weights", {4, 3}}, {"self_attn.out", {4, 6}}, {"norm1.weight", {6}}, {"norm1.out", {4, 6}}, {"dout", {4, 6}}, {"dx", {4, 6}}, {"out", {4, 6}}, {"src", {4, 6}}});
    const question q = arranged(file, "decoder_layer");
    CHECK(names(q.inputs) == "x memory self_attn.w_q self_attn.w_k self_attn.w_v cross_attn.w_q cross_attn.w_k cross_attn.w_v ffn.w_1 self_attn.mask norm1.gamma dout ");
    CHECK(names(q.candidates) == "cross_attn.weights self_attn.out norm1.out dx out ");
    CHECK(q.warnings == std::vector<std::string>{"member 'src' is nothing that decoder_layer knows; it is not used"});
    CHECK(refused(holding({{"in_proj_weight", {6, 2}}, {"w_k", {2, 2}}}), "multi_head_attention") == "members 'in_proj_weight' and 'w_k' both hold 'w_k'");
    CHECK(refused(holding({{"x.grad", {2}}, {"dx", {2}}}), "relu") == "members 'x.grad' and 'dx' both hold 'dx'");
}

TEST_CASE("--name gives PyTorch's names as well as ours", "[question]") {
    const archive file = holding({{"h", {4, 6}}, {"attn.qkv", {18, 6}}, {"attn.proj", {6, 6}}});
    CHECK(names(arranged(file, "multi_head_attention", {{}, {{"x", "h"}, {"in_proj_weight", "attn.qkv"}, {"w_o", "attn.proj"}}, {}}).inputs) == "x w_q w_k w_v w_o ");
}

TEST_CASE("PyTorch's names without names=torch are refused where they would be left out", "[question]") {
    const auto plain = [](const archive& file, const char* op) { return refusal([&] { return attest::arrange(file, {{"op", op}}, {}); }); };
    CHECK(plain(holding({{"x", {2, 2}}, {"in_proj_weight", {6, 2}}}), "multi_head_attention") == "member 'in_proj_weight' is what PyTorch calls w_q, w_k, w_v; declare names=torch, or rename it (--name)");
    CHECK(says(plain(holding({{"x", {2, 2}}, {"weight", {2}}}), "layer_norm"), {"member 'weight' is what PyTorch calls gamma", "names=torch"}));
    CHECK(says(plain(holding({{"x", {2, 2}}, {"x.grad", {2, 2}}}), "relu"), {"member 'x.grad' is what PyTorch calls dx"}));
    CHECK(plain(holding({{"x", {2, 2}}, {"gamma", {2}}, {"weight", {2}}}), "layer_norm").empty());
    CHECK(plain(holding({{"x", {2, 2}}, {"weight", {2}}}), "softmax").empty());
    CHECK(plain(holding({{"x", {2, 2}}, {"bias_k", {2}}}), "multi_head_attention").empty());
}
