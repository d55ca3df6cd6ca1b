// SPDX-License-Identifier: BSL-1.0
// A header that prints may include <ostream>, and nothing else that is heavy.
// EXPECT: a light header may not include <sstream>
#include <ostream>
#include <sstream>
