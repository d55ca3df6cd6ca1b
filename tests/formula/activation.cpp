// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/activation.hpp"
#include "attest/arithmetic/dual.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/shape/ranges.hpp"
#include "catch.hpp"
#include "gradient/rational.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <string>

using namespace attest;
using exactly::rational;

namespace {

using many = real<50>;

struct n : axis<5> {};
struct d : axis<3> {};
using dyn = axis<dynamic>;

constexpr double infinity = std::numeric_limits<double>::infinity(), nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr gelu_form forms[] = {gelu_form::erf, gelu_form::tanh, gelu_form::sigmoid};

static_assert(relu(-3) == 0 && relu(0) == 0 && relu(3) == 3 && step(-3) == 0 && step(0) == 0 && step(3) == 1);
static_assert(relu(tensor<int, n>{-2, -1, 0, 1, 2}) == tensor<int, n>{0, 0, 0, 1, 2});
static_assert(gelu(0.0) == 0 && gelu(1.0) > 0.8413 && gelu(1.0) < 0.8414);
static_assert(activation{}(-1.5) == 0 && activation{activation_kind::gelu}(1.0) == gelu(1.0), "ReLU unless told");
static_assert(activation{activation_kind::gelu, gelu_form::tanh}(1.0) == gelu(1.0, gelu_form::tanh));
// Any arithmetic has a ReLU, if it has an order; a GELU only one that has the functions.
static_assert(has_gelu<double, gelu_form::erf> && has_gelu<float, gelu_form::tanh> && has_gelu<many, gelu_form::sigmoid> &&
              has_gelu<dual<many>, gelu_form::tanh>);
static_assert(!has_gelu<rational, gelu_form::erf> && !has_gelu<rational, gelu_form::tanh> &&
              !has_gelu<rational, gelu_form::sigmoid>);

double as_double(const many& x) { return static_cast<double>(x); }

// The place of the greatest f in [a, b], where f rises and then falls, to 25 digits or more: by thirds.
template <class F>
many place_of_greatest(const F& f, many a, many b) {
    for (int i = 0; i < 140; ++i) {
        const many third = (b - a) / many(3), left = a + third, right = b - third;
        if (f(left) < f(right))
            a = left;
        else
            b = right;
    }
    return (a + b) / many(2);
}

// Whether x, rounded to as many digits as `printed` has after the point, is `printed`.
bool rounds_to(const many& x, const std::string& printed) {
    const many unit = many(many::number("1e-" + std::to_string(printed.size() - printed.find('.') - 1)));
    return abs(x - many(many::number(printed))) <= unit / many(2);
}

} // namespace

TEST_CASE("ReLU and its slope, exactly", "[formula]") {
    std::mt19937_64 generator(81);
    for (int i = 0; i < 500; ++i) {
        const rational x(static_cast<int>(generator() % 2001) - 1000, static_cast<int>(1 + generator() % 50)), half(1, 2);
        const rational size = x < 0 ? -x : x;
        CAPTURE(x.text());
        CHECK(relu(x) == (x + size) * half);
        CHECK(relu(x) - relu(-x) == x);
        CHECK(relu(relu(x)) == relu(x));
        CHECK(step(x) * x == relu(x));
        CHECK(step(x) == (rational(0) < x ? 1 : 0));
    }
    CHECK(relu(rational(0)) == 0);
    CHECK(step(rational(0)) == 0);
}

TEST_CASE("ReLU and its slope at special values", "[formula]") {
    CHECK(relu(infinity) == infinity);
    CHECK(relu(-infinity) == 0);
    CHECK(std::isnan(relu(nan_value)));
    CHECK(relu(-0.0) == 0);
    CHECK(relu(0x1p-1074) == 0x1p-1074);
    CHECK(relu(-0x1p-1074) == 0);
    CHECK(step(infinity) == 1);
    CHECK(step(-infinity) == 0);
    CHECK(std::isnan(step(nan_value)));
    CHECK(step(0.0) == 0);
    CHECK(step(-0.0) == 0);
    CHECK(step(0x1p-1074) == 1);
    CHECK(relu(many(-2)).is_zero());
    CHECK(relu(std::numeric_limits<many>::quiet_NaN()).is_nan());
}

