// SPDX-License-Identifier: BSL-1.0
#include "load.hpp"

#include "attest/io/metadata.hpp"
#include "attest/io/npy.hpp"
#include "attest/io/npy_folder.hpp"
#include "attest/io/npz.hpp"
#include "attest/io/safetensors.hpp"

namespace attest::program {

namespace {

// The ending, or what a file that has none of the known ones begins with.
std::string format_of(const std::filesystem::path& path) {
    const std::string ending = path.extension().string();
    if (ending == ".npz" || ending == ".npy" || ending == ".safetensors") return ending;
    file_source file(path);
    std::string text(std::min<std::size_t>(file.size(), 9), '\0');
    file.read(0, std::as_writable_bytes(std::span{text}));
    if (text.starts_with("PK")) return ".npz";
    if (text.starts_with("\x93NUMPY")) return ".npy";
    if (text.size() == 9 && text[8] == '{') return ".safetensors";
    throw file_error(path.string(), "neither .npz nor .npy nor .safetensors, by its name or by its first bytes");
}

} // namespace

archive load_archive(const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path)) return read_npy_folder(path);
    const std::string format = format_of(path);
    if (format == ".safetensors") return read_safetensors(path);
    if (format == ".npy") {
        archive single;
        single.arrays.push_back({path.stem().string(), read_npy(path, &single.warnings)});
        return single;
    }
    return read_npz(path);
}

namespace {

// The conventions that the file itself declares.
settings own_settings(const archive& file, const std::string& name) {
    for (const auto& [member, text] : file.texts)
        if (member != "attest.json" && member.size() >= 11 && detail::bare_name(member.substr(member.size() - 11)) == "attestjson")
            throw usage_error("member '" + member + "' is not read; it must be called attest.json");
    for (const auto& [member, text] : file.texts)
        if (member == "attest.json") return parse_settings(text, member_of(name, member));
    return {};
}

// The last of each key is in force.
settings without_overridden(const settings& given) {
    settings last;
    for (const auto& [key, value] : given) {
        const std::string_view name = key;
        std::erase_if(last, [name](const auto& earlier) { return earlier.first == name; });
        last.emplace_back(key, value);
    }
    return last;
}

} // namespace

loaded_case load_case(const std::filesystem::path& path, const std::filesystem::path& candidate, const case_options& options) {
    loaded_case loaded;
    const std::string op = detail::last_of(options.given, "op");
    if (!path.empty() || op.empty() || !find_op(op).inputs.empty()) loaded.file = load_archive(path); // else there is nothing to read
    const settings own = own_settings(loaded.file, path.string());
    std::vector<std::string> bf16 = options.bf16, bf16_of_candidate;
    if (!candidate.empty()) {
        loaded.candidate_file = load_archive(candidate);
        // A name given to --bf16 may be of either file, of the one where it may be bf16; "all" is of both.
        const auto in = [](const archive& a, const std::string& member) {
            return member == "all" || ranges::any_of(a.arrays, [&](const named_array& held) { return held.name == member && may_be_bf16(held.value.type); });
        };
        for (const std::string& member : options.bf16)
            if (in(loaded.candidate_file, member)) bf16_of_candidate.push_back(member);
        std::erase_if(bf16, [&](const std::string& member) { return !in(loaded.file, member) && in(loaded.candidate_file, member); });
        declare_bf16(loaded.candidate_file.arrays, bf16_of_candidate);
    }
    declare_bf16(loaded.file.arrays, bf16);
    case_options sorted = options;
    if (!candidate.empty()) // a --name may be of either file
        std::erase_if(sorted.names, [&](const auto& name) { return !ranges::contains(loaded.file.arrays, name.second, &named_array::name) &&
                                                                   ranges::contains(loaded.candidate_file.arrays, name.second, &named_array::name); });
    loaded.asked = arrange(loaded.file, own, sorted);
    loaded.asked.given = without_overridden(loaded.asked.given);
    if (!candidate.empty()) {
        case_options rest = options;
        std::erase_if(rest.names, [&](const auto& name) { return !ranges::contains(loaded.candidate_file.arrays, name.second, &named_array::name); });
        question other = arrange(loaded.candidate_file, loaded.asked.given, rest);
        for (const named_view& ignored : loaded.asked.candidates)
            loaded.asked.warnings.push_back("member '" + ignored.name + "' of the case is not checked: the outputs come from " + candidate.string());
        for (const named_view& ignored : other.inputs)
            loaded.asked.warnings.push_back("member '" + ignored.name + "' of " + candidate.string() + " is not used: the inputs come from the case");
        if (!own_settings(loaded.candidate_file, candidate.string()).empty())
            loaded.asked.warnings.push_back("attest.json of " + candidate.string() + " is not used: the conventions come from the case and the command line");
        loaded.asked.candidates = std::move(other.candidates);
        loaded.asked.warnings.insert(loaded.asked.warnings.end(), other.warnings.begin(), other.warnings.end());
    }
    for (const archive* file : {&loaded.file, &loaded.candidate_file})
        loaded.asked.warnings.insert(loaded.asked.warnings.end(), file->warnings.begin(), file->warnings.end());
    return loaded;
}

} // namespace attest::program
