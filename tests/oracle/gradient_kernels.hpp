// SPDX-License-Identifier: BSL-1.0
// Emulated backward kernels of attention, right ones in many styles, and the exact gradients in long double: what tests hold the limits of
// gradients against. Nothing here comes from the library but the formats' rounding, which has tests of its own.
#pragma once

#include "kernels.hpp"

namespace kernels {

// One head with its output's gradient, and what a row may have beside a mask.
struct gradient_inputs : inputs {
    std::vector<double> dz;   // n_q × d_v
    std::vector<double> kept; // of dropout: n_q × n_k, 0 or 1; empty: none
    double drop_p = 0;        // 1/(1 − p) scales what is kept
    double cap = 0;           // of a softcap; 0: none
    bool has_sink = false;
    double sink = 0;

    [[nodiscard]] double score_scale() const { return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(d_k)); }
    [[nodiscard]] bool keeps(std::size_t i, std::size_t j) const { return kept.empty() || kept[i * n_k + j] != 0; }
};

// The exact values, to 2^−64.
struct exact_gradients {
    std::vector<long double> score, weight, factor, tanh; // n_q × n_k; factor: of dropout
    std::vector<long double> lse, sink_weight;
    std::vector<long double> ds, dq, dk, dv;
};
inline exact_gradients differentiate(const gradient_inputs& in) {
    using wide = long double;
    exact_gradients g;
    const std::size_t pairs = in.n_q * in.n_k;
    for (std::vector<wide>* x : {&g.score, &g.weight, &g.factor, &g.tanh, &g.ds}) x->assign(pairs, 0);
    g.dq.assign(in.n_q * in.d_k, 0);
    g.dk.assign(in.n_k * in.d_k, 0);
    g.dv.assign(in.n_k * in.d_v, 0);
    const wide scale = in.scale != 0 ? static_cast<wide>(in.scale) : 1 / std::sqrt(static_cast<wide>(in.d_k));
    for (std::size_t i = 0; i < in.n_q; ++i) {
        wide top = in.has_sink ? static_cast<wide>(in.sink) : -INFINITY, sum = 0, mean = 0;
        for (std::size_t j = 0; j < in.n_k; ++j) {
            const std::size_t at = i * in.n_k + j;
            g.factor[at] = in.keeps(i, j) ? 1 / (1 - static_cast<wide>(in.drop_p)) : 0;
            if (!in.visible(i, j)) continue;
            wide s = 0;
            for (std::size_t c = 0; c < in.d_k; ++c) s += static_cast<wide>(in.q[i * in.d_k + c]) * in.k[j * in.d_k + c];
            s *= scale;
            if (in.cap > 0) {
                g.tanh[at] = std::tanh(s / in.cap);
                s = g.tanh[at] * in.cap;
            }
            g.score[at] = s + (in.bias.empty() ? 0 : in.bias[at]);
            top = std::max(top, g.score[at]);
        }
        for (std::size_t j = 0; j < in.n_k; ++j)
            if (in.visible(i, j)) sum += std::exp(g.score[i * in.n_k + j] - top);
        if (sum == 0) { // no key
            g.lse.push_back(-INFINITY);
            g.sink_weight.push_back(0);
            continue;
        }
        g.sink_weight.push_back(in.has_sink ? std::exp(in.sink - top) / (sum + std::exp(in.sink - top)) : 0);
        if (in.has_sink) sum += std::exp(in.sink - top);
        g.lse.push_back(top + std::log(sum));
        std::vector<wide> da(in.n_k, 0);
        for (std::size_t j = 0; j < in.n_k; ++j) {
            const std::size_t at = i * in.n_k + j;
            if (!in.visible(i, j)) continue;
            g.weight[at] = std::exp(g.score[at] - top) / sum;
            for (std::size_t c = 0; c < in.d_v; ++c) {
                da[j] += g.factor[at] * in.dz[i * in.d_v + c] * in.v[j * in.d_v + c];
                g.dv[j * in.d_v + c] += g.factor[at] * g.weight[at] * in.dz[i * in.d_v + c];
            }
            mean += g.weight[at] * da[j];
        }
        for (std::size_t j = 0; j < in.n_k; ++j) {
            const std::size_t at = i * in.n_k + j;
            if (!in.visible(i, j)) continue;
            g.ds[at] = g.weight[at] * (da[j] - mean);
            const wide passed = g.ds[at] * (1 - g.tanh[at]) * (1 + g.tanh[at]) * scale;
            for (std::size_t c = 0; c < in.d_k; ++c) {
                g.dq[i * in.d_k + c] += passed * in.k[j * in.d_k + c];
                g.dk[j * in.d_k + c] += passed * in.q[i * in.d_k + c];
            }
        }
    }
    return g;
}

