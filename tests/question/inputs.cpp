// SPDX-License-Identifier: BSL-1.0
#include "attest/question/inputs.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

using namespace asked;
using attest::settings;

namespace {

const array anything = counting({2, 2});

std::string refused(const settings& given, const std::vector<std::string>& names) {
    std::vector<attest::named_view> inputs;
    for (const std::string& name : names) inputs.emplace_back(name, anything.view());
    return refusal([&] {
        attest::check_inputs(attest::read_conventions(given), inputs);
        return 0;
    });
}
std::vector<std::string> layer(const std::string& prefix) {
    std::vector<std::string> names;
    for (const char* const name : {"self_attn.w_q", "self_attn.w_k", "self_attn.w_v", "self_attn.w_o", "ffn.w_1", "ffn.w_2"}) names.push_back(prefix + name);
    return names;
}
std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace

TEST_CASE("an input that the conventions leave without a meaning is refused", "[question]") {
    const settings attention = {{"op", "attention"}}, rope = {{"op", "attention"}, {"position", "rope"}}, alibi = {{"op", "attention"}, {"position", "alibi"}};
    CHECK(refused(attention, {"q", "positions"}) == "'positions' is given, but means nothing without position=rope");
    CHECK(refused(alibi, {"positions"}) == "'positions' is given, but means nothing without position=rope");
    CHECK(refused(rope, {"positions"}).empty());
    CHECK(refused({{"op", "rope"}}, {"x", "positions"}).empty());
    CHECK(refused(attention, {"alibi_slopes"}) == "'alibi_slopes' is given, but means nothing without position=alibi");
    CHECK(refused(alibi, {"alibi_slopes"}).empty());
    CHECK(says(refused(attention, {"dropout_mask"}), {"'dropout_mask' is given", "without dropout-p"}));
    CHECK(refused({{"op", "attention"}, {"dropout-p", "0.1"}}, {"dropout_mask"}).empty());
    CHECK(refused(attention, {"w"}) == "'w' is given, but means nothing without score=bilinear");
    CHECK(refused(attention, {"b"}) == "'b' is given, but means nothing without score=additive");
    CHECK(refused({{"op", "score"}}, {"w1"}) == "'w1' is given, but means nothing without score=additive");
    CHECK(refused({{"op", "score"}, {"score", "additive"}}, {"w", "w1", "w2", "b"}) == "'w' is given, but means nothing without score=bilinear");
    CHECK(refused(attention, {"q", "k", "v", "mask", "sink", "q_lengths", "k_lengths", "dout"}).empty());
    CHECK(refused(attention, {"banana"}).empty()); // no input of the op
    const settings decoder = {{"op", "decoder_layer"}, {"heads", "2"}, {"position", "rope"}};
    CHECK(refused(decoder, {"self_attn.positions"}).empty());
    CHECK(refused(decoder, {"cross_attn.positions"}) == "'cross_attn.positions' is given, but position is a convention of self_attn alone");
    CHECK(says(refused({{"op", "encoder"}, {"heads", "2"}}, {"layers.0.self_attn.alibi_slopes"}), {"'layers.0.self_attn.alibi_slopes' is given", "position=alibi"}));
}

TEST_CASE("an input that the conventions ask for must be there", "[question]") {
    CHECK(refused({{"op", "attention"}, {"score", "bilinear"}}, {"q", "k", "v"}) == "attention needs an input 'w' with score=bilinear");
    CHECK(refused({{"op", "attention"}, {"score", "bilinear"}}, {"q", "k", "v", "w"}).empty());
    CHECK(refused({{"op", "score"}, {"score", "additive"}}, {"q", "k", "w1", "b"}) == "score needs an input 'w2' with score=additive");
    CHECK(refused({{"op", "score"}, {"score", "additive"}}, {"q", "k", "w1", "w2", "b"}).empty());
    CHECK(says(refused({{"op", "attention"}, {"dropout-p", "0.1"}}, {"q", "k", "v"}), {"dropout-p=0.1 needs an input 'dropout_mask'"}));
    CHECK(refused({{"op", "attention"}, {"dropout-p", "0.0"}}, {"q", "k", "v"}).empty());
    CHECK(refused({{"op", "encoder_layer"}, {"heads", "2"}, {"dropout-p", "0.1"}}, {"self_attn.dropout_mask"}).empty());
}

TEST_CASE("a stack has layers, numbered from 0 without a gap, and each is whole", "[question]") {
    const settings encoder = {{"op", "encoder"}, {"heads", "2"}};
    CHECK(says(refused(encoder, {"x"}), {"encoder needs layers", "layers.0.self_attn.w_q"}));
    CHECK(refused(encoder, layer("layers.0.")).empty());
    CHECK(refused(encoder, layer("layers.0.") + layer("layers.1.") + layer("layers.2.")).empty());
    CHECK(refused(encoder, layer("layers.2.") + layer("layers.0.")) == "layers.2 is there, but not layers.1; layers are numbered from 0 without a gap");
    CHECK(refused(encoder, layer("layers.1.")) == "layers.1 is there, but not layers.0; layers are numbered from 0 without a gap");
    CHECK(says(refused(encoder, {"layers.999999.ffn.w_1"}), {"layers.999999 is there, but not layers.0"}));
    CHECK(refused(encoder, layer("layers.0.") + std::vector<std::string>{"layers.1.norm1.gamma"}) == "encoder needs an input 'layers.1.self_attn.w_q', which is not there");
    auto without = layer("layers.0.");
    without.pop_back();
    CHECK(refused(encoder, without) == "encoder needs an input 'layers.0.ffn.w_2', which is not there");
    CHECK(says(refused({{"op", "decoder"}, {"heads", "2"}}, layer("layers.0.")), {"decoder needs an input 'layers.0.cross_attn.w_q'"}));
}
