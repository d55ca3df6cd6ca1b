// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/stack.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

#include <set>

using namespace asked;
using attest::common_batch;
using attest::place;
using attest::shape_in_layout;
using attest::source_slice;
using attest::stack_of;
using attest::tensor_layout;

namespace {

constexpr tensor_layout layouts[] = {tensor_layout::bhnd, tensor_layout::bnhd, tensor_layout::nbd};
const std::vector<shape> shapes = {{4, 5}, {3, 4, 5}, {2, 3, 4, 5}, {2, 1, 3, 4, 5}, {1, 1, 1}, {7, 6, 5, 4, 3, 2}, {2, 0, 4, 5}, {0, 3}};

// The same dimensions of an array in a layout, named: where each stands. Rank 5 is [b1, b2, h, n, d].
shape written(const shape& ordered, tensor_layout layout) {
    const std::size_t rank = ordered.size();
    if (rank < 3 || layout == tensor_layout::bhnd) return ordered;
    shape result = ordered;
    if (layout == tensor_layout::bnhd) {
        result[rank - 3] = ordered[rank - 2];
        result[rank - 2] = ordered[rank - 3];
    } else { // [n, b…, h, d]
        result[0] = ordered[rank - 2];
        for (std::size_t k = 0; k + 2 < rank; ++k) result[k + 1] = ordered[k];
    }
    return result;
}

} // namespace

TEST_CASE("place and shape_in_layout undo each other", "[oracle]") {
    for (const tensor_layout layout : layouts)
        for (const shape& lengths : shapes) {
            CAPTURE(static_cast<int>(layout), lengths);
            CHECK(shape_in_layout(lengths, layout) == written(lengths, layout));
            CHECK(place(shape_in_layout(lengths, layout), layout).length == lengths);
            CHECK(shape_in_layout(place(lengths, layout).length, layout) == lengths);
        }
}

TEST_CASE("the strides of a placement lead to every element once", "[oracle]") {
    for (const tensor_layout layout : layouts)
        for (const shape& lengths : shapes) {
            CAPTURE(static_cast<int>(layout), lengths);
            const attest::placement p = place(shape_in_layout(lengths, layout), layout);
            std::set<std::size_t> seen;
            for (const shape& index : indices(lengths)) {
                std::size_t at = 0;
                for (std::size_t k = 0; k < index.size(); ++k) at += index[k] * p.stride[k];
                seen.insert(at);
            }
            CHECK(seen.size() == attest::element_count(lengths));
            CHECK((seen.empty() || *seen.rbegin() + 1 == seen.size()));
        }
}

TEST_CASE("a stack holds the same matrices whatever the layout of the array", "[oracle]") {
    for (const shape& lengths : shapes) {
        const array ordered = counting(lengths);
        const attest::matrix_stack expected = stack_of("q", ordered, tensor_layout::bhnd);
        for (const tensor_layout layout : layouts) {
            CAPTURE(static_cast<int>(layout), lengths);
            // The array as someone with this layout writes it: element by element, by its named index.
            const shape there = shape_in_layout(lengths, layout);
            array a = zeros(dtype::f64, there);
            for (const shape& index : indices(lengths)) {
                const shape moved = written(index, layout);
                std::size_t at = 0, from = 0;
                for (std::size_t k = 0; k < moved.size(); ++k) at = at * there[k] + moved[k];
                for (std::size_t k = 0; k < index.size(); ++k) from = from * lengths[k] + index[k];
                attest::encode(a, at, static_cast<double>(from));
            }
            const attest::matrix_stack stack = stack_of("q", a, layout);
            CHECK(stack.batch == expected.batch);
            CHECK(stack.rows == lengths[lengths.size() - 2]);
            CHECK(stack.columns == lengths.back());
            CHECK(stack.values == expected.values);

            const attest::placement p = place(there, layout);
            for (std::size_t s = 0; s < attest::element_count(stack.batch); ++s)
                for (std::size_t i = 0; i < stack.rows; ++i)
                    for (std::size_t c = 0; c < stack.columns; ++c)
                        CHECK(attest::decode(a, attest::first_of_row(p, stack.batch, s, i) + c * p.stride.back()) == stack[s](i, c));
        }
    }
}

TEST_CASE("a stack decodes each element type", "[oracle]") {
    for (const dtype type : {dtype::f64, dtype::f32, dtype::f16, dtype::bf16}) {
        CAPTURE(attest::name_of(type));
        CHECK(stack_of("q", counting({2, 3, 4}, type), tensor_layout::bhnd).values == stack_of("q", counting({2, 3, 4}), tensor_layout::bhnd).values);
    }
}

