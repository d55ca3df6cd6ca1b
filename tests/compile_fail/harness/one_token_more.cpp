// SPDX-License-Identifier: BSL-1.0
// The branches differ in length.
// EXPECT: lvalue

int main() {
    int a = 0;
#ifdef ATTEST_TWIN
    return - a;
#else
    return -- a + 1;
#endif
}
