// SPDX-License-Identifier: BSL-1.0
#include "attest/shape/print.hpp"
#include "catch.hpp"

#include <sstream>
#include <string>

using namespace attest;

namespace {

struct n : axis<2> {};
struct d : axis<3> {};

template <class X> std::string printed(const X& x) {
    std::ostringstream out;
    out << x;
    return out.str();
}

} // namespace

TEST_CASE("tensors and views print in nested brackets", "[shape]") {
    CHECK(printed(tensor<double>{}) == "0");
    CHECK(printed(tensor<double, d>{1.5, -2, 0}) == "[1.5, -2, 0]");
    CHECK(printed(tensor<int, n, d>{{1, 2, 3}, {4, 5, 6}}) == "[[1, 2, 3],\n [4, 5, 6]]");
    CHECK(printed(tensor<double, axis<dynamic>>{}) == "[]");
    CHECK(printed(tensor<double, axis<dynamic>, d>{}) == "[]");
    CHECK(printed(tensor<double, n, axis<0>>{}) == "[[],\n []]");
    CHECK(printed(tensor<int, axis<1>, n, axis<1>>{}) == "[[[0],\n [0]]]");
    tensor<int, n, d> x{{1, 2, 3}, {4, 5, 6}};
    CHECK(printed(x[1]) == "[4, 5, 6]");
    const view<const int, d, n> transposed(x.data(), {}, {1, 3});
    CHECK(printed(transposed) == "[[1, 4],\n [2, 5],\n [3, 6]]");
}

TEST_CASE("elements are written with the stream's own format", "[shape]") {
    std::ostringstream out;
    out.precision(3);
    out << std::boolalpha << tensor<bool, n>{true, false} << ' ' << tensor<double, n>{1.0 / 3, 2.0 / 3};
    CHECK(out.str() == "[true, false] [0.333, 0.667]");
}
