// SPDX-License-Identifier: BSL-1.0
// Positions that are added: the sinusoids' exponents, what depends on differences alone, and learned tables.

#include "exact.hpp"
#include "identity.hpp"
#include "opaque.hpp"
#include "polynomial.hpp"
#include "printed.hpp"
#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/matmul.hpp"
#include "attest/formula/position.hpp"
#include "attest/formula/score.hpp"
#include "attest/gradient/position.hpp"

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
// PE(t, 2i) = sin(t · base^(−2i/d)), PE(t, 2i + 1) = cos of the same, for every base.
template <std::size_t N, std::size_t D>
constexpr bool is_the_lectures_formula() {
    const auto pe = sinusoidal<term, axis<N>, axis<D>>(term::base());
    const auto dynamic_pe = sinusoidal<term>(N, D, term::base());
    for (int t = 0; t < static_cast<int>(N); ++t)
        for (int i = 0; i < static_cast<int>(D + 1) / 2; ++i) {
            const exact exponent = ratio(-2 * i, static_cast<int>(D));
            if (pe(t, 2 * i) != term(term::kind::sine, t, exponent)) return false;
            if (2 * i + 1 < static_cast<int>(D) && pe(t, 2 * i + 1) != term(term::kind::cosine, t, exponent)) return false;
        }
    return dynamic_pe == tensor<term, axis<dynamic>, axis<dynamic>>(pe);
}

// Where the base is not said, it is this one: sin(1/base^(2/4)) tells.
constexpr bool is_default_base(const interval& base) {
    const interval small = sin(1 / sqrt(base));
    const auto of_types = sinusoidal<interval, axis<2>, axis<4>>()(1, 2), of_lengths = sinusoidal<interval>(2, 4)(1, 2);
    const auto pairs_of_types = sinusoidal_pairs<interval, axis<2>, axis<4>>()(1, 2), pairs_of_lengths = sinusoidal_pairs<interval>(2, 4)(1, 2);
    return meet(small, of_types) && meet(small, of_lengths) && meet(small, pairs_of_types) && meet(small, pairs_of_lengths);
}

const entry B030 = settle(
    "B030", //
    holds([] { return is_the_lectures_formula<3, 2>() && is_the_lectures_formula<5, 8>(); }),
    holds([] { return is_the_lectures_formula<4, 5>(); }), // an odd dimension: one sine more
    holds("10000", [](std::string_view base) { return is_default_base(interval::decimal(base)); }),
    holds([] { return rules::even_dimension::holds<axis<4>> && !rules::even_dimension::holds<axis<5>>; })); // the strict form wants pairs
// [/B030]
static_assert(sinusoidal_pairs<term, axis<5>, axis<6>>(term::base()) == sinusoidal<term, axis<5>, axis<6>>(term::base()));
static_assert(sinusoidal_pairs<term>(5, 6, term::base()) == sinusoidal<term>(5, 6, term::base()));

// Free base: log base is a free number.
constexpr std::size_t n_positions = 5;
template <std::size_t D> constexpr auto free_sinusoids(draw& x) { return sinusoidal<field, axis<n_positions>, axis<D>>(attest::exp(x.number())); }

// [B031]
// PE(0) = (0, 1, 0, 1, …) and PE(t)·PE(t) = d/2, for even d.
constexpr bool begins_with_0_and_1_and_keeps_its_norm(unsigned seeds) {
    return identity(seeds, [](draw& x) {
        const auto pe = free_sinusoids<4>(x);
        agreement all = agree(pe[0], tensor<field, axis<4>>{0, 1, 0, 1});
        for (std::size_t t = 0; t < n_positions; ++t) all = all & agree(dot(pe[t], pe[t]), field(4) / field(2));
        return all;
    });
}
// PE(s)·PE(t) = PE(s − t)·PE(0) for s >= t, whatever s and t.
constexpr bool products_see_the_difference_alone(unsigned seeds) {
    return identity(seeds, [](draw& x) {
        const auto pe = free_sinusoids<4>(x);
        agreement all = agreement::equal;
        for (std::size_t t = 0; t < n_positions; ++t)
            for (std::size_t s = t; s < n_positions; ++s) all = all & agree(dot(pe[s], pe[t]), dot(pe[s - t], pe[0]));
        return all;
    });
}
// PE(t + k) = R_k PE(t). In each pair, (sin, cos) of t + k from (sin, cos) of t: R_k's blocks are ((C, S), (−S, C)), where (S, C) is the pair of PE(k).
constexpr bool a_linear_map_goes_on_by_k(unsigned seeds) {
    return identity(seeds, [](draw& x) {
        const auto pe = free_sinusoids<4>(x);
        agreement all = agreement::equal;
        for (std::size_t k = 0; k < n_positions; ++k)
            for (std::size_t i = 0; i < 2; ++i) {
                const field S = pe(k, 2 * i), C = pe(k, 2 * i + 1); // one block of R_k, whatever t
                for (std::size_t t = 0; t + k < n_positions; ++t)
                    all = all & agree(pe(t + k, 2 * i), C * pe(t, 2 * i) + S * pe(t, 2 * i + 1)) &
                          agree(pe(t + k, 2 * i + 1), C * pe(t, 2 * i + 1) - S * pe(t, 2 * i));
            }
        return all;
    });
}

