# SPDX-License-Identifier: BSL-1.0
# The headers, as five components of one package. Which header belongs to which component is decided here, by its path; the rule is
# a function so that the tests ask the same one.

# attest_component_of(<variable> <path below include/attest>)
function(attest_component_of result path)
    if(path MATCHES "^(shape|elementary|formula|gradient)/"
       OR path MATCHES "^arithmetic/(scalar|dual|formats|power_of_two|unfused)\\.hpp$"
       OR path MATCHES "^io/(array|archive)\\.hpp$" # plain data; the files are attest::io
       OR NOT path MATCHES "/")
        set(component attest)
    elseif(path MATCHES "^fast/")
        set(component fast)
    elseif(path MATCHES "^(arithmetic|question|oracle)/")
        set(component oracle)
    elseif(path MATCHES "^io/")
        set(component io)
    elseif(path MATCHES "^report/")
        set(component report)
    else()
        message(FATAL_ERROR "attest: include/attest/${path} belongs to no component; say to which in cmake/attest-components.cmake")
    endif()
    set(${result} ${component} PARENT_SCOPE)
endfunction()

# Sets attest_headers_<component> for each of the five, paths below include/attest.
macro(attest_sort_headers include_dir)
    foreach(attest_component IN ITEMS attest fast oracle io report)
        set(attest_headers_${attest_component} "")
    endforeach()
    if(CMAKE_SCRIPT_MODE_FILE)
        file(GLOB_RECURSE attest_headers RELATIVE "${include_dir}/attest" "${include_dir}/attest/*.hpp")
    else()
        file(GLOB_RECURSE attest_headers RELATIVE "${include_dir}/attest" CONFIGURE_DEPENDS "${include_dir}/attest/*.hpp")
    endif()
    list(SORT attest_headers)
    foreach(attest_header IN LISTS attest_headers)
        attest_component_of(attest_component "${attest_header}")
        list(APPEND attest_headers_${attest_component} "${attest_header}")
    endforeach()
endmacro()

if(CMAKE_SCRIPT_MODE_FILE)
    return()
endif()

attest_sort_headers("${PROJECT_SOURCE_DIR}/include")

set(attest_components "")

# attest_add_component(<name> <what it links>…)
function(attest_add_component name)
    if(attest_missing_${name})
        return()
    endif()
    set(target attest_${name})
    add_library(${target} INTERFACE)
    add_library(attest::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    target_compile_features(${target} INTERFACE cxx_std_20)
    list(TRANSFORM attest_headers_${name} PREPEND "${PROJECT_SOURCE_DIR}/include/attest/" OUTPUT_VARIABLE files)
    target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${files})
    target_link_libraries(${target} INTERFACE ${ARGN})
    set(attest_components ${attest_components} ${name} PARENT_SCOPE)
endfunction()

attest_add_component(attest)
# attest::fast uses Highway's headers where the compiler finds them (fast/target-inl.hpp); its library is for those who choose at run time.
attest_add_component(fast attest::attest)
attest_add_component(oracle attest::fast attest::attest Boost::headers range-v3::range-v3)
attest_add_component(io attest::attest libzip::zip nlohmann_json::nlohmann_json)
attest_add_component(report attest::oracle fmt::fmt nlohmann_json::nlohmann_json)
