// SPDX-License-Identifier: BSL-1.0
/// \file
/// A question as attest takes it, and attest's numbers as plain data.
#pragma once

#include "attest_side.hpp"

#include "attest/oracle/rounding.hpp"
#include "attest/question/conventions.hpp"
#include "attest/question/named_view.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace independent {

inline std::string shape_number(std::size_t n) { return std::to_string(n); }

inline attest::settings settings_of(const options& how) {
    attest::settings all{{"op", how.op}};
    const auto say = [&](const char* key, const std::string& value) { all.emplace_back(key, value); };
    constexpr const char* scores[] = {"scaled", "dot", "bilinear", "additive"};
    if (how.score != score_rule::scaled) say("score", scores[static_cast<int>(how.score)]);
    if (how.scale) say("scale", *how.scale);
    if (how.softcap) say("softcap", *how.softcap);
    if (how.causal != causal_kind::none) say("causal", how.causal == causal_kind::top_left ? "top-left" : "bottom-right");
    if (how.window) say("window", shape_number(how.window->first) + "," + shape_number(how.window->second));
    if (how.mask_keeps) say("mask-polarity", *how.mask_keeps ? "keep" : "drop");
    if (how.empty_row_is_nan) say("empty-row", "nan");
    if (how.dropout_p) say("dropout-p", *how.dropout_p);
    if (how.position != position_rule::none) say("position", how.position == position_rule::rope ? "rope" : "alibi");
    if (how.half_pairing) say("rope-pairing", "half");
    if (how.rope_base) say("rope-base", *how.rope_base);
    if (how.rope_dim) say("rope-dim", shape_number(*how.rope_dim));
    if (how.position_offset != 0) say("position-offset", shape_number(how.position_offset));
    if (how.layout != "bhnd") say("layout", how.layout);
    if (how.axis != -1) say("axis", std::to_string(how.axis));
    return all;
}

// A number of f16: it is one already, so there is nothing to round.
inline std::uint16_t bits_of_f16(double x) {
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    const double size = std::fabs(x);
    if (std::isinf(size)) return static_cast<std::uint16_t>(sign | 0x7c00);
    if (size < 0x1p-14) return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::ldexp(size, 24)));
    const int exponent = std::ilogb(size);
    return static_cast<std::uint16_t>(sign | (static_cast<unsigned>(exponent + 15) << 10 | static_cast<unsigned>(std::ldexp(size, 10 - exponent) - 1024)));
}

template <class T> void append(std::vector<std::byte>& bytes, T value) {
    const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
}

inline attest::array array_of(const table& t, bool laid_out, const std::string& layout) {
    using attest::dtype;
    attest::array a;
    std::vector<double> values = t.values;
    a.shape = t.shape;
    if (laid_out) {
        for (std::size_t b = 0; b < t.batches(); ++b)
            for (std::size_t h = 0; h < t.heads(); ++h)
                for (std::size_t r = 0; r < t.rows(); ++r)
                    for (std::size_t c = 0; c < t.columns(); ++c) values[position_in_layout(layout, t.shape, b, h, r, c)] = t.values[t.at(b, h, r, c)];
        if (layout == "bnhd") a.shape = {t.batches(), t.rows(), t.heads(), t.columns()};
        if (layout == "nbd") a.shape = {t.rows(), t.batches(), t.heads(), t.columns()};
    }
    // Of batch and head 1 is left out the batch, or both; the batch stands second in nbd.
    if (laid_out && t.left_out == 2) a.shape = {t.rows(), t.columns()};
    else if (laid_out && t.left_out == 1 && layout == "nbd") a.shape.erase(a.shape.begin() + 1);
    else a.shape.erase(a.shape.begin(), a.shape.begin() + static_cast<std::ptrdiff_t>(t.left_out));
    for (const double x : values) {
        if (t.type == "f64") append(a.data, x);
        else if (t.type == "f32") append(a.data, static_cast<float>(x));
        else if (t.type == "bf16") append(a.data, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16));
        else if (t.type == "f16") append(a.data, bits_of_f16(x));
        else if (t.type == "i64") append(a.data, static_cast<std::int64_t>(x));
        else if (t.type == "i32") append(a.data, static_cast<std::int32_t>(x));
        else append(a.data, static_cast<std::uint8_t>(x));
    }
    constexpr std::pair<const char*, dtype> types[] = {{"f64", dtype::f64}, {"f32", dtype::f32}, {"bf16", dtype::bf16}, {"f16", dtype::f16},
                                                       {"i64", dtype::i64}, {"i32", dtype::i32}, {"u8", dtype::u8},     {"bool", dtype::boolean}};
    for (const auto& [type_name, type] : types)
        if (t.type == type_name) a.type = type;
    return a;
}

/// The arrays of a question, and views of them.
class attest_inputs {
public:
    explicit attest_inputs(const question& asked) {
        arrays_.reserve(asked.tensors.size());
        for (const auto& [name, t] : asked.tensors) {
            arrays_.push_back(array_of(t, asked.how.op != "softmax" && has_layout(name), asked.how.layout));
            views.emplace_back(name, arrays_.back().view());
        }
    }
    std::vector<attest::named_view> views;

private:
    std::vector<attest::array> arrays_;
};

/// In the order of `formats`.
inline constexpr attest::format attest_formats[] = {attest::formats::f64, attest::formats::f32, attest::formats::bf16, attest::formats::f16};

/// integer · 2^exponent
template <class Integer> real_number taken_apart(const Integer& integer, std::int64_t exponent) {
    real_number r;
    r.negative = integer.sign() < 0;
    r.exponent = exponent;
    if (!integer.is_zero()) export_bits(Integer(abs(integer)), std::back_inserter(r.limbs), 64, false);
    return r;
}
inline real_number taken_apart(const attest::exact_number& x) {
    real_number r;
    r.is_nan = x.is_nan();
    if (!r.is_nan && !x.is_finite()) r.infinite = x.is_negative() ? -1 : 1;
    if (r.is_nan || r.infinite != 0 || x.is_zero()) return r;
    using parts = std::remove_cvref_t<decltype(x.value().backend())>;
    r = taken_apart(boost::multiprecision::number<typename parts::rep_type>(x.value().backend().bits()), x.exponent() - (static_cast<std::int64_t>(parts::bit_count) - 1));
    r.negative = x.is_negative();
    return r;
}

} // namespace independent
