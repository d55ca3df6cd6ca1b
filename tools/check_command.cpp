// SPDX-License-Identifier: BSL-1.0
#include "commands.hpp"
#include "load.hpp"
#include "oracle.hpp"
#include "progress.hpp"

#include "attest/report/json.hpp"
#include "attest/report/text.hpp"

#include <chrono>
#include <cstdlib>
#include <unistd.h>

namespace attest::program {

int worse(int a, int b) {
    const auto rank = [](int s) { return s == own_fault ? 4 : s == trouble ? 3 : s == failed ? 2 : s == undecided ? 1 : 0; };
    return rank(a) >= rank(b) ? a : b;
}

bool use_colours(colour wish, int descriptor) {
    if (wish != colour::automatic) return wish == colour::always;
    const char* const no_color = std::getenv("NO_COLOR");
    return isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0');
}

namespace {

int status_of(verdict v) { return passes(v) ? passed : v == verdict::undecided ? undecided : failed; }

// Says what there is instead of an output.
[[noreturn]] void say_nothing_to_compare(const loaded_case& loaded) {
    const archive& file = loaded.candidate_file.arrays.empty() ? loaded.file : loaded.candidate_file;
    std::string held;
    for (const named_array& a : file.arrays) held += (held.empty() ? "" : ", ") + a.name;
    throw usage_error("nothing to compare: none of the outputs is there, only " + (held.empty() ? "nothing" : held) +
                      "; say which member is the output, such as --name out=MEMBER");
}

int check_one(const check_request& request, const std::string& name) {
    const auto start = std::chrono::steady_clock::now();
    const loaded_case loaded = load_case(name, request.candidate, request.about);
    const double read = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (loaded.asked.candidates.empty()) say_nothing_to_compare(loaded);
    progress_line line(name);
    const check_result result = run_check(loaded.asked, request.rows, line.teller());
    line.clear();
    if (request.json) std::puts(report::json(result, name, read).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    else std::fputs(report::text(result, name, use_colours(request.colours, STDOUT_FILENO)).c_str(), stdout);
    return status_of(result.verdict);
}

} // namespace

int run_check_command(const check_request& request) {
    int status = passed;
    bool first = true;
    for (const std::string& name : request.cases) {
        if (!first && !request.json) std::puts("");
        first = false;
        std::string trouble_line;
        const int one = guarded(name, [&] {
            try {
                return check_one(request, name);
            } catch (const std::exception& error) {
                trouble_line = error.what();
                throw;
            }
        });
        if (request.json && !trouble_line.empty())
            std::puts(report::json_error(name, trouble_line).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
        std::fflush(stdout);
        status = worse(status, one);
    }
    return status;
}

} // namespace attest::program
