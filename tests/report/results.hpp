// SPDX-License-Identifier: BSL-1.0
// Results made by hand, to be reported.
#pragma once

#include "attest/oracle/verdict.hpp"

#include <limits>
#include <string>

namespace made {

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline attest::worst_element element(double got) {
    attest::worst_element e;
    e.index = {0, 3, 17, 5};
    e.got = got;
    e.expected = "0.23071289062500000000";
    e.correctly_rounded = 0x1.d88p-3;
    e.ulp = 36.25;
    e.limit_ulp = 9.75;
    e.expected_limit_ulp = 2.25;
    return e;
}

inline attest::output_result output(attest::verdict verdict) {
    attest::output_result o;
    o.name = "out";
    o.type = attest::dtype::bf16;
    o.shape = {1, 8, 128, 64};
    o.verdict = verdict;
    o.arithmetic = "bf16+f32";
    o.elements = 65536;
    o.exact = verdict == attest::verdict::exact ? 65536 : 1203;
    o.rows = 1024;
    o.max_ulp = 36.25;
    o.rms_ulp = 7.5;
    o.limit_share = 0.25;
    o.expected_share = 0.5;
    o.has_expected = true;
    o.rungs = {60000, 5000, 530};
    o.decided = 6;
    o.worst = element(0.1953125);
    if (verdict >= attest::verdict::suspicious) {
        o.outside_expected = 41980;
        o.rows_outside_expected = 950;
        o.first_outside = element(0.5);
        o.first_outside->index = {0, 0, 1, 2};
    }
    if (verdict >= attest::verdict::inaccurate) {
        o.outside_certain = 41002;
        o.rows_outside = 900;
    }
    if (verdict == attest::verdict::inaccurate) o.weaker = "bf16";
    if (verdict == attest::verdict::undecided) o.blind = 50000;
    return o;
}

inline attest::check_result result(attest::verdict verdict) {
    attest::check_result r;
    r.op = "attention";
    r.conventions = {{"causal", "bottom-right"}, {"scale", "1/sqrt(d_k)"}};
    r.inputs = {{"q", attest::dtype::bf16, {1, 8, 128, 64}}, {"mask", attest::dtype::boolean, {128, 128}}};
    r.arithmetic = "bf16+f32";
    r.verdict = verdict;
    r.lambda = 8.25;
    r.trials = 65536;
    if (verdict >= attest::verdict::suspicious) r.first_bad_stage = "out";
    r.outputs = {output(verdict)};
    r.seconds = {0.25, 0.125};
    return r;
}

inline constexpr attest::verdict all_verdicts[] = {attest::verdict::exact,      attest::verdict::consistent, attest::verdict::undecided,
                                                  attest::verdict::suspicious, attest::verdict::inaccurate, attest::verdict::wrong};

} // namespace made
