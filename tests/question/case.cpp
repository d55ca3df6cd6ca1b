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

TEST_CASE("inputs that change what is right are refused until a version knows them", "[question]") {
    for (const char* const name : {"q_lengths", "k_lengths", "sink", "alibi_slopes", "dropout_mask", "positions"}) {
        CAPTURE(name);
        CHECK(says(refused(holding({"q", "k", "v", "out", name}), attention), {"member '" + std::string(name) + "' changes what is right", "this version"}));
    }
}

TEST_CASE("without an op the ops whose inputs are there are named", "[question]") {
    CHECK(says(refused(holding({"q", "k", "v", "out"}), {}), {"no op is given", "Ops that fit: attention"}));
    CHECK(says(refused(holding({"x"}), {}), {"Ops that fit: softmax"}));
    CHECK(says(refused(holding({"x", "q", "k", "v"}), {}), {"Ops that fit: softmax, attention"}));
    CHECK(says(refused(holding({"q", "k"}), {}), {"none has its inputs here"}));
    CHECK(says(refused(holding({}), {}), {"none has its inputs here"}));
    CHECK(says(refused(holding({"query", "k", "v"}), {}, {{}, {{"q", "query"}}, {}}), {"Ops that fit: attention"}));
    CHECK(says(refused(holding({"x"}), {{"op", "sotfmax"}}), {"there is no op 'sotfmax'"}));
}

TEST_CASE("what is given wins over the case's own settings", "[question]") {
    const archive file = holding({"x", "q", "k", "v"});
    const question q = attest::arrange(file, {{"op", "attention"}, {"causal", "top-left"}}, {{{"causal", "bottom-right"}}, {}, {}});
    CHECK(attest::read_conventions(q.given).causal == attest::causal_alignment::bottom_right);
    const question other = attest::arrange(file, attention, {{{"op", "softmax"}}, {}, {}});
    CHECK(names(other.inputs) == "x ");
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
    CHECK(types_after({"bf16"}) == "V2 u16 i16 f16 f32 u8 bf16 ");
    CHECK(refusal([&] { return types_after({"q"}); }) == "--bf16 q: there is no such member");
    for (const char* const name : {"f16", "f32", "u8"}) {
        CAPTURE(name);
        CHECK(refusal([&] { return types_after({name}); }) == "--bf16 " + std::string(name) + ": the member holds " + name + ", not V2, u16 or i16");
    }
}
