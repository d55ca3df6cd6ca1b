// SPDX-License-Identifier: BSL-1.0
// A small part of the trials (tests/bench/trials.cpp): a few runs of each arithmetic, kernel and pass on the inputs that misled limits before, the named cases,
// the kernel that loses a key, and all six verdicts. And that the trials' own rounding is right.
#include "catch.hpp"

#include "bench/trials_sections.hpp"

using namespace trials;
using attest::verdict;

namespace {

// True if both are NaN, or the same number with the same sign.
bool same(float a, double b) { return std::isnan(b) ? std::isnan(a) : static_cast<double>(a) == b && std::signbit(a) == std::signbit(b); }

void right_kernels(const std::vector<std::string>& names, std::size_t runs) {
    for (const trial_family& f : all_families()) {
        if (std::find(names.begin(), names.end(), f.name) == names.end()) continue;
        for (const setting& s : all_settings)
            for (const pass p : {pass::forward, pass::backward})
                for (const kernel_kind& kind : kinds_of(s, p)) {
                    const tally t = run_line(s, kind, f, p, runs, false, 2);
                    CAPTURE(s.arithmetic, kind.name, f.name, name_of(p));
                    CHECK(t.runs == runs);
                    CHECK(t.fails == 0);
                }
    }
}

} // namespace

TEST_CASE("trials: fast rounding is that of formats.hpp", "[oracle]") {
    static constexpr attest::format eleven_bits{11, -126, 127};
    const auto check = [](float x) {
        const auto wide = static_cast<double>(x);
        if (same(to_bf16(x), attest::round_to(attest::formats::bf16, wide)) && same(to_f16(x), attest::round_to(attest::formats::f16, wide)) &&
            same(to_tf32(x), attest::round_to(eleven_bits, wide)))
            return true;
        CAPTURE(x, to_bf16(x), to_f16(x), to_tf32(x));
        CHECK(false);
        return false;
    };
    // Every exponent, with fractions at and next to ties.
    std::size_t checked = 0;
    for (std::uint32_t field = 0; field < 512; ++field)
        for (const std::uint32_t fraction : {0x000000U, 0x000001U, 0x007fffU, 0x008000U, 0x008001U, 0x000fffU, 0x001000U, 0x001001U, 0x017fffU, 0x018000U, 0x018001U, 0x002fffU, 0x003000U,
                                             0x003001U, 0x7f7fffU, 0x7f8000U, 0x7fefffU, 0x7ff000U, 0x7fffffU, 0x400000U, 0x200000U, 0x3fffffU})
            checked += check(std::bit_cast<float>((field << 23) | fraction)) ? 1 : 0;
    generator r(1);
    for (int k = 0; k < 200000; ++k) {
        auto bits = static_cast<std::uint32_t>(r.bits());
        if (k % 2 == 0) bits = (bits & 0x807fffffU) | (static_cast<std::uint32_t>(100 + r.below(46)) << 23); // where f16 has its subnormals and its end
        checked += check(std::bit_cast<float>(bits)) ? 1 : 0;
    }
    CHECK(checked == 512 * 22 + 200000);
}

TEST_CASE("trials: sums in every order add every term once", "[oracle]") {
    generator r(2);
    for (int k = 0; k < 300; ++k) {
        const sum_style how = draw_sum(r);
        const std::size_t n = r.below(70), d = 1 + r.below(3), stride = d + r.below(2);
        std::vector<double> weight(n), row(n * stride), to(d), expected(d);
        for (double& x : weight) x = static_cast<double>(r.below(100)); // whole numbers: every order gives the same
        for (double& x : row) x = static_cast<double>(r.below(100));
        for (std::size_t c = 0; c < d; ++c) {
            to[c] = expected[c] = static_cast<double>(r.below(100));
            for (std::size_t t = 0; t < n; ++t) expected[c] += weight[t] * row[t * stride + c];
        }
        sums<double>(how).add(weight.data(), row.data(), stride, n, d, to.data());
        CAPTURE(how.text(), n, d);
        CHECK(to == expected);
    }
}

TEST_CASE("trials: right kernels, rows of 1 to 16", "[oracle]") { right_kernels({"n = 1 to 16"}, 4); }
TEST_CASE("trials: right kernels on inputs with something special", "[oracle]") {
    right_kernels({"v mean 4", "v constant", "q = 0", "equal keys", "repeated tokens", "k = v", "one key seen", "logits 100", "logits 1e4", "spread 1e-2", "spread 1e-3", "one token", "dout mean 4"},
                  1);
}
TEST_CASE("trials: right kernels on 683 keys", "[oracle]") { right_kernels({"n = 683", "n = 683, q = 0"}, 1); }

// The scale in dS, q or k below the normal range; sums of unnormalised weights beyond its end.
TEST_CASE("trials: right kernels at the ends of the range", "[oracle]") { right_kernels({"q subnormal", "q subnormal, k huge", "q, k tiny", "v greatest"}, 4); }

TEST_CASE("trials: named cases", "[oracle]") {
    for (const named_case& c : named_cases()) {
        CAPTURE(c.name);
        summary all;
        (void)run_named(c, 3, 3, all); // that the greatest error reaches a quarter of the limit takes more runs: tests/bench/trials.cpp
        CHECK(all.runs == 3);
        CHECK(all.false_fails == 0);
    }
}

TEST_CASE("trials: all six verdicts", "[oracle]") {
    for (const verdict v : {verdict::exact, verdict::consistent, verdict::undecided, verdict::suspicious, verdict::inaccurate, verdict::wrong})
        CHECK(std::string(name_of(case_of(v).verdict)) == std::string(name_of(v)));
}
