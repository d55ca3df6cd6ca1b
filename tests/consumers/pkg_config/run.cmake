# SPDX-License-Identifier: BSL-1.0
# A consumer without CMake: pkg-config's flags and a compiler are all it takes.
#   cmake -DSOURCE=… -DBUILD=… -DPREFIX=… -DCOMPILER=… -DVERSION=… -P run.cmake

find_program(pkg_config NAMES pkg-config pkgconf)
if(NOT pkg_config)
    message("attest: skipped, there is no pkg-config")
    return()
endif()
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/share/pkgconfig")
file(REMOVE_RECURSE "${BUILD}")
file(MAKE_DIRECTORY "${BUILD}")

foreach(package IN ITEMS attest attest-fast attest-oracle attest-io attest-report)
    execute_process(
        COMMAND "${pkg_config}" --modversion ${package} OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY
    )
    if(NOT version STREQUAL VERSION)
        message(FATAL_ERROR "${package}.pc says version ${version}, the header ${VERSION}")
    endif()
endforeach()

foreach(packages IN ITEMS "attest" "attest-fast" "attest-report;attest-io")
    execute_process(
        COMMAND "${pkg_config}" --cflags --libs ${packages} OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE
        COMMAND_ERROR_IS_FATAL ANY
    )
    separate_arguments(flags UNIX_COMMAND "${flags}")
    if(packages STREQUAL "attest")
        set(define -DATTEST_ALONE)
    elseif(packages STREQUAL "attest-fast")
        set(define -DATTEST_ALONE -DATTEST_WITH_FAST)
    else()
        set(define "")
    endif()
    execute_process(
        COMMAND "${COMPILER}" -std=c++20 ${define} "${SOURCE}/main.cpp" -o "${BUILD}/consumer" ${flags} COMMAND_ECHO STDOUT
                COMMAND_ERROR_IS_FATAL ANY
    )
    execute_process(COMMAND "${BUILD}/consumer" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
