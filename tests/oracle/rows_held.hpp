// SPDX-License-Identifier: BSL-1.0
// What must hold of a rung that evaluates whole blocks of rows (double_rows.cpp, double_double_rows.cpp): `Rows` in balls of S.
#pragma once

#include "attest/oracle/packed_slice.hpp"
#include "attest/oracle/ladder.hpp"
#include "catch.hpp"

#include <map>
#include <random>

namespace rows_held {

using namespace attest;

struct shape_of_case {
    std::size_t n_q, n_k, d_k, d_v;
};

struct tensors {
    std::map<std::string, std::vector<double>> values;
    std::vector<named_view> views;

    void add(const std::string& name, std::vector<std::size_t> shape, std::vector<double> x) {
        const std::vector<double>& kept = values[name] = std::move(x);
        views.push_back({name, {dtype::f64, std::move(shape), reinterpret_cast<const std::byte*>(kept.data())}});
    }
};

enum class kind { plain, large_logits, huge_logits, near_ties, cancelling, tiny, wide, zeros };

inline std::vector<double> random_numbers(std::size_t count, std::mt19937_64& random, kind of) {
    std::normal_distribution<> normal;
    std::vector<double> x(count);
    for (double& value : x) {
        value = normal(random);
        switch (of) {
        case kind::large_logits: value *= 6; break;
        case kind::huge_logits: value *= 60; break;
        case kind::near_ties: value = 1 + value * 1e-9; break;
        case kind::tiny: value *= 0x1p-1040; break;
        case kind::wide: value = std::ldexp(value, static_cast<int>(random() % 120) - 60); break;
        case kind::zeros: value = random() % 3 == 0 ? value : 0; break;
        default: break;
        }
    }
    return x;
}

inline tensors random_case(const shape_of_case& s, kind of, bool with_mask, unsigned seed) {
    std::mt19937_64 random(seed);
    tensors t;
    t.add("q", {s.n_q, s.d_k}, random_numbers(s.n_q * s.d_k, random, of));
    t.add("k", {s.n_k, s.d_k}, random_numbers(s.n_k * s.d_k, random, of));
    auto v = random_numbers(s.n_k * s.d_v, random, of == kind::cancelling || of == kind::large_logits || of == kind::huge_logits ? kind::plain : of);
    if (of == kind::cancelling)
        for (std::size_t e = 0; e < v.size(); ++e) v[e] = 1e6 * (e / s.d_v % 2 == 0 ? 1 : -1) + v[e];
    t.add("v", {s.n_k, s.d_v}, std::move(v));
    if (with_mask) {
        auto mask = random_numbers(s.n_q * s.n_k, random, kind::plain);
        for (double& entry : mask)
            if (random() % 4 == 0) entry = std::array{-detail::infinity_of_double, -1e9, -1e38, -1e60}[random() % 4];
        t.add("mask", {s.n_q, s.n_k}, std::move(mask));
    }
    return t;
}

// How near the greatest error comes to its radius, over all results of all rows; each must hold the exact value.
template <class Rows, class S> double greatest_share(const settings& given, const tensors& t) {
    const conventions how = read_conventions(given);
    const attention_problem p = make_attention_problem(how, t.views);
    attention_engine<ball<S>> engine(how, t.views, p);
    const working_precision use(400);
    attention_engine<ball<big_float>> exact(how, t.views, p);
    Rows rows(how, p, fast::compiled_kernels());
    REQUIRE(fits_in_blocks(how, t.views, p));
    double share = 0;
    std::size_t compared = 0, outside = 0;
    engine.enter(0);
    exact.enter(0);
    rows.enter(engine, 0);
    for (std::size_t first = 0; first < p.n_q; first += rows.block()) {
        std::vector<std::size_t> some;
        for (std::size_t i = first; i < std::min(first + rows.block(), p.n_q); ++i) some.push_back(i);
        rows.evaluate(some);
        for (std::size_t r = 0; r < some.size(); ++r) {
            if (!rows.is_clear(r)) continue;
            const auto row = exact.row(some[r], false);
            const auto hold = [&](const ball<S>& got, const ball<big_float>& right) {
                ++compared;
                if (!got.is_number() || !right.is_number()) {
                    outside += static_cast<int>(got.what()) == static_cast<int>(right.what()) ? 0 : 1;
                    return;
                }
                const enclosure a = enclosure_of(got), b = enclosure_of(right);
                const exact_number off = abs(a.value - b.value);
                if (off > a.radius + b.radius) ++outside;
                if (!a.radius.is_zero() && a.radius < exact_number(0x1p1000)) share = std::max(share, static_cast<double>(off / a.radius));
            };
            for (const char* name : {"out", "lse", "scores", "weights"})
                rows.for_each_result(name, r, [&](std::size_t e, const ball<S>& got) {
                    const std::string result = name;
                    if (result == "out") hold(got, row.out(e));
                    else if (result == "lse") hold(got, row.lse);
                    else if (result == "weights") hold(got, row.weights(e));
                    else if (exact.visible(some[r], e)) hold(got, row.scores(e));
                    else CHECK(got.what() == ball<S>::kind::minus_infinity);
                });
        }
    }
    CAPTURE(compared);
    CHECK(outside == 0);
    return share;
}

// Over all kinds of inputs: enclosures hold the exact values. The greatest share of a radius that an error takes.
template <class Rows, class S> double hold_all_kinds() {
    unsigned seed = 0;
    double greatest = 0;
    for (const kind of : {kind::plain, kind::large_logits, kind::huge_logits, kind::near_ties, kind::cancelling, kind::tiny, kind::wide, kind::zeros})
        for (const shape_of_case& s : {shape_of_case{1, 1, 1, 1}, {2, 3, 4, 5}, {5, 17, 3, 2}, {70, 9, 8, 1}, {3, 130, 65, 9}})
            for (const char* const causal : {"none", "top-left", "bottom-right"})
                for (const bool masked : {false, true}) {
                    CAPTURE(static_cast<int>(of), s.n_q, s.n_k, s.d_k, s.d_v, causal, masked);
                    const double share = greatest_share<Rows, S>({{"op", "attention"}, {"causal", causal}}, random_case(s, of, masked, ++seed));
                    CHECK(share <= 1);
                    greatest = std::max(greatest, share);
                }
    return greatest;
}

template <class Rows, class S> void hold_scales() {
    for (const char* const scale : {"0.1", "-0.333333333333333333333", "1e-30", "7", "0x1p-1030"}) {
        CAPTURE(scale);
        tensors t = random_case({9, 40, 16, 8}, kind::plain, false, 99);
        if (scale[1] == 'x') // the scale is subnormal, and what it multiplies great
            for (const char* const name : {"q", "k"})
                for (double& x : t.values[name]) x = std::ldexp(0.9 + x / 64, 440);
        CHECK(greatest_share<Rows, S>({{"op", "attention"}, {"scale", scale}}, t) <= 1);
    }
}

template <class Rows, class S> void lone_keys_are_exact() {
    tensors t = random_case({4, 4, 3, 2}, kind::plain, false, 5);
    for (std::size_t j = 0; j < 4; ++j) t.values["v"][2 * j + 1] = 0;
    const conventions how = read_conventions({{"op", "attention"}, {"causal", "top-left"}});
    const attention_problem p = make_attention_problem(how, t.views);
    attention_engine<ball<S>> engine(how, t.views, p);
    Rows rows(how, p, fast::compiled_kernels());
    engine.enter(0);
    rows.enter(engine, 0);
    rows.evaluate(std::vector<std::size_t>{0, 2});
    rows.for_each_result("out", 0, [&](std::size_t c, const ball<S>& x) {
        CHECK(x.is_exact());
        CHECK(x.middle() == S(t.values["v"][c]));
    });
    rows.for_each_result("weights", 0, [&](std::size_t j, const ball<S>& x) {
        CHECK(x.is_exact());
        CHECK(x.middle() == S(j == 0 ? 1.0 : 0.0));
    });
    rows.for_each_result("out", 1, [&](std::size_t c, const ball<S>& x) { CHECK(x.is_exact() == (c == 1)); });
}

template <class Rows, class S> void unknown_rows_are_not_clear() {
    tensors t = random_case({4, 4, 3, 2}, kind::plain, false, 6);
    t.values["v"][5] = std::numeric_limits<double>::quiet_NaN(); // of key 2
    t.values["k"][6] = detail::infinity_of_double;
    t.add("mask", {4, 4}, {-detail::infinity_of_double, -detail::infinity_of_double, -detail::infinity_of_double, -detail::infinity_of_double, 0, 0, -detail::infinity_of_double, 1, 0, 0, 0, 0, 1e300, 0, -detail::infinity_of_double, 0});
    const conventions how = read_conventions({{"op", "attention"}});
    const attention_problem p = make_attention_problem(how, t.views);
    attention_engine<ball<S>> engine(how, t.views, p);
    Rows rows(how, p, fast::compiled_kernels());
    engine.enter(0);
    rows.enter(engine, 0);
    rows.evaluate(std::vector<std::size_t>{0, 1, 2, 3});
    CHECK_FALSE(rows.is_clear(0)); // sees nothing
    CHECK(rows.is_clear(1));
    CHECK_FALSE(rows.is_clear(2));
    CHECK_FALSE(rows.is_clear(3)); // a bias beyond all bounds
    rows.for_each_result("out", 1, [&](std::size_t, const ball<S>& x) { CHECK(x.is_known()); });
}

} // namespace rows_held
