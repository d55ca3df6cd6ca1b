// SPDX-License-Identifier: BSL-1.0
// Dropout, attention sinks, and families of masks: what they are, and what `&` makes of two of them.

#include "identity.hpp"

#include "attest/formula/attention.hpp"
#include "attest/formula/mask_extras.hpp"

namespace attest::proofs {
namespace {

struct queries : axis<2> {};
struct keys : axis<3> {};
struct d_k : axis<4> {};
struct d_v : axis<2> {};
constexpr tensor<bool, queries, keys> kept{{true, true, false}, {false, true, true}},
    kept_too{{true, false, true}, {true, true, false}};

// What is masked, and an independent definition of it: e^{s_ij} of every pair, 0 where j is hidden from i.
struct attended {
    tensor<field, queries, d_k> q;
    tensor<field, keys, d_k> k;
    tensor<field, keys, d_v> v;
    scaled_dot_product<field> score;

    template <class Hidden>
    constexpr tensor<field, queries, keys> e_to_scores(const Hidden& hidden) const {
        tensor<field, queries, keys> e;
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t j = 0; j < 3; ++j)
                if (!hidden(i, j))
                    e(i, j) = exp((q(i, 0) * k(j, 0) + q(i, 1) * k(j, 1) + q(i, 2) * k(j, 2) + q(i, 3) * k(j, 3)) *
                                  score.scale);
        return e;
    }
    // z_ic = Σ_j f_ij e_ij v_jc / (Σ_j e_ij + e^sink)
    template <class Factor>
    constexpr tensor<field, queries, d_v> output(const tensor<field, queries, keys>& e, const Factor& factor,
                                                 const field& e_to_sink) const {
        tensor<field, queries, d_v> z;
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t c = 0; c < 2; ++c)
                z(i, c) = (factor(i, 0) * e(i, 0) * v(0, c) + factor(i, 1) * e(i, 1) * v(1, c) +
                           factor(i, 2) * e(i, 2) * v(2, c)) /
                          (e(i, 0) + e(i, 1) + e(i, 2) + e_to_sink);
        return z;
    }
    template <mask M>
    constexpr auto under(const M& mask) const {
        return attention(q, k, v, mask, score);
    }
};
constexpr attended free_attention(draw& x) {
    return {x.matrix<queries, d_k>(), x.matrix<keys, d_k>(), x.matrix<keys, d_v>(), {x.number()}};
}
constexpr auto nothing = [](std::size_t, std::size_t) { return false; };
constexpr auto future = [](std::size_t i, std::size_t j) { return j > i; };

// [dropout]
// Dropout multiplies weights, after softmax: by the scale where kept, by 0 elsewhere. The denominator is that of all
// visible keys.
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    const dropout_mask drop{kept, x.number()}, drop_too{kept_too, x.number()};
    const auto factor = [&drop](std::size_t i, std::size_t j) { return kept(i, j) ? drop.scale : field(0); };
    const auto both = [&drop, &drop_too](std::size_t i, std::size_t j) {
        return kept(i, j) && kept_too(i, j) ? drop.scale * drop_too.scale : field(0);
    };
    const auto e = of.e_to_scores(nothing), e_causal = of.e_to_scores(future);
    const auto causal = of.output(e_causal, factor, 0);
    return agree(of.under(drop), of.output(e, factor, 0)) & agree(of.under(drop & causal_top_left{}), causal) &
           agree(of.under(causal_top_left{} & drop), causal) & agree(of.under(drop & drop_too), of.output(e, both, 0));
}));
// [/dropout]

// [sink]
// A sink is one more term of every row's denominator, whatever else masks the row; a row without a visible key is 0,
// even where NaN is asked for.
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    const attention_sink sink{x.number()};
    const field e_to_sink = exp(sink.logit);
    const auto one = [](std::size_t, std::size_t) { return field(1); };
    const auto e = of.e_to_scores(nothing);
    const auto causal = of.output(of.e_to_scores(future), one, e_to_sink);
    return agree(of.under(sink), of.output(e, one, e_to_sink)) & agree(of.under(sink & causal_top_left{}), causal) &
           agree(of.under(causal_top_left{} & sink), causal);
}));
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    const attention_sink sink{x.number()};
    const causal_bottom_right late{2, 1}; // query 0 sees nothing
    const auto z =
        attention(of.q, tensor<field, axis<1>, d_k>{{of.k(0, 0), of.k(0, 1), of.k(0, 2), of.k(0, 3)}},
                  tensor<field, axis<1>, d_v>{{of.v(0, 0), of.v(0, 1)}}, late & sink, of.score, empty_row::nan);
    const field e = of.e_to_scores(nothing)(1, 0), weight = e / (e + exp(sink.logit));
    return agree(z, tensor<field, queries, d_v>{{0, 0}, {weight * of.v(0, 0), weight * of.v(0, 1)}});
}));
// Its logit, and both kinds of masks at once.
static_assert(attention_sink{7}.sink() == 7 && attention_sink{7}.visible(0, 5) && dropout_mask{kept, 3}.visible(0, 1));
static_assert(identity(1, [](draw& x) {
    const auto of = free_attention(x);
    const attention_sink sink{x.number()};
    const dropout_mask drop{kept, x.number()};
    const auto factor = [&drop](std::size_t i, std::size_t j) { return kept(i, j) ? drop.scale : field(0); };
    return agree(of.under(sink & drop & causal_top_left{}), of.output(of.e_to_scores(future), factor, exp(sink.logit)));
}));
// [/sink]

// [families]
// A family has a mask for each head; any other mask is that of all heads. `&` goes head by head.
struct later_and_later {
    [[nodiscard]] constexpr keep_mask<tensor<bool, queries, keys>> head(std::size_t h) const {
        tensor<bool, queries, keys> may_see;
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t j = 0; j < 3; ++j) may_see(i, j) = j >= h;
        return {may_see};
    }
};
template <class M, class Visible>
constexpr bool sees(const M& m, const Visible& visible) {
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            if (m.visible(i, j) != visible(i, j)) return false;
    return true;
}
using attest::operator&; // for two families of our own
static_assert(mask_family<later_and_later> && !mask_family<causal_top_left>);
constexpr bool families_go_by_heads = [] {
    for (std::size_t h = 0; h < 3; ++h) {
        const auto alone = [h](std::size_t, std::size_t j) { return j >= h; };
        const auto causal = [h](std::size_t i, std::size_t j) { return j >= h && j <= i; };
        if (!sees(mask_of_head(later_and_later{}, h), alone)) return false;
        if (!sees(mask_of_head(causal_top_left{}, h), [](std::size_t i, std::size_t j) { return j <= i; }))
            return false;
        if (!sees(mask_of_head(later_and_later{} & causal_top_left{}, h), causal)) return false;
        if (!sees(mask_of_head(causal_top_left{} & later_and_later{}, h), causal)) return false;
        if (!sees(mask_of_head(later_and_later{} & later_and_later{}, h), alone)) return false;
        if (!sees((later_and_later{} & (causal_top_left{} & later_and_later{})).head(h), causal)) return false;
    }
    return true;
}();
static_assert(families_go_by_heads);
// [/families]

} // namespace
} // namespace attest::proofs
