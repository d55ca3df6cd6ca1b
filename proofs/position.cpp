// SPDX-License-Identifier: BSL-1.0
// Positions: the sinusoids' exponents, what depends on differences alone, rotations, and ALiBi's slopes.

#include "exact.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/matmul.hpp"
#include "attest/formula/position.hpp"

namespace attest::proofs {
namespace {

// A term that the formula builds, with a base that stays a letter: coefficient · base^exponent, coefficient · log base, or the sine or
// cosine of the first.
class term {
public:
    enum class kind { power, log, sine, cosine };
    constexpr term() = default;
    constexpr explicit term(int x) : coefficient_{x} {}
    constexpr term(kind of, const exact& coefficient, const exact& exponent)
        : kind_{of}, coefficient_{coefficient}, exponent_{exponent} {}
    static constexpr term base() { return {kind::power, 1, 1}; }

    friend constexpr term operator+(const term& x, const term& y) {
        return x == term(0) ? y : y == term(0) ? x : throw no_such_value(); // the formula adds nothing
    }
    [[maybe_unused]] friend constexpr term operator-(const term& x, const term& y) { return x + -y; }
    friend constexpr term operator-(const term& x) { return {x.kind_, -x.coefficient_, x.exponent_}; }
    friend constexpr term operator*(const term& x, const term& y) {
        if (x.kind_ != kind::power || (y.kind_ != kind::power && !(x.exponent_ == 0 && y.kind_ == kind::log)))
            throw no_such_value();
        return {y.kind_, x.coefficient_ * y.coefficient_, x.exponent_ + y.exponent_};
    }
    friend constexpr term operator/(const term& x, const term& y) {
        return x * term(kind::power, 1 / y.power().coefficient_, -y.exponent_);
    }
    friend constexpr bool operator==(const term&, const term&) = default;

    friend constexpr term attest_log(const term& x) {
        return x.power().coefficient_ == 1 ? term(kind::log, x.exponent_, 0) : throw no_such_value();
    }
    friend constexpr term attest_exp(const term& x) {
        return x.kind_ == kind::log ? term(kind::power, 1, x.coefficient_) : throw no_such_value();
    }
    friend constexpr term attest_sin(const term& x) { return {kind::sine, x.power().coefficient_, x.exponent_}; }
    friend constexpr term attest_cos(const term& x) { return {kind::cosine, x.power().coefficient_, x.exponent_}; }

private:
    [[nodiscard]] constexpr const term& power() const { return kind_ == kind::power ? *this : throw no_such_value(); }
    kind kind_ = kind::power;
    exact coefficient_ = 0, exponent_ = 0;
};

// [B030]
// B030: PE(t, 2i) = sin(t · base^(−2i/d)), PE(t, 2i + 1) = cos of the same, for every base.
template <std::size_t N, std::size_t D>
constexpr bool is_the_lectures_formula() {
    const auto pe = sinusoidal<term, axis<N>, axis<D>>(term::base());
    for (int t = 0; t < static_cast<int>(N); ++t)
        for (int i = 0; i < static_cast<int>(D + 1) / 2; ++i) {
            const exact exponent = ratio(-2 * i, static_cast<int>(D));
            if (pe(t, 2 * i) != term(term::kind::sine, t, exponent)) return false;
            if (2 * i + 1 < static_cast<int>(D) && pe(t, 2 * i + 1) != term(term::kind::cosine, t, exponent)) return false;
        }
    return true;
}
static_assert(is_the_lectures_formula<3, 2>() && is_the_lectures_formula<5, 8>());
static_assert(is_the_lectures_formula<4, 5>(), "an odd dimension: one sine more");
// The strict form wants pairs.
static_assert(rules::even_dimension::holds<axis<4>> && !rules::even_dimension::holds<axis<5>>);
// [/B030]

// [B032]
// B032: a frequency belongs to a pair of dimensions. The largest period for d = 512 is 10000^(510/512) = 9646.6 times
// 2π, not 10000 times.
constexpr interval largest_period = exp(interval::ratio(510, 512) * log(interval(10000)));
static_assert(rounds_to(largest_period, "9646.6") && refutes(largest_period, "10000.0"));
// [/B032]

// Numbers, and an angle whose cosine is 3/5: cos k + i sin k = ((3 + 4i)/5)^k for whole k. With base 1 all pairs turn
// alike, and every value is a fraction.
class turning {
public:
    constexpr turning() = default;
    constexpr explicit turning(int x) : value_{x} {}
    constexpr explicit turning(const exact& x) : value_{x} {}

    friend constexpr turning operator+(const turning& x, const turning& y) { return turning(x.value_ + y.value_); }
    friend constexpr turning operator-(const turning& x, const turning& y) { return turning(x.value_ - y.value_); }
    friend constexpr turning operator-(const turning& x) { return turning(-x.value_); }
    friend constexpr turning operator*(const turning& x, const turning& y) { return turning(x.value_ * y.value_); }
    friend constexpr turning operator/(const turning& x, const turning& y) { return turning(x.value_ / y.value_); }
    friend constexpr bool operator==(const turning&, const turning&) = default;

