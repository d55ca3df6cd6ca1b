# SPDX-License-Identifier: BSL-1.0
# Reads the includes of the public headers. Prints one line for each that breaks a rule, and fails if there is any:
#   - no room includes upward, or sideways;
#   - a header includes what its component stands on: only the standard library for attest::attest;
#   - light rooms stay light.
# With -DSELF_CHECK=ON the headers are examples that break the rules, each with the complaint that it must cause as `// EXPECT: …`.
#
#   cmake -DINCLUDE_DIR=… [-DSELF_CHECK=ON] -P check.cmake

cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/attest-components.cmake")

# The arrows of the design: what each room may include beside itself. Headers in no room (version.hpp) may be included by all.
set(may_include_shape "")
set(may_include_arithmetic shape)
set(may_include_elementary ${may_include_arithmetic} arithmetic)
set(may_include_formula ${may_include_elementary} elementary)
set(may_include_gradient ${may_include_formula} formula)
set(may_include_fast ${may_include_gradient} gradient)
set(may_include_io shape)
set(may_include_question shape io)
set(may_include_oracle ${may_include_fast} fast io question)
set(may_include_report ${may_include_oracle} oracle)

# What each component may use of others' components and libraries.
set(stands_on_attest attest)
set(stands_on_fast attest fast)
set(stands_on_oracle attest fast oracle)
set(stands_on_io attest io)
set(stands_on_report attest fast oracle report)
set(libraries_attest "^$")
set(libraries_fast "^hwy/highway\\.h$")
set(libraries_oracle "^(boost|range)/")
set(libraries_io "^(zip\\.h$|nlohmann/|sys/)")
set(libraries_report "^(boost|range|nlohmann|fmt)/")

set(standard_headers
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits clocale cmath
    codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime
    cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream functional future initializer_list iomanip
    ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream
    queue random ranges ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept stop_token
    streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map
    unordered_set utility valarray variant vector version
)
# Standard headers, but not in the standard libraries that must do (GCC 12's).
set(too_new format expected print generator mdspan flat_map flat_set spanstream stacktrace stdfloat)
# What a light header does not include; <ostream> only in a header that prints.
set(heavy string stdexcept algorithm vector map unordered_map set functional regex iostream istream ostream sstream fstream iomanip)

set(complaints "")
macro(complain text)
    list(APPEND complaints "include/attest/${header}: ${text}")
endmacro()

attest_sort_headers("${INCLUDE_DIR}")
if(NOT attest_headers)
    message(FATAL_ERROR "no headers below ${INCLUDE_DIR}/attest")
endif()
set(expected "")
foreach(header IN LISTS attest_headers)
    attest_component_of(component "${header}")
    string(REGEX REPLACE "/.*$" "" room "${header}")
    if(room STREQUAL header)
        set(room "")
    endif()
    set(light FALSE)
    if(component STREQUAL "attest" AND room MATCHES "^(shape|arithmetic|elementary)$")
        set(light TRUE)
    endif()

    file(STRINGS "${INCLUDE_DIR}/attest/${header}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
        string(REGEX MATCH "[<\"]([^>\"]+)[>\"]" ignored "${line}")
        set(included "${CMAKE_MATCH_1}")
        if(included MATCHES "^attest/(.*)$")
            set(path "${CMAKE_MATCH_1}")
            if(NOT path IN_LIST attest_headers AND NOT SELF_CHECK)
                complain("includes ${included}, which is not there")
                continue()
            endif()
            string(REGEX REPLACE "/.*$" "" other_room "${path}")
            if(NOT other_room STREQUAL path)
                if(NOT other_room STREQUAL room AND NOT other_room IN_LIST may_include_${room})
                    complain("room ${room} may not include ${included}")
                endif()
                attest_component_of(other "${path}")
                if(NOT other IN_LIST stands_on_${component})
                    complain("component ${component} may not include ${included}, of component ${other}")
                endif()
            endif()
        elseif(included IN_LIST too_new)
            complain("<${included}> is not in every standard library that must do")
        elseif(included IN_LIST standard_headers)
            if(light AND included IN_LIST heavy AND NOT (included STREQUAL "ostream" AND header MATCHES "/print\\.hpp$"))
                complain("a light header may not include <${included}>")
            endif()
        elseif(included MATCHES "^catch2/")
            if(NOT header STREQUAL "report/catch2.hpp")
                complain("only report/catch2.hpp may include ${included}")
            endif()
        elseif(NOT included MATCHES "${libraries_${component}}")
            complain("component ${component} may not include <${included}>")
        endif()
    endforeach()

    if(SELF_CHECK)
        file(STRINGS "${INCLUDE_DIR}/attest/${header}" lines REGEX "^// EXPECT: ")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^// EXPECT: " "" line "${line}")
            list(APPEND expected "include/attest/${header}: ${line}")
        endforeach()
    endif()
endforeach()

list(LENGTH attest_headers count)
if(SELF_CHECK)
    list(SORT expected)
    list(SORT complaints)
    list(JOIN expected "\n  " expected_text)
    list(JOIN complaints "\n  " text)
    if(NOT text STREQUAL expected_text OR NOT text)
        message(FATAL_ERROR "expected these complaints\n  ${expected_text}\nand got these\n  ${text}")
    endif()
    message(STATUS "${count} wrong headers, each caught")
elseif(complaints)
    list(JOIN complaints "\n  " text)
    message(FATAL_ERROR "\n  ${text}")
else()
    message(STATUS "the includes of ${count} headers are in order")
endif()
