// SPDX-License-Identifier: BSL-1.0
// The formulas of all ops once more, as one would write them down in an afternoon: loops over plain vectors, for any `number`. Tests hold the library's
// formulas against these in long double, and judge what these give in double. Nothing here comes from the library.
#pragma once

#include "tape.hpp"

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace plain {

using lengths = std::vector<std::size_t>;

/// A result that nobody may look at.
template <class T> inline constexpr T padding = T(1e30L);

template <class N> struct tensor {
    lengths shape;
    std::vector<N> values;
};

template <class N> struct table {
    std::size_t rows = 0, columns = 0;
    std::vector<N> values;
    table() = default;
    table(std::size_t r, std::size_t c) : rows{r}, columns{c}, values(r * c) {}
    N& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
    const N& operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
    [[nodiscard]] std::vector<N> row(std::size_t i) const {
        return {values.begin() + static_cast<long>(i * columns), values.begin() + static_cast<long>((i + 1) * columns)};
    }
    void set_row(std::size_t i, const std::vector<N>& from) { std::copy(from.begin(), from.end(), values.begin() + static_cast<long>(i * columns)); }
};

template <class N> table<N> product(const table<N>& a, const table<N>& b) {
    table<N> c(a.rows, b.columns);
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t j = 0; j < b.columns; ++j)
            for (std::size_t l = 0; l < a.columns; ++l) c(i, j) = l == 0 ? a(i, 0) * b(0, j) : c(i, j) + a(i, l) * b(l, j);
    return c;
}
template <class N> table<N> sum(const table<N>& a, const table<N>& b) {
    table<N> c(a.rows, a.columns);
    for (std::size_t e = 0; e < a.values.size(); ++e) c.values[e] = a.values[e] + b.values[e];
    return c;
}
template <class N> table<N> transposed(const table<N>& a) {
    table<N> t(a.columns, a.rows);
    for (std::size_t i = 0; i < a.rows; ++i)
        for (std::size_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
    return t;
}

/// What an op is given: tensors by name. Floating-point ones are leaves.
template <class N> struct given {
    std::map<std::string, tensor<N>> tensors;
    std::map<std::string, bool> is_float;
    [[nodiscard]] bool has(const std::string& name) const { return tensors.contains(name); }
    [[nodiscard]] const tensor<N>& operator[](const std::string& name) const { return tensors.at(name); }
    /// The last two dimensions at a place of those before.
    [[nodiscard]] table<N> slice(const std::string& name, std::size_t s) const {
        const tensor<N>& t = tensors.at(name);
        table<N> m(t.shape[t.shape.size() - 2], t.shape.back());
        std::copy_n(t.values.begin() + static_cast<long>(s * m.values.size()), m.values.size(), m.values.begin());
        return m;
    }
};
template <class N> using results = std::map<std::string, tensor<N>>;

/// Everything that a case can declare.
struct options {
    std::string causal = "none";
    std::optional<std::pair<long, long>> window; // left, right
    std::string score = "scaled";
    long double scale = 0; // 0: 1/√d_k
    long double cap = 0;   // 0: none
    bool drop = false;     // a boolean mask's truth hides
    bool nan_if_empty = false;
    long double dropped = 0;
    std::string position = "none";
    bool half = false;
    long double base = 10000;
    std::size_t rotated = 0; // 0: all
    std::size_t offset = 0;
    std::size_t heads = 1, kv_heads = 1;
    bool out_in = false, mean_weights = false;
    bool pre = false, eps_in_std = false, unbiased = false;
    long double eps = 1e-5L;
    std::string activation = "relu"; // or gelu-erf, gelu-tanh, gelu-sigmoid
};

// ---- element by element and row by row

template <class N> N activated(const N& x, const std::string& which) {
    using T = typename N::scalar;
    if (which == "relu") return positive_part(x);
    if (which == "gelu-erf") return T(0.5L) * x * (T(1) + erf(x / N(std::sqrt(T(2)))));
    if (which == "gelu-tanh") return T(0.5L) * x * (T(1) + tanh(N(std::sqrt(T(2) / T(3.14159265358979323846264338327950288L))) * (x + T(0.044715L) * x * x * x)));
    return x / (N(T(1)) + exp(N(T(-1.702L)) * x));
}

template <class N> std::vector<N> layer_norm(const std::vector<N>& x, const std::vector<N>* gamma, const std::vector<N>* beta, const options& o) {
    using T = typename N::scalar;
    const T d = static_cast<T>(x.size());
    N mean(T(0)), square(T(0));
    for (const N& value : x) mean = mean + value;
    mean = mean / N(d);
    for (const N& value : x) square = square + (value - mean) * (value - mean);
    const N variance = square / N(o.unbiased ? d - 1 : d);
    const N below = o.eps_in_std ? sqrt(variance) + N(T(o.eps)) : sqrt(variance + N(T(o.eps)));
    std::vector<N> y;
    for (std::size_t c = 0; c < x.size(); ++c) {
        N value = (x[c] - mean) / below;
        if (gamma) value = value * (*gamma)[c];
        if (beta) value = value + (*beta)[c];
        y.push_back(value);
    }
    return y;
}
template <class N> std::vector<N> rms_norm(const std::vector<N>& x, const std::vector<N>* gamma, const options& o) {
    using T = typename N::scalar;
    N square(T(0));
    for (const N& value : x) square = square + value * value;
    square = square / N(static_cast<T>(x.size()));
    const N below = o.eps_in_std ? sqrt(square) + N(T(o.eps)) : sqrt(square + N(T(o.eps)));
    std::vector<N> y;
    for (std::size_t c = 0; c < x.size(); ++c) y.push_back(gamma ? x[c] / below * (*gamma)[c] : x[c] / below);
    return y;
}

template <class N> std::vector<N> rotated(const std::vector<N>& x, long double position, const options& o) {
    using T = typename N::scalar;
    const std::size_t r = o.rotated == 0 ? x.size() : o.rotated;
    std::vector<N> y = x;
    for (std::size_t i = 0; i < r / 2; ++i) {
        const T angle = T(position) * std::pow(T(o.base), -T(2) * static_cast<T>(i) / static_cast<T>(r));
        const std::size_t a = o.half ? i : 2 * i, b = o.half ? i + r / 2 : 2 * i + 1;
        y[a] = x[a] * N(std::cos(angle)) - x[b] * N(std::sin(angle));
        y[b] = x[a] * N(std::sin(angle)) + x[b] * N(std::cos(angle));
    }
    return y;
}

// ---- attention

/// What decides over one slice.
template <class N> struct pair_rule {
    std::function<bool(std::size_t, std::size_t)> seen;
    std::function<N(std::size_t, std::size_t)> bias, factor; // empty: none
    std::function<N(const std::vector<N>&, const std::vector<N>&)> raw;
    typename N::scalar scale{1}, cap{0};
    std::optional<N> sink;
    bool nan_if_empty = false;
};

template <class N> struct attended {
    table<N> raw, scores, weights, out;
    std::vector<N> lse;
};

template <class N> attended<N> attend(const table<N>& q, const table<N>& k, const table<N>& v, const pair_rule<N>& rule) {
    using T = typename N::scalar;
    constexpr T infinity = std::numeric_limits<T>::infinity();
    attended<N> a{{q.rows, k.rows}, {q.rows, k.rows}, {q.rows, k.rows}, {q.rows, v.columns}, {}};
    for (std::size_t i = 0; i < q.rows; ++i) {
        T greatest = rule.sink ? rule.sink->value : -infinity;
        for (std::size_t j = 0; j < k.rows; ++j) {
            a.raw(i, j) = rule.raw(q.row(i), k.row(j));
            a.scores(i, j) = N(-infinity);
            if (!rule.seen(i, j)) continue;
            N s = a.raw(i, j) * N(rule.scale);
            if (rule.cap != 0) s = N(rule.cap) * tanh(s / N(rule.cap));
            if (rule.bias) s = s + rule.bias(i, j);
            a.scores(i, j) = s;
            greatest = std::max(greatest, s.value);
        }
        if (greatest == -infinity) {
            const N nothing(rule.nan_if_empty ? std::numeric_limits<T>::quiet_NaN() : T(0));
            for (std::size_t j = 0; j < k.rows; ++j) a.weights(i, j) = nothing;
            for (std::size_t c = 0; c < v.columns; ++c) a.out(i, c) = nothing;
            a.lse.push_back(N(-infinity));
            continue;
        }
        N total(T(0));
        for (std::size_t j = 0; j < k.rows; ++j)
            if (rule.seen(i, j)) {
                a.weights(i, j) = exp(a.scores(i, j) - N(greatest));
                total = total + a.weights(i, j);
            }
        if (rule.sink) total = total + exp(*rule.sink - N(greatest));
        for (std::size_t j = 0; j < k.rows; ++j)
            if (rule.seen(i, j)) {
                a.weights(i, j) = a.weights(i, j) / total;
                const N weight = rule.factor ? a.weights(i, j) * rule.factor(i, j) : a.weights(i, j);
                for (std::size_t c = 0; c < v.columns; ++c) a.out(i, c) = a.out(i, c) + weight * v(j, c);
            }
        a.lse.push_back(log(total) + N(greatest));
    }
    return a;
}

/// How many positions there are before that of query 0, and how many tokens are no padding.
struct extent {
    std::size_t queries = 0, keys = 0;
    long shift = 0;
};
template <class N> extent extent_of(const given<N>& in, const std::string& prefix, const options& o, std::size_t b, std::size_t n_q, std::size_t n_k) {
    extent e{n_q, n_k, 0};
    if (in.has(prefix + "q_lengths")) e.queries = static_cast<std::size_t>(in[prefix + "q_lengths"].values[b].value);
    if (in.has(prefix + "k_lengths")) e.keys = static_cast<std::size_t>(in[prefix + "k_lengths"].values[b].value);
    if (o.causal == "bottom-right") e.shift = static_cast<long>(e.keys) - static_cast<long>(e.queries);
    return e;
}

inline long double slope_of_head(std::size_t h, std::size_t heads) {
    std::size_t power = 1;
    while (2 * power <= heads) power *= 2;
    if (h < power) return std::pow(2.0L, -8.0L * static_cast<long double>(h + 1) / static_cast<long double>(power));
    return std::pow(2.0L, -8.0L * static_cast<long double>(2 * (h - power) + 1) / static_cast<long double>(2 * power));
}

/// An entry of a tensor that broadcasts to [b, h, i, j].
template <class N> const N& broadcast(const tensor<N>& t, std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
    const std::size_t index[4] = {b, h, i, j};
    std::size_t at = 0;
    for (std::size_t k = 0; k < t.shape.size(); ++k) at = at * t.shape[k] + (t.shape[k] == 1 ? 0 : index[k + 4 - t.shape.size()]);
    return t.values[at];
}

/// The rule of head h of batch element b. `self`: causal masks, windows and positions apply.
template <class N>
pair_rule<N> rule_of(const given<N>& in, const std::string& prefix, const options& o, std::size_t b, std::size_t h, std::size_t heads, std::size_t n_q, std::size_t n_k, std::size_t d_k,
                     bool self = true) {
    using T = typename N::scalar;
    pair_rule<N> rule;
    const extent e = extent_of(in, prefix, o, b, n_q, n_k);
    const tensor<N>* const mask = in.has(prefix + "mask") ? &in[prefix + "mask"] : nullptr;
    const bool adds = mask && in.is_float.at(prefix + "mask"), alibi = self && o.position == "alibi";
    rule.seen = [=, &in](std::size_t i, std::size_t j) {
        (void)in;
        if (i >= e.queries || j >= e.keys) return false;
        const long ahead = static_cast<long>(j) - static_cast<long>(i) - e.shift;
        if (self && o.causal != "none" && ahead > 0) return false;
        if (self && o.window && (ahead < -o.window->first || ahead > o.window->second)) return false;
        if (!mask) return true;
        const T entry = broadcast(*mask, b, h, i, j).value;
        return adds ? entry != -std::numeric_limits<T>::infinity() : (entry != 0) != o.drop;
    };
    if (adds || alibi) {
        const N slope = in.has(prefix + "alibi_slopes") ? N(in[prefix + "alibi_slopes"].values[h].value) : N(T(slope_of_head(h, heads)));
        rule.bias = [=](std::size_t i, std::size_t j) {
            N total(T(0));
            if (adds) total = broadcast(*mask, b, h, i, j);
            if (alibi) total = total - slope * N(static_cast<T>(std::labs(static_cast<long>(i) + e.shift - static_cast<long>(j))));
            return total;
        };
    }
    if (in.has(prefix + "dropout_mask"))
        rule.factor = [=, &in](std::size_t i, std::size_t j) {
            return N(broadcast(in[prefix + "dropout_mask"], b, h, i, j).value != 0 ? T(1) / (T(1) - T(o.dropped)) : T(0));
        };
    if (in.has(prefix + "sink")) rule.sink = N(in[prefix + "sink"].values[h].value);
    rule.nan_if_empty = o.nan_if_empty;
    rule.cap = T(o.cap);
    rule.scale = o.score != "scaled" ? T(1) : o.scale != 0 ? T(o.scale) : T(1) / std::sqrt(static_cast<T>(d_k));
    rule.raw = [=, &in](const std::vector<N>& q, const std::vector<N>& k) {
        N s(T(0));
        if (o.score == "bilinear") {
            const table<N> w = in.slice("w", 0);
            for (std::size_t i = 0; i < q.size(); ++i)
                for (std::size_t j = 0; j < k.size(); ++j) s = s + q[i] * w(i, j) * k[j];
        } else if (o.score == "additive") {
            const table<N> w1 = in.slice("w1", 0), w2 = in.slice("w2", 0);
            for (std::size_t a = 0; a < w1.rows; ++a) {
                N inside(T(0));
                for (std::size_t c = 0; c < k.size(); ++c) inside = inside + w1(a, c) * k[c];
                for (std::size_t c = 0; c < q.size(); ++c) inside = inside + w2(a, c) * q[c];
                s = s + in["b"].values[a] * tanh(inside);
            }
        } else
            for (std::size_t c = 0; c < q.size(); ++c) s = s + q[c] * k[c];
        return s;
    };
    return rule;
}

/// Rows at positions first, first + 1, …, or at those of `positions` [n] or [b, n].
template <class N> void rotate_rows(table<N>& m, const given<N>& in, const std::string& prefix, const options& o, std::size_t b, long first, std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) {
        long double at = static_cast<long double>(static_cast<long>(t + o.offset) + first);
        if (in.has(prefix + "positions")) {
            const tensor<N>& p = in[prefix + "positions"];
            const std::size_t row = p.shape.size() == 2 && p.shape[0] > 1 ? b : 0;
            at = static_cast<long double>(p.values[row * p.shape.back() + static_cast<std::size_t>(static_cast<long>(t) + first)].value);
        }
        m.set_row(t, rotated(m.row(t), at, o));
    }
}