const entry B031 = settle("B031", //
                          holds([](const claim& c) { return begins_with_0_and_1_and_keeps_its_norm(c.points_with_exp()); }),
                          holds([](const claim& c) { return products_see_the_difference_alone(c.points_with_exp()); }),
                          holds([](const claim& c) { return a_linear_map_goes_on_by_k(c.points_with_exp()); }));
// [/B031]

// [B032]
// Angle of dimension c, for d = 512: t · base^exponent, with the exponent −2⌊c/2⌋/512.
constexpr bool two_by_two_the_same_frequency = [] {
    const auto pe = sinusoidal<term>(2, 512, term::base());
    for (int i = 0; i < 256; ++i)
        if (pe(1, 2 * i) != term(term::kind::sine, 1, ratio(-2 * i, 512)) || pe(1, 2 * i + 1) != term(term::kind::cosine, 1, ratio(-2 * i, 512))) return false;
    return true;
}();

// The longest period, in units of the shortest.
constexpr interval longest(int base, int above, int below) { return exp(interval::ratio(above, below) * log(interval(base))); }

const entry B032 = settle("B032", //
                          fails_as_printed([] { return two_by_two_the_same_frequency; }), // dimensions 0 and 1, 2 and 3, …: sine and cosine of one angle
                          holds_corrected([](const claim& c) {
                              return identity(c.points_with_exp(), [](draw& x) {
                                  const auto pe = free_sinusoids<4>(x);
                                  agreement all = agreement::equal;
                                  for (std::size_t t = 0; t < n_positions; ++t)
                                      for (std::size_t i = 0; i < 2; ++i)
                                          all = all & agree(pe(t, 2 * i) * pe(t, 2 * i) + pe(t, 2 * i + 1) * pe(t, 2 * i + 1), 1);
                                  return all;
                              });
                          }),
                          holds_corrected("10000^(510/512)", [](std::string_view line) {
                              const auto [base, above, below] = whole_numbers<3>(line, "#^(#/#)");
                              return is_default_base(base) && prints(longest(base, above, below), "9646.6", 1);
                          }),
                          holds_corrected([](const claim& c) {
                              return two_by_two_the_same_frequency && prints(longest(10000, 510, 512), c.number(), 1) && refutes(longest(10000, 510, 512), "10000.0");
                          }));
// [/B032]

// [B033]
// The scores of tokens with positions, (x + PE(s))·(y + PE(t)), with the same tokens x and y at positions that differ by 1: of x = (1, 0, 0, 0) and
// y = 0 it is PE(s)·PE(t) + sin t, which is more at 4 and 3 than at 1 and 0, and PE(s)·PE(t) is not.
constexpr bool scores_of_sums_see_more_than_the_difference = [] {
    const auto pe = sinusoidal<interval, axis<n_positions>, axis<4>>();
    const tensor<interval, axis<2>, axis<4>> tokens{{0, 0, 0, 0}, {1, 0, 0, 0}};
    const auto score = [&](std::size_t offset) {
        const auto x = add_positions(tokens, pe, offset);
        return dot(x[1], x[0]);
    };
    return surely(score(3) > score(0)) && meet(dot(pe[4], pe[3]), dot(pe[1], pe[0]));
}();

const entry B033 = settle("B033", //
                          fails_as_printed([] { return scores_of_sums_see_more_than_the_difference; }),
                          holds_corrected([](const claim& c) { return a_linear_map_goes_on_by_k(c.points_with_exp()); }),
                          holds_corrected([](const claim& c) { return products_see_the_difference_alone(c.points_with_exp()); }));
// [/B033]