TEST_CASE("GELU's forms at some points, against 40 digits", "[formula]") {
    // x·Φ(x), and the other two, computed with mpmath 1.3.0.
    const struct {
        double x;
        const char *by_erf, *by_tanh, *by_sigmoid;
    } points[] = {
        {-6.0, "-0.000000005919525870226188844205184794388252112019", "-0.00000000008439646700762297083699443089065088760202",
         "-0.0002203535497873924039494171649389819017803"},
        {-3.0, "-0.004049694094890283579955444302784932133488", "-0.003637392081773018837816466131891391830203",
         "-0.01807130970778596651264126699587395119984"},
        {-1.0, "-0.1586552539314570514147674543679620775221", "-0.1588080093917232952180042229548161391742",
         "-0.1542042340671787042928931734746026622378"},
        {-0.75, "-0.1699705142826511494952966270376073088268", "-0.1700394448343796958158558030135002932882",
         "-0.1636099424653621678325452580377843835347"},
        {-0.125, "-0.05628272189623588837758804626119122000335", "-0.05628280137577661217244453727464800706447",
         "-0.05587652662189534591073113764380889301014"},
        {0.125, "0.06871727810376411162241195373880877999665", "0.06871719862422338782755546272535199293553",
         "0.06912347337810465408926886235619110698986"},
        {0.5, "0.3457312306370065518188523053041688699418", "0.3457140098251439220377572573645232197679",
         "0.350388436606380123169862028621845786728"},
        {1.0, "0.8413447460685429485852325456320379224779", "0.8411919906082767047819957770451838608258",
         "0.8457957659328212957071068265253973377622"},
        {2.5, "2.48447583668555966208255473856451944718", "2.484915733910001417920507677542289286985",
         "2.465013834951429925565324076853467397779"},
        {4.0, "3.999873315032667520314984916973111394806", "3.999929754051807627310181874202751161929",
         "3.995585275860418938641289558361068081807"},
    };
    for (const auto& [x, by_erf, by_tanh, by_sigmoid] : points) {
        CAPTURE(x);
        const auto near = [](const many& a, const char* b) { return abs(a / many(many::number(b)) - many(1)) < many(1e-38); };
        CHECK(near(gelu(many(x)), by_erf));
        CHECK(near(gelu(many(x), gelu_form::erf), by_erf));
        CHECK(near(gelu(many(x), gelu_form::tanh), by_tanh));
        CHECK(near(gelu(many(x), gelu_form::sigmoid), by_sigmoid));
    }
}

TEST_CASE("how far GELU's forms are apart", "[formula]") {
    const auto between = [](gelu_form form) { return [form](const many& x) { return abs(gelu(x) - gelu(x, form)); }; };
    // A105: 4.7323552e-4 at 2.6989414, and 0.0203348722 at 2.2703977; at −x as at x, since gelu(x) − gelu(−x) = x in every form.
    const many x_tanh = place_of_greatest(between(gelu_form::tanh), many(2), many(4));
    CHECK(rounds_to(x_tanh, "2.6989414"));
    CHECK(rounds_to(between(gelu_form::tanh)(x_tanh), "0.00047323552"));
    CHECK(rounds_to(between(gelu_form::tanh)(-x_tanh), "0.00047323552"));
    const many x_sigmoid = place_of_greatest(between(gelu_form::sigmoid), many(1), many(4));
    CHECK(rounds_to(x_sigmoid, "2.2703977"));
    CHECK(rounds_to(between(gelu_form::sigmoid)(x_sigmoid), "0.0203348722"));
    CHECK(rounds_to(between(gelu_form::sigmoid)(-x_sigmoid), "0.0203348722"));
    // And nowhere further: on a grid over the range where they differ at all.
    for (int i = -2000; i <= 2000; ++i) {
        const many x = many(i) / many(200);
        if (!(between(gelu_form::tanh)(x) <= many(4.7323553e-4)) || !(between(gelu_form::sigmoid)(x) <= many(0.02033487225))) {
            CAPTURE(i);
            FAIL("further apart than the greatest distance");
        }
    }
}

TEST_CASE("GELU's minimum and its largest slope", "[formula]") {
    const many at = place_of_greatest([](const many& x) { return -gelu(x); }, many(-2), many(0));
    CHECK(rounds_to(at, "-0.7517915247"));
    CHECK(rounds_to(gelu(at), "-0.1699712075"));
    const auto slope = [](const many& x) { return gelu(dual<many>(x, many(1))).derivative(); };
    const many steepest = place_of_greatest(slope, many(1), many(2));
    CHECK(abs(steepest - attest::sqrt(many(2))) < many(1e-20));
    CHECK(rounds_to(slope(steepest), "1.1289041452")); // 1.12890414518…
    CHECK(rounds_to(slope(-steepest), "-0.1289041452"));
}

TEST_CASE("gelu(x) − gelu(−x) = x in each form", "[formula]") {
    std::mt19937_64 generator(82);
    for (int i = 0; i < 300; ++i) {
        const many x(std::uniform_real_distribution<>(-9, 9)(generator));
        for (const auto form : forms) {
            CAPTURE(as_double(x), static_cast<int>(form));
            CHECK(abs(gelu(x, form) - gelu(-x, form) - x) < ldexp(many(1), -180));
        }
    }
}

