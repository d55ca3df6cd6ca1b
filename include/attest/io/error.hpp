// SPDX-License-Identifier: BSL-1.0
/// \file
/// What is thrown when a file cannot be read, cannot be written, or is refused.
#pragma once

#include "attest/io/text.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace attest {

/// A file that cannot be read or written, or that the readers refuse. `what()` is one line of valid UTF-8:
/// "FILE: what is wrong, with the numbers; expected what was expected", where FILE may be "FILE: member NAME".
class file_error : public std::runtime_error {
public:
    /// \param where     the file, and the member where there is one
    /// \param problem   what is wrong, with the numbers
    /// \param expected  what was expected; left out if empty
    file_error(std::string_view where, std::string_view problem, std::string_view expected = {})
        : std::runtime_error(line(where, problem, expected)) {}

private:
    static std::string line(std::string_view where, std::string_view problem, std::string_view expected) {
        std::string text{where};
        text += ": ";
        text += problem;
        if (!expected.empty()) {
            text += "; expected ";
            text += expected;
        }
        return printable(text);
    }
};

/// The `where` of an archive's member: "FILE: member NAME".
[[nodiscard]] inline std::string member_of(std::string_view file, std::string_view member) {
    return std::string{file} + ": member " + excerpt(member, 200);
}

} // namespace attest
