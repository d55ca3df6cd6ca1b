// SPDX-License-Identifier: BSL-1.0
// Shapes: what the compiler decides from types alone. Nothing is computed here.

#include "attest/formula/attention.hpp"
#include "attest/shape/heads.hpp"

namespace attest::proofs {
namespace {

// [E053]
// E053: Q, K are 3 × 4 (rows are tokens, columns d_k). E054: V is 3 × 5.
struct tokens : axis<3> {};
struct d_k : axis<4> {};
struct d_v : axis<5> {};
using Q = tensor<double, tokens, d_k>;
using K = tensor<double, tokens, d_k>;
using V = tensor<double, tokens, d_v>;

// E055: Q Kᵀ is 3 × 3. E056: softmax keeps the shape. E057: Z = weights · V is 3 × 5, a row a token, as wide as the
// values.
using scores_type = decltype(matmul(Q{}, transpose(K{})));
using weights_type = decltype(softmax(scores_type{}));
using output_type = decltype(matmul(weights_type{}, V{}));
static_assert(std::same_as<scores_type, tensor<double, tokens, tokens>>);
static_assert(std::same_as<weights_type, tensor<double, tokens, tokens>>);
static_assert(std::same_as<output_type, tensor<double, tokens, d_v>>);
static_assert(tokens::size == 3 && d_k::size == 4 && d_v::size == 5);
// A067, A069: attention in one step has the same shape, n × d_v.
static_assert(std::same_as<decltype(attention(Q{}, K{}, V{})), output_type>);
// A015 prints softmax(Q Kᵀ/√d_k) without V: that is another shape.
static_assert(!std::same_as<decltype(attention_weights(Q{}, K{})), output_type>);
// [/E053]

// [A053]
// A053: "n × n" is self-attention; in general the weights are n_q × n_k, and the types keep queries and keys apart even
// where both are six.
struct queries : axis<6> {};
struct keys : axis<6> {};
using cross_Q = tensor<double, queries, d_k>;
using cross_K = tensor<double, keys, d_k>;
using cross_V = tensor<double, keys, d_v>;
static_assert(std::same_as<decltype(attention_weights(cross_Q{}, cross_K{})), tensor<double, queries, keys>>);
// A066: (n_q × n_k weights) · (n_k × d_v values) is n_q × d_v.
static_assert(std::same_as<decltype(matmul(tensor<double, queries, keys>{}, cross_V{})), tensor<double, queries, d_v>>);
static_assert(std::same_as<decltype(attention(cross_Q{}, cross_K{}, cross_V{})), tensor<double, queries, d_v>>);
// A068: one output, Σ_j α_1j v_j, is a vector of d_v components, from one weight for each key.
using one_output = decltype(attend(tensor<double, d_k>{}, cross_K{}, cross_V{}, 0, everything{}, dot_product{}));
static_assert(std::same_as<decltype(one_output::out), tensor<double, d_v>>);
static_assert(std::same_as<decltype(one_output::weights), tensor<double, keys>>);
// [/A053]

// [B023]
// B023, B027, E044: H heads of d_k = d_model / H components: 512/8 = 64, not 512. H must divide d_model: 7 does not
// divide 512.
struct d_model : axis<512> {};
struct H : axis<8> {};
struct head_k : per_head<d_model, H> {};
struct head_v : per_head<d_model, H> {};
static_assert(head_k::size == 64 && head_k::size != 512);
static_assert(rules::heads_divide_model::holds<512, 8>);
static_assert(!rules::heads_divide_model::holds<512, 7> && !rules::heads_divide_model::holds<512, 0>);
// E045, E046: side by side the heads are as wide as the model again, 8 · 64 = 512.
static_assert(heads<H, head_v>::size == 512);
// Of equal length, and yet three different axes.
static_assert(!meets<head_k, head_v> && !meets<heads<H, head_v>, d_model>);
// [/B023]

// [rules]
// What must not compile is the negation of a rule's predicate.
// A008, B002: queries and keys have the same d_k.
static_assert(rules::query_key_dimension::holds<d_k, d_k>);
static_assert(!rules::query_key_dimension::holds<d_k, tokens> && !rules::query_key_dimension::holds<head_k, head_v>);
// A066, B057: one value for each key.
static_assert(rules::value_for_each_key::holds<keys, keys>);
static_assert(!rules::value_for_each_key::holds<keys, queries> && !rules::value_for_each_key::holds<keys, tokens>);
// Row i of a mask belongs to query i, column j to key j.
static_assert(rules::mask_row_for_each_query::holds<queries, queries> &&
              !rules::mask_row_for_each_query::holds<queries, keys>);
static_assert(rules::mask_column_for_each_key::holds<keys, keys> &&
              !rules::mask_column_for_each_key::holds<keys, queries>);
// A B needs a row of B for each column of A; element by element, shapes are the same.
static_assert(rules::inner_dimension::holds<d_v, d_v> && !rules::inner_dimension::holds<d_k, d_v>);
static_assert(rules::same_shape::holds<d_v, d_v> && !rules::same_shape::holds<queries, keys>);
// [/rules]

// [meeting]
// How axes meet. Named fixed axes meet themselves alone; equal length is not enough.
static_assert(meets<queries, queries> && !meets<queries, keys> && !meets<queries, tokens>);
// An axis without a name meets any of its length.
static_assert(meets<axis<6>, queries> && meets<queries, axis<6>> && !meets<axis<7>, queries> &&
              !meets<axis<6>, axis<7>>);
// A dynamic axis without a name meets anything; with a name, itself and axes without a name. Lengths are compared at
// run time then.
struct any_length : axis<dynamic> {};
static_assert(meets<axis<dynamic>, queries> && meets<axis<dynamic>, any_length> && meets<axis<dynamic>, axis<dynamic>>);
static_assert(meets<any_length, any_length> && meets<any_length, axis<6>> && !meets<any_length, queries>);

// The axis of the result is the named one, else the fixed one.
static_assert(std::same_as<joined<queries, axis<6>>, queries> && std::same_as<joined<axis<6>, queries>, queries>);
static_assert(std::same_as<joined<axis<dynamic>, queries>, queries> &&
              std::same_as<joined<any_length, axis<6>>, any_length>);
static_assert(std::same_as<joined<axis<dynamic>, axis<6>>, axis<6>> &&
              std::same_as<joined<axis<6>, axis<dynamic>>, axis<6>>);
static_assert(std::same_as<joined<axis<dynamic>, axis<dynamic>>, axis<dynamic>>);
// [/meeting]

} // namespace
} // namespace attest::proofs
