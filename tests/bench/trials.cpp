// SPDX-License-Identifier: BSL-1.0
// Trials: emulated right kernels against both limits and the verdict, in a table; a kernel that is wrong and must be caught; one case for each verdict.
//
//   trials [--runs N] [--long N] [--named N] [--lost A,B,C] [--only NAME] [--part K/N] [--seed S]
//   trials --replay 'NAME' [--seed S]
//
//   --runs N      runs of every combination of arithmetic, kernel, inputs and pass (default 20)
//   --long N      runs of those of 4096 and 8192 queries or keys (default: as --runs)
//   --named N     runs of each of the ten named cases (default 1000)
//   --lost A,B,C  runs of the kernel that loses each late row's own key, at n = 1024, 4096 and 8192 (default 3,1,1)
//   --only NAME   one section alone: verdicts, named, lost, others; or those of the combinations whose inputs' name has NAME in it, or whose arithmetic is NAME
//   --part K/N    every Nth combination, from the Kth (1 to N), for several processes
//   --seed S      other inputs and kernels (default 1)
//   --replay NAME one run again, by the name that its fail gave, with all figures of its outputs
//
// A line: how many runs had each verdict; then for each output the greatest error, final store included, as a share of the certain and of the expected limit.
// Exit status 1 if a right kernel fails (suspicious, inaccurate or wrong), if a wrong one does not, or if a named case is not judged or its 16-bit error does not
// reach a quarter of the expected limit.
//
// g++ -std=c++20 -O2 -ffp-contract=off -I include -I tests tests/bench/trials.cpp -o trials
#include "bench/trials_sections.hpp"
#include "checked.cpp" // one file, one command

#include <cstdlib>

namespace {

struct options {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t runs = 20, long_ones = none, named = 1000, lost[3] = {3, 1, 1}, part = 0, parts = 1;
    std::uint64_t seed = 1;
    std::string only, replay;
};

// False: not understood.
bool read(int argc, char** argv, options& o) {
    for (int k = 1; k < argc; k += 2) {
        const std::string name = argv[k];
        if (k + 1 == argc) return false;
        const char* const value = argv[k + 1];
        if (name == "--runs") o.runs = std::strtoul(value, nullptr, 10);
        else if (name == "--long") o.long_ones = std::strtoul(value, nullptr, 10);
        else if (name == "--named") o.named = std::strtoul(value, nullptr, 10);
        else if (name == "--seed") o.seed = std::strtoul(value, nullptr, 10);
        else if (name == "--only") o.only = value;
        else if (name == "--replay") o.replay = value;
        else if (name == "--lost") {
            if (std::sscanf(value, "%zu,%zu,%zu", &o.lost[0], &o.lost[1], &o.lost[2]) != 3) return false;
        } else if (name == "--part") {
            if (std::sscanf(value, "%zu/%zu", &o.part, &o.parts) != 2 || o.part == 0 || o.part > o.parts) return false;
            --o.part;
        } else return false;
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    using namespace trials;
    options o;
    if (!read(argc, argv, o)) {
        std::fprintf(stderr, "trials [--runs N] [--long N] [--named N] [--lost A,B,C] [--only NAME] [--part K/N] [--seed S]: see the head of tests/bench/trials.cpp\n");
        return 2;
    }
    if (!o.replay.empty()) return replay(o.replay, o.seed) ? 0 : 2;
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    const auto is_asked = [&](const char* section) { return o.part == 0 && (o.only.empty() || o.only == section); };
    summary all;
    bool good = true;
    if (is_asked("verdicts")) {
        std::printf("All six verdicts\n");
        good = run_verdicts(all) && good;
    }
    if (is_asked("lost")) {
        std::printf("\nA kernel whose rows i >= n/2 sum keys 0 to i - 1 alone: q, k, v from N(0,1), d = 64, causal, declared bf16+f32, all rows checked\n");
        const std::size_t lengths[] = {1024, 4096, 8192};
        if (o.lost[0] > 0) good = run_lost_key(lengths[0], 0, true, o.seed, all) && good;
        for (int k = 0; k < 3; ++k)
            for (std::size_t run = 0; run < o.lost[k]; ++run) good = run_lost_key(lengths[k], run, false, o.seed, all) && good;
    }
    if (is_asked("named") && o.named > 0) {
        std::printf("\nNamed cases: q, k, v and dout from N(0,1), 16 to 64 queries and keys, all stored that may be stored\n");
        print_header();
        for (const named_case& c : named_cases()) good = run_named(c, o.named, o.seed, all) && good;
        std::printf("(%.0f s so far)\n", seconds());
    }
    if (o.only != "verdicts" && o.only != "lost" && o.only != "named") {
        std::printf("\nAll combinations\n");
        print_header();
        run_others(o.runs, o.long_ones == options::none ? o.runs : o.long_ones, o.only == "others" ? "" : o.only, o.part, o.parts, o.seed, all);
    }
    std::printf("\n%zu runs, %zu false fails, %zu not as they should be, %.0f s: %s\n", all.runs, all.false_fails, all.missed, seconds(), good && all.good() ? "good" : "NOT GOOD");
    return good && all.good() ? 0 : 1;
}
