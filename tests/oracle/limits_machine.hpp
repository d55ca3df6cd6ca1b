// SPDX-License-Identifier: BSL-1.0
// Attention with every option, emulated operation by operation in an arithmetic with its suffixes, and its exact values in long double: what the
// limits are held against. kernels.hpp has more styles of kernels, without options.
#pragma once

#include "attest/oracle/limits_forward.hpp"
#include "kernels.hpp"

namespace machines {

using namespace attest;
using kernels::generator;
using wide = long double;

// One head, one query. Numbers are those of a stored format already.
struct problem {
    std::size_t n = 1, d = 1, d_v = 1; // d: of queries and keys
    enum { dot, bilinear, additive } kind = dot;
    std::vector<double> q, k, v;
    std::vector<double> w, w1, w2, b; // d × d; a × d; a × d; a
    double scale = 1, cap = 0;
    bool rope = false;
    double position = 0; // of the query; key j stands at j
    double slope = 0;    // of ALiBi, with the query at position n − 1
    std::vector<double> mask, kept;
    double drop = 0;
    std::optional<double> sink;
};

// Random choices of a right kernel.
struct habit {
    int order = 0;              // of sums: in order, in reverse, pairwise
    int scaling = 0;            // of the product, of q, of both
    std::size_t block = 0;      // 0: plain
    bool divide_first = false;  // normalised weights times V
    bool store_weights = false, sum_of_stored = false, store_raw = false;
    bool weights_from_lse = false;
    int bias = 0;               // of exp and tanh, in units in the last place
    int push = 0; // not a right rounding, but off by all that is allowed: 1 and −1 always away from 0 or towards it, 2 either way at random
};

struct result {
    std::vector<double> raw, scores, weights, out;
    double lse = 0;
};

class machine {
public:
    machine(const arithmetic& a, const habit& how, std::uint64_t seed = 1) : a_{a}, how_{how}, random_{seed} {
        in_f64_ = a.unit < 0x1p-40;
        truncates_ = a.name.find("/truncate") != std::string_view::npos;
        flushes_ = a.name.find("/ftz") != std::string_view::npos;
    }

