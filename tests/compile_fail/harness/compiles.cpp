// SPDX-License-Identifier: BSL-1.0
// Nothing is wrong with it.
// EXPECT: return

int main() {
#ifdef ATTEST_TWIN
    return 0;
#else
    return 1;
#endif
}