    friend constexpr turning attest_log(const turning& x) { return x.value_ == 1 ? turning(0) : throw no_such_value(); }
    friend constexpr turning attest_exp(const turning& x) { return x.value_ == 0 ? turning(1) : throw no_such_value(); }
    friend constexpr turning attest_cos(const turning& x) { return turning(x.turned().real); }
    friend constexpr turning attest_sin(const turning& x) { return turning(x.turned().imaginary); }

private:
    struct on_circle {
        exact real, imaginary;
    };
    [[nodiscard]] constexpr on_circle turned() const {
        on_circle z{1, 0};
        for (int k = 0; k <= 20; ++k) {
            if (value_ == k) return z;
            if (value_ == -k) return {z.real, -z.imaginary};
            z = {ratio(3, 5) * z.real - ratio(4, 5) * z.imaginary, ratio(4, 5) * z.real + ratio(3, 5) * z.imaginary};
        }
        throw no_such_value();
    }
    exact value_ = 0;
};

// [B031]
// B031: PE(0) = (0, 1, 0, 1, …), ‖PE(t)‖² = d/2, PE(s) · PE(t) depends on s − t alone, and PE(t + k) = R_k PE(t): here
// with the rotations of RoPE, backward, since the sine comes first.
constexpr auto pe = sinusoidal<turning, axis<6>, axis<4>>(turning(1));
constexpr rope<turning> interleaved{rope_pairing::interleaved, turning(1)}, halves{rope_pairing::half, turning(1)};
constexpr bool relative_positions = [] {
    for (std::size_t s = 0; s < 4; ++s)
        for (std::size_t t = 0; t < 4; ++t) {
            if (!(dot(pe[s], pe[t]) == dot(pe[s + 2], pe[t + 2]))) return false;
            if (s + t < 6 && !(interleaved.rotate_back(pe[t], turning(static_cast<int>(s))) == pe[s + t])) return false;
        }
    return dot(pe[5], pe[5]) == turning(2) && !(dot(pe[0], pe[1]) == dot(pe[0], pe[2]));
}();
static_assert(relative_positions);
static_assert(pe(0, 0) == turning(0) && pe(0, 1) == turning(1) && pe(0, 2) == turning(0) && pe(0, 3) == turning(1));
static_assert(pe(1, 0) == turning(ratio(4, 5)) && pe(1, 1) == turning(ratio(3, 5)));
// [/B031]

// [B037]
// B037: q = (3, 4) at m, k = (0, 2) at n: 88/25 for (5, 3), (7, 5) and (2, 0). With another difference, another score.
struct d_k : axis<2> {};
constexpr tensor<turning, d_k> q{turning(3), turning(4)}, k{turning(0), turning(2)};
constexpr turning score_at(int m, int n) {
    return dot(interleaved.rotate(q, turning(m)), interleaved.rotate(k, turning(n)));
}
static_assert(score_at(5, 3) == turning(ratio(88, 25)) && score_at(7, 5) == score_at(5, 3) &&
              score_at(2, 0) == score_at(5, 3));
static_assert(!(score_at(3, 5) == score_at(5, 3)) && !(score_at(5, 4) == score_at(5, 3)));

// B036: two pairings, two results: (0, 1), (2, 3) or (0, 2), (1, 3).
constexpr tensor<turning, axis<4>> x{turning(5), turning(0), turning(0), turning(10)};
static_assert(interleaved.rotate(x, turning(1)) ==
              tensor<turning, axis<4>>{turning(3), turning(4), turning(-8), turning(6)});
static_assert(halves.rotate(x, turning(1)) ==
              tensor<turning, axis<4>>{turning(3), turning(-8), turning(4), turning(6)});
static_assert(halves.rotate_back(halves.rotate(x, turning(3)), turning(3)) == x);

// B038: norms stay. The cosine of q at m with itself at n is no distance: 3 apart −117/125, but 4 apart −527/625, which
// is more (−585 < −527).
static_assert(dot(halves.rotate(x, turning(3)), halves.rotate(x, turning(3))) == dot(x, x));
constexpr turning cosine_apart(int distance) {
    return dot(interleaved.rotate(q, turning(distance)), q) / dot(q, q);
}
static_assert(cosine_apart(3) == turning(ratio(-117, 125)) && cosine_apart(4) == turning(ratio(-527, 625)));
static_assert(117 * 5 == 585 && -585 < -527);
// [/B037]

// [B035]
// B034, B035: a learned position is a row of the table; the table ends.
struct tokens : axis<2> {};
struct table_rows : axis<3> {};
static_assert(rules::position_in_table::holds<tokens, table_rows> &&
              !rules::position_in_table::holds<table_rows, tokens>);
static_assert(add_positions(tensor<int, tokens, d_k>{{1, 2}, {3, 4}}, tensor<int, table_rows, d_k>{{9, 9}, {10, 20}, {30, 40}}, 1) ==
              tensor<int, tokens, d_k>{{11, 22}, {33, 44}});
// [/B035]

// [alibi]
// ALiBi: 8 heads have 1/2, …, 1/256. 12 heads have those, and then every other slope of 16: 2^(−1/2), 2^(−3/2), …
constexpr bool slopes_of_12 = [] {
    for (std::size_t h = 0; h < 8; ++h)
        if (alibi_slope<exact>(h, 12) != ratio(1, 2LL << h) || alibi_slope<exact>(h, 8) != ratio(1, 2LL << h)) return false;
    for (std::size_t h = 0; h < 4; ++h)
        if (alibi_slope<exact>(8 + h, 12) != root_two / (2LL << h)) return false;
    return true;
}();
static_assert(slopes_of_12);
static_assert(alibi<exact>{ratio(1, 4)}.added(5, 2) == ratio(-3, 4) && alibi<exact>{ratio(1, 4), 3}.added(0, 3) == 0);
// [/alibi]

} // namespace
} // namespace attest::proofs
