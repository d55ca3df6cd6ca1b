// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/rope.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/matmul.hpp"
#include "attest/shape/ranges.hpp"
#include "catch.hpp"

#include <cmath>
#include <random>
#include <string>
#include <type_traits>

using namespace attest;

namespace rope_test {

// (a/5^e) with sines and cosines of whole multiples of the angle whose cosine is 3/5: cos k + i sin k = ((3 + 4i)/5)^k. With base 1 every pair
// turns by the position, so RoPE is exact. Without NaN, infinity and order.
class turning {
public:
    constexpr turning() = default;
    constexpr explicit turning(int x) : a_{x} {}

    friend constexpr turning operator-(turning x) { return x.a_ = -x.a_, x; }
    friend constexpr turning operator+(turning x, turning y) {
        while (x.e_ < y.e_) x.raise();
        while (y.e_ < x.e_) y.raise();
        x.a_ += y.a_;
        return x.lowest();
    }
    friend constexpr turning operator-(turning x, turning y) { return x + -y; }
    friend constexpr turning operator*(turning x, turning y) {
        x.a_ *= y.a_;
        x.e_ += y.e_;
        return x.lowest();
    }
    // Exponents 2i/r of base 1: whatever it gives is multiplied by log 1 = 0.
    friend constexpr turning operator/(turning, turning) { return turning(0); }
    friend constexpr bool operator==(turning, turning) = default;

    friend constexpr turning attest_log(turning x) { return x == turning(1) ? turning(0) : throw no_such_value(); }
    friend constexpr turning attest_exp(turning x) { return x == turning(0) ? turning(1) : throw no_such_value(); }
    friend constexpr turning attest_cos(turning x) { return power(x, false); }
    friend constexpr turning attest_sin(turning x) { return power(x, true); }

    /// a/5
    static constexpr turning fifths(int a) {
        turning x(a);
        x.e_ = 1;
        return x.lowest();
    }

private:
    static constexpr turning power(turning k, bool imaginary) {
        if (k.e_ != 0) throw no_such_value();
        turning cosine(1), sine(0);
        for (long long left = k.a_ < 0 ? -k.a_ : k.a_; left > 0; --left) {
            const turning next = cosine * fifths(3) - sine * fifths(4);
            sine = cosine * fifths(4) + sine * fifths(3);
            cosine = next;
        }
        return !imaginary ? cosine : k.a_ < 0 ? -sine : sine;
    }
    constexpr void raise() { a_ *= 5, ++e_; }
    [[nodiscard]] constexpr turning lowest() const {
        turning x = *this;
        for (; x.e_ > 0 && x.a_ % 5 == 0; --x.e_) x.a_ /= 5;
        return x;
    }
    long long a_ = 0;
    int e_ = 0;
};

} // namespace rope_test

namespace {

using rope_test::turning;
using dyn = axis<dynamic>;
struct d : axis<2> {};
struct n : axis<3> {};

// B037: q = (3, 4) and k = (0, 2) at the positions (5, 3), (7, 5), (2, 0): the score is 88/25 each time.
constexpr rope<turning> exact{rope_pairing::interleaved, turning(1)};
constexpr tensor<turning, d> q{turning(3), turning(4)}, k{turning(0), turning(2)};
constexpr turning score_at(int m, int n_key) { return dot(exact.rotate(q, turning(m)), exact.rotate(k, turning(n_key))); }
static_assert(score_at(5, 3) == turning::fifths(1) * turning::fifths(88));
static_assert(score_at(7, 5) == score_at(5, 3) && score_at(2, 0) == score_at(5, 3) && score_at(-1, -3) == score_at(5, 3));
static_assert(score_at(3, 5) != score_at(5, 3) && score_at(5, 2) != score_at(5, 3));

static_assert(std::is_same_v<decltype(rope<float>{}.rotate(tensor<float, d>{}, 1.0F)), tensor<float, d>>);
static_assert(std::is_same_v<decltype(rope_rows(tensor<float, n, d>{}, rope_rotation<float>{})), tensor<float, n, d>>);
// In constant expressions too.
static_assert(rope<double>{}.rotate(tensor<double, d>{1, 2}, 0.0) == tensor<double, d>{1, 2});

const double u = 0x1p-53;

tensor<double, dyn> random_row(std::mt19937_64& generator, std::size_t length) {
    auto x = tensor<double, dyn>::with_lengths(length);
    for (double& value : attest::elements(x)) value = std::uniform_real_distribution<>(-2, 2)(generator);
    return x;
}
tensor<real<50>, dyn> in_real(const tensor<double, dyn>& x) {
    auto result = tensor<real<50>, dyn>::with_lengths(x.length(0));
    for (std::size_t c = 0; c < x.length(0); ++c) result(c) = real<50>(x(c));
    return result;
}
// θ_i · position by <cmath>, for a look from outside.
double angle_of(const rope<double>& how, std::size_t pair, std::size_t r, double position) {
    return position * std::pow(how.base, -2.0 * static_cast<double>(pair) / static_cast<double>(r));
}

} // namespace

