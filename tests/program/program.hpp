// SPDX-License-Identifier: BSL-1.0
// Runs the program attest as a shell does, and catches what it says.
#pragma once

#include "attest/io/npz.hpp"
#include "attest/oracle/decode.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

namespace program {

using attest::dtype;
using shape = std::vector<std::size_t>;

/// The folder of this process, made when first asked for and removed at its end.
inline std::filesystem::path scratch(const std::string& name = {}) {
    struct folder {
        std::filesystem::path path = std::filesystem::path(ATTEST_SCRATCH_DIR) / ("program-" + std::to_string(::getpid()));
        folder() { std::filesystem::create_directories(path); }
        folder(const folder&) = delete;
        folder& operator=(const folder&) = delete;
        ~folder() {
            std::error_code ignored;
            std::filesystem::remove_all(path, ignored);
        }
    };
    static const folder own;
    return name.empty() ? own.path : own.path / name;
}

inline std::string dump(const std::string& name) { return std::string(ATTEST_DUMPS_DIR) + "/" + name; }

inline std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
inline void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file << bytes;
}

inline std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct outcome {
    int status = -1; ///< exit status; 128 + signal where one ended it, as a shell says
    std::string out;
    std::string err;
};

inline std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// `attest ARGUMENTS…`. `before`: shell text in front, such as a variable; `after`: behind, such as another place for its output.
inline outcome run(const std::vector<std::string>& arguments, const std::string& before = {}, const std::string& after = {}) {
    const std::string out = scratch("stdout").string(), err = scratch("stderr").string();
    std::string command = before + " " + quoted(ATTEST_PROGRAM);
    for (const std::string& argument : arguments) command += " " + quoted(argument);
    command += " >" + quoted(out) + " 2>" + quoted(err) + " </dev/null " + after;
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(out), content(err)};
}

/// Trouble: status 2, nothing but one line on standard error, which begins as all do and holds the parts.
inline bool is_trouble(const outcome& o, const std::vector<std::string>& parts = {}) {
    bool right = o.status == 2 && o.out.empty() && lines(o.err) == 1 && o.err.rfind("attest: ", 0) == 0;
    for (const std::string& part : parts) right = right && contains(o.err, part);
    return right;
}

inline std::string shown(const outcome& o) {
    return "status " + std::to_string(o.status) + "\n--- standard output\n" + o.out + "--- standard error\n" + o.err;
}

/// The objects of a --json run, one a line.
inline std::vector<nlohmann::json> objects(const outcome& o) {
    std::vector<nlohmann::json> all;
    for (std::size_t begin = 0; begin < o.out.size();) {
        const std::size_t end = std::min(o.out.find('\n', begin), o.out.size());
        all.push_back(nlohmann::json::parse(o.out.substr(begin, end - begin)));
        begin = end + 1;
    }
    return all;
}

/// An array of numbers, each rounded once.
inline attest::array numbers(dtype type, shape lengths, const std::vector<double>& values) {
    attest::array a{type, std::move(lengths), {}};
    a.data.resize(a.view().bytes());
    for (std::size_t i = 0; i < values.size(); ++i) attest::encode(a, i, values[i]);
    return a;
}
inline std::vector<double> values(const attest::array& a) {
    std::vector<double> all;
    for (std::size_t i = 0; i < a.elements(); ++i) all.push_back(attest::decode(a, i));
    return all;
}
inline const attest::array& member(const attest::archive& file, const std::string& name) {
    for (const attest::named_array& a : file.arrays)
        if (a.name == name) return a.value;
    throw std::out_of_range("no member " + name);
}

/// A case of attention, made up and computed in double. Change its members, then write it.
struct attention_case {
    std::size_t n_q = 3, n_k = 5, d_k = 4, d_v = 2;
    std::vector<double> q = some(n_q * d_k, 1), k = some(n_k * d_k, 2), v = some(n_k * d_v, 3);
    std::vector<double> mask; ///< n_q × n_k, added; empty: none
    double scale = 0.5;
    std::vector<double> out;  ///< empty: what double gives
    dtype type = dtype::f64;
    std::string json = R"({"op": "attention"})";
    std::vector<attest::named_array> more;

    /// Numbers between −1 and 1 that a bf16 holds.
    static std::vector<double> some(std::size_t count, unsigned seed) {
        std::vector<double> x;
        std::uint32_t state = seed * 2654435761U + 12345U;
        for (std::size_t i = 0; i < count; ++i) {
            state = state * 1664525U + 1013904223U;
            x.push_back((static_cast<double>(state >> 25U) - 63.5) / 64);
        }
        return x;
    }
    [[nodiscard]] std::vector<double> computed() const {
        std::vector<double> result(n_q * d_v, 0.0);
        for (std::size_t i = 0; i < n_q; ++i) {
            std::vector<double> s(n_k, 0.0);
            double m = -INFINITY, sum = 0;
            for (std::size_t j = 0; j < n_k; ++j) {
                for (std::size_t c = 0; c < d_k; ++c) s[j] += q[i * d_k + c] * k[j * d_k + c];
                s[j] = s[j] * scale + (mask.empty() ? 0.0 : mask[i * n_k + j]);
                m = std::fmax(m, s[j]);
            }
            if (m == -INFINITY) continue;
            for (std::size_t j = 0; j < n_k; ++j) {
                const double e = std::exp(s[j] - m);
                sum += e;
                for (std::size_t c = 0; c < d_v; ++c) result[i * d_v + c] += e * v[j * d_v + c];
            }
            for (std::size_t c = 0; c < d_v; ++c) result[i * d_v + c] /= sum;
        }
        return result;
    }
    [[nodiscard]] attest::archive held() const {
        attest::archive file;
        file.arrays.push_back({"q", numbers(type, {n_q, d_k}, q)});
        file.arrays.push_back({"k", numbers(type, {n_k, d_k}, k)});
        file.arrays.push_back({"v", numbers(type, {n_k, d_v}, v)});
        if (!mask.empty()) file.arrays.push_back({"mask", numbers(type, {n_q, n_k}, mask)});
        file.arrays.push_back({"out", numbers(type, {n_q, d_v}, out.empty() ? computed() : out)});
        for (const attest::named_array& a : more) file.arrays.push_back(a);
        if (!json.empty()) file.texts.emplace_back("attest.json", json);
        return file;
    }
    /// Its path.
    [[nodiscard]] std::string write(const std::string& name) const {
        attest::write_npz(scratch(name), held());
        return scratch(name).string();
    }
};

/// A case of softmax along the last axis. Its path.
inline std::string softmax_case(const std::string& name, dtype type, const shape& lengths, const std::vector<double>& x, const std::vector<double>& out,
                                const std::string& json = R"({"op": "softmax"})") {
    attest::archive file;
    file.arrays.push_back({"x", numbers(type, lengths, x)});
    file.arrays.push_back({"out", numbers(type, lengths, out)});
    file.texts.emplace_back("attest.json", json);
    attest::write_npz(scratch(name), file);
    return scratch(name).string();
}

} // namespace program