    result run(const problem& p) {
        result made;
        const std::size_t n = p.n;
        std::vector<double> score(n);
        const double factor = round(p.scale), root = round(std::sqrt(factor));
        const int scaling = p.scale < 0 && how_.scaling == 2 ? 1 : how_.scaling;
        std::vector<double> q = p.q;
        if (p.rope) q = rotated(q, p.position);
        if (p.kind == problem::dot) scale_by(q, scaling == 1 ? factor : scaling == 2 ? root : 1);
        for (std::size_t j = 0; j < n; ++j) {
            std::vector<double> k(p.k.begin() + static_cast<long>(j * p.d), p.k.begin() + static_cast<long>((j + 1) * p.d));
            if (p.rope) k = rotated(k, static_cast<double>(j));
            double raw = 0;
            if (p.kind == problem::dot) {
                scale_by(k, scaling == 2 ? root : 1);
                raw = dot(q, k);
            } else if (p.kind == problem::bilinear) {
                std::vector<double> through(p.d);
                for (std::size_t c = 0; c < p.d; ++c) {
                    std::vector<double> column(p.d);
                    for (std::size_t e = 0; e < p.d; ++e) column[e] = scaling == 0 ? p.w[e * p.d + c] : p.w[c * p.d + e];
                    through[c] = stored_qk(dot(scaling == 0 ? q : k, column));
                }
                raw = dot(through, scaling == 0 ? k : q);
            } else {
                const std::size_t a = p.b.size();
                std::vector<double> t(a);
                for (std::size_t e = 0; e < a; ++e) {
                    const std::vector<double> one(p.w1.begin() + static_cast<long>(e * p.d), p.w1.begin() + static_cast<long>((e + 1) * p.d));
                    const std::vector<double> two(p.w2.begin() + static_cast<long>(e * p.d), p.w2.begin() + static_cast<long>((e + 1) * p.d));
                    t[e] = stored_qk(hyperbolic(stored_qk(plus(stored_qk(dot(one, k)), stored_qk(dot(two, q))))));
                }
                raw = dot(p.b, t);
            }
            made.raw.push_back(raw); // scaled already where the scale is on q or k
            // A stored number times a power of two is stored as it is.
            if (how_.store_raw && (p.kind != problem::dot || scaling == 0) && !attest::detail::is_power_of_two(std::fabs(p.scale)))
                raw = stored_score(raw);
            double s = p.kind == problem::dot && scaling != 0 ? raw : times(raw, factor);
            s = stored_score(s);
            if (p.cap > 0) s = stored_score(times(round(p.cap), stored_score(hyperbolic(stored_score(over(s, round(p.cap)))))));
            if (p.slope != 0 && j + 1 < n) s = stored_score(plus(s, -stored_score(times(stored_score(p.slope), static_cast<double>(n - 1 - j)))));
            if (!p.mask.empty()) s = stored_score(plus(s, p.mask[j]));
            score[j] = s;
        }
        made.scores = score;
        attend(p, score, made);
        return made;
    }

private:
    // Once to f32, or nothing in f64. Doubles hold sums, products, quotients and roots of f32 numbers well enough to be rounded once more.
    [[nodiscard]] double round(double x) const {
        if (x == 0 || x - x != 0) return x;
        if (how_.push != 0) return x * (1 + direction() * a_.unit);
        if (in_f64_) return flushes_ && std::fabs(x) < 0x1p-1022 ? 0 : x;
        if (flushes_ && std::fabs(x) < 0x1p-126) return 0;
        if (!truncates_) return static_cast<double>(static_cast<float>(x));
        const double unit = ulp(formats::f32, x);
        return std::trunc(x / unit) * unit;
    }
    // Exact where every arithmetic is.
    [[nodiscard]] double times(double x, double y) const { return x == 1 ? y : y == 1 ? x : round(x * y); }
    [[nodiscard]] double plus(double x, double y) const { return x == 0 ? y : y == 0 ? x : round(x + y); }
    [[nodiscard]] double over(double x, double y) const { return y == 1 ? x : round(x / y); }
    // +1 or −1; what is truncated never grows.
    [[nodiscard]] int direction() const { return how_.push != 2 ? (a_.truncates ? -1 : how_.push) : random_.below(2) == 0 && !a_.truncates ? 1 : -1; }
    [[nodiscard]] double store(double x) const {
        if (how_.push != 0) { // 0 and 1 can be stored
            const double most = a_.output.unit_roundoff() * std::fabs(x), to_one = std::fabs(std::fabs(x) - 1);
            const int way = how_.push != 2 ? how_.push : random_.below(2) == 0 ? 1 : -1;
            return x + (x < 0 ? -way : way) * std::min(most, to_one);
        }
        const double y = round_to(a_.output, x);
        return flushes_ && a_.output.min_exponent == -126 && std::fabs(y) < 0x1p-126 ? 0 : y;
    }
    [[nodiscard]] double stored_qk(double x) const { return a_.query_key > 0 ? store(x) : x; }
    [[nodiscard]] double stored_score(double x) const { return a_.score > 0 ? store(x) : x; }
    [[nodiscard]] double stored_weight(double x) const { return a_.weight > 0 && how_.store_weights ? store(x) : x; }
    [[nodiscard]] double operand(double x) const {
        if (flushes_ && std::fabs(x) < (in_f64_ ? 0x1p-1022 : 0x1p-126)) return 0;
        if (a_.operand == 0 || x == 0) return x;
        if (how_.push != 0) return a_.truncates || std::fabs(std::fabs(x) - 1) > a_.operand ? x * (1 + direction() * a_.operand) : x;
        constexpr format eleven_bits{11, -126, 127};
        if (!truncates_) return round_to(eleven_bits, x);
        const double unit = ulp(eleven_bits, x);
        return std::trunc(x / unit) * unit;
    }
    [[nodiscard]] double function(wide exact, double relative) const {
        if (how_.push != 0)
            return static_cast<double>(exact * (1 + static_cast<wide>(how_.push != 2          ? how_.push
                                                                      : random_.below(2) == 0 ? 1
                                                                                              : -1) *
                                                        static_cast<wide>(relative)));
        const wide unit = in_f64_ ? 0 : 0x1p-23L;
        return round(static_cast<double>(exact * (1 + how_.bias * unit)));
    }
    [[nodiscard]] double exponential(double x) const {
        return x == 0 ? 1 : function(std::exp(static_cast<wide>(x)), a_.exp_relative + a_.exp_slope * std::fabs(x));
    }
    [[nodiscard]] double hyperbolic(double x) const { return function(std::tanh(static_cast<wide>(x)), a_.function); }

