// SPDX-License-Identifier: BSL-1.0
#include "attest/formula/cache.hpp"
#include "attest/arithmetic/real.hpp"
#include "attest/formula/learned_score.hpp"
#include "catch.hpp"

#include <random>
#include <string>
#include <type_traits>

using namespace attest;

namespace {

struct n : axis<7> {};
struct capacity : axis<7> {};
struct d_k : axis<4> {};
struct d_v : axis<3> {};
using dyn = axis<dynamic>;

template <class X> X filled(X x, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    using S = typename X::value_type;
    for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = S(static_cast<int>(generator() % 65) - 32) / S(16);
    return x;
}

using cache = key_value_cache<double, capacity, d_k, d_v>;
static_assert(std::is_same_v<decltype(cache{}.keys()), view<const double, axis<dynamic>, d_k>>);
static_assert(std::is_same_v<decltype(cache{}.values()), view<const double, axis<dynamic>, d_v>>);

// In a constant expression, on both compilers: the first token reads its own value.
constexpr bool first_token() {
    key_value_cache<double, axis<2>, axis<1>, axis<2>> kept;
    const auto out = decode_step(kept, tensor<double, axis<1>>{3}, tensor<double, axis<1>>{-5}, tensor<double, axis<2>>{7, 8});
    return out == tensor<double, axis<2>>{7, 8} && kept.length() == 1 && kept.keys()(0, 0) == -5;
}
static_assert(first_token());

} // namespace

TEMPLATE_TEST_CASE("decoding token by token gives the rows of causal attention (B040), bit for bit", "[formula]", double, real<50>) {
    const auto q = filled(tensor<TestType, n, d_k>{}, 1), k = filled(tensor<TestType, n, d_k>{}, 2);
    const auto v = filled(tensor<TestType, n, d_v>{}, 3);
    const auto causal = attention(q, k, v, causal_top_left{});
    key_value_cache<TestType, capacity, d_k, d_v> fixed;
    key_value_cache<TestType, dyn, dyn, dyn> loose(7, 4, 3);
    for (std::size_t t = 0; t < 7; ++t) {
        CHECK(fixed.length() == t);
        const auto row = decode_step(fixed, q[t], k[t], v[t]);
        static_assert(std::is_same_v<decltype(row), const tensor<TestType, d_v>>);
        CHECK(row == causal[t]);
        CHECK(decode_step(loose, q[t], k[t], v[t]) == causal[t]);
        CHECK(fixed.keys().length(0) == t + 1);
        CHECK(fixed.keys()[t] == k[t]);
        CHECK(fixed.values()[0] == v[0]);
    }
}

TEST_CASE("a prompt at once, then token by token: the mask of the rest is bottom-right", "[formula]") {
    const auto q = filled(tensor<double, n, d_k>{}, 4), k = filled(tensor<double, n, d_k>{}, 5);
    const auto v = filled(tensor<double, n, d_v>{}, 6);
    const auto causal = attention(q, k, v, causal_top_left{});
    cache kept;
    for (std::size_t t = 0; t < 5; ++t) kept.append(k[t], v[t]); // five tokens, of which the last two ask
    const view<const double, axis<2>, d_k> last_two(q.data() + 3 * 4, {});
    const auto z = attention(last_two, kept.keys(), kept.values(), causal_bottom_right{2, 5});
    CHECK(z[0] == causal[3]);
    CHECK(z[1] == causal[4]);
    CHECK(decode_step(kept, q[5], k[5], v[5]) == causal[5]);
}

TEST_CASE("decoding with another score", "[formula]") {
    const auto q = filled(tensor<double, n, d_k>{}, 7), k = filled(tensor<double, n, d_k>{}, 8);
    const auto v = filled(tensor<double, n, d_v>{}, 9);
    const softcapped capped{scaled_by_dimension{}, 2.0};
    const auto causal = attention(q, k, v, causal_top_left{}, capped), unscaled = attention(q, k, v, causal_top_left{}, dot_product{});
    cache one, two;
    for (std::size_t t = 0; t < 7; ++t) {
        CHECK(decode_step(one, q[t], k[t], v[t], capped) == causal[t]);
        CHECK(decode_step(two, q[t], k[t], v[t], dot_product{}) == unscaled[t]);
    }
}

TEST_CASE("a full cache, and keys that do not fit, are errors at run time, and leave the cache as it was", "[formula]") {
    const tensor<double, d_k> key;
    const tensor<double, d_v> value;
    key_value_cache<double, dyn, dyn, dyn> kept(1, 4, 3);
    CHECK_THROWS_WITH(kept.append((tensor<double, axis<5>>{}), value), std::string(rules::same_shape::sentence) + " (4 and 5)");
    CHECK_THROWS_WITH(kept.append(key, (tensor<double, axis<2>>{})), std::string(rules::same_shape::sentence) + " (3 and 2)");
    CHECK(kept.length() == 0);
    kept.append(key, value);
    CHECK_THROWS_WITH(kept.append(key, value), std::string(detail::cache_has_room::sentence) + " (1 and 1)");
    CHECK(kept.length() == 1);
    CHECK_THROWS_WITH(decode_step(kept, key, key, value), std::string(detail::cache_has_room::sentence) + " (1 and 1)");
    key_value_cache<double, dyn, dyn, dyn> another(2, 4, 3);
    CHECK_THROWS_WITH(decode_step(another, (tensor<double, axis<5>>{}), key, value), std::string(rules::query_key_dimension::sentence) + " (5 and 4)");
}
