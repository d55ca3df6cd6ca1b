// SPDX-License-Identifier: BSL-1.0
// Propagated rounding bounds hold what they say: against arithmetics whose every operation is off by as much as it may be, in random or in one direction.
#include "attest/oracle/tracked.hpp"
#include "attest/formula/blockwise.hpp"
#include "attest/formula/encoder.hpp"
#include "attest/formula/rope.hpp"
#include "attest/gradient/encoder.hpp"
#include "catch.hpp"
#include "oracle/noisy.hpp"

using namespace attest;
using namespace noise;

namespace {

// What is computed, for any scalar: all elements in a row.
struct dots {
    static constexpr const char* name = "dot products";
    template <class S> static std::vector<S> run() {
        std::vector<S> all;
        append(all, project_in_out(normal<S>(6, 40, 1), normal<S>(40, 5, 2)));
        return all;
    }
};
template <int MeanOver10> struct norms {
    static constexpr const char* name = "norms";
    template <class S> static std::vector<S> run() {
        std::vector<S> all;
        const auto x = normal<S>(4, d_model, 3, MeanOver10 * 10.0);
        const auto w = norm_weights<S>(4);
        for (const auto placement : {eps_placement::variance, eps_placement::std})
            for (const auto kind : {variance_kind::biased, variance_kind::unbiased}) {
                const layer_norm_options<S> options{S(1) / S(100000), placement, kind};
                append(all, layer_norm(x, w, options));
                const auto g = layer_norm_vjp(x, w, options, normal<S>(4, d_model, 5));
                append(all, g.dx);
                append(all, g.dweights.gamma);
            }
        append(all, rms_norm(x, w.gamma));
        return all;
    }
};
struct activations {
    static constexpr const char* name = "activations";
    template <class S> static std::vector<S> run() {
        std::vector<S> all;
        for (const auto form : {gelu_form::erf, gelu_form::tanh, gelu_form::sigmoid}) {
            const activation act{activation_kind::gelu, form};
            const auto x = normal<S>(5, 8, 6, 0, 3);
            append(all, activate(x, act));
            append(all, activate_vjp(x, act, normal<S>(5, 8, 7)));
        }
        return all;
    }
};
template <bool Blockwise> struct attentions {
    static constexpr const char* name = Blockwise ? "blockwise attention" : "attention";
    template <class S> static std::vector<S> run() {
        std::vector<S> all;
        const auto q = normal<S>(4, 8, 8, 0, 2), k = normal<S>(17, 8, 9, 0, 2), v = normal<S>(17, 3, 10, 1);
        const causal_bottom_right mask{4, 17};
        if constexpr (std::same_as<S, tracked> || !Blockwise) append(all, attention(q, k, v, mask));
        else append(all, blockwise_attention(q, k, v, 3, mask));
        const auto g = attention_vjp(q, k, v, mask, normal<S>(4, 3, 11));
        append(all, g.dq);
        append(all, g.dk);
        append(all, g.dv);
        return all;
    }
};
struct rotations {
    static constexpr const char* name = "rotations";
    template <class S> static std::vector<S> run() {
        std::vector<S> all;
        append(all, rope_rows(normal<S>(5, 8, 12), rope_rotation<S>{{}, 1000}));
        return all;
    }
};
template <norm_position Position, activation_kind Kind> struct layers {
    static constexpr const char* name = "encoder layers";
    template <class S> static std::vector<S> run() {
        std::vector<S> all;
        const auto x = normal<S>(5, d_model, 13);
        const auto w = layer_weights<S>();
        const block_options<S> options{Position, {}, {Kind}};
        append(all, encoder_layer(x, w, options));
        const auto g = encoder_layer_vjp(x, w, options, attention_how<>{}, normal<S>(5, d_model, 14));
        append(all, g.dx);
        append(all, g.dw.self_attn.w_q);
        append(all, g.dw.self_attn.w_v);
        append(all, g.dw.ffn.w_1);
        append(all, g.dw.norm1.gamma);
        return all;
    }
};

struct outcome {
    double greatest_share = 0; // of the limit
    std::size_t outside = 0, unlimited = 0, elements = 0;
};

// How near computed values come to their limits.
template <class S> outcome against(const std::vector<tracked>& exact, const std::vector<S>& computed, tracked_kind kind) {
    outcome o;
    REQUIRE(exact.size() == computed.size());
    for (std::size_t e = 0; e < exact.size(); ++e) {
        const double limit = exact[e].error(kind), off = static_cast<double>(abs(value_of(computed[e]) - exact[e].value()));
        ++o.elements;
        if (!(limit - limit == 0)) ++o.unlimited;
        else if (limit > 0) o.greatest_share = std::max(o.greatest_share, off / limit);
        if (off > limit) ++o.outside;
    }
    return o;
}

template <class Formula> outcome all_trials() {
    const std::vector<tracked> exact = Formula::template run<tracked>();
    outcome worst;
    const auto include = [&](const outcome& o) {
        worst.greatest_share = std::max(worst.greatest_share, o.greatest_share);
        worst.outside += o.outside;
        worst.unlimited += o.unlimited;
        worst.elements += o.elements;
    };
    for (const auto& [unit, kind] : {std::pair{0x1p-53, tracked_kind::f64}, std::pair{0x1p-24, tracked_kind::f32}}) {
        noisy::unit = unit;
        for (const int direction : {0, 0, 0, 1, -1}) {
            noisy::direction = direction;
            const outcome o = against(exact, Formula::template run<noisy>(), kind);
            if (kind == tracked_kind::f64) CHECK(o.unlimited == 0);
            include(o);
        }
    }
    include(against(exact, Formula::template run<double>(), tracked_kind::f64));
    include(against(exact, Formula::template run<float>(), tracked_kind::f32));
    return worst;
}

} // namespace

