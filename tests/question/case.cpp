// SPDX-License-Identifier: BSL-1.0
#include "attest/question/case.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

using namespace asked;
using attest::archive;
using attest::case_options;
using attest::question;
using attest::settings;

namespace {

const settings attention = {{"op", "attention"}};

archive holding(const std::vector<std::string>& names) {
    archive file;
    for (const std::string& name : names) file.arrays.push_back({name, counting({2, 2})});
    return file;
}
std::string names(const std::vector<attest::named_view>& views) {
    std::string text;
    for (const attest::named_view& v : views) text += v.name + " ";
    return text;
}
std::string refused(const archive& file, const settings& own, const case_options& options = {}) {
    return refusal([&] { return attest::arrange(file, own, options); });
}

} // namespace

TEST_CASE("members are sorted into inputs and candidates", "[question]") {
    const archive file = holding({"out", "v", "mask", "q", "k", "lse"});
    const question q = attest::arrange(file, attention, {});
    CHECK(names(q.inputs) == "v mask q k ");
    CHECK(names(q.candidates) == "out lse ");
    CHECK(q.warnings.empty());
    CHECK(attest::find(q.inputs, "k")->data == file.arrays[4].value.data.data());
}

TEST_CASE("a member that nothing uses is named in a warning", "[question]") {
    const archive file = holding({"q", "k", "v", "out", "grad", "x"});
    const question q = attest::arrange(file, attention, {});
    CHECK(q.warnings == std::vector<std::string>{"member 'grad' is nothing that attention knows; it is not used", "member 'x' is nothing that attention knows; it is not used"});
    CHECK(names(attest::arrange(file, {{"op", "softmax"}}, {}).inputs) == "x ");
}

TEST_CASE("a name that differs only in case or separator is refused, and the way out is said", "[question]") {
    for (const auto& [name, known] : std::vector<std::pair<std::string, std::string>>{
             {"Q", "q"}, {"q_", "q"}, {"MASK", "mask"}, {"Out", "out"}, {"raw-scores", "raw_scores"}, {"rawScores", "raw_scores"}, {"raw.scores", "raw_scores"}, {"LSE", "lse"}}) {
        CAPTURE(name);
        CHECK(refused(holding({"q", "k", "v", name}), attention) ==
              "member '" + name + "' differs from '" + known + "' only in case or separator; say --name " + known + "=" + name + " if that is what it is");
    }
    CHECK(refused(holding({"q", "k", "v", "query"}), attention).empty());
}

TEST_CASE("the optional inputs of attention are inputs", "[question]") {
    const std::vector<std::string> optional = {"mask", "q_lengths", "k_lengths", "sink", "alibi_slopes", "dropout_mask", "positions", "w", "w1", "w2", "b", "dout"};
    std::vector<std::string> all = {"q", "k", "v"};
    all.insert(all.end(), optional.begin(), optional.end());
    // The weights of a score are inputs with that score.
    const question additive = attest::arrange(holding(all), {{"op", "attention"}, {"score", "additive"}}, {});
    CHECK(additive.inputs.size() == all.size() - 1);
    CHECK(additive.warnings == std::vector<std::string>{"member 'w' is a weight of score=bilinear; it is not used"});
    const question bilinear = attest::arrange(holding({"q", "k", "w", "b"}), {{"op", "score"}, {"score", "bilinear"}}, {});
    CHECK(names(bilinear.inputs) == "q k w ");
    CHECK(bilinear.warnings == std::vector<std::string>{"member 'b' is a weight of score=additive; it is not used"});
    CHECK(attest::arrange(holding(all), attention, {}).warnings.size() == 4);
    CHECK(attest::arrange(holding(all), attention, {}).inputs.size() == all.size() - 4);
}

