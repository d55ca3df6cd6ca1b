// SPDX-License-Identifier: BSL-1.0
// References, names and labels: the little that a compiler can say of them. A lost letter and a reference to nothing (A007, A071, E079) are seen by reading.

#include "settle.hpp"

#include "attest/formula/score.hpp"

namespace attest::proofs {
namespace {

// [A115]
// Σ w_i x_i is divisible by 10, with w = 1, 3, 1, 3, …, 1. Both are prime to 10, so that one wrong digit shows. Four hyphens part
// the 13 digits in five.
constexpr bool is_isbn_13(std::string_view printed) {
    struct digits : axis<13> {};
    tensor<int, digits> x, w;
    std::size_t n = 0, hyphens = 0;
    bool behind_a_digit = false;
    for (const char digit : printed) {
        if (digit == '-' && behind_a_digit) {
            behind_a_digit = false;
            ++hyphens;
            continue;
        }
        if (digit < '0' || digit > '9' || n == digits::size) return false;
        behind_a_digit = true;
        w(n) = n % 2 == 0 ? 1 : 3;
        x(n++) = digit - '0';
    }
    return n == digits::size && hyphens == 4 && behind_a_digit && dot_product{}(w, x) % 10 == 0;
}
static_assert(!is_isbn_13("978-981-96-4705-1") && !is_isbn_13("978-981-96-4705"));
const entry A115 = settle("A115", holds("978-981-96-4705-7", [](std::string_view printed) { return is_isbn_13(printed); }));
// [/A115]

// [E079]
// Its correction: two inputs have the raw scores that the solutions give, 1, 0, 0, 1; those of the other example are 2, 0, 0, 2.
struct tokens : axis<2> {};
struct d_k : axis<2> {};
using vectors = tensor<int, tokens, d_k>;
using raw = tensor<int, tokens, tokens>;
constexpr vectors unit{{1, 0}, {0, 1}}, symmetric{{1, 1}, {1, -1}}, other{{2, 1}, {1, 1}}, inverse{{1, -1}, {-1, 2}};
static_assert(scores(unit, unit) == raw{{1, 0}, {0, 1}} && scores(symmetric, symmetric) == raw{{2, 0}, {0, 2}});
static_assert(scores(other, inverse) == scores(unit, unit));
// [/E079]

} // namespace
} // namespace attest::proofs