TEST_CASE("B037: a score depends on the difference of the positions alone; exactly", "[formula]") {
    std::mt19937_64 generator(81);
    for (const auto pairing : {rope_pairing::interleaved, rope_pairing::half})
        for (int round = 0; round < 30; ++round) {
            tensor<turning, axis<6>> query, key;
            for (std::size_t c = 0; c < 6; ++c) {
                query(c) = turning(static_cast<int>(generator() % 9) - 4);
                key(c) = turning(static_cast<int>(generator() % 9) - 4);
            }
            const rope<turning> how{pairing, turning(1)};
            const int m = static_cast<int>(generator() % 5), key_position = static_cast<int>(generator() % 5), moved = 1 + static_cast<int>(generator() % 3);
            const auto score = dot(how.rotate(query, turning(m)), how.rotate(key, turning(key_position)));
            CAPTURE(m, key_position, moved);
            CHECK((score == dot(how.rotate(query, turning(m + moved)), how.rotate(key, turning(key_position + moved)))));
            CHECK((score == dot(how.rotate(query, turning(m - key_position)), key)));
            // B038: norms stay; rotations add; `rotate_back` is inverse and transpose.
            const auto rotated = how.rotate(query, turning(m));
            CHECK((dot(rotated, rotated) == dot(query, query)));
            CHECK((how.rotate(rotated, turning(moved)) == how.rotate(query, turning(m + moved))));
            CHECK((how.rotate_back(rotated, turning(m)) == query));
            CHECK((how.rotate_back(query, turning(m)) == how.rotate(query, turning(-m))));
            CHECK((dot(rotated, key) == dot(query, how.rotate_back(key, turning(m)))));
        }
}

TEST_CASE("the two pairings rotate other components, by the same angles", "[formula]") {
    // One quarter of the way around would be exact but for π; so the rotation of cosine 3/5 again.
    const auto five = [](int a) { return turning::fifths(a); };
    const tensor<turning, axis<4>> x{turning(1), turning(10), turning(100), turning(1000)};
    CHECK((rope<turning>{rope_pairing::interleaved, turning(1)}.rotate(x, turning(1)) ==
           tensor<turning, axis<4>>{five(3 * 1 - 4 * 10), five(4 * 1 + 3 * 10), five(3 * 100 - 4 * 1000), five(4 * 100 + 3 * 1000)}));
    CHECK((rope<turning>{rope_pairing::half, turning(1)}.rotate(x, turning(1)) ==
           tensor<turning, axis<4>>{five(3 * 1 - 4 * 100), five(3 * 10 - 4 * 1000), five(4 * 1 + 3 * 100), five(4 * 10 + 3 * 1000)}));
    // Reordering the components makes one of the other, with all frequencies.
    std::mt19937_64 generator(82);
    for (const std::size_t length : {2U, 4U, 10U}) {
        const auto interleaved = random_row(generator, length);
        auto halves = interleaved;
        for (std::size_t i = 0; i < length / 2; ++i) {
            halves(i) = interleaved(2 * i);
            halves(i + length / 2) = interleaved(2 * i + 1);
        }
        const auto a = rope<double>{rope_pairing::interleaved}.rotate(interleaved, 7.0);
        const auto b = rope<double>{rope_pairing::half}.rotate(halves, 7.0);
        for (std::size_t i = 0; i < length / 2; ++i) {
            CHECK(a(2 * i) == b(i));
            CHECK(a(2 * i + 1) == b(i + length / 2));
        }
    }
}

TEST_CASE("pair i turns by position times base^(-2i/r)", "[formula]") {
    std::mt19937_64 generator(83);
    for (const auto pairing : {rope_pairing::interleaved, rope_pairing::half})
        for (const double base : {10000.0, 500000.0, 10.0})
            for (const double position : {0.0, 1.0, 2.5, -3.0, 100.0, 4095.0}) {
                const rope<double> how{pairing, base, 6};
                const auto x = random_row(generator, 9);
                const auto y = how.rotate(x, position);
                const rope<real<50>> how_in_real{pairing, real<50>(base), 6};
                const auto wanted = how_in_real.rotate(in_real(x), real<50>(position));
                CAPTURE(static_cast<int>(pairing), base, position);
                for (std::size_t i = 0; i < 3; ++i) {
                    const std::size_t a = pairing == rope_pairing::interleaved ? 2 * i : i;
                    const std::size_t b = pairing == rope_pairing::interleaved ? 2 * i + 1 : i + 3;
                    const double angle = angle_of(how, i, 6, position), size = std::abs(x(a)) + std::abs(x(b));
                    CHECK(y(a) == Approx(x(a) * std::cos(angle) - x(b) * std::sin(angle)).margin(1e-11));
                    CHECK(y(b) == Approx(x(a) * std::sin(angle) + x(b) * std::cos(angle)).margin(1e-11));
                    // The error that the page names; 4 roundings of log(base) · 2i/r, relative to it, in the angle.
                    const double bound = u * size * (std::abs(angle) * (4 * std::log(base) + 6) + 5);
                    CHECK(std::abs(static_cast<double>(real<50>(y(a)) - wanted(a))) <= bound);
                    CHECK(std::abs(static_cast<double>(real<50>(y(b)) - wanted(b))) <= bound);
                }
                for (std::size_t c = 6; c < 9; ++c) CHECK(y(c) == x(c)); // the rest is not touched, not a bit
            }
    // Frequencies are those of the rotated dimensions, not of the whole vector: 4 of 8 are as 4 of 4.
    const auto x = random_row(generator, 8);
    const auto part = rope<double>{rope_pairing::half, 10000.0, 4}.rotate(x, 3.0);
    const auto whole = rope<double>{rope_pairing::half}.rotate(tensor<double, axis<4>>{x(0), x(1), x(2), x(3)}, 3.0);
    for (std::size_t c = 0; c < 4; ++c) CHECK(part(c) == whole(c));
    CHECK(rope<double>{rope_pairing::half, 10000.0, 8}.rotate(x, 3.0) == rope<double>{rope_pairing::half}.rotate(x, 3.0));
}

