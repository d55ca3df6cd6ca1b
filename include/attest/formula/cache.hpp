// SPDX-License-Identifier: BSL-1.0
/// \file
/// Decoding with a cache: the keys and values of the tokens so far are kept, and a new token asks one query. Token by token this gives the rows of causal
/// attention over the whole sequence (B040): row t needs keys 0 to t alone.
#pragma once

#include "attest/formula/attention.hpp"

namespace attest {

namespace detail {
struct cache_has_room {
    static constexpr const char* sentence = "the cache is full: it was made for fewer tokens (tokens so far, and its capacity)";
    static constexpr void check(std::size_t held, std::size_t capacity) {
        if (held >= capacity) throw shape_error(sentence, held, capacity);
    }
};
} // namespace detail

/// Room for the keys and values of at most `Capacity::size` tokens (any number given at construction, if the axis is dynamic).
template <class S, axis_type Capacity, axis_type DK, axis_type DV> class key_value_cache {
public:
    constexpr key_value_cache() : key_value_cache(Capacity::size, DK::size, DV::size) {
        static_assert(detail::all_fixed<Capacity, DK, DV>, "a cache on dynamic axes needs its lengths: key_value_cache(capacity, d_k, d_v)");
    }
    constexpr key_value_cache(std::size_t capacity, std::size_t d_k, std::size_t d_v)
        : keys_{tensor<S, Capacity, DK>::with_lengths(capacity, d_k)}, values_{tensor<S, Capacity, DV>::with_lengths(capacity, d_v)} {}

    /// Tokens in the cache.
    [[nodiscard]] constexpr std::size_t length() const noexcept { return length_; }

    /// Keeps the key and the value of the next token. Throws shape_error when the cache is full, or a length does not fit.
    template <vector_like K, vector_like V> constexpr void append(const K& key, const V& value) {
        detail::cache_has_room::check(length_, keys_.length(0));
        rules::same_shape::check<DK, axis_of<K, 0>>(keys_.length(1), key.length(0));
        rules::same_shape::check<DV, axis_of<V, 0>>(values_.length(1), value.length(0));
        for (std::size_t c = 0; c < key.length(0); ++c) keys_(length_, c) = key(c);
        for (std::size_t c = 0; c < value.length(0); ++c) values_(length_, c) = value(c);
        ++length_;
    }

    /// The keys so far, length() × d_k, and the values, length() × d_v.
    [[nodiscard]] constexpr auto keys() const { return view<const S, axis<dynamic>, DK>(keys_.data(), extents<axis<dynamic>, DK>(length_, keys_.length(1))); }
    [[nodiscard]] constexpr auto values() const {
        return view<const S, axis<dynamic>, DV>(values_.data(), extents<axis<dynamic>, DV>(length_, values_.length(1)));
    }

private:
    tensor<S, Capacity, DK> keys_;
    tensor<S, Capacity, DV> values_;
    std::size_t length_ = 0;
};

/// One step of decoding: the new token's key and value join the cache, and its query sees all of it, itself included.
/// Shapes: q d_k, key d_k, value d_v → d_v. Throws shape_error when the cache is full.
template <class S, axis_type Capacity, axis_type DK, axis_type DV, vector_like Q, vector_like K, vector_like V, class Score = scaled_by_dimension>
[[nodiscard]] constexpr auto decode_step(key_value_cache<S, Capacity, DK, DV>& cache, const Q& q, const K& key, const V& value, const Score& score = {}) {
    cache.append(key, value);
    decltype(auto) scored = score_of_dimension<S>(score, q.length(0));
    return attend(q, cache.keys(), cache.values(), cache.length() - 1, everything{}, scored).out;
}

} // namespace attest
