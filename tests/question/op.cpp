// SPDX-License-Identifier: BSL-1.0
#include "attest/question/op.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

#include <set>

using namespace asked;

TEST_CASE("each op is found by its name, and no two share one", "[question]") {
    std::set<std::string_view> names;
    for (const attest::op_info& op : attest::ops()) {
        CAPTURE(op.name);
        CHECK(names.insert(op.name).second);
        CHECK(&attest::find_op(op.name) == &op);
        CHECK_FALSE(op.summary.empty());
        CHECK_FALSE(op.outputs.empty());
        std::set<std::string_view> tensors;
        for (const attest::tensor_info& t : op.inputs) CHECK(tensors.insert(t.name).second);
        for (const attest::tensor_info& t : op.outputs) {
            CHECK(tensors.insert(t.name).second);
            CHECK_FALSE(t.optional);
        }
        CHECK(op.outputs.back().name == "out");
    }
    CHECK(names == std::set<std::string_view>{"softmax", "attention"});
}

TEST_CASE("attention's inputs, and its outputs in the order of computation", "[question]") {
    const attest::op_info& op = attest::find_op("attention");
    std::string inputs, outputs;
    for (const attest::tensor_info& t : op.inputs) inputs += std::string(t.name) + (t.optional ? "? " : " ");
    for (const attest::tensor_info& t : op.outputs) outputs += std::string(t.name) + " ";
    CHECK(inputs == "q k v mask? ");
    CHECK(outputs == "raw_scores scores weights lse out ");
}

TEST_CASE("an unknown op is refused with the names of those there are", "[question]") {
    for (const char* const name : {"", "Attention", "attn", "attention ", "multi_head_attention"}) {
        CAPTURE(name);
        CHECK(says(refusal([&] { return attest::find_op(name); }), {"there is no op '" + std::string(name) + "'", "softmax, attention"}));
    }
}
