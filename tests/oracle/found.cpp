// SPDX-License-Identifier: BSL-1.0
// What somebody found who tried to break the verdicts of the blocks: right programs that failed, and wrong answers.
#include "asked.hpp"
#include "catch.hpp"
#include "held.hpp"

#include <cmath>

using namespace asked;

namespace {

bool fails(const attest::check_result& r) {
    for (const auto& o : r.outputs) UNSCOPED_INFO(o.name << " is " << attest::name_of(o.verdict) << ", errors reach " << o.limit_share << " of the limit");
    return is_bad(r.verdict);
}

// LayerNorm's gradient as textbooks have it, in double.
std::vector<double> norm_gradient(const std::vector<double>& x, const std::vector<double>& g, std::size_t d, double eps) {
    std::vector<double> dx(x.size());
    for (std::size_t row = 0; row < x.size(); row += d) {
        double mean = 0, variance = 0, mean_g = 0, mean_gx = 0;
        for (std::size_t c = 0; c < d; ++c) mean += x[row + c];
        mean /= static_cast<double>(d);
        for (std::size_t c = 0; c < d; ++c) variance += (x[row + c] - mean) * (x[row + c] - mean);
        const double r = 1 / std::sqrt(variance / static_cast<double>(d) + eps);
        for (std::size_t c = 0; c < d; ++c) {
            mean_g += g[row + c];
            mean_gx += g[row + c] * ((x[row + c] - mean) * r);
        }
        mean_g /= static_cast<double>(d);
        mean_gx /= static_cast<double>(d);
        for (std::size_t c = 0; c < d; ++c) dx[row + c] = r * (g[row + c] - mean_g - (x[row + c] - mean) * r * mean_gx);
    }
    return dx;
}

} // namespace

TEST_CASE("the gradient of a constant row is not bounded to first order alone", "[oracle]") {
    // x − mean is 0, and rounding makes 10^-11 of it, which 1/sqrt(eps) raises to 10^-5: its square is what counts.
    const std::size_t d = 10;
    source draw(1);
    for (const double level : {1.1e4, 1.1e5, 1.1e6, 1.0 / 3})
        for (const char* eps : {"1e-12", "1e-8"}) {
            question asked{{{"op", "layer_norm"}, {"eps", eps}}, {{"x", {{2, d}, std::vector<double>(2 * d, level)}}, {"dout", draw.normal({2, d})}}};
            asked.inputs["x"].values[d + 3] = std::nextafter(level, 1e9);
            const members made{{"dx", {{2, d}, norm_gradient(asked.inputs["x"].values, asked.inputs["dout"].values, d, std::stod(eps))}}};
            CAPTURE(level, eps);
            CHECK_FALSE(fails(checked(asked, made)));
        }
}

TEST_CASE("a ReLU whose sign rounding decides is open, however large the numbers", "[oracle]") {
    // The exact sum is 1e-8; added from the front, in double, it is not.
    source draw(2);
    const std::vector<double> x{1e8, 1e8 + 1.0 / 3, -3}, w{0.7, -0.7, 0};
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += x[c] * w[c];
    long double exact = 0;
    for (std::size_t c = 0; c < 3; ++c) exact += static_cast<long double>(x[c]) * static_cast<long double>(w[c]);
    for (const double beside : {-1e-8, 1e-9, 1e-8}) {
        const double b = static_cast<double>(-exact) + beside;
        const double hidden = sum + b > 0 ? sum + b : 0;
        const question asked{{{"op", "feed_forward"}}, {{"x", {{1, 3}, x}}, {"w_1", {{3, 1}, w}}, {"b_1", {{1}, {b}}}, {"w_2", {{1, 3}, {2.0, 0, 0}}}, {"dout", {{1, 3}, {1.5, 0, 0}}}}};
        const double slope = sum + b > 0 ? 3.0 : 0;
        const members made{{"out", {{1, 3}, {2 * hidden, 0, 0}}}, {"dx", {{1, 3}, {slope * w[0], slope * w[1], slope * w[2]}}}, {"db_1", {{1}, {slope}}}};
        CAPTURE(beside, sum + b);
        CHECK_FALSE(fails(checked(asked, made)));
    }
}

