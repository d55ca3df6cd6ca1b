// SPDX-License-Identifier: BSL-1.0
/// \file
/// `three_times`: who looks at a layer sees each stage once, in the order of computation, and may put another in its place; what
/// follows is computed from that.
#pragma once

#include "opaque.hpp"

#include <span>
#include <string_view>

namespace attest::proofs {

/// Expects a layer's stages in this order, and puts three times the one called `name` in its place.
struct three_times {
    std::span<const char* const> order;
    std::string_view name;
    std::size_t* seen; // how many stages so far

    template <axis_type... A>
    constexpr void operator()(const char* now, tensor<opaque, A...>& stage) const {
        if (std::string_view(now) != order[(*seen)++]) throw no_such_value();
        stage = if_it_is(now, stage);
    }
    /// Three times the stage if it is that one, else the stage: for a layer written out by hand.
    template <axis_type... A>
    [[nodiscard]] constexpr tensor<opaque, A...> if_it_is(std::string_view now, tensor<opaque, A...> stage) const {
        if (now == name)
            for (std::size_t i = 0; i < stage.elements(); ++i) stage.data()[i] = stage.data()[i] * 3;
        return stage;
    }
};

} // namespace attest::proofs