struct backward_style {
    order sum = order::sequential;
    std::size_t block = 0; // of sums, and of forward's running maximum; 0: all at once
    bool fma = false;
    scaling scale = scaling::of_product;
    bool base_two = false;           // scores times log2 e, exp2, lse in base two
    bool recompute = false;          // weights are e^(s − lse), else kept
    bool repeat_differently = false; // … of scores summed in another order
    bool d_from_out = false;         // D is the sum of dout times the out as it was stored
    const attest::format* out = nullptr;
    const attest::format* weights = nullptr; // before the products with V and with dout
    bool sum_of_stored = false;              // the denominator of out sums what is stored
    const attest::format* ds = nullptr;
    bool scaled_ds = false;                     // the scale is in dS when it is stored
    const attest::format* everything = nullptr; // scaled q and k, scores, weights, da, gradients before the last scaling
    bool product_apart = false;                 // dS = (α da) − α D
    bool tf32 = false;
    int exp_bias = 0;
    std::uint64_t seed = 1;

    [[nodiscard]] std::string text() const {
        const char* orders[] = {"sequential", "reversed", "pairwise", "shuffled"};
        const char* scalings[] = {"product", "query", "both"};
        return std::string(orders[static_cast<int>(sum)]) + (block ? " block " + std::to_string(block) : "") + " scale on " +
               scalings[static_cast<int>(scale)] + (fma ? " fma" : "") + (base_two ? " exp2" : "") +
               (recompute ? repeat_differently ? " recomputed in another order" : " recomputed" : "") + (d_from_out ? " D from out" : "") +
               (out ? " stored" : "") + (weights ? " weights" : "") + (sum_of_stored ? " summed as stored" : "") +
               (ds ? scaled_ds ? " scaled dS" : " dS" : "") + (everything ? " all stored" : "") + (product_apart ? " product apart" : "") +
               (tf32 ? " tf32" : "") + (exp_bias ? " exp off by " + std::to_string(exp_bias) : "");
    }
};

struct gradients {
    std::vector<double> dq, dk, dv, ds; // before the final store
};