TEST_CASE("a stack needs two dimensions of numbers", "[oracle]") {
    CHECK(refusal([] { return stack_of("k", counting({7}), tensor_layout::bhnd); }) == "k [7] has fewer than two dimensions; expected [..., rows, columns]");
    CHECK(says(refusal([] { return stack_of("k", counting({}), tensor_layout::nbd); }), {"k [] has fewer than two dimensions"}));
    CHECK(says(refusal([] { return stack_of("k", zeros(dtype::i32, {2, 2}), tensor_layout::bhnd); }), {"k [2, 2] holds i32"}));
    CHECK(says(refusal([] { return stack_of("k", zeros(dtype::raw16, {2, 2}), tensor_layout::bhnd); }), {"k [2, 2] holds V2", "--bf16 k"}));
}

TEST_CASE("batches meet where they are equal or 1", "[oracle]") {
    const auto meet = [](const shape& a, const shape& b) { return common_batch(a, b, "q and k", false); };
    CHECK(meet({}, {}) == shape{});
    CHECK(meet({2, 3}, {2, 3}) == shape{2, 3});
    CHECK(meet({2, 3}, {}) == shape{2, 3});
    CHECK(meet({}, {2, 3}) == shape{2, 3});
    CHECK(meet({3}, {2, 3}) == shape{2, 3});
    CHECK(meet({2, 1}, {1, 5}) == shape{2, 5});
    CHECK(meet({1, 1, 4}, {7, 1}) == shape{1, 7, 4});
    CHECK(meet({0}, {1}) == shape{0});
    CHECK(meet({1}, {0}) == shape{0});
    CHECK(meet({0, 2}, {0, 2}) == shape{0, 2});
    for (const auto& [a, b] : std::vector<std::pair<shape, shape>>{{{2}, {3}}, {{2, 3}, {3, 3}}, {{4}, {2}}, {{0}, {2}}, {{6, 1}, {2, 5}}}) {
        CAPTURE(a, b);
        CHECK(says(refusal([&] { return meet(a, b); }), {"q and k: batch dimensions must be equal or 1"}));
    }
    CHECK(says(refusal([&] { return meet({2, 7}, {2, 5}); }), {"(7 and 5)"}));
}

TEST_CASE("key-value heads may be fewer if they divide the heads, and only in the last batch dimension", "[oracle]") {
    const auto meet = [](const shape& a, const shape& b) { return common_batch(a, b, "q and k", true); };
    CHECK(meet({6}, {2}) == shape{6});
    CHECK(meet({6}, {1}) == shape{6});
    CHECK(meet({2, 8}, {2, 4}) == shape{2, 8});
    CHECK(meet({2, 8}, {4}) == shape{2, 8});
    CHECK(says(refusal([&] { return meet({6}, {4}); }), {"key-value heads must divide the heads", "(6 and 4)"}));
    CHECK(says(refusal([&] { return meet({2}, {6}); }), {"(2 and 6)"}));
    CHECK(says(refusal([&] { return meet({6}, {0}); }), {"(6 and 0)"}));
    CHECK(says(refusal([&] { return meet({4, 6}, {2, 6}); }), {"batch dimensions must be equal or 1", "(4 and 2)"}));
    // Zero heads are divided by any number of key-value heads: there is no element.
    CHECK(meet({0}, {2}) == shape{0});
}

TEST_CASE("query head h reads key-value head floor(h H_kv / H), in every batch", "[oracle]") {
    const shape batch = {2, 6};
    for (const std::size_t kv : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{6}})
        for (std::size_t b = 0; b < 2; ++b)
            for (std::size_t h = 0; h < 6; ++h) {
                CAPTURE(kv, b, h);
                const std::size_t head = h * kv / 6;
                CHECK(source_slice(batch, shape{2, kv}, b * 6 + h) == b * kv + head);
                CHECK(source_slice(batch, shape{1, kv}, b * 6 + h) == head);
                CHECK(source_slice(batch, shape{kv}, b * 6 + h) == head);
            }
    CHECK(source_slice(shape{6}, shape{2}, 2) == 0);
    CHECK(source_slice(shape{6}, shape{2}, 3) == 1); // in blocks of three, not by turns
    CHECK(source_slice(shape{}, shape{}, 0) == 0);
    CHECK(source_slice(shape{4, 5}, shape{}, 19) == 0);
    CHECK(source_slice(shape{4, 5}, shape{4, 1}, 13) == 2);
}
