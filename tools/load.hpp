// SPDX-License-Identifier: BSL-1.0
// From a file to a question.
#pragma once

#include "attest/question/case.hpp"

#include <filesystem>

namespace attest::program {

// The arrays of a .npz, .safetensors or .npy file, or of a folder of .npy files; throws file_error.
archive load_archive(const std::filesystem::path& path);

// A case that owns its memory: the question's views look into the archives.
struct loaded_case {
    archive file;
    archive candidate_file;
    question asked;
};
// `candidate`: a file that the outputs come from instead; may be empty. Throws file_error and usage_error.
loaded_case load_case(const std::filesystem::path& path, const std::filesystem::path& candidate, const case_options& options);

} // namespace attest::program
