// SPDX-License-Identifier: BSL-1.0
// RoPE: what is rotated, what the scores see of the positions, and what the cosine does not say.

#include "identity.hpp"
#include "settle.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/arithmetic/rational.hpp"
#include "attest/formula/matmul.hpp"
#include "attest/formula/rope.hpp"

namespace attest::proofs {
namespace {

// Fractions, and an angle whose cosine is 3/5: cos k + i sin k = ((3 + 4i)/5)^k for whole k. With base 1 all pairs turn alike, and every value is a
// fraction.
class turning {
public:
    using fraction = basic_rational<128>;
    constexpr turning() = default;
    constexpr explicit turning(int x) : value_{x} {}
    constexpr explicit turning(const fraction& x) : value_{x} {}
    constexpr explicit turning(std::string_view printed) : value_{fraction::decimal(printed)} {}

    friend constexpr turning operator+(const turning& x, const turning& y) { return turning(x.value_ + y.value_); }
    friend constexpr turning operator-(const turning& x, const turning& y) { return turning(x.value_ - y.value_); }
    friend constexpr turning operator-(const turning& x) { return turning(-x.value_); }
    friend constexpr turning operator*(const turning& x, const turning& y) { return turning(x.value_ * y.value_); }
    friend constexpr turning operator/(const turning& x, const turning& y) { return turning(x.value_ / y.value_); }
    friend constexpr bool operator==(const turning& x, const turning& y) { return x.value_ == y.value_; }
    friend constexpr bool operator<(const turning& x, const turning& y) { return x.value_ < y.value_; }

