// SPDX-License-Identifier: BSL-1.0
/// \file
/// The kinds of cases: by which recipes q, k, v and dout are drawn. Each is as likely as the others.
#pragma once

#include "values.hpp"

namespace independent::drawn {

/// What q, k, v and dout are like, for one kind of case.
struct kind {
    const char* name;
    recipe q, k, v, dout;
    double size = 1; ///< of what is large
};
inline constexpr kind kinds[] = {
    {"ordinary", recipe::ordinary, recipe::ordinary, recipe::ordinary, recipe::ordinary},
    {"ordinary", recipe::ordinary, recipe::ordinary, recipe::ordinary, recipe::ordinary},
    {"wide", recipe::wide, recipe::wide, recipe::wide, recipe::wide},
    {"ties, q = 0", recipe::zeros, recipe::ordinary, recipe::tied_means, recipe::tied_means},
    {"ties, equal keys", recipe::ordinary, recipe::repeated, recipe::tied_means, recipe::tied_means},
    {"ties, two groups of equal keys", recipe::ordinary, recipe::alternating, recipe::tied_groups, recipe::tied_means},
    {"cancelling values", recipe::ordinary, recipe::ordinary, recipe::cancelling, recipe::ordinary},
    {"cancelling values, equal keys", recipe::ordinary, recipe::repeated, recipe::cancelling, recipe::cancelling},
    {"subnormal inputs", recipe::subnormal, recipe::subnormal, recipe::subnormal, recipe::subnormal},
    {"subnormal values", recipe::ordinary, recipe::ordinary, recipe::subnormal, recipe::ordinary},
    {"subnormal gradients", recipe::ordinary, recipe::ordinary, recipe::ordinary, recipe::subnormal},
    {"logits of thousands", recipe::large, recipe::ordinary, recipe::ordinary, recipe::ordinary, 3e3},
    {"logits of 1e300", recipe::large, recipe::ordinary, recipe::ordinary, recipe::ordinary, 1e300},
    {"products beyond f64", recipe::large, recipe::large, recipe::ordinary, recipe::ordinary, 1e200},
    {"repeated tokens", recipe::repeated, recipe::repeated, recipe::repeated, recipe::repeated},
    {"nearly equal tokens", recipe::ordinary, recipe::nearly_equal, recipe::nearly_equal, recipe::nearly_equal},
    {"zeros", recipe::zeros, recipe::zeros, recipe::zeros, recipe::zeros},
    {"constant values", recipe::ordinary, recipe::ordinary, recipe::constant, recipe::ordinary},
    {"constant dout", recipe::ordinary, recipe::ordinary, recipe::ordinary, recipe::constant},
    {"small integers", recipe::small_integers, recipe::small_integers, recipe::small_integers, recipe::small_integers},
    {"the greatest values", recipe::ordinary, recipe::ordinary, recipe::greatest, recipe::ordinary},
};

} // namespace independent::drawn
