// SPDX-License-Identifier: BSL-1.0
// attest exercise: a sheet of questions, and its key.
#include "commands.hpp"
#include "worked/exercise.hpp"

namespace attest::program {

int run_exercise_command(const exercise_request& request) {
    const worked::document sheet = worked::exercise_sheet(request.topic, request.seed, request.count, request.key);
    std::fputs(worked::render(sheet, worked::style_of(request.format)).c_str(), stdout);
    if (sheet.undetermined) say_error("a digit is not determined by " + std::to_string(worked::most_bits) + " bits; it is written as ?");
    return sheet.undetermined ? undecided : passed;
}

} // namespace attest::program
