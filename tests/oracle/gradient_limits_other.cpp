// SPDX-License-Identifier: BSL-1.0
// The limits of gradients beside those of attention with a dot product: softmax alone, scores with learned weights, inputs wider than the arithmetic.
#include "attest/oracle/gradient_limits_softmax.hpp"
#include "catch.hpp"
#include "gradient_held.hpp"

using namespace attest;
using namespace gradient_held;
using kernels::draw;
using kernels::generator;

namespace {
const arithmetic& named(const char* name) { return *find_arithmetic(name); }

// dx in T; weights and α da stored in formats, or not.
template <class T>
std::vector<double> softmax_backward(const std::vector<double>& x, const std::vector<double>& da, const format* weights, const format* products) {
    const auto stored = [](const format* f, T y) { return f ? static_cast<T>(round_to(*f, static_cast<double>(y))) : y; };
    T top = static_cast<T>(-kernels::infinity), sum = 0, d = 0;
    std::vector<T> w, product;
    for (const double y : x) top = std::max(top, static_cast<T>(y));
    for (const double y : x) {
        w.push_back(std::exp(static_cast<T>(y) - top));
        sum += w.back();
    }
    for (std::size_t l = 0; l < x.size(); ++l) {
        w[l] = stored(weights, w[l] / sum);
        product.push_back(stored(products, w[l] * static_cast<T>(da[l])));
        d += product[l];
    }
    std::vector<double> dx;
    for (std::size_t l = 0; l < x.size(); ++l)
        dx.push_back(static_cast<double>(products ? product[l] - w[l] * d : w[l] * (static_cast<T>(da[l]) - d)));
    return dx;
}
} // namespace

TEST_CASE("softmax's gradient stays inside its limits", "[oracle]") {
    generator r(41);
    for (const kernels::gradient_setting& s : kernels::gradient_settings) {
        double greatest = 0;
        for (int run = 0; run < 300; ++run) {
            const std::size_t lengths[] = {1, 2, 3, 8, 33, 200}, n = lengths[r.below(6)];
            const double spreads[] = {0, 1e-3, 1, 10};
            const bool is_wide = r.below(4) == 0; // x and da are given in f64
            const format& given = is_wide ? formats::f64 : *s.format;
            const std::vector<double> x = draw(r, n, r.below(2) == 0 ? 0 : 50, spreads[r.below(4)], given),
                                      da = draw(r, n, r.below(3) == 0 ? 4 : 0, r.below(4) == 0 ? 0 : 1, given);
            std::vector<wide> weight(n);
            wide top = -INFINITY, sum = 0, d = 0;
            for (const double y : x) top = std::max(top, static_cast<wide>(y));
            for (std::size_t l = 0; l < n; ++l) sum += weight[l] = std::exp(x[l] - top);
            for (std::size_t l = 0; l < n; ++l) {
                weight[l] /= sum;
                d += weight[l] * da[l];
            }
            const softmax_gradient_facts f{x, doubles(weight), da, static_cast<double>(top + std::log(sum)), is_wide ? input_width{false, false, false} : input_width{}};
            const softmax_gradient_limits limits(named(s.arithmetic), f, 8);
            const format *const stored = s.weights && r.below(4) != 0 ? s.format : nullptr, *const products = s.everything && r.below(2) == 0
                                                                                                                  ? s.format
                                                                                                                  : nullptr;
            std::vector<double> rounded_x = x, rounded_da = da;
            for (std::vector<double>* y : {&rounded_x, &rounded_da})
                for (double& value : *y) value = round_to(*s.format, value);
            const std::vector<double> made = s.wide ? softmax_backward<double>(x, da, nullptr, nullptr)
                                                    : softmax_backward<float>(rounded_x, rounded_da, stored, products);
            for (std::size_t l = 0; l < n; ++l) {
                const wide right = weight[l] * (da[l] - d);
                const element_limits limit = limits.dx(l);
                const double share = share_of(*s.format, made[l], right, limit.expected);
                greatest = std::max(greatest, share);
                if (share <= 1 && limit.expected <= limit.certain) continue;
                CAPTURE(s.arithmetic, run, n, l, x, da, stored != nullptr, products != nullptr, made[l], static_cast<double>(right), limit.certain,
                        limit.expected);
                CHECK(share <= 1);
            }
        }
        INFO(s.arithmetic << ": greatest error in units of the limit " << greatest);
        CHECK(greatest > 0.05);
    }
}

