// SPDX-License-Identifier: BSL-1.0
// What random points of a finite field may be taken to prove and to disprove.
#include "catch.hpp"

#include "proofs/identity.hpp"
#include "proofs/opaque.hpp"

#include "attest/formula/activation.hpp"
#include "attest/formula/softmax.hpp"

#include <algorithm>
#include <utility>
#include <vector>

using namespace attest;
using namespace attest::proofs;

namespace {

struct two : axis<2> {};
struct three : axis<3> {};

constexpr auto squares_of_sums = [](draw& x) {
    const field a = x.number(), b = x.number();
    return agree((a + b) * (a + b), a * a + field(2) * a * b + b * b);
};
constexpr auto forgotten_cross_term = [](draw& x) {
    const field a = x.number(), b = x.number();
    return agree((a + b) * (a + b), a * a + b * b);
};

// The first numbers of the points that the seeds 1, 2, … draw.
template <class Draw>
auto first_numbers(unsigned seeds, unsigned of_each) {
    std::vector<decltype(std::declval<Draw&>().number())> all;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        Draw x(seed);
        for (unsigned i = 0; i < of_each; ++i) all.push_back(x.number());
    }
    return all;
}
template <class Numbers>
bool all_differ(const Numbers& all) {
    for (auto i = all.begin(); i != all.end(); ++i)
        if (std::find(all.begin(), i, *i) != i) return false;
    return true;
}

} // namespace

TEST_CASE("each seed draws another point, and always the same", "[ledger]") {
    CHECK(all_differ(first_numbers<draw>(8, 8)));
    CHECK(all_differ(first_numbers<opaque_draw>(8, 8)));
    CHECK(first_numbers<draw>(8, 8) == first_numbers<draw>(8, 8));
    CHECK(first_numbers<opaque_draw>(8, 8) == first_numbers<opaque_draw>(8, 8));
}

TEST_CASE("as many different points are asked as are said, and one that fails is enough", "[ledger]") {
    for (unsigned points = 1; points <= 5; ++points)
        for (unsigned failing = 0; failing <= points; ++failing) { // the last of these is none of the points
            INFO(points << " points, of which number " << failing << " fails");
            const std::size_t wanted = std::min(failing + 1, points);
            std::vector<field> asked;
            CHECK((failing == points) == identity(points, [&](draw& x) {
                      asked.push_back(x.number());
                      return asked.size() == failing + 1 ? agreement::different_as_terms : agreement::equal;
                  }));
            CHECK((asked.size() == wanted && all_differ(asked)));
            std::vector<opaque> asked_of_functions;
            CHECK((failing == points) == for_any_functions(points, [&](opaque_draw& x) {
                      asked_of_functions.push_back(x.number());
                      return asked_of_functions.size() != failing + 1;
                  }));
            CHECK((asked_of_functions.size() == wanted && all_differ(asked_of_functions)));
        }
    CHECK_FALSE(for_any_functions(0, [](opaque_draw&) { return true; }));
}

TEST_CASE("what is undefined is no agreement, and a point where it is does not count", "[ledger]") {
    unsigned seed = 1;
    while (seed < 64 && attest::sqrt(draw(seed).number()).defined()) ++seed;
    const field x = draw(seed).number(), no_root = attest::sqrt(x);
    CHECK(agree(no_root, no_root) == agreement::undefined);
    CHECK(agree(no_root, x) == agreement::undefined);
    CHECK(agree(x, no_root) == agreement::undefined);
    CHECK(agree(dual<field>(x, no_root), dual<field>(x, no_root)) == agreement::undefined);
    CHECK(agree(tensor<field, two>{x, no_root}, tensor<field, two>{x, no_root}) == agreement::undefined);
    unsigned asked = 0;
    CHECK(identity(3, [&](draw&) { return ++asked % 2 == 1 ? agreement::undefined : agreement::equal; }));
    CHECK(asked == 6);
    CHECK_THROWS_AS(identity(1, [](draw&) { return agreement::undefined; }), no_such_part);
    CHECK_THROWS_AS(no_identity([](draw&) { return agreement::undefined; }), no_such_part);
}

