// SPDX-License-Identifier: BSL-1.0
// independent [ELEMENTS] [SEED] [FIRST]: attest's certified values against a second implementation on Arb's balls, on random cases from number FIRST on, until
// so many elements have been compared. Exit status 1: an enclosure that holds no number of Arb's, a wrong rounding, or an element that is not there.
#ifndef ATTEST_HAVE_ARB

#include <cstdio>

int main() {
    std::puts("independent: skipped, since Arb (or FLINT 3, which has it) was not found when this was built: ./setup.sh installs it");
    return 77;
}

#else

#include "cases.hpp"
#include "compare.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

using namespace independent;

std::string shape_of(const table& t) {
    std::string text = t.type + "[";
    for (std::size_t k = t.left_out; k < t.shape.size(); ++k) text += (k > t.left_out ? "," : "") + std::to_string(t.shape[k]);
    return text + "]";
}

std::string text_of(const arf_number& x) {
    arb_number ball;
    arb_set_arf(ball.get(), x.get());
    const std::unique_ptr<char, void (*)(void*)> text(arb_get_str(ball.get(), 40, ARB_STR_NO_RADIUS), flint_free);
    return text.get();
}

void print(const question& asked, std::uint64_t seed, std::uint64_t number, const fault& f) {
    std::printf("\n%s: %s, element %zu of [batch, head, row, column], from %s; case %" PRIu64 " of seed %" PRIu64 " (independent 1 %" PRIu64 " %" PRIu64 "), %s\n", f.what.c_str(),
                f.output.c_str(), f.index, f.got.from != nullptr ? f.got.from : "nowhere", number, seed, seed, number, asked.about.c_str());
    std::printf("  attest    %s, radius %s\n", text_of(number_of(f.got.middle)).c_str(), f.got.radius.infinite != 0 ? "infinite" : text_of(number_of(f.got.radius)).c_str());
    std::printf("  Arb from  %s\n      to    %s\n ", text_of(f.expected.low).c_str(), text_of(f.expected.high).c_str());
    std::size_t values = 0;
    for (const auto& [key, value] : settings_text(asked)) std::printf(" %s=%s", key.c_str(), value.c_str());
    std::printf("\n ");
    for (const auto& [name, t] : asked.tensors) {
        std::printf(" %s %s", name.c_str(), shape_of(t).c_str());
        values += t.values.size();
    }
    std::printf("\n");
    if (values > 60) return;
    for (const auto& [name, t] : asked.tensors) {
        std::printf("  %s =", name.c_str());
        for (const double x : t.values) std::printf(" %a", x);
        std::printf("\n");
    }
}

std::string row_of(const question& asked, const std::string& output) {
    constexpr const char* scores[] = {"scaled", "dot", "bilinear", "additive"};
    return asked.how.op + " " + (asked.how.op == "score" ? scores[static_cast<int>(asked.how.score)] : output);
}

void print(const std::map<std::string, counts>& all, const seconds& spent, std::uint64_t cases) {
    std::printf("%-22s %10s %9s %9s %9s %18s %9s %9s %9s\n", "", "elements", "disjoint", "wrong", "missing", "unseparated: both", "Arb", "attest", "of these exact");
    counts sum;
    const auto line = [](const char* name, const counts& c) {
        std::printf("%-22s %10zu %9zu %9zu %9zu %18zu %9zu %9zu %9zu\n", name, c.elements, c.disjoint, c.wrong, c.missing, c.both_open, c.arb_open, c.attest_open, c.exact_open);
    };
    for (const auto& [name, c] : all) {
        line(name.c_str(), c);
        sum += c;
    }
    line("all", sum);
    std::size_t settled = 0;
    for (const auto& [rung, count] : sum.settled) settled += count;
    std::printf("\nseparated in every format, where no rung was forced:");
    for (const auto& [rung, count] : sum.settled) std::printf("  %s %zu (%.2f %%)", rung.c_str(), count, 100.0 * static_cast<double>(count) / static_cast<double>(settled));
    std::printf("\n%" PRIu64 " cases, %zu enclosures; processor time: rungs as needed %.1f s, every rung %.1f s, evaluate %.1f s, Arb %.1f s\n", cases, sum.claims, spent.rungs, spent.every_rung,
                spent.values, spent.arb);
    std::printf("%zu passed, %zu failed\n", sum.elements - sum.faults(), sum.faults());
}

int run(std::uint64_t elements, std::uint64_t seed, std::uint64_t first) {
    constexpr std::size_t most_messages = 12;
    std::map<std::string, counts> all;
    seconds spent;
    std::uint64_t number = first, done = 0;
    std::size_t faults = 0;
    for (; done < elements; ++number) {
        const question asked = draw_case(seed, number);
        std::map<std::string, counts> here;
        std::size_t of_this_case = 0;
        try {
            compare_case(
                asked, number % 8 == 0, number % 4 == 1, [&](const std::string& output) -> counts& { return here[row_of(asked, output)]; },
                [&](const fault& f) {
                    if (of_this_case++ == 0 && faults++ < most_messages) print(asked, seed, number, f);
                },
                spent);
        } catch (const std::exception& error) {
            std::printf("\ncase %" PRIu64 " of seed %" PRIu64 ", %s: %s\n", number, seed, asked.about.c_str(), error.what());
            for (const auto& [key, value] : settings_text(asked)) std::printf(" %s=%s", key.c_str(), value.c_str());
            for (const auto& [name, t] : asked.tensors) std::printf(" %s %s", name.c_str(), shape_of(t).c_str());
            std::printf("\n");
            return 1;
        }
        for (const auto& [name, c] : here) {
            all[name] += c;
            done += c.elements;
        }
    }
    std::printf("\n");
    print(all, spent, number - first);
    if (faults > most_messages) std::printf("(%zu cases have faults; the first of each of %zu is shown)\n", faults, most_messages);
    return faults == 0 ? 0 : 1;
}

} // namespace

int main(int count, char** arguments) {
    std::uint64_t numbers[] = {20000, 1, 0};
    for (int i = 1; i < count && i <= 3; ++i) {
        char* end = nullptr;
        numbers[i - 1] = std::strtoull(arguments[i], &end, 10);
        if (end == arguments[i] || *end != 0 || count > 4) {
            std::fputs("usage: independent [ELEMENTS [SEED [FIRST]]]\n", stderr);
            return 2;
        }
    }
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    const int status = run(numbers[0], numbers[1], numbers[2]);
    flint_cleanup();
    return status;
}

#endif
