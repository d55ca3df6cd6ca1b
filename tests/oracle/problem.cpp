// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/problem.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

#include <cmath>

using namespace asked;
using attest::attention_problem;
using attest::conventions;
using attest::named_view;
using attest::settings;

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Owns what the views look at.
struct tensors {
    std::vector<std::pair<std::string, array>> held;
    [[nodiscard]] std::vector<named_view> views() const {
        std::vector<named_view> all;
        for (const auto& [name, value] : held) all.emplace_back(name, value.view());
        return all;
    }
};
tensors qkv(const shape& q, const shape& k, const shape& v) { return {{{"q", counting(q)}, {"k", counting(k)}, {"v", counting(v)}}}; }
tensors with_mask(const shape& q, const shape& k, const shape& v, const array& mask) {
    tensors t = qkv(q, k, v);
    t.held.emplace_back("mask", mask);
    return t;
}

attention_problem make(const tensors& t, settings given = {}) {
    given.insert(given.begin(), {"op", "attention"});
    return attest::make_attention_problem(attest::read_conventions(given), t.views());
}
std::string refused(const tensors& t, const settings& given = {}) {
    return refusal([&] { return make(t, given); });
}

} // namespace

TEST_CASE("the sizes of a problem are those of its tensors", "[oracle]") {
    const attention_problem p = make(qkv({2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 6}));
    CHECK((p.n_q == 5 && p.n_k == 7 && p.d_k == 4 && p.d_v == 6));
    CHECK(p.batch == shape{2, 3});
    CHECK(p.slices() == 6);
    CHECK(p.shape_of_output("out") == shape{2, 3, 5, 6});
    CHECK(p.shape_of_output("weights") == shape{2, 3, 5, 7});
    CHECK(p.shape_of_output("raw_scores") == shape{2, 3, 5, 7});
    CHECK(p.shape_of_output("scores") == shape{2, 3, 5, 7});
    CHECK(p.shape_of_output("lse") == shape{2, 3, 5});
    CHECK_FALSE(p.bias.has_value());
    CHECK(make(qkv({5, 4}, {7, 4}, {7, 6})).batch == shape{});
    CHECK(make(qkv({5, 4}, {7, 4}, {7, 6})).slices() == 1);
}

TEST_CASE("batches broadcast over q, k, v and mask", "[oracle]") {
    CHECK(make(qkv({3, 5, 4}, {7, 4}, {7, 6})).batch == shape{3});
    CHECK(make(qkv({5, 4}, {2, 3, 7, 4}, {3, 7, 6})).batch == shape{2, 3});
    CHECK(make(qkv({2, 1, 5, 4}, {1, 3, 7, 4}, {1, 1, 7, 6})).batch == shape{2, 3});
    CHECK(make(qkv({2, 6, 5, 4}, {2, 2, 7, 4}, {2, 2, 7, 6})).batch == shape{2, 6}); // grouped heads
    CHECK(make(qkv({2, 6, 5, 4}, {2, 2, 7, 4}, {2, 1, 7, 6})).batch == shape{2, 6});
    CHECK(says(refused(qkv({2, 6, 5, 4}, {2, 2, 7, 4}, {2, 3, 7, 6})), {"k [2, 2, 7, 4] and v [2, 3, 7, 6]", "same number of heads (2 and 3)"}));
    CHECK(make(with_mask({2, 3, 5, 4}, {2, 3, 7, 4}, {2, 3, 7, 6}, counting({2, 1, 1, 7}))).batch == shape{2, 3});
    CHECK(refused(qkv({2, 6, 5, 4}, {2, 4, 7, 4}, {2, 4, 7, 6})) ==
          "q [2, 6, 5, 4] and k [2, 4, 7, 4]: batch dimensions must be equal or 1, and the key-value heads must divide the heads (6 and 4); if sequence comes before head, say layout=bnhd");
    CHECK(says(refused(qkv({2, 6, 5, 4}, {3, 6, 7, 4}, {2, 6, 7, 6})), {"q [2, 6, 5, 4] and k [3, 6, 7, 4]: batch dimensions must be equal or 1 (2 and 3)"}));
    CHECK(says(refused(qkv({2, 5, 4}, {2, 7, 4}, {3, 7, 6})), {"q [2, 5, 4] and v [3, 7, 6]", "(2 and 3)"}));
}

