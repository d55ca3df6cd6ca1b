// SPDX-License-Identifier: BSL-1.0
// The parts of the limits: suffixes of arithmetics, sizes of scores, values that round alike, orders of summation, what a stored query does.
#include "limits_rows.hpp"
#include "limits_machine.hpp"
#include "catch.hpp"

#include <numeric>

using namespace attest;
using kernels::generator;

TEST_CASE("suffixes of arithmetics", "[oracle]") {
    for (const arithmetic& a : arithmetics) {
        const std::string name(a.name);
        CHECK(find_arithmetic(name) == &a);
        const arithmetic *cut = find_arithmetic(name + "/truncate"), *flushed = find_arithmetic(name + "/ftz"),
                         *both = find_arithmetic(name + "/truncate/ftz");
        REQUIRE((cut != nullptr && flushed != nullptr && both != nullptr));
        CHECK(both == find_arithmetic(name + "/ftz/truncate"));
        CHECK(cut->name == name + "/truncate");
        CHECK(flushed->name == name + "/ftz");
        CHECK(both->name == name + "/truncate/ftz");
        CHECK((cut->unit == 2 * a.unit && cut->operand == 2 * a.operand && cut->tiny == 2 * a.tiny));
        // What is stored in 16 bits still rounds.
        CHECK((cut->weight == a.weight && cut->weight_tiny == a.weight_tiny && cut->score == a.score && cut->exp_relative == a.exp_relative));
        CHECK((flushed->unit == a.unit && flushed->tiny == (a.name == "f64" ? 0x1p-1022 : 0x1p-126) && flushed->operand_tiny == flushed->tiny));
        CHECK((both->unit == 2 * a.unit && both->tiny == flushed->tiny && both->output == a.output));
    }
    CHECK(find_arithmetic("bf16/ftz")->weight_tiny == 0x1p-126);
    CHECK(find_arithmetic("f16/ftz")->weight_tiny == 0x1p-25); // f16 keeps its subnormals
    for (const char* unknown : {"f33", "f32/", "f32/flush", "f32/ftz/ftz", "/ftz", "", "f32/truncate/ftz/", "F32"})
        CHECK(find_arithmetic(unknown) == nullptr);
}

TEST_CASE("sizes of scores", "[oracle]") {
    const score_vector q = score_vector::query({3, -2, 0}, 0.25), k = score_vector::key({1, 5, 7}, 0.25);
    const score_size s = size_of_dot(q, k, true);
    CHECK(s.terms == 3 + 10);
    CHECK(s.operands == 5 + 13);
    CHECK(s.key_square == 0); // times 1/4 and 1/2 nothing is lost
    CHECK(s.query > 0);       // times log2 e it is
    // 1 and 2 have one fraction, and round alike; 3 does not.
    const score_vector alike({1, 2, 3});
    CHECK(size_of_dot(score_vector({1, 1, 1}), alike, true).key_square == 9 + 9);
    CHECK(size_of_dot(score_vector({1, -1, 1}), alike, true).key_square == 5 + 9);
    // A pair of norm 5 at angle 2, and one component that is not turned.
    const score_vector turned = rotated_vector({3, 4, 7}, {.dimensions = 2}, 2);
    CHECK((turned.norm[0] == 5 && turned.norm[1] == 5 && turned.norm[2] == 0));
    CHECK((turned.turn[0] == 12 && turned.turn[2] == 0));
    CHECK(rotated_vector({3, 4}, {}, 0).norm[0] == 0);
    CHECK(rotated_vector({1, 2, 3, 4}, {.half = true}, 1).norm[0] == Approx(std::sqrt(10.0)));
    // Bilinear and additive: against plain loops.
    generator r(4);
    const auto draw = [&](std::size_t n) { return kernels::draw(r, n, 0, 1, formats::f32); };
    const std::size_t d = 5, a = 3;
    const auto qx = draw(d), kx = draw(d), w = draw(d * d), w1 = draw(a * d), w2 = draw(a * d), b = draw(a);
    const bilinear_sizes bilinear({d, d, w});
    double terms = 0, projected = 0;
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j) terms += std::fabs(qx[i] * w[i * d + j] * kx[j]);
    CHECK(bilinear(bilinear.of_query(score_vector(qx)), bilinear.of_key(score_vector(kx)), true).terms == Approx(terms));
    const additive_sizes additive({a, d, w1}, {a, d, w2}, b);
    terms = 0;
    for (std::size_t i = 0; i < a; ++i) {
        double h = 0, size = 0;
        for (std::size_t c = 0; c < d; ++c)
            h += w1[i * d + c] * kx[c] + w2[i * d + c] * qx[c], size += std::fabs(w1[i * d + c] * kx[c]) + std::fabs(w2[i * d + c] * qx[c]);
        terms += std::fabs(b[i] * std::tanh(h));
        projected += std::fabs(b[i]) * (1 - std::tanh(h) * std::tanh(h)) * size;
    }
    const score_size of_additive = additive(additive.of_query(score_vector(qx)), additive.of_key(score_vector(kx)), true);
    CHECK(of_additive.terms == Approx(terms));
    CHECK(of_additive.inner == Approx(projected));
}

TEST_CASE("a score that may overflow has no limit", "[oracle]") {
    const score_rule rule = score_rule::dot(2, 0.5);
    const score_size large{.terms = 140000, .operands = 1000};
    CHECK(limits_of_score(*find_arithmetic("f16"), rule, large, 70000).certain == kernels::infinity);
    CHECK(limits_of_score(*find_arithmetic("f16"), rule, large, 50000).certain < 50000);
    CHECK(limits_of_score(*find_arithmetic("f16+f32"), rule, large, 70000).certain < 1);
    CHECK(score_errors(*find_arithmetic("f32"), rule).raw({.terms = 4e38}) == kernels::infinity);
    CHECK(score_errors(*find_arithmetic("f64"), rule).raw({.terms = 4e38}) < 4e38);
}

