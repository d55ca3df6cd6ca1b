// SPDX-License-Identifier: BSL-1.0
// How scores of random queries and keys are distributed.
#include "data.hpp"

#include <attest/elementary/exp.hpp>
#include <attest/elementary/pi.hpp>
#include <attest/formula/score.hpp>

#include <boost/math/quadrature/exp_sinh.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <random>

namespace attest::pictures {

namespace {

// The density at x ≠ 0 of a sum of d products of independent standard normal numbers:
//     |x|^ν K_ν(|x|) / (√π 2^ν Γ(d/2)),   ν = (d − 1)/2
double product_sum_density(int d, double x) {
    const double nu = 0.5 * (d - 1), size = std::fabs(x);
    const double constant = std::sqrt(attest::pi<double>()) * std::pow(2.0, nu) * boost::math::tgamma(0.5 * d);
    if (d > 1 && size < 1e-6) return boost::math::tgamma(nu) * std::pow(2.0, nu - 1) / constant; // the limit at 0: K_ν itself would overflow
    if (size > 700) return 0;                                                                   // below 10^-200 for the d that are drawn
    return std::pow(size, nu) * boost::math::cyl_bessel_k(nu, size) / constant;
}

// That of the scaled score s = x/√d.
double score_density(int d, double s) {
    const double scale = scaled_dot_product<double>::of_dimension(static_cast<std::size_t>(d)).scale;
    return product_sum_density(d, s / scale) / scale;
}

double normal_density(double s) { return attest::exp(-s * s / 2) / attest::sqrt(2 * attest::pi<double>()); }

template <class F> double twice_integral(const F& f) {
    boost::math::quadrature::exp_sinh<double> over_positive;
    return 2 * over_positive.integrate(f);
}

// A number of mean 0 and variance 1 that is the same on every machine, which those of <random>'s distributions need not be: uniform on (−√3, √3).
double next_component(std::mt19937& random) { return attest::sqrt(3.0) * ((static_cast<double>(random()) + 0.5) * 0x1p-31 - 1); }

} // namespace

json score_distribution() {
    // 0 is left out, where d = 1 has a pole.
    const std::vector<double> s = points(0.01, 6, 300);
    json all{{"s", s}, {"normal", json::array()}, {"curves", json::array()}};
    for (const double x : s) all["normal"].push_back(normal_density(x));
    for (const int d : {1, 4, 16, 64}) {
        const double mass = twice_integral([d](double x) { return score_density(d, x); });
        const double variance = twice_integral([d](double x) { return x * x * score_density(d, x); });
        const double fourth = twice_integral([d](double x) { return x * x * x * x * score_density(d, x); });
        const std::string of_d = " of the density for d_k = " + std::to_string(d);
        demand_near(mass, 1, 1e-8, "the integral" + of_d);
        demand_near(variance, 1, 1e-8, "the variance" + of_d);
        demand_near(fourth, 3 + 6.0 / d, 1e-6, "the fourth moment" + of_d);
        json curve{{"d_k", d}, {"density", json::array()}, {"mass", mass}, {"variance", variance}, {"kurtosis", fourth}};
        for (const double x : s) curve["density"].push_back(score_density(d, x));
        all["curves"].push_back(curve);
    }
    return all;
}

json variance_growth() {
    // Σ over d_k independent products, each of variance 1, which the density of one product says; then the square of the factor.
    const double of_one = twice_integral([](double x) { return x * x * product_sum_density(1, x); });
    demand_near(of_one, 1, 1e-8, "the variance of a product");
    constexpr int pairs = 4000;
    json all{{"pairs", pairs}, {"d_k", json::array()}, {"raw", json::array()}, {"scaled", json::array()}, {"by_d", json::array()}, {"measured", json::array()}};
    std::mt19937 random(1);
    using components = axis<dynamic>;
    for (std::size_t d = 1; d <= 256; d *= 2) {
        const double raw = static_cast<double>(d), scale = scaled_dot_product<double>::of_dimension(d).scale;
        all["d_k"].push_back(d);
        all["raw"].push_back(raw);
        all["scaled"].push_back(raw * scale * scale);
        all["by_d"].push_back(raw / static_cast<double>(d * d));
        auto q = tensor<double, components>::with_lengths(d), k = tensor<double, components>::with_lengths(d);
        double of_raw = 0, of_scaled = 0, of_by_d = 0; // mean squares: the means are 0
        for (int pair = 0; pair < pairs; ++pair) {
            for (std::size_t c = 0; c < d; ++c) q(c) = next_component(random), k(c) = next_component(random);
            const double s = dot_product{}(q, k), scaled = scaled_dot_product<double>::of_dimension(d)(q, k);
            const double by_d = scaled_dot_product<double>{1 / static_cast<double>(d)}(q, k);
            of_raw += s * s, of_scaled += scaled * scaled, of_by_d += by_d * by_d;
        }
        demand_near(of_scaled / pairs, 1, 0.15, "the measured variance of scaled scores"); // some six standard deviations
        all["measured"].push_back({{"raw", of_raw / pairs}, {"scaled", of_scaled / pairs}, {"by_d", of_by_d / pairs}});
    }
    return all;
}

} // namespace attest::pictures
