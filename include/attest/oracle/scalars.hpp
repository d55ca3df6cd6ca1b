// SPDX-License-Identifier: BSL-1.0
/// \file
/// What all ops share: inputs and conventions as numbers of a scalar S: `tracked` (oracle/tracked.hpp) or a ball (arithmetic/ball.hpp).
#pragma once

#include "attest/oracle/problem.hpp"
#include "attest/oracle/rounding.hpp"
#include "attest/question/number.hpp"
#include "attest/shape/tensor.hpp"

#include <functional>

namespace attest {

/// Called with the rows done and the rows in all, after every row; may be empty.
using progress = std::function<void(std::size_t, std::size_t)>;

template <class S> using vector_in = tensor<S, dynamic_axis>;
template <class S> using matrix_in = tensor<S, dynamic_axis, dynamic_axis>;

namespace detail {

template <class S> [[nodiscard]] matrix_in<S> exact_matrix_of(const matrix_view& m) { return matrix_in<S>(m); }

template <class S> [[nodiscard]] vector_in<S> exact_vector_of(std::string_view name, const array_view& a) {
    require_float(name, a);
    if (a.shape.size() != 1) throw usage_error(std::string(name) + " " + shape_text(a.shape) + " must have one dimension");
    auto v = vector_in<S>::with_lengths(a.elements());
    for (std::size_t e = 0; e < a.elements(); ++e) v(e) = S(decode(a, e));
    return v;
}

/// A number of the conventions. A double is exact in every scalar; another is what the scalar makes of its digits.
template <class S> [[nodiscard]] S number_of(std::string_view key, const std::string& text) {
    const auto value = number_from<exact_number>(key, text);
    const auto nearest = static_cast<double>(value);
    if (!(nearest - nearest == 0)) throw usage_error("'" + std::string(key) + "' " + text + " is beyond the range of f64");
    if (exact_number(nearest) == value) return S(nearest);
    if constexpr (std::constructible_from<S, exact_number>) return S(value);
    else return number_from<S>(key, text);
}

// dout, which must have the shape of the output.
[[nodiscard]] inline const array_view& dout_of(const std::vector<named_view>& inputs, std::string_view op, std::span<const std::size_t> shape) {
    const array_view& dout = required(inputs, op, "dout");
    require_float("dout", dout);
    if (!std::equal(dout.shape.begin(), dout.shape.end(), shape.begin(), shape.end()))
        throw usage_error("dout " + shape_text(dout.shape) + " and out " + shape_text(shape) + ": " + rules::gradient_has_shape_of_output::sentence);
    return dout;
}

// Whether a stage's name is that of a gradient: its last part begins with d, and is no forward name.
[[nodiscard]] inline bool is_gradient(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    return name.substr(dot == std::string_view::npos ? 0 : dot + 1).starts_with('d');
}

// Whether every element is a number; integers are.
inline bool all_finite(const array_view& a) {
    if (!is_float(a.type)) return true;
    for (std::size_t e = 0, count = a.elements(); e < count; ++e)
        if (const double x = decode(a, e); !(x - x == 0)) return false;
    return true;
}

} // namespace detail

} // namespace attest
