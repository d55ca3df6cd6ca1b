// SPDX-License-Identifier: BSL-1.0
// The backward pass of the double path: against long double within what its roundings allow, and against the formula's gradient.

#include "attention_bound.hpp"

#include "attest/fast/attention_gradient.hpp"
#include "attest/gradient/attention.hpp"

#include "catch.hpp"

using namespace attest;
using namespace fast_tests;

namespace {

// A gradient and its bound.
struct bounded_matrix {
    long_matrix value, bound;
    bounded_matrix(std::size_t rows, std::size_t columns) : value{long_matrix::with_lengths(rows, columns)}, bound{long_matrix::with_lengths(rows, columns)} {}
    void add(std::size_t i, std::size_t c, long double term, long double off) {
        value(i, c) += term;
        bound(i, c) += off;
    }
    // The greatest error, as a part of the bound.
    [[nodiscard]] double worst(const matrix& computed) const {
        double worst = 0;
        for (std::size_t i = 0; i < value.elements(); ++i)
            if (value.data()[i] != computed.data()[i])
                worst = std::max(worst, static_cast<double>(std::abs(value.data()[i] - computed.data()[i]) / bound.data()[i]));
        return worst;
    }
};
struct bounded_gradient {
    bounded_matrix dq, dk, dv;
};

// The docstring of fast/attention_gradient.hpp in numbers, to first order.
bounded_gradient gradient_of(const bounded& forward, const matrix& q, const matrix& k, const matrix& v, const matrix& dout, double scale) {
    const std::size_t n_q = q.length(0), n_k = k.length(0), d = q.length(1), d_v = v.length(1), b = fast::rows_of_block(n_k), blocks = (n_q + b - 1) / b;
    const auto u = [](std::size_t roundings) { return static_cast<long double>(roundings) * 0x1p-53L * 1.001L; };
    bounded_gradient g{{n_q, d}, {n_k, d}, {n_k, d_v}};
    for (std::size_t i = 0; i < n_q; ++i) {
        long double mean = 0, mean_off = 0;
        for (std::size_t c = 0; c < d_v; ++c) {
            mean += dout(i, c) * forward.out(i, c);
            mean_off += std::abs(dout(i, c)) * (u(1 + fast::roundings_of_row_sum(d_v)) * std::abs(forward.out(i, c)) + forward.out_bound(i, c));
        }
        for (std::size_t j = 0; j < n_k; ++j) {
            const long double p = forward.weights(i, j), p_off = forward.weights_bound(i, j);
            if (p == 0) continue;
            long double dp = 0, dp_off = 0;
            for (std::size_t c = 0; c < d_v; ++c) {
                const long double term = static_cast<long double>(dout(i, c)) * v(j, c);
                dp += term;
                dp_off += u(fast::roundings_of_products(d_v)) * std::abs(term);
                g.dv.add(j, c, p * dout(i, c), (p_off + u(fast::roundings_of_products(b) + blocks - 1) * p) * std::abs(dout(i, c)));
            }
            const long double ds = p * (dp - mean), ds_off = p_off * std::abs(dp - mean) + p * (dp_off + mean_off) + u(2) * std::abs(ds);
            for (std::size_t c = 0; c < d; ++c) {
                g.dq.add(i, c, scale * ds * k(j, c), scale * (ds_off + u(fast::roundings_of_products(n_k) + 1) * std::abs(ds)) * std::abs(k(j, c)));
                g.dk.add(j, c, scale * ds * q(i, c), scale * (ds_off + u(fast::roundings_of_products(b) + blocks) * std::abs(ds)) * std::abs(q(i, c)));
            }
        }
    }
    return g;
}

template <mask M> void check(const matrix& q, const matrix& k, const matrix& v, const matrix& dout, const M& m, const char* mask_name) {
    const double scale = 0.2;
    const auto exact = gradient_of(bounded_attention(q, k, v, m, scale), q, k, v, dout, scale);
    for (const fast::kernels* kernel : all_kernels()) {
        const fast::attention_options options{.scale = scale, .with = kernel};
        const auto forward = fast::attention_with_lse(q, k, v, m, options);
        const auto gradient = fast::attention_vjp(q, k, v, forward, dout, m, options);
        CAPTURE(kernel->name, mask_name, q.length(0), k.length(0), q.length(1), v.length(1));
        CHECK(exact.dq.worst(gradient.dq) <= 1);
        CHECK(exact.dk.worst(gradient.dk) <= 1);
        CHECK(exact.dv.worst(gradient.dv) <= 1);
    }
}

struct shape {
    std::size_t n_q, n_k, d, d_v;
};

} // namespace

