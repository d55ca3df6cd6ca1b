// SPDX-License-Identifier: BSL-1.0
// First-order limits: derivatives on the tape, and limits that hold where propagated ones have grown too far.
#include "attest/oracle/tape.hpp"
#include "attest/gradient/decoder.hpp"
#include "catch.hpp"
#include "oracle/noisy.hpp"

#include <cmath>

using namespace attest;
using namespace noise;

namespace {

// Two decoder layers and a final norm, forward and back: what is far beyond propagated limits.
template <class S> std::vector<S> two_layers(norm_position position) {
    std::vector<S> all;
    const auto x = normal<S>(4, d_model, 21), memory = normal<S>(5, d_model, 22);
    const std::vector<decoder_layer_weights<S, D, D, D, D, D>> layers = {decoder_weights<S>(200), decoder_weights<S>(300)};
    const auto norm = norm_weights<S>(400);
    const block_options<S> options{position, {}, {activation_kind::gelu}};
    const attention_how<causal_top_left> self{};
    append(all, decoder(x, memory, layers, &norm, options, self));
    const auto g = decoder_vjp(x, memory, layers, &norm, options, self, attention_how<>{}, normal<S>(4, d_model, 23), [&](std::size_t, const auto& dlayer) {
        append(all, dlayer.cross_attn.w_k);
        append(all, dlayer.norm1.gamma);
    });
    append(all, g.dx);
    append(all, g.dmemory);
    return all;
}

} // namespace

TEST_CASE("an error acts once, by all its ways together", "[oracle]") {
    // f = e^{ab}/(a + b), and a alone has lost something.
    tape operations(10);
    const double a = 1.0 / 3, b = 0.7, e = std::exp(a * b), sum = a + b;
    const auto of_a = operations.record(tape::none, 0, tape::none, 0, 1e-3);
    const auto of_product = operations.record(of_a, b);
    const auto of_exp = operations.record(of_product, e);
    const auto of_sum = operations.record(of_a, 1);
    const auto of_f = operations.record(of_exp, 1 / sum, of_sum, -e / (sum * sum));
    const double slope = e * b / sum - e / (sum * sum); // the two ways nearly cancel
    CHECK(operations.first_order_error(of_f) == Approx(1e-3 * std::abs(slope)));
    CHECK(std::abs(slope) < 0.5 * e * b / sum);
    operations.lose(of_f, 2e-3);
    CHECK(operations.first_order_error(of_f) == Approx(1e-3 * std::abs(slope) + 2e-3));
    CHECK(operations.first_order_error(of_sum) == Approx(1e-3));
    CHECK(operations.first_order_error(tape::none) == 0);
}

TEST_CASE("tracked numbers record their derivatives", "[oracle]") {
    tape operations(1000);
    const recording on(operations);
    const tracked third = tracked(1) / tracked(3);
    // Each function of 1/3, whose rounding by far outweighs theirs once it is raised by hand.
    const auto slope_of = [&](const tracked& y) {
        const std::int32_t at = y.operation();
        operations.lose(third.operation(), 1);
        return operations.first_order_error(at);
    };
    const double x = 1.0 / 3;
    CHECK(slope_of(attest_exp(third)) == Approx(std::exp(x)));
    CHECK(slope_of(attest_log(third)) == Approx(1 / x));
    CHECK(slope_of(attest_sqrt(third)) == Approx(0.5 / std::sqrt(x)));
    CHECK(slope_of(attest_tanh(third)) == Approx(1 - std::tanh(x) * std::tanh(x)));
    CHECK(slope_of(attest_erf(third)) == Approx(2 / std::sqrt(std::acos(-1.0)) * std::exp(-x * x)).epsilon(0.01)); // taken from above
    CHECK(slope_of(attest_sin(third)) == Approx(std::cos(x)));
    CHECK(slope_of(attest_cos(third)) == Approx(std::sin(x)));
    CHECK(slope_of(attest_relu(third)) == Approx(1));
    CHECK(slope_of(attest_relu(-third)) == 0);
    CHECK(slope_of(third * third) == Approx(2 * x));
    CHECK(slope_of(tracked(2) / third) == Approx(2 / (x * x)));
    CHECK(slope_of(third - third * tracked(3.0)) == Approx(2));
    CHECK(slope_of(attest_step(third)) == 0);
    CHECK(slope_of(attest_step(third - third)) >= 1); // its sign is open
}

TEST_CASE("a tape that is full says so, and recording ends with its scope", "[oracle]") {
    tape operations(3);
    {
        const recording on(operations);
        const tracked x = tracked(1) / tracked(3);
        const tracked y = x * x;
        CHECK(y.operation() != tape::none);
        CHECK_THROWS_AS(y * y * y, tape_full);
    }
    CHECK(tracked::recorder == nullptr);
    CHECK((tracked(1) / tracked(3)).operation() == tape::none);
}

TEST_CASE("no right computation of two decoder layers leaves its first-order limit", "[oracle]") {
    const norm_position position = GENERATE(norm_position::post, norm_position::pre);
    tape operations(4'000'000);
    std::vector<tracked> exact;
    {
        const recording on(operations);
        exact = two_layers<tracked>(position);
        for (const tracked& x : exact) (void)x.operation();
    }
    std::vector<double> limits;
    std::size_t far_below = 0;
    for (const tracked& x : exact) {
        limits.push_back(2 * operations.first_order_error(x.operation()));
        far_below += limits.back() < 1e-3 * x.error(tracked_kind::f64) ? 1 : 0;
    }
    CHECK(far_below > exact.size() / 2); // that is what it is for
    double greatest = 0;
    noisy::unit = 0x1p-53;
    for (const int direction : {0, 0, 1, -1}) {
        noisy::direction = direction;
        const std::vector<noisy> computed = two_layers<noisy>(position);
        REQUIRE(computed.size() == exact.size());
        for (std::size_t e = 0; e < exact.size(); ++e) {
            const auto off = static_cast<double>(abs(computed[e].value() - exact[e].value()));
            CAPTURE(e, off, limits[e]);
            REQUIRE(off <= limits[e]);
            greatest = std::max(greatest, off / limits[e]);
        }
    }
    const std::vector<double> plain = two_layers<double>(position);
    for (std::size_t e = 0; e < exact.size(); ++e) REQUIRE(static_cast<double>(abs(exact_number(plain[e]) - exact[e].value())) <= limits[e]);
    CAPTURE(greatest);
    CHECK(greatest > 1e-4); // and it is not far above what happens
}
