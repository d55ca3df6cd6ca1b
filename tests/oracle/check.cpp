// SPDX-License-Identifier: BSL-1.0
// `check` as its users see it: what it refuses, and what it says.
#include "catch.hpp"
#include "judged.hpp"

using namespace attest;
using once::check;
using kernels::array_of;
using kernels::infinity;

namespace {

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();
using strings = std::vector<std::string>;

// The message of the usage_error that is thrown, or "".
template <class F> std::string refusal(F f) {
    try {
        f();
    } catch (const usage_error& error) {
        return error.what();
    }
    return "";
}

// Two queries, three keys, d_k = 2, d_v = 1, in the given type; a small case whose outputs are known to double precision.
struct small_case {
    dtype type = dtype::f64;
    array q, k, v;
    std::vector<double> scores, weights, lse, out;

    explicit small_case(dtype t) : type{t} {
        q = array_of(t, {2, 2}, {1, 0, 0.5, -1});
        k = array_of(t, {3, 2}, {1, 0.5, -0.25, 1, 0, 2});
        v = array_of(t, {3, 1}, {1, 2, -3});
        const long double raw[2][3] = {{1, -0.25L, 0}, {0, -1.125L, -2}};
        for (const auto& row : raw) {
            long double sum = 0, o = 0, value[3] = {1, 2, -3};
            for (const long double x : row) sum += std::exp(x / std::sqrt(2.0L));
            for (std::size_t j = 0; j < 3; ++j) {
                const long double w = std::exp(row[j] / std::sqrt(2.0L)) / sum;
                scores.push_back(static_cast<double>(row[j] / std::sqrt(2.0L)));
                weights.push_back(static_cast<double>(w));
                o += w * value[j];
            }
            lse.push_back(static_cast<double>(std::log(sum)));
            out.push_back(static_cast<double>(o));
        }
    }
    [[nodiscard]] std::vector<named_view> inputs() const { return {{"q", q}, {"k", k}, {"v", v}}; }
    [[nodiscard]] array stage(const std::string& name) const {
        if (name == "scores") return array_of(type, {2, 3}, scores);
        if (name == "weights") return array_of(type, {2, 3}, weights);
        if (name == "lse") return array_of(type, {2}, lse);
        return array_of(type, {2, 1}, out);
    }
};

check_result check_out(const small_case& c, const array& out, settings more = {}) {
    more.insert(more.begin(), {"op", "attention"});
    return check(more, c.inputs(), {{"out", out}});
}

} // namespace

