// SPDX-License-Identifier: BSL-1.0
// Scores of the exercises, raw and scaled by 1/√d_k.

#include "exact.hpp"

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/score.hpp"

namespace attest::proofs {
namespace {

struct tokens : axis<2> {};
struct d_k : axis<2> {};
template <class S>
using vectors = tensor<S, tokens, d_k>;
template <class S>
using score_matrix = tensor<S, tokens, tokens>;

// [E009]
// E009: q_1 · k_2 = 3·0 + 4·2 = 8.
template <class S>
constexpr tensor<S, d_k> q_1{3, 4};
template <class S>
constexpr tensor<S, d_k> k_2{0, 2};
static_assert(dot_product{}(q_1<int>, k_2<int>) == 8);

// E010: 8/√2 = 5.65685; exactly it is 4√2.
constexpr interval s_12 = scaled_dot_product<interval>::of_dimension(2)(q_1<interval>, k_2<interval>);
static_assert(rounds_to(s_12, "5.65685") && rounds_to(s_12, "5.656854249492"));
static_assert(scaled_dot_product<exact>::of_dimension(2)(q_1<exact>, k_2<exact>) == 4 * root_two);

// E011: the printed step "8/1.41421 = 5.65685" has the right end; literally it is 5.65687.
constexpr interval literally = interval(8) / interval::decimal("1.41421");
static_assert(rounds_to(literally, "5.65687") && refutes(literally, "5.65685"));
// E012: √2 = 1.41421.
static_assert(rounds_to(sqrt(interval(2)), "1.41421") && rounds_to(sqrt(interval(2)), "1.414213562"));
// [/E009]

// [E013]
// E013, E025, E026: q_1 = k_1 = (1, 0), q_2 = k_2 = (0, 1): the raw scores are the identity, the scaled ones 1/√2 =
// 0.70711 on the diagonal.
template <class S>
constexpr vectors<S> retrieval{{1, 0}, {0, 1}};
static_assert(scores(retrieval<int>, retrieval<int>) == score_matrix<int>{{1, 0}, {0, 1}});
static_assert(scaled_scores(retrieval<exact>, retrieval<exact>) ==
              score_matrix<exact>{{1 / root_two, 0}, {0, 1 / root_two}});
constexpr auto s_retrieval = scaled_scores(retrieval<interval>, retrieval<interval>);
static_assert(rounds_to(s_retrieval(0, 0), "0.70711") && rounds_to(s_retrieval(0, 0), "0.707106781187"));
static_assert(surely(s_retrieval(0, 1) == 0) && surely(s_retrieval(1, 0) == 0) &&
              rounds_to(s_retrieval(1, 1), "0.70711"));
// [/E013]

// [E066]
// E066, E067, E071: q_1 = k_1 = (1, 1), q_2 = k_2 = (1, −1): raw 1+1 = 2 and 1−1 = 0, scaled 2/√2 = √2 = 1.41421 and 0.
template <class S>
constexpr vectors<S> symmetric{{1, 1}, {1, -1}};
static_assert(scores(symmetric<int>, symmetric<int>) == score_matrix<int>{{2, 0}, {0, 2}});
static_assert(scaled_scores(symmetric<exact>, symmetric<exact>) == score_matrix<exact>{{root_two, 0}, {0, root_two}});
constexpr auto s_symmetric = scaled_scores(symmetric<interval>, symmetric<interval>);
static_assert(rounds_to(s_symmetric(0, 0), "1.41421") && surely(s_symmetric(0, 1) == 0));
static_assert(rounds_to(s_symmetric(1, 1), "1.41421") && surely(s_symmetric(1, 0) == 0));
// [/E066]

// [E004]
// A048, A049, A052, E004: entry (i, j) of Q Kᵀ is q_i · k_j; row i is query i against every key.
constexpr vectors<int> q{{3, 4}, {1, -2}}, k{{5, 6}, {0, 2}};
static_assert(matmul(q, transpose(k)) == scores(q, k));
static_assert(scores(q, k) == score_matrix<int>{{3 * 5 + 4 * 6, 3 * 0 + 4 * 2}, {1 * 5 - 2 * 6, 1 * 0 - 2 * 2}});
// [/E004]

} // namespace
} // namespace attest::proofs
