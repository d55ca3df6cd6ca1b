// SPDX-License-Identifier: BSL-1.0
// Which formats hold an input's numbers, and what that does to a limit: a wide file of narrow numbers is judged as the narrow file.
#include "attest/oracle/input_width.hpp"
#include "asked.hpp"
#include "catch.hpp"

using namespace asked;

namespace {

attest::array array_of(const std::vector<double>& values, dtype type) {
    array a{type, {values.size()}, {}};
    a.data.resize(values.size() * attest::size_of(type));
    for (std::size_t e = 0; e < values.size(); ++e) attest::encode(a, e, values[e]);
    return a;
}
std::string formats_of(const std::vector<double>& values, dtype type = dtype::f64) {
    const attest::array a = array_of(values, type);
    const attest::array_view view = a;
    const attest::input_width w = attest::width_of({nullptr, &view});
    return std::string(w.fits(attest::formats::f64) ? "f64 " : "") + (w.fits(attest::formats::f32) ? "f32 " : "") + (w.fits(attest::formats::bf16) ? "bf16 " : "") + (w.fits(attest::formats::f16) ? "f16" : "");
}

} // namespace

TEST_CASE("which formats hold an input's numbers", "[oracle]") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK(formats_of({}) == "f64 f32 bf16 f16");
    CHECK(formats_of({1, -0.5, 0, infinity, std::numeric_limits<double>::quiet_NaN()}) == "f64 f32 bf16 f16");
    CHECK(formats_of({1, 1 + 0x1p-8}) == "f64 f32 f16");
    CHECK(formats_of({1, 0x1p-30}) == "f64 f32 bf16 ");
    CHECK(formats_of({1, 0x1p-30}, dtype::bf16) == "f64 f32 bf16 "); // bf16 to f16 rounds, too
    CHECK(formats_of({1, 0x1p100}) == "f64 f32 bf16 ");
    CHECK(formats_of({1, 1 + 0x1p-12}, dtype::f32) == "f64 f32 ");
    CHECK(formats_of({0.1}) == "f64 ");
    CHECK(formats_of({1e300}) == "f64 ");
}
TEST_CASE("a wide file of narrow numbers has the limits of the narrow file", "[oracle]") {
    source in_bf16(3, attest::formats::bf16);
    question narrow{{{"op", "attention"}, {"arithmetic", "bf16+f32"}},
                    {{"q", in_bf16.normal({1, 1, 6, 8})}, {"k", in_bf16.normal({1, 1, 6, 8})}, {"v", in_bf16.normal({1, 1, 6, 8})}, {"dout", in_bf16.normal({1, 1, 6, 8})}}};
    question wide = narrow, wider = narrow;
    for (auto& [name, m] : wide.inputs) m.type = dtype::f32;
    wider.inputs = wide.inputs;
    wider.inputs["q"].values[0] += 0x1p-20; // no number of bf16
    for (const char* output : {"out", "dq", "dk", "dv"}) {
        member zeros{{1, 1, 6, 8}, std::vector<double>(48, 0), dtype::bf16};
        const auto limit = [&](const question& of) { return checked(of, {{output, zeros}}).outputs.front().worst->limit_ulp; };
        CAPTURE(output);
        CHECK(limit(wide) == limit(narrow));
        CHECK(limit(wider) > limit(narrow));
    }
}
TEST_CASE("softmax rounds an input that is wider than its arithmetic", "[oracle]") {
    const std::vector<double> x{0, 100.3, 100.1};
    std::vector<double> rounded;
    for (const double one : x) rounded.push_back(attest::round_to(attest::formats::bf16, one));
    const double e = std::exp(rounded[2] - rounded[1]);
    const question asked{{{"op", "softmax"}, {"arithmetic", "bf16+f32"}}, {{"x", {{1, 3}, x, dtype::f32}}}};
    const auto verdict = checked(asked, {{"out", {{1, 3}, {0, 1 / (1 + e), e / (1 + e)}, dtype::bf16}}}).verdict;
    CHECK((verdict == attest::verdict::consistent || verdict == attest::verdict::undecided));
}
