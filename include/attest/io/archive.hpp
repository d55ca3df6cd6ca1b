// SPDX-License-Identifier: BSL-1.0
/// \file
/// What an archive of arrays holds, whatever its format.
#pragma once

#include "attest/io/array.hpp"

#include <string>
#include <utility>
#include <vector>

namespace attest {

/// Named arrays, and the texts beside them, in the order of the file.
struct archive {
    std::vector<named_array> arrays = {};
    std::vector<std::pair<std::string, std::string>> texts = {}; ///< member name ("attest.json") and content
    std::vector<std::string> warnings = {};                      ///< one line each, beginning with the file's name
};

} // namespace attest
