// SPDX-License-Identifier: BSL-1.0
#include "attest/shape/heads.hpp"
#include "attest/shape/tensor.hpp"
#include "catch.hpp"

#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

struct n : axis<3> {};
struct m : axis<3> {};
struct d : axis<4> {};
struct some : axis<dynamic> {};

template <class Rule> void speaks_at_run_time_alone(const char* words) {
    CAPTURE(Rule::sentence);
    CHECK(std::string(Rule::sentence).find(words) != std::string::npos);
    // The predicate, for proofs.
    static_assert(Rule::template holds<n, n> && Rule::template holds<n, axis<3>> && Rule::template holds<some, axis<3>>);
    static_assert(!Rule::template holds<n, m> && !Rule::template holds<n, d> && !Rule::template holds<some, n>);
    // Fixed axes that meet: the compiler has compared, nothing is left to throw.
    CHECK_NOTHROW(Rule::template check<n, n>(1, 2));
    // Dynamic ones: the lengths are compared, in both orders.
    CHECK_NOTHROW((Rule::template check<axis<dynamic>, n>(3, 3)));
    try {
        Rule::template check<axis<dynamic>, n>(5, 3);
        FAIL("no exception");
    } catch (const shape_error& e) {
        CHECK(std::string(e.sentence()) == Rule::sentence);
        CHECK(e.left() == 5);
        CHECK(e.right() == 3);
        CHECK(std::string(e.what()) == std::string(Rule::sentence) + " (5 and 3)");
    }
    CHECK_THROWS_AS((Rule::template check<some, some>(0, 1)), shape_error);
}

} // namespace

TEST_CASE("each rule is a predicate, and its sentence with both lengths at run time", "[shape]") {
    speaks_at_run_time_alone<rules::query_key_dimension>("both have dimension d_k");
    speaks_at_run_time_alone<rules::value_for_each_key>("one row for each key");
    speaks_at_run_time_alone<rules::inner_dimension>("one row for each column of A");
    speaks_at_run_time_alone<rules::mask_row_for_each_query>("the mask must have one row for each query");
    speaks_at_run_time_alone<rules::mask_column_for_each_key>("the mask must have one column for each key");
    speaks_at_run_time_alone<rules::same_shape>("must have the same shape");
}

TEST_CASE("H divides d_model, or the rule says so with both numbers", "[shape]") {
    using rule = rules::heads_divide_model;
    static_assert(rule::holds<512, 8> && rule::length<512, 8>() == 64);
    static_assert(!rule::holds<512, 7> && !rule::holds<512, 0> && !rule::holds<4, 8>);
    static_assert(rule::holds<0, 8> && rule::holds<dynamic, 7> && rule::length<dynamic, 7>() == dynamic && rule::length<512, dynamic>() == dynamic);
    CHECK(rule::length(512, 8) == 64);
    for (const std::size_t h : {std::size_t{0}, std::size_t{7}, std::size_t{1024}}) {
        CAPTURE(h);
        try {
            (void)rule::length(512, h);
            FAIL("no exception");
        } catch (const shape_error& e) {
            CHECK(std::string(e.what()) == std::string(rule::sentence) + " (512 and " + std::to_string(h) + ")");
        }
    }
}

TEST_CASE("the rules of memory, lengths and indices", "[shape]") {
    CHECK_NOTHROW(rules::memory_fits_shape::check(6, 6));
    CHECK_THROWS_WITH(rules::memory_fits_shape::check(5, 6), "the memory must hold exactly the elements of the shape laid over it (5 and 6)");
    CHECK_NOTHROW(rules::length_of_fixed_axis::check(7, dynamic));
    CHECK_THROWS_WITH(rules::length_of_fixed_axis::check(7, 6), "a length given for an axis must be that of its type (7 and 6)");
    CHECK_NOTHROW(rules::index_in_range::check(2, 3));
    CHECK_THROWS_WITH(rules::index_in_range::check(3, 3), "an index must be less than the length of its axis (3 and 3)");
    CHECK_THROWS_AS(rules::index_in_range::check(0, 0), shape_error);
}

TEST_CASE("a shape_error copies its text, and never writes past it", "[shape]") {
    static_assert(std::is_nothrow_copy_constructible_v<shape_error> && std::is_base_of_v<std::exception, shape_error>);
    const std::size_t greatest = std::numeric_limits<std::size_t>::max();
    const shape_error greatest_numbers("s", greatest, 0);
    CHECK(std::string(greatest_numbers.what()) == "s (" + std::to_string(greatest) + " and 0)");

    const std::string long_sentence(1000, 'x');
    const shape_error cut(long_sentence.c_str(), 1, 2);
    const shape_error copy = cut;
    CHECK(std::strlen(cut.what()) == 399);
    CHECK(std::string(copy.what()) == cut.what());
    CHECK(copy.what() != cut.what());
    CHECK(std::string(copy.sentence()) == long_sentence);

    // Every sentence in use fits, with the greatest numbers after it.
    for (const char* sentence : {rules::query_key_dimension::sentence, rules::value_for_each_key::sentence, rules::inner_dimension::sentence,
                                 rules::mask_row_for_each_query::sentence, rules::mask_column_for_each_key::sentence, rules::same_shape::sentence,
                                 rules::heads_divide_model::sentence, rules::memory_fits_shape::sentence, rules::length_of_fixed_axis::sentence,
                                 rules::countable_elements::sentence, rules::index_in_range::sentence}) {
        const std::string text = shape_error(sentence, greatest, greatest).what();
        CAPTURE(text);
        CHECK(text == std::string(sentence) + " (" + std::to_string(greatest) + " and " + std::to_string(greatest) + ")");
    }
}