/// The op attention. q, k, v have rank 4; batch and heads of k and v may be fewer.
template <class N> results<N> attention(const given<N>& in, const options& o) {
    const lengths &q_shape = in["q"].shape, &k_shape = in["k"].shape, &v_shape = in["v"].shape;
    const std::size_t batches = q_shape[0], heads = q_shape[1], n_q = q_shape[2], n_k = k_shape[2], d_v = v_shape[3];
    results<N> all;
    all["raw_scores"] = all["scores"] = all["weights"] = {{batches, heads, n_q, n_k}, {}};
    all["lse"] = {{batches, heads, n_q}, {}};
    all["out"] = {{batches, heads, n_q, d_v}, {}};
    const auto slice = [&](const char* name, std::size_t b, std::size_t h) {
        const lengths& shape = in[name].shape;
        return in.slice(name, (shape[0] == 1 ? 0 : b) * shape[1] + h * shape[1] / heads);
    };
    for (std::size_t b = 0; b < batches; ++b)
        for (std::size_t h = 0; h < heads; ++h) {
            table<N> q = slice("q", b, h), k = slice("k", b, h);
            const extent e = extent_of(in, "", o, b, n_q, n_k);
            if (o.position == "rope") {
                rotate_rows(q, in, "", o, b, e.shift, e.queries);
                rotate_rows(k, in, "", o, b, 0, n_k);
            }
            attended<N> a = attend(q, k, slice("v", b, h), rule_of(in, "", o, b, h, heads, n_q, n_k, k_shape[3]));
            const auto append = [&](const char* name, std::vector<N> values, std::size_t columns, std::size_t judged_columns) {
                for (std::size_t x = 0; x < values.size(); ++x)
                    all[name].values.push_back(x / columns < e.queries && x % columns < judged_columns ? values[x] : N(padding<typename N::scalar>));
            };
            append("raw_scores", a.raw.values, n_k, e.keys);
            append("scores", a.scores.values, n_k, n_k);
            append("weights", a.weights.values, n_k, n_k);
            append("lse", a.lse, 1, 1);
            append("out", a.out.values, d_v, d_v);
        }
    return all;
}