TEST_CASE("wrong shapes are refused with the compiler's sentence, and the tensors' names and shapes", "[oracle]") {
    using namespace attest::rules;
    CHECK(refused(qkv({5, 4}, {7, 3}, {7, 6})) == "q [5, 4] and k [7, 3]: " + std::string(query_key_dimension::sentence) + " (4 and 3)");
    CHECK(refused(qkv({5, 4}, {7, 4}, {5, 6})) == "k [7, 4] and v [5, 6]: " + std::string(value_for_each_key::sentence) + " (7 and 5)");
    CHECK(says(refused(with_mask({5, 4}, {7, 4}, {7, 6}, counting({4, 7}))), {"mask [4, 7]", mask_row_for_each_query::sentence, "(5 and 4)"}));
    CHECK(says(refused(with_mask({5, 4}, {7, 4}, {7, 6}, counting({5, 5}))), {"mask [5, 5]", mask_column_for_each_key::sentence, "(7 and 5)"}));
    CHECK(says(refused(with_mask({5, 4}, {7, 4}, {7, 6}, counting({7, 5}))), {"mask [7, 5]", mask_row_for_each_query::sentence})); // transposed
    // In a layout, the shape is named as it stands in the file.
    CHECK(says(refused(qkv({5, 2, 4}, {7, 2, 3}, {7, 2, 6}), {{"layout", "nbd"}}), {"q [5, 2, 4] and k [7, 2, 3]", query_key_dimension::sentence}));
}

TEST_CASE("inputs that are missing are named, with those that are there", "[oracle]") {
    tensors t = qkv({5, 4}, {7, 4}, {7, 6});
    t.held.pop_back();
    CHECK(refused(t) == "attention needs an input 'v'; of its inputs the case has q, k (--name v=MEMBER if it has another name)");
    CHECK(refused({}) == "attention needs an input 'q'; of its inputs the case has none (--name q=MEMBER if it has another name)");
    CHECK(refused({{{"q", counting({5})}, {"k", counting({7, 4})}, {"v", counting({7, 6})}}}) == "q [5] has fewer than two dimensions; expected [..., rows, columns]");
    CHECK(says(refused({{{"q", zeros(dtype::i64, {5, 4})}, {"k", counting({7, 4})}, {"v", counting({7, 6})}}}), {"q [5, 4] holds i64"}));
}

TEST_CASE("a boolean mask hides by its polarity", "[oracle]") {
    const array mask = booleans({2, 3}, {1, 0, 1, 0, 0, 1});
    const auto bias = [&](const settings& given) { return make(with_mask({2, 4}, {3, 4}, {3, 1}, mask), given).bias->values; };
    const double x = minus_infinity;
    CHECK(bias({}) == std::vector<double>{0, x, 0, x, x, 0});
    CHECK(bias({{"mask-polarity", "keep"}}) == std::vector<double>{0, x, 0, x, x, 0});
    CHECK(bias({{"mask-polarity", "drop"}}) == std::vector<double>{x, 0, x, 0, 0, x});
    CHECK_FALSE(make(with_mask({2, 4}, {3, 4}, {3, 1}, mask)).bias_adds);
}

