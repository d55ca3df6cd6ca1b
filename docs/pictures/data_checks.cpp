// SPDX-License-Identifier: BSL-1.0
// What `attest check` says of shipped dumps and of a plain kernel of bf16, element by element; and how wide enclosures are on each rung of the ladder.
#include "data.hpp"

#include "oracle.hpp" // tools/: the check, compiled once

#include <attest/arithmetic/formats.hpp>
#include <attest/formula/attention.hpp>
#include <attest/io/metadata.hpp>
#include <attest/io/npz.hpp>
#include <attest/oracle/ball_functions.hpp>

#include <cstdio>
#include <random>

namespace attest::pictures {

namespace {

struct dump {
    archive file;
    question asked;
};
dump read_dump(const std::filesystem::path& path) {
    dump d;
    d.file = read_npz(path);
    settings own;
    for (const auto& [member, text] : d.file.texts)
        if (member == "attest.json") own = parse_settings(text, path.string());
    d.asked = arrange(d.file, own, {});
    return d;
}

// The bytes of x[slice, rows first … first + n, columns], where x is [.., rows, columns]; all columns, or one.
array part(const array_view& x, std::size_t slice, std::size_t first, std::size_t n, std::size_t column, std::size_t width) {
    const std::size_t columns = x.shape.back(), rows = x.shape[x.shape.size() - 2], size = size_of(x.type);
    array taken{x.type, {n, width}, std::vector<std::byte>(n * width * size)};
    for (std::size_t i = 0; i < n; ++i)
        std::memcpy(taken.data.data() + i * width * size, x.data + ((slice * rows + first + i) * columns + column) * size, width * size);
    return taken;
}

// The check says how far off the farthest element is. So each element of `out` is checked by itself, with its query and its column of v; the probability of a false
// alarm is shared, so that limits are those of the whole case. The result is held against that of the whole.
json each_element(const question& asked) {
    const array_view &q = *find(asked.inputs, "q"), &k = *find(asked.inputs, "k"), &v = *find(asked.inputs, "v"), &out = *find(asked.candidates, "out");
    const std::size_t n_q = q.shape[q.shape.size() - 2], n_k = k.shape[k.shape.size() - 2], d_k = q.shape.back(), d_v = v.shape.back(), slices = out.elements() / (n_q * d_v);
    const output_result whole = program::run_check(asked, {}, {}).outputs.front();
    char shared[40];
    std::snprintf(shared, sizeof shared, "%.17g", 1e-9 / static_cast<double>(out.elements()));
    json all{{"arithmetic", whole.arithmetic}, {"verdict", name_of(whole.verdict)}, {"elements", whole.elements}, {"correctly_rounded", whole.exact},
             {"greatest_ulp", whole.max_ulp}, {"rms_ulp", whole.rms_ulp}, {"size", json::array()}, {"ulp", json::array()}, {"certain", json::array()}, {"expected", json::array()}};
    double farthest = 0;
    for (std::size_t slice = 0; slice < slices; ++slice)
        for (std::size_t i = 0; i < n_q; ++i)
            for (std::size_t c = 0; c < d_v; ++c) {
                const array q_i = part(q, slice, i, 1, 0, d_k), keys = part(k, slice, 0, n_k, 0, d_k), v_c = part(v, slice, 0, n_k, c, 1), out_ic = part(out, slice, i, 1, c, 1);
                const question one{{{"op", "attention"}, {"arithmetic", whole.arithmetic}, {"false-alarm", shared}},
                                   {{"q", q_i.view()}, {"k", keys.view()}, {"v", v_c.view()}},
                                   {{"out", out_ic.view()}},
                                   {}};
                const worst_element e = program::run_check(one, {}, {}).outputs.front().worst.value();
                all["size"].push_back(std::fabs(std::stod(e.expected)));
                all["ulp"].push_back(e.ulp);
                all["certain"].push_back(e.limit_ulp);
                all["expected"].push_back(e.expected_limit_ulp);
                demand(e.ulp <= e.expected_limit_ulp && e.expected_limit_ulp <= e.limit_ulp, "an element lies outside a limit");
                if (e.ulp > farthest) {
                    farthest = e.ulp;
                    all["farthest"] = {{"exact", std::stod(e.expected)}, {"ulp", e.ulp}, {"certain", e.limit_ulp}};
                }
            }
    demand_near(farthest, whole.max_ulp, 0, "the greatest distance of the elements by themselves");
    demand_near(all["farthest"]["certain"], whole.worst->limit_ulp, 1e-6 * whole.worst->limit_ulp, "the limit of the farthest element by itself");
    return all;
}

using matrix = tensor<float, axis<dynamic>, axis<dynamic>>;

float in_bf16(float x) { return static_cast<float>(decode_bf16(encode_bf16(x))); }

array stored(const matrix& x) {
    array a{dtype::bf16, {x.length(0), x.length(1)}, std::vector<std::byte>(2 * x.elements())};
    for (std::size_t e = 0; e < x.elements(); ++e) {
        const std::uint16_t bits = encode_bf16(x.data()[e]);
        std::memcpy(a.data.data() + 2 * e, &bits, 2);
    }
    return a;
}

} // namespace

json ulp_errors(const std::filesystem::path& dumps) {
    const char* const name = "torch-flash-f32.npz";
    json all{{"dump", name}, {"f32", each_element(read_dump(dumps / name).asked)}};

    // Long rows, where independent errors cancel. Plain attention: sums in f32, weights and result stored in bf16.
    constexpr std::size_t n_q = 8, n_k = 1024, d = 16;
    std::mt19937 random(1);
    const auto filled = [&](std::size_t rows) {
        auto x = matrix::with_lengths(rows, d);
        for (std::size_t e = 0; e < x.elements(); ++e) x.data()[e] = in_bf16(static_cast<float>(random() >> 8) * 0x1p-22f - 2); // in [−2, 2]
        return x;
    };
    const matrix q = filled(n_q), k = filled(n_k), v = filled(n_k);
    auto weights = attention_weights(q, k);
    for (std::size_t e = 0; e < weights.elements(); ++e) weights.data()[e] = in_bf16(weights.data()[e]);
    auto out = matrix::with_lengths(n_q, d);
    for (std::size_t i = 0; i < n_q; ++i)
        for (std::size_t c = 0; c < d; ++c)
            for (std::size_t j = 0; j < n_k; ++j) out(i, c) += weights(i, j) * v(j, c);
    const array q_16 = stored(q), k_16 = stored(k), v_16 = stored(v), out_16 = stored(out);
    all["n_k"] = n_k;
    all["bf16"] = each_element({{{"op", "attention"}, {"arithmetic", "bf16+f32"}}, {{"q", q_16.view()}, {"k", k_16.view()}, {"v", v_16.view()}}, {{"out", out_16.view()}}, {}});
    return all;
}

namespace {

// The lectures' weight α_11 = 0.66976…, enclosed: radius over value.
template <class S> double relative_radius() {
    struct keys2 : axis<2> {};
    struct width2 : axis<2> {};
    using number = ball<S>;
    const number zero(0), one(1);
    const tensor<number, keys2, width2> tokens{{one, zero}, {zero, one}};
    const auto alpha = attention_weights(tokens, tokens);
    demand_near(alpha(0, 0).nearest_double(), 0.66976154932665692562, 1e-15, "the weight of the lectures' example");
    return alpha(0, 0).radius().as_double() / alpha(0, 0).nearest_double();
}

} // namespace

json ladder(const std::filesystem::path& dumps) {
    json all{{"cases", json::array()}, {"widths", json::array()}};
    // An easy case, one with scores near 10^4, one stored in f64, and one with elements that are exactly 0 by a rule.
    for (const auto& [name, output] : {std::pair{"torch-flash-f32.npz", "out"}, std::pair{"numpy-f32-logits-1e4.npz", "out"}, std::pair{"torch-flash-f64.npz", "out"},
                                       std::pair{"blocks/torch-gradients-softcap-f64.npz", "dq"}}) {
        const dump d = read_dump(dumps / name);
        for (const output_result& out : program::run_check(d.asked, {}, {}).outputs) {
            if (out.name != output) continue;
            demand(out.rungs.in_double + out.rungs.in_double_double + out.rungs.in_real + out.decided == out.elements, "the rungs' counts are not all elements");
            all["cases"].push_back({{"dump", name}, {"output", out.name}, {"type", name_of(out.type)}, {"elements", out.elements}, {"double", out.rungs.in_double},
                                    {"double_double", out.rungs.in_double_double}, {"real", out.rungs.in_real}, {"decided", out.decided}});
        }
    }
    demand(all["cases"].size() == 4, "a case of the ladder is missing");
    for (const auto& [name, format] : {std::pair{"f32", formats::f32}, std::pair{"f64", formats::f64}})
        all["half_ulp"].push_back({{"format", name}, {"relative", format.unit_roundoff()}});
    all["widths"].push_back({{"rung", "double"}, {"bits", 53}, {"relative_radius", relative_radius<double>()}});
    all["widths"].push_back({{"rung", "double_double"}, {"bits", 106}, {"relative_radius", relative_radius<double_double>()}});
    for (const unsigned bits : {192U, 384U}) {
        const working_precision use(bits);
        all["widths"].push_back({{"rung", "real"}, {"bits", bits}, {"relative_radius", relative_radius<big_float>()}});
    }
    return all;
}

} // namespace attest::pictures
