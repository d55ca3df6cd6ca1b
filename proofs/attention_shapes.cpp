// SPDX-License-Identifier: BSL-1.0
// The shapes of attention. Nothing is computed here: types decide.

#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/formula/attention.hpp"

namespace attest::proofs {
namespace {

struct queries : axis<3> {};
struct keys : axis<4> {};
struct d_k : axis<2> {};
struct d_q : axis<3> {}; // another one
struct d_v : axis<5> {};

// [shapes]
template <axis_type N, axis_type DK, axis_type DV>
using output_of = decltype(attention(tensor<double, N, DK>{}, tensor<double, N, DK>{}, tensor<double, N, DV>{}));
template <axis_type NQ, axis_type NK>
using weights_between = decltype(attention_weights(tensor<double, NQ, d_k>{}, tensor<double, NK, d_k>{}));

const entry A053 = settle("A053", holds([] {
                              return std::same_as<weights_between<queries, queries>, tensor<double, queries, queries>> &&
                                     std::same_as<weights_between<queries, keys>, tensor<double, queries, keys>>;
                          }));
const entry A064 = settle("A064", holds([] { // whatever d_k is
                              return std::same_as<output_of<queries, d_k, d_v>, tensor<double, queries, d_v>> &&
                                     std::same_as<output_of<queries, d_q, d_v>, tensor<double, queries, d_v>> &&
                                     std::same_as<output_of<queries, d_k, d_q>, tensor<double, queries, d_q>>;
                          }));
const entry A066 =
    settle("A066", holds([] {
               return std::same_as<decltype(matmul(weights_between<queries, queries>{}, tensor<double, queries, d_v>{})),
                                   tensor<double, queries, d_v>> &&
                      rules::value_for_each_key::holds<queries, queries> && !rules::value_for_each_key::holds<queries, keys>;
           }));
const entry A069 = settle("A069", holds([] { return std::same_as<output_of<queries, d_k, d_v>, tensor<double, queries, d_v>>; }));
const entry B020 = settle("B020", holds([] {
                              return rules::query_key_dimension::holds<d_k, d_k> && !rules::query_key_dimension::holds<d_k, d_v> &&
                                     std::same_as<output_of<queries, d_k, d_k>, tensor<double, queries, d_k>> &&
                                     std::same_as<output_of<queries, d_k, d_v>, tensor<double, queries, d_v>>;
                          }));
// [/shapes]

// [E054]
struct three : axis<3> {};
struct four : axis<4> {};
struct five : axis<5> {};
using Z = output_of<three, four, five>;
constexpr bool is(std::size_t length, std::string_view printed) { return spells(printed, "#", length); }

const entry E054 =
    settle("E054",
           holds("3",
                 [](std::string_view printed) {
                     return is(three::size, printed) && rules::value_for_each_key::holds<axis_of<Z, 0>, three>;
                 }),
           holds("5", [](std::string_view printed) { return is(five::size, printed) && std::same_as<axis_of<Z, 1>, five>; }));
const entry E057 = settle(
    "E057", holds("3", [](std::string_view printed) { return is(Z{}.length(0), printed) && std::same_as<axis_of<Z, 0>, three>; }),
    holds("5", [](std::string_view printed) { return is(Z{}.length(1), printed) && std::same_as<axis_of<Z, 1>, five>; }));
// [/E054]

} // namespace
} // namespace attest::proofs