namespace {

// s = qᵀ W k, or b · tanh(W1 k + W2 q), and the gradients of attention with it: in T, or exact in long double.
struct learned_scores {
    std::size_t n_q, n_k, d, h; // h: hidden components of additive scores
    bool additive;
    std::vector<double> w1, w2, b, q, k, v, dz; // bilinear: w1 is W

    template <class T> struct result {
        std::vector<T> score, weight, lse, dq, dk, dv, ds;
    };
    template <class T>
    [[nodiscard]] std::vector<T> through(const std::vector<double>& w, const std::vector<double>& x, std::size_t row, bool transposed) const {
        std::vector<T> y(transposed ? d : h, 0);
        for (std::size_t a = 0; a < h; ++a)
            for (std::size_t c = 0; c < d; ++c)
                (transposed ? y[c] : y[a]) += static_cast<T>(w[a * d + c]) * static_cast<T>(x[row * (transposed ? h : d) + (transposed ? a : c)]);
        return y;
    }
    // ∂s/∂q and ∂s/∂k; `sizes`: sums of |terms|, and what tanh is off by.
    template <class T> void derivatives(std::size_t i, std::size_t j, std::vector<T>& to_q, std::vector<T>& to_k, bool sizes) const {
        const auto maybe = [&](T x) { return sizes ? std::abs(x) : x; };
        to_q.assign(d, 0);
        to_k.assign(d, 0);
        for (std::size_t a = 0; a < h; ++a) {
            T hidden = 0, size = 0;
            for (std::size_t c = 0; c < d; ++c) {
                const T one = static_cast<T>(w1[a * d + c]) * static_cast<T>(k[j * d + c]),
                        two = additive ? static_cast<T>(w2[a * d + c]) * static_cast<T>(q[i * d + c]) : 0;
                hidden += one + two;
                size += std::abs(one) + std::abs(two);
            }
            const T t = std::tanh(hidden), slope = (1 - t) * (1 + t) + (sizes ? 2 * size : 0);
            for (std::size_t c = 0; c < d; ++c) {
                if (additive) {
                    to_q[c] += maybe(static_cast<T>(w2[a * d + c]) * static_cast<T>(b[a]) * slope);
                    to_k[c] += maybe(static_cast<T>(w1[a * d + c]) * static_cast<T>(b[a]) * slope);
                } else {
                    to_q[a] += maybe(static_cast<T>(w1[a * d + c]) * static_cast<T>(k[j * d + c]));
                    to_k[c] += maybe(static_cast<T>(w1[a * d + c]) * static_cast<T>(q[i * d + a]));
                }
            }
        }
    }
    template <class T> [[nodiscard]] T score(std::size_t i, std::size_t j, bool size) const {
        T s = 0;
        for (std::size_t a = 0; a < h; ++a) {
            T hidden = 0;
            for (std::size_t c = 0; c < d; ++c) {
                const T one = static_cast<T>(w1[a * d + c]) * static_cast<T>(k[j * d + c]),
                        two = additive ? static_cast<T>(w2[a * d + c]) * static_cast<T>(q[i * d + c]) : 0;
                hidden += size ? std::abs(one) + std::abs(two) : one + two;
            }
            const T term = additive ? static_cast<T>(b[a]) * (size ? hidden + 1 : std::tanh(hidden)) : static_cast<T>(q[i * d + a]) * hidden;
            s += size ? std::abs(term) : term;
        }
        return s;
    }
    template <class T> [[nodiscard]] result<T> run(const format* stored) const {
        const auto kept = [&](T x) { return stored ? static_cast<T>(round_to(*stored, static_cast<double>(x))) : x; };
        result<T> r;
        r.dq.assign(n_q * d, 0);
        r.dk.assign(n_k * d, 0);
        r.dv.assign(n_k, 0);
        std::vector<T> to_q, to_k;
        for (std::size_t i = 0; i < n_q; ++i) {
            T top = static_cast<T>(-kernels::infinity), sum = 0, mean = 0;
            const std::size_t first = i * n_k;
            for (std::size_t j = 0; j < n_k; ++j) {
                r.score.push_back(score<T>(i, j, false));
                top = std::max(top, r.score.back());
            }
            for (std::size_t j = 0; j < n_k; ++j) sum += std::exp(r.score[first + j] - top);
            r.lse.push_back(top + std::log(sum));
            for (std::size_t j = 0; j < n_k; ++j) {
                r.weight.push_back(std::exp(r.score[first + j] - top) / sum);
                mean += r.weight.back() * static_cast<T>(dz[i]) * static_cast<T>(v[j]);
                r.dv[j] += kept(r.weight.back()) * static_cast<T>(dz[i]);
            }
            for (std::size_t j = 0; j < n_k; ++j) {
                r.ds.push_back(r.weight[first + j] * (static_cast<T>(dz[i]) * static_cast<T>(v[j]) - mean));
                derivatives(i, j, to_q, to_k, false);
                for (std::size_t c = 0; c < d; ++c) {
                    r.dq[i * d + c] += kept(r.ds.back()) * to_q[c];
                    r.dk[j * d + c] += kept(r.ds.back()) * to_k[c];
                }
            }
        }
        return r;
    }
};

} // namespace

