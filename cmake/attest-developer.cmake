# SPDX-License-Identifier: BSL-1.0
# What attest's own programs, tests and proofs are compiled with, and no consumer ever sees.

add_library(attest_developer INTERFACE)
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(
        attest_developer INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${ATTEST_WERROR}>:-Werror>
    )
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # GCC's optimizer warns of what cannot be in code of Boost and of its own library once that is inlined here (such as its bug 105651):
        # which of these it sees differs from version to version. The sanitizers look for the real ones.
        target_compile_options(
            attest_developer INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized
        )
    endif()
endif()

# attest_own(<target>): compiled as strict ISO C++20, with the developer's warnings.
function(attest_own target)
    set_target_properties(${target} PROPERTIES CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    target_link_libraries(${target} PRIVATE attest_developer)
endfunction()

# attest_not_optimised_in_debug(<target>): compiling it takes longer than running it, so that the -O1 which the preset asan asks for (with the build type Debug) does not pay:
# under the sanitizers Clang compiles four to six times as fast with -O0, and they see what -O1 would have optimised away.
function(attest_not_optimised_in_debug target)
    if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND CMAKE_BUILD_TYPE STREQUAL "Debug")
        target_compile_options(${target} PRIVATE -O0)
    endif()
endfunction()

# attest_add_program_kernels(): attest_program_kernels, the kernels of the double path for several instruction sets. Choosing among them at run time needs
# Highway's library; without it there are those for the flags alone.
function(attest_add_program_kernels)
    if(TARGET attest_program_kernels)
        return()
    endif()
    add_library(attest_program_kernels STATIC "${PROJECT_SOURCE_DIR}/tools/kernels.cpp")
    attest_own(attest_program_kernels)
    target_link_libraries(attest_program_kernels PUBLIC attest::fast)
    target_include_directories(attest_program_kernels PUBLIC "${PROJECT_SOURCE_DIR}/tools")
    set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
    find_package(hwy QUIET)
    if(TARGET hwy::hwy)
        target_link_libraries(attest_program_kernels PUBLIC hwy::hwy)
        target_compile_definitions(attest_program_kernels PUBLIC ATTEST_LINKED_WITH_HIGHWAY)
    else()
        message(STATUS "attest: without Highway (libhwy-dev) the program has the kernels of its compiler flags alone")
    endif()
endfunction()