TEMPLATE_TEST_CASE("no right computation leaves its propagated limit", "[oracle]", dots, norms<0>, norms<100>, activations, attentions<false>, attentions<true>, rotations,
                   (layers<norm_position::post, activation_kind::relu>), (layers<norm_position::pre, activation_kind::gelu>)) {
    const outcome o = all_trials<TestType>();
    INFO(TestType::name << ": " << o.elements << " elements, " << o.outside << " outside, " << o.unlimited << " without a limit (in f32), greatest share " << o.greatest_share);
    CHECK(o.elements >= 100);
    CHECK(o.outside == 0);
    CHECK(o.greatest_share > 1e-5); // limits that nothing comes near would prove nothing
}

TEMPLATE_TEST_CASE("the error estimate of a value holds against twice the digits", "[oracle]", dots, norms<0>, activations, attentions<false>,
                   (layers<norm_position::post, activation_kind::relu>)) {
    const std::vector<tracked> exact = TestType::template run<tracked>();
    const std::vector<real<100>> finer = TestType::template run<real<100>>();
    REQUIRE(exact.size() == finer.size());
    for (std::size_t e = 0; e < exact.size(); ++e) {
        const auto off = static_cast<double>(abs(real<100>(real<100>::number(exact[e].value().value())) - finer[e]));
        CAPTURE(e, off);
        CHECK(off <= exact[e].error(tracked_kind::value));
        CHECK(exact[e].error(tracked_kind::value) < 1e-40);
    }
}

TEST_CASE("what nothing has rounded has no error", "[oracle]") {
    const tracked x(1.5);
    CHECK(x.error(tracked_kind::f64) == 0);
    CHECK((x + tracked(0)).error(tracked_kind::f64) == 0);
    CHECK((x * tracked(1)).error(tracked_kind::f64) == 0);
    CHECK((x * tracked(0)).error(tracked_kind::f64) == 0);
    CHECK((-x).error(tracked_kind::f64) == 0);
    CHECK((x * x).error(tracked_kind::f64) > 0);
    CHECK(x.error(tracked_kind::f32) > 0); // an input in double is rounded to f32 first
    CHECK((tracked(1) * -tracked(1)).value() == exact_number(-1));
    CHECK(((-tracked(1)) * tracked(2.0)).value() == exact_number(-2));
}

TEST_CASE("a sum's limit does not depend on the order of its terms", "[oracle]") {
    const double terms[] = {1e16, 1.0, -1e16, 3.0};
    tracked forward(0), backward(0);
    for (int i = 0; i < 4; ++i) {
        forward = forward + tracked(terms[i]) * tracked(1.5);
        backward = backward + tracked(terms[3 - i]) * tracked(1.5);
    }
    CHECK(forward.error(tracked_kind::f64) == Approx(backward.error(tracked_kind::f64)).epsilon(1e-12));
    CHECK(forward.error(tracked_kind::f64) >= 4); // 1e16 + 1 alone loses 1, and may lose it more than once
    CHECK(forward.value() == exact_number(6));
}

TEST_CASE("where the sign or a divisor is not known, nothing is", "[oracle]") {
    const tracked nothing = tracked(1) / tracked(3) - tracked(1) / tracked(3);
    CHECK(nothing.value().is_zero());
    CHECK((tracked(1) / nothing).error(tracked_kind::f64) == std::numeric_limits<double>::infinity());
    CHECK(attest_step(nothing).error(tracked_kind::f64) == 1);
    CHECK(attest_step(tracked(0)).error(tracked_kind::f64) == 0);
    CHECK(attest_relu(nothing).error(tracked_kind::f64) > 0);
    const tracked below = nothing - tracked(1);
    CHECK(attest_relu(below).error(tracked_kind::f64) == 0);
    CHECK(attest_relu(below).value().is_zero());
    CHECK(attest_step(below).error(tracked_kind::f64) == 0);
}

TEST_CASE("NaN and infinity stay what they are", "[oracle]") {
    const tracked nan(std::numeric_limits<double>::quiet_NaN()), inf(std::numeric_limits<double>::infinity());
    CHECK((nan + tracked(1)).value().is_nan());
    CHECK((nan * tracked(0)).value().is_nan());
    CHECK((tracked(0) * inf).value().is_nan());
    CHECK(attest_relu(nan).value().is_nan());
    CHECK_FALSE((nan * tracked(2)).error(tracked_kind::f64) < 1);
    CHECK_FALSE((inf * tracked(2)).error(tracked_kind::f64) < 1);
}
