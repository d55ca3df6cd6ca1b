// SPDX-License-Identifier: BSL-1.0
// The certain limit against adversaries: kernels that make every error that their arithmetic allows them, all the same way. They must stay inside.
#include "attest/oracle/limits.hpp"
#include "catch.hpp"
#include "kernels.hpp"

using namespace attest;
using kernels::generator;
using wide = long double;

namespace {

int sign(wide x) { return x < 0 ? -1 : 1; }

// One query with one output component, and its exact stages in long double: 2^−64 is nothing beside the errors that are allowed.
struct row {
    std::size_t d = 1;
    std::vector<std::vector<double>> k;
    std::vector<double> q, v, bias;
    double scale = 1;
    row_facts facts;
    std::vector<wide> score, weight;
    wide out = 0, lse = 0;

    void complete() {
        const std::size_t n = v.size();
        facts = {};
        wide greatest = -INFINITY, sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
            wide s = 0, size = 0, operands = 0;
            for (std::size_t c = 0; c < d; ++c) {
                s += static_cast<wide>(q[c]) * k[j][c] * scale;
                size += std::fabs(static_cast<wide>(q[c]) * k[j][c] * scale);
                operands += std::fabs(q[c]) + std::fabs(k[j][c]);
            }
            facts.unbiased.push_back(static_cast<double>(std::fabs(s)));
            facts.size.push_back(static_cast<double>(size) * (1 + 0x1p-50));
            facts.operands.push_back(static_cast<double>(operands));
            score.push_back(s + (bias.empty() ? 0 : bias[j]));
            greatest = std::max(greatest, score[j]);
        }
        for (const wide s : score) sum += std::exp(s - greatest);
        lse = greatest + std::log(sum);
        for (std::size_t j = 0; j < n; ++j) {
            weight.push_back(std::exp(score[j] - greatest) / sum);
            out += weight[j] * v[j];
            facts.score.push_back(static_cast<double>(score[j]));
            facts.weight.push_back(static_cast<double>(weight[j]));
        }
        facts.greatest = static_cast<double>(greatest);
        facts.lse = static_cast<double>(lse);
        facts.scale = std::fabs(scale);
        facts.d_k = d;
        facts.biased = !bias.empty();
    }
    [[nodiscard]] double limit(const row_limits& limits) const {
        return limits.output(static_cast<double>(out), [&](std::size_t j) { return v[j]; });
    }
};

row draw_row(generator& r, std::size_t n, const format& f, double logits) {
    row x;
    x.d = 1 + r.below(16);
    x.scale = 1 / std::sqrt(static_cast<double>(x.d));
    x.q = kernels::draw(r, x.d, 0, logits, f);
    const double means[] = {0, 0, 1, 4};
    x.v = kernels::draw(r, n, means[r.below(4)], r.below(3) == 0 ? 0.01 : 1, f);
    for (std::size_t j = 0; j < n; ++j) x.k.push_back(kernels::draw(r, x.d, 0, 1, f));
    switch (r.below(6)) {
    case 0: for (double& q : x.q) q = 0; break;                                  // all weights equal
    case 1: for (std::size_t j = 1; j < n; ++j) x.k[j] = x.k[0]; break;
    case 2: for (std::size_t j = 1; j < n; ++j) x.v[j] = 0; break;               // one value that is not 0
    case 3: x.bias = kernels::draw(r, n, 0, 1, f); break;
    default: break;
    }
    x.complete();
    return x;
}

// What every single operation may do, all of it in the direction that moves the output to `up` (+1 or −1). The errors of operations whose sign the
// adversary could not choose freely in a real kernel (a stored q_c acts on every key) are chosen freely here: that is stronger still.
struct adversary {
    const arithmetic& a;
    const row& x;
    int up;
    bool sum_of_stored;
    std::size_t block;