// ---- multi-head attention, feed-forward, layers

template <class N> table<N> projected(const given<N>& in, const std::string& prefix, const char* w, const char* b, const table<N>& x, const options& o) {
    const table<N> given_w = in.slice(prefix + w, 0);
    table<N> y = product(x, o.out_in ? transposed(given_w) : given_w);
    if (in.has(prefix + b))
        for (std::size_t i = 0; i < y.rows; ++i)
            for (std::size_t c = 0; c < y.columns; ++c) y(i, c) = y(i, c) + in[prefix + b].values[c];
    return y;
}

/// Appends the weights of batch element b to `weights`, if it is there.
template <class N>
table<N> multi_head(const given<N>& in, const std::string& prefix, const options& o, std::size_t b, const table<N>& x, const table<N>& memory, bool self, std::vector<N>* weights) {
    using T = typename N::scalar;
    const table<N> q = projected(in, prefix, "w_q", "b_q", x, o), k = projected(in, prefix, "w_k", "b_k", memory, o), v = projected(in, prefix, "w_v", "b_v", memory, o);
    const std::size_t d_k = q.columns / o.heads, d_v = v.columns / o.kv_heads;
    const auto head = [](const table<N>& m, std::size_t h, std::size_t d) {
        table<N> part(m.rows, d);
        for (std::size_t i = 0; i < m.rows; ++i)
            for (std::size_t c = 0; c < d; ++c) part(i, c) = m(i, h * d + c);
        return part;
    };
    table<N> concatenated(x.rows, o.heads * d_v), mean(x.rows, memory.rows);
    const extent e = extent_of(in, prefix, o, b, x.rows, memory.rows);
    const auto judged = [&](const N& weight, std::size_t at) { return at / memory.rows < e.queries ? weight : N(padding<T>); };
    for (std::size_t h = 0; h < o.heads; ++h) {
        const std::size_t kv = h * o.kv_heads / o.heads;
        table<N> q_h = head(q, h, d_k), k_h = head(k, kv, d_k);
        if (self && o.position == "rope") {
            rotate_rows(q_h, in, prefix, o, b, e.shift, x.rows);
            rotate_rows(k_h, in, prefix, o, b, 0, memory.rows);
        }
        const attended<N> a = attend(q_h, k_h, head(v, kv, d_v), rule_of(in, prefix, o, b, h, o.heads, x.rows, memory.rows, d_k, self));
        for (std::size_t i = 0; i < x.rows; ++i)
            for (std::size_t c = 0; c < d_v; ++c) concatenated(i, h * d_v + c) = a.out(i, c);
        for (std::size_t w = 0; w < a.weights.values.size(); ++w) {
            if (weights && !o.mean_weights) weights->push_back(judged(a.weights.values[w], w));
            mean.values[w] = mean.values[w] + a.weights.values[w];
        }
    }
    if (weights && o.mean_weights)
        for (std::size_t w = 0; w < mean.values.size(); ++w) weights->push_back(judged(mean.values[w] / N(static_cast<T>(o.heads)), w));
    return projected(in, prefix, "w_o", "b_o", concatenated, o);
}

