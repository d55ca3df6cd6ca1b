// SPDX-License-Identifier: BSL-1.0
// What once got past the judge, or stopped it: each case is the smallest that did.
#include "catch.hpp"
#include "judged.hpp"

using namespace attest;
using once::check;
using kernels::array_of;
using kernels::infinity;

namespace {

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();
constexpr double lowest_f32 = -0x1.fffffep+127;

// Attention with scale 1 in f32.
struct asked {
    array q, k, v;
    std::vector<named_view> more = {};
    settings also = {};

    [[nodiscard]] verdict about(const std::string& name, const array& candidate) const {
        settings given = also;
        given.insert(given.end(), {{"op", "attention"}, {"score", "dot"}, {"arithmetic", "f32"}});
        std::vector<named_view> inputs = more;
        inputs.insert(inputs.end(), {{"q", q}, {"k", k}, {"v", v}});
        return check(given, inputs, {{name, candidate}}).verdict;
    }
};
array floats(std::vector<std::size_t> shape, const std::vector<double>& values) { return array_of(dtype::f32, std::move(shape), values); }

} // namespace

TEST_CASE("garbage in a row of finfo.min does not pass", "[oracle]") {
    const array mask = floats({3, 2}, {0, 0, 0, 0, lowest_f32, lowest_f32});
    const asked padding{floats({3, 1}, {0, 0, 0}), floats({2, 1}, {1, 1}), floats({2, 1}, {0, 2}), {{"mask", mask}}};
    CHECK(padding.about("out", floats({3, 1}, {1, 1, 1})) == verdict::exact);
    for (const double garbage : {-1e30, 0.0, 42.0}) CHECK_FALSE(passes(padding.about("out", floats({3, 1}, {1, 1, garbage}))));
    CHECK_FALSE(passes(padding.about("weights", floats({3, 2}, {0.5, 0.5, 0.5, 0.5, -7, 1e9}))));
}

TEST_CASE("decided elements do not outvote blind ones", "[oracle]") {
    // Scores cancel: the limit of the two visible weights is all of [0, 1].
    const array mask = floats({1, 5}, {0, 0, -infinity, -infinity, -infinity});
    const asked hidden{floats({1, 3}, {1e9, 1, -1e9}), floats({5, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}), floats({5, 1}, {1, 2, 3, 4, 5}), {{"mask", mask}}};
    CHECK_FALSE(passes(hidden.about("weights", floats({1, 5}, {0, 0, 0, 0, 0}))));
    CHECK_FALSE(passes(hidden.about("weights", floats({1, 5}, {1, 1, 0, 0, 0}))));
    CHECK_FALSE(passes(hidden.about("scores", floats({1, 5}, {0, 0, -infinity, -infinity, -infinity}))));
}

TEST_CASE("no rounding leaves the range of what is averaged", "[oracle]") {
    const asked blind{floats({1, 3}, {1e9, 1, -1e9}), floats({2, 3}, {1, 1, 1, 1, 1, 1}), floats({2, 1}, {1, 5})};
    const auto fails = [](verdict v) { return v == verdict::wrong || v == verdict::inaccurate; };
    CHECK(fails(blind.about("weights", floats({1, 2}, {-0.4, 1.4}))));
    CHECK(fails(blind.about("out", floats({1, 1}, {7.5}))));
    CHECK_FALSE(fails(blind.about("out", floats({1, 1}, {5}))));
    const asked lone{floats({1, 3}, {1e9, 1, -1e9}), floats({1, 3}, {1, 1, 1}), floats({1, 1}, {1})};
    CHECK(fails(lone.about("weights", floats({1, 1}, {2}))));
    CHECK(lone.about("weights", floats({1, 1}, {1})) == verdict::exact);
}

TEST_CASE("NaN, infinity and overflow stop no stage", "[oracle]") {
    for (const double x : {quiet, infinity, 3e38}) {
        const asked odd{floats({1, 1}, {x}), floats({2, 1}, {1, 3e38}), floats({2, 1}, {1, 2})};
        for (const char* const name : {"raw_scores", "scores", "weights", "out", "lse"}) {
            CAPTURE(x, name);
            const std::vector<std::size_t> shape = std::string(name) == "lse" ? std::vector<std::size_t>{1} : std::vector<std::size_t>{1, std::string(name) == "out" ? 1U : 2U};
            const verdict v = odd.about(name, floats(shape, std::vector<double>(element_count(shape), 0.25)));
            CHECK_FALSE(passes(v));
        }
    }
    // Score and mask beyond f64 together, each inside it.
    const array big = array_of(dtype::f64, {1, 1}, {1.7e308}), one = array_of(dtype::f64, {1, 1}, {1});
    CHECK(check({{"op", "attention"}, {"score", "dot"}}, {{"q", big}, {"k", one}, {"v", one}, {"mask", big}}, {{"out", array_of(dtype::f64, {1, 1}, {7})}}).verdict ==
          verdict::undecided);
}

TEST_CASE("f64 inputs may be rounded to f32 first, where f32 is declared", "[oracle]") {
    const array x = array_of(dtype::f64, {2}, {1000.00001, 1000});
    const double w = 1 / (1 + std::exp(-1000.00001F + 1000.0F)); // 1000.00001 rounds to 1000 in f32
    CHECK(passes(check({{"op", "softmax"}, {"arithmetic", "f32"}}, {{"x", x}}, {{"out", floats({2}, {w, 1 - w})}}).verdict));
    CHECK_FALSE(passes(check({{"op", "softmax"}, {"arithmetic", "f64"}}, {{"x", x}}, {{"out", array_of(dtype::f64, {2}, {w, 1 - w})}}).verdict));
}

TEST_CASE("outputs without elements are nothing to compare, and cost nothing", "[oracle]") {
    const std::size_t many = std::size_t{1} << 50;
    const array none{dtype::f32, {many, 0, 4}, {}};
    const asked empty{none, floats({1, 4}, {1, 1, 1, 1}), floats({1, 4}, {1, 1, 1, 1})};
    CHECK_THROWS_AS(empty.about("out", none), usage_error);
}
