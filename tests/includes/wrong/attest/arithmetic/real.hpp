// SPDX-License-Identifier: BSL-1.0
// Not in attest::attest, so neither Boost nor <string> is wrong here.
#include <boost/multiprecision/cpp_int.hpp>
#include <string>