/// Appends a table to a result of [batches, rows, columns]; rows of padding are marked.
template <class N> void append(results<N>& to, const std::string& name, std::size_t batches, const table<N>& m, std::size_t judged_rows) {
    tensor<N>& t = to[name];
    t.shape = {batches, m.rows, m.columns};
    for (std::size_t e = 0; e < m.values.size(); ++e) t.values.push_back(e / m.columns < judged_rows ? m.values[e] : N(padding<typename N::scalar>));
}
inline lengths weights_shape(const options& o, std::size_t batches, std::size_t n_q, std::size_t n_k) {
    return o.mean_weights ? lengths{batches, n_q, n_k} : lengths{batches, o.heads, n_q, n_k};
}

/// The op multi_head_attention. x is [b, n, d], memory [b or 1, m, d].
template <class N> results<N> multi_head_attention(const given<N>& in, const options& o) {
    const std::size_t batches = in["x"].shape[0];
    results<N> all;
    for (std::size_t b = 0; b < batches; ++b) {
        const table<N> x = in.slice("x", b), memory = in.has("memory") ? in.slice("memory", in["memory"].shape[0] == 1 ? 0 : b) : x;
        const table<N> out = multi_head(in, "", o, b, x, memory, true, &all["weights"].values);
        all["weights"].shape = weights_shape(o, batches, x.rows, memory.rows);
        append(all, "out", batches, out, extent_of(in, "", o, b, x.rows, memory.rows).queries);
    }
    return all;
}

