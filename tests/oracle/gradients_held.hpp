// SPDX-License-Identifier: BSL-1.0
// What must hold of the gradients of a rung that evaluates whole blocks of rows (double_gradients.cpp, double_double_gradients.cpp).
#pragma once

#include "rows_held.hpp"

namespace gradients_held {

using namespace rows_held;

// How near the greatest error comes to its radius, over all elements of dq, dS, dk and dv, of the rows that are clear; each must hold the exact value.
template <class Rows, class Gradients, class S> double greatest_share(const settings& given, tensors t, std::vector<double> douts) {
    const conventions how = read_conventions(given);
    const attention_problem p = make_attention_problem(how, t.views);
    t.add("dout", {p.n_q, p.d_v}, std::move(douts));
    attention_engine<ball<S>> engine(how, t.views, p);
    const working_precision use(500);
    attention_engine<ball<big_float>> exact(how, t.views, p);
    Rows rows(how, p, fast::compiled_kernels());
    Gradients gradients(p, fast::compiled_kernels());
    const matrix_stack dout = stack_of("dout", *find(t.views, "dout"), how.layout);
    double share = 0;
    std::size_t compared = 0, outside = 0, clear = 0;
    const auto hold = [&](const ball<S>& got, const ball<big_float>& right) {
        ++compared;
        const enclosure a = enclosure_of(got), b = enclosure_of(right);
        const exact_number off = abs(a.value - b.value);
        if (off > a.radius + b.radius) ++outside;
        if (!a.radius.is_zero() && a.radius < exact_number(0x1p1000)) share = std::max(share, static_cast<double>(off / a.radius));
    };
    engine.enter(0);
    exact.enter(0);
    rows.enter(engine, 0);
    // Small blocks, so that there are several.
    constexpr std::size_t block = 7;
    gradients.enter(rows, dout[0], p.n_q, block);
    auto right = exact.no_gradient();
    for (std::size_t first = 0; first < p.n_q; first += block) {
        std::vector<std::size_t> some;
        for (std::size_t i = first; i < std::min(first + block, p.n_q); ++i) some.push_back(i);
        rows.evaluate(some);
        gradients.add(rows, some);
        for (std::size_t r = 0; r < some.size(); ++r) {
            if (!gradients.is_clear(r)) continue;
            ++clear;
            CHECK(rows.is_clear(r));
            const std::size_t i = some[r];
            exact.add_gradient(right, i, vector_in<ball<big_float>>(dout[0][i]), [&](std::size_t, std::size_t j, const ball<big_float>& ds) { hold(gradients.ds(r, j), ds); });
            for (std::size_t c = 0; c < p.d_k; ++c) hold(gradients.dq(r, c), right.dq(i, c));
        }
    }
    for (std::size_t j = 0; j < p.n_k; ++j) {
        for (std::size_t c = 0; c < p.d_k; ++c) hold(gradients.dk(j, c), right.dk(j, c));
        for (std::size_t c = 0; c < p.d_v; ++c) hold(gradients.dv(j, c), right.dv(j, c));
    }
    CAPTURE(compared, clear);
    CHECK(outside == 0);
    CHECK(compared >= p.n_k * (p.d_k + p.d_v));
    return share;
}

// Over all kinds of inputs: enclosures hold the exact values. The greatest share of a radius that an error takes.
template <class Rows, class Gradients, class S> double hold_all_kinds() {
    unsigned seed = 0;
    double greatest = 0;
    for (const kind of : {kind::plain, kind::large_logits, kind::huge_logits, kind::near_ties, kind::cancelling, kind::tiny, kind::wide, kind::zeros})
        for (const shape_of_case& s : {shape_of_case{1, 1, 1, 1}, {2, 3, 4, 5}, {5, 17, 3, 2}, {40, 9, 8, 1}, {9, 70, 33, 9}})
            for (const char* const causal : {"none", "top-left", "bottom-right"})
                for (const bool masked : {false, true}) {
                    CAPTURE(static_cast<int>(of), s.n_q, s.n_k, s.d_k, s.d_v, causal, masked);
                    std::mt19937_64 random(++seed + 1000);
                    auto douts = random_numbers(s.n_q * s.d_v, random, seed % 3 == 0 ? of : seed % 3 == 1 ? kind::plain : kind::zeros);
                    const double share = greatest_share<Rows, Gradients, S>({{"op", "attention"}, {"causal", causal}}, random_case(s, of, masked, seed), std::move(douts));
                    CHECK(share <= 1);
                    greatest = std::max(greatest, share);
                }
    return greatest;
}

template <class Rows, class Gradients, class S> void hold_scales() {
    for (const char* const scale : {"0.1", "-0.333333333333333333333", "1e-30", "7", "0", "0x1p-1030", "1e30"}) {
        CAPTURE(scale);
        tensors t = random_case({9, 40, 16, 8}, kind::plain, false, 99);
        std::mt19937_64 random(7);
        if (scale[1] == 'x') // the scale is subnormal, and what it multiplies great
            for (const char* const name : {"q", "k"})
                for (double& x : t.values[name]) x = std::ldexp(0.9 + x / 64, 280);
        CHECK(greatest_share<Rows, Gradients, S>({{"op", "attention"}, {"scale", scale}}, t, random_numbers(9 * 8, random, kind::plain)) <= 1);
    }
}

// The first slice's gradients, of all rows at once.
template <class Rows, class Gradients, class S> struct graded {
    conventions how;
    attention_problem p;
    attention_engine<ball<S>> engine;
    matrix_stack dout;
    Rows rows;
    Gradients gradients;

    graded(const settings& given, const tensors& t)
        : how{read_conventions(given)}, p{make_attention_problem(how, t.views)}, engine(how, t.views, p), dout{stack_of("dout", *find(t.views, "dout"), how.layout)},
          rows(how, p, fast::compiled_kernels()), gradients(p, fast::compiled_kernels()) {
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < p.n_q; ++i) all.push_back(i);
        engine.enter(0);
        rows.enter(engine, 0);
        gradients.enter(rows, dout[0], p.n_q, p.n_q);
        rows.evaluate(all);
        gradients.add(rows, all);
    }
    graded(const graded&) = delete;
    graded& operator=(const graded&) = delete;
};