TEST_CASE("the backward pass is within its bound, on every target, for odd shapes and masks", "[fast]") {
    for (const shape& s : {shape{0, 3, 2, 2}, {3, 0, 2, 2}, {1, 1, 1, 1}, {7, 9, 3, 5}, {130, 70, 16, 8}, {97, 31, 80, 33}, {2, 683, 3, 64}}) {
        const matrix q = random_matrix(s.n_q, s.d, 1, 3), k = random_matrix(s.n_k, s.d, 2, 3), v = random_matrix(s.n_k, s.d_v, 3);
        const matrix dout = random_matrix(s.n_q, s.d_v, 4);
        check(q, k, v, dout, everything{}, "everything");
        check(q, k, v, dout, causal_top_left{}, "causal, top left");
        check(q, k, v, dout, causal_bottom_right{s.n_q, s.n_k}, "causal, bottom right");
        check(q, k, v, dout, sliding_window{3, 2, -1}, "window");
        check(q, k, v, dout, additive_mask{random_matrix(s.n_q, s.n_k, 5)}, "additive");
    }
}

TEST_CASE("the backward pass is the formula's gradient", "[fast]") {
    struct n_q : axis<6> {};
    struct n_k : axis<8> {};
    struct d : axis<4> {};
    const tensor<double, n_q, d> q(random_matrix(6, 4, 6)), dout(random_matrix(6, 4, 7));
    const tensor<double, n_k, d> k(random_matrix(8, 4, 8)), v(random_matrix(8, 4, 9));
    const auto fast_gradient = fast::attention_vjp(q, k, v, fast::attention_with_lse(q, k, v, causal_top_left{}), dout, causal_top_left{});
    const auto formula = attest::attention_vjp(q, k, v, causal_top_left{}, dout);
    static_assert(std::is_same_v<std::remove_const_t<decltype(fast_gradient.dk)>, tensor<double, n_k, d>>);
    const auto distance = [](const auto& a, const auto& b) {
        double greatest = 0;
        for (std::size_t i = 0; i < a.elements(); ++i) greatest = std::max(greatest, std::abs(a.data()[i] - b.data()[i]));
        return greatest;
    };
    CHECK(distance(fast_gradient.dq, formula.dq) < 0x1p-48);
    CHECK(distance(fast_gradient.dk, formula.dk) < 0x1p-48);
    CHECK(distance(fast_gradient.dv, formula.dv) < 0x1p-48);
}

TEST_CASE("heads and threads give what each head gives by itself, backward too", "[fast]") {
    using stack = tensor<double, dyn, dyn, dyn>;
    const auto filled = [](std::size_t h, std::size_t n, std::size_t d, unsigned seed) {
        auto x = stack::with_lengths(h, n, d);
        const auto values = random_doubles(h * n * d, seed);
        for (std::size_t i = 0; i < values.size(); ++i) x.data()[i] = values[i];
        return x;
    };
    const stack q = filled(3, 20, 8, 1), k = filled(3, 15, 8, 2), v = filled(3, 15, 5, 3), dout = filled(3, 20, 5, 4);
    const auto forward = fast::attention_with_lse(q, k, v);
    const auto all = fast::attention_vjp(q, k, v, forward, dout), on_two = fast::attention_vjp(q, k, v, forward, dout, everything{}, {.threads = 2});
    CHECK(all.dq == on_two.dq);
    CHECK(all.dk == on_two.dk);
    CHECK(all.dv == on_two.dv);
    for (std::size_t h = 0; h < 3; ++h) {
        const auto one = fast::attention_vjp(q[h], k[h], v[h], fast::attention_with_lse(q[h], k[h], v[h]), dout[h]);
        CHECK(one.dq == all.dq[h]);
        CHECK(one.dk == all.dk[h]);
        CHECK(one.dv == all.dv[h]);
    }
    CHECK_THROWS_AS(fast::attention_vjp(q, k, v, forward, q), shape_error);
}