TEST_CASE("gradients of bilinear and additive scores stay inside their limits", "[oracle]") {
    generator r(31);
    for (const bool additive : {false, true})
        for (const char* name : {"f32", "bf16+f32"}) {
            const arithmetic& a = named(name);
            double greatest = 0;
            for (int run = 0; run < 40; ++run) {
                learned_scores s{1 + r.below(8), 1 + r.below(12), 1 + r.below(6), 0, additive, {}, {}, {}, {}, {}, {}, {}};
                s.h = additive ? 1 + r.below(5) : s.d;
                for (std::vector<double>* x : {&s.w1, &s.w2}) *x = draw(r, s.h * s.d, 0, 1, a.output);
                s.b = draw(r, s.h, 0, 1, a.output);
                s.q = draw(r, s.n_q * s.d, 0, 1, a.output);
                s.k = draw(r, s.n_k * s.d, 0, 1, a.output);
                s.v = draw(r, s.n_k, 0, 1, a.output);
                s.dz = draw(r, s.n_q, 0, 1, a.output);
                const auto exact = s.run<wide>(nullptr);
                const auto made = s.run<float>(a.weight > 0 ? &a.output : nullptr);

                gradient_shape shape;
                shape.rows = s.n_q;
                shape.n_k = s.n_k;
                shape.d_k = s.d;
                shape.d_v = 1;
                shape.v = s.v;
                shape.roundings = static_cast<double>(2 * s.d + s.h + 8);
                shape.learned = true;
                std::vector<double> to_query, to_query_size;
                for (std::size_t j = 0; j < s.n_k && !additive; ++j) {
                    std::vector<wide> to_q, to_k;
                    s.derivatives(0, j, to_q, to_k, false);
                    to_query.insert(to_query.end(), to_q.begin(), to_q.end());
                    s.derivatives(0, j, to_q, to_k, true);
                    to_query_size.insert(to_query_size.end(), to_q.begin(), to_q.end());
                }
                shape.to_query = {to_query, to_query_size};
                std::vector<std::size_t> keys(s.n_k);
                std::iota(keys.begin(), keys.end(), std::size_t{0});
                attention_gradient_limits limits({&a}, shape, 8, keys);
                const auto held = [&](const char* output, std::size_t e, float got, wide right, const element_limits& limit) {
                    const double share = share_of(a.output, static_cast<double>(got), right, limit.expected);
                    greatest = std::max(greatest, share);
                    if (share <= 1 && limit.expected <= limit.certain) return;
                    CAPTURE(name, additive, output, e, got, static_cast<double>(right), limit.certain, limit.expected);
                    CHECK(share <= 1);
                };
                for (std::size_t i = 0; i < s.n_q; ++i) {
                    gradient_row_facts f;
                    std::vector<double> own_q, own_q_size, own_k, own_k_size;
                    gradient_score_errors e;
                    for (std::size_t j = 0; j < s.n_k; ++j) {
                        f.key.push_back(j);
                        f.score.push_back(static_cast<double>(exact.score[i * s.n_k + j]));
                        f.weight.push_back(static_cast<double>(exact.weight[i * s.n_k + j]));
                        e.bound.push_back(0x1p-24 * (2 * static_cast<double>(s.d + s.h) + 24) * static_cast<double>(s.score<wide>(i, j, true)));
                        std::vector<wide> to_q, to_k;
                        for (const bool sizes : {false, true}) {
                            s.derivatives(i, j, to_q, to_k, sizes);
                            if (!additive && j != 0) continue;
                            (sizes ? own_q_size : own_q).insert((sizes ? own_q_size : own_q).end(), to_q.begin(), to_q.end());
                            (sizes ? own_k_size : own_k).insert((sizes ? own_k_size : own_k).end(), to_k.begin(), to_k.end());
                        }
                    }
                    f.lse = static_cast<double>(exact.lse[i]);
                    f.dz = {s.dz.data() + i, 1};
                    f.to_key = {own_k, own_k_size};
                    if (additive) f.to_query = {own_q, own_q_size};
                    f.errors.push_back(e);
                    limits.row(f);
                    for (std::size_t c = 0; c < s.d; ++c) held("dq", i * s.d + c, made.dq[i * s.d + c], exact.dq[i * s.d + c], limits.dq(0, c));
                }
                for (std::size_t j = 0; j < s.n_k; ++j) {
                    for (std::size_t c = 0; c < s.d; ++c) held("dk", j * s.d + c, made.dk[j * s.d + c], exact.dk[j * s.d + c], limits.dk(0, j, c));
                    held("dv", j, made.dv[j], exact.dv[j], limits.dv(0, j, 0));
                }
            }
            INFO(name << (additive ? " additive: " : " bilinear: ") << greatest);
            CHECK(greatest > 0.003); // sizes are sums over all weights
        }
}

