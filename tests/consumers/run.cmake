# SPDX-License-Identifier: BSL-1.0
# Configures, builds and runs one consumer from nothing. Its program is called `consumer`.
#   cmake -DSOURCE=… -DBUILD=… -DARGUMENTS=… [-DFORBIDDEN=regex that no path of an included file may match] -P run.cmake

file(REMOVE_RECURSE "${BUILD}")
execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BUILD}" ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output ECHO_OUTPUT_VARIABLE ECHO_ERROR_VARIABLE
)
if(output MATCHES "attest: skipped")
    return()
elseif(NOT status EQUAL 0)
    message(FATAL_ERROR "${SOURCE}: does not configure")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --parallel 2 RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${SOURCE}: does not build")
endif()
execute_process(COMMAND "${BUILD}/consumer" RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${SOURCE}: runs, and returns ${status}")
endif()

if(FORBIDDEN)
    file(GLOB preprocessed "${BUILD}/*.ii")
    if(NOT preprocessed)
        message(FATAL_ERROR "${SOURCE}: leaves no preprocessed file")
    endif()
    file(STRINGS ${preprocessed} found REGEX "^# [0-9]+ \"[^\"]*(${FORBIDDEN})")
    if(found)
        list(GET found 0 first)
        message(FATAL_ERROR "${SOURCE}: includes what it must not: ${first}")
    endif()
    file(STRINGS ${preprocessed} found REGEX "^# [0-9]+ \"[^\"]*/attest/version\\.hpp\"")
    if(NOT found)
        message(FATAL_ERROR "${SOURCE}: the preprocessed file does not even name attest/version.hpp, so it proves nothing")
    endif()
endif()
