// SPDX-License-Identifier: BSL-1.0
// Decoding token by token with a cache gives the rows of the causal pass over the whole sequence (B040, B042 in
// mask.cpp).

#include "identity.hpp"

#include "attest/formula/cache.hpp"

namespace attest::proofs {
namespace {

struct tokens : axis<4> {};
struct room : axis<5> {};
struct d_k : axis<3> {};
struct d_v : axis<2> {};

// Row t of the causal pass, in plain sums: Σ_{j<=t} e^{s_tj} v_j / Σ_{j<=t} e^{s_tj}.
struct sequence {
    tensor<field, tokens, d_k> q, k;
    tensor<field, tokens, d_v> v;
    scaled_dot_product<field> score;

    constexpr tensor<field, d_v> row(std::size_t t) const {
        field sum(0), z_0(0), z_1(0);
        for (std::size_t j = 0; j <= t; ++j) {
            const field e = exp((q(t, 0) * k(j, 0) + q(t, 1) * k(j, 1) + q(t, 2) * k(j, 2)) * score.scale);
            sum = sum + e, z_0 = z_0 + e * v(j, 0), z_1 = z_1 + e * v(j, 1);
        }
        return {z_0 / sum, z_1 / sum};
    }
};
constexpr sequence free_sequence(draw& x) {
    return {x.matrix<tokens, d_k>(), x.matrix<tokens, d_k>(), x.matrix<tokens, d_v>(), {x.number()}};
}

// [decode]
// Each step gives its row, and the cache holds the keys and values so far: one with more room than tokens, and one that
// is just filled.
template <class Cache>
constexpr agreement gives_the_rows(const sequence& of, Cache cache) {
    agreement all = agreement::equal;
    for (std::size_t t = 0; t < 4; ++t) {
        if (cache.length() != t) return agreement::different;
        all = all & agree(decode_step(cache, of.q[t], of.k[t], of.v[t], of.score), of.row(t));
        if (cache.length() != t + 1 || cache.keys().length(0) != t + 1 || cache.values().length(0) != t + 1)
            return agreement::different;
        if (cache.keys().length(1) != 3 || cache.values().length(1) != 2) return agreement::different;
        for (std::size_t j = 0; j <= t; ++j)
            all = all & agree(cache.keys()[j], of.k[j]) & agree(cache.values()[j], of.v[j]);
    }
    return all;
}
static_assert(identity(1, [](draw& x) {
    const auto of = free_sequence(x);
    return gives_the_rows(of, key_value_cache<field, room, d_k, d_v>{}) &
           gives_the_rows(of, key_value_cache<field, axis<4>, d_k, d_v>{});
}));
// Lengths known at run time; and the whole pass.
static_assert(identity(1, [](draw& x) {
    const auto of = free_sequence(x);
    const auto z = attention(of.q, of.k, of.v, causal_top_left{}, of.score);
    return gives_the_rows(of, key_value_cache<field, axis<dynamic>, axis<dynamic>, axis<dynamic>>(4, 3, 2)) &
           agree(z[0], of.row(0)) & agree(z[3], of.row(3));
}));
// [/decode]

// [default_score]
// By itself the score is scaled by 1/√d_k: here 1/2. The scores 4 and −4 of raw products, and again with the default,
// which halves them.
constexpr auto last_of_two = [](const auto&... score) {
    key_value_cache<double, axis<2>, axis<4>, axis<1>> cache;
    cache.append(tensor<double, axis<4>>{1, 1, 1, 1}, tensor<double, axis<1>>{1});
    return decode_step(cache, tensor<double, axis<4>>{1, 1, 1, 1}, tensor<double, axis<4>>{-1, -1, -1, -1},
                       tensor<double, axis<1>>{0}, score...)(0);
};
static_assert(last_of_two() == last_of_two(scaled_dot_product<double>{0.5}) &&
              last_of_two() != last_of_two(dot_product{}));
static_assert(last_of_two() > 0.98 && last_of_two() < 0.99);
// [/default_score]

// [full]
// A cache takes as many tokens as it has room for. (One more throws, which is no constant expression:
// tests/formula/cache.cpp.)
template <std::size_t Tokens>
constexpr std::size_t length_after = [] {
    key_value_cache<double, axis<2>, axis<1>, axis<1>> cache;
    for (std::size_t t = 0; t < Tokens; ++t) cache.append(tensor<double, axis<1>>{1}, tensor<double, axis<1>>{2});
    return cache.length();
}();
static_assert(length_after<0> == 0 && length_after<1> == 1 && length_after<2> == 2);
// [/full]

} // namespace
} // namespace attest::proofs
