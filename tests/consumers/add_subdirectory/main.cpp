// SPDX-License-Identifier: BSL-1.0
// The whole way without the program: write a case, read it back, judge it, report it.
#include <attest/formula/attention.hpp>
#include <attest/io/npz.hpp>
#include <attest/oracle/check.hpp>
#include <attest/question/case.hpp>
#include <attest/report/text.hpp>

#include <cstdio>
#include <cstring>

using any = attest::axis<attest::dynamic>;

static attest::named_array packed(const char* name, const attest::tensor<double, any, any>& x) {
    attest::named_array result{name, {attest::dtype::f64, {x.length(0), x.length(1)}, std::vector<std::byte>(x.elements() * sizeof(double))}};
    std::memcpy(result.value.data.data(), x.data(), result.value.data.size());
    return result;
}

int main() {
    const attest::tensor<double, any, any> q{{1, 0}, {0, 1}}, k{{1, 0}, {0, 1}}, v{{2, 0}, {0, 3}};
    attest::write_npz("case.npz", {{packed("q", q), packed("k", k), packed("v", v), packed("out", attest::attention(q, k, v))}});

    const attest::archive file = attest::read_npz("case.npz");
    const attest::question asked = attest::arrange(file, {}, {{{"op", "attention"}, {"arithmetic", "f64"}}, {}, {}});
    const attest::check_result result = attest::check(asked.given, asked.inputs, asked.candidates);
    std::fputs(attest::report::text(result, "case.npz").c_str(), stdout);
    return attest::passes(result.verdict) ? 0 : 1;
}
