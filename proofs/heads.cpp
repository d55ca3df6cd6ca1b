// SPDX-License-Identifier: BSL-1.0
// The lectures' heads: 512 components, eight heads of 64. Shapes are types, and the cost is counted.

#include "settle.hpp"
#include "whole_number.hpp"

#include "attest/gradient/multi_head.hpp"

#include <utility>

namespace attest::proofs {
namespace {

// Is `printed` this whole number?
constexpr bool prints(std::string_view printed, std::size_t number) { return spells(printed, "#", number); }
// Is it "above/below" of these two?
constexpr bool prints_ratio(std::string_view printed, std::size_t above, std::size_t below) { return spells(printed, "#/#", above, below); }

namespace configuration {

// [B021]
// The lectures' configuration: d_model = 512, H = 8, d_k = d_v = 512/8 = 64 (B023, B027, E044, E045).
struct n : axis<100> {};
struct d_model : axis<512> {};
struct H : axis<8> {};
struct d_k : per_head<d_model, H> {};
struct d_v : per_head<d_model, H> {};
using X = tensor<float, n, d_model>;
using weights = multi_head_weights<float, d_model, H, d_k, d_v>;

// B021: Q, K and V of all heads stand side by side; head h's are n × 64.
using all = decltype(project_heads(X{}, X{}, weights{}));
static_assert(std::same_as<decltype(all::q), tensor<float, n, heads<H, d_k>>>);
static_assert(std::same_as<decltype(all::k), tensor<float, n, heads<H, d_k>>>);
static_assert(std::same_as<decltype(all::v), tensor<float, n, heads<H, d_v>>>);
using one = decltype(head_inputs(all{}, weights{}, attention_how<>{}, 0));
static_assert(std::same_as<decltype(one::q), tensor<float, n, d_k>> && std::same_as<decltype(one::k), tensor<float, n, d_k>> &&
              std::same_as<decltype(one::v), tensor<float, n, d_v>>);
using head = decltype(attention(one{}.q, one{}.k, one{}.v));
// B022: Concat(head_1, …, head_8) W_O. E046: 8 · 64 = 512.
using concat = decltype(concatenated_heads(X{}, X{}, weights{}, attention_how<>{}));
static_assert(std::same_as<concat, tensor<float, n, heads<H, d_v>>>);
static_assert(std::same_as<decltype(multi_head_attention(X{}, weights{})), X>);

const entry B027 = settle("B027", holds([](const claim& c) {
                              return prints_ratio(c.number(0), d_model::size, H::size) && prints(c.number(1), axis_of<decltype(one::q), 1>::size) &&
                                     prints(c.number(2), d_model::size) && axis_of<decltype(one::q), 1>::size != d_model::size && c.value_reads("# = #, not #");
                          }));
const entry E044 = settle("E044", holds([](const claim& c) {
                              return prints_ratio(c.number(0), d_model::size, H::size) && prints(c.number(1), d_k::size) && c.value_reads("# = #");
                          }));
const entry E045 = settle("E045", holds([](const claim& c) {
                              return std::same_as<head, tensor<float, n, d_v>> && prints(c.number(), axis_of<head, 1>::size);
                          }));
const entry E046 = settle("E046", holds([](const claim& c) {
                              return std::same_as<axis_of<concat, 1>, heads<H, d_v>> && prints(c.number(0), H::size) && prints(c.number(1), d_v::size) &&
                                     prints(c.number(2), axis_of<concat, 1>::size) && c.value_reads("# × # = #");
                          }));
// [/B021]

// [B023]
// B023: an H that does not divide d_model gives no d_k; one that does gives H of them, side by side.
constexpr bool heads_share_48_components = []<std::size_t... H>(std::index_sequence<H...>) {
    const auto one_count = [](auto h) {
        constexpr std::size_t count = decltype(h)::size;
        if constexpr (!rules::heads_divide_model::holds<48, count>) return 48 % count != 0;
        else return heads<axis<count>, per_head<axis<48>, axis<count>>>::size == 48 && per_head<axis<48>, axis<count>>::size == 48 / count;
    };
    return (one_count(axis<H + 1>{}) && ...);
}(std::make_index_sequence<16>{});
const entry B023 = settle("B023", holds([] { return heads_share_48_components && !rules::heads_divide_model::holds<512, 7>; }));
// [/B023]

// [B025]
// B025, E047: W_O is 512 × 512 here; in general it has H · d_v rows and d_model columns.
template <class W>
constexpr bool is_square = axis_of<decltype(W::w_o), 0>::size == axis_of<decltype(W::w_o), 1>::size;
struct narrow : axis<32> {};
using narrow_weights = multi_head_weights<float, d_model, H, d_k, narrow>;
static_assert(!is_square<narrow_weights> && axis_of<decltype(narrow_weights::w_o), 0>::size == 256);
static_assert(std::same_as<decltype(multi_head_attention(X{}, narrow_weights{})), X>);
// Square or not, rows and columns are different axes.
static_assert(!meets<heads<H, d_v>, d_model>);
static_assert(!rules::output_row_for_each_head_component::holds<heads<H, d_v>, d_v>);

// Does the value name the rows, the columns and d_v of W_O, at the numbers from `first` on?
template <class W>
constexpr bool are_printed(const claim& c, std::size_t first) {
    using w_o = decltype(W::w_o);
    return prints(c.number(first), axis_of<w_o, 0>::size) && prints(c.number(first + 1), axis_of<w_o, 1>::size) &&
           prints(c.number(first + 2), axis_of<w_o, 0>::size / H::size);
}
// With d_k = d_v = d_model/H.
template <std::size_t Model, std::size_t Heads>
using equal_shares = multi_head_weights<float, axis<Model>, axis<Heads>, per_head<axis<Model>, axis<Heads>>, per_head<axis<Model>, axis<Heads>>>;
template <std::size_t... Heads>
constexpr bool are_square_of_48 = (is_square<equal_shares<48, Heads>> && ...);

const entry B025 = settle("B025", //
                          holds([](const claim& c) {
                              return is_square<weights> && are_printed<weights>(c, 0) && std::same_as<axis_of<decltype(weights::w_o), 1>, d_model> &&
                                     c.value_reads("# × # with d_v = #, # × # with d_v = #");
                          }),
                          holds([] { return are_square_of_48<1, 2, 3, 4, 6, 8, 12, 16, 24, 48>; }),
                          // Where d_v is another one, as the details say.
                          holds([](const claim& c) { return !is_square<narrow_weights> && are_printed<narrow_weights>(c, 3); }));
const entry E047 = settle("E047", holds([](const claim& c) {
                              using w_o = decltype(weights::w_o);
                              return prints(c.number(0), axis_of<w_o, 0>::size) && prints(c.number(1), axis_of<w_o, 1>::size) &&
                                     prints(c.number(2), axis_of<concat, 1>::size) && prints(c.number(3), axis_of<X, 1>::size) && c.value_reads("# × #; # to #");
                          }));
// [/B025]

// [E007]
// E007: the weights have no axis of the tokens, so that the same weights take other sequences, also longer ones; and each has a gradient.
struct n_longer : axis<300> {};
using X_longer = tensor<float, n_longer, d_model>;
using gradient = decltype(multi_head_attention_vjp(X{}, weights{}, attention_how<>{}, X{}));
template <class A, class T>
constexpr bool has_axis = std::same_as<axis_of<T, 0>, A> || std::same_as<axis_of<T, 1>, A>;
template <class A, class W>
constexpr bool weights_have_axis = has_axis<A, decltype(W::w_q)> || has_axis<A, decltype(W::w_k)> || has_axis<A, decltype(W::w_v)> ||
                                   has_axis<A, decltype(W::w_o)>;
const entry E007 = settle("E007", holds([] {
                              return !weights_have_axis<n, weights> && weights_have_axis<d_model, weights> &&
                                     std::same_as<decltype(multi_head_attention(X_longer{}, weights{})), X_longer> &&
                                     std::same_as<decltype(gradient::dw), weights>;
                          }));
// E008: scores, weights of attention and outputs have it.
using alpha = decltype(attention_weights(one{}.q, one{}.k));
static_assert(std::same_as<alpha, tensor<float, n, n>> && has_axis<n, head>);
// [/E007]

} // namespace configuration

namespace cost {

// What a formula does, counted while it runs.
struct counts {
    std::size_t products = 0, quotients = 0, exponentials = 0;
};
// A scalar that counts, and is no number.
class counting {
public:
    constexpr counting(int = 0) {} // NOLINT(google-explicit-constructor): as in every arithmetic
    constexpr explicit counting(counts* by) : by_{by} {}