TEST_CASE("names of stacks are patterns", "[question]") {
    const settings encoder = {{"op", "encoder"}, {"heads", "2"}};
    const question q = attest::arrange(holding({"x", "layers.0.self_attn.w_q", "layers.10.ffn.w_1", "layers.3.self_attn.mask", "norm.gamma", "layers.0.out", "layers.2.self_attn.dw_q", "norm.dbeta", "out",
                                                "layers.0.cross_attn.w_q"}), encoder, {});
    CHECK(names(q.inputs) == "x layers.0.self_attn.w_q layers.10.ffn.w_1 layers.3.self_attn.mask norm.gamma ");
    CHECK(names(q.candidates) == "layers.0.out layers.2.self_attn.dw_q norm.dbeta out ");
    CHECK(q.warnings == std::vector<std::string>{"member 'layers.0.cross_attn.w_q' is nothing that encoder knows; it is not used"});
    for (const auto& [name, known] : std::vector<std::pair<std::string, std::string>>{{"layers.0.self_attn.W_q", "layers.0.self_attn.w_q"}, {"layers_11_ffn_w_1", "layers.11.ffn.w_1"},
                                                                                      {"Layers.3.norm1.gamma", "layers.3.norm1.gamma"}, {"layers.2.Out", "layers.2.out"},
                                                                                      {"norm_gamma", "norm.gamma"}, {"layers/0/self_attn/dw_q", "layers.0.self_attn.dw_q"}}) {
        CAPTURE(name);
        CHECK(refused(holding({"x", name}), encoder) == "member '" + name + "' differs from '" + known + "' only in case or separator; say --name " + known + "=" + name + " if that is what it is");
    }
    CHECK(names(attest::arrange(holding({"x", "self_attn.w_q", "norm1.out"}), {{"op", "encoder_layer"}}, {}).candidates) == "norm1.out ");
}

TEST_CASE("a mistyped name that nothing uses is a warning with a guess", "[question]") {
    const auto warning = [](const char* name) { return attest::arrange(holding({"q", "k", "v", name}), attention, {}).warnings.at(0); };
    CHECK(warning("weigths") == "member 'weigths' is nothing that attention knows; it is not used (did you mean weights?)");
    CHECK(warning("score") == "member 'score' is nothing that attention knows; it is not used (did you mean scores?)");
    CHECK(warning("attn_mask") == "member 'attn_mask' is nothing that attention knows; it is not used (if it is the mask: --name mask=attn_mask)");
    CHECK(warning("bias") == "member 'bias' is nothing that attention knows; it is not used (if it is the mask: --name mask=bias)");
    CHECK(attest::arrange(holding({"x", "src_mask"}), {{"op", "encoder_layer"}}, {}).warnings.at(0) ==
          "member 'src_mask' is nothing that encoder_layer knows; it is not used (if it is a mask: --name self_attn.mask=src_mask)");
}

TEST_CASE("tensors of a layer inside of a model are refused, and the way out is said", "[question]") {
    const settings layer = {{"op", "encoder_layer"}, {"heads", "2"}}, torch = {{"op", "encoder_layer"}, {"heads", "2"}, {"names", "torch"}};
    CHECK(refused(holding({"x", "encoder.layers.0.self_attn.w_q"}), layer) ==
          "member 'encoder.layers.0.self_attn.w_q' would be self_attn.w_q without 'encoder.layers.0.' in front; save the tensors of the encoder_layer alone, or say --name "
          "self_attn.w_q=encoder.layers.0.self_attn.w_q for each");
    CHECK(says(refused(holding({"x", "module.linear1.weight"}), torch), {"would be linear1.weight without 'module.' in front", "--name linear1.weight=module.linear1.weight"}));
    CHECK(says(refused(holding({"x", "model.layers.0.self_attn.w_q"}), {{"op", "encoder"}}), {"would be layers.0.self_attn.w_q without 'model.'"}));
    CHECK(attest::arrange(holding({"x", "a" + std::string(60000, '.') + "self_attn.w_q"}), torch, {}).warnings.size() == 1); // and a hostile name takes no time
    // If the tensor is there already, or need not be, the member is one that nothing uses.
    CHECK(attest::arrange(holding({"x", "self_attn.w_q", "old.self_attn.w_q", "debug.out", "old.self_attn.b_q"}), layer, {}).warnings.size() == 3);
    CHECK(names(attest::arrange(holding({"x", "m.w"}), layer, {{}, {{"self_attn.w_q", "m.w"}}, {}}).inputs) == "x self_attn.w_q ");
}

