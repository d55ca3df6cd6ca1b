// SPDX-License-Identifier: BSL-1.0
// The sections of the trials: named cases, all other combinations, a kernel that is wrong, and one case for each verdict.
#pragma once

#include "bench/trials_run.hpp"

#include <cstdlib>

namespace trials {

// What the whole program says at its end.
struct summary {
    std::size_t runs = 0, false_fails = 0, missed = 0;
    [[nodiscard]] bool good() const { return false_fails == 0 && missed == 0; }
};

// --- 1. Named cases: q, k, v and dout from N(0,1), at least 16 keys, an arithmetic that stores what it may store.

struct named_case {
    const char* name;
    const char* arithmetic;
    std::vector<kernel_kind> kinds; // taken in turn
    trials::pass pass;
};
inline std::vector<named_case> named_cases() {
    const kernel_kind plain{"plain", form::plain}, flash{"flash", form::flash}, stored_out{"flash", form::flash, false, mean_from::stored_out};
    return {
        {"f32 forward", "f32", {plain, flash}, pass::forward},
        {"f32 backward", "f32", {plain, flash}, pass::backward},
        {"tf32 forward", "tf32", {plain, flash}, pass::forward},
        {"bf16+f32 plain forward", "bf16+f32", {plain}, pass::forward},
        {"bf16+f32 flash forward", "bf16+f32", {flash}, pass::forward},
        {"bf16+f32 backward", "bf16+f32", {stored_out}, pass::backward},
        {"f16+f32 flash, both", "f16+f32", {stored_out}, pass::both},
        {"bf16 forward", "bf16", {plain}, pass::forward},
        {"bf16 backward", "bf16", {plain}, pass::backward},
        {"f16, both", "f16", {plain}, pass::both},
    };
}
// No run may fail or be undecided, and the greatest error of a 16-bit output reaches a quarter of the expected limit.
inline bool run_named(const named_case& c, std::size_t runs, std::uint64_t seed, summary& all) {
    const setting& s = setting_of(c.arithmetic);
    const trial_family inputs{"N(0,1)", lengths::named, 0, &detail::nothing};
    tally t;
    for (std::size_t k = 0; k < c.kinds.size(); ++k) t.add(run_line(s, c.kinds[k], inputs, c.pass, (runs + c.kinds.size() - 1 - k) / c.kinds.size(), true, seed));
    print_line(c.arithmetic, c.name, inputs.name, name_of(c.pass), t);
    all.runs += t.runs;
    all.false_fails += t.fails;
    bool good = t.fails == 0;
    if (const std::size_t undecided = t.verdicts[static_cast<std::size_t>(attest::verdict::undecided)]; undecided != 0) {
        std::printf("  NOT JUDGED: %zu of %zu runs are undecided\n", undecided, t.runs);
        good = false;
    }
    if (s.stores_weights && t.greatest_expected_but_lse() < 0.25) {
        std::printf("  TOO WIDE: the greatest error is %.4f of the expected limit, less than a quarter\n", t.greatest_expected_but_lse());
        good = false;
    }
    return good;
}

// --- 2. All combinations.

inline void run_others(std::size_t runs, std::size_t runs_if_long, const std::string& only, std::size_t part, std::size_t parts, std::uint64_t seed, summary& all) {
    std::size_t number = 0;
    for (const setting& s : all_settings) {
        tally of_arithmetic[2];
        for (const pass p : {pass::forward, pass::backward})
            for (const kernel_kind& kind : kinds_of(s, p))
                for (const trial_family& f : all_families()) {
                    const bool is_of_dout = f.name.starts_with("dout");
                    if (!only.empty() && f.name.find(only) == std::string::npos && only != s.arithmetic) continue;
                    const std::size_t count = f.n >= long_rows ? runs_if_long : runs;
                    if ((is_of_dout && p == pass::forward) || (f.n >= long_rows && s.stored == attest::dtype::f64) || count == 0 || number++ % parts != part) continue;
                    const tally t = run_line(s, kind, f, p, count, false, seed);
                    print_line(s.arithmetic, kind.name, f.name, name_of(p), t);
                    of_arithmetic[p == pass::forward ? 0 : 1].add(t);
                }
        for (const tally& t : of_arithmetic) {
            if (t.runs == 0) continue;
            print_line(s.arithmetic, "all", "all", &t == of_arithmetic ? "forward" : "backward", t);
            all.runs += t.runs;
            all.false_fails += t.fails;
        }
    }
}

// One run again, by the name that a fail gives; false if there is no such.
inline bool replay(const std::string& name, std::uint64_t seed) {
    const std::string line = name.substr(0, name.rfind('|') + 1);
    const std::size_t run = std::strtoul(name.c_str() + line.size(), nullptr, 10);
    std::vector<trial_family> families = all_families();
    families.push_back({"N(0,1)", lengths::named, 0, &detail::nothing});
    for (const setting& s : all_settings)
        for (const pass p : {pass::forward, pass::backward, pass::both})
            for (const kernel_kind& kind : kinds_of(s, p))
                for (const trial_family& f : families) {
                    if (name_of_line(s, kind, f, p) != line) continue;
                    const trial one = make_trial(s, kind, f, p, run, f.how_long == lengths::named, seed);
                    const auto start = std::chrono::steady_clock::now();
                    std::printf("n_q %zu, n_k %zu, d %zu\n", one.asked.in.n_q, one.asked.in.n_k, one.asked.in.d_k);
                    std::fflush(stdout);
                    const attest::check_result result = judge(s, one.asked, one.made, p, true);
                    print_outputs("REPLAYED", name, one.asked, one.how, result, false);
                    std::printf("%s, %.2f s\n", std::string(name_of(result.verdict)).c_str(), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
                    return true;
                }
    return false;
}

// --- 3. Rows i >= n/2 sum keys 0 to i − 1 alone: causal, d = 64, declared bf16+f32, all rows checked.

// How many elements of the late rows are outside, and whether the kernel is caught. `right`: the same without the mistake.
inline bool run_lost_key(std::size_t n, std::size_t run, bool right, std::uint64_t seed, summary& all) {
    const auto start = std::chrono::steady_clock::now();
    const setting& s = setting_of("bf16+f32");
    generator r(seed_of("lost key|" + std::to_string(n) + "|" + std::to_string(run), seed));
    question asked;
    asked.in = inputs{n, n, 64, 64, draw_normal(r, n * 64, *s.format), draw_normal(r, n * 64, *s.format), draw_normal(r, n * 64, *s.format), {}, "top-left", 0};
    kernel_style how = draw_style(s, kernel_kind{"flash", form::flash}, n, true, r);
    how.block = std::size_t{32} << r.below(3);
    how.sum.order = r.below(2) == 0 ? summing::lanes : summing::blocked;
    how.sum.fma = false;
    results made;
    forward_kernel<float> kernel(asked.in, how);
    for (std::size_t i = 0; i < n; ++i)
        for (const float o : kernel.forward(i, !right && i >= n / 2 ? 1 : 0).out) made.out.push_back(static_cast<double>(o));
    const std::chrono::duration<double> emulated = std::chrono::steady_clock::now() - start;
    const attest::check_result result = judge(s, asked, made, pass::forward, false);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const attest::output_result& o = result.outputs.front();
    const bool good = is_fail(result.verdict) != right;
    std::printf("bf16+f32  %-20s n = %-5zu run %-3zu %-10s  outside expected %8zu (%.2f %% of the late rows' elements, %zu rows), certain %8zu; shares %.4f %.4f; %.1f s, %.1f s of them the kernel\n",
                right ? "right" : "own key lost", n, run, std::string(name_of(result.verdict)).c_str(), o.outside_expected,
                100 * static_cast<double>(o.outside_expected) / static_cast<double>((n - n / 2) * 64), o.rows_outside_expected, o.outside_certain, o.limit_share, o.expected_share,
                seconds.count(), emulated.count());
    if (!good) std::printf("  %s\n", right ? "FAILS" : "NOT CAUGHT");
    std::fflush(stdout);
    ++all.runs;
    all.false_fails += right && !good ? 1 : 0;
    all.missed += !right && !good ? 1 : 0;
    return good;
}

// --- 4. All six verdicts.

inline question small_question(const attest::format& f, std::size_t n, std::size_t d, std::uint64_t seed) {
    generator r(seed);
    question asked;
    asked.in = inputs{n, n, d, d, draw_normal(r, n * d, f), draw_normal(r, n * d, f), draw_normal(r, n * d, f), {}, "none", 0};
    return asked;
}
// A right kernel's output, one of whose elements is moved to the middle between its two limits.
inline attest::check_result between_the_limits() {
    const setting& s = setting_of("f32");
    const question asked = small_question(*s.format, 64, 16, 4);
    kernel_style how;
    results made = run_kernel<float>(asked, how, pass::forward);
    const attest::check_result right = judge(s, asked, made, pass::forward, false);
    if (!right.outputs.front().worst) return right;
    const attest::worst_element worst = *right.outputs.front().worst;
    const std::size_t at = worst.index[0] * asked.in.d_v + worst.index[1];
    made.out[at] = worst.correctly_rounded + (worst.limit_ulp + worst.expected_limit_ulp) / 2 * attest::ulp(*s.format, worst.correctly_rounded);
    return judge(s, asked, made, pass::forward, false);
}
inline attest::check_result case_of(attest::verdict v) {
    const setting &f32 = setting_of("f32"), &bf16 = setting_of("bf16");
    question asked = small_question(attest::formats::bf16, 16, 8, 1); // numbers of bf16 are numbers of f32
    kernel_style how;
    switch (v) {
    case attest::verdict::exact: // a row that sees one key
        asked = small_question(attest::formats::f32, 1, 8, 1);
        break;
    case attest::verdict::consistent: break;
    case attest::verdict::undecided: // scores near 10^4, 35 apart, stored in bf16, whose unit there is 64, say nothing of the weights
        std::fill(asked.in.q.begin(), asked.in.q.end(), attest::round_to(attest::formats::bf16, 100 / std::sqrt(8.0)));
        kernels::plus(asked.in.k, 100, attest::formats::bf16);
        how.everything = how.weights = rounded_to::bf16;
        how.divide_first = true;
        return judge(bf16, asked, run_kernel<float>(asked, how, pass::forward), pass::forward, false);
    case attest::verdict::suspicious: return between_the_limits();
    case attest::verdict::inaccurate: // weights stored in bf16, declared f32
        how.weights = rounded_to::bf16;
        break;
    case attest::verdict::wrong: { // the scale is missing
        question other = asked;
        other.in.scale = 1;
        return judge(f32, asked, run_kernel<float>(other, how, pass::forward), pass::forward, false);
    }
    }
    return judge(f32, asked, run_kernel<float>(asked, how, pass::forward), pass::forward, false);
}
inline bool run_verdicts(summary& all) {
    bool good = true;
    for (const attest::verdict v : {attest::verdict::exact, attest::verdict::consistent, attest::verdict::undecided, attest::verdict::suspicious, attest::verdict::inaccurate, attest::verdict::wrong}) {
        const attest::check_result result = case_of(v);
        std::printf("a case that is %-10s: %s%s\n", std::string(name_of(v)).c_str(), std::string(name_of(result.verdict)).c_str(), result.verdict == v ? "" : "   NOT AS IT SHOULD BE");
        good = good && result.verdict == v;
        ++all.runs;
    }
    all.missed += good ? 0 : 1;
    return good;
}

} // namespace trials