TEST_CASE("fractional positions: rotations add at 50 digits", "[formula]") {
    std::mt19937_64 generator(84);
    const auto x = in_real(random_row(generator, 8));
    const rope<real<50>> how{rope_pairing::half};
    const real<50> a = real<50>(1) / real<50>(3), b = real<50>(17) / real<50>(7);
    const auto once = how.rotate(x, a + b), twice = how.rotate(how.rotate(x, a), b), back = how.rotate_back(twice, b);
    const auto first = how.rotate(x, a);
    for (std::size_t c = 0; c < 8; ++c) {
        CHECK(abs(once(c) - twice(c)) < ldexp(real<50>(1), -170));
        CHECK(abs(back(c) - first(c)) < ldexp(real<50>(1), -170));
    }
}

TEST_CASE("B038: the cosine is no measure of distance: it is not monotone", "[formula]") {
    const tensor<double, d> x{1, 0};
    const auto cosine_at = [&](double distance) { return dot(x, rope<double>{}.rotate(x, distance)); };
    CHECK(cosine_at(3) < -0.98);
    CHECK(cosine_at(6) > 0.96); // twice as far, and nearly parallel again
}

TEST_CASE("what cannot be rotated is refused", "[formula]") {
    const tensor<double, axis<5>> five{1, 2, 3, 4, 5};
    const std::string odd = rules::even_dimension::sentence, too_many = detail::rotated_dimensions_exist::sentence;
    CHECK_THROWS_WITH(rope<double>{}.rotate(five, 1.0), odd + " (5 and 2)");
    CHECK_THROWS_WITH((rope<double>{rope_pairing::half, 10000.0, 3}.rotate_back(five, 1.0)), odd + " (3 and 2)");
    CHECK_THROWS_WITH((rope<double>{rope_pairing::half, 10000.0, 6}.rotate(five, 1.0)), too_many + " (6 and 5)");
    CHECK(rope<double>{rope_pairing::half, 10000.0, 4}.rotate(five, 1.0)(4) == 5);
    CHECK(rope<double>{}.rotate(tensor<double, dyn>{}, 1.0).length(0) == 0);
}

TEST_CASE("rows stand at offset + i, or where they are told", "[formula]") {
    std::mt19937_64 generator(85);
    tensor<double, n, axis<4>> x;
    for (double& value : attest::elements(x)) value = std::uniform_real_distribution<>(-2, 2)(generator);
    const rope<double> how{rope_pairing::half};
    const double positions[] = {0.5, 9, -2};
    const auto from_start = rope_rows(x, rope_rotation<double>{how}), later = rope_rows(x, rope_rotation<double>{how, 11}),
               given = rope_rows(x, rope_rotation<double>{how, 11, positions});
    const rope_rotation<double> rotation{how, 11, positions};
    for (std::size_t i = 0; i < 3; ++i) {
        const double row = static_cast<double>(i);
        CHECK(from_start[i] == how.rotate(x[i], row));
        CHECK(later[i] == how.rotate(x[i], row + 11));
        CHECK(given[i] == how.rotate(x[i], positions[i]));
        CHECK(rotation(x[i], i) == given[i]);
        CHECK(rotation.back(x[i], i) == how.rotate_back(x[i], positions[i]));
    }
    CHECK(from_start[0] == x[0]); // position 0: not a bit changes
    CHECK(rope_rows(tensor<double, dyn, dyn>(x), rope_rotation<double>{how, 11}) == later);
    CHECK(rope_rows(transpose(x), rope_rotation<double>{rope<double>{rope_pairing::half, 10000.0, 2}}).length(0) == 4);
    const view<const double, axis<4>, axis<2>> strided(x.data(), {}, {1, 4});
    CHECK(rope_rows(strided, rope_rotation<double>{how}) == rope_rows(tensor<double, axis<4>, axis<2>>(strided), rope_rotation<double>{how}));
}
