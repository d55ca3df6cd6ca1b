// SPDX-License-Identifier: BSL-1.0
/// \file
/// The version of attest. It is written here and nowhere else: CMake reads the three numbers from this file.
#pragma once

#define ATTEST_VERSION_MAJOR 0
#define ATTEST_VERSION_MINOR 1
#define ATTEST_VERSION_PATCH 0

#define ATTEST_DETAIL_TEXT_OF(x) #x
#define ATTEST_DETAIL_TEXT(x) ATTEST_DETAIL_TEXT_OF(x)

/// "MAJOR.MINOR.PATCH", for the preprocessor.
#define ATTEST_VERSION                                                                                                 \
    ATTEST_DETAIL_TEXT(ATTEST_VERSION_MAJOR)                                                                           \
    "." ATTEST_DETAIL_TEXT(ATTEST_VERSION_MINOR) "." ATTEST_DETAIL_TEXT(ATTEST_VERSION_PATCH)

namespace attest {

/// "MAJOR.MINOR.PATCH" as a character array.
inline constexpr char version[] = ATTEST_VERSION;

} // namespace attest
