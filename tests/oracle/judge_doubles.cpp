// SPDX-License-Identifier: BSL-1.0
// What the judge settles with bounds in doubles is what it settles with 192 bits.
#include "attest/oracle/enclosure.hpp"
#include "attest/oracle/judge.hpp"
#include "catch.hpp"
#include "elements.hpp"

using namespace attest;
using namespace elements;

namespace {

// x within 2^−bits of itself, the middle `off` of that away, in two doubles or in one.
ball_in_doubles near(const exact_number& x, int bits, double off, bool two) {
    const exact_number away = ldexp(abs(x), -bits), middle = x + away * exact_number(off);
    const auto high = static_cast<double>(middle);
    const double low = two ? static_cast<double>(middle - exact_number(high)) : 0;
    const exact_number left = abs(middle - exact_number(high) - exact_number(low));
    return {high, low, detail::double_above(away + left + left)};
}

// The same in both forms.
element_facts facts_of(const element& e, const format& f, const ball_in_doubles& x, rung from, bool in_doubles) {
    const exact_number exact = x.exact(), radius = x.exact_radius();
    element_facts facts{.rounded_low = round_to(f, exact - radius), .rounded_high = round_to(f, exact + radius), .from = from, .last = false, .limits = e.limits,
                        .reach = e.reach, .hull_low = e.hull_low, .hull_high = e.hull_high, .judged = e.judged};
    if (in_doubles) facts.doubles = x;
    else {
        facts.exact = exact;
        facts.radius = radius;
    }
    return facts;
}

} // namespace

TEST_CASE("an element in doubles is settled as it is in 192 bits, and counted alike", "[oracle]") {
    kernels::generator r(11);
    for (int round = 0; round < 60; ++round) {
        std::vector<element> all = drawn(r, 60);
        for (element& e : all) {
            if (!e.exact.is_finite()) e.exact = exact_number(0);
            if (r.below(12) == 0) e.exact = exact_number(0), e.got = r.below(2) == 0 ? 0 : -0.0, e.limits = {{0, 0}, {0, 0}};
            if (r.below(12) == 0) e.got = r.below(2) == 0 ? infinity : quiet;
            if (r.below(12) == 0) e.exact = ldexp(e.exact, -140), e.got = std::ldexp(e.got, -140); // subnormal in f32
            if (r.below(12) == 0) e.limits[0].beyond = 0.25, e.hull_low = -1, e.hull_high = 1;
            if (r.below(12) == 0) e.judged = false;
        }
        const candidate made(dtype::f32, all);
        output_judge in_doubles = made.judge(f32_and_tf32()), exactly = made.judge(f32_and_tf32());
        for (const auto& [from, bits, two] : {std::tuple{rung::in_double, 45, false}, {rung::in_double_double, 95, true}})
            for (std::size_t at = 0; at < all.size(); ++at) {
                const ball_in_doubles x = near(all[at].exact, bits, static_cast<double>(r.below(2001)) / 1000.5 - 1, two);
                const bool settled = exactly.element(at, facts_of(all[at], formats::f32, x, from, false));
                CHECK(in_doubles.element(at, facts_of(all[at], formats::f32, x, from, true)) == settled);
            }
        const output_result a = in_doubles.finish(0), b = exactly.finish(0);
        CHECK(told(a) == told(b));
        CHECK((a.elements == b.elements && a.rms_ulp == b.rms_ulp && a.rungs.in_double == b.rungs.in_double && a.rungs.in_double_double == b.rungs.in_double_double));
        CHECK(a.worst->expected == b.worst->expected); // the digits
    }
}

TEST_CASE("bounds of a distance in doubles hold those in 192 bits, and are not much wider", "[oracle]") {
    kernels::generator r(12);
    std::size_t same = 0, count = 0;
    for (const format& f : {formats::f64, formats::f32, formats::f16, formats::bf16})
        for (int round = 0; round < 4000; ++round) {
            const auto uniform = [&] { return static_cast<double>(r.below(1U << 30)) * 0x1p-30; };
            const exact_number x = ldexp(exact_number(uniform() + 0.5) + ldexp(exact_number(uniform()), -30) + ldexp(exact_number(uniform()), -60), static_cast<int>(r.below(40)) - 20);
            const ball_in_doubles ball = r.below(8) == 0 ? ball_in_doubles{static_cast<double>(x), 0, 0} : near(x, 40 + static_cast<int>(r.below(60)), uniform(), r.below(2) == 0);
            const double got = round_to(f, static_cast<double>(x)) + static_cast<double>(r.below(3)) * ulp(f, static_cast<double>(x));
            if (!detail::is_finite(got)) continue; // beyond f16
            const detail::enclosed_distance quick(f, got, ball), slow(f, got, ball.exact(), ball.exact_radius());
            ++count;
            CHECK((quick.least() <= slow.least() && quick.greatest() >= slow.greatest()));
            CHECK((quick.least_size() <= slow.least_size() && quick.greatest_size() >= slow.greatest_size()));
            CHECK((quick.greatest() - slow.greatest() <= 0x1p-45 * (quick.greatest() + ball.radius)));
            if (!quick.cell_is_certain() || !quick.unit_is_certain()) continue;
            ++same;
            CHECK((slow.cell_is_certain() && slow.unit_is_certain() && quick.cell() == slow.cell() && quick.unit() == slow.unit()));
        }
    CHECK(2 * same > count);
}
