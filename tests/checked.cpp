// SPDX-License-Identifier: BSL-1.0
#include "checked.hpp"

#include "attest/oracle/check.hpp"
#include "attest/oracle/evaluate.hpp"

namespace once {

attest::check_result check(const attest::settings& given, const std::vector<attest::named_view>& inputs, const std::vector<attest::named_view>& candidates, const progress& tell,
                           const std::optional<attest::row_sample>& rows) {
    return attest::check(given, inputs, candidates, tell, {.rows = rows});
}

void evaluate(const attest::settings& given, const std::vector<attest::named_view>& inputs, const std::vector<std::string>& wanted,
              const std::function<void(const std::vector<attest::evaluated_output>&)>& begin, const attest::element_sink& sink) {
    attest::evaluate(given, inputs, wanted, begin, sink);
}

} // namespace once