    [[nodiscard]] double reduce(std::vector<double> x) const {
        if (x.empty()) return 0;
        if (how_.order == 1) std::reverse(x.begin(), x.end());
        if (how_.order == 2) {
            for (std::size_t step = 1; step < x.size(); step *= 2)
                for (std::size_t k = 0; k + step < x.size(); k += 2 * step) x[k] = plus(x[k], x[k + step]);
            return x[0];
        }
        double sum = 0;
        for (const double value : x) sum = plus(sum, value);
        return sum;
    }
    [[nodiscard]] double dot(const std::vector<double>& a, const std::vector<double>& b) const {
        std::vector<double> terms;
        for (std::size_t c = 0; c < a.size(); ++c) terms.push_back(times(operand(a[c]), operand(b[c])));
        return reduce(terms);
    }
    void scale_by(std::vector<double>& x, double factor) const {
        for (double& c : x) c = factor == 1 ? c : stored_qk(round(c * factor));
    }
    [[nodiscard]] std::vector<double> rotated(const std::vector<double>& x, double position) const {
        std::vector<double> y = x;
        for (std::size_t i = 0; i < x.size() / 2; ++i) {
            const double theta =
                i == 0 ? 1
                       : round(1 / round(static_cast<double>(
                                       std::pow(10000.0L, static_cast<wide>(round(2.0 * static_cast<double>(i) / static_cast<double>(x.size())))))));
            const double angle = times(position, theta);
            if (angle == 0) continue;
            const double c = stored_qk(function(std::cos(static_cast<wide>(angle)), a_.function)),
                         s = stored_qk(function(std::sin(static_cast<wide>(angle)), a_.function));
            const double a = x[2 * i], b = x[2 * i + 1];
            y[2 * i] = stored_qk(plus(stored_qk(times(a, c)), -stored_qk(times(b, s))));
            y[2 * i + 1] = stored_qk(plus(stored_qk(times(a, s)), stored_qk(times(b, c))));
        }
        return y;
    }

