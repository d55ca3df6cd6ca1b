// SPDX-License-Identifier: BSL-1.0
// EXPECT: <format> is not in every standard library that must do
#include <format>
