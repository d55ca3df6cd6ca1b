// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/double_gradients.hpp"
#include "gradients_held.hpp"

using namespace gradients_held;

TEST_CASE("the first rung's enclosures of gradients hold the exact values", "[oracle]") {
    CHECK(hold_all_kinds<double_rows, double_gradients, double>() > 0.01); // the radii are not idle
}

TEST_CASE("a scale is a part of the gradients' radii, on the first rung", "[oracle]") { hold_scales<double_rows, double_gradients, double>(); }

TEST_CASE("gradients of a lone key, of hidden keys and of columns of zeros are exact, on the first rung", "[oracle]") {
    what_is_exact_is_known_so<double_rows, double_gradients, double>();
}

TEST_CASE("rows with numbers beyond all bounds have no gradient on the first rung, and do no harm to others", "[oracle]") {
    great_rows_are_not_clear<double_rows, double_gradients, double>();
}
