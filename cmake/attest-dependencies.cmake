# SPDX-License-Identifier: BSL-1.0
# Finds what the components beyond attest::attest stand on. A component whose libraries are missing is left out; what attest builds
# for itself (the program, tests, proofs) needs all of them, and says so in one line.

# Whoever adds attest as a subdirectory links these targets from another folder, so they are visible everywhere.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

find_package(BoostHeaders 1.81 QUIET)
find_package(range-v3 QUIET) # its version file accepts nothing but the exact version, so the version is compared below
find_package(LibZip 1.7 QUIET)
find_package(nlohmann_json 3.11 QUIET)
find_package(fmt 9 QUIET)

set(attest_missing_oracle "")
set(attest_missing_io "")
set(attest_missing_report "")
if(NOT BoostHeaders_FOUND)
    list(APPEND attest_missing_oracle "Boost >= 1.81 (headers)")
endif()
if(NOT TARGET range-v3::range-v3 OR (range-v3_VERSION AND range-v3_VERSION VERSION_LESS 0.12))
    list(APPEND attest_missing_oracle "range-v3 >= 0.12")
endif()
if(NOT TARGET libzip::zip)
    list(APPEND attest_missing_io "libzip >= 1.7")
endif()
if(NOT TARGET nlohmann_json::nlohmann_json)
    list(APPEND attest_missing_io "nlohmann_json >= 3.11")
    list(APPEND attest_missing_report "nlohmann_json >= 3.11")
endif()
if(NOT TARGET fmt::fmt)
    list(APPEND attest_missing_report "fmt >= 9")
endif()
list(APPEND attest_missing_report ${attest_missing_oracle})

foreach(attest_component IN ITEMS oracle io report)
    if(attest_missing_${attest_component})
        list(JOIN attest_missing_${attest_component} ", " attest_text)
        message(STATUS "attest: component ${attest_component} is left out, not found: ${attest_text}")
    endif()
endforeach()

set(attest_missing ${attest_missing_io} ${attest_missing_report})
if(attest_missing AND (ATTEST_BUILD_TOOLS OR ATTEST_BUILD_TESTS OR ATTEST_BUILD_PROOFS))
    list(REMOVE_DUPLICATES attest_missing)
    list(JOIN attest_missing ", " attest_text)
    message(FATAL_ERROR "attest: not found: ${attest_text}. Run ./setup.sh, or switch off ATTEST_BUILD_TOOLS, ATTEST_BUILD_TESTS and ATTEST_BUILD_PROOFS.")
endif()

set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL OFF)
