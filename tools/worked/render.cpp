// SPDX-License-Identifier: BSL-1.0
#include "render.hpp"

#include "attest/question/usage_error.hpp"

namespace attest::worked {

style style_of(const std::string& name) {
    if (name == "text") return style::text;
    if (name == "markdown") return style::markdown;
    if (name == "latex") return style::latex;
    throw usage_error("--format " + name + ": expected text, markdown or latex");
}

std::string render(const document& steps, style how) {
    return how == style::text ? render_text(steps) : how == style::markdown ? render_markdown(steps) : render_latex(steps);
}

} // namespace attest::worked
