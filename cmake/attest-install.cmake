# SPDX-License-Identifier: BSL-1.0
# Install rules: the headers, a config-file package with components, a pkg-config file for each component. Nothing in it depends on
# the machine, so all of it goes to share.

include(CMakePackageConfigHelpers)

set(attest_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/attest")

foreach(component IN LISTS attest_components)
    install(TARGETS attest_${component} EXPORT attest-${component} FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT attest-${component} NAMESPACE attest:: FILE attest-${component}-targets.cmake DESTINATION "${attest_package_dir}")
endforeach()

configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/attest-config.cmake.in" "${PROJECT_BINARY_DIR}/attest-config.cmake"
    INSTALL_DESTINATION "${attest_package_dir}"
    NO_SET_AND_CHECK_MACRO
)
write_basic_package_version_file(
    "${PROJECT_BINARY_DIR}/attest-config-version.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT
)
install(
    FILES "${PROJECT_BINARY_DIR}/attest-config.cmake" "${PROJECT_BINARY_DIR}/attest-config-version.cmake"
          "${PROJECT_SOURCE_DIR}/cmake/FindBoostHeaders.cmake" "${PROJECT_SOURCE_DIR}/cmake/FindLibZip.cmake"
    DESTINATION "${attest_package_dir}"
)

# pkg-config. Boost has no file of its own there; its headers are taken from where they were found, unless that is a system folder.
set(attest_pc_description_attest "Attention in the lecture's notation: shapes, formulas, formats")
set(attest_pc_description_fast "Attention in double at the processor's speed")
set(attest_pc_description_oracle "Exact values of attention, and the judge")
set(attest_pc_description_io "Tensors from npy and npz files, and back")
set(attest_pc_description_report "The judge's reports")
set(attest_pc_requires_attest "")
set(attest_pc_requires_fast "attest = ${PROJECT_VERSION}")
set(attest_pc_requires_oracle "attest-fast = ${PROJECT_VERSION}")
set(attest_pc_requires_io "attest = ${PROJECT_VERSION}, libzip, nlohmann_json")
set(attest_pc_requires_report "attest-oracle = ${PROJECT_VERSION}, nlohmann_json, fmt")
set(attest_pc_cflags_attest "")
set(attest_pc_cflags_fast "")
set(attest_pc_cflags_oracle "")
set(attest_pc_cflags_io "")
set(attest_pc_cflags_report "")
if(BoostHeaders_INCLUDE_DIR AND NOT BoostHeaders_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set(attest_pc_cflags_oracle "-isystem ${BoostHeaders_INCLUDE_DIR}")
endif()

if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(attest_pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
    set(attest_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()

foreach(component IN LISTS attest_components)
    if(component STREQUAL "attest")
        set(attest_pc_name attest)
    else()
        set(attest_pc_name attest-${component})
    endif()
    set(attest_pc_description "${attest_pc_description_${component}}")
    set(attest_pc_requires "${attest_pc_requires_${component}}")
    set(attest_pc_cflags "${attest_pc_cflags_${component}}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/attest.pc.in" "${PROJECT_BINARY_DIR}/${attest_pc_name}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${attest_pc_name}.pc" DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
endforeach()

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
