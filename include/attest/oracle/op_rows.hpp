// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ops that work element by element or row by row: relu, gelu, layer_norm, rms_norm, feed_forward.
#pragma once

#include "attest/formula/activation.hpp"
#include "attest/formula/feed_forward.hpp"
#include "attest/formula/layer_norm.hpp"
#include "attest/gradient/activation.hpp"
#include "attest/gradient/feed_forward.hpp"
#include "attest/gradient/layer_norm.hpp"
#include "attest/oracle/load_weights.hpp"
#include "attest/oracle/stages.hpp"

namespace attest::detail {

[[nodiscard]] inline activation activation_of(const conventions& how) {
    return {how.op == "gelu" || how.activation_gelu ? activation_kind::gelu : activation_kind::relu, static_cast<gelu_form>(how.gelu)};
}
[[nodiscard]] inline layer_norm_options<tracked> norm_options_of(const conventions& how) {
    return {tracked_number("eps", how.eps.value_or("1e-5")), how.eps_in_std ? eps_placement::std : eps_placement::variance,
            how.variance_unbiased ? variance_kind::unbiased : variance_kind::biased};
}
[[nodiscard]] inline weight_layout weights_lie(const conventions& how) { return how.weight_out_in ? weight_layout::out_in : weight_layout::in_out; }

// Of a row op the rows are what matters; how they are stacked does not.
[[nodiscard]] inline tracked_matrix rows_of(std::string_view name, const array_view& a) {
    require_float(name, a);
    if (a.shape.empty()) throw usage_error(std::string(name) + " [] is a single number; expected [.., d]");
    const std::size_t d = a.shape.back(), rows = d == 0 ? 0 : a.elements() / d;
    auto m = tracked_matrix::with_lengths(rows, d);
    for (std::size_t e = 0; e < a.elements(); ++e) m(e / d, e % d) = tracked(decode(a, e));
    return m;
}
template <class M> void put_rows(stage* to, const M& m) {
    if (to == nullptr) return;
    for (std::size_t i = 0; i < m.length(0); ++i)
        for (std::size_t c = 0; c < m.length(1); ++c) to->values[i * m.length(1) + c] = m(i, c);
}

inline void run_activation(const conventions& how, const std::vector<named_view>& inputs, stage_list& stages) {
    const array_view& x = required(inputs, how.op, "x");
    require_float("x", x);
    const activation act = activation_of(how);
    stage* const out = stages.begin("out", x.shape);
    stage* const dx = stages.begin("dx", x.shape);
    const array_view* const dout = dx == nullptr ? nullptr : &dout_of(inputs, how.op, x.shape);
    for (std::size_t e = 0; e < x.elements(); ++e) {
        const tracked value(decode(x, e));
        if (out != nullptr) out->values[e] = act(value);
        if (dx != nullptr) dx->values[e] = tracked(decode(*dout, e)) * activation_slope(value, act);
    }
}

inline void run_norm(const conventions& how, const std::vector<named_view>& inputs, stage_list& stages, const progress& tell) {
    const array_view& x_given = required(inputs, how.op, "x");
    const tracked_matrix x = rows_of("x", x_given);
    const auto options = norm_options_of(how);
    layer_norm_weights<tracked, dynamic_axis> w;
    for (const auto& [name, into] : {std::pair{"gamma", &w.gamma}, std::pair{"beta", &w.beta}})
        if (const array_view* given = find(inputs, name)) {
            check_rule<rules::norm_weight_for_each_component>("x", x_given, x.length(1), name, *given, given->shape.empty() ? 1 : given->shape.back());
            *into = tracked_vector_of(name, *given);
        }
    const bool rms = how.op == "rms_norm";
    if (rms && w.beta.length(0) != 0) throw usage_error("beta is given, but RMSNorm has none (op=layer_norm has)");
    if (!rms && how.variance_unbiased && x.length(1) == 1) throw usage_error("x " + shape_text(x_given.shape) + ": the unbiased variance of one component is 0/0");
    stage* const out = stages.begin("out", x_given.shape);
    stage* const dx = stages.begin("dx", x_given.shape);
    stage* const dgamma = stages.begin("dgamma", {x.length(1)});
    stage* const dbeta = stages.begin("dbeta", {x.length(1)});
    const bool backward = dx != nullptr || dgamma != nullptr || dbeta != nullptr;
    const tracked_matrix dy = backward ? rows_of("dout", dout_of(inputs, how.op, x_given.shape)) : tracked_matrix();
    if (x.elements() == 0) return;
    // A row at a time, so that memory and progress are a row's.
    for (std::size_t i = 0; i < x.length(0); ++i) {
        auto row = tracked_matrix::with_lengths(1, x.length(1)), drow = tracked_matrix::with_lengths(backward ? 1 : 0, x.length(1));
        for (std::size_t c = 0; c < x.length(1); ++c) {
            row(0, c) = x(i, c);
            if (backward) drow(0, c) = dy(i, c);
        }
        // The slope of sigma is none where a row is constant and epsilon is added to sigma: rounding alone then decides over (x - mean)/sigma.
        bool slope_is_open = how.eps_in_std;
        for (std::size_t c = 1; c < x.length(1); ++c) slope_is_open = slope_is_open && row(0, c) == row(0, 0);
        const auto write = [&](stage* to, const auto& m) {
            if (to != nullptr)
                for (std::size_t c = 0; c < x.length(1); ++c) to->values[i * x.length(1) + c] = to == dx && slope_is_open ? tracked::without_bound(m(0, c)) : m(0, c);
        };
        if (rms) {
            if (out != nullptr) write(out, rms_norm(row, w.gamma, options));
            if (backward) {
                const auto g = rms_norm_vjp(row, w.gamma, options, drow);
                write(dx, g.dx);
                add_parameter(dgamma, g.dgamma, false);
            }
        } else {
            if (out != nullptr) write(out, layer_norm(row, w, options));
            if (backward) {
                const auto g = layer_norm_vjp(row, w, options, drow);
                write(dx, g.dx);
                add_parameter(dgamma, g.dweights.gamma, false);
                add_parameter(dbeta, g.dweights.beta, false);
            }
        }
        if (tell) tell(i + 1, x.length(0));
    }
}

using tracked_feed_forward = feed_forward_weights<tracked, dynamic_axis, dynamic_axis>;

// The gradients of a feed-forward network's parameters, under a prefix.
struct feed_forward_stages {
    stage *w_1, *b_1, *w_2, *b_2;
    feed_forward_stages(stage_list& stages, const std::vector<named_view>& inputs, const std::string& prefix)
        : w_1{begin_gradient(stages, inputs, prefix + "w_1")}, b_1{begin_gradient(stages, inputs, prefix + "b_1")}, w_2{begin_gradient(stages, inputs, prefix + "w_2")},
          b_2{begin_gradient(stages, inputs, prefix + "b_2")} {}
    void add(const tracked_feed_forward& dw, bool out_in) const {
        add_parameter(w_1, dw.w_1, out_in);
        add_parameter(b_1, dw.b_1, false);
        add_parameter(w_2, dw.w_2, out_in);
        add_parameter(b_2, dw.b_2, false);
    }
};

inline void run_feed_forward(const conventions& how, const std::vector<named_view>& inputs, stage_list& stages, const progress& tell) {
    const array_view& x_given = required(inputs, how.op, "x");
    const tracked_matrix x = rows_of("x", x_given);
    check_tokens_enter(how, "x", x_given, x.length(1), "w_1", inputs);
    tracked_feed_forward w;
    load(w, inputs, "", weights_lie(how));
    std::vector<std::size_t> shape = x_given.shape;
    shape.back() = w.w_2.length(1);
    stage* const out = stages.begin("out", shape);
    stage* const dx = stages.begin("dx", x_given.shape);
    const feed_forward_stages parameters(stages, inputs, "");
    const bool backward = stages.wants_any(is_gradient);
    const activation act = activation_of(how);
    const tracked_matrix dy = backward ? rows_of("dout", dout_of(inputs, how.op, shape)) : tracked_matrix();
    if (out != nullptr) put_rows(out, feed_forward(x, w, act));
    if (tell) tell(1, 2);
    if (backward) {
        const auto g = feed_forward_vjp(x, w, act, dy);
        put_rows(dx, g.dx);
        parameters.add(g.dw, how.weight_out_in);
    }
    if (tell) tell(2, 2);
}

} // namespace attest::detail
