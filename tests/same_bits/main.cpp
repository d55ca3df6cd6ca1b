// SPDX-License-Identifier: BSL-1.0
// Prints one hash of everything that checks say: rounded values, ULP distances, limits, counts, verdicts. It must be the same for every compiler, level of optimisation,
// instruction set and number of threads: CMakeLists.txt builds this in several ways and compares with hash.txt.
//
//   same_bits             the hash, computed by one thread and by two at once
//   same_bits --lines     what is hashed, a line for each output

#include "attest/oracle/check.hpp"
#include "attest/oracle/evaluate.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

namespace {

using namespace attest;

// Inputs from integers alone.
class generator {
public:
    explicit generator(std::uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15U + 1} {}
    std::uint64_t bits() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    // A sum of four, near enough to normal; a multiple of 2^−20.
    double number() {
        std::int64_t sum = 0;
        for (int k = 0; k < 4; ++k) sum += static_cast<std::int64_t>(bits() >> 44);
        return static_cast<double>(sum - 2 * (std::int64_t{1} << 20)) * 0x1.bp-20;
    }

private:
    std::uint64_t state_;
};

struct tensor_of_case {
    std::string name;
    array stored;
};

tensor_of_case make(std::string name, dtype type, std::vector<std::size_t> shape, generator& r, double scale) {
    const std::size_t count = element_count(shape);
    tensor_of_case t{std::move(name), {type, std::move(shape), std::vector<std::byte>(count * size_of(type))}};
    for (std::size_t e = 0; e < count; ++e) encode(t.stored, e, r.number() * scale);
    return t;
}

struct one_case {
    settings asked;
    std::vector<tensor_of_case> inputs;
    std::vector<std::string> outputs;
    dtype stored;
};

std::vector<one_case> cases() {
    std::vector<one_case> all;
    generator r(1);
    const auto attention = [&](settings more, dtype type, std::size_t n_q, std::size_t n_k, std::size_t d, double scale, std::vector<std::string> outputs) {
        one_case c{{{"op", "attention"}}, {}, std::move(outputs), type};
        c.asked.insert(c.asked.end(), more.begin(), more.end());
        c.inputs.push_back(make("q", type, {2, n_q, d}, r, scale));
        c.inputs.push_back(make("k", type, {1, n_k, d}, r, 1));
        c.inputs.push_back(make("v", type, {1, n_k, d}, r, 1));
        c.inputs.push_back(make("dout", type, {2, n_q, d}, r, 1));
        all.push_back(std::move(c));
    };
    const std::vector<std::string> everything{"raw_scores", "scores", "weights", "lse", "out", "dq", "dk", "dv"};
    for (const dtype type : {dtype::f64, dtype::f32, dtype::bf16, dtype::f16}) {
        attention({{"causal", "bottom-right"}}, type, 5, 9, 8, 1, everything);
        attention({{"softcap", "3"}, {"window", "4"}}, type, 6, 6, 4, 3, everything);
        attention({{"position", "rope"}}, type, 4, 4, 6, 1, everything);
        attention({{"scale", "30"}}, type, 3, 40, 16, 2, {"weights", "lse", "out"});
    }
    attention({{"position", "alibi"}, {"arithmetic", "bf16"}}, dtype::bf16, 7, 7, 4, 1, everything);
    one_case softmax{{{"op", "softmax"}}, {}, {"out", "dx"}, dtype::f32};
    softmax.inputs.push_back(make("x", dtype::f32, {7, 33}, r, 8));
    softmax.inputs.push_back(make("dout", dtype::f32, {7, 33}, r, 1));
    all.push_back(std::move(softmax));
    // What the first rung gives in blocks: more keys than a block of a sum has, and fewer than a vector.
    for (const dtype type : {dtype::f64, dtype::f32, dtype::bf16, dtype::f16}) {
        attention({{"causal", "top-left"}}, type, 5, 300, 20, 1, {"lse", "out"});
        attention({}, type, 9, 3, 5, 2, {"scores", "weights", "lse", "out"});
    }
    return all;
}

void add(std::string& line, const char* name, double x) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    char text[64];
    std::snprintf(text, sizeof text, " %s=%016llx", name, static_cast<unsigned long long>(x == x ? bits : 0));
    line += text;
}

std::string lines_of(const one_case& c) {
    std::vector<named_view> inputs;
    for (const tensor_of_case& t : c.inputs) inputs.push_back({t.name, t.stored.view()});
    // The candidates: the exact values, rounded, and some of them moved by a few units.
    std::vector<tensor_of_case> made;
    std::vector<named_view> candidates;
    std::string lines;
    const format f = format_of(c.stored);
    evaluate(
        c.asked, inputs, c.outputs,
        [&](const std::vector<evaluated_output>& outputs) {
            for (const evaluated_output& o : outputs) made.push_back({o.name, {c.stored, o.shape, std::vector<std::byte>(element_count(o.shape) * size_of(c.stored))}});
        },
        [&](std::size_t output, std::size_t position, const exact_number& value, double) {
            double x = round_to(f, value);
            if (position % 3 == 0 && x - x == 0) x = round_to(f, x + static_cast<double>(static_cast<int>(position % 7) - 3) * ulp(f, x));
            encode(made[output].stored, position, x);
        });
    for (const tensor_of_case& t : made) candidates.push_back({t.name, t.stored.view()});
    const check_result result = check(c.asked, inputs, candidates);
    for (std::size_t o = 0; o < result.outputs.size(); ++o) {
        const output_result& r = result.outputs[o];
        lines += r.name + " " + std::string(name_of(r.verdict)) + " " + r.arithmetic + " " + r.weaker;
        for (const std::size_t count : {r.elements, r.exact, r.outside_certain, r.outside_expected, r.rows_outside, r.blind, r.unjudged, r.unseparated, r.decided}) lines += " " + std::to_string(count);
        add(lines, "ulp", r.max_ulp);
        add(lines, "rms", r.rms_ulp);
        add(lines, "certain", r.limit_share);
        add(lines, "expected", r.expected_share);
        if (r.worst) {
            add(lines, "worst", r.worst->correctly_rounded);
            add(lines, "limit", r.worst->limit_ulp);
        }
        std::uint64_t hash = 14695981039346656037U; // FNV-1a of the rounded values
        for (const tensor_of_case& t : made)
            if (t.name == r.name)
                for (const std::byte b : t.stored.data) hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211U;
        lines += " values=" + std::to_string(hash) + "\n";
    }
    return lines;
}

std::string all_lines() {
    std::string lines;
    for (const one_case& c : cases()) lines += lines_of(c);
    return lines;
}

} // namespace

int main(int argc, char**) {
    const std::string alone = all_lines();
    if (argc > 1) {
        std::fputs(alone.c_str(), stdout);
        return 0;
    }
    std::string first, second;
    std::thread other([&] { first = all_lines(); });
    second = all_lines();
    other.join();
    if (first != alone || second != alone) {
        std::puts("two threads at once do not say what one says");
        return 1;
    }
    std::uint64_t hash = 14695981039346656037U;
    for (const char c : alone) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    std::printf("%016llx\n", static_cast<unsigned long long>(hash));
    return 0;
}
