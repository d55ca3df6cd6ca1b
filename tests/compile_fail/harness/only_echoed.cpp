// SPDX-License-Identifier: BSL-1.0
// The expected text stands in a line of the source that a compiler likes to show, and in no message.
// EXPECT: the text of a comment

int main() {
#ifdef ATTEST_TWIN
    return 0; // the text of a comment
#else
    return zero; // the text of a comment
#endif
}
