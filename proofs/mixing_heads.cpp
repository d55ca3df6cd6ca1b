// SPDX-License-Identifier: BSL-1.0
// What several heads are together: side by side, in an order, mixed by W_O; and what cannot be told from outside.

#include "exact.hpp"
#include "identity.hpp"
#include "settle.hpp"
#include "unit_matrices.hpp"

#include "attest/formula/multi_head.hpp"

namespace attest::proofs {
namespace {

namespace mixing {

struct n : axis<2> {};
struct d_model : axis<3> {};
struct H : axis<2> {};
struct d_v : axis<2> {};

// [B026]
// B026: Concat(head_1, …, head_H) W_O = Σ_h head_h W_O,h, where W_O,h is rows h·d_v to (h + 1)·d_v of W_O; for all heads and W_O. Where each token
// sees itself alone its heads are its values, and with the first two unit vectors as tokens these are the first two rows of W_V: any heads.
struct one : axis<1> {};
template <class S>
using weights_of = multi_head_weights<S, d_model, H, one, d_v>;
template <class S>
constexpr auto rows_of_head(const tensor<S, heads<H, d_v>, d_model>& w_o, std::size_t h) {
    return view<const S, d_v, d_model>(w_o.data() + h * d_v::size * d_model::size, {});
}
constexpr attention_how each_sees_itself{.mask = sliding_window{0, 0}, .score = dot_product{}};
constexpr tensor<exact, n, d_model> unit_tokens{{1, 0, 0}, {0, 1, 0}};
constexpr auto with_heads = [](const tensor<int, n, heads<H, d_v>>& concat, const tensor<int, heads<H, d_v>, d_model>& w_o) {
    weights_of<exact> w;
    for (std::size_t e = 0; e < concat.elements(); ++e) w.w_v.data()[e] = concat.data()[e];
    for (std::size_t e = 0; e < w_o.elements(); ++e) w.w_o.data()[e] = w_o.data()[e];
    return multi_head_attention(unit_tokens, w, each_sees_itself);
};
constexpr bool output_is_a_sum_over_heads = [] {
    for (std::size_t i = 0; i < units<n, heads<H, d_v>>; ++i)
        for (std::size_t j = 0; j < units<heads<H, d_v>, d_model>; ++j) {
            const auto concat = unit<n, heads<H, d_v>>(i);
            const auto w_o = unit<heads<H, d_v>, d_model>(j);
            tensor<int, n, d_model> sum;
            for (std::size_t h = 0; h < H::size; ++h) {
                const auto part = matmul(head_columns<d_v>(concat, h, d_v::size), rows_of_head(w_o, h));
                for (std::size_t e = 0; e < sum.elements(); ++e) sum.data()[e] += part.data()[e];
            }
            const auto output = with_heads(concat, w_o);
            for (std::size_t e = 0; e < sum.elements(); ++e)
                if (!(output.data()[e] == exact(sum.data()[e]))) return false;
        }
    return true;
}();
// Each component of an output depends on every head.
constexpr bool every_head_is_in_every_component = [] {
    tensor<int, heads<H, d_v>, d_model> w_o;
    for (std::size_t e = 0; e < w_o.elements(); ++e) w_o.data()[e] = 1;
    for (std::size_t of_head = 0; of_head < units<H, d_v>; ++of_head) // one component of one head of the first token is 1
        if (!(with_heads(unit<n, heads<H, d_v>>(of_head), w_o) == tensor<exact, n, d_model>{{1, 1, 1}, {0, 0, 0}})) return false;
    return true;
}();
// And with softmax: head_h = Attention(X W_Q,h, X W_K,h, X W_V,h). This is an identity (probabilistic), and so no part of what is said to be proved.
constexpr auto output_is_a_sum_over_attention = [](draw& f) {
    weights_of<field> w;
    w.w_q = f.matrix<d_model, heads<H, one>>();
    w.w_k = f.matrix<d_model, heads<H, one>>();
    w.w_v = f.matrix<d_model, heads<H, d_v>>();
    w.w_o = f.matrix<heads<H, d_v>, d_model>();
    const auto X = f.matrix<n, d_model>();
    tensor<field, n, d_model> sum;
    for (std::size_t h = 0; h < H::size; ++h) {
        const auto head = attention(matmul(X, head_columns<one>(w.w_q, h, 1)), matmul(X, head_columns<one>(w.w_k, h, 1)),
                                    matmul(X, head_columns<d_v>(w.w_v, h, d_v::size)), everything{}, dot_product{});
        const auto part = matmul(head, rows_of_head(w.w_o, h));
        for (std::size_t e = 0; e < sum.elements(); ++e) sum.data()[e] = sum.data()[e] + part.data()[e];
    }
    return agree(multi_head_attention(X, w, attention_how{.mask = everything{}, .score = dot_product{}}), sum);
};
static_assert(identity(4, output_is_a_sum_over_attention));
const entry B026 = settle("B026", holds([] { return output_is_a_sum_over_heads && every_head_is_in_every_component; }));
// [/B026]

// [order]
// A020: heads stand side by side, in an order: two heads exchanged give another output, unless the rows of W_O are exchanged too. Exactly, softmax and
// all: scores are whole numbers of log 2.
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
constexpr weights forgotten{.w_q = exchanged.w_q, .w_k = exchanged.w_k, .w_v = exchanged.w_v, .w_o = w.w_o};
constexpr auto y = multi_head_attention(x, w, by_dot_product);
// Nor does it commute to apply one head to the output of another. Where all scores are 0 a head is the mean of the values.
constexpr tensor<exact, d_v, d_v> W_1{{1, 1}, {0, 1}}, W_2{{1, 0}, {1, 1}};
constexpr auto mean_of = [](const tensor<exact, n, d_v>& tokens, const tensor<exact, d_v, d_v>& W_V) {
    const tensor<exact, n, d_v> nothing;
    return attention(nothing, nothing, matmul(tokens, W_V), everything{}, dot_product{});
};
constexpr tensor<exact, n, d_v> tokens{{1, 2}, {3, 0}};

// The heads of w in turn: head h becomes head h + 1, and the last the first. For all inputs and weights.
struct three : axis<3> {};
constexpr auto in_turn = [](const auto& of_heads, std::size_t d, bool rows) {
    auto result = of_heads;
    for (std::size_t i = 0; i < of_heads.length(0); ++i)
        for (std::size_t c = 0; c < of_heads.length(1); ++c) {
            if (rows) result((i + d) % of_heads.length(0), c) = of_heads(i, c);
            else result(i, (c + d) % of_heads.length(1)) = of_heads(i, c);
        }
    return result;
};
constexpr auto three_heads_in_turn = [](draw& f, bool with_w_o) {
    multi_head_weights<field, d_model, three, one, d_v> u;
    u.w_q = f.matrix<d_model, heads<three, one>>();
    u.w_k = f.matrix<d_model, heads<three, one>>();
    u.w_v = f.matrix<d_model, heads<three, d_v>>();
    u.w_o = f.matrix<heads<three, d_v>, d_model>();
    auto v = u;
    v.w_q = in_turn(u.w_q, 1, false);
    v.w_k = in_turn(u.w_k, 1, false);
    v.w_v = in_turn(u.w_v, 2, false);
    if (with_w_o) v.w_o = in_turn(u.w_o, 2, true);
    const auto input = f.matrix<n, d_model>();
    const attention_how how{.mask = everything{}, .score = dot_product{}};
    return agree(multi_head_attention(input, u, how), multi_head_attention(input, v, how));
};
const entry A020 = settle("A020", fails_as_printed([] { return !(multi_head_attention(x, forgotten, by_dot_product) == y); }),
                          fails_as_printed([] { return !(mean_of(mean_of(tokens, W_1), W_2) == mean_of(mean_of(tokens, W_2), W_1)); }),
                          fails_as_printed([] { return no_identity([](draw& f) { return three_heads_in_turn(f, false); }); }),
                          holds_corrected([] { return multi_head_attention(x, exchanged, by_dot_product) == y && output_is_a_sum_over_heads; }),
                          holds_corrected([](const claim& c) { return identity(c.points_with_exp(), [](draw& f) { return three_heads_in_turn(f, true); }); }));
// [/order]

// [E008]
// E008: another input, and with the same weights alpha and z are others. (Their axes are those of the tokens: `alpha` above.)
constexpr tensor<exact, n, d_model> other_x{{0, 1, 1}, {-1, 1, 0}};
constexpr auto alpha_of = [](const auto& input) {
    const auto in = head_inputs(project_heads(input, input, w), w, by_dot_product, 0);
    return softmax(scores(in.q, in.k));
};
const entry E008 = settle("E008", holds([] {
                              return std::same_as<decltype(alpha_of(x)), tensor<exact, n, n>> && !(alpha_of(x) == alpha_of(other_x)) &&
                                     !(concatenated_heads(x, x, w, by_dot_product) == concatenated_heads(other_x, other_x, w, by_dot_product));
                          }));
// [/E008]

// [A022]
// A022: queries by W_Q M and keys by W_K M^-T give the same scores as W_Q and W_K, for every invertible M: no outside view tells them apart.
// With M^-1 = adj(M)/det(M):  (W_Q M)(W_K adj(M)ᵀ)ᵀ = det(M) W_Q W_Kᵀ.  One row of W_Q and of W_K at a time.
using square = tensor<int, d_v, d_v>;
constexpr bool same_product_for_every_M = [] {
    for (int grid = 0; grid < 81; ++grid) {
        const int a = grid % 3, b = grid / 3 % 3, c = grid / 9 % 3, d = grid / 27;
        const square M{{a, b}, {c, d}}, adjugate{{d, -b}, {-c, a}};
        for (std::size_t row = 0; row < 4; ++row) {
            const auto w_q = unit<one, d_v>(row % 2), w_k = unit<one, d_v>(row / 2);
            const auto product = matmul(matmul(w_q, M), transpose(matmul(w_k, transpose(adjugate))));
            if (product(0, 0) != (a * d - b * c) * matmul(w_q, transpose(w_k))(0, 0)) return false;
        }
    }
    return true;
}();
// Other weights they are: M = (2 1; 1 1), whose inverse is (1 -1; -1 2).
static_assert(!(matmul(square{{1, 0}, {0, 1}}, square{{2, 1}, {1, 1}}) == square{{1, 0}, {0, 1}}));

template <class D>
constexpr auto inverse(const tensor<field, D, D>& M) {
    tensor<field, D, D> result;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) { // cofactors, by cyclic indices
            const std::size_t i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            result(j, i) = M(i1, j1) * M(i2, j2) - M(i1, j2) * M(i2, j1);
        }
    const field determinant = M(0, 0) * result(0, 0) + M(0, 1) * result(1, 0) + M(0, 2) * result(2, 0);
    for (std::size_t e = 0; e < 9; ++e) result.data()[e] = result.data()[e] / determinant;
    return result;
}
// And of 3 × 3 matrices, and the output of attention: an identity (probabilistic), and so no part of what is said to be proved.
static_assert(identity(4, [](draw& f) {
    const auto M = f.matrix<three, three>();
    const auto w_q = f.matrix<d_v, three>(), w_k = f.matrix<d_v, three>(); // 2 × 3: d_model is 2 here
    const auto w_q_ = matmul(w_q, M), w_k_ = matmul(w_k, transpose(inverse(M)));
    const auto input = f.matrix<n, d_v>(), v = f.matrix<n, d_v>();
    const auto z = attention(matmul(input, w_q), matmul(input, w_k), v, everything{}, dot_product{});
    const auto z_ = attention(matmul(input, w_q_), matmul(input, w_k_), v, everything{}, dot_product{});
    return agree(matmul(w_q_, transpose(w_k_)), matmul(w_q, transpose(w_k))) & agree(z_, z);
}));
const entry A022 = settle("A022", holds([] { return same_product_for_every_M; }));
// [/A022]

// [grouped]
// Query head h reads key-value head ⌊h·H_kv/H⌋: of eight heads over two, the first four read the first. Key-value head g is filled with g + 1 here.
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
        if (head_read_by<two>(h) != (h < 4 ? 0 : 1) || head_read_by<one>(h) != 0 || head_read_by<eight>(h) != static_cast<int>(h)) return false;
    return true;
}();
static_assert(repeated_not_tiled);
static_assert(rules::key_value_heads_divide_heads::holds<eight, two> && !rules::key_value_heads_divide_heads::holds<eight, three>);
// [/grouped]

} // namespace mixing

} // namespace
} // namespace attest::proofs
