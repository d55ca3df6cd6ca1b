# SPDX-License-Identifier: BSL-1.0
execute_process(COMMAND "${PROGRAM}" OUTPUT_VARIABLE got OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
file(READ "${EXPECTED}" expected)
string(STRIP "${expected}" expected)
if(NOT status EQUAL 0 OR NOT got STREQUAL expected)
    message(FATAL_ERROR "${PROGRAM} prints ${got}; expected ${expected}. Its --lines show what differs.")
endif()