TEST_CASE("inputs that are wider than the arithmetic are rounded first", "[oracle]") {
    generator r(51);
    for (const char* name : {"f32", "bf16+f32"}) {
        const arithmetic& a = named(name);
        kernels::gradient_inputs in = make_gradient_inputs(kernels::gradient_families[0], r, 12, 12, 4, 4, formats::f64), rounded = in;
        for (std::vector<double>* x : {&rounded.q, &rounded.k, &rounded.v, &rounded.dz})
            for (double& y : *x) y = round_to(a.output, y);
        const kernels::exact_gradients exact = differentiate(in);
        gradient_shape shape = shape_of(in);
        shape.inputs = {false, false, false};
        attention_gradient_limits limits({&a}, shape, 8, {0});
        const kernels::gradients made = kernels::run_backward(false, rounded, {});
        for (std::size_t i = 0; i < in.n_q; ++i) {
            gradient_row_facts f = facts_of(in, exact, i, {&a});
            for (std::size_t l = 0; l < f.key.size(); ++l) { // q and k are rounded, each relative to the terms of the score
                double size = 0;
                for (std::size_t c = 0; c < in.d_k; ++c) size += std::fabs(in.q[i * in.d_k + c] * in.k[f.key[l] * in.d_k + c]) * in.score_scale();
                for (std::vector<double>* e : {&f.errors[0].bound, &f.errors[0].plain}) (*e)[l] += 2.1 * a.output.unit_roundoff() * size;
            }
            limits.row(f);
            for (std::size_t c = 0; c < in.d_k; ++c)
                CHECK(share_of(a.output, made.dq[i * in.d_k + c], exact.dq[i * in.d_k + c], limits.dq(0, c).expected) <= 1);
        }
        for (std::size_t c = 0; c < in.d_k; ++c) CHECK(share_of(a.output, made.dk[c], exact.dk[c], limits.dk(0, 0, c).expected) <= 1);
        for (std::size_t c = 0; c < in.d_v; ++c) CHECK(share_of(a.output, made.dv[c], exact.dv[c], limits.dv(0, 0, c).expected) <= 1);
    }
}
