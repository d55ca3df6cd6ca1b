// SPDX-License-Identifier: BSL-1.0
// Cases at the edge of what numbers can be: nothing crashes, nothing hangs, nothing wrong passes.
#include "catch.hpp"
#include "program/program.hpp"

using namespace program;

namespace {

constexpr double inf = INFINITY;

std::string told(const std::string& json) {
    attention_case c;
    c.json = json;
    return c.write("told.npz");
}

int status_of(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"check", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const outcome o = run(arguments);
    INFO(shown(o));
    CHECK((o.status == 0 || o.status == 1 || o.status == 3 || is_trouble(o)));
    return o.status;
}

} // namespace

TEST_CASE("a hostile attest.json is trouble, in one line that names it", "[program]") {
    for (const std::string& json : {std::string(""), std::string("{"), std::string("[]"), std::string("null"), std::string("17"), std::string("{\"op\": \"attention\"} trailing"),
                                   std::string(R"({"op": "attention", "op": "softmax"})"), std::string(R"({"op": {"name": "attention"}})"), std::string(R"({"op": ["attention"]})"),
                                   std::string(R"({"op": null})"), std::string(R"({"op": "attention", "scale": 1e9999})"), std::string(R"({"op": "attention", "scale": -1e9999})"),
                                   std::string(R"({"op": "attention", "scale": NaN})"), std::string(R"({"op": "attention", "scale": "NaN"})"), std::string(R"({"op": "attention", "scale": 0x10})"),
                                   std::string(R"({"op": "attention", "scale": ""})"), std::string(R"({"op": "attention", "scale": "1e400"})"), std::string(R"({"op": "attention", "causal": true})"),
                                   std::string(R"({"op": "attention", "causal": 1})"), std::string(R"({"op": 3})"), std::string(R"({"op": "attention", "note": "mine"})"),
                                   std::string(R"({"op": "attention", "window": -4})"), std::string("{\"op\": \"attention\", \"causal\": \"\xff\"}"), std::string("{\"op\": \"atten\0tion\"}", 20),
                                   std::string(R"({"op": "attention", "causal": "\u001b[31m\n\n"})"), std::string(100000, '['), std::string(R"({"a":)") + std::string(100000, '{')}) {
        const outcome o = run({"check", told(json)});
        INFO(json.substr(0, 200) << "\n" << shown(o));
        CHECK(is_trouble(o, {"told.npz"}));
        CHECK(o.err.size() < 1000);
    }
}

TEST_CASE("numbers in attest.json mean what is written", "[program]") {
    attention_case c;
    c.scale = 0.125;
    for (const char* const scale : {"0.125", "\"0.125\"", "125e-3", "\"0x1p-3\"", "0.12500000000000000000000000000000000000000", "\"+.125\"", "1.25E-1"}) {
        CAPTURE(scale);
        c.json = std::string(R"({"op": "attention", "scale": )") + scale + "}";
        CHECK(status_of(c.write("scale.npz")) == 0);
    }
    c.scale = 3;
    c.json = R"({"op": "attention", "scale": 3})";
    CHECK(status_of(c.write("scale.npz")) == 0);
    c.scale = -3;
    c.json = R"({"op": "attention", "scale": -3})";
    CHECK(status_of(c.write("scale.npz")) == 0);
}

TEST_CASE("tiny and zero scales, and q or k of zeros, give the mean of v", "[program]") {
    attention_case c;
    c.scale = 0;
    for (const char* const scale : {"0", "-0.0", "1e-9999", "4.9e-324", "0x1p-1074", "1e-300"}) {
        CAPTURE(scale);
        c.json = std::string(R"({"op": "attention", "scale": ")") + scale + "\"}";
        CHECK(status_of(c.write("tiny.npz")) == 0);
    }
    for (const bool keys : {false, true}) {
        attention_case zeros;
        (keys ? zeros.k : zeros.q).assign(keys ? 20 : 12, 0.0);
        CHECK(status_of(zeros.write("zeros.npz")) == 0);
        zeros.out = std::vector<double>(6, 0.3);
        CHECK(status_of(zeros.write("zeros.npz")) == 1);
    }
    attention_case subnormal;
    for (double& x : subnormal.q) x *= 0x1p-1068;
    CHECK(status_of(subnormal.write("subnormal.npz")) == 0);
    for (double& x : subnormal.v) x *= 0x1p-1060;
    CHECK(status_of(subnormal.write("subnormal.npz")) == 0);
}

TEST_CASE("scores beyond every arithmetic's reach do not let anything pass", "[program]") {
    for (const char* const factor : {"1e18", "1e30", "1e60", "1e150", "1e300"}) {
        attention_case c;
        c.scale = std::strtod(factor, nullptr);
        c.json = std::string(R"({"op": "attention", "scale": ")") + factor + "\"}";
        CAPTURE(factor);
        CHECK(status_of(c.write("far.npz")) != 1); // each row is one row of v: exact while 50 digits tell which
        c.out = std::vector<double>(6, 77.0);      // outside every v
        const int status = status_of(c.write("far.npz"));
        CHECK((status == 1 || status == 3));
    }
    attention_case huge;
    for (double& x : huge.q) x *= 0x1p700;
    for (double& x : huge.k) x *= 0x1p700; // their products leave the range of double
    huge.out = std::vector<double>(6, 77.0);
    CHECK(status_of(huge.write("overflow.npz")) == 3);
    huge.more.push_back({"raw_scores", numbers(dtype::f64, {3, 5}, std::vector<double>(15, inf))});
    CHECK(status_of(huge.write("overflow.npz")) == 3);
}

TEST_CASE("values at the ends of the range are judged, or said to be beyond it", "[program]") {
    attention_case c;
    c.v.assign(10, 0x1.fp1000);
    c.out.assign(6, 0x1.fp1000);
    CHECK(status_of(c.write("large.npz")) == 0);
    c.out.assign(6, 0x1.dp1000);
    CHECK(status_of(c.write("large.npz")) == 1);
    // A kernel that divides by the sum of the weights at the end overflows here, and that is right.
    c.v.assign(10, 0x1.fp1023);
    c.out.assign(6, 0x1.fp1023);
    CHECK(status_of(c.write("larger.npz")) == 0);
    c.out.assign(6, 0x1.dp1023);
    CHECK(status_of(c.write("larger.npz")) != 0);
    c.v.assign(10, 0x1.fffffffffffffp1023); // one rounding from infinity
    c.out.assign(6, 0.5);
    CHECK(status_of(c.write("largest.npz")) != 0);
    c.v = {0x1.fp1023, -0x1.fp1023, 1, 2, 3, 4, 5, 6, 7, 8};
    c.out.assign(6, 0.5);
    CHECK(status_of(c.write("spread.npz")) != 0);
    c.v.assign(10, 0x1p-1074);
    c.out.assign(6, 0x1p-1074);
    CHECK(status_of(c.write("smallest.npz")) == 0);
    c.out.assign(6, 1.0);
    CHECK(status_of(c.write("smallest.npz")) == 1);
}

TEST_CASE("masks of very negative numbers hide, and do not blind", "[program]") {
    for (const double hidden : {-inf, -1e9, -3.4028234663852886e38, -1.7976931348623157e308}) {
        for (const dtype type : {dtype::f64, dtype::f32}) {
            if (type == dtype::f32 && hidden < -3.5e38 && hidden != -inf) continue;
            CAPTURE(hidden, attest::name_of(type));
            attention_case c;
            c.type = type;
            c.mask.assign(15, 0.0);
            for (std::size_t e = 0; e < 15; e += 2) c.mask[e] = hidden;
            CHECK(status_of(c.write("masked.npz")) == 0);
            c.out = c.computed();
            c.out[3] += 0.01;
            CHECK(status_of(c.write("masked.npz")) == 1);
        }
    }
    // A row of them alone, in f32: the scores are lost in the sums, and any mean of v may come out.
    attention_case lost;
    lost.type = dtype::f32;
    lost.mask.assign(15, -3.4028234663852886e38);
    lost.out.assign(6, 0.1);
    CHECK(status_of(lost.write("lost.npz")) == 3);
}

TEST_CASE("rows without a visible key are 0 or NaN, as declared, and nothing else", "[program]") {
    attention_case c;
    c.mask.assign(15, -inf);
    const auto with = [&](double x) {
        c.out.assign(6, x);
        return c.write("empty-rows.npz");
    };
    CHECK(status_of(with(0)) == 0);
    CHECK(status_of(with(-0.0)) == 0);
    CHECK(status_of(with(NAN)) == 1);
    CHECK(status_of(with(1e-300)) == 1);
    CHECK(status_of(with(NAN), {"--empty-row", "nan"}) == 0);
    CHECK(status_of(with(0), {"--empty-row", "nan"}) == 1);
    CHECK(status_of(with(inf), {"--empty-row", "nan"}) == 1);
    // No key at all is the same.
    attention_case none;
    none.n_k = 0;
    none.k = none.v = {};
    none.out.assign(6, 0.0);
    CHECK(status_of(none.write("no-keys.npz")) == 0);
    none.out.assign(6, 0.5);
    CHECK(status_of(none.write("no-keys.npz")) == 1);
}

TEST_CASE("NaN and infinity in what a row sees are not judged, and say nothing of other rows", "[program]") {
    attention_case c;
    c.q[4] = NAN; // row 1
    c.out = c.computed();
    c.out[2] = c.out[3] = NAN;
    CHECK(status_of(c.write("nan-in-q.npz")) == 0);
    c.out[3] = 0.5; // a number where NaN went in is nothing that passes
    CHECK(status_of(c.write("nan-in-q.npz")) == 3);
    c.out[0] += 0.01; // row 0
    CHECK(status_of(c.write("nan-in-q.npz")) == 1);

    attention_case all;
    all.v[0] = inf;
    all.out = std::vector<double>(6, 0.5);
    CHECK(status_of(all.write("inf-in-v.npz")) == 3);

    // A NaN that no row sees is nothing to any of them.
    attention_case hidden;
    hidden.mask.assign(15, 0.0);
    for (const std::size_t i : {0U, 1U, 2U}) hidden.mask[i * 5 + 4] = -inf;
    hidden.out = hidden.computed();
    hidden.k[17] = hidden.v[9] = NAN;
    CHECK(status_of(hidden.write("nan-hidden.npz")) == 0);
    hidden.out[5] += 0.01;
    CHECK(status_of(hidden.write("nan-hidden.npz")) == 1);
    hidden.out = hidden.computed();
    hidden.more.push_back({"raw_scores", numbers(dtype::f64, {3, 5}, std::vector<double>(15, NAN))});
    CHECK(status_of(hidden.write("nan-hidden.npz")) == 1); // the other raw scores are wrong
}

TEST_CASE("a candidate of NaN, infinity or zeros does not pass", "[program]") {
    for (const dtype type : {dtype::f64, dtype::f32, dtype::f16}) {
        attention_case c;
        c.type = type;
        for (const double x : {static_cast<double>(NAN), inf, -inf, 0.0, 1.0}) {
            CAPTURE(attest::name_of(type), x);
            c.out.assign(6, x);
            CHECK(status_of(c.write("constant.npz")) == 1);
        }
    }
}

TEST_CASE("nothing to compare is trouble", "[program]") {
    attention_case c;
    c.n_q = 0;
    c.q = {};
    CHECK(is_trouble(run({"check", c.write("no-queries.npz")}), {"nothing to compare: the outputs have no elements"}));
    attention_case d;
    d.d_v = 0;
    d.v = {};
    CHECK(is_trouble(run({"check", d.write("no-values.npz")}), {"nothing to compare"}));
    CHECK(is_trouble(run({"check", softmax_case("no-classes.npz", dtype::f64, {3, 0}, {}, {})}), {"nothing to compare"}));
    attest::archive batch;
    for (const char* const name : {"q", "k", "v", "out"}) batch.arrays.push_back({name, {dtype::f32, {0, 2, 3, 4}, {}}});
    attest::write_npz(scratch("no-batch.npz"), batch);
    CHECK(is_trouble(run({"check", "--op", "attention", scratch("no-batch.npz").string()}), {"nothing to compare"}));
}

TEST_CASE("softmax of infinities and of the ends of the range", "[program]") {
    const auto status = [](const std::vector<double>& x, const std::vector<double>& out, dtype type = dtype::f64) {
        return status_of(softmax_case("softmax.npz", type, {x.size()}, x, out));
    };
    const double e = 1 / (1 + std::exp(1.0));
    CHECK(status({-inf, 1, 2}, {0, e, 1 - e}) == 0);
    CHECK(status({-inf, 1, 2}, {0, e * 1.001, 1 - e}) == 1);
    CHECK(status({-inf, 1, 2}, {1e-9, e, 1 - e}) == 1);
    CHECK(status({-inf, 1, 2}, {0, e, 1 - e}, dtype::f32) == 0);
    CHECK(status({-inf, 1, 2}, {0, e * 1.001, 1 - e}, dtype::f32) == 1);
    CHECK(status({-inf, 1}, {0, 1}) == 0);
    CHECK(status({-inf, -inf}, {NAN, NAN}) == 0);
    CHECK(status({-inf, -inf}, {0, 0}) == 1);
    CHECK(status({-inf, -inf}, {0.5, 0.5}) == 1);
    CHECK(status({inf, 1}, {NAN, 0}) != 1);
    CHECK(status({1e308, -1e308}, {1, 0}) == 0);
    CHECK(status({1e308, -1e308}, {0.5, 0.5}) == 1);
    CHECK(status({1e5, 1, 2, 3}, {1, 0, 0, 0}) == 0);
    CHECK(status({1e5, 1, 2, 3}, {1, 0, 1e-10, 0}) == 1);
    CHECK(status({5e-324, -5e-324}, {0.5, 0.5}) == 0);
    CHECK(status({3}, {1}) == 0);
    CHECK(status({3}, {0.9999999999999999}) != 1); // 1 ULP below, which f64's exp and quotient may give
    CHECK(status({3}, {0.99}) == 1);
}

TEST_CASE("32 dimensions, and one element", "[program]") {
    attest::archive file;
    shape many(30, 1);
    const attention_case c;
    const auto put = [&](const std::string& name, std::size_t rows, std::size_t columns, const std::vector<double>& x) {
        shape lengths = many;
        lengths.push_back(rows);
        lengths.push_back(columns);
        file.arrays.push_back({name, numbers(dtype::f64, lengths, x)});
    };
    put("q", 3, 4, c.q);
    put("k", 5, 4, c.k);
    put("v", 5, 2, c.v);
    put("out", 3, 2, c.computed());
    attest::write_npz(scratch("deep.npz"), file);
    for (const char* const layout : {"bhnd", "bnhd"}) {
        const int expected = std::string(layout) == "bhnd" ? 0 : 2; // 3 heads of 1 query against 5 of 1 key
        CHECK(status_of(scratch("deep.npz").string(), {"--op", "attention", "--layout", layout}) == expected);
    }
    attention_case one;
    one.n_q = one.n_k = one.d_k = one.d_v = 1;
    one.q = {0.5}, one.k = {2}, one.v = {-0.75};
    one.out = {-0.75};
    CHECK(status_of(one.write("one.npz")) == 0);
    one.out = {-0.7};
    CHECK(status_of(one.write("one.npz")) == 1);
}