TEST_CASE("without an op the ops whose inputs are there are named, those that know the most members", "[question]") {
    const auto fit = [](const std::vector<std::string>& members) { return refused(holding(members), {}); };
    const std::string start = "no op is given; declare --op, or \"op\" in attest.json. Ops that fit: ";
    CHECK(fit({"q", "k", "v", "out"}) == start + "attention");
    CHECK(fit({"q", "k", "scores"}) == start + "score");
    CHECK(fit({"q", "k", "v", "scores"}) == start + "attention");
    CHECK(fit({"x"}) == start + "softmax, rope, layer_norm, rms_norm, relu, gelu");
    CHECK(fit({"x", "out", "dout", "dx"}) == start + "softmax, rope, layer_norm, rms_norm, relu, gelu");
    CHECK(fit({"x", "positions", "out"}) == start + "rope");
    CHECK(fit({"x", "gamma"}) == start + "layer_norm, rms_norm");
    CHECK(fit({"x", "gamma", "beta"}) == start + "layer_norm");
    CHECK(fit({"x", "table", "out"}) == start + "learned_position");
    CHECK(fit({"x", "w_1", "w_2", "out"}) == start + "feed_forward");
    CHECK(fit({"x", "w_q", "w_k", "w_v", "w_o", "out"}) == start + "multi_head_attention");
    CHECK(fit({"x", "q", "k", "v"}) == start + "attention");
    CHECK(fit({"out"}) == start + "sinusoidal");
    CHECK(fit({"q"}) == start + "none has its inputs here");
    CHECK(fit({}) == start + "none has its inputs here");
    const std::vector<std::string> layer = {"x", "self_attn.w_q", "self_attn.w_k", "self_attn.w_v", "self_attn.w_o", "ffn.w_1", "ffn.w_2", "out"};
    CHECK(fit(layer) == start + "encoder_layer");
    std::vector<std::string> stack;
    for (const std::string& name : layer) stack.push_back(name == "x" || name == "out" ? name : "layers.7." + name);
    CHECK(fit(stack) == start + "encoder");
    CHECK(says(refused(holding({"query", "k", "v"}), {}, {{}, {{"q", "query"}}, {}}), {"Ops that fit: attention"}));
    CHECK(says(refused(holding({"x", "in_proj_weight", "out_proj.weight"}), {{"names", "torch"}}), {"Ops that fit: multi_head_attention"}));
    CHECK(says(refused(holding({"x"}), {{"op", "sotfmax"}}), {"there is no op 'sotfmax' (did you mean softmax?)"}));
}

TEST_CASE("what is given wins over the case's own settings", "[question]") {
    const archive file = holding({"x", "q", "k", "v"});
    const question q = attest::arrange(file, {{"op", "attention"}, {"causal", "top-left"}}, {{{"causal", "bottom-right"}}, {}, {}});
    CHECK(attest::read_conventions(q.given).causal == attest::causal_alignment::bottom_right);
    const question other = attest::arrange(file, attention, {{{"op", "softmax"}}, {}, {}});
    CHECK(names(other.inputs) == "x ");
}

TEST_CASE("a setting of the case that means nothing beside what is given goes with what it belonged to", "[question]") {
    const archive file = holding({"q", "k", "v"});
    const auto given = [&](const settings& own, const settings& more) { return attest::conventions_in_force(attest::read_conventions(attest::arrange(file, own, {more, {}, {}}).given)); };
    const settings rotated = {{"op", "attention"}, {"position", "rope"}, {"rope-base", "500000"}, {"position-offset", "7"}, {"causal", "top-left"}};
    CHECK(given(rotated, {{"position", "none"}}) == given({{"op", "attention"}, {"causal", "top-left"}}, {}));
    CHECK(given(rotated, {{"position", "rope"}}) == given(rotated, {}));
    CHECK(given({{"op", "attention"}, {"scale", "0.3"}}, {{"score", "dot"}}) == given({{"op", "attention"}, {"score", "dot"}}, {}));
    // What contradicts itself in one place stays a contradiction.
    CHECK_FALSE(refusal([&] { return given({{"op", "attention"}, {"score", "dot"}, {"scale", "0.3"}}, {}); }).empty());
    CHECK_FALSE(refusal([&] { return given({{"op", "attention"}}, {{"position", "none"}, {"rope-base", "3"}}); }).empty());
}

