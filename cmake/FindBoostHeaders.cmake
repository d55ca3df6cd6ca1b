# SPDX-License-Identifier: BSL-1.0
# Boost's headers, as the target Boost::headers, with or without Boost's own CMake files (an unpacked archive has none), and without
# CMake's FindBoost, which newer CMakes no longer have (policy CMP0167). BOOST_ROOT, a variable or from the environment, comes first.
#
#   find_package(BoostHeaders 1.81)

if(CMAKE_DISABLE_FIND_PACKAGE_Boost)
    set(BoostHeaders_FOUND FALSE)
    return()
endif()

set(_attest_boost_root "")
foreach(_attest_candidate IN ITEMS "${BOOST_ROOT}" "${Boost_ROOT}" "$ENV{BOOST_ROOT}" "$ENV{Boost_ROOT}")
    if(NOT _attest_boost_root AND _attest_candidate)
        set(_attest_boost_root "${_attest_candidate}")
    endif()
endforeach()

if(TARGET Boost::headers)
    get_target_property(_attest_boost_dirs Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
    find_path(BoostHeaders_INCLUDE_DIR boost/version.hpp PATHS ${_attest_boost_dirs} NO_DEFAULT_PATH)
elseif(_attest_boost_root)
    find_path(BoostHeaders_INCLUDE_DIR boost/version.hpp PATHS "${_attest_boost_root}" PATH_SUFFIXES include NO_DEFAULT_PATH)
else()
    find_package(Boost ${BoostHeaders_FIND_VERSION} CONFIG QUIET)
    if(TARGET Boost::headers)
        get_target_property(_attest_boost_dirs Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
        find_path(BoostHeaders_INCLUDE_DIR boost/version.hpp PATHS ${_attest_boost_dirs} NO_DEFAULT_PATH)
    endif()
    find_path(BoostHeaders_INCLUDE_DIR boost/version.hpp)
endif()
mark_as_advanced(BoostHeaders_INCLUDE_DIR)

set(BoostHeaders_VERSION "")
if(BoostHeaders_INCLUDE_DIR)
    file(STRINGS "${BoostHeaders_INCLUDE_DIR}/boost/version.hpp" _attest_line REGEX "^#define BOOST_VERSION [0-9]+")
    string(REGEX REPLACE "^#define BOOST_VERSION ([0-9]+).*" "\\1" _attest_number "${_attest_line}")
    math(EXPR _attest_major "${_attest_number} / 100000")
    math(EXPR _attest_minor "${_attest_number} / 100 % 1000")
    math(EXPR _attest_patch "${_attest_number} % 100")
    set(BoostHeaders_VERSION "${_attest_major}.${_attest_minor}.${_attest_patch}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    BoostHeaders
    REQUIRED_VARS BoostHeaders_INCLUDE_DIR
    VERSION_VAR BoostHeaders_VERSION
)

if(BoostHeaders_FOUND AND NOT TARGET Boost::headers)
    add_library(Boost::headers INTERFACE IMPORTED)
    target_include_directories(Boost::headers INTERFACE "${BoostHeaders_INCLUDE_DIR}")
endif()
