// SPDX-License-Identifier: BSL-1.0
/// \file
/// Which formats hold the numbers of an input as they are. An arithmetic rounds an input to its own format first; that is an error only where it changes a number, and a
/// file that is wider than the arithmetic, as `.float()` makes it of bf16, need not hold any such.
#pragma once

#include "attest/arithmetic/formats.hpp"
#include "attest/oracle/decode.hpp"

#include <initializer_list>

namespace attest {

/// Whether all numbers of an input are numbers of a format. All of them are in f64.
struct input_width {
    bool in_f32 = true, in_bf16 = true, in_f16 = true;

    [[nodiscard]] constexpr bool fits(const format& f) const noexcept {
        return f == formats::bf16 ? in_bf16 : f == formats::f16 ? in_f16 : f == formats::f32 ? in_f32 : true;
    }
    /// Of both inputs.
    friend constexpr input_width operator&(const input_width& a, const input_width& b) noexcept {
        return {a.in_f32 && b.in_f32, a.in_bf16 && b.in_bf16, a.in_f16 && b.in_f16};
    }
};

/// Of these inputs together; nullptr: none. NaN and infinities are in all formats; masks of bool and integers are exact everywhere.
[[nodiscard]] inline input_width width_of(std::initializer_list<const array_view*> arrays) {
    input_width w;
    for (const array_view* a : arrays) {
        if (a == nullptr || !is_float(a->type)) continue;
        for (std::size_t e = 0, count = a->elements(); e < count && (w.in_f32 || w.in_bf16 || w.in_f16); ++e) {
            const double x = decode(*a, e);
            if (!(x - x == 0)) continue;
            w.in_f32 = w.in_f32 && round_to(formats::f32, x) == x;
            w.in_bf16 = w.in_bf16 && round_to(formats::bf16, x) == x;
            w.in_f16 = w.in_f16 && round_to(formats::f16, x) == x;
        }
    }
    return w;
}

} // namespace attest
