// SPDX-License-Identifier: BSL-1.0
// A file as it should be: the harness lets it pass.
// EXPECT: the length of [a]; must be that of "b": Q·Kᵀ
// EXPECT-GNU: the length of
// EXPECT-Clang: the length of

template <int A, int B>
int product(const int (&)[A], const int (&)[B]) {
    static_assert(A == B, "the length of [a]; must be that of \"b\": Q·Kᵀ");
    return A;
}

int main() {
    int a[3] = {};
    int b[4] = {};
#ifdef ATTEST_TWIN
    return product(a, a) - b[0]; // a; [0]
#else
    return product(a, b) - b[0];
#endif
}
