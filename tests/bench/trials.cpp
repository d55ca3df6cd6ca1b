// SPDX-License-Identifier: BSL-1.0
// Trials: many emulated right kernels against the certain limit, and a table of how near they come. None may be outside.
//
//   trials [runs]     a row for each arithmetic and family of inputs: runs, verdicts, and the greatest error in units of the limit
//
// g++ -std=c++20 -O2 -I include -I tests tests/bench/trials.cpp -o trials
#include "oracle/judged.hpp"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    using namespace kernels;
    const int runs = argc > 1 ? std::atoi(argv[1]) : 20;
    std::printf("%-9s %-20s %6s %6s %6s %6s %6s  %7s %7s %7s %7s %7s\n", "", "", "exact", "cons.", "undec.", "inacc.", "wrong", "raw", "scores", "weights", "lse", "out");
    int failures = 0;
    std::uint64_t seed = 1;
    for (const setting& s : settings_of_all)
        for (const family& f : families) {
            generator r(seed++);
            int verdicts[5] = {};
            double share[5] = {};
            for (int run_number = 0; run_number < runs; ++run_number) {
                const std::size_t lengths[] = {1, 2, 3, 4, 5, 6, 8, 11, 16, 16, 33, 33, 100, 300, 683};
                const std::size_t n_k = lengths[r.below(15)], n_q = 1 + r.below(n_k > 40 ? 2 : 5), d = std::size_t{1} << r.below(n_k > 40 ? 5 : 7);
                const inputs in = make_inputs(f, r, n_q, n_k, d, *s.format);
                const style how = draw_style(s, r, n_k);
                const outputs made = run(s, in, how);
                named_values candidates{{"out", made.out}};
                const bool natural = !(how.base_two && in.bias.empty() && how.everything == nullptr);
                // lse is kept in f32: that of a denominator of stored weights is another number.
                if (!how.sum_of_stored) candidates.emplace_back("lse", made.lse);
                if (how.block == 0) {
                    candidates.emplace_back("weights", made.weights);
                    if (!how.base_two) candidates.emplace_back("scores", made.scores);
                    if (how.scale == scaling::of_product && natural) candidates.emplace_back("raw_scores", made.raw_scores);
                }
                const auto result = judge(in, s.stored, s.arithmetic, candidates);
                ++verdicts[static_cast<int>(result.verdict)];
                for (const auto& output : result.outputs) {
                    const char* names[] = {"raw_scores", "scores", "weights", "lse", "out"};
                    for (int k = 0; k < 5; ++k)
                        if (output.name == names[k]) share[k] = std::max(share[k], output.limit_share);
                    if (passes(output.verdict) || output.verdict == attest::verdict::undecided) continue;
                    ++failures;
                    std::printf("  FAILS %s %s n_q %zu n_k %zu d %zu %s: %s %s, share %g, %zu of %zu outside; got %a expected %s limit %g ulp, off %g\n", s.arithmetic,
                                f.name, n_q, n_k, d, how.text().c_str(), output.name.c_str(), std::string(name_of(output.verdict)).c_str(), output.limit_share,
                                output.outside_certain, output.elements, output.first_outside ? output.first_outside->got : 0,
                                output.first_outside ? output.first_outside->expected.c_str() : "", output.first_outside ? output.first_outside->limit_ulp : 0,
                                output.first_outside ? output.first_outside->ulp : 0);
                }
            }
            std::printf("%-9s %-20s %6d %6d %6d %6d %6d  %7.3f %7.3f %7.3f %7.3f %7.3f\n", s.arithmetic, f.name, verdicts[0], verdicts[1], verdicts[2], verdicts[3],
                        verdicts[4], share[0], share[1], share[2], share[3], share[4]);
        }
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