TEST_CASE("gradients whose weights are formed as exp(s - lse) are right", "[oracle]") {
    // The rounding of lse, 10^6 times 2^-53, stays in a whole row's weights: they do not sum to 1, and dv of equal rows shows it.
    const std::size_t n = 3, d = 2;
    source draw(3);
    question asked{{{"op", "attention"}, {"scale", "1"}}, {{"q", draw.normal({n, d}, 1, 1000)}, {"k", draw.normal({n, d}, 1e-3, 1000)}, {"v", draw.normal({n, d})}, {"dout", {{n, d}, {}}}}};
    asked.inputs["dout"].values.assign(n * d, 1.0);
    const auto &q = asked.inputs["q"].values, &k = asked.inputs["k"].values, &v = asked.inputs["v"].values;
    std::vector<double> dv(n * d), dv_flash(n * d);
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> s(n);
        double m = -1e300, l = 0;
        for (std::size_t j = 0; j < n; ++j) m = std::max(m, s[j] = q[i * d] * k[j * d] + q[i * d + 1] * k[j * d + 1]);
        for (std::size_t j = 0; j < n; ++j) l += std::exp(s[j] - m);
        const double lse = m + std::log(l);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t c = 0; c < d; ++c) {
                dv[j * d + c] += std::exp(s[j] - m) / l;
                dv_flash[j * d + c] += std::exp(s[j] - lse);
            }
    }
    (void)v;
    CHECK_FALSE(fails(checked(asked, {{"dv", {{n, d}, dv}}})));
    CHECK_FALSE(fails(checked(asked, {{"dv", {{n, d}, dv_flash}}})));
    for (double& x : dv) x *= 1 + 1e-6;
    CHECK(fails(checked(asked, {{"dv", {{n, d}, dv}}})));
}

TEST_CASE("nothing is said where a step of some right program leaves the range of double", "[oracle]") {
    source draw(4);
    question asked{{{"op", "rms_norm"}, {"eps", "0"}}, {{"x", draw.normal({2, 3}, 1e150)}, {"dout", draw.normal({2, 3})}}};
    std::vector<double> nothing(6, 0.0);
    CHECK(checked(asked, {{"dx", {{2, 3}, nothing}}}).verdict == attest::verdict::undecided);
    asked.inputs["x"] = draw.normal({2, 3}, 1e-150);
    CHECK(checked(asked, {{"dx", {{2, 3}, nothing}}}).verdict == attest::verdict::undecided);
    asked.inputs["x"] = draw.normal({2, 3}, 1e30);
    CHECK(is_bad(checked(asked, {{"dx", {{2, 3}, std::vector<double>(6, 1.0)}}}).verdict));
}

TEST_CASE("the far tail of GELU is exact", "[oracle]") {
    question asked{{{"op", "gelu"}}, {{"x", {{5}, {-8, -12, -15, -16, -18}}}}};
    for (const char* form : {"erf", "tanh"}) {
        asked.settings = {{"op", "gelu"}, {"gelu", form}};
        const auto out = values_of(asked, {"out"}).at("out").values;
        for (std::size_t e = 0; e < 5; ++e) {
            const long double x = asked.inputs["x"].values[e], y = std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
            const long double expected = form[0] == 'e' ? x * std::erfc(-x / std::sqrt(2.0L)) / 2 : x * std::exp(2 * y) / (1 + std::exp(2 * y));
            CAPTURE(form, static_cast<double>(x), static_cast<double>(out[e]), static_cast<double>(expected));
            CHECK(std::fabs(out[e] - expected) <= 1e-15L * std::fabs(expected));
            CHECK(out[e] < 0);
        }
    }
}

TEST_CASE("a case of padding alone is nothing to compare", "[oracle]") {
    source draw(5);
    const question asked{{{"op", "attention"}},
                         {{"q", draw.normal({1, 1, 2, 2})}, {"k", draw.normal({1, 1, 2, 2})}, {"v", draw.normal({1, 1, 2, 2})}, {"q_lengths", integers({1}, {0})}}};
    said(refusal_of(asked, {{"out", {{1, 1, 2, 2}, std::vector<double>(4, std::nan(""))}}}), {"nothing to compare", "padding"});
}

TEST_CASE("garbage is wrong, and not inaccurate, though 16 bits would allow anything", "[oracle]") {
    source draw(6);
    const std::size_t d = 16;
    const question asked{{{"op", "multi_head_attention"}, {"heads", "2"}},
                         {{"x", draw.normal({3, d})}, {"w_q", draw.normal({d, d})}, {"w_k", draw.normal({d, d})}, {"w_v", draw.normal({d, d})}, {"w_o", draw.normal({d, d})}}};
    const attest::check_result r = checked(asked, {{"out", draw.normal({3, d}, 100)}});
    CHECK(r.verdict == attest::verdict::wrong);
    CHECK(r.outputs.front().weaker.empty());
}