TEST_CASE("--name maps names", "[question]") {
    const archive file = holding({"query_states", "k", "v", "attn_output"});
    const question q = attest::arrange(file, attention, {{}, {{"q", "query_states"}, {"out", "attn_output"}}, {}});
    CHECK(names(q.inputs) == "q k v ");
    CHECK(names(q.candidates) == "out ");
    CHECK(refused(file, attention, {{}, {{"q", "nope"}}, {}}) == "--name q=nope: there is no member 'nope' (KNOWN=MEMBER, such as q=query_states)");
    CHECK(refused(holding({"q", "query_states"}), attention, {{}, {{"q", "query_states"}}, {}}) == "two members are called 'q' (by --name)");
    CHECK(says(refused(holding({"a", "b"}), attention, {{}, {{"q", "a"}, {"q", "b"}}, {}}), {"--name q=b", "named twice"}));
    // A near miss can be named, or renamed away.
    CHECK(names(attest::arrange(holding({"Q", "k", "v"}), attention, {{}, {{"q", "Q"}}, {}}).inputs) == "q k v ");
    CHECK(attest::arrange(holding({"q", "Q"}), attention, {{}, {{"unused", "Q"}}, {}}).warnings.size() == 1);
}

TEST_CASE("two-byte members become bf16 when that is said, and only those", "[question]") {
    std::vector<attest::named_array> arrays;
    const dtype types[] = {dtype::raw16, dtype::u16, dtype::i16, dtype::f16, dtype::f32, dtype::u8, dtype::bf16};
    for (const dtype type : types) arrays.push_back({std::string(attest::name_of(type)), zeros(type, {2})});
    const auto types_after = [&arrays](const std::vector<std::string>& members) {
        auto copy = arrays;
        attest::declare_bf16(copy, members);
        std::string text;
        for (const attest::named_array& a : copy) text += std::string(attest::name_of(a.value.type)) + " ";
        return text;
    };
    CHECK(types_after({}) == "V2 u16 i16 f16 f32 u8 bf16 ");
    CHECK(types_after({"all"}) == "bf16 bf16 bf16 f16 f32 u8 bf16 ");
    CHECK(types_after({"V2"}) == "bf16 u16 i16 f16 f32 u8 bf16 ");
    CHECK(types_after({"i16", "u16"}) == "V2 bf16 bf16 f16 f32 u8 bf16 ");
    CHECK(types_after({"i16", "i16", "all"}) == "bf16 bf16 bf16 f16 f32 u8 bf16 ");
    // Integers stay what they are where a tensor may hold integers.
    std::vector<attest::named_array> integers;
    for (const char* const name : {"mask", "self_attn.mask", "layers.0.self_attn.q_lengths", "dropout_mask", "positions", "k_lengths", "x"}) integers.push_back({name, zeros(dtype::i16, {2})});
    attest::declare_bf16(integers, {"all"});
    for (const attest::named_array& a : integers) CHECK(a.value.type == (a.name == "x" ? dtype::bf16 : dtype::i16));
    CHECK(types_after({"bf16"}) == "V2 u16 i16 f16 f32 u8 bf16 ");
    CHECK(refusal([&] { return types_after({"q"}); }) == "--bf16 q: there is no such member");
    for (const char* const name : {"f16", "f32", "u8"}) {
        CAPTURE(name);
        CHECK(refusal([&] { return types_after({name}); }) == "--bf16 " + std::string(name) + ": the member holds " + name + ", not V2, u16 or i16");
    }
}