TEST_CASE("check refuses in one line what it cannot answer", "[oracle]") {
    const small_case c(dtype::f64);
    const array out = c.stage("out");
    const auto said = [&](const settings& given, const std::vector<named_view>& inputs, const std::vector<named_view>& candidates) {
        return refusal([&] { (void)check(given, inputs, candidates); });
    };
    const settings attention{{"op", "attention"}};
    CHECK(said({}, c.inputs(), {{"out", out}}) == "no op is given; see `attest list` for the ops");
    CHECK(said({{"op", "banana"}}, c.inputs(), {{"out", out}}).find("there is no op 'banana'; there are score, softmax, attention, ") == 0);
    CHECK(said({{"op", "attention"}, {"casual", "none"}}, c.inputs(), {{"out", out}}).find("there is no convention 'casual'") == 0);
    CHECK(said({{"op", "attention"}, {"causal", "left"}}, c.inputs(), {{"out", out}}).find("the convention 'causal' has no value 'left'") == 0);
    CHECK(said({{"op", "attention"}, {"arithmetic", "f8"}}, c.inputs(), {{"out", out}}).find("the convention 'arithmetic' has no value 'f8'") == 0);
    CHECK(said(attention, {{"q", c.q}, {"k", c.k}}, {{"out", out}}).find("attention needs an input 'v'; ") == 0);
    CHECK(said(attention, c.inputs(), {}).find("nothing to compare") == 0);
    CHECK(said(attention, c.inputs(), {{"z", out}}) == "'z' is not an output of attention");
    CHECK(said(attention, c.inputs(), {{"out", out}, {"out", out}}) == "'out' is given twice");
    CHECK(said(attention, c.inputs(), {{"out", array_of(dtype::f64, {1, 2}, c.out)}}) == "out [1, 2] does not have the shape of the result; expected [2, 1]");
    CHECK(said(attention, c.inputs(), {{"out", array{dtype::i32, {2, 1}, std::vector<std::byte>(8)}}}).find("out [2, 1] holds i32") == 0);
    CHECK(said(attention, {{"q", c.q}, {"k", c.k}, {"v", array_of(dtype::f64, {2, 1}, {1, 2})}}, {{"out", out}}).find("k [3, 2] and v [2, 1]: ") == 0);
    const array none = array_of(dtype::f64, {0, 2}, {}), no_out = array_of(dtype::f64, {0, 1}, {});
    CHECK(said(attention, {{"q", none}, {"k", c.k}, {"v", c.v}}, {{"out", no_out}}).find("nothing to compare") == 0);
    for (const auto& text : {said({}, c.inputs(), {{"out", out}}), said(attention, c.inputs(), {}), said(attention, c.inputs(), {{"z", out}})})
        CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("a right case is exact, and its figures are right", "[oracle]") {
    const small_case c(dtype::f64);
    std::size_t calls = 0, last = 0, total = 0;
    const auto result = check({{"op", "attention"}}, c.inputs(), {{"out", c.stage("out")}, {"weights", c.stage("weights")}}, [&](std::size_t done, std::size_t all) {
        ++calls;
        last = done;
        total = all;
    });
    CHECK(calls == 2);
    CHECK((last == 2 && total == 2));
    CHECK(result.verdict == verdict::exact);
    CHECK(result.op == "attention");
    CHECK(result.arithmetic == "f64");
    CHECK(result.assumed);
    CHECK(result.first_bad_stage.empty());
    REQUIRE(result.outputs.size() == 2); // in the order of computation, not as given
    CHECK(result.outputs[0].name == "weights");
    const output_result& out = result.outputs[1];
    CHECK(out.name == "out");
    CHECK(out.shape == std::vector<std::size_t>{2, 1});
    CHECK((out.elements == 2 && out.exact == 2 && out.rows == 2 && out.outside_certain == 0 && out.rows_outside == 0 && out.blind == 0));
    CHECK((out.not_finite == 0 && out.unseparated == 0));
    CHECK(out.max_ulp <= 0.5);
    REQUIRE(result.inputs.size() == 3);
    CHECK(result.inputs[1].name == "k");
    CHECK(result.inputs[1].shape == std::vector<std::size_t>{3, 2});
    bool causal_listed = false;
    for (const auto& [key, value] : result.conventions) causal_listed = causal_listed || (key == "causal" && value == "none");
    CHECK(causal_listed);
}

TEST_CASE("the first bad stage, and the worst output, are those of the computation", "[oracle]") {
    const small_case c(dtype::f64);
    std::vector<double> weights = c.weights, out = c.out;
    weights[4] *= 1.001;
    out[1] = -out[1];
    const array bad_weights = array_of(dtype::f64, {2, 3}, weights), bad_out = array_of(dtype::f64, {2, 1}, out);
    const array good_lse = c.stage("lse"), good_scores = c.stage("scores");
    const auto result = check({{"op", "attention"}}, c.inputs(), {{"out", bad_out}, {"lse", good_lse}, {"weights", bad_weights}, {"scores", good_scores}});
    CHECK(result.verdict == verdict::wrong);
    CHECK(result.first_bad_stage == "weights");
    strings order;
    for (const output_result& o : result.outputs) order.push_back(o.name);
    CHECK(order == strings{"scores", "weights", "lse", "out"});
    CHECK(passes(result.outputs[0].verdict));
    CHECK(passes(result.outputs[2].verdict));
    CHECK(result.outputs[3].verdict == verdict::wrong);
    CHECK(check({{"op", "attention"}}, c.inputs(), {{"out", bad_out}, {"scores", good_scores}}).first_bad_stage == "out");
}

TEST_CASE("what arithmetic is in force when none is declared", "[oracle]") {
    kernels::generator r(1);
    kernels::inputs in = kernels::make_inputs(kernels::families[0], r, 4, 16, 64, formats::bf16);
    kernels::times(in.q, 8, formats::bf16); // scores whose rounding shows
    kernels::style in_f32, stored, all;
    stored.weights = &formats::bf16;
    all.weights = all.everything = &formats::bf16;
    const auto judged = [&](const kernels::style& how, dtype type, const char* arithmetic) {
        return kernels::judge(in, type, arithmetic, {{"out", kernels::kernel<float>(in, how).run().out}});
    };
    const auto strict = judged(stored, dtype::bf16, ""), loose = judged(all, dtype::bf16, "");
    CHECK((passes(strict.verdict) && strict.assumed && strict.arithmetic == "bf16+f32"));
    CHECK((passes(loose.verdict) && loose.assumed && loose.arithmetic == "bf16"));
    const auto forbidden = judged(all, dtype::bf16, "bf16+f32");
    CHECK((forbidden.verdict == verdict::inaccurate && !forbidden.assumed && forbidden.arithmetic == "bf16+f32"));
    CHECK(forbidden.outputs[0].weaker == "bf16");
    CHECK(forbidden.outputs[0].first_outside.has_value());
    const auto f32 = judged(in_f32, dtype::f32, "");
    CHECK((passes(f32.verdict) && f32.assumed && f32.arithmetic == "f32"));
    // The name is that of the strictest that would do: here tf32 or bf16+f32 may be.
    const auto hidden = judged(stored, dtype::f32, "");
    CHECK((hidden.verdict == verdict::inaccurate && hidden.arithmetic == "f32" && !hidden.outputs[0].weaker.empty()));
    // Neither fits: the stricter is named, and it is wrong.
    const auto wrong = kernels::judge(in, dtype::bf16, "", {{"out", std::vector<double>(4 * 64, 0.5)}});
    CHECK((wrong.verdict == verdict::wrong && wrong.arithmetic == "bf16+f32" && wrong.outputs[0].weaker.empty()));
}

TEST_CASE("an arithmetic may be declared that is stricter, or coarser, than the stored format", "[oracle]") {
    kernels::generator r(2);
    const kernels::inputs in = kernels::make_inputs(kernels::families[0], r, 4, 16, 64, formats::f32);
    const std::vector<double> in_f64 = kernels::kernel<double>(in, {}).run().out, in_f32 = kernels::kernel<float>(in, {}).run().out;
    CHECK(passes(kernels::judge(in, dtype::f32, "f64", {{"out", in_f64}}).verdict));
    const auto late = kernels::judge(in, dtype::f32, "f64", {{"out", in_f32}});
    CHECK((late.verdict == verdict::inaccurate && late.outputs[0].weaker == "f32"));
    CHECK(passes(kernels::judge(in, dtype::f32, "f32", {{"out", in_f32}}).verdict));
    // f32 results in a file of f64.
    CHECK(passes(kernels::judge(in, dtype::f64, "f32", {{"out", in_f32}}).verdict));
    const auto in_a_wide_file = kernels::judge(in, dtype::f64, "f64", {{"out", in_f32}});
    CHECK((in_a_wide_file.verdict == verdict::inaccurate && in_a_wide_file.outputs[0].weaker == "f32"));
    // Rounded to bf16 and stored as f32 again; with equal scores and v of one sign tf32 does not explain it. (v is f32, and bf16+f32 may round it first, too.)
    kernels::inputs equal = in;
    std::fill(equal.q.begin(), equal.q.end(), 0.0);
    for (double& v : equal.v) v = 4 + v / 4;
    std::vector<double> rounded = kernels::kernel<float>(equal, {}).run().out;
    for (double& x : rounded) x = attest::round_to(formats::bf16, x);
    CHECK(passes(kernels::judge(equal, dtype::f32, "bf16+f32", {{"out", rounded}}).verdict));
    const auto undeclared = kernels::judge(equal, dtype::f32, "", {{"out", rounded}});
    CHECK((undeclared.verdict == verdict::inaccurate && undeclared.outputs[0].weaker == "bf16+f32"));
}

TEST_CASE("undecided from half of the elements on", "[oracle]") {
    // Rows with q = 0 see weights well; rows with q = 100 have bf16 scores of 1e4, and their weights are anything.
    const std::vector<double> k{100, 102, 99, 101}, v{1, -2, 2, -1};
    for (std::size_t blind = 0; blind <= 4; ++blind) {
        kernels::inputs in{4, 4, 1, 1, {}, k, v, {}, "none", 1};
        std::vector<double> out;
        for (std::size_t i = 0; i < 4; ++i) {
            in.q.push_back(i < blind ? 100 : 0);
            out.push_back(i < blind ? -2 : 0x1p-9); // of the greatest score, or the mean, nearly
        }
        const auto result = kernels::judge(in, dtype::bf16, "bf16", {{"out", {0.5, 0.5, 0.5, 0.5}}});
        const auto right = kernels::judge(in, dtype::bf16, "bf16", {{"out", out}});
        CAPTURE(blind);
        CHECK(result.outputs[0].blind == blind);
        CHECK(result.verdict == (blind == 4 ? verdict::undecided : verdict::wrong));
        CHECK(right.verdict == (blind == 4 ? verdict::exact : blind >= 2 ? verdict::undecided : verdict::consistent));
    }
}

TEST_CASE("the worst element is the first of equals, and its index is the candidate's", "[oracle]") {
    // q = 0: every output is the mean of v, 0.5; heads × queries × components in the layout bnhd.
    const std::size_t n = 3, heads = 2, d_v = 2;
    const array q = array_of(dtype::f32, {n, heads, 1}, std::vector<double>(n * heads, 0.0)), k = array_of(dtype::f32, {n, heads, 1}, std::vector<double>(n * heads, 1.0));
    const array v = array_of(dtype::f32, {n, heads, d_v}, std::vector<double>(n * heads * d_v, 0.5));
    std::vector<double> out(n * heads * d_v, 0.5);
    const auto at = [&](std::size_t i, std::size_t h, std::size_t c) -> double& { return out[(i * heads + h) * d_v + c]; };
    at(1, 1, 0) = 0.75;
    at(2, 0, 1) = 0.25; // as far, and later in the candidate, though the rows of head 0 are evaluated first
    at(0, 1, 1) = 0.5 + 0x1p-23;
    const auto result = check({{"op", "attention"}, {"layout", "bnhd"}}, {{"q", q}, {"k", k}, {"v", v}}, {{"out", array_of(dtype::f32, {n, heads, d_v}, out)}});
    const output_result& o = result.outputs[0];
    CHECK(o.verdict == verdict::wrong);
    REQUIRE(o.worst);
    CHECK(o.worst->index == std::vector<std::size_t>{1, 1, 0});
    CHECK(o.worst->got == 0.75);
    CHECK(o.worst->correctly_rounded == 0.5);
    CHECK(o.worst->ulp == 0.25 * 0x1p24);
    CHECK(o.max_ulp == 0.25 * 0x1p24);
    CHECK(o.worst->expected.substr(0, 3) == "0.5");
    CHECK((o.elements == 12 && o.exact == 9 && o.outside_certain == 2 && o.rows == 6 && o.rows_outside == 2));
    REQUIRE(o.first_outside);
    CHECK(o.first_outside->index == std::vector<std::size_t>{1, 1, 0});
    // Differences below 1/64 ULP do not choose the worst.
    out.assign(n * heads * d_v, 0.5);
    const auto even = check({{"op", "attention"}, {"layout", "bnhd"}}, {{"q", q}, {"k", k}, {"v", v}}, {{"out", array_of(dtype::f32, {n, heads, d_v}, out)}});
    CHECK(even.verdict == verdict::exact);
    REQUIRE(even.outputs[0].worst);
    CHECK(even.outputs[0].worst->index == std::vector<std::size_t>{0, 0, 0});
}

TEST_CASE("NaN and infinity, in the candidate and in the inputs", "[oracle]") {
    const small_case c(dtype::f32);
    for (const double bad : {quiet, infinity, -infinity}) {
        const auto result = check_out(c, array_of(dtype::f32, {2, 1}, {c.out[0], bad}));
        CHECK(result.verdict == verdict::wrong);
        CHECK(result.outputs[0].not_finite == 1);
        CHECK(result.outputs[0].outside_certain == 1);
        REQUIRE(result.outputs[0].worst);
        CHECK(result.outputs[0].worst->index == std::vector<std::size_t>{1, 0});
    }
    // A row that sees a NaN is not judged; the other is.
    small_case poisoned = c;
    poisoned.q = array_of(dtype::f32, {2, 2}, {1, 0, quiet, -1});
    CHECK(check_out(poisoned, array_of(dtype::f32, {2, 1}, {c.out[0], 77})).verdict == verdict::undecided); // half is not judged
    CHECK(check_out(poisoned, array_of(dtype::f32, {2, 1}, {77, quiet})).verdict == verdict::wrong);
    // What a mask hides may be anything.
    const array mask = array_of(dtype::f32, {1, 3}, {0, 0, -infinity});
    small_case hidden = c;
    hidden.v = array_of(dtype::f32, {3, 1}, {1, 2, quiet});
    hidden.k = array_of(dtype::f32, {3, 2}, {1, 0.5, -0.25, 1, quiet, infinity});
    std::vector<double> expected;
    for (std::size_t i = 0; i < 2; ++i) expected.push_back((c.weights[3 * i] + 2 * c.weights[3 * i + 1]) / (c.weights[3 * i] + c.weights[3 * i + 1]));
    auto inputs = hidden.inputs();
    inputs.emplace_back("mask", mask);
    const array raw = array_of(dtype::f32, {2, 3}, {1, -0.25, quiet, 0, -1.125, quiet});
    const auto result = check({{"op", "attention"}}, inputs, {{"out", array_of(dtype::f32, {2, 1}, expected)}, {"raw_scores", raw}});
    CHECK(passes(result.verdict));
    CHECK(passes(result.outputs[1].verdict));
}

TEST_CASE("rows without a key", "[oracle]") {
    const small_case c(dtype::f32);
    auto inputs = c.inputs();
    const array mask = array_of(dtype::f32, {2, 3}, {0, 0, 0, -infinity, -infinity, -infinity});
    inputs.emplace_back("mask", mask);
    const auto verdict_of = [&](double second, const char* convention, const char* name, std::vector<double> values, std::vector<std::size_t> shape) {
        values.push_back(second);
        if (std::string(name) == "weights") values.insert(values.end(), 2, second);
        return check({{"op", "attention"}, {"empty-row", convention}}, inputs, {{name, array_of(dtype::f32, std::move(shape), values)}}).verdict;
    };
    CHECK(passes(verdict_of(0, "zero", "out", {c.out[0]}, {2, 1})));
    CHECK(passes(verdict_of(-0.0, "zero", "out", {c.out[0]}, {2, 1})));
    CHECK(verdict_of(quiet, "zero", "out", {c.out[0]}, {2, 1}) == verdict::wrong);
    CHECK(verdict_of(1e-40, "zero", "out", {c.out[0]}, {2, 1}) == verdict::wrong);
    CHECK(passes(verdict_of(quiet, "nan", "out", {c.out[0]}, {2, 1})));
    CHECK(verdict_of(0, "nan", "out", {c.out[0]}, {2, 1}) == verdict::wrong);
    CHECK(passes(verdict_of(-infinity, "zero", "lse", {c.lse[0]}, {2})));
    CHECK(verdict_of(0, "zero", "lse", {c.lse[0]}, {2}) == verdict::wrong);
    CHECK(verdict_of(quiet, "zero", "lse", {c.lse[0]}, {2}) == verdict::wrong);
    const std::vector<double> weights{c.weights[0], c.weights[1], c.weights[2]};
    CHECK(passes(verdict_of(0, "zero", "weights", weights, {2, 3})));
    CHECK(passes(verdict_of(quiet, "nan", "weights", weights, {2, 3})));
    CHECK(verdict_of(1.0 / 3, "zero", "weights", weights, {2, 3}) == verdict::wrong);
}

TEST_CASE("softmax with -inf, large offsets and along an axis", "[oracle]") {
    const auto verdict_of = [](const std::vector<double>& x, const std::vector<double>& out, const char* axis = "-1", std::vector<std::size_t> shape = {}) {
        if (shape.empty()) shape = {x.size()};
        return check({{"op", "softmax"}, {"axis", axis}}, {{"x", array_of(dtype::f32, shape, x)}}, {{"out", array_of(dtype::f32, shape, out)}}).verdict;
    };
    const double e = std::exp(1.0), sum = 1 + e;
    CHECK(passes(verdict_of({-infinity, 0, 1}, {0, 1 / sum, e / sum})));
    CHECK(verdict_of({-infinity, 0, 1}, {1e-30, 1 / sum, e / sum}) == verdict::wrong);
    CHECK(verdict_of({-infinity, 0, 1}, {0, 0, 0}) == verdict::wrong);
    CHECK(passes(verdict_of({-infinity, -infinity}, {quiet, quiet})));
    CHECK(verdict_of({-infinity, -infinity}, {0, 0}) == verdict::wrong);
    // Large offsets once made limits as wide as the weights.
    CHECK(passes(verdict_of({1000, 2000, 2001}, {0, 1 / sum, e / sum})));
    CHECK(verdict_of({100, 200, 201}, {0, 0, 0}) == verdict::wrong);
    CHECK(verdict_of({100, 200, 201}, {0, 0.5, 0.5}) == verdict::wrong);
    CHECK(verdict_of({1000, 2000, 2001}, {0, 0.5, 0.5}) == verdict::inaccurate); // bf16 rounds 2001 to 2000
    CHECK(passes(verdict_of({0, 5, 1, 5}, {1 / sum, 0.5, e / sum, 0.5}, "0", {2, 2})));
    CHECK(verdict_of({0, 5, 1, 5}, {1 / sum, 0.5, e / sum, 0.5}, "1", {2, 2}) == verdict::wrong);
}

TEST_CASE("what is possible, and less likely than the false alarm, is suspicious", "[oracle]") {
    // 4096 equal scores over values that cancel: the mean is small, and the certain limit of bf16 is larger than it. But equal scores round alike.
    const std::size_t n = 4096;
    const array q = array_of(dtype::bf16, {1, 2}, {0, 0}), k = array_of(dtype::bf16, {n, 2}, std::vector<double>(2 * n, 1.0));
    std::vector<double> values(n);
    for (std::size_t j = 0; j < n; ++j) values[j] = j % 2 == 0 ? 1 : -0.9921875; // mean 2^-8
    const array v = array_of(dtype::bf16, {n, 1}, values);
    const auto verdict_of_output = [&](double out) {
        return check({{"op", "attention"}, {"arithmetic", "bf16"}}, {{"q", q}, {"k", k}, {"v", v}}, {{"out", array_of(dtype::bf16, {1, 1}, {out})}}).verdict;
    };
    CHECK(verdict_of_output(0) == verdict::suspicious);
    CHECK(verdict_of_output(0.00390625) == verdict::exact); // what is correctly rounded needs no limit
    CHECK(verdict_of_output(1) == verdict::wrong);
}
