// SPDX-License-Identifier: BSL-1.0
// The file fails with another message than the one that it gives.
// EXPECT: the length of a must be that of b

int main() {
#ifdef ATTEST_TWIN
    return 0;
#else
    return zero;
#endif
}
