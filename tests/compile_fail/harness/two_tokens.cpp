// SPDX-License-Identifier: BSL-1.0
// The branches differ in two tokens, so nobody knows which of them the compiler means.
// EXPECT: zero

int main() {
    int a = 0;
#ifdef ATTEST_TWIN
    return a + 0;
#else
    return zero + 1;
#endif
}