template <class N> table<N> normed(const given<N>& in, const std::string& prefix, const table<N>& x, const options& o) {
    const auto weights = [&](const char* name) { return in.has(prefix + name) ? &in[prefix + name].values : nullptr; };
    table<N> y(x.rows, x.columns);
    for (std::size_t i = 0; i < x.rows; ++i) y.set_row(i, layer_norm(x.row(i), weights("gamma"), weights("beta"), o));
    return y;
}
template <class N> table<N> feed_forward(const given<N>& in, const std::string& prefix, const table<N>& x, const options& o) {
    table<N> hidden = projected(in, prefix, "w_1", "b_1", x, o);
    for (N& h : hidden.values) h = activated(h, o.activation);
    return projected(in, prefix, "w_2", "b_2", hidden, o);
}

/// One layer; with a memory a decoder's. Its stages go to `all`, its output to `out_name`.
template <class N>
table<N> layer(const given<N>& in, const std::string& prefix, const options& o, std::size_t b, std::size_t batches, table<N> x, const table<N>* memory, results<N>& all,
               const std::string& out_name) {
    const std::size_t judged = extent_of(in, prefix + "self_attn.", o, b, x.rows, x.rows).queries;
    const auto keep = [&](const std::string& name, const table<N>& m) {
        append(all, name, batches, m, judged);
        return m;
    };
    const auto sublayer = [&](const std::string& norm, const std::string& name, const auto& f) {
        if (o.pre) x = sum(x, keep(prefix + name + ".out", f(keep(prefix + norm + ".out", normed(in, prefix + norm + ".", x, o)))));
        else x = keep(prefix + norm + ".out", normed(in, prefix + norm + ".", sum(x, keep(prefix + name + ".out", f(x))), o));
    };
    sublayer("norm1", "self_attn", [&](const table<N>& y) {
        all[prefix + "self_attn.weights"].shape = weights_shape(o, batches, x.rows, x.rows);
        return multi_head(in, prefix + "self_attn.", o, b, y, y, true, &all[prefix + "self_attn.weights"].values);
    });
    if (memory)
        sublayer("norm2", "cross_attn", [&](const table<N>& y) {
            all[prefix + "cross_attn.weights"].shape = weights_shape(o, batches, x.rows, memory->rows);
            return multi_head(in, prefix + "cross_attn.", o, b, y, *memory, false, &all[prefix + "cross_attn.weights"].values);
        });
    sublayer(memory ? "norm3" : "norm2", "ffn", [&](const table<N>& y) { return feed_forward(in, prefix + "ffn.", y, o); });
    return keep(out_name, x);
}

/// The ops encoder_layer, decoder_layer (`stack` 0) and encoder, decoder (so many layers).
template <class N> results<N> layers(const given<N>& in, const options& o, std::size_t stack) {
    const std::size_t batches = in["x"].shape[0];
    results<N> all;
    for (std::size_t b = 0; b < batches; ++b) {
        table<N> x = in.slice("x", b), memory;
        if (in.has("memory")) memory = in.slice("memory", in["memory"].shape[0] == 1 ? 0 : b);
        const table<N>* const from = in.has("memory") ? &memory : nullptr;
        if (stack == 0) x = layer(in, "", o, b, batches, x, from, all, "out");
        for (std::size_t l = 0; l < stack; ++l) {
            const std::string prefix = "layers." + std::to_string(l) + ".";
            x = layer(in, prefix, o, b, batches, x, from, all, prefix + "out");
        }
        if (stack == 0) continue;
        const std::size_t judged = extent_of(in, "layers." + std::to_string(stack - 1) + ".self_attn.", o, b, x.rows, x.rows).queries;
        append(all, "out", batches, in.has("norm.gamma") ? normed(in, "norm.", x, o) : x, judged);
    }
    return all;
}

} // namespace plain