// Scores near each other, rounded to a grid that lies anywhere: however it lies, the errors are within what a run is granted.
TEST_CASE("values that round alike", "[oracle]") {
    generator r(6);
    for (int run = 0; run < 300; ++run) {
        const std::size_t n = 2 + r.below(40);
        const double half = 0.5, spread = run % 3 == 0 ? 0 : r.uniform() * half / 8; // one run
        std::vector<double> value(n), derivative(n);
        for (double& x : value) x = 8 + spread * r.uniform();
        for (double& x : derivative) x = r.normal();
        if (run % 2 == 0) // the worst: below and above with different signs
            for (std::size_t j = 0; j < n; ++j) derivative[j] = value[j] < 8 + spread / 2 ? -1 : 1;
        const alike_runs runs(value, [&](double) { return half; });
        const double bound = std::sqrt(runs.square([&](std::size_t j) { return half * derivative[j]; }));
        double worst = 0;
        for (int offset = 0; offset < 200; ++offset) {
            const double start = offset == 0 ? 0.5 + spread / 2 : r.uniform();
            double moved = 0;
            for (std::size_t j = 0; j < n; ++j) moved += (std::round(value[j] - start) + start - value[j]) * derivative[j];
            worst = std::max(worst, std::fabs(moved));
        }
        CHECK(worst <= bound * (1 + 1e-12));
    }
    // Far from each other they are independent.
    const std::vector<double> apart{1, 2, 3, 4};
    CHECK(alike_runs(apart, [](double) { return 0.5; }).square([](std::size_t j) { return j % 2 == 0 ? 1.0 : -1.0; }) == 4);
    const std::vector<double> equal{2, 2, 2, 2};
    CHECK(alike_runs(equal, [](double) { return 0.5; }).square([](std::size_t) { return 1.0; }) == 16);
    CHECK(share_of_fractions(std::vector<double>{1, -2, 0.5, 4}) == Approx(1));
    CHECK(share_of_fractions(std::vector<double>{1, 1.5, 0, 0}) == Approx(std::sqrt(1 + 2.25 * 2.25) / 3.25));
    CHECK(share_of_fractions(kernels::draw(r, 10000, 0, 1, formats::bf16)) < 0.15);
}

TEST_CASE("orders of summation", "[oracle]") {
    generator r(7);
    for (int run = 0; run < 100; ++run) {
        const std::size_t n = 1 + r.below(30);
        std::vector<double> x(n);
        for (double& s : x) s = static_cast<double>(r.below(8));
        std::size_t most = 0;
        for (std::size_t first = 0; first < n; ++first) {
            std::size_t maxima = 0;
            double top = x[first];
            for (std::size_t k = first + 1; k < n; ++k)
                if (x[k] > top) top = x[k], ++maxima;
            most = std::max(most, maxima);
        }
        CHECK(detail::longest_climb(n, [&](std::size_t k) { return x[k]; }) == most);
        double stretch = 0;
        detail::partial_sums sums;
        for (std::size_t first = 0; first < n; ++first) {
            double sum = 0;
            for (std::size_t k = first; k < n; ++k) stretch = std::max(stretch, std::fabs(sum += x[k] - 3.5));
            sums.add(x[first] - 3.5);
        }
        CHECK(sums.greatest(0) >= std::min(stretch, sums.sizes()));
        CHECK(sums.greatest(8) <= sums.sizes());
    }
    std::vector<double> ascending(5000), level(5000, 1.0);
    std::iota(ascending.begin(), ascending.end(), 0.0);
    CHECK(detail::expected_rescalings(ascending, 8) == 4999);
    CHECK(detail::expected_rescalings(level, 8) < 60);
    CHECK(detail::expected_rescalings(std::vector<double>(3, 1.0), 8) == 3); // never more than keys
    // Shuffled, the number of new maxima stays below.
    for (int run = 0; run < 200; ++run) {
        for (std::size_t k = ascending.size(); k > 1; --k) std::swap(ascending[k - 1], ascending[r.below(k)]);
        double top = -1, maxima = 0;
        for (const double s : ascending)
            if (s > top) top = s, ++maxima;
        CHECK(maxima <= detail::expected_rescalings(level, 8));
    }
}

TEST_CASE("what a stored query does, against differences", "[oracle]") {
    generator r(8);
    for (const char* options : {"none", "cap", "dropout", "sink", "cap sink dropout mask"}) {
        machines::problem p = machines::draw_problem(r, 12, formats::bf16, options);
        const machines::exact x(p, true);
        REQUIRE(x.moves);
        const score_vector q = score_vector::query(p.q, p.scale);
        for (std::size_t e = 0; e < p.d_v; ++e) {
            std::vector<double> moved(p.d);
            for (std::size_t c = 0; c < p.d; ++c) {
                machines::problem other = p;
                const double step = p.q[c] * 0x1p-12;
                other.q[c] += step;
                moved[c] = static_cast<double>(machines::exact(other, false).out[e] - x.out[e]) * 0x1p12 * q.half[c]; // q_c ∂o/∂q_c
            }
            const double expected = q.alike.square([&](std::size_t c) { return moved[c]; });
            CHECK(std::sqrt(x.moves->square(e, static_cast<double>(x.out[e]))) == Approx(std::sqrt(expected)).epsilon(0.01).margin(1e-5));
        }
    }
}

TEST_CASE("the expected factor", "[oracle]") {
    CHECK(expected_factor(1, 1e-9) == Approx(std::sqrt(2 * std::log(2e9))));
    CHECK(expected_factor(65536, 1e-9) == Approx(8.06).epsilon(0.001));
}
