// SPDX-License-Identifier: BSL-1.0
// The oracle as the program sees it: its templates are instantiated in oracle.cpp alone, so that a change elsewhere rebuilds little.
#pragma once

#include "attest/oracle/verdict.hpp"
#include "attest/question/case.hpp"

#include <functional>

namespace attest::program {

using progress = std::function<void(std::size_t, std::size_t)>;

// rows: nothing for all of them.
check_result run_check(const question& asked, const std::optional<row_sample>& rows, const progress& tell);

// An exact output, rounded once to a format, or as decimal text.
struct exact_output {
    named_array rounded;
    std::vector<std::string> texts;
    std::size_t unseparated = 0; // elements too near to a tie or to zero for the precision
    std::size_t unsettled = 0;   // elements whose value the precision does not give at all
};
// digits 0: no texts.
std::vector<exact_output> run_evaluate(const question& asked, const std::vector<std::string>& wanted, dtype type, int digits, const progress& tell);

} // namespace attest::program
