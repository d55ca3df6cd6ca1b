# SPDX-License-Identifier: BSL-1.0
# libzip, as the target libzip::zip. Debian's own CMake files for libzip fail unless zipcmp, zipmerge and ziptool are installed too,
# which nothing here needs; so the header and the library are looked for directly.
#
#   find_package(LibZip 1.7)

find_path(LibZip_INCLUDE_DIR zip.h)
find_path(LibZip_CONF_INCLUDE_DIR zipconf.h HINTS "${LibZip_INCLUDE_DIR}" PATH_SUFFIXES lib/libzip/include)
find_library(LibZip_LIBRARY NAMES zip libzip)
mark_as_advanced(LibZip_INCLUDE_DIR LibZip_CONF_INCLUDE_DIR LibZip_LIBRARY)

set(LibZip_VERSION "")
if(LibZip_CONF_INCLUDE_DIR)
    file(STRINGS "${LibZip_CONF_INCLUDE_DIR}/zipconf.h" _attest_line REGEX "^#define LIBZIP_VERSION \"")
    string(REGEX REPLACE "^.*\"([0-9.]+).*$" "\\1" LibZip_VERSION "${_attest_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    LibZip
    REQUIRED_VARS LibZip_LIBRARY LibZip_INCLUDE_DIR LibZip_CONF_INCLUDE_DIR
    VERSION_VAR LibZip_VERSION
)

if(LibZip_FOUND AND NOT TARGET libzip::zip)
    add_library(libzip::zip UNKNOWN IMPORTED)
    set_target_properties(libzip::zip PROPERTIES IMPORTED_LOCATION "${LibZip_LIBRARY}")
    set(_attest_dirs "${LibZip_INCLUDE_DIR}" "${LibZip_CONF_INCLUDE_DIR}")
    list(REMOVE_DUPLICATES _attest_dirs)
    target_include_directories(libzip::zip INTERFACE ${_attest_dirs})
endif()
