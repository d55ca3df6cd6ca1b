// SPDX-License-Identifier: BSL-1.0
/// \file
/// A question as plain data, for both sides: tensors in a fixed order of dimensions, and what is asked of them. Nothing of attest is in here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace independent {

/// How numbers are stored: significant bits, and exponents of the leading bit of normal numbers.
struct stored_format {
    const char* name;
    int precision, least_exponent, greatest_exponent;
};
inline constexpr stored_format formats[] = {{"f64", 53, -1022, 1023}, {"f32", 24, -126, 127}, {"bf16", 8, -126, 127}, {"f16", 11, -14, 15}};
inline constexpr std::size_t format_count = std::size(formats);

/// A tensor [batch, head, row, column] whatever the layout of the question (softmax's: any shape). Values are numbers of its type.
struct table {
    std::vector<std::size_t> shape;
    std::vector<double> values;
    std::string type;              ///< f64, f32, bf16, f16, bool, i64, i32, u8
    std::size_t left_out = 0;      ///< so many leading dimensions, of length 1, are not written down
    [[nodiscard]] std::size_t batches() const { return shape[0]; }
    [[nodiscard]] std::size_t heads() const { return shape[1]; }
    [[nodiscard]] std::size_t rows() const { return shape[2]; }
    [[nodiscard]] std::size_t columns() const { return shape[3]; }
    [[nodiscard]] std::size_t at(std::size_t b, std::size_t h, std::size_t r, std::size_t c) const { return ((b * shape[1] + h) * shape[2] + r) * shape[3] + c; }
    /// Every dimension of length 1 counts for all.
    [[nodiscard]] double broadcast(std::size_t b, std::size_t h, std::size_t r, std::size_t c) const { return values[broadcast_at(b, h, r, c)]; }
    [[nodiscard]] std::size_t broadcast_at(std::size_t b, std::size_t h, std::size_t r, std::size_t c) const {
        return at(shape[0] == 1 ? 0 : b, shape[1] == 1 ? 0 : h, shape[2] == 1 ? 0 : r, shape[3] == 1 ? 0 : c);
    }
};

enum class causal_kind { none, top_left, bottom_right };
enum class score_rule { scaled, dot, bilinear, additive };
enum class position_rule { none, rope, alibi };

/// Everything that may be declared for score, softmax and attention. Numbers are texts, as they are declared.
struct options {
    std::string op;
    score_rule score = score_rule::scaled;
    std::optional<std::string> scale, softcap, dropout_p, rope_base;
    causal_kind causal = causal_kind::none;
    std::optional<std::pair<std::size_t, std::size_t>> window; ///< left, right
    std::optional<bool> mask_keeps;                            ///< declared polarity; keep if it is not
    bool empty_row_is_nan = false;
    position_rule position = position_rule::none;
    bool half_pairing = false;
    std::optional<std::size_t> rope_dim;
    std::size_t position_offset = 0;
    std::string layout = "bhnd";
    int axis = -1;
};

struct question {
    options how;
    std::vector<std::pair<std::string, table>> tensors;
    std::vector<std::string> wanted; ///< forward results first
    std::string about;               ///< what kind of case it is, for messages
    [[nodiscard]] const table* find(const std::string& name) const {
        for (const auto& [known, t] : tensors)
            if (known == name) return &t;
        return nullptr;
    }
    [[nodiscard]] const table& operator[](const std::string& name) const { return *find(name); }
};

/// Where the element [b, h, r, c] of a shape stands in a layout: bnhd has the head behind the row, nbd the row first.
[[nodiscard]] inline std::size_t position_in_layout(const std::string& layout, const std::vector<std::size_t>& shape, std::size_t b, std::size_t h, std::size_t r, std::size_t c) {
    const std::size_t B = shape[0], H = shape[1], R = shape[2], C = shape[3];
    if (layout == "bnhd") return ((b * R + r) * H + h) * C + c;
    if (layout == "nbd") return ((r * B + b) * H + h) * C + c;
    return ((b * H + h) * R + r) * C + c;
}

/// Which tensors lie in the question's layout; all others are bhnd.
[[nodiscard]] inline bool has_layout(const std::string& name) {
    for (const char* one : {"q", "k", "v", "out", "dq", "dk", "dv", "dout"})
        if (name == one) return true;
    return false;
}

} // namespace independent
