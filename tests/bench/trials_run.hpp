// SPDX-License-Identifier: BSL-1.0
// One trial: an emulated kernel's outputs before `check`; and a line of the table, which counts many.
#pragma once

#include "bench/trials_backward.hpp"
#include "bench/trials_inputs.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <string>

namespace trials {

enum class pass { forward, backward, both };
inline const char* name_of(pass p) { return p == pass::forward ? "forward" : p == pass::backward ? "backward" : "both"; }

// A kernel by what a line of the table fixes; everything else is drawn.
struct kernel_kind {
    const char* name;
    form shape;
    bool sum_of_stored = false;
    std::optional<mean_from> mean = std::nullopt;
};
inline std::vector<kernel_kind> kinds_of(const setting& s, pass p) {
    std::vector<kernel_kind> kinds;
    if (p == pass::forward) {
        kinds = {{"plain", form::plain}, {"flash", form::flash}, {"split", form::split}};
        if (s.stores_weights) kinds.push_back({"flash, stored sum", form::flash, true});
    } else {
        kinds = {{"plain", form::plain}, {"flash", form::flash, false, mean_from::out}};
        if (s.stores_weights) kinds.push_back({"flash, D stored out", form::flash, false, mean_from::stored_out});
    }
    return kinds;
}
inline kernel_style draw_style(const setting& s, const kernel_kind& kind, std::size_t n_k, bool always, generator& r) {
    kernel_style how = draw_style(s, kind.shape, n_k, always, r);
    if (kind.sum_of_stored) {
        how.sum_of_stored = true;
        how.weights = s.output;
    }
    if (kind.mean) how.mean = *kind.mean;
    return how;
}

inline std::vector<std::size_t> rows_of(const question& asked) { return attest::sampled_rows(asked.in.n_q, asked.rows.value_or(attest::row_sample{asked.in.n_q, 0})); }

template <class T> results run_kernel(const question& asked, const kernel_style& how, pass p) {
    emulation<T> kernel(asked.in, asked.dout, how);
    return p == pass::forward ? kernel.forward(rows_of(asked)) : kernel.backward(rows_of(asked), asked.columns);
}

// What a pass made, before the check. lse is kept in f32 where the rest is stored in 16 bits.
inline attest::check_result judge(const setting& s, const question& asked, const results& made, pass p, bool with_lse) {
    const inputs& in = asked.in;
    const auto encoded = [&](std::vector<std::size_t> shape, const std::vector<double>& x) { return kernels::array_of(s.stored, std::move(shape), x); };
    const attest::array q = encoded({in.n_q, in.d_k}, in.q), k = encoded({in.n_k, in.d_k}, in.k), v = encoded({in.n_k, in.d_v}, in.v), dout = encoded({in.n_q, in.d_v}, asked.dout);
    const attest::array bias = encoded({in.bias.empty() ? 0 : in.n_q, in.n_k}, in.bias);
    std::vector<attest::named_view> given{{"q", q}, {"k", k}, {"v", v}};
    if (!in.bias.empty()) given.emplace_back("mask", bias);
    if (p != pass::forward) given.emplace_back("dout", dout);
    std::vector<std::pair<std::string, attest::array>> outputs;
    if (p == pass::forward && with_lse) outputs.emplace_back("lse", kernels::array_of(s.stores_weights ? attest::dtype::f32 : s.stored, {in.n_q}, made.lse));
    if (p != pass::backward) outputs.emplace_back("out", encoded({in.n_q, in.d_v}, made.out));
    if (p != pass::forward) outputs.emplace_back("dq", encoded({in.n_q, in.d_k}, made.dq));
    if (p != pass::forward && asked.columns) outputs.emplace_back("dk", encoded({in.n_k, in.d_k}, made.dk));
    if (p != pass::forward && asked.columns) outputs.emplace_back("dv", encoded({in.n_k, in.d_v}, made.dv));
    std::vector<attest::named_view> candidates;
    for (const auto& [name, value] : outputs) candidates.emplace_back(name, value);
    attest::settings conventions{{"op", "attention"}, {"causal", in.causal}, {"arithmetic", s.arithmetic}};
    if (in.scale != 0) {
        char text[40];
        std::snprintf(text, sizeof text, "%a", in.scale);
        conventions.emplace_back("scale", text);
    }
    return once::check(conventions, given, candidates, {}, asked.rows);
}

inline bool is_fail(attest::verdict v) { return v == attest::verdict::suspicious || v == attest::verdict::inaccurate || v == attest::verdict::wrong; }

inline constexpr const char* output_names[] = {"out", "lse", "dq", "dk", "dv"};

// What a line of the table says.
struct tally {
    std::size_t runs = 0, fails = 0;
    double seconds = 0;
    std::array<std::size_t, 6> verdicts{}; // in the order of attest::verdict
    std::array<double, 5> certain{}, expected{};
    std::array<bool, 5> has_limits{};

