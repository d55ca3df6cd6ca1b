# SPDX-License-Identifier: BSL-1.0
# Installs a build into an empty prefix.
#   cmake -DBUILD=… -DPREFIX=… -P install.cmake

file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${PREFIX}" COMMAND_ERROR_IS_FATAL ANY)

# Nothing installed may remember where it was built.
file(GLOB_RECURSE files "${PREFIX}/share/*.cmake" "${PREFIX}/share/*.pc")
foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(FIND "${text}" "${BUILD}" at)
    if(NOT at EQUAL -1)
        message(FATAL_ERROR "${file} names the build folder ${BUILD}")
    endif()
endforeach()
