// SPDX-License-Identifier: BSL-1.0
// A header is missing: the file fails, but not for the reason that it gives.
// EXPECT: there_is_no_such_header
#include <there_is_no_such_header.hpp>

#ifdef ATTEST_TWIN
int main() { return 0; }
#else
int main() { return 1; }
#endif
