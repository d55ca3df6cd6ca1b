// SPDX-License-Identifier: BSL-1.0
#include "attest/question/named_view.hpp"
#include "attest/oracle/decode.hpp"
#include "attest/shape/tensor.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

using namespace asked;
using attest::named_view;

TEST_CASE("a shaped tensor or view is a named view of the same memory", "[question]") {
    struct n : attest::axis<2> {};
    struct d : attest::axis<3> {};
    std::vector<float> memory = {1, 2, 3, 4, 5, 6};
    const named_view over_vector("q", attest::shaped<n, d>(memory));
    CHECK(over_vector.name == "q");
    CHECK(over_vector.value.type == dtype::f32);
    CHECK(over_vector.value.shape == shape{2, 3});
    CHECK(static_cast<const void*>(over_vector.value.data) == memory.data());
    CHECK(attest::decode(over_vector.value, 5) == 6);

    const attest::tensor<double, n, d> owned{{1, 2, 3}, {4, 5, 6}};
    const named_view of_tensor("k", owned);
    CHECK(of_tensor.value.type == dtype::f64);
    CHECK(attest::decode(of_tensor.value, 4) == 5);

    // Slices along leading axes are whole; views with gaps or another order are not what the shape says.
    CHECK(named_view("v", attest::shaped<n, d>(memory)[1]).value.shape == shape{3});
    const std::ptrdiff_t column_order[] = {1, 2};
    const attest::view<float, n, d> transposed(memory.data(), {}, column_order);
    CHECK(says(refusal([&] { return named_view("v", transposed); }), {"v: a view with gaps or another order", "copy it into a tensor"}));
    const std::ptrdiff_t gaps[] = {4, 1};
    std::vector<float> wide(8);
    CHECK_FALSE(refusal([&] { return named_view("v", attest::view<float, n, d>(wide.data(), {}, gaps)); }).empty());
}

TEST_CASE("a named view is found by its name, the first of equals", "[question]") {
    const array a = counting({2}), b = counting({3});
    const std::vector<named_view> views = {{"a", a.view()}, {"b", b.view()}, {"a", b.view()}};
    CHECK(attest::find(views, "a")->shape == shape{2});
    CHECK(attest::find(views, "b")->shape == shape{3});
    CHECK(attest::find(views, "A") == nullptr);
    CHECK(attest::find({}, "a") == nullptr);
}
