// SPDX-License-Identifier: BSL-1.0
// The inputs of the trials: families that have something special, and how long their rows are.
#pragma once

#include "attest/elementary/log.hpp"
#include "bench/trials_style.hpp"
#include "oracle/judged.hpp"

#include <optional>

namespace trials {

// N(0,1), by the polar method (Marsaglia and Bray 1964, 10.1137/1006063) in double.
inline double normal(generator& r) {
    for (;;) {
        const double a = 2 * r.uniform() - 1, b = 2 * r.uniform() - 1, s = a * a + b * b;
        if (s > 0 && s < 1) return a * std::sqrt(-2 * attest::log(s) / s);
    }
}
inline std::vector<double> draw_normal(generator& r, std::size_t count, const attest::format& f) {
    std::vector<double> x(count);
    for (double& value : x) value = attest::round_to(f, normal(r));
    return x;
}

inline constexpr std::size_t long_rows = 4096; // from here on, 64 sampled rows, or few queries or keys

// One head, forward or back.
struct question {
    inputs in;
    std::vector<double> dout;
    std::optional<attest::row_sample> rows; // nothing: all
    bool columns = true;                    // dk and dv are asked for
};

// How long rows are. `small`: 1 to 16 keys mostly, some longer; `counted`: run r has 1 + r mod 16 queries and keys; `length`: `n` keys; `named`: 16 to 64 queries and keys.
enum class lengths { small, counted, length, named };

struct trial_family {
    std::string name;
    lengths how_long;
    std::size_t n;
    void (*change)(question&, generator&, const attest::format&);
};

// Keys that differ in their last component alone: scores within ±`spread`, about, of one that is not 0.
inline void nearly_equal(question& asked, double spread, const attest::format& f) {
    inputs& in = asked.in;
    for (std::size_t j = 1; j < in.n_k; ++j)
        for (std::size_t c = 0; c + 1 < in.d_k; ++c) in.k[j * in.d_k + c] = in.k[c];
    for (std::size_t i = 0; i < in.n_q; ++i) in.q[i * in.d_k + in.d_k - 1] = attest::round_to(f, spread * std::sqrt(static_cast<double>(in.d_k)));
}
template <std::size_t index> void of_forward(question& asked, generator& r, const attest::format& f) { kernels::families[index].change(asked.in, r, f); }
inline void as_in(std::string_view family, question& asked, generator& r, const attest::format& f) {
    for (const kernels::family& other : kernels::families)
        if (other.name == family) return other.change(asked.in, r, f);
    throw std::invalid_argument("no such family");
}

namespace detail {
template <std::size_t... index> std::vector<trial_family> small_families(std::index_sequence<index...>) {
    return {{kernels::families[index].name, lengths::small, 0, &of_forward<index>}...};
}
inline void nothing(question&, generator&, const attest::format&) {}
} // namespace detail

inline std::vector<trial_family> all_families() {
    std::vector<trial_family> all = detail::small_families(std::make_index_sequence<std::size(kernels::families)>());
    const auto small = [&](const char* name, void (*change)(question&, generator&, const attest::format&)) { all.push_back({name, lengths::small, 0, change}); };
    small("spread 1e-2", [](question& a, generator&, const attest::format& f) { nearly_equal(a, 1e-2, f); });
    small("spread 1e-3", [](question& a, generator&, const attest::format& f) { nearly_equal(a, 1e-3, f); });
    small("spread 5e-4", [](question& a, generator&, const attest::format& f) { nearly_equal(a, 5e-4, f); });
    small("one token", [](question& a, generator& r, const attest::format& f) {
        as_in("equal keys", a, r, f);
        for (std::size_t e = a.in.d_v; e < a.in.v.size(); ++e) a.in.v[e] = a.in.v[e - a.in.d_v];
    });
    small("dout mean 4", [](question& a, generator&, const attest::format& f) { kernels::times(a.dout, 0.25, f), kernels::plus(a.dout, 4, f); });
    small("dout constant", [](question& a, generator&, const attest::format& f) { std::fill(a.dout.begin(), a.dout.end(), attest::round_to(f, 0.7)); });
    small("dout of one row", [](question& a, generator&, const attest::format&) { std::fill(a.dout.begin() + static_cast<std::ptrdiff_t>(a.in.d_v), a.dout.end(), 0.0); });
    small("k, v, dout mean 4", [](question& a, generator&, const attest::format& f) {
        for (std::vector<double>* x : {&a.in.k, &a.in.v, &a.dout}) kernels::times(*x, 0.25, f), kernels::plus(*x, 4, f);
    });
    all.push_back({"n = 1 to 16", lengths::counted, 0, &detail::nothing});
    for (const std::size_t n : {683U, 1366U, 4096U, 8192U}) {
        const auto of_length = [&](const char* name, void (*change)(question&, generator&, const attest::format&)) { all.push_back({"n = " + std::to_string(n) + name, lengths::length, n, change}); };
        of_length("", &detail::nothing);
        of_length(", q = 0", [](question& a, generator&, const attest::format&) { std::fill(a.in.q.begin(), a.in.q.end(), 0.0); });
        of_length(", top-left", [](question& a, generator&, const attest::format&) { a.in.causal = "top-left"; });
        if (n >= long_rows) continue;
        of_length(", v mean 4", [](question& a, generator&, const attest::format& f) { kernels::times(a.in.v, 0.25, f), kernels::plus(a.in.v, 4, f); });
        of_length(", repeated", [](question& a, generator& r, const attest::format& f) { as_in("repeated tokens", a, r, f); });
        of_length(", spread 1e-3", [](question& a, generator&, const attest::format& f) { nearly_equal(a, 1e-3, f); });
    }
    return all;
}

struct shape_of_run {
    std::size_t n_q, n_k, d;
    std::optional<attest::row_sample> rows;
    bool columns;
};
inline shape_of_run draw_shape(const trial_family& f, std::size_t run, bool backward, generator& r) {
    const std::size_t d = std::size_t{1} << r.below(7);
    switch (f.how_long) {
    case lengths::named: {
        const std::size_t n = 16 + r.below(49);
        return {n, n, std::size_t{16} << r.below(3), std::nullopt, true};
    }
    case lengths::counted: return {1 + run % 16, 1 + run % 16, d, std::nullopt, true};
    case lengths::small: {
        const std::size_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 16, 16, 33, 100, 300, 683}, n_k = lengths[r.below(16)];
        const std::size_t most = n_k > 40 ? 3 : 16, n_q = 1 + r.below(most), narrow = n_k > 40 ? std::min<std::size_t>(d, 16) : d;
        if (backward && r.below(4) == 0) return {n_k, n_q, narrow, std::nullopt, true}; // long sums over queries
        return {n_q, n_k, narrow, std::nullopt, true};
    }
    case lengths::length: break;
    }
    // dk and dv take all rows: long sums over keys and over queries are looked at apart.
    const std::size_t narrow = run % 20 == 19 ? 64 : std::min<std::size_t>(d, 8), few = 1 + r.below(f.n >= long_rows ? 2 : 4);
    if (backward && run % 3 == 1) return {few, f.n, narrow, std::nullopt, true};
    if (backward && (run % 3 == 2 || f.n < long_rows)) return {f.n, few, narrow, std::nullopt, true};
    if (f.n < long_rows) return {few, f.n, narrow, std::nullopt, true};
    return {f.n, f.n, narrow, attest::row_sample{64, r.bits()}, false};
}

inline question draw_question(const trial_family& f, std::size_t run, bool backward, const attest::format& stored, generator& r) {
    const shape_of_run s = draw_shape(f, run, backward, r);
    question asked;
    asked.in = inputs{s.n_q, s.n_k, s.d, s.d, draw_normal(r, s.n_q * s.d, stored), draw_normal(r, s.n_k * s.d, stored), draw_normal(r, s.n_k * s.d, stored), {}, "none", 0};
    asked.dout = draw_normal(r, s.n_q * s.d, stored);
    asked.rows = s.rows;
    asked.columns = s.columns;
    f.change(asked, r, stored);
    return asked;
}

} // namespace trials
