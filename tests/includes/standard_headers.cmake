# SPDX-License-Identifier: BSL-1.0
# The standard headers that <attest/formula/attention.hpp> brings in, all the way down: these and no others. What they cost to compile is what
# attention.hpp is measured against.
#
#   cmake -DINCLUDE_DIR=… -P standard_headers.cmake

cmake_minimum_required(VERSION 3.25)

set(expected bit concepts cstddef cstdint exception limits type_traits)

set(waiting attest/formula/attention.hpp)
set(seen "")
set(found "")
while(waiting)
    list(POP_FRONT waiting header)
    if(header IN_LIST seen)
        continue()
    endif()
    list(APPEND seen "${header}")
    file(STRINGS "${INCLUDE_DIR}/${header}" lines REGEX "^#include [<\"]")
    foreach(line IN LISTS lines)
        if(line MATCHES "\"(attest/.*)\"")
            list(APPEND waiting "${CMAKE_MATCH_1}")
        elseif(line MATCHES "<(.*)>")
            list(APPEND found "${CMAKE_MATCH_1}")
        endif()
    endforeach()
endwhile()
list(REMOVE_DUPLICATES found)
list(SORT found)
if(NOT found STREQUAL expected)
    message(FATAL_ERROR "attest/formula/attention.hpp includes the standard headers ${found}; expected ${expected}")
endif()
list(LENGTH seen headers)
message(STATUS "${headers} headers behind attention.hpp stand on: ${found}")
