// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/cells.hpp"
#include "attest/oracle/enclosed_distance.hpp"
#include "catch.hpp"

#include <vector>

using namespace attest;
using namespace attest::detail;

TEST_CASE("distances and ratios fall into cells, and never fall where they grow", "[oracle]") {
    CHECK(to_cell(0, 6) == 0);
    CHECK(to_cell(0x1p-7, 6) == 0x1p-6); // halves go up
    CHECK(to_cell(0x1.fffp-8, 6) == 0);
    CHECK(to_cell(1.01, 6) == 1 + 0x1p-6);
    CHECK(to_cell(0.1, 12) == 410 * 0x1p-12);
    CHECK(to_cell(infinity_of_double, 6) == infinity_of_double);
    CHECK(to_cell(0x1p40 + 0x1p-6, 6) == 0x1p40 + 0x1p-6);
    CHECK(to_cell(0x1p41 + 0x1p-5, 6) == 0x1p41 + 0x1p-5); // 47 bits from here on
    CHECK(to_cell(0x1p41 + 0x1p-7, 6) == 0x1p41);
    CHECK(to_cell(0x1p1000 * (1 + 0x1p-46), 6) == 0x1p1000 * (1 + 0x1p-46));
    CHECK(to_cell(0x1p1000 * (1 + 0x1p-48), 6) == 0x1p1000);
    CHECK(to_cell(std::numeric_limits<double>::max(), 6) == infinity_of_double);
    CHECK(to_cell(std::numeric_limits<double>::denorm_min(), 6) == 0);
    double x = 0x1p-1074, before = 0;
    while (x < infinity_of_double) {
        for (const double next : {x, std::nextafter(x, infinity_of_double), x * 1.25, x * 1.9}) {
            const double cell = to_cell(next, 6);
            CAPTURE(next);
            CHECK(cell >= before);
            CHECK((cell == infinity_of_double || std::abs(cell - next) <= std::max(0x1p-7, next * 0x1p-46)));
            before = cell;
        }
        x *= 2;
    }
}

TEST_CASE("the mean square is exact", "[oracle]") {
    distances_squared none, some, turned, great, beyond;
    CHECK(none.root() == 0);
    const std::vector<double> distances{0, 0.5, 3, 0x1p-6, 0x1p39 + 0x1p-6, 0};
    for (const double d : distances) some.add(d);
    for (auto d = distances.rbegin(); d != distances.rend(); ++d) turned.add(*d);
    CHECK(some.root() == turned.root());
    distances_squared pair;
    pair.add(3);
    pair.add(1);
    CHECK(pair.root() == 0x1.1e3779b97f4a8p1); // √5
    for (const double d : {0x1p1000, 0x1p1000}) great.add(d);
    CHECK(great.root() == 0x1p1000); // though the squares are beyond double
    beyond.add(0x1p1023);
    beyond.add(0);
    CHECK(beyond.root() == std::sqrt(0.5) * 0x1p1023);
}

TEST_CASE("sums and conversions that err upwards", "[oracle]") {
    CHECK(sum_above(1, 2) == 3);
    CHECK(sum_above(1, 0x1p-60) == 1 + 0x1p-52);
    CHECK(sum_above(0x1p-60, 1) == 1 + 0x1p-52);
    CHECK(sum_above(1, 0x1.8p-53) == 1 + 0x1p-52); // rounded up as it is
    CHECK(sum_above(0x1p-1074, 0x1p-1074) == 0x1p-1073);
    CHECK(sum_above(0, 0) == 0);
    CHECK(sum_above(infinity_of_double, 1) == infinity_of_double);
    CHECK(sum_above(std::numeric_limits<double>::max(), std::numeric_limits<double>::max()) == infinity_of_double);
    const exact_number one(1), small = ldexp(one, -100);
    CHECK(double_above(one) == 1);
    CHECK(double_above(one + small) == 1 + 0x1p-52);
    CHECK(double_above(one - small) == 1);
    CHECK(double_above(ldexp(one, -2000)) == 0x1p-1074);
    CHECK(double_above(ldexp(one, 2000)) == infinity_of_double);
}