// [B029]
// Whatever is added at a position, 0 becomes that and x becomes x plus that. A rotation leaves 0, and not x.
constexpr bool adds_nothing_to_inputs = no_identity([](draw& x) {
    const rope<field> turn{rope_pairing::interleaved, attest::exp(x.number())};
    const auto token = x.vector<axis<4>>();
    const tensor<field, axis<4>> none{};
    const auto of_none = turn.rotate(none, 3), of_token = turn.rotate(token, 3);
    agreement all = agreement::equal;
    for (std::size_t c = 0; c < 4; ++c) all = all & agree(of_none(c) - none(c), of_token(c) - token(c));
    return all;
});
constexpr bool adds_the_same_to_every_input(unsigned seeds) {
    return identity(seeds, [](draw& x) {
        const auto pe = free_sinusoids<4>(x);
        const auto X = x.matrix<axis<3>, axis<4>>(), Y = x.matrix<axis<3>, axis<4>>();
        const auto X_at = add_positions(X, pe), Y_at = add_positions(Y, pe);
        agreement all = agreement::equal;
        for (std::size_t t = 0; t < 3; ++t)
            for (std::size_t c = 0; c < 4; ++c) all = all & agree(X_at(t, c) - X(t, c), pe(t, c)) & agree(Y_at(t, c) - Y(t, c), pe(t, c));
        return all;
    });
}
// Rotated, the scores of the same tokens in another order are others.
constexpr bool rotation_tells_the_order = no_identity([](draw& x) {
    const rope_rotation<field> rotation{{rope_pairing::half, attest::exp(x.number())}};
    const auto Q = x.matrix<axis<2>, axis<4>>(), K = x.matrix<axis<2>, axis<4>>();
    tensor<field, axis<2>, axis<4>> K_swapped;
    for (std::size_t c = 0; c < 4; ++c) K_swapped(0, c) = K(1, c), K_swapped(1, c) = K(0, c);
    const auto S = scores(rope_rows(Q, rotation), rope_rows(K, rotation)), S_swapped = scores(rope_rows(Q, rotation), rope_rows(K_swapped, rotation));
    return agree(S(0, 0), S_swapped(0, 1)) & agree(S(0, 1), S_swapped(0, 0));
});

const entry B029 = settle("B029", //
                          fails_as_printed([] { return adds_nothing_to_inputs; }),
                          holds_corrected([](const claim& c) { return adds_the_same_to_every_input(c.points_with_exp()); }),
                          holds_corrected([] { return rotation_tells_the_order; }));
// [/B029]

// [B034]
// A learned position is a row of the table, and its gradient is what comes back to that token.
struct tokens : axis<2> {};
struct table_rows : axis<3> {};
struct d : axis<2> {};
constexpr tensor<int, table_rows, d> table{{9, 8}, {10, 20}, {30, 40}};
constexpr tensor<int, tokens, d> X{{1, 2}, {3, 4}};
static_assert(add_positions(X, table) == tensor<int, tokens, d>{{10, 10}, {13, 24}});
static_assert(add_positions(X, table, 1) == tensor<int, tokens, d>{{11, 22}, {33, 44}});

// y_t = x_t + p_{t + offset}; so dp_{t + offset} = dy_t, and 0 for the row that no token stands at.
constexpr bool rows_are_added_and_learned(std::size_t offset) {
    symbols s;
    const auto x = s.matrix<tokens, d>(), dy = s.matrix<tokens, d>();
    const auto p = s.matrix<table_rows, d>();
    const auto y = add_positions(x, p, offset);
    const auto dp = add_positions_vjp(dy, p, offset).dtable;
    const std::size_t left_over = offset == 0 ? 2 : 0;
    for (std::size_t c = 0; c < 2; ++c) {
        for (std::size_t t = 0; t < 2; ++t)
            if (!(y(t, c) == x(t, c) + p(t + offset, c)) || !(dp(t + offset, c) == dy(t, c))) return false;
        if (!(dp(left_over, c) == 0)) return false;
    }
    return true;
}
const entry B034 = settle("B034", holds([] { return rows_are_added_and_learned(0) && rows_are_added_and_learned(1); }));
// [/B034]
// [B035]
const entry B035 = settle("B035", //
                          holds([] { return rules::position_in_table::holds<tokens, table_rows> && rules::position_in_table::holds<table_rows, table_rows>; }),
                          holds([] { return !rules::position_in_table::holds<table_rows, tokens>; }));
// [/B035]

// x_t + p_{t + offset}, for all x and p, on axes of types and of run time.
static_assert(for_any_functions(2, [](opaque_draw& free) {
    using of_run_time = tensor<opaque, axis<dynamic>, axis<dynamic>>;
    const auto x = free.matrix<axis<2>, axis<3>>();
    const auto p = free.matrix<axis<7>, axis<3>>();
    for (std::size_t offset = 0; offset <= 5; ++offset) {
        tensor<opaque, axis<2>, axis<3>> sum;
        for (std::size_t t = 0; t < 2; ++t)
            for (std::size_t c = 0; c < 3; ++c) sum(t, c) = x(t, c) + p(t + offset, c);
        if (!(add_positions(x, p, offset) == sum) || !(add_positions(of_run_time(x), of_run_time(p), offset) == of_run_time(sum))) return false;
    }
    return add_positions(x, p) == add_positions(x, p, 0);
}));
// As long as the table, and a table of nothing.
static_assert(add_positions(table, table) == tensor<int, table_rows, d>{{18, 16}, {20, 40}, {60, 80}});
static_assert(add_positions(tensor<int, axis<0>, d>{}, tensor<int, axis<0>, d>{}) == tensor<int, axis<0>, d>{});

} // namespace
} // namespace attest::proofs