    friend constexpr counting operator+(counting a, counting b) { return either(a, b); }
    friend constexpr counting operator-(counting a, counting b) { return either(a, b); }
    friend constexpr counting operator*(counting a, counting b) { return ++either(a, b).by_->products, either(a, b); }
    friend constexpr counting operator/(counting a, counting b) { return ++either(a, b).by_->quotients, either(a, b); }
    friend constexpr counting attest_exp(counting a) { return ++a.by_->exponentials, a; }
    friend constexpr counting attest_shift_point(counting a, counting) { return a; }

private:
    static constexpr counting either(counting a, counting b) { return a.by_ != nullptr ? a : b; }
    counts* by_ = nullptr;
};

// [E048]
// E048: products cost the same in 8 heads of 64 as in one of 512; exponentials and quotients are eight times as many.
constexpr counts counted(std::size_t n, std::size_t d_model, std::size_t n_heads, std::size_t d_k) {
    using some = axis<dynamic>;
    counts result;
    const auto fill = [&result](auto& x) {
        for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = counting(&result);
    };
    auto x = tensor<counting, some, some>::with_lengths(n, d_model);
    multi_head_weights<counting, some, some, some> w{.n_heads = n_heads, .n_kv_heads = n_heads};
    w.w_q = w.w_k = w.w_v = decltype(w.w_q)::with_lengths(d_model, n_heads * d_k);
    w.w_o = decltype(w.w_o)::with_lengths(n_heads * d_k, d_model);
    fill(x), fill(w.w_q), fill(w.w_k), fill(w.w_v), fill(w.w_o);
    static_cast<void>(multi_head_attention(x, w, attention_how{.mask = everything{}, .score = dot_product{}}));
    return result;
}
// Q, K, V and W_O; scores and weighted sums.
constexpr std::size_t projections(std::size_t n, std::size_t d_model, std::size_t n_heads, std::size_t d_k) { return 4 * n * d_model * (n_heads * d_k); }
constexpr std::size_t scores_and_sums(std::size_t n, std::size_t n_heads, std::size_t d_k) { return 2 * n * n * (n_heads * d_k); }
constexpr std::size_t exponentials(std::size_t n, std::size_t n_heads) { return n_heads * n * n; }
constexpr bool counts_are_as_said(std::size_t n, std::size_t d_model, std::size_t n_heads, std::size_t d_k) {
    const counts c = counted(n, d_model, n_heads, d_k);
    return c.products == projections(n, d_model, n_heads, d_k) + scores_and_sums(n, n_heads, d_k) &&
           c.exponentials == exponentials(n, n_heads) && c.quotients == exponentials(n, n_heads);
}
// If the counts are polynomials of degree 2 in n and 1 in the others, as loops over n, d_model, heads and components make them, this
// grid determines them. That they are is looked at where the grid does not reach: higher powers would show there.
constexpr bool counted_on_a_grid = [] {
    for (std::size_t n = 1; n <= 3; ++n)
        for (std::size_t others = 0; others < 8; ++others)
            if (!counts_are_as_said(n, 1 + others % 2, 1 + others / 2 % 2, 1 + others / 4)) return false;
    return true;
}();
constexpr bool counted_off_the_grid = counts_are_as_said(5, 3, 3, 4) && counts_are_as_said(4, 7, 1, 5) && counts_are_as_said(1, 4, 5, 3);
const entry E048 = settle("E048", holds([](const claim& c) {
                              using configuration::d_k, configuration::d_model, configuration::H;
                              constexpr std::size_t n = configuration::n::size, d = d_model::size;
                              return counted_on_a_grid && counted_off_the_grid && prints(c.number(2), n) && prints(c.number(3), H::size) && prints(c.number(4), 1) &&
                                     prints(c.number(0), projections(n, d, H::size, d_k::size)) && prints(c.number(0), projections(n, d, 1, d)) &&
                                     prints(c.number(1), scores_and_sums(n, H::size, d_k::size)) && prints(c.number(1), scores_and_sums(n, 1, d)) &&
                                     prints(c.number(5), exponentials(n, H::size) / exponentials(n, 1)) &&
                                     c.value_reads("# + # multiplications in the products at n = #, with # heads as with #; exponentials: # times as many");
                          }));
// [/E048]

} // namespace cost

} // namespace
} // namespace attest::proofs