    void count(const attest::check_result& result) {
        ++runs;
        ++verdicts[static_cast<std::size_t>(result.verdict)];
        fails += is_fail(result.verdict) ? 1 : 0;
        for (const attest::output_result& output : result.outputs)
            for (std::size_t k = 0; k < std::size(output_names); ++k)
                if (output.name == output_names[k] && output.limits_derived) {
                    has_limits[k] = true;
                    certain[k] = std::max(certain[k], output.limit_share);
                    expected[k] = std::max(expected[k], output.expected_share);
                }
    }
    [[nodiscard]] double greatest_expected() const { return *std::max_element(expected.begin(), expected.end()); }
    // Of what is stored in 16 bits: lse is not.
    [[nodiscard]] double greatest_expected_but_lse() const { return std::max(std::max(expected[0], expected[2]), std::max(expected[3], expected[4])); }
    void add(const tally& other) {
        runs += other.runs;
        fails += other.fails;
        seconds += other.seconds;
        for (std::size_t k = 0; k < verdicts.size(); ++k) verdicts[k] += other.verdicts[k];
        for (std::size_t k = 0; k < certain.size(); ++k) {
            certain[k] = std::max(certain[k], other.certain[k]);
            expected[k] = std::max(expected[k], other.expected[k]);
            has_limits[k] = has_limits[k] || other.has_limits[k];
        }
    }
};

inline void print_header() {
    std::printf("%-9s %-22s %-21s %-8s %5s  %6s %6s %6s %6s %6s %6s", "", "kernel", "inputs", "pass", "runs", "exact", "consis", "undec.", "suspic", "inacc.", "wrong");
    for (const char* name : output_names) std::printf("  %-13s", name);
    std::printf("  seconds\n");
}
inline void print_line(const std::string& arithmetic, const std::string& kernel, const std::string& family, const char* way, const tally& t) {
    std::printf("%-9s %-22s %-21s %-8s %5zu ", arithmetic.c_str(), kernel.c_str(), family.c_str(), way, t.runs);
    for (const std::size_t count : t.verdicts) std::printf(" %6zu", count);
    for (std::size_t k = 0; k < t.certain.size(); ++k)
        if (t.has_limits[k]) std::printf("  %6.4f %6.4f", t.certain[k], t.expected[k]);
        else std::printf("  %6s %6s", "-", "-");
    std::printf("  %7.2f\n", t.seconds);
    std::fflush(stdout);
}
// `name`: what --replay takes.
inline void print_outputs(const char* how_so, const std::string& name, const question& asked, const kernel_style& how, const attest::check_result& result, bool fails_alone) {
    std::printf("  %s: '%s', n_q %zu, n_k %zu, d %zu%s, %s\n", how_so, name.c_str(), asked.in.n_q, asked.in.n_k, asked.in.d_k, asked.rows ? ", 64 rows" : "", how.text().c_str());
    for (const attest::output_result& o : result.outputs) {
        if (fails_alone && !is_fail(o.verdict)) continue;
        const auto w = o.first_outside ? o.first_outside : o.worst;
        std::printf("    %s %s: outside certain %zu, expected %zu of %zu, exact %zu, blind %zu, unjudged %zu; shares %.4f %.4f; rungs %zu %zu %zu, decided %zu, unseparated %zu", o.name.c_str(),
                    std::string(name_of(o.verdict)).c_str(), o.outside_certain, o.outside_expected, o.elements, o.exact, o.blind, o.unjudged, o.limit_share, o.expected_share,
                    o.rungs.in_double, o.rungs.in_double_double, o.rungs.in_real, o.decided, o.unseparated);
        if (w) std::printf("; got %a for %s at %s, off %g ulp, limits %g and %g", w->got, w->expected.c_str(), attest::shape_text(w->index).c_str(), w->ulp, w->limit_ulp, w->expected_limit_ulp);
        std::printf("\n");
    }
    std::fflush(stdout);
}

inline std::uint64_t seed_of(const std::string& what, std::uint64_t seed) {
    std::uint64_t hash = 0xcbf29ce484222325ULL; // FNV-1a
    for (const char c : what) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return generator(hash + seed).bits();
}

// One run of a combination.
struct trial {
    question asked;
    kernel_style how;
    results made;
};
inline std::string name_of_line(const setting& s, const kernel_kind& kind, const trial_family& f, pass p) {
    return std::string(s.arithmetic) + "|" + kind.name + "|" + f.name + "|" + name_of(p) + "|";
}
inline trial make_trial(const setting& s, const kernel_kind& kind, const trial_family& f, pass p, std::size_t run, bool always, std::uint64_t seed) {
    trial t;
    generator r(seed_of(name_of_line(s, kind, f, p) + std::to_string(run), seed));
    t.asked = draw_question(f, run, p != pass::forward, *s.format, r);
    t.how = draw_style(s, kind, t.asked.in.n_k, always, r);
    t.made = s.stored == attest::dtype::f64 ? run_kernel<double>(t.asked, t.how, p) : run_kernel<float>(t.asked, t.how, p);
    return t;
}

// `runs` runs of one combination, each with a seed of its own: the same whatever else is run.
inline tally run_line(const setting& s, const kernel_kind& kind, const trial_family& f, pass p, std::size_t runs, bool always, std::uint64_t seed) {
    tally t;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t run = 0; run < runs; ++run) {
        const trial one = make_trial(s, kind, f, p, run, always, seed);
        const attest::check_result result = judge(s, one.asked, one.made, p, true);
        t.count(result);
        if (is_fail(result.verdict) && t.fails <= 3) print_outputs("FAILS", name_of_line(s, kind, f, p) + std::to_string(run), one.asked, one.how, result, true);
    }
    t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return t;
}

} // namespace trials