    void attend(const problem& p, const std::vector<double>& score, result& made) const {
        const std::size_t n = p.n, block = how_.block == 0 ? n : how_.block;
        const double keep = round(1 / round(1 - round(p.drop)));
        double m = p.sink ? *p.sink : score[0], l = p.sink ? 1 : 0;
        if (how_.block == 0) m = std::max(m, *std::max_element(score.begin(), score.end()));
        if (p.sink) l = exponential(plus(*p.sink, -m));
        std::vector<double> acc(p.d_v, 0.0), weights(n);
        for (std::size_t first = 0; first < n; first += block) {
            const std::size_t last = std::min(n, first + block);
            const double top = std::max(m, *std::max_element(score.begin() + static_cast<long>(first), score.begin() + static_cast<long>(last)));
            const double rescale = exponential(plus(m, -top));
            m = top;
            std::vector<double> e(last - first), w(last - first), terms;
            for (std::size_t j = first; j < last; ++j) {
                const double one = exponential(plus(score[j], -m));
                e[j - first] = how_.sum_of_stored ? stored_weight(one) : one;
                terms.push_back(e[j - first]);
            }
            l = plus(times(l, rescale), reduce(terms));
            for (std::size_t j = first; j < last; ++j) {
                double weight = e[j - first];
                if (how_.block == 0) weights[j] = over(weight, l);
                if (how_.block == 0 && how_.divide_first) weight = weights[j];
                if (!how_.sum_of_stored) weight = stored_weight(weight);
                if (!p.kept.empty()) weight = stored_weight(times(weight, p.kept[j] != 0 ? keep : 0));
                w[j - first] = weight;
            }
            for (std::size_t c = 0; c < p.d_v; ++c) {
                std::vector<double> column;
                for (std::size_t j = first; j < last; ++j) column.push_back(p.v[j * p.d_v + c]);
                acc[c] = plus(times(acc[c], rescale), dot(w, column));
            }
        }
        made.lse = plus(m, function(std::log(static_cast<wide>(l)), a_.function));
        for (std::size_t j = 0; how_.block == 0 && j < n; ++j)
            made.weights.push_back(how_.weights_from_lse ? stored_weight(exponential(plus(score[j], -made.lse)))
                                   : how_.sum_of_stored  ? weights[j]
                                                         : stored_weight(weights[j]));
        for (std::size_t c = 0; c < p.d_v; ++c) made.out.push_back(how_.block == 0 && how_.divide_first ? acc[c] : over(acc[c], l));
    }

    const arithmetic& a_;
    habit how_;
    bool in_f64_, truncates_, flushes_;
    mutable generator random_;
};

// The exact values, and the facts that the limits take.
struct exact {
    row_facts facts;
    std::vector<score_size> sizes;
    std::vector<wide> raw, scores, weights, out;
    wide lse = 0;
    std::optional<query_moves> moves;

