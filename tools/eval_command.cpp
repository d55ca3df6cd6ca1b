// SPDX-License-Identifier: BSL-1.0
#include "commands.hpp"
#include "load.hpp"
#include "oracle.hpp"
#include "progress.hpp"

#include "attest/io/metadata.hpp"
#include "attest/io/npz.hpp"
#include "attest/io/safetensors.hpp"

#include <filesystem>
#include <iterator>

#include <fmt/format.h>

namespace attest::program {

namespace {

dtype type_from(const std::string& name) {
    for (const dtype type : {dtype::f64, dtype::f32, dtype::bf16, dtype::f16})
        if (name_of(type) == name) return type;
    throw usage_error("--dtype " + name + ": expected f64, f32, bf16 or f16");
}

// The last dimension is a line.
void print_output(const exact_output& output) {
    const auto& shape = output.rounded.value.shape;
    std::string text = fmt::format("{} {}\n", output.rounded.name, shape_text(shape));
    const std::size_t line = shape.empty() ? 1 : shape.back();
    for (std::size_t e = 0; e < output.texts.size(); ++e)
        fmt::format_to(std::back_inserter(text), "{}{}", output.texts[e], (e + 1) % line == 0 ? "\n" : " ");
    std::fputs(text.c_str(), stdout);
}

// What messages call the case.
std::string name_of_case(const eval_options& options) { return options.file.empty() ? "eval" : options.file; }

} // namespace

int run_eval_command(const eval_options& options) {
    return guarded(options.file, [&] {
        const dtype type = type_from(options.type);
        if (options.file.empty()) {
            const std::string op = detail::last_of(options.about.given, "op");
            if (op.empty() || !find_op(op).inputs.empty()) throw usage_error("CASE is required: a .npz or .safetensors file, or a folder of .npy files (only sinusoidal has no inputs)");
        }
        const loaded_case loaded = load_case(options.file, {}, options.about);
        const bool to_file = !options.output.empty();
        if (options.type_given && !to_file) throw usage_error("--dtype is the format in a file: say -o FILE.npz or FILE.safetensors as well");
        const std::string ending = std::filesystem::path(options.output).extension().string();
        if (ending == ".npy") throw usage_error("-o " + options.output + ": outputs are written to FILE.npz or FILE.safetensors");
        std::vector<std::string> wanted = options.outputs;
        if (wanted.empty()) {
            const op_info& op = find_op(detail::last_of(loaded.asked.given, "op"));
            wanted.emplace_back(is_output(op, "out") ? "out" : op.outputs.front().name);
        }
        progress_line line(options.file);
        const auto results = run_evaluate(loaded.asked, wanted, type, to_file ? 0 : options.digits, line.teller());
        line.clear();
        archive written;
        program::status status = passed;
        for (const exact_output& output : results) {
            if (output.unsettled != 0) {
                status = undecided;
                say_error(fmt::format("{}: {}: {} of {} elements are beyond the precision (--precision BITS); they are written as {}",
                                      name_of_case(options), output.rounded.name, output.unsettled, output.rounded.value.elements(), to_file ? "NaN" : "?"));
            } else if (output.unseparated != 0)
                say_error(fmt::format("{}: {}: {} elements are too near to a tie or to zero to be sure of their last bit", name_of_case(options),
                                      output.rounded.name, output.unseparated));
            if (to_file) written.arrays.push_back(output.rounded);
            else print_output(output);
        }
        if (to_file) {
            written.texts.emplace_back("attest.json", settings_text(loaded.asked.given));
            if (ending == ".safetensors") write_safetensors(options.output, written);
            else write_npz(options.output, written);
        }
        return static_cast<int>(status);
    });
}

} // namespace attest::program
