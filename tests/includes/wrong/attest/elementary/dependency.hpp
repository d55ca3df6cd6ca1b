// SPDX-License-Identifier: BSL-1.0
// EXPECT: component attest may not include <boost/multiprecision/cpp_int.hpp>
#include <boost/multiprecision/cpp_int.hpp>