TEST_CASE("an integer mask holds 0 and 1 alone, and its polarity is declared", "[oracle]") {
    const auto integers = [](std::vector<std::int64_t> values) { return with_mask({1, 4}, {3, 4}, {3, 1}, of_bytes(dtype::i64, {1, 3}, values)); };
    CHECK(says(refused(integers({0, 1, 1})), {"mask [1, 3] holds integers: declare mask-polarity"}));
    CHECK(make(integers({0, 1, 1}), {{"mask-polarity", "keep"}}).bias->values == std::vector<double>{minus_infinity, 0, 0});
    CHECK(make(integers({0, 1, 1}), {{"mask-polarity", "drop"}}).bias->values == std::vector<double>{0, minus_infinity, minus_infinity});
    CHECK(refused(integers({0, 2, 1}), {{"mask-polarity", "keep"}}) == "mask [1, 3] holds the integer 2; expected 0 and 1 alone");
    CHECK(says(refused(integers({0, -1, 1}), {{"mask-polarity", "keep"}}), {"holds the integer -1"}));
    CHECK(says(refused(integers({0, std::int64_t{1} << 60, 1}), {{"mask-polarity", "keep"}}), {"1152921504606846976"}));
    for (const dtype type : {dtype::i8, dtype::u8}) {
        const array mask = of_bytes<std::uint8_t>(type, {3}, {1, 0, 1});
        CHECK(make(with_mask({1, 4}, {3, 4}, {3, 1}, mask), {{"mask-polarity", "keep"}}).bias->values == std::vector<double>{0, minus_infinity, 0});
    }
    CHECK(says(refused(with_mask({1, 4}, {3, 4}, {3, 1}, zeros(dtype::raw16, {1, 3}))), {"mask [1, 3]", "--bf16 mask"}));
}

TEST_CASE("a float mask is added as it stands, whatever the polarity", "[oracle]") {
    for (const dtype type : {dtype::f64, dtype::f32, dtype::f16, dtype::bf16}) {
        const array mask = numbers(type, {1, 3}, {-0.5, minus_infinity, 2});
        for (const char* const polarity : {"keep", "drop"}) {
            const attention_problem p = make(with_mask({1, 4}, {3, 4}, {3, 1}, mask), {{"mask-polarity", polarity}});
            CHECK(p.bias_adds);
            CHECK(p.bias->values == std::vector<double>{-0.5, minus_infinity, 2});
        }
    }
}

TEST_CASE("a float mask of 0 and 1 alone is probably not meant", "[oracle]") {
    const auto warnings = [](std::vector<double> values) { return make(with_mask({1, 4}, {3, 4}, {3, 1}, numbers(dtype::f32, {1, 3}, values))).warnings; };
    REQUIRE(warnings({0, 1, 1}).size() == 1);
    CHECK(says(warnings({0, 1, 1}).front(), {"float mask holds 0 and 1 alone"}));
    CHECK(warnings({0, 0, 0}).empty());
    CHECK(warnings({0, 1, 2}).empty());
    CHECK(warnings({0, 1, minus_infinity}).empty());
}

