// SPDX-License-Identifier: BSL-1.0
// Nothing says what the compiler must say.

int main() {
#ifdef ATTEST_TWIN
    return 0;
#else
    return zero;
#endif
}
