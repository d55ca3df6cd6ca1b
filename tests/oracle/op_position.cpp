// SPDX-License-Identifier: BSL-1.0
// The ops of positions: values and gradients against plain formulas, right and wrong programs judged.
#include "held.hpp"

using namespace asked;

namespace {

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
namespace rules = attest::rules;

// x [b, h, n, d] or [b, n, d]; positions as attention takes them.
auto rope_of(const options& o) {
    return [o](const auto& in) {
        using N = typename std::decay_t<decltype(in["x"].values)>::value_type;
        const lengths& shape = in["x"].shape;
        const std::size_t slices = in["x"].values.size() / (shape[shape.size() - 1] * shape[shape.size() - 2]), per_batch = slices / shape[0];
        plain::tensor<N> out{shape, {}};
        for (std::size_t s = 0; s < slices; ++s) {
            plain::table<N> rows = in.slice("x", s);
            plain::rotate_rows(rows, in, "", o, s / per_batch, 0, rows.rows);
            out.values.insert(out.values.end(), rows.values.begin(), rows.values.end());
        }
        return plain::results<N>{{"out", out}};
    };
}

auto learned_of(std::size_t offset) {
    return [offset](const auto& in) {
        using N = typename std::decay_t<decltype(in["x"].values)>::value_type;
        const std::size_t n = in["x"].shape[in["x"].shape.size() - 2], d = in["x"].shape.back();
        plain::tensor<N> out{in["x"].shape, {}};
        for (std::size_t e = 0; e < in["x"].values.size(); ++e) out.values.push_back(in["x"].values[e] + in["table"].values[(e / d % n + offset) * d + e % d]);
        return plain::results<N>{{"out", out}};
    };
}

template <class T> member sinusoidal_table(std::size_t n, std::size_t d) {
    member m{{n, d}, {}};
    for (std::size_t t = 0; t < n; ++t)
        for (std::size_t c = 0; c < d; ++c) {
            const T angle = static_cast<T>(t) / std::pow(T(10000), T(2) * static_cast<T>(c / 2) / static_cast<T>(d));
            m.values.push_back(static_cast<double>(c % 2 == 0 ? std::sin(angle) : std::cos(angle)));
        }
    return m;
}

} // namespace

TEST_CASE("sinusoidal, also of odd dimensions", "[oracle]") {
    for (const std::size_t d : lengths{1, 2, 5, 8})
        for (const std::size_t n : lengths{1, 40}) {
            const question asked{{{"op", "sinusoidal"}, {"length", std::to_string(n)}, {"d-model", std::to_string(d)}}, {}};
            INFO(n << " positions, " << d << " components");
            const auto values = values_of(asked, {"out"});
            REQUIRE(values.at("out").shape == lengths{n, d});
            for (std::size_t t = 0; t < n; ++t)
                for (std::size_t c = 0; c < d; ++c) {
                    const long double angle = static_cast<long double>(t) / std::pow(10000.0L, 2.0L * static_cast<long double>(c / 2) / static_cast<long double>(d));
                    CHECK(std::fabs(values.at("out").values[t * d + c] - (c % 2 == 0 ? std::sin(angle) : std::cos(angle))) <= 1e-17L * (1 + angle));
                }
            member made = sinusoidal_table<double>(n, d);
            CHECK(attest::passes(checked(asked, {{"out", made}}).verdict));
            if (n == 1) continue;
            made.values[7 * d] += 1e-9;
            const auto bad = checked(asked, {{"out", made}});
            CHECK(is_bad(bad.verdict));
            CHECK(bad.outputs[0].outside_certain == 1);
        }
    const question asked{{{"op", "sinusoidal"}, {"length", "6"}, {"d-model", "4"}}, {}};
    // Sines first, then cosines: the form of other programs.
    member halves = sinusoidal_table<double>(6, 4);
    for (std::size_t t = 0; t < 6; ++t) std::swap(halves.values[t * 4 + 1], halves.values[t * 4 + 2]);
    CHECK(is_bad(checked(asked, {{"out", halves}}).verdict));
    // f32: not decided; rounded once: exact.
    member narrow = sinusoidal_table<long double>(6, 4);
    narrow.type = dtype::f32;
    CHECK(checked(asked, {{"out", narrow}}).verdict == attest::verdict::exact);
    narrow.values[9] *= 1.001;
    CHECK(checked(asked, {{"out", narrow}}).verdict == attest::verdict::undecided);
    said(refusal_of({{{"op", "sinusoidal"}, {"length", "6"}}, {}}), {"d-model"});
    said(refusal_of({{{"op", "sinusoidal"}, {"length", "100000"}, {"d-model", "100000"}}, {}}), {"out [100000, 100000]", "10000000000", "at most"});
    said(refusal_of(asked, {{"out", {{4, 6}, std::vector<double>(24)}}}), {"out [4, 6]", "expected [6, 4]"});
}

