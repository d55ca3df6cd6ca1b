// SPDX-License-Identifier: BSL-1.0
/// \file
/// The lectures' example of softmax: five scores (A047), which its proofs come back to.
#pragma once

#include "attest/arithmetic/interval.hpp"
#include "attest/formula/softmax.hpp"

namespace attest::proofs {

struct classes : axis<5> {};
inline constexpr tensor<interval, classes> logits{interval::decimal("1.3"), interval::decimal("5.1"), interval::decimal("2.2"),
                                                  interval::decimal("0.7"), interval::decimal("1.1")};
inline constexpr auto weights_of_logits = softmax(logits);

} // namespace attest::proofs
