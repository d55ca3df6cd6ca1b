// SPDX-License-Identifier: BSL-1.0
// Sheets of exercises: questions drawn from a seed, and their keys, which are worked solutions like any other.
#pragma once

#include "ops.hpp"

#include <cstdint>

namespace attest::worked {

// splitmix64 (Steele, Lea, Flood 2014): integers alone, so the same sheet on every machine.
class random_integers {
public:
    explicit random_integers(std::uint64_t seed) : state_{seed} {}
    // One of least, …, greatest.
    [[nodiscard]] int between(int least, int greatest) { return least + static_cast<int>(next() % static_cast<std::uint64_t>(greatest - least + 1)); }
    [[nodiscard]] table matrix(std::size_t rows, std::size_t columns, int least, int greatest) {
        table t(rows, columns);
        for (number& x : t.entries) x = number(between(least, greatest));
        return t;
    }

private:
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    std::uint64_t state_;
};

struct question {
    document asked, key;
};

// Topics of tensors, whose key is the worked solution of a problem.
[[nodiscard]] question ask_softmax(random_integers& random);
[[nodiscard]] question ask_attention(random_integers& random);
[[nodiscard]] question ask_causal(random_integers& random);
[[nodiscard]] question ask_multi_head(random_integers& random);
[[nodiscard]] question ask_positions(random_integers& random);
[[nodiscard]] question ask_cross_attention(random_integers& random);
[[nodiscard]] question ask_layer_norm(random_integers& random);
[[nodiscard]] question ask_feed_forward(random_integers& random);
[[nodiscard]] question ask_gradients(random_integers& random);
// Topics that are counted or enumerated.
[[nodiscard]] question ask_shapes(random_integers& random);
[[nodiscard]] question ask_variance(random_integers& random);

inline constexpr int exercise_decimals = 5;

// The sheet; usage_error, naming the topics, for a topic that there is not.
[[nodiscard]] document exercise_sheet(const std::string& topic, std::uint64_t seed, int count, bool with_key);

} // namespace attest::worked