TEST_CASE("learned positions with an offset", "[oracle]") {
    source s(41);
    for (const std::size_t offset : lengths{0, 2})
        for (const char* layout : {"bhnd", "bnhd", "nbd"})
            for (const lengths& shape : {lengths{2, 3, 4}, lengths{3, 4}}) {
                question asked{{{"op", "learned_position"}, {"position-offset", std::to_string(offset)}}, {{"x", s.normal(shape)}, {"table", s.normal({6, 4})}, {"dout", s.normal(shape)}}};
                asked.layout = layout;
                INFO("offset " << offset << ", " << layout << ", x " << attest::shape_text(shape));
                hold(asked, learned_of(offset));
                fails(asked, asked, learned_of(offset + 1), {"out", "dtable"});
            }
    const question asked{{{"op", "learned_position"}}, {{"x", s.normal({2, 3, 4})}, {"table", s.normal({6, 4})}, {"dout", s.normal({2, 3, 4})}}};
    const auto with = [&](const std::string& name, const member& m, const attest::settings& more = {}, const char* wanted = "out") {
        question other = asked;
        other.inputs[name] = m;
        return refusal_of(other, {{wanted, s.normal({2, 3, 4})}}, more);
    };
    said(with("table", s.normal({2, 4})), {rules::position_in_table::sentence, "x [2, 3, 4]", "table [2, 4]", "3 and 2"});
    said(with("nothing", s.normal({1}), {{"position-offset", "4"}}), {rules::position_in_table::sentence, "x [2, 3, 4]", "table [6, 4]", "7 and 6"});
    said(with("nothing", s.normal({1}), {{"position-offset", "999999999"}}), {rules::position_in_table::sentence});
    said(with("table", s.normal({6, 3})), {rules::position_component_for_each_component::sentence, "x [2, 3, 4]", "table [6, 3]"});
    said(with("table", s.normal({1, 6, 4})), {"table [1, 6, 4]", "two dimensions"});
    said(with("table", s.normal({6})), {"table [6]", "dimensions"});
    said(with("dout", s.normal({3, 4}), {}, "dx"), {rules::gradient_has_shape_of_output::sentence, "dout [3, 4]", "out [2, 3, 4]"});
    said(refusal_of({{{"op", "learned_position"}}, {{"x", s.normal({0, 4})}, {"table", s.normal({6, 4})}}}, {{"out", s.normal({0, 4})}}), {"nothing to compare"});
    // A single vector is one row.
    const question vector{{{"op", "learned_position"}, {"position-offset", "1"}}, {{"x", {{2}, {1, 2}}}, {"table", {{2, 2}, {0, 0, 10, 20}}}}};
    CHECK(checked(vector, {{"out", {{2}, {11, 22}}}}).verdict == attest::verdict::exact);
}

TEST_CASE("RoPE in both pairings, partial, at any positions", "[oracle]") {
    source s(42);
    for (const bool half : {false, true})
        for (const std::size_t rotated : lengths{0, 4})
            for (const char* layout : {"bhnd", "bnhd", "nbd"}) {
                options o;
                o.half = half;
                o.rotated = rotated;
                question asked{{{"op", "rope"}}, {{"x", s.normal({2, 3, 4, 6})}, {"dout", s.normal({2, 3, 4, 6})}}};
                if (half) asked.settings.emplace_back("rope-pairing", "half");
                if (rotated) asked.settings.emplace_back("rope-dim", "4");
                asked.layout = layout;
                INFO((half ? "half" : "interleaved") << ", rotated " << rotated << ", " << layout);
                hold(asked, rope_of(o));
                options other = o;
                other.half = !half;
                fails(asked, asked, rope_of(other), {"out", "dx"});
                other = o;
                other.offset = 1;
                fails(asked, asked, rope_of(other), {"out", "dx"});
                other = o;
                other.rotated = 2;
                fails(asked, asked, rope_of(other), {"out", "dx"});
                asked.inputs["positions"] = integers({4}, {5, 0, 1000, 2});
                hold(asked, rope_of(o));
                asked.inputs["positions"] = integers({2, 4}, {5, 0, 1, 2, 9, 8, 7, 6});
                hold(asked, rope_of(o));
                asked.inputs["positions"] = {{1, 4}, {-1, 0.5, 3, 2.25}};
                hold(asked, rope_of(o));
                asked.inputs.erase("positions");
                o.offset = 123;
                o.base = 500;
                asked.settings.emplace_back("position-offset", "123");
                asked.settings.emplace_back("rope-base", "500");
                hold(asked, rope_of(o));
            }
    // Rotated forwards in the backward pass.
    const question asked{{{"op", "rope"}}, {{"x", s.normal({1, 4, 6})}, {"dout", s.normal({1, 4, 6})}}};
    question exchanged = asked;
    exchanged.inputs["x"] = asked.inputs.at("dout");
    members bad{{"dx", candidates_of(run<double>(exchanged, rope_of({}))).at("out")}};
    CHECK(is_bad(checked(asked, bad).verdict));
}

