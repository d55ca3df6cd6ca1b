// SPDX-License-Identifier: BSL-1.0
/// \file
/// Trouble with a question: an unknown name, a value that a convention does not have, tensors that do not fit together.
#pragma once

#include <stdexcept>

namespace attest {

/// `what()` is one line: what is wrong, with the names and numbers, then what was expected.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace attest
