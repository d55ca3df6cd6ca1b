// SPDX-License-Identifier: BSL-1.0
// Projections and multi-head attention: the shapes of the lectures' configuration, and the laws that are exact.

#include "exact.hpp"

#include "attest/formula/multi_head.hpp"

namespace attest::proofs {
namespace {

// Number `index` of the matrices with a single 1. A law that is linear in a matrix, and holds for these, holds for all.
template <class A, class B>
constexpr tensor<int, A, B> unit(std::size_t index) {
    tensor<int, A, B> result;
    result.data()[index] = 1;
    return result;
}
template <class A, class B>
constexpr std::size_t units = A::size * B::size;

namespace configuration {

// [B021]
// The lectures' configuration: d_model = 512, H = 8, d_k = d_v = 512/8 = 64 (B023, B027, E044, E045).
struct n : axis<100> {};
struct d_model : axis<512> {};
struct H : axis<8> {};
struct d_k : per_head<d_model, H> {};
struct d_v : per_head<d_model, H> {};
static_assert(d_k::size == 64 && d_v::size == 64 && d_k::size != 512);
using X = tensor<float, n, d_model>;
using weights = multi_head_weights<float, d_model, H, d_k, d_v>;

// B021: Q, K and V of all heads stand side by side; head h's are n × 64.
using all = decltype(project_heads(X{}, X{}, weights{}));
static_assert(std::same_as<decltype(all::q), tensor<float, n, heads<H, d_k>>>);
static_assert(std::same_as<decltype(all::k), tensor<float, n, heads<H, d_k>>>);
static_assert(std::same_as<decltype(all::v), tensor<float, n, heads<H, d_v>>>);
using one = decltype(head_inputs(all{}, weights{}, attention_how<>{}, 0));
static_assert(std::same_as<decltype(one::q), tensor<float, n, d_k>> &&
              std::same_as<decltype(one::v), tensor<float, n, d_v>>);
using head = decltype(attention(one{}.q, one{}.k, one{}.v));
static_assert(std::same_as<head, tensor<float, n, d_v>>);
// B022: Concat(head_1, …, head_8) W_O. E046: 8 · 64 = 512.
using concat = decltype(concatenated_heads(X{}, X{}, weights{}, attention_how<>{}));
static_assert(std::same_as<concat, tensor<float, n, heads<H, d_v>>> && heads<H, d_v>::size == 512);
static_assert(std::same_as<decltype(multi_head_attention(X{}, weights{})), X>);
// [/B021]

// [B025]
// B025, E047: W_O is 512 × 512 here; in general it has H · d_v rows and d_model columns.
template <class W>
constexpr bool is_square = axis_of<decltype(W::w_o), 0>::size == axis_of<decltype(W::w_o), 1>::size;
static_assert(is_square<weights> && axis_of<decltype(weights::w_o), 0>::size == 512);
struct narrow : axis<32> {};
using narrow_weights = multi_head_weights<float, d_model, H, d_k, narrow>;
static_assert(!is_square<narrow_weights> && axis_of<decltype(narrow_weights::w_o), 0>::size == 256);
static_assert(std::same_as<decltype(multi_head_attention(X{}, narrow_weights{})), X>);
// Square or not, rows and columns are different axes.
static_assert(!meets<heads<H, d_v>, d_model>);
static_assert(rules::output_row_for_each_head_component::holds<heads<H, d_v>, heads<H, d_v>>);
static_assert(!rules::output_row_for_each_head_component::holds<heads<H, d_v>, d_v>);
// [/B025]

// [E048]
// E048: products cost the same as in one head of 512; n = 100 tokens. (The exponentials are eight times as many: H · n².)
constexpr long long projections(long long d, long long h, long long per_head) { return 4 * 100 * d * (h * per_head); }
constexpr long long scores_and_values(long long h, long long per_head) { return 2 * 100 * 100 * (h * per_head); }
static_assert(projections(512, 8, 64) == projections(512, 1, 512) && projections(512, 8, 64) == 104'857'600);
static_assert(scores_and_values(8, 64) == scores_and_values(1, 512) && scores_and_values(8, 64) == 10'240'000);
// [/E048]

} // namespace configuration

namespace layouts {

struct n : axis<2> {};
struct d : axis<3> {};
struct d_k : axis<2> {};

// [B016]
// B016: "q = W x" and, twelve lines later, "X W" with the same W. The shapes are transposes of each other:
using column_convention = tensor<int, d_k, d>;
using row_convention = tensor<int, d, d_k>;
static_assert(std::same_as<decltype(project_out_in(tensor<int, d>{}, column_convention{})), tensor<int, d_k>>);
static_assert(std::same_as<decltype(project_in_out(tensor<int, n, d>{}, row_convention{})), tensor<int, n, d_k>>);
static_assert(rules::weight_column_for_each_input::holds<d, axis_of<column_convention, 1>>);
static_assert(!rules::weight_column_for_each_input::holds<d, axis_of<row_convention, 1>>);
static_assert(!rules::weight_row_for_each_input::holds<d, axis_of<column_convention, 0>>);
// and with transposed weights the two are the same, for all X and W: both sides are linear in each.
constexpr bool transposed_weights_agree = [] {
    for (std::size_t i = 0; i < units<n, d>; ++i)
        for (std::size_t j = 0; j < units<d, d_k>; ++j) {
            const auto x = unit<n, d>(i);
            const auto w = unit<d, d_k>(j);
            const auto y = project_in_out(x, w), z = project_out_in(x, transpose(w));
            if (!(y == z)) return false;
            for (std::size_t t = 0; t < n::size; ++t) // token by token
                if (!(project_out_in(x[t], transpose(w)) == y[t] && project_in_out(x[t], w) == y[t])) return false;
        }
    return true;
}();
static_assert(transposed_weights_agree);
// A square W fits in both, and then they differ.
constexpr tensor<int, axis<2>> token{1, 0};
constexpr tensor<int, axis<2>, axis<2>> square{{1, 2}, {3, 4}};
static_assert(project_in_out(token, square) == tensor<int, axis<2>>{1, 2});
static_assert(project_out_in(token, square) == tensor<int, axis<2>>{1, 3});
// [/B016]

// [A062]
// A060, A062: V (n × d_v) = X (n × d) W_V (d × d_v): W_V has a row for each component, not for each token.
static_assert(rules::weight_row_for_each_input::holds<d, d> && !rules::weight_row_for_each_input::holds<d, n>);
// E051: "no information loss" is wrong: what lies in the kernel of W_V is gone.
constexpr tensor<int, d, d_k> W_V{{1, 0}, {0, 1}, {1, 1}};
static_assert(project_in_out(tensor<int, d>{1, 1, -1}, W_V) == tensor<int, d_k>{0, 0});
// [/A062]

} // namespace layouts

namespace mixing {

struct n : axis<2> {};
struct d_model : axis<3> {};
struct H : axis<2> {};
struct d_v : axis<2> {};

// [B026]
// B026: Concat(head_1, …, head_H) W_O = Σ_h head_h W_O,h, where W_O,h is rows h·d_v to (h + 1)·d_v of W_O; for all
// heads and W_O.
constexpr bool output_is_a_sum_over_heads = [] {
    for (std::size_t i = 0; i < units<n, heads<H, d_v>>; ++i)
        for (std::size_t j = 0; j < units<heads<H, d_v>, d_model>; ++j) {
            const auto concat = unit<n, heads<H, d_v>>(i);
            const auto w_o = unit<heads<H, d_v>, d_model>(j);
            tensor<int, n, d_model> sum;
            for (std::size_t h = 0; h < H::size; ++h) {
                const view<const int, d_v, d_model> rows(w_o.data() + h * d_v::size * d_model::size, {});
                const auto part = matmul(head_columns<d_v>(concat, h, d_v::size), rows);
                for (std::size_t e = 0; e < sum.elements(); ++e) sum.data()[e] += part.data()[e];
            }
            if (!(sum == matmul(concat, w_o))) return false;
        }
    return true;
}();
static_assert(output_is_a_sum_over_heads);
// [/B026]

// [order]
// Hence heads have no order: two heads with their columns and rows exchanged give the same output. Exactly, softmax
// and all: scores are whole numbers of log 2.
struct one : axis<1> {};
using weights = multi_head_weights<exact, d_model, H, one>;
constexpr attention_how by_dot_product{.mask = everything{}, .score = dot_product{}};
constexpr tensor<exact, n, d_model> x{{1, 0, 2}, {-1, 1, 0}};
constexpr weights w{.w_q = {{1, 0}, {0, 1}, {1, -1}},
                    .w_k = {{0, 1}, {2, 1}, {1, 0}},
                    .w_v = {{1, 2}, {3, 4}, {5, 6}},
                    .w_o = {{1, 2, 3}, {-1, 0, 1}}};
constexpr weights exchanged{.w_q = {{0, 1}, {1, 0}, {-1, 1}},
                            .w_k = {{1, 0}, {1, 2}, {0, 1}},
                            .w_v = {{2, 1}, {4, 3}, {6, 5}},
                            .w_o = {{-1, 0, 1}, {1, 2, 3}}};
constexpr auto y = multi_head_attention(x, w, by_dot_product);
static_assert(multi_head_attention(x, exchanged, by_dot_product) == y);
// W_O left as it was is another function.
constexpr weights forgotten{.w_q = exchanged.w_q, .w_k = exchanged.w_k, .w_v = exchanged.w_v, .w_o = w.w_o};
static_assert(!(multi_head_attention(x, forgotten, by_dot_product) == y));
// [/order]

// [grouped]
// Query head h reads key-value head ⌊h·H_kv/H⌋: of eight heads over two, the first four read the first. Key-value head
// g is filled with g + 1 here.
struct eight : axis<8> {};
struct two : axis<2> {};
template <class HKV>
constexpr int head_read_by(std::size_t h) {
    multi_head_weights<int, one, eight, one, one, HKV> shared;
    for (std::size_t g = 0; g < HKV::size; ++g) shared.w_k(0, g) = shared.w_v(0, g) = static_cast<int>(g) + 1;
    const tensor<int, one, one> token{{1}};
    const auto in = head_inputs(project_heads(token, token, shared), shared, attention_how<>{}, h);
    return in.k(0, 0) == in.v(0, 0) ? in.k(0, 0) - 1 : -1;
}
constexpr bool repeated_not_tiled = [] {
    for (std::size_t h = 0; h < 8; ++h)
        if (head_read_by<two>(h) != (h < 4 ? 0 : 1) || head_read_by<one>(h) != 0 ||
            head_read_by<eight>(h) != static_cast<int>(h))
            return false;
    return true;
}();
static_assert(repeated_not_tiled);
struct three : axis<3> {};
static_assert(rules::key_value_heads_divide_heads::holds<eight, two> &&
              !rules::key_value_heads_divide_heads::holds<eight, three>);
// [/grouped]

} // namespace mixing

namespace streams {

// [B056]
// B055 to B059: queries from the decoder, keys and values from the encoder. Both streams have four tokens here; their
// names tell them apart.
struct decoder : axis<4> {};
struct encoder : axis<4> {};
struct d_model : axis<6> {};
struct d_memory : axis<5> {};
struct H : axis<2> {};
struct d_k : axis<3> {};
using weights = multi_head_weights<double, d_model, H, d_k, d_k, H, d_memory>;
using hidden = tensor<double, decoder, d_model>;
using memory = tensor<double, encoder, d_memory>;
static_assert(std::same_as<decltype(multi_head_attention(hidden{}, memory{}, weights{})), hidden>);
using all = decltype(project_heads(hidden{}, memory{}, weights{}));
static_assert(std::same_as<axis_of<decltype(all::q), 0>, decoder>);
static_assert(std::same_as<axis_of<decltype(all::k), 0>, encoder> && std::same_as<axis_of<decltype(all::v), 0>, encoder>);
// The weights are n_dec × n_enc.
using q = tensor<double, decoder, d_k>;
using k = tensor<double, encoder, d_k>;
static_assert(std::same_as<decltype(attention_weights(q{}, k{})), tensor<double, decoder, encoder>>);
// B059: keys from one stream and values from the other do not fit, in either order.
static_assert(rules::value_for_each_key::holds<encoder, encoder>);
static_assert(!rules::value_for_each_key::holds<decoder, encoder> &&
              !rules::value_for_each_key::holds<encoder, decoder>);
// B056: "K = V = encoder output" holds before the projections alone: K = M W_K and V = M W_V differ.
constexpr tensor<int, axis<1>, axis<2>> M{{1, 2}};
constexpr tensor<int, axis<2>, axis<1>> W_K{{1}, {0}}, W_V{{0}, {1}};
static_assert(project_in_out(M, W_K)(0, 0) == 1 && project_in_out(M, W_V)(0, 0) == 2);
// [/B056]

} // namespace streams

} // namespace
} // namespace attest::proofs
