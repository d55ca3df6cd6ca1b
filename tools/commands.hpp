// SPDX-License-Identifier: BSL-1.0
// The commands of the program. Each returns an exit status.
#pragma once

#include "attest/oracle/row_sample.hpp"
#include "attest/question/case.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attest::program {

// Exit statuses, as other programs rely on them.
enum status { passed = 0, failed = 1, trouble = 2, undecided = 3, own_fault = 70 };

// Of several: 70 before 2 before 1 before 3 before 0.
[[nodiscard]] int worse(int a, int b);

enum class colour { automatic, always, never };
[[nodiscard]] bool use_colours(colour wish, int descriptor);

struct check_request {
    std::vector<std::string> cases;
    std::string candidate;
    case_options about;
    std::optional<row_sample> rows; // nothing: all
    bool json = false;
    colour colours = colour::automatic;
};
int run_check_command(const check_request& request);

struct eval_options {
    std::string file;
    case_options about;
    std::string output;
    std::string type = "f64";
    bool type_given = false;
    int digits = 17;
    std::vector<std::string> outputs; // none: out, or the op's first where it has no out
};
int run_eval_command(const eval_options& options);

struct trace_request {
    std::string file; // empty: the tensors
    std::vector<std::pair<std::string, std::string>> tensors; // name and text
    case_options about;
    int digits = 5;
    std::string format = "text";
};
int run_trace_command(const trace_request& request);

struct exercise_request {
    std::string topic;
    std::uint64_t seed = 1;
    int count = 3;
    std::string format = "text";
    bool key = true;
};
int run_exercise_command(const exercise_request& request);

int run_inspect_command(const std::string& file, const std::vector<std::string>& bf16);
int run_list_command(bool json);
// Words of text and status; empty for all.
struct claims_filter {
    std::string text, status;
};
int run_claims_command(bool json, const claims_filter& filter);
int run_explain_command(const std::string& code, bool json);

// Runs f; what it throws becomes one line on standard error, and a status. `name`: the file that a usage_error is about, or nothing.
template <class F> int guarded(const std::string& name, F f);

} // namespace attest::program

#include "attest/io/error.hpp"

#include <cstdio>
#include <new>
#include <system_error>

namespace attest::program {

// The line of an error: "attest: FILE: what is wrong…". One line whatever a file or an argument holds.
inline void say_error(const std::string& line) { std::fprintf(stderr, "attest: %s\n", printable(line).c_str()); }

template <class F> int guarded(const std::string& name, F f) {
    try {
        return f();
    } catch (const usage_error& error) {
        say_error((name.empty() ? "" : name + ": ") + error.what());
        return trouble;
    } catch (const file_error& error) {
        say_error(error.what());
        return trouble;
    } catch (const std::system_error& error) { // of a path that the system refuses
        say_error((name.empty() ? "" : name + ": ") + error.code().message());
        return trouble;
    } catch (const std::bad_alloc&) {
        say_error((name.empty() ? "" : name + ": ") + "out of memory");
        return trouble;
    } catch (const std::exception& error) {
        say_error((name.empty() ? "" : name + ": ") + "a fault of attest itself: " + error.what() + "; please report it");
        return own_fault;
    }
}

} // namespace attest::program
