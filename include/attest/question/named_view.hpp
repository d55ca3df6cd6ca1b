// SPDX-License-Identifier: BSL-1.0
/// \file
/// A name and an array that somebody else owns: what questions are asked about.
#pragma once

#include "attest/io/array.hpp"
#include "attest/question/usage_error.hpp"
#include "attest/shape/view.hpp"

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace attest {

/// A name and an array that somebody else owns. A shaped tensor or view of float or double converts by itself.
struct named_view {
    std::string name;
    array_view value;

    named_view(std::string tensor_name, array_view array) : name{std::move(tensor_name)}, value{std::move(array)} {}
    template <class X>
        requires(tensor_of_rank<X, X::rank> && (std::same_as<scalar_of<X>, float> || std::same_as<scalar_of<X>, double>))
    named_view(std::string tensor_name, const X& x) : name{std::move(tensor_name)} {
        value.type = std::same_as<scalar_of<X>, float> ? dtype::f32 : dtype::f64;
        for (std::size_t k = 0; k < X::rank; ++k) value.shape.push_back(x.length(k));
        if constexpr (requires { x.stride(std::size_t{0}); }) {
            std::ptrdiff_t dense = 1;
            for (std::size_t k = X::rank; k-- > 0; dense *= static_cast<std::ptrdiff_t>(x.length(k)))
                if (x.length(k) > 1 && x.stride(k) != dense)
                    throw usage_error(name + ": a view with gaps or another order cannot be checked; copy it into a tensor first");
        }
        value.data = reinterpret_cast<const std::byte*>(x.data());
    }
};

/// The member of that name, or nothing.
[[nodiscard]] inline const array_view* find(const std::vector<named_view>& among, std::string_view name) {
    for (const named_view& v : among)
        if (v.name == name) return &v.value;
    return nullptr;
}

} // namespace attest