    friend constexpr turning attest_log(const turning& x) { return x.value_ == 1 ? turning(0) : throw no_such_value(); }
    friend constexpr turning attest_exp(const turning& x) { return x.value_ == 0 ? turning(1) : throw no_such_value(); }
    friend constexpr turning attest_cos(const turning& x) { return turning(x.turned().real); }
    friend constexpr turning attest_sin(const turning& x) { return turning(x.turned().imaginary); }

private:
    struct on_circle {
        fraction real, imaginary;
    };
    [[nodiscard]] constexpr on_circle turned() const {
        const fraction cosine = fraction::ratio(3, 5), sine = fraction::ratio(4, 5);
        on_circle z{1, 0};
        for (int k = 0; k <= 20; ++k) {
            if (value_ == k) return z;
            if (value_ == -k) return {z.real, -z.imaginary};
            z = {cosine * z.real - sine * z.imaginary, sine * z.real + cosine * z.imaginary};
        }
        throw no_such_value();
    }
    fraction value_ = 0;
};
constexpr rope<turning> interleaved{rope_pairing::interleaved, turning(1)}, halves{rope_pairing::half, turning(1)};

// The definition: pair i of the first r components is (2i, 2i + 1), or (i, i + r/2), and turns by p · base^(−2i/r); with log base a free number.
template <axis_type D>
constexpr tensor<field, D> rotated(const tensor<field, D>& x, std::size_t r, rope_pairing pairing, const field& log_base, int p) {
    tensor<field, D> y = x;
    for (std::size_t first = 0; first < r; first += 2) {
        const field theta = attest::exp(field(-static_cast<int>(first)) * log_base / field(static_cast<int>(r)));
        const field C = attest::cos(field(p) * theta), S = attest::sin(field(p) * theta);
        const std::size_t a = pairing == rope_pairing::half ? first / 2 : first;
        const std::size_t b = pairing == rope_pairing::half ? a + r / 2 : a + 1;
        y(a) = C * x(a) - S * x(b);
        y(b) = S * x(a) + C * x(b);
    }
    return y;
}
constexpr rope_pairing both_pairings[] = {rope_pairing::interleaved, rope_pairing::half};

// [B036]
// Which components are a pair: (0, 1), (2, 3) or (0, 2), (1, 3)? By cosine 3/5, sine 4/5:
constexpr tensor<turning, axis<4>> x{turning(5), turning(0), turning(0), turning(10)};
constexpr auto neighbours_turned = interleaved.rotate(x, turning(1)), halves_turned = halves.rotate(x, turning(1));
static_assert(neighbours_turned == tensor<turning, axis<4>>{turning(3), turning(4), turning(-8), turning(6)});
static_assert(halves_turned == tensor<turning, axis<4>>{turning(3), turning(-8), turning(4), turning(6)});

constexpr bool is_the_definition(unsigned seeds) {
    return identity(seeds, [](draw& free) {
        const field log_base = free.number();
        const auto q = free.vector<axis<7>>();
        agreement all = agreement::equal;
        for (const rope_pairing pairing : both_pairings)
            for (std::size_t r = 2; r <= 6; r += 2) {
                const rope<field> turn{pairing, attest::exp(log_base), r};
                for (int p = -1; p <= 3; p += 4) all = all & agree(turn.rotate(q, field(p)), rotated(q, r, pairing, log_base, p));
            }
        return all;
    });
}

const entry B036 = settle("B036", //
                          fails_as_printed([] { return !(neighbours_turned == halves_turned); }),
                          holds_corrected([](const claim& c) { return is_the_definition(c.points_with_exp()); }));
// [/B036]

// Dimensions not said: all of them; the base not said: 10000; the pairing not said: neighbours. A vector of nothing stays that.
static_assert(identity(1, [](draw& free) {
    const field log_base = free.number();
    const auto q = free.vector<axis<4>>();
    agreement all = agreement::equal;
    for (const rope_pairing pairing : both_pairings)
        all = all & agree(rope<field>{pairing, attest::exp(log_base)}.rotate(q, 3), rotated(q, 4, pairing, log_base, 3)) &
              agree(rope<field>{pairing, attest::exp(log_base), 4}.rotate(q, 3), rotated(q, 4, pairing, log_base, 3));
    return all & agree(rope<field>{.base = attest::exp(log_base)}.rotate(q, 3), rotated(q, 4, rope_pairing::interleaved, log_base, 3));
}));
constexpr auto by_default = rope<interval>{}.rotate(tensor<interval, axis<4>>{0, 0, 1, 0}, 1);
static_assert(rounds_to(by_default(2), "0.99995000041666527778") && rounds_to(by_default(3), "0.00999983333416666468"), "cosine and sine of 10000^(-2/4)");
static_assert(surely(by_default(0) == 0) && surely(by_default(1) == 0));
static_assert(rope<field>{}.rotate(tensor<field, axis<0>>{}, 3).length(0) == 0);

// [B037]
struct d_k : axis<2> {};
constexpr turning score_at(const tensor<turning, d_k>& q, const tensor<turning, d_k>& k, const turning& m, const turning& n) {
    return dot(interleaved.rotate(q, m), interleaved.rotate(k, n));
}
// q_m · k_n = q_{m−n} · k_0.
constexpr bool scores_see_the_difference_alone(unsigned seeds) {
    return identity(seeds, [](draw& free) {
        const field base = attest::exp(free.number());
        const auto q = free.vector<axis<5>>(), k = free.vector<axis<5>>();
        agreement all = agreement::equal;
        for (const rope_pairing pairing : both_pairings) {
            const rope<field> turn{pairing, base, 4};
            tensor<field, axis<4>, axis<5>> q_at, k_at; // at −1 to 2
            for (int p = 0; p < 4; ++p) {
                const auto q_p = turn.rotate(q, field(p - 1)), k_p = turn.rotate(k, field(p - 1));
                for (std::size_t c = 0; c < 5; ++c) q_at(p, c) = q_p(c), k_at(p, c) = k_p(c);
            }
            for (int difference = -3; difference <= 3; ++difference) {
                const field alone = dot(turn.rotate(q, field(difference)), k);
                for (int m = 0; m < 4; ++m)
                    for (int n = 0; n < 4; ++n)
                        if (m - n == difference) all = all & agree(dot(q_at[static_cast<std::size_t>(m)], k_at[static_cast<std::size_t>(n)]), alone);
            }
        }
        return all;
    });
}

const entry B037 = settle("B037", //
                          fails_as_printed([] { // (m, n) = (5, 3) for both: not the same number
                              const tensor<turning, d_k> q{turning(3), turning(4)}, k{turning(0), turning(2)}, other{turning(1), turning(2)};
                              return !(score_at(q, k, turning(5), turning(3)) == score_at(other, k, turning(5), turning(3)));
                          }),
                          holds_corrected([](const claim& c) {
                              const auto number = [&c](std::size_t i) { return turning(c.number(i)); };
                              const tensor<turning, d_k> q{number(1), number(2)}, k{number(3), number(4)};
                              for (std::size_t i = 5; i < 11; i += 2)
                                  if (!(score_at(q, k, number(i), number(i + 1)) == number(0))) return false;
                              return cos(turning(1)) == number(11) && sin(turning(1)) == number(12) &&
                                     c.value_reads("# for q = (#, #), k = (#, #) at (m, n) = (#, #), (#, #), (#, #), with a rotation by cosine #, sine #");
                          }),
                          holds_corrected([](const claim& c) { return scores_see_the_difference_alone(c.points_with_exp()); }));
// [/B037]
static_assert(!(score_at({turning(3), turning(4)}, {turning(0), turning(2)}, turning(3), turning(5)) ==
                score_at({turning(3), turning(4)}, {turning(0), turning(2)}, turning(5), turning(3))));

// [B038]
// The cosine of q at a position with itself, `distance` positions apart.
constexpr turning cosine_apart(const turning& distance) {
    constexpr tensor<turning, d_k> q{turning(3), turning(4)};
    return dot(interleaved.rotate(q, distance), q) / dot(q, q);
}
constexpr bool norms_stay(unsigned seeds) {
    return identity(seeds, [](draw& free) {
        const field base = attest::exp(free.number());
        const auto q = free.vector<axis<5>>();
        agreement all = agreement::equal;
        for (const rope_pairing pairing : both_pairings)
            for (int p = -1; p <= 3; p += 2) {
                const auto turned = rope<field>{pairing, base, 4}.rotate(q, field(p));
                all = all & agree(dot(turned, turned), dot(q, q));
            }
        return all;
    });
}

const entry B038 = settle("B038", //
                          fails_as_printed([] { return cosine_apart(turning(3)) < cosine_apart(turning(4)); }), // farther, and yet more alike
                          holds_corrected([](const claim& c) {
                              return cosine_apart(turning(c.number(1))) == turning(c.number(0)) && cosine_apart(turning(c.number(3))) == turning(c.number(2)) &&
                                     c.value_reads("# at distance #, # at distance #");
                          }),
                          holds_corrected([](const claim& c) { // product over norms: the cosine sees the difference alone
                              return norms_stay(c.points_with_exp()) && scores_see_the_difference_alone(c.points_with_exp());
                          }));
// [/B038]

// Backward is the rotation by −p: the inverse, and the transpose: y · R x = Rᵀ y · x.
static_assert(identity(1, [](draw& free) {
    const field base = attest::exp(free.number());
    const auto q = free.vector<axis<5>>(), dq = free.vector<axis<5>>();
    agreement all = agreement::equal;
    for (const rope_pairing pairing : both_pairings) {
        const rope<field> turn{pairing, base, 4};
        all = all & agree(turn.rotate_back(q, 3), turn.rotate(q, -3)) & agree(turn.rotate_back(turn.rotate(q, 3), 3), q) &
              agree(dot(dq, turn.rotate(q, 3)), dot(turn.rotate_back(dq, 3), q));
    }
    return all;
}));

// Row i stands at offset + i, or where it is told. On axes of types and of run time; forward and backward.
static_assert(identity(1, [](draw& free) {
    const rope<field> turn{rope_pairing::half, attest::exp(free.number()), 2};
    const auto X = free.matrix<axis<3>, axis<4>>();
    const tensor<field, axis<dynamic>, axis<dynamic>> X_dynamic(X);
    const field told[] = {7, -2, 5};
    const rope_rotation<field> from_0{turn}, from_4{turn, 4}, as_told{turn, 4, told};
    const auto at_0 = rope_rows(X, from_0), at_4 = rope_rows(X, from_4), at_told = rope_rows(X, as_told);
    agreement all = agree(rope_rows(X_dynamic, from_4), at_4);
    for (std::size_t i = 0; i < 3; ++i) {
        const int p = static_cast<int>(i);
        all = all & agree(at_0[i], turn.rotate(X[i], p)) & agree(at_4[i], turn.rotate(X[i], 4 + p)) & agree(at_told[i], turn.rotate(X[i], told[i])) &
              agree(from_4.back(at_4[i], i), X[i]) & agree(as_told.back(at_told[i], i), X[i]) & agree(as_told.position(i), told[i]);
    }
    return all;
}));

} // namespace
} // namespace attest::proofs