TEST_CASE("masks broadcast over queries, keys and batch", "[oracle]") {
    const auto bias = [](const array& mask) { return *make(with_mask({2, 2, 4}, {2, 3, 4}, {2, 3, 1}, mask)).bias; };
    CHECK(bias(counting({2, 3})).values == std::vector<double>{0, 1, 2, 3, 4, 5});
    CHECK(bias(counting({2, 3})).batch == shape{});
    CHECK(bias(counting({3})).values == std::vector<double>{0, 1, 2, 0, 1, 2});
    CHECK(bias(counting({1, 3})).values == std::vector<double>{0, 1, 2, 0, 1, 2});
    CHECK(bias(counting({2, 1})).values == std::vector<double>{0, 0, 0, 1, 1, 1});
    CHECK(bias(counting({1, 1})).values == std::vector<double>(6, 0.0));
    CHECK(bias(booleans({}, {1})).values == std::vector<double>(6, 0.0));
    CHECK(bias(counting({2, 1, 3})).values == std::vector<double>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    CHECK(bias(counting({2, 1, 3})).batch == shape{2});
    CHECK(bias(counting({1, 2, 3})).batch == shape{1});
    CHECK(says(refusal([&] { return bias(counting({3, 2, 3})); }), {"mask [3, 2, 3]", "(2 and 3)"}));
    // A mask may not bring heads or batches of its own, even where it could be broadcast to.
    CHECK(says(refusal([&] { return bias(counting({5, 1, 2, 3})); }), {"mask [5, 1, 2, 3] has more batch dimensions than the scores [2, 2, 3]"}));
    // Leading dimensions of length 1 bring nothing.
    CHECK(bias(counting({1, 1, 2, 3})).values == std::vector<double>{0, 1, 2, 3, 4, 5});
    CHECK(bias(counting({1, 1, 2, 3})).batch == shape{1});
}

TEST_CASE("dimensions of length 0 make a problem wherever the formula has a meaning", "[oracle]") {
    CHECK(make(qkv({0, 4}, {7, 4}, {7, 6})).shape_of_output("out") == shape{0, 6});
    CHECK(make(qkv({5, 4}, {0, 4}, {0, 6})).shape_of_output("weights") == shape{5, 0});
    CHECK(make(qkv({5, 4}, {7, 4}, {7, 0})).shape_of_output("out") == shape{5, 0});
    CHECK(make(qkv({0, 2, 5, 4}, {0, 2, 7, 4}, {0, 2, 7, 6})).slices() == 0);
    CHECK(make(qkv({1, 2, 5, 4}, {0, 2, 7, 4}, {0, 2, 7, 6})).batch == shape{0, 2});
    CHECK(make(qkv({2, 0, 5, 4}, {2, 1, 7, 4}, {2, 1, 7, 6})).batch == shape{2, 0});
    CHECK(make(with_mask({5, 4}, {0, 4}, {0, 6}, zeros(dtype::boolean, {5, 0}))).bias->values.empty());
    // d_k = 0: all scores are 0, but 1/sqrt(0) is no scale.
    CHECK(refused(qkv({5, 0}, {7, 0}, {7, 6})) == "q [5, 0]: with d_k = 0 the scale 1/sqrt(d_k) is undefined");
    CHECK(make(qkv({5, 0}, {7, 0}, {7, 6}), {{"scale", "1"}}).d_k == 0);
    CHECK(make(qkv({5, 0}, {7, 0}, {7, 6}), {{"score", "dot"}}).d_k == 0);
}

TEST_CASE("softmax's fibres cover x once, along any axis", "[oracle]") {
    for (const shape& lengths : std::vector<shape>{{6}, {4, 5}, {3, 4, 5}, {2, 3, 4, 5}, {1, 5, 1}}) {
        const int rank = static_cast<int>(lengths.size());
        const array x = counting(lengths);
        for (int axis = -rank; axis < rank; ++axis) {
            conventions how;
            how.axis = axis;
            const attest::softmax_problem p = attest::make_softmax_problem(how, {{"x", x.view()}});
            CAPTURE(lengths, axis);
            const auto along = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
            CHECK(p.length() == lengths[along]);
            CHECK(p.fibres() * p.length() == x.elements());
            std::vector<int> seen(x.elements());
            const std::vector<shape> index = indices(lengths);
            for (std::size_t fibre = 0; fibre < p.fibres(); ++fibre)
                for (std::size_t j = 0; j < p.length(); ++j) {
                    const std::size_t at = p.first(fibre) + j * p.stride();
                    ++seen.at(at);
                    shape expected = index[p.first(fibre)];
                    expected[along] = j;
                    CHECK(index[at] == expected); // only the axis's index changes along a fibre
                }
            CHECK(seen == std::vector<int>(x.elements(), 1));
        }
        for (const int axis : {rank, -rank - 1, 99, -99}) {
            conventions how;
            how.axis = axis;
            CAPTURE(axis);
            CHECK(refusal([&] { return attest::make_softmax_problem(how, {{"x", x.view()}}); }) == "x " + attest::shape_text(lengths) + " has no axis " + std::to_string(axis));
        }
    }
}

TEST_CASE("softmax of nothing, of a number, and of no number", "[oracle]") {
    const auto fibres = [](const array& x) { return attest::make_softmax_problem({}, {{"x", x.view()}}).fibres(); };
    CHECK(fibres(counting({0})) == 0);
    CHECK(fibres(counting({3, 0})) == 0);
    CHECK(fibres(counting({0, 3})) == 0);
    CHECK(says(refusal([&] { return fibres(counting({})); }), {"x [] has no axis -1"}));
    CHECK(says(refusal([&] { return fibres(zeros(dtype::i32, {3})); }), {"x [3] holds i32"}));
    CHECK(says(refusal([] { return attest::make_softmax_problem({}, {}); }), {"softmax needs an input 'x'"}));
}
