// SPDX-License-Identifier: BSL-1.0
// `attest::check` and `attest::evaluate` for the tests, which checked.cpp alone compiles: that takes longer than all the rest of a file that calls them.
#pragma once

#include "attest/oracle/rounding.hpp"
#include "attest/oracle/verdict.hpp"
#include "attest/question/named_view.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attest {
struct evaluated_output; // attest/oracle/evaluate.hpp
}

namespace once {

using progress = std::function<void(std::size_t, std::size_t)>;

attest::check_result check(const attest::settings& given, const std::vector<attest::named_view>& inputs, const std::vector<attest::named_view>& candidates,
                           const progress& tell = {}, const std::optional<attest::row_sample>& rows = {});

void evaluate(const attest::settings& given, const std::vector<attest::named_view>& inputs, const std::vector<std::string>& wanted,
              const std::function<void(const std::vector<attest::evaluated_output>&)>& begin,
              const std::function<void(std::size_t, std::size_t, const attest::exact_number&, double)>& sink);

} // namespace once
