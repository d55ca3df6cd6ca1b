// SPDX-License-Identifier: BSL-1.0
// EXPECT: a light header may not include <string>
// EXPECT: a light header may not include <ostream>
#include <cstddef>
#include <string>
#  include <ostream>
