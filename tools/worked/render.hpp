// SPDX-License-Identifier: BSL-1.0
// The three ways of writing a document; render() of steps.hpp chooses.
#pragma once

#include "steps.hpp"

namespace attest::worked {

[[nodiscard]] std::string render_text(const document& steps);
[[nodiscard]] std::string render_markdown(const document& steps);
[[nodiscard]] std::string render_latex(const document& steps);

} // namespace attest::worked