TEST_CASE("an identity holds at every point, and what is none differs", "[ledger]") {
    STATIC_REQUIRE(identity(8, squares_of_sums));
    STATIC_REQUIRE_FALSE(no_identity(squares_of_sums));
    STATIC_REQUIRE(no_identity(forgotten_cross_term));
    STATIC_REQUIRE_FALSE(identity(1, forgotten_cross_term));
    STATIC_REQUIRE_FALSE(identity(0, squares_of_sums)); // no point, no identity
}

TEST_CASE("the exponential turns sums into products, and e is no whole number", "[ledger]") {
    STATIC_REQUIRE(identity(4, [](draw& x) {
        const field a = x.number(), b = x.number();
        return agree(attest::exp(a + b), attest::exp(a) * attest::exp(b));
    }));
    STATIC_REQUIRE(no_identity([](draw&) { return agree(attest::exp(field(1)), field(4)); }));
    STATIC_REQUIRE(no_identity([](draw&) { return agree(softmax(tensor<field, two>{1, 0})(0), field(4) / field(5)); }));
}

TEST_CASE("a difference behind a root or an opaque function disproves nothing by itself", "[ledger]") {
    // True of real numbers, where roots are positive and ReLU is what it is.
    constexpr auto root_of_169 = [](draw&) { return agree(attest::sqrt(field(169)), field(13)); };
    constexpr auto root_of_square = [](draw& x) {
        const field a = x.positive(), b = x.positive();
        return agree(attest::sqrt((a + b) * (a + b)), a + b);
    };
    constexpr auto relu_of_exp = [](draw& x) {
        const field a = attest::exp(x.number());
        return agree(attest::relu(a), a);
    };
    STATIC_REQUIRE_FALSE(no_identity(root_of_169));
    STATIC_REQUIRE_FALSE(no_identity(root_of_square));
    STATIC_REQUIRE_FALSE(no_identity(relu_of_exp));
    STATIC_REQUIRE(no_identity_of_terms(root_of_169)); // with the other sign of the root
    STATIC_REQUIRE(no_identity_of_terms(relu_of_exp)); // with another function
    // A root that cancels does no harm, nor does one of a product.
    STATIC_REQUIRE(identity(4, [](draw& x) {
        const field a = x.positive(), b = x.positive();
        return agree(attest::sqrt(a * b), attest::sqrt(a) * attest::sqrt(b)) & agree(attest::sqrt(a) * attest::sqrt(a), a);
    }));
}

TEST_CASE("what has not the same shape is not compared", "[ledger]") {
    draw x(1);
    const auto v = x.vector<two>();
    const auto w = x.vector<three>();
    const auto a = x.matrix<two, three>(), b = x.matrix<two, three>();
    CHECK_THROWS_AS(agree(v, w), no_such_part);
    CHECK_THROWS_AS(agree(a, x.matrix<three, two>()), no_such_part);
    CHECK_THROWS_AS(inner(v, w), no_such_part);
    CHECK_THROWS_AS(inner(a, x.matrix<two, two>()), no_such_part);
    CHECK(agree(a, a) == agreement::equal);
    CHECK(agree(a, b) == agreement::different);
}

TEST_CASE("of several comparisons the worst counts: undefined, different, different as terms, equal", "[ledger]") {
    using enum agreement;
    constexpr agreement order[] = {undefined, different, different_as_terms, equal};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 4; ++j) CHECK((order[i] & order[j]) == order[i < j ? i : j]);
}

TEST_CASE("an inner product with dual numbers counts their derivatives: the transpose is told from what is not", "[ledger]") {
    // y = A x: J = A, and the gradient of dy is A^T dy.
    constexpr auto product = [](const auto& a, const auto& x) {
        using S = scalar_of<std::remove_cvref_t<decltype(x)>>;
        tensor<S, two> y;
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t j = 0; j < 2; ++j) y(i) = y(i) + S(a(i, j)) * x(j);
        return y;
    };
    constexpr auto checked = [product](draw& x, bool transposed) {
        const auto a = x.matrix<two, two>();
        const auto at = x.vector<two>(), dx = x.vector<two>(), dy = x.vector<two>();
        tensor<field, two> g;
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t j = 0; j < 2; ++j) g(j) = g(j) + (transposed ? a(i, j) : a(j, i)) * dy(i);
        return agree(inner(dy, product(a, along(at, dx))), inner(g, dx));
    };
    CHECK(identity(4, [checked](draw& x) { return checked(x, true); }));
    CHECK(no_identity([checked](draw& x) { return checked(x, false); }));
}