template <class T> class backward_kernel {
public:
    backward_kernel(const gradient_inputs& in, const backward_style& how) : in_{in}, how_{how}, random_{how.seed} {}

    gradients run() {
        const std::size_t pairs = in_.n_q * in_.n_k;
        std::vector<T> passed(pairs, 0), kept(pairs, 0); // dS, and weights times dropout's factor, as operands
        gradients g;
        g.ds.assign(pairs, 0);
        scales();
        for (std::size_t i = 0; i < in_.n_q; ++i) row(i, passed.data() + i * in_.n_k, kept.data() + i * in_.n_k, g.ds.data() + i * in_.n_k);
        for (std::size_t i = 0; i < in_.n_q; ++i)
            for (std::size_t c = 0; c < in_.d_k; ++c)
                g.dq.push_back(finished(products(
                                            in_.n_k, [&](std::size_t j) { return passed[i * in_.n_k + j]; }, [&](std::size_t j) { return key(j, c); },
                                            [&](std::size_t j) { return in_.visible(i, j); }),
                                        after_q_));
        for (std::size_t j = 0; j < in_.n_k; ++j)
            for (std::size_t c = 0; c < in_.d_k; ++c)
                g.dk.push_back(finished(products(
                                            in_.n_q, [&](std::size_t i) { return passed[i * in_.n_k + j]; },
                                            [&](std::size_t i) { return query(i, c); }, [&](std::size_t i) { return in_.visible(i, j); }),
                                        after_k_));
        for (std::size_t j = 0; j < in_.n_k; ++j)
            for (std::size_t c = 0; c < in_.d_v; ++c)
                g.dv.push_back(static_cast<double>(products(
                    in_.n_q, [&](std::size_t i) { return kept[i * in_.n_k + j]; },
                    [&](std::size_t i) { return operand(static_cast<T>(in_.dz[i * in_.d_v + c])); },
                    [&](std::size_t i) { return in_.visible(i, j); })));
        return g;
    }

private:
    static T stored(const attest::format* f, T x) { return f ? static_cast<T>(attest::round_to(*f, static_cast<double>(x))) : x; }
    T operand(T x) const {
        static constexpr attest::format eleven_bits{11, -126, 127};
        return how_.tf32 ? static_cast<T>(attest::round_to(eleven_bits, static_cast<double>(x))) : x;
    }
    T exponential(T x) const {
        if (x == 0) return 1;
        const auto wide = static_cast<long double>(x);
        const long double e = how_.base_two ? std::exp2(wide) : std::exp(wide);
        return static_cast<T>(e * (1 + how_.exp_bias * static_cast<long double>(std::numeric_limits<T>::epsilon())));
    }
    T reduce(std::vector<T> x, order how) {
        if (x.empty()) return 0;
        if (how == order::reversed) std::reverse(x.begin(), x.end());
        if (how == order::shuffled)
            for (std::size_t k = x.size(); k > 1; --k) std::swap(x[k - 1], x[random_.below(k)]);
        if (how == order::pairwise) {
            for (std::size_t step = 1; step < x.size(); step *= 2)
                for (std::size_t k = 0; k + step < x.size(); k += 2 * step) x[k] += x[k + step];
            return x[0];
        }
        const std::size_t block = how_.block == 0 ? x.size() : how_.block;
        T all = 0;
        for (std::size_t first = 0; first < x.size(); first += block) {
            T sum = 0;
            for (std::size_t k = first; k < std::min(first + block, x.size()); ++k) sum += x[k];
            all += sum;
        }
        return all;
    }
    T reduce(std::vector<T> x) { return reduce(std::move(x), how_.sum); }
    template <class A, class B, class Visible> T products(std::size_t n, const A& a, const B& b, const Visible& visible) {
        if (how_.fma) {
            T sum = 0;
            for (std::size_t k = 0; k < n; ++k)
                if (visible(k)) sum = std::fma(a(k), b(k), sum);
            return sum;
        }
        std::vector<T> terms;
        for (std::size_t k = 0; k < n; ++k)
            if (visible(k)) terms.push_back(a(k) * b(k));
        return reduce(std::move(terms));
    }
    static bool always(std::size_t) { return true; }

    // What q and k are multiplied by at first, and dq and dk at last.
    void scales() {
        const T scale = in_.scale != 0 ? static_cast<T>(in_.scale) : static_cast<T>(1) / std::sqrt(static_cast<T>(in_.d_k));
        on_q_ = on_k_ = on_product_ = after_q_ = after_k_ = in_ds_ = 1;
        const scaling where = how_.scale == scaling::of_both && scale < 0 ? scaling::of_query : how_.scale;
        if (where == scaling::of_product) {
            on_product_ = scale;
            if (how_.scaled_ds)
                in_ds_ = scale;
            else
                after_q_ = after_k_ = scale;
        } else if (where == scaling::of_query) {
            on_q_ = after_q_ = scale;
        } else
            on_q_ = on_k_ = after_q_ = after_k_ = std::sqrt(scale);
        for (const double x : in_.q) q_.push_back(operand(scaled(x, on_q_)));
        for (const double x : in_.k) k_.push_back(operand(scaled(x, on_k_)));
    }
    T query(std::size_t i, std::size_t c) const { return q_[i * in_.d_k + c]; }
    T key(std::size_t j, std::size_t c) const { return k_[j * in_.d_k + c]; }
    T scaled(double x, T by) const { return by == 1 ? static_cast<T>(x) : stored(how_.everything, static_cast<T>(x) * by); }
    double finished(T sum, T after) const { return static_cast<double>(after == 1 ? sum : stored(how_.everything, sum) * after); }

    // The scores of row i, in natural units: what enters softmax.
    std::vector<T> scores(std::size_t i, order how) {
        std::vector<T> s(in_.n_k, static_cast<T>(-infinity));
        tanh_.assign(in_.n_k, 0);
        const order before = how_.sum;
        backward_style& style = how_;
        style.sum = how;
        for (std::size_t j = 0; j < in_.n_k; ++j) {
            if (!in_.visible(i, j)) continue;
            const auto a = [&](std::size_t c) { return query(i, c); };
            const auto b = [&](std::size_t c) { return key(j, c); };
            T x = products(in_.d_k, a, b, always);
            if (on_product_ != 1) x *= on_product_;
            x = stored(how_.everything, x);
            if (in_.cap > 0) {
                const T cap = static_cast<T>(in_.cap);
                const T u = stored(how_.everything, static_cast<T>(x / cap));
                tanh_[j] = stored(how_.everything, static_cast<T>(std::tanh(static_cast<long double>(u))));
                x = stored(how_.everything, static_cast<T>(tanh_[j] * cap));
            }
            if (!in_.bias.empty()) x = stored(how_.everything, static_cast<T>(x + static_cast<T>(in_.bias[i * in_.n_k + j])));
            s[j] = x;
        }
        style.sum = before;
        return s;
    }
    T in_base(T natural) const { return how_.base_two ? natural * static_cast<T>(1.44269504088896340736) : natural; }

    // Forward, blockwise if there are blocks: l, lse and out.
    void forward(std::size_t i, const std::vector<T>& s) {
        const T low = static_cast<T>(-infinity);
        T m = in_.has_sink ? in_base(static_cast<T>(in_.sink)) : low;
        T l = in_.has_sink ? 1 : 0,
          below = l; // below: what out is divided by; lse and kept weights are those of weights as they were before they are stored
        std::vector<T> acc(in_.d_v, 0);
        const std::size_t block = how_.block == 0 ? in_.n_k : how_.block;
        for (std::size_t first = 0; first < in_.n_k; first += block) {
            const std::size_t last = std::min(in_.n_k, first + block);
            T top = m;
            for (std::size_t j = first; j < last; ++j)
                if (s[j] != low) top = std::max(top, in_base(s[j]));
            if (top == low) continue;
            const T rescale = m == low ? 0 : exponential(m - top);
            m = top;
            std::vector<T> p(last - first, 0), terms, as_stored;
            for (std::size_t j = first; j < last; ++j) {
                if (s[j] == low) continue;
                p[j - first] = exponential(in_base(s[j]) - m);
                terms.push_back(p[j - first]);
                as_stored.push_back(stored(how_.weights, p[j - first]));
            }
            l = l * rescale + reduce(terms);
            below = how_.sum_of_stored ? below * rescale + reduce(as_stored) : l;
            for (std::size_t c = 0; c < in_.d_v; ++c) {
                const auto a = [&](std::size_t j) { return operand(in_.keeps(i, first + j) ? stored(how_.weights, p[j]) : 0); };
                const auto b = [&](std::size_t j) { return operand(static_cast<T>(in_.v[(first + j) * in_.d_v + c])); };
                acc[c] = acc[c] * rescale + products(last - first, a, b, always);
            }
        }
        shift_ = m;
        sum_ = l;
        lse_ = how_.base_two ? m + std::log2(l) : m + std::log(l);
        const T drop = static_cast<T>(1 / (1 - in_.drop_p));
        out_.assign(in_.d_v, 0);
        for (std::size_t c = 0; c < in_.d_v; ++c) out_[c] = stored(how_.out, in_.drop_p != 0 ? acc[c] / below * drop : acc[c] / below);
    }

    void row(std::size_t i, T* passed, T* kept, double* ds_out) {
        std::vector<T> s = scores(i, how_.sum);
        bool any = false;
        for (const T x : s) any = any || x != static_cast<T>(-infinity);
        if (!any) return;
        forward(i, s);
        if (how_.recompute && how_.repeat_differently && how_.everything == nullptr)
            s = scores(i, how_.sum == order::reversed ? order::sequential : order::reversed);
        std::vector<T> weight(in_.n_k, 0), da(in_.n_k, 0), product(in_.n_k, 0), terms;
        const T drop = static_cast<T>(1 / (1 - in_.drop_p));
        for (std::size_t j = 0; j < in_.n_k; ++j) {
            if (!in_.visible(i, j)) continue;
            weight[j] = how_.recompute ? exponential(in_base(s[j]) - lse_) : exponential(in_base(s[j]) - shift_) / sum_;
            const T kept_weight = in_.drop_p != 0 ? (in_.keeps(i, j) ? weight[j] * drop : 0) : weight[j];
            kept[j] = operand(stored(how_.weights, kept_weight));
            weight[j] = stored(how_.everything, weight[j]);
            const auto a = [&](std::size_t c) { return operand(static_cast<T>(in_.dz[i * in_.d_v + c])); };
            const auto b = [&](std::size_t c) { return operand(static_cast<T>(in_.v[j * in_.d_v + c])); };
            da[j] = stored(how_.everything, products(in_.d_v, a, b, always));
            if (in_.drop_p != 0) da[j] = in_.keeps(i, j) ? stored(how_.everything, static_cast<T>(da[j] * drop)) : 0;
            product[j] = weight[j] * da[j];
            if (how_.product_apart) product[j] = stored(how_.everything, product[j]);
            terms.push_back(product[j]);
        }
        T d = 0;
        if (how_.d_from_out)
            for (std::size_t c = 0; c < in_.d_v; ++c) d += static_cast<T>(in_.dz[i * in_.d_v + c]) * out_[c];
        else
            d = reduce(terms);
        for (std::size_t j = 0; j < in_.n_k; ++j) {
            if (!in_.visible(i, j)) continue;
            T ds = how_.product_apart ? product[j] - weight[j] * d : weight[j] * (da[j] - d);
            ds_out[j] = static_cast<double>(ds);
            ds = stored(how_.everything, ds);
            if (in_.cap > 0) {
                const T slope = (1 - tanh_[j]) * (1 + tanh_[j]), cap = static_cast<T>(in_.cap);
                if (how_.everything == nullptr)
                    ds *= slope;
                else
                    ds = stored(how_.everything, stored(how_.everything, stored(how_.everything, ds * cap) * slope) / cap);
            }
            if (in_ds_ != 1) ds *= in_ds_;
            passed[j] = operand(stored(how_.ds, ds));
        }
    }

    const gradient_inputs& in_;
    backward_style how_;
    generator random_;
    T on_q_ = 1, on_k_ = 1, on_product_ = 1, after_q_ = 1, after_k_ = 1, in_ds_ = 1;
    T shift_ = 0, sum_ = 0, lse_ = 0;
    std::vector<T> q_, k_, out_, tanh_; // q and k as operands
};

inline gradients run_backward(bool wide, const gradient_inputs& in, const backward_style& how) {
    return wide ? backward_kernel<double>(in, how).run() : backward_kernel<float>(in, how).run();
}

} // namespace kernels
