// SPDX-License-Identifier: BSL-1.0
/// \file
/// The axes of multi-head attention: `per_head<d_model, H>` has length d_model / H, `heads<H, d_v>` is H of them side by side (B022, B023, E044, E046).
#pragma once

#include "attest/shape/axis.hpp"
#include "attest/shape/rules.hpp"

namespace attest {

/// d_model / H components; an error, in words, unless H divides d_model. Derive from it: `struct d_k : per_head<d_model, H> {};`.
template <axis_type DModel, axis_type H>
struct per_head : axis<rules::heads_divide_model::length<DModel::size, H::size>()> {};

/// The axis of Concat(head_1, …, head_H): H · d_v components.
template <axis_type H, axis_type D>
struct heads : axis<(is_dynamic<H> || is_dynamic<D>) ? dynamic : H::size * D::size> {};

} // namespace attest