TEST_CASE("GELU in double: the absolute error is what the docstring says, and far below 0 the relative one is not small",
          "[formula]") {
    std::mt19937_64 generator(83);
    for (int i = 0; i < 10000; ++i) {
        const double x = std::uniform_real_distribution<>(-12, 12)(generator) *
                         std::exp2(i % 3 == 0 ? -static_cast<double>(generator() % 40) : 0.0);
        for (const auto form : forms) {
            const double error = std::abs(as_double(many(gelu(x, form)) - gelu(many(x), form)));
            if (!(error <= 0x1p-52 * std::abs(x))) {
                CAPTURE(x, static_cast<int>(form), error * 0x1p53 / std::abs(x));
                FAIL("further off than the docstring says");
            }
        }
        const many exact = gelu(many(x), gelu_form::sigmoid);
        if (!(std::abs(as_double((many(gelu(x, gelu_form::sigmoid)) - exact) / exact)) <= 4 * (1 + std::abs(x)) * 0x1p-53)) {
            CAPTURE(x);
            FAIL("the sigmoid form has lost digits");
        }
    }
    // With 50 digits it is the same, later.
    using wide = real<100>;
    for (int i = 0; i < 500; ++i) {
        const many x(std::uniform_real_distribution<>(-20, 20)(generator));
        for (const auto form : forms) {
            const wide error = wide(wide::number(gelu(x, form).value())) - gelu(wide(wide::number(x.value())), form);
            if (!(abs(error) <= ldexp(abs(wide(wide::number(x.value()))), -190))) {
                CAPTURE(as_double(x), static_cast<int>(form), error.text(5));
                FAIL("further off than 2^-190 |x|");
            }
        }
    }
    CHECK(gelu(-8.39) == 0); // the true value:
    CHECK(rounds_to(gelu(many(-8.39)) * many(1e15), "-0.20"));
    CHECK(gelu(-7.31, gelu_form::tanh) == 0);
    CHECK(gelu(-100.0, gelu_form::sigmoid) < 0);
}

TEST_CASE("GELU at special values", "[formula]") {
    for (const auto form : forms) {
        CAPTURE(static_cast<int>(form));
        CHECK(gelu(infinity, form) == infinity);
        CHECK(std::isnan(gelu(-infinity, form)));
        CHECK(std::isnan(gelu(nan_value, form)));
        CHECK(std::isnan(gelu(std::numeric_limits<float>::quiet_NaN(), form)));
        CHECK(gelu(std::numeric_limits<many>::quiet_NaN(), form).is_nan());
        CHECK(gelu(0.0, form) == 0);
        CHECK(gelu(1e300, form) == 1e300);
        CHECK(gelu(-1e300, form) == 0);
        CHECK(gelu(100.0F, form) == 100);
        CHECK(gelu(0x1p-1060, form) == 0x1p-1061); // slope 1/2 at 0
    }
}

TEST_CASE("activations work element by element, on vectors, matrices and views, on fixed and dynamic axes", "[formula]") {
    std::mt19937_64 generator(84);
    tensor<double, n, d> x;
    for (double& value : attest::elements(x)) value = std::uniform_real_distribution<>(-3, 3)(generator);
    const tensor<double, dyn, dyn> with_run_time_lengths(x);
    for (const auto kind : {activation_kind::relu, activation_kind::gelu})
        for (const auto form : forms) {
            const activation how{kind, form};
            const auto y = activate(x, how);
            CHECK(activate(with_run_time_lengths, how) == y);
            CHECK((kind == activation_kind::relu ? relu(x) : gelu(x, form)) == y);
            for (std::size_t i = 0; i < 5; ++i) {
                CHECK(activate(x[i], how) == y[i]);
                CHECK((kind == activation_kind::relu ? relu(x[i]) : gelu(x[i], form)) == y[i]);
                for (std::size_t j = 0; j < 3; ++j) CHECK(y(i, j) == how(x(i, j)));
            }
        }
    CHECK(gelu(x) == gelu(x, gelu_form::erf));
    CHECK(activate(tensor<double, dyn>{}, activation{}).length(0) == 0);
}

TEST_CASE("an arithmetic without the functions of GELU has its ReLU, and says that it lacks GELU", "[formula]") {
    CHECK(activation{}(rational(-1, 3)) == 0);
    CHECK(activation{}(rational(1, 3)) == rational(1, 3));
    for (const auto form : forms) {
        const activation how{activation_kind::gelu, form};
        CHECK_THROWS_AS(how(rational(1, 3)), no_such_function);
    }
    CHECK(std::string(no_such_function().what()).find("lacks a function") != std::string::npos);
}

TEST_CASE("GELU in float lies where its own arithmetic lets it", "[formula]") {
    std::mt19937_64 generator(85);
    for (int i = 0; i < 10000; ++i) {
        const float x = std::uniform_real_distribution<float>(-9, 9)(generator);
        for (const auto form : forms) {
            const double error =
                std::abs(static_cast<double>(gelu(x, form)) - as_double(gelu(many(static_cast<double>(x)), form)));
            if (!(error <= 0x1p-23 * std::abs(static_cast<double>(x)))) { // as in double
                CAPTURE(x, static_cast<int>(form), error);
                FAIL("too far off for float");
            }
        }
    }
}