    [[nodiscard]] wide push(wide value, int direction) const { return value * (1 + sign(value) * direction * static_cast<wide>(a.unit)); }
    [[nodiscard]] wide exponential(wide t, int direction) const {
        return std::exp(t) * (1 + direction * (static_cast<wide>(a.exp_relative) + static_cast<wide>(a.exp_slope) * std::fabs(t)));
    }
    [[nodiscard]] wide score(std::size_t j, int direction) const {
        wide sum = 0;
        for (std::size_t c = 0; c < x.d; ++c) {
            wide term = static_cast<wide>(x.q[c]) * x.k[j][c];
            const wide raise = 1 + sign(term) * direction * static_cast<wide>(a.operand), stored = 1 + sign(term) * direction * static_cast<wide>(a.query_key);
            term = push(term * raise * raise * stored * stored, direction);
            sum = c == 0 ? term : push(sum + term, direction);
        }
        wide s = sum * x.scale;
        for (int k = 0; k < 5; ++k) s = push(s, direction); // scale, its own roundings, log2 e
        s *= 1 + sign(s) * direction * static_cast<wide>(a.score);
        if (!x.bias.empty()) {
            s = push(s + x.bias[j], direction);
            s *= 1 + sign(s) * direction * static_cast<wide>(a.score);
        }
        return s;
    }
    // A blockwise kernel.
    [[nodiscard]] wide out() const {
        const std::size_t n = x.v.size();
        std::vector<wide> s(n);
        std::vector<int> raise(n);
        for (std::size_t j = 0; j < n; ++j) {
            raise[j] = up * sign(x.v[j] - x.out);
            s[j] = score(j, raise[j]);
        }
        wide m = -INFINITY, l = 0, sum = 0;
        for (std::size_t first = 0; first < n; first += block) {
            const std::size_t last = std::min(n, first + block);
            wide top = m;
            for (std::size_t j = first; j < last; ++j) top = std::max(top, s[j]);
            if (top != m && l != 0) {
                const int direction = up * sign(sum / l - x.out);
                const wide rescale = exponential(push(m - top, direction), direction);
                sum = push(sum * rescale, up);
                l = push(l * rescale, -up * sign(x.out));
            }
            m = top;
            for (std::size_t j = first; j < last; ++j) {
                wide p = exponential(push(s[j] - m, raise[j]), raise[j]);
                const int direction = sum_of_stored ? raise[j] : up * sign(x.v[j]);
                const wide stored = p * (1 + direction * static_cast<wide>(a.weight)) * (1 + direction * static_cast<wide>(a.operand));
                l = push(l + (sum_of_stored ? stored : p), -up * sign(x.out));
                const wide v = x.v[j] * (1 + up * sign(x.v[j]) * static_cast<wide>(a.operand));
                sum = push(sum + push(stored * v, up), up);
            }
        }
        return push(push(sum, up) / l, up); // times a reciprocal
    }
};

struct trial {
    const char* arithmetic;
    double greatest_share = 0;
};

} // namespace

TEST_CASE("an adversary that uses every allowance stays inside the certain limit", "[oracle]") {
    generator r(7);
    for (const arithmetic& a : arithmetics) {
        double greatest = 0;
        for (int run = 0; run < 400; ++run) {
            const std::size_t lengths[] = {1, 2, 3, 4, 8, 16, 33, 100};
            const double logits[] = {0.1, 1, 10, 100};
            const std::size_t n = lengths[r.below(8)];
            const row x = draw_row(r, n, formats::bf16, logits[r.below(4)]);
            const row_limits limits(a, x.facts);
            const double limit = x.limit(limits);
            for (const int up : {1, -1})
                for (const bool sum_of_stored : {false, true}) {
                    const adversary kernel{a, x, up, sum_of_stored, r.below(2) == 0 ? 1 : 1 + r.below(n)};
                    const auto error = static_cast<double>(std::fabs(kernel.out() - x.out));
                    greatest = std::max(greatest, error / limit);
                    if (!(error <= limit)) {
                        CAPTURE(a.name, run, n, x.d, up, sum_of_stored, kernel.block, x.v, x.score, error, limit);
                        CHECK(error <= limit);
                    }
                }
        }
        INFO(a.name << ": the greatest error is " << greatest << " of the limit");
        std::printf("%s %g\n", std::string(a.name).c_str(), greatest);
        CHECK(greatest < 1);
        CHECK(greatest > 0.3); // the adversary is one
    }
}
