// SPDX-License-Identifier: BSL-1.0
#include "render.hpp"

namespace attest::worked {

std::string render(const document& steps, style how) {
    return how == style::text ? render_text(steps) : how == style::markdown ? render_markdown(steps) : render_latex(steps);
}

} // namespace attest::worked