TEST_CASE("positions of sequences without heads", "[oracle]") {
    source s(43);
    // [b, n, d] with positions [b, n].
    question asked{{{"op", "rope"}}, {{"x", s.normal({3, 4, 2})}, {"dout", s.normal({3, 4, 2})}, {"positions", integers({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})}}};
    hold(asked, rope_of({}));
    // A single vector is one row, at position-offset.
    const question vector{{{"op", "rope"}, {"position-offset", "3"}}, {{"x", {{2}, {1, 0}}}}};
    CHECK(attest::passes(checked(vector, {{"out", {{2}, {std::cos(3.0), std::sin(3.0)}}}}).verdict));
}

TEST_CASE("RoPE refuses what does not fit", "[oracle]") {
    source s(44);
    const question asked{{{"op", "rope"}}, {{"x", s.normal({2, 3, 4, 6})}, {"dout", s.normal({2, 3, 4, 6})}}};
    const auto with = [&](const std::string& name, const member& m, const attest::settings& more = {}, const char* wanted = "out") {
        question other = asked;
        other.inputs[name] = m;
        return refusal_of(other, {{wanted, s.normal({2, 3, 4, 6})}}, more);
    };
    said(with("x", s.normal({4, 5})), {rules::even_dimension::sentence, "x [4, 5]", "5 and 2"});
    said(with("nothing", s.normal({1}), {{"rope-dim", "8"}}), {"x [2, 3, 4, 6]", "rope-dim", "8"});
    said(with("positions", s.normal({5})), {"positions [5]", "x [2, 3, 4, 6]", "[b, n]"});
    said(with("positions", s.normal({4, 4})), {"positions [4, 4]", "x [2, 3, 4, 6]"});
    said(with("positions", s.normal({2, 3, 4})), {"positions [2, 3, 4]"});
    said(with("positions", {{}, {1}}), {"positions []"});
    said(with("positions", s.normal({0, 4})), {"positions [0, 4]"});
    said(with("dout", s.normal({3, 4, 6}), {}, "dx"), {rules::gradient_has_shape_of_output::sentence, "dout [3, 4, 6]", "out [2, 3, 4, 6]"});
    said(refusal_of({{{"op", "rope"}}, {{"x", s.normal({2, 0, 4})}}}, {{"out", s.normal({2, 0, 4})}}), {"nothing to compare"});
    said(refusal_of({{{"op", "rope"}}, {{"x", s.normal({0, 2, 4})}, {"positions", s.normal({2})}}}, {{"out", s.normal({0, 2, 4})}}), {"nothing to compare"});
    said(refusal_of({{{"op", "rope"}}, {{"x", s.normal({2, 0})}}}, {{"out", s.normal({2, 0})}}), {"nothing to compare"});
    // Positions that are no numbers, or beyond all bounds.
    for (const double bad : {quiet, infinity, 1e300, -1e308})
        said(refusal_of({{{"op", "rope"}}, {{"x", s.normal({2, 4})}, {"positions", {{2}, {0, bad}}}}}, {{"out", s.normal({2, 4})}}), {"positions", "2^53"});
    said(with("nothing", s.normal({1}), {{"rope-base", "1e-300"}}), {"rope-base", "2^-40"});
    const question far{{{"op", "rope"}, {"rope-base", "0x1p-40"}}, {{"x", s.normal({2, 64})}, {"positions", {{2}, {0x1p53, -0x1p53}}}}};
    CHECK_NOTHROW(checked(far, {{"out", s.normal({2, 64})}}));
}