// Row 0 sees key 0 alone; no row sees key 4; column 1 of q, of v and of dout is 0.
template <class Rows, class Gradients, class S> void what_is_exact_is_known_so() {
    tensors t = random_case({4, 5, 2, 2}, kind::plain, false, 5);
    for (const char* const name : {"q", "v"})
        for (std::size_t i = 0; i < t.values[name].size() / 2; ++i) t.values[name][2 * i + 1] = 0;
    t.add("dout", {4, 2}, {1, 0, 2, 0, -3, 0, 0.5, 0});
    const graded<Rows, Gradients, S> of({{"op", "attention"}, {"causal", "top-left"}}, t);
    const Gradients& gradients = of.gradients;
    const auto is_zero = [](const ball<S>& x) { return x.is_exact() && x.middle() == S(0); };
    for (std::size_t c = 0; c < 2; ++c) {
        CHECK(is_zero(gradients.dq(0, c)));
        CHECK(is_zero(gradients.dk(4, c)));
        CHECK(is_zero(gradients.dv(4, c)));
        CHECK_FALSE(gradients.dq(2, c).is_exact());
        for (std::size_t j = 0; j < 3; ++j) {
            CHECK(gradients.dk(j, c).is_exact() == (c == 1));
            CHECK(gradients.dv(j, c).is_exact() == (c == 1));
        }
    }
    CHECK(is_zero(gradients.ds(0, 0)));
}

// A number beyond all bounds in dout, or in the rows, is no number to compute with.
template <class Rows, class Gradients, class S> void great_rows_are_not_clear() {
    tensors t = random_case({4, 4, 3, 2}, kind::plain, false, 6);
    t.values["q"][3] = 0x1p310; // of query 1, which is orthogonal to all keys
    for (std::size_t j = 0; j < 4; ++j) t.values["k"][3 * j] = 0;
    t.add("dout", {4, 2}, {1, 1, 1, 1, 0x1p310, 1, 2, 2});
    const graded<Rows, Gradients, S> of({{"op", "attention"}}, t);
    const Gradients& gradients = of.gradients;
    CHECK(gradients.is_clear(0));
    CHECK_FALSE(gradients.is_clear(1));
    CHECK_FALSE(gradients.is_clear(2));
    CHECK(gradients.is_clear(3));
    CHECK(gradients.dv(0, 0).is_known());
    CHECK(detail::absolute(gradients.dv(0, 0).nearest_double()) < 8);
}

} // namespace gradients_held