    exact(const problem& p, bool in_16_bits) {
        std::vector<wide> q = rotated(p, p.q, p.position);
        for (std::size_t j = 0; j < p.n; ++j) {
            const std::vector<wide> k = rotated(p, key(p, j), static_cast<double>(j));
            wide s = 0;
            if (p.kind == problem::dot)
                for (std::size_t c = 0; c < p.d; ++c) s += q[c] * k[c];
            if (p.kind == problem::bilinear)
                for (std::size_t a = 0; a < p.d; ++a)
                    for (std::size_t b = 0; b < p.d; ++b) s += q[a] * static_cast<wide>(p.w[a * p.d + b]) * k[b];
            if (p.kind == problem::additive)
                for (std::size_t a = 0; a < p.b.size(); ++a) {
                    wide h = 0;
                    for (std::size_t c = 0; c < p.d; ++c)
                        h += static_cast<wide>(p.w1[a * p.d + c]) * k[c] + static_cast<wide>(p.w2[a * p.d + c]) * q[c];
                    s += static_cast<wide>(p.b[a]) * std::tanh(h);
                }
            raw.push_back(s);
            s *= static_cast<wide>(p.scale);
            facts.scaled.push_back(static_cast<double>(s));
            if (p.cap > 0) s = static_cast<wide>(p.cap) * std::tanh(s / static_cast<wide>(p.cap));
            if (p.slope != 0) {
                facts.alibi.push_back(p.slope * static_cast<double>(p.n - 1 - j));
                s -= static_cast<wide>(p.slope) * static_cast<wide>(p.n - 1 - j);
            }
            if (!p.mask.empty()) s += static_cast<wide>(p.mask[j]);
            scores.push_back(s);
        }
        wide m = p.sink ? static_cast<wide>(*p.sink) : scores[0], sum = 0;
        for (const wide s : scores) m = std::max(m, s);
        if (p.sink) sum = std::exp(static_cast<wide>(*p.sink) - m);
        for (const wide s : scores) sum += std::exp(s - m);
        lse = m + std::log(sum);
        const wide keep = 1 / (1 - static_cast<wide>(p.drop));
        out.assign(p.d_v, 0);
        for (std::size_t j = 0; j < p.n; ++j) {
            weights.push_back(std::exp(scores[j] - m) / sum);
            const wide factor = p.kept.empty() ? 1 : p.kept[j] != 0 ? keep : 0;
            if (!p.kept.empty()) facts.factor.push_back(static_cast<double>(factor));
            for (std::size_t c = 0; c < p.d_v; ++c) out[c] += weights[j] * factor * static_cast<wide>(p.v[j * p.d_v + c]);
            facts.score.push_back(static_cast<double>(scores[j]));
            facts.weight.push_back(static_cast<double>(weights[j]));
        }
        facts.lse = static_cast<double>(lse);
        facts.mask = p.mask;
        if (p.sink) {
            facts.sink = p.sink;
            facts.sink_weight = static_cast<double>(std::exp(static_cast<wide>(*p.sink) - m) / sum);
        }
        measure(p, in_16_bits);
    }
    [[nodiscard]] static auto value(const problem& p, std::size_t c) {
        return [&p, c](std::size_t j) { return p.v[j * p.d_v + c]; };
    }

private:
    [[nodiscard]] static std::vector<double> key(const problem& p, std::size_t j) {
        return {p.k.begin() + static_cast<long>(j * p.d), p.k.begin() + static_cast<long>((j + 1) * p.d)};
    }
    [[nodiscard]] static std::vector<wide> rotated(const problem& p, const std::vector<double>& x, double position) {
        std::vector<wide> y(x.begin(), x.end());
        for (std::size_t i = 0; p.rope && i < x.size() / 2; ++i) {
            const wide angle = static_cast<wide>(position) * std::pow(10000.0L, -2.0L * static_cast<wide>(i) / static_cast<wide>(x.size())),
                       c = std::cos(angle), s = std::sin(angle);
            y[2 * i] = static_cast<wide>(x[2 * i]) * c - static_cast<wide>(x[2 * i + 1]) * s;
            y[2 * i + 1] = static_cast<wide>(x[2 * i]) * s + static_cast<wide>(x[2 * i + 1]) * c;
        }
        return y;
    }
    [[nodiscard]] static std::vector<double> in_double(const std::vector<wide>& x) {
        std::vector<double> y;
        for (const wide c : x) y.push_back(static_cast<double>(c));
        return y;
    }
    void measure(const problem& p, bool in_16_bits) {
        const auto vector_of = [&](const std::vector<double>& x, double position, bool is_query) {
            if (p.rope) return rotated_vector(in_double(rotated(p, x, position)), rotation_rule{}, position);
            if (p.kind != problem::dot) return score_vector(x);
            return is_query ? score_vector::query(x, p.scale) : score_vector::key(x, p.scale);
        };
        const score_vector query = vector_of(p.q, p.position, true);
        std::vector<score_vector> keys;
        double key_turn = 0;
        for (std::size_t j = 0; j < p.n; ++j) {
            keys.push_back(vector_of(key(p, j), static_cast<double>(j), false));
            key_turn = std::max(key_turn, keys[j].greatest_turn());
        }
        if (p.kind == problem::dot) {
            facts.rule = score_rule::dot(p.d, p.scale);
            std::vector<double> all;
            for (const score_vector& k : keys) {
                all.insert(all.end(), k.x.begin(), k.x.end());
                facts.sizes.push_back(size_of_dot(query, k, in_16_bits));
            }
            facts.key_alike = share_of_fractions(all);
        } else if (p.kind == problem::bilinear) {
            facts.rule = score_rule::bilinear(p.d, p.d);
            const bilinear_sizes of({p.d, p.d, p.w});
            const auto q = of.of_query(query);
            for (const score_vector& k : keys) facts.sizes.push_back(of(q, of.of_key(k), in_16_bits));
        } else {
            const std::size_t a = p.b.size();
            facts.rule = score_rule::additive(a, p.d, p.d);
            const additive_sizes of({a, p.d, p.w1}, {a, p.d, p.w2}, p.b);
            const auto q = of.of_query(query);
            for (const score_vector& k : keys) facts.sizes.push_back(of(q, of.of_key(k), in_16_bits));
        }
        facts.rule.rotated = p.rope;
        facts.rule.query_turn = query.greatest_turn();
        facts.rule.key_turn = key_turn;
        facts.rule.scale = p.scale < 0 ? -p.scale : p.scale;
        facts.rule.cap = p.cap;
        if (p.kind == problem::dot && in_16_bits)
            moves.emplace(
                facts, query, p.d_v, [&](std::size_t j, std::size_t c) { return keys[j].x[c]; },
                [&](std::size_t j, std::size_t e) { return p.v[j * p.d_v + e]; });
        sizes = facts.sizes;
    }
};

// Options drawn at random.
inline problem draw_problem(generator& r, std::size_t n, const format& f, const char* options) {
    const std::string_view with = options;
    const auto has = [&](const char* name) { return with.find(name) != std::string_view::npos; };
    problem p;
    p.n = n;
    p.d = has("rope") ? 2 * (1 + r.below(16)) : 1 + r.below(32);
    p.d_v = 4;
    const double spread = has("large") ? 8 : 1;
    p.q = kernels::draw(r, p.d, 0, spread, f);
    p.k = kernels::draw(r, n * p.d, 0, 1, f);
    const double means[] = {0, 0, 1, 4};
    p.v = kernels::draw(r, n * p.d_v, means[r.below(4)], 1, f);
    p.scale = 1 / std::sqrt(static_cast<double>(p.d));
    if (has("dot")) p.scale = 1;
    if (has("declared")) p.scale = 0.3;
    if (has("bilinear")) {
        p.kind = problem::bilinear;
        p.scale = 1;
        p.w = kernels::draw(r, p.d * p.d, 0, 1 / static_cast<double>(p.d), f);
    }
    if (has("additive")) {
        p.kind = problem::additive;
        p.scale = 1;
        const std::size_t a = 1 + r.below(16);
        p.w1 = kernels::draw(r, a * p.d, 0, 0.5, f);
        p.w2 = kernels::draw(r, a * p.d, 0, 0.5, f);
        p.b = kernels::draw(r, a, 0, 1, f);
    }
    if (has("cap")) p.cap = has("large") ? 3 : 1 + static_cast<double>(r.below(30));
    if (has("rope")) {
        p.rope = true;
        p.position = static_cast<double>(has("far") ? 100000 + r.below(1000) : n - 1);
    }
    if (has("alibi")) p.slope = std::ldexp(1.0, -static_cast<int>(1 + r.below(8)));
    if (has("mask")) p.mask = kernels::draw(r, n, 0, 1, f);
    if (has("dropout")) {
        p.drop = 0.1;
        for (std::size_t j = 0; j < n; ++j) p.kept.push_back(r.below(10) == 0 ? 0 : 1);
    }
    if (has("sink")) p.sink = round_to(f, (has("large") ? 4 : 1) * r.normal());
    return p;
}

inline habit draw_habit(generator& r, const arithmetic& a, std::size_t n) {
    habit how;
    how.order = static_cast<int>(r.below(3));
    how.scaling = static_cast<int>(r.below(3));
    const std::size_t blocks[] = {0, 0, 1, 3, 16, n};
    how.block = blocks[r.below(6)];
    how.divide_first = r.below(2) == 0;
    how.store_weights = a.weight > 0 && r.below(4) != 0;
    how.sum_of_stored = r.below(3) == 0 && !how.divide_first; // else weights are stored twice
    how.store_raw = r.below(2) == 0;
    how.weights_from_lse = r.below(3) == 0;
    how.bias = a.unit < 0x1p-40 ? 0 : static_cast<int>(r.below(3)) * 3 - 3;
    return how;
}

} // namespace machines
