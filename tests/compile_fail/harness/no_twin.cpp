// SPDX-License-Identifier: BSL-1.0
// There is no twin that compiles.
// EXPECT: zero

int main() { return zero; }
