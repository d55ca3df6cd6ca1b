// SPDX-License-Identifier: BSL-1.0
// The ops score and attention with every option: values and gradients against plain formulas, right and wrong programs judged.
#include "held.hpp"

using namespace asked;

namespace {

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// The conventions as they are written.
attest::settings settings_of(const options& o) {
    const auto hex = [](long double x) {
        char text[60];
        std::snprintf(text, sizeof text, "%a", static_cast<double>(x));
        return std::string(text);
    };
    attest::settings s{{"op", "attention"}};
    if (o.causal != "none") s.emplace_back("causal", o.causal);
    if (o.window) s.emplace_back("window", std::to_string(o.window->first) + "," + std::to_string(o.window->second));
    if (o.score != "scaled") s.emplace_back("score", o.score);
    if (o.scale != 0) s.emplace_back("scale", hex(o.scale));
    if (o.cap != 0) s.emplace_back("softcap", hex(o.cap));
    if (o.drop) s.emplace_back("mask-polarity", "drop");
    if (o.nan_if_empty) s.emplace_back("empty-row", "nan");
    if (o.dropped != 0) s.emplace_back("dropout-p", hex(o.dropped));
    if (o.position != "none") s.emplace_back("position", o.position);
    if (o.half) s.emplace_back("rope-pairing", "half");
    if (o.base != 10000) s.emplace_back("rope-base", hex(o.base));
    if (o.rotated != 0) s.emplace_back("rope-dim", std::to_string(o.rotated));
    if (o.offset != 0) s.emplace_back("position-offset", std::to_string(o.offset));
    return s;
}

struct sizes {
    std::size_t b = 1, h = 2, n_q = 3, n_k = 4, d_k = 4, d_v = 3, b_kv = 0, h_kv = 0;
};

question asked_of(const options& o, source& s, const sizes& n = {}) {
    const std::size_t b_kv = n.b_kv == 0 ? n.b : n.b_kv, h_kv = n.h_kv == 0 ? n.h : n.h_kv;
    return {settings_of(o),
            {{"q", s.normal({n.b, n.h, n.n_q, n.d_k})},
             {"k", s.normal({b_kv, h_kv, n.n_k, n.d_k})},
             {"v", s.normal({b_kv, h_kv, n.n_k, n.d_v}, 1, 0.5)},
             {"dout", s.normal({n.b, n.h, n.n_q, n.d_v})}}};
}

auto model_of(const options& o) {
    return [o](const auto& in) { return plain::attention(in, o); };
}

void hold_attention(const options& o, const question& asked) { hold(asked, model_of(o)); }

} // namespace

TEST_CASE("plain attention and its gradients", "[oracle]") {
    source s(11);
    options o;
    for (const char* causal : {"none", "top-left", "bottom-right"})
        for (const sizes& n : {sizes{}, sizes{1, 1, 4, 3, 2, 2}, sizes{2, 1, 1, 4, 1, 1}}) {
            o.causal = causal;
            INFO("causal " << causal << ", " << n.n_q << " queries, " << n.n_k << " keys");
            hold_attention(o, asked_of(o, s, n));
        }
    o = {};
    o.scale = 0.375L;
    hold_attention(o, asked_of(o, s));
    o = {};
    o.score = "dot";
    hold_attention(o, asked_of(o, s));
}

TEST_CASE("attention with bilinear and additive scores", "[oracle]") {
    source s(12);
    options o;
    const sizes n{2, 2, 3, 4, 3, 2};
    for (const char* causal : {"none", "bottom-right"})
        for (const bool capped : {false, true}) {
            o = {};
            o.causal = causal;
            o.cap = capped ? 1.5L : 0;
            o.score = "bilinear";
            question asked = asked_of(o, s, n);
            asked.inputs["k"] = s.normal({2, 2, 4, 5}); // d_q and d_k may differ
            asked.inputs["w"] = s.normal({3, 5});
            hold_attention(o, asked);
            o.score = "additive";
            asked.settings = settings_of(o);
            asked.inputs.erase("w");
            asked.inputs["w1"] = s.normal({2, 5});
            asked.inputs["w2"] = s.normal({2, 3});
            asked.inputs["b"] = s.normal({2});
            hold_attention(o, asked);
        }
}

TEST_CASE("windows, with and without causal masks of both alignments", "[oracle]") {
    source s(13);
    for (const char* causal : {"none", "top-left", "bottom-right"})
        for (const std::pair<long, long>& window : {std::pair<long, long>{0, 0}, {1, 1}, {2, 0}, {0, 2}, {1, 3}})
            for (const sizes& n : {sizes{1, 1, 4, 4, 2, 2}, sizes{1, 1, 3, 6, 2, 2}, sizes{1, 1, 5, 3, 2, 2}}) {
                options o;
                o.causal = causal;
                o.window = window;
                INFO("causal " << causal << ", window " << window.first << "," << window.second << ", " << n.n_q << " queries, " << n.n_k << " keys");
                hold_attention(o, asked_of(o, s, n));
            }
    // W is W − 1 to each side, the own key included.
    options o;
    o.window = {2, 2};
    o.causal = "top-left";
    question asked = asked_of(o, s, {1, 1, 5, 5, 2, 2});
    asked.settings = {{"op", "attention"}, {"causal", "top-left"}, {"window", "3"}};
    hold_attention(o, asked);
    o.window = {3, 3};
    fails(asked, asked, model_of(o), {"scores", "weights", "lse", "out", "dq", "dk", "dv"});
    o.causal = "none";
    o.window = {0, 0};
    asked.settings = {{"op", "attention"}, {"window", "1"}};
    hold_attention(o, asked);
}

TEST_CASE("a soft cap comes before the mask", "[oracle]") {
    source s(14);
    options o;
    o.cap = 0.75L;
    for (const char* causal : {"none", "bottom-right"}) {
        o.causal = causal;
        question asked = asked_of(o, s);
        asked.inputs["mask"] = s.normal({1, 1, 3, 4});
        asked.inputs["mask"].values[1] = -infinity;
        hold_attention(o, asked);
        // Capped after the mask was added: another result.
        const auto late = [o](const auto& in) {
            auto changed = in;
            options other = o;
            other.cap = 0;
            auto all = plain::attention(changed, other);
            return all;
        };
        fails(asked, asked, late, {"scores", "weights", "lse", "out"});
    }
}

TEST_CASE("masks that keep, that drop, and that are added", "[oracle]") {
    source s(15);
    for (const lengths& shape : {lengths{2, 2, 3, 4}, lengths{1, 1, 3, 4}, lengths{2, 1, 1, 4}, lengths{3, 4}, lengths{4}, lengths{2, 3, 1}}) {
        options o;
        o.cap = 20; // so that all of it is tracked
        question asked = asked_of(o, s, {2, 2, 3, 4, 2, 2});
        INFO("mask " << attest::shape_text(shape));
        asked.inputs["mask"] = s.booleans(shape);
        hold_attention(o, asked);
        o.drop = true;
        asked.settings = settings_of(o);
        hold_attention(o, asked);
        asked.inputs["mask"].type = dtype::u8;
        hold_attention(o, asked);
        o.nan_if_empty = true;
        asked.settings = settings_of(o);
        hold_attention(o, asked);
        o = {};
        asked.settings = settings_of(o);
        if (shape.back() == 1) continue; // that adds the same to all keys of a row: below
        asked.inputs["mask"] = s.normal(shape, 2);
        for (std::size_t e = 0; e < asked.inputs["mask"].values.size(); e += 3) asked.inputs["mask"].values[e] = -infinity;
        hold_attention(o, asked);
    }
    options keep, drop;
    drop.drop = true;
    keep.cap = drop.cap = 9;
    question asked = asked_of(keep, s);
    asked.inputs["mask"] = s.booleans({1, 1, 3, 4});
    fails(asked, asked, model_of(drop), {"scores", "weights", "lse", "out", "dq", "dk", "dv"});
}

TEST_CASE("what is added to all keys of a row alike changes nothing, and its gradient is 0", "[oracle]") {
    source s(152);
    const options o;
    question asked = asked_of(o, s);
    asked.inputs["mask"] = s.normal({2, 3, 1}, 2);
    const auto values = values_of(asked, {"dmask"});
    for (const long double x : values.at("dmask").values) CHECK(std::fabs(x) < 1e-40L);
    const members made = candidates_of(run<double>(asked, model_of(o)));
    hold_right(asked, made);
    members bad = only(made, {"dmask"});
    bad["dmask"].values[4] += 1e-9;
    CHECK(is_bad(checked(asked, bad).verdict));
}

TEST_CASE("rows that see no key", "[oracle]") {
    source s(16);
    for (const bool nan : {false, true}) {
        options o;
        o.nan_if_empty = nan;
        o.cap = 4;
        question asked = asked_of(o, s, {1, 2, 3, 4, 2, 2});
        asked.inputs["mask"] = integers({3, 4}, {1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1}, dtype::boolean);
        hold_attention(o, asked);
        options other = o;
        other.nan_if_empty = !nan;
        fails(asked, asked, model_of(other), {"weights", "out"});
        // The mean of v, as programs give it that hide with a great negative number.
        members mean = only(candidates_of(run<double>(asked, model_of(o))), {"out"});
        for (std::size_t h = 0; h < 2; ++h)
            for (std::size_t c = 0; c < 2; ++c) {
                double sum = 0;
                for (std::size_t j = 0; j < 4; ++j) sum += asked.inputs["v"].values[(h * 4 + j) * 2 + c];
                mean["out"].values[(h * 3 + 1) * 2 + c] = sum / 4;
            }
        CHECK(checked(asked, mean).verdict == attest::verdict::wrong);
    }
}

TEST_CASE("padding is not judged, and what lies in it does not matter", "[oracle]") {
    source s(17);
    for (const char* causal : {"none", "top-left", "bottom-right"})
        for (const char* position : {"none", "rope", "alibi"}) {
            options o;
            o.causal = causal;
            o.position = position;
            INFO("causal " << causal << ", position " << position);
            question asked = asked_of(o, s, {3, 2, 4, 5, 2, 2});
            asked.inputs["k_lengths"] = integers({3}, {5, 2, 3});
            asked.inputs["q_lengths"] = integers({3}, {4, 2, 1}, dtype::i32);
            hold_attention(o, asked);
            // Garbage in the padding of the inputs; the results are those of before.
            question poisoned = asked;
            for (std::size_t b = 0; b < 3; ++b)
                for (std::size_t h = 0; h < 2; ++h)
                    for (std::size_t i = 0; i < 5; ++i)
                        for (std::size_t c = 0; c < 2; ++c) {
                            const double bad = (i + c) % 2 ? quiet : 1e300;
                            if (static_cast<double>(i) >= asked.inputs["k_lengths"].values[b]) poisoned.inputs["k"].values[((b * 2 + h) * 5 + i) * 2 + c] = bad;
                            if (static_cast<double>(i) >= asked.inputs["k_lengths"].values[b]) poisoned.inputs["v"].values[((b * 2 + h) * 5 + i) * 2 + c] = bad;
                            if (i < 4 && static_cast<double>(i) >= asked.inputs["q_lengths"].values[b]) poisoned.inputs["q"].values[((b * 2 + h) * 4 + i) * 2 + c] = bad;
                            if (i < 4 && static_cast<double>(i) >= asked.inputs["q_lengths"].values[b]) poisoned.inputs["dout"].values[((b * 2 + h) * 4 + i) * 2 + c] = bad;
                        }
            hold_right(poisoned, candidates_of(run<double>(asked, model_of(o))));
            // An element before the padding is judged all the same.
            members bad = candidates_of(run<double>(asked, model_of(o)));
            bad["out"].values[0] += 1e-3;
            CHECK(checked(poisoned, bad).first_bad_stage == "out");
            // Two keys too few.
            question other = asked;
            other.inputs["k_lengths"].values[0] = 3;
            fails(asked, other, model_of(o), {"scores", "weights", "lse", "out"});
        }
    // A batch element without keys.
    options o;
    question asked = asked_of(o, s, {2, 1, 2, 3, 2, 2});
    asked.inputs["k_lengths"] = integers({2}, {0, 3});
    hold_attention(o, asked);
}

TEST_CASE("gradients in padding are nobody's", "[oracle]") {
    source s(18);
    const options o;
    question asked = asked_of(o, s, {2, 2, 4, 5, 2, 2});
    asked.inputs["k_lengths"] = integers({2}, {5, 3});
    asked.inputs["q_lengths"] = integers({2}, {2, 4});
    members made = candidates_of(run<double>(asked, model_of(o)));
    for (std::size_t h = 0; h < 2; ++h)
        for (std::size_t c = 0; c < 2; ++c) {
            made["dq"].values[((0 * 2 + h) * 4 + 2) * 2 + c] = made["dq"].values[((0 * 2 + h) * 4 + 3) * 2 + c] = quiet;
            made["dk"].values[((1 * 2 + h) * 5 + 3) * 2 + c] = made["dv"].values[((1 * 2 + h) * 5 + 4) * 2 + c] = 7;
        }
    hold_right(asked, made);
    members bad = made;
    bad["dk"].values[((1 * 2 + 0) * 5 + 2) * 2] += 1e-3; // the last key that is no padding
    CHECK(checked(asked, bad).first_bad_stage == "dk");
    bad = made;
    bad["dq"].values[(0 * 4 + 1) * 2] += 1e-3;
    CHECK(checked(asked, bad).first_bad_stage == "dq");
    // Keys that several batch elements share are padding only where they are so to all.
    question shared = asked_of(o, s, {2, 1, 2, 4, 2, 2, 1, 1});
    shared.inputs["k_lengths"] = integers({2}, {1, 3});
    members shares = candidates_of(run<double>(shared, model_of(o)));
    shares["dk"].values[3 * 2] = quiet;
    hold_right(shared, shares);
    shares["dk"].values[2 * 2] += 1e-3;
    CHECK(checked(shared, shares).first_bad_stage == "dk");
}

TEST_CASE("a sink takes part of every row", "[oracle]") {
    source s(19);
    for (const char* causal : {"none", "bottom-right"}) {
        options o;
        o.causal = causal;
        question asked = asked_of(o, s, {2, 3, 4, 3, 2, 2}); // with bottom-right a row sees the sink alone
        asked.inputs["sink"] = s.normal({3}, 2);
        hold_attention(o, asked);
        question without = asked;
        without.inputs.erase("sink");
        fails(asked, without, model_of(o), {"weights", "lse", "out", "dq", "dk", "dv"});
        asked.inputs["sink"].values[0] = 40; // nearly all of it
        asked.inputs["sink"].values[1] = -40;
        hold_attention(o, asked);
    }
}

TEST_CASE("ALiBi with given and with the paper's slopes", "[oracle]") {
    source s(20);
    for (const char* causal : {"none", "top-left", "bottom-right"})
        for (const std::size_t heads : lengths{1, 2, 6}) {
            options o;
            o.causal = causal;
            o.position = "alibi";
            INFO("causal " << causal << ", " << heads << " heads");
            question asked = asked_of(o, s, {1, heads, 2, 4, 2, 2});
            hold_attention(o, asked);
            question other = asked;
            other.inputs["alibi_slopes"] = s.normal({heads}, 0.5, 1);
            hold_attention(o, other);
            fails(asked, other, model_of(o), {"scores", "weights", "lse", "out", "dq", "dk", "dv"});
        }
    // Of six heads the paper's slopes are 1/4, 1/16, 1/64, 1/256, 1/2, 1/8.
    options o;
    o.position = "alibi";
    question asked = asked_of(o, s, {1, 6, 2, 4, 2, 2});
    question written = asked;
    written.inputs["alibi_slopes"] = {{6}, {0.25, 0.0625, 1.0 / 64, 1.0 / 256, 0.5, 0.125}};
    hold_right(written, candidates_of(run<double>(asked, model_of(o))));
}

TEST_CASE("RoPE inside of attention", "[oracle]") {
    source s(21);
    for (const char* causal : {"none", "top-left", "bottom-right"})
        for (const bool half : {false, true}) {
            options o;
            o.causal = causal;
            o.position = "rope";
            o.half = half;
            INFO("causal " << causal << (half ? ", half" : ", interleaved"));
            hold_attention(o, asked_of(o, s, {1, 1, 1, 5, 4, 2})); // decoding: the query stands at the end of the keys, if bottom-right
            hold_attention(o, asked_of(o, s, {1, 1, 4, 2, 4, 2}));
            o.offset = 17;
            o.base = 500;
            o.rotated = 2;
            hold_attention(o, asked_of(o, s, {2, 2, 3, 4, 4, 2}));
            question asked = asked_of(o, s, {2, 2, 3, 4, 4, 2});
            asked.inputs["positions"] = integers({4}, {3, 1, 4, 15});
            hold_attention(o, asked);
            asked.inputs["positions"] = integers({2, 4}, {0, 1, 2, 3, 7, 8, 2, 9}, dtype::i32);
            hold_attention(o, asked);
            asked.inputs["positions"] = {{1, 4}, {0.5, 1.25, -3, 100}};
            hold_attention(o, asked);
        }
    // Queries of a decoder that start again at 0: a well-known mistake.
    options o;
    o.causal = "bottom-right";
    o.position = "rope";
    const question asked = asked_of(o, s, {1, 2, 1, 5, 4, 2});
    const auto restarted = [o](const auto& in) {
        auto moved = in;
        using N = typename std::decay_t<decltype(in["q"].values)>::value_type;
        moved.tensors["positions"] = {{5}, {}};
        moved.is_float["positions"] = false;
        for (int t = 0; t < 5; ++t) moved.tensors["positions"].values.push_back(N(static_cast<typename N::scalar>(t == 4 ? 0 : t)));
        return plain::attention(moved, o);
    };
    fails(asked, asked, restarted, {"scores", "weights", "lse", "out"});
    options other = o;
    other.half = true;
    fails(asked, asked, model_of(other), {"scores", "weights", "lse", "out", "dq", "dk"});
}

// What a rotation loses is relative to the norm of a pair, and to the angle: a component near 0 in a large pair is far off in ULP, and still right.
TEST_CASE("RoPE in f32, forward and backward, with every score", "[oracle]") {
    source s(48, attest::formats::f32);
    for (const char* score : {"scaled", "bilinear", "additive"})
        for (const std::size_t offset : {0U, 30U, 3000U, 100000U})
            for (const bool half : {false, true}) {
                options o;
                o.score = score;
                o.position = "rope";
                o.causal = "top-left";
                o.offset = static_cast<decltype(o.offset)>(offset);
                o.half = half;
                question asked = asked_of(o, s, {1, 4, 5, 5, 6, 3});
                for (const char* name : {"q", "k"}) asked.inputs[name] = s.normal({1, 4, 5, 6}, 3);
                if (o.score == "bilinear") asked.inputs["w"] = s.normal({6, 6}, 0.2);
                if (o.score == "additive") {
                    asked.inputs["w1"] = s.normal({4, 6});
                    asked.inputs["w2"] = s.normal({4, 6});
                    asked.inputs["b"] = s.normal({4});
                }
                const auto result = checked(asked, candidates_of(run<float>(asked, model_of(o)), dtype::f32));
                INFO(score << ", offset " << offset << (half ? ", half: " : ", interleaved: ") << result.first_bad_stage);
                CHECK(result.verdict != attest::verdict::wrong);
                CHECK(result.verdict != attest::verdict::inaccurate);
                if (offset <= 30 && o.score != "additive") CHECK(attest::passes(result.verdict));
            }
}

TEST_CASE("dropout with a given mask", "[oracle]") {
    source s(22);
    for (const lengths& shape : {lengths{2, 2, 3, 4}, lengths{3, 4}, lengths{2, 1, 1, 4}}) {
        options o;
        o.dropped = 0.25L;
        question asked = asked_of(o, s, {2, 2, 3, 4, 2, 2});
        asked.inputs["dropout_mask"] = s.booleans(shape);
        hold_attention(o, asked);
        asked.inputs["dropout_mask"].type = dtype::u8;
        hold_attention(o, asked);
        options unscaled = o;
        unscaled.dropped = 0;
        fails(asked, asked, model_of(unscaled), {"out", "dq", "dk", "dv"});
    }
    // 0.1 is a tenth, not the double next to it: nobody could tell in double, but 1/3 digits do not matter either.
    options o;
    o.dropped = 0.1L;
    question asked = asked_of(o, s);
    asked.settings = {{"op", "attention"}, {"dropout-p", "0.1"}};
    asked.inputs["dropout_mask"] = s.booleans({3, 4});
    hold_attention(o, asked);
}

TEST_CASE("grouped heads and broadcast batches", "[oracle]") {
    source s(23);
    options o;
    o.cap = 6;
    hold_attention(o, asked_of(o, s, {2, 4, 2, 3, 2, 2, 2, 2}));
    hold_attention(o, asked_of(o, s, {2, 6, 2, 3, 2, 2, 1, 3}));
    hold_attention(o, asked_of(o, s, {2, 4, 2, 3, 2, 2, 2, 1}));
    o.cap = 0;
    hold_attention(o, asked_of(o, s, {2, 4, 2, 3, 2, 2, 1, 2}));
    // Head h mod H_kv, tiled, is another thing.
    const question asked = asked_of(o, s, {1, 4, 2, 3, 2, 2, 1, 2});
    const auto tiled = [o](const auto& in) {
        auto changed = in;
        for (const char* name : {"k", "v"}) {
            auto& t = changed.tensors[name];
            const std::size_t head = t.values.size() / 2;
            auto twice = t.values;
            twice.insert(twice.end(), t.values.begin(), t.values.begin() + static_cast<long>(2 * head));
            t.values = twice;
            t.shape[1] = 4;
        }
        return plain::attention(changed, o);
    };
    fails(asked, asked, tiled, {"raw_scores", "scores", "weights", "lse", "out"});
}

TEST_CASE("layouts", "[oracle]") {
    source s(24);
    options o;
    o.causal = "bottom-right";
    for (const char* layout : {"bnhd", "nbd"})
        for (const bool capped : {false, true}) {
            o.cap = capped ? 3 : 0;
            question asked = asked_of(o, s, {2, 3, 2, 4, 2, 3});
            asked.layout = layout;
            asked.inputs["mask"] = s.normal({1, 3, 2, 4});
            asked.inputs["k_lengths"] = integers({2}, {4, 3});
            INFO(layout);
            hold_attention(o, asked);
        }
    // Rank 2 is one head, rank 3 a batch of heads.
    for (const std::size_t left_out : lengths{1, 2}) {
        question asked = asked_of(o, s, {1, left_out == 2 ? std::size_t{1} : 3, 2, 4, 2, 3});
        asked.unit_dimensions = left_out;
        hold(asked, [o](const auto& in) {
            auto all = plain::attention(in, o);
            for (const char* name : {"raw_scores", "scores", "weights", "lse"}) all.erase(name);
            return all;
        });
    }
}

TEST_CASE("the op score", "[oracle]") {
    source s(25);
    const auto model = [](const options& o) {
        return [o](const auto& in) {
            using N = typename std::decay_t<decltype(in["q"].values)>::value_type;
            auto widened = in;
            widened.tensors["v"] = {{in["k"].shape[0], in["k"].shape[1], in["k"].shape[2], 1}, std::vector<N>(in["k"].values.size())};
            widened.is_float["v"] = true;
            const auto all = plain::attention(widened, o);
            return plain::results<N>{{"scores", all.at("scores")}};
        };
    };
    const auto asked_score = [&](const options& o, std::size_t h_kv) {
        question asked{settings_of(o), {{"q", s.normal({2, 4, 2, 3})}, {"k", s.normal({2, h_kv, 3, 3})}}};
        asked.settings[0].second = "score";
        return asked;
    };
    options o;
    hold(asked_score(o, 2), model(o));
    o.scale = -0.7L;
    o.cap = 2;
    hold(asked_score(o, 4), model(o));
    o = {};
    o.score = "dot";
    hold(asked_score(o, 1), model(o));
    o.score = "bilinear";
    question asked = asked_score(o, 4);
    asked.inputs["w"] = s.normal({3, 3});
    hold(asked, model(o));
    question turned = asked; // w transposed: k W q
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) turned.inputs["w"].values[j * 3 + i] = asked.inputs["w"].values[i * 3 + j];
    fails(asked, turned, model(o), {"scores"});
    o.score = "additive";
    question additive = asked_score(o, 2);
    additive.layout = "bnhd";
    additive.inputs["w1"] = s.normal({5, 3});
    additive.inputs["w2"] = s.normal({5, 3});
    additive.inputs["b"] = s.normal({5});
    hold(additive, model(o));
    question exchanged = additive; // w1 is that of the keys
    std::swap(exchanged.inputs["w1"], exchanged.inputs["w2"]);
    fails(additive, exchanged, model(o), {"scores"});
}

TEST_CASE("wrong gradients of attention fail", "[oracle]") {
    source s(26);
    options o;
    o.causal = "top-left";
    const question asked = asked_of(o, s, {1, 2, 3, 3, 4, 4});
    const members right = candidates_of(run<double>(asked, model_of(o)));
    // dS without D: dS = a ⊙ da, whose gradients are those of a loss where the sum of weights is not held.
    members bad = right;
    std::swap(bad["dk"], bad["dv"]);
    auto result = checked(asked, bad);
    CHECK(result.first_bad_stage == "dk");
    CHECK(attest::passes(result_of(result, "dq").verdict));
    CHECK(result_of(result, "dv").verdict == attest::verdict::wrong);
    // Two heads exchanged.
    bad = right;
    const std::size_t head = bad["dq"].values.size() / 2;
    std::rotate(bad["dq"].values.begin(), bad["dq"].values.begin() + static_cast<long>(head), bad["dq"].values.end());
    CHECK(checked(asked, bad).first_bad_stage == "dq");
    // The scale forgotten in the backward pass.
    bad = right;
    for (double& x : bad["dq"].values) x *= 2;
    CHECK(checked(asked, bad).first_bad_stage == "dq");
    // dout taken as ones.
    question ones = asked;
    for (double& x : ones.inputs["dout"].values) x = 1;
    fails(asked, ones, model_of(o), {"dq", "dk", "dv"});
}

TEST_CASE("f32 and 16 bits are judged by limits of their own", "[oracle]") {
    options o;
    o.cap = 5;
    source s(27, attest::formats::f32);
    const question asked = asked_of(o, s, {1, 2, 4, 5, 4, 4});
    const auto right = run<long double>(asked, model_of(o));
    const members made = candidates_of(run<float>(asked, model_of(o)), dtype::f32);
    const auto result = checked(asked, made);
    CHECK(result.verdict == attest::verdict::consistent);
    CHECK(result.arithmetic == "f32");
    CHECK(result.first_bad_stage.empty());
    for (const auto& output : result.outputs) {
        double greatest = 0, squares = 0;
        std::size_t exact = 0;
        const auto& values = made.at(output.name).values;
        for (std::size_t e = 0; e < values.size(); ++e) {
            const long double x = right.tensors.at(output.name).values[e];
            const auto ulp = static_cast<long double>(attest::ulp(attest::formats::f32, static_cast<double>(x)));
            const auto apart = static_cast<double>(std::fabs(static_cast<long double>(values[e]) - x) / ulp);
            greatest = std::max(greatest, apart);
            squares += apart * apart;
            exact += static_cast<float>(x) == static_cast<float>(values[e]);
        }
        INFO(output.name << ": " << output.max_ulp << " ULP by attest, " << greatest << " by the test");
        CHECK(std::fabs(output.max_ulp - greatest) <= 1.0 / 128 + 1e-6);
        CHECK(std::fabs(output.rms_ulp - std::sqrt(squares / static_cast<double>(values.size()))) <= 1.0 / 128 + 1e-6); // of distances to 1/64
        CHECK(output.exact == exact);
        CHECK_FALSE(output.propagated);
        CHECK(output.limits_derived);
        CHECK(output.outside_certain == 0);
        CHECK(output.verdict == (exact == values.size() ? attest::verdict::exact : attest::verdict::consistent));
    }
    // The exact values, rounded once, are exact in any format; what is wrong is wrong, and so is a NaN.
    for (const dtype type : {dtype::f32, dtype::bf16, dtype::f16}) {
        members once;
        for (const auto& [name, t] : right.tensors) {
            member m{t.shape, {}, type};
            for (const long double x : t.values) m.values.push_back(static_cast<double>(x));
            once[name] = m;
        }
        CHECK(checked(asked, once).verdict == attest::verdict::exact);
        once["out"].values[0] += 1;
        const auto wrong = checked(asked, once);
        CHECK(wrong.verdict == attest::verdict::wrong);
        CHECK(result_of(wrong, "out").exact + 1 == result_of(wrong, "out").elements);
        once["out"].values[0] = quiet;
        CHECK(checked(asked, once).verdict == attest::verdict::wrong);
    }
    // Declared f64, results in f64 are judged, also of f32 inputs.
    hold_right(asked, candidates_of(run<double>(asked, model_of(o))));
}

TEST_CASE("attention refuses what does not fit, with the rule, the names and the shapes", "[oracle]") {
    source s(28);
    const options o;
    const sizes n{2, 4, 3, 5, 4, 2, 2, 2};
    const auto with = [&](const std::string& name, const member& m, const attest::settings& more = {{"softcap", "5"}}) {
        question asked = asked_of(o, s, n);
        asked.inputs[name] = m;
        return refusal_of(asked, {{"out", s.normal({2, 4, 3, 2})}}, more);
    };
    namespace rules = attest::rules;
    for (const attest::settings& more : {attest::settings{}, attest::settings{{"softcap", "5"}}}) {
        said(with("k", s.normal({2, 2, 5, 3}), more), {rules::query_key_dimension::sentence, "q [2, 4, 3, 4]", "k [2, 2, 5, 3]"});
        said(with("v", s.normal({2, 2, 4, 2}), more), {rules::value_for_each_key::sentence, "k [2, 2, 5, 4]", "v [2, 2, 4, 2]"});
        said(with("mask", s.booleans({2, 5}), more), {rules::mask_row_for_each_query::sentence, "mask [2, 5]", "[3, 5]"});
        said(with("mask", s.booleans({3, 4}), more), {rules::mask_column_for_each_key::sentence, "mask [3, 4]", "[3, 5]"});
        said(with("mask", s.booleans({3, 1, 3, 5}), more), {"mask [3, 1, 3, 5]", "batch dimensions must be equal or 1"});
        said(with("v", s.normal({2, 4, 5, 2}), more), {"k [2, 2, 5, 4]", "v [2, 4, 5, 2]", "the same number of heads"});
        said(with("k", s.normal({2, 3, 5, 4}), more), {"q [2, 4, 3, 4]", "k [2, 3, 5, 4]", "must divide the heads"});
        said(with("k", s.normal({3, 2, 5, 4}), more), {"q [2, 4, 3, 4]", "k [3, 2, 5, 4]", "batch dimensions must be equal or 1"});
        said(with("q", s.normal({4}), more), {"q [4]", "fewer than two dimensions"});
    }
    said(with("sink", s.normal({3})), {"sink [3]", "one entry for each head, 4"});
    said(with("sink", s.normal({1, 4})), {"sink [1, 4]", "one dimension"});
    said(with("alibi_slopes", s.normal({5}), {{"position", "alibi"}}), {"alibi_slopes [5]", "one entry for each head, 4"});
    said(with("alibi_slopes", s.normal({4})), {"alibi_slopes", "position=alibi"});
    said(with("positions", integers({4}, {0, 1, 2, 3}), {{"position", "rope"}}), {"positions [4]", "[5]", "[2, 5]"});
    said(with("positions", integers({3, 5}, std::vector<double>(15)), {{"position", "rope"}}), {"positions [3, 5]", "[2, 5]"});
    said(with("positions", integers({5}, std::vector<double>(5))), {"positions", "position=rope"});
    said(with("k_lengths", integers({2}, {5, 6})), {"k_lengths", "6", "from 0 to 5"});
    said(with("k_lengths", integers({2}, {5, -1})), {"k_lengths", "-1", "from 0 to 5"});
    said(with("k_lengths", {{2}, {1.5, 2}}), {"k_lengths", "1.5", "integer"});
    said(with("k_lengths", {{2}, {quiet, 2}}), {"k_lengths", "integer"});
    said(with("k_lengths", integers({3}, {1, 2, 3})), {"k_lengths [3]", "one entry for each batch element, 2"});
    said(with("q_lengths", integers({2}, {4, 1})), {"q_lengths", "4", "from 0 to 3"});
    said(with("dropout_mask", s.booleans({3, 5})), {"dropout_mask", "dropout-p"});
    said(with("dropout_mask", s.booleans({3, 4}), {{"dropout-p", "0.5"}}), {"dropout_mask [3, 4]", rules::mask_column_for_each_key::sentence});
    said(with("dropout_mask", {{3, 5}, std::vector<double>(15, 0.5)}, {{"dropout-p", "0.5"}}), {"dropout_mask", "0.5"});
    said(with("nothing", s.normal({1}), {{"dropout-p", "0.5"}}), {"dropout-p", "dropout_mask"});
    said(with("nothing", s.normal({1}), {{"score", "bilinear"}}), {"needs an input 'w'"});
    said(with("w", s.normal({3, 4}), {{"score", "bilinear"}}), {rules::bilinear_row_for_each_query_component::sentence, "q [2, 4, 3, 4]", "w [3, 4]"});
    said(with("w", s.normal({4, 3}), {{"score", "bilinear"}}), {rules::bilinear_column_for_each_key_component::sentence, "k [2, 2, 5, 4]", "w [4, 3]"});
    said(with("w", s.normal({4}), {{"score", "bilinear"}}), {"w [4]", "two dimensions"});
    said(with("w", s.normal({1, 4, 4}), {{"score", "bilinear"}}), {"w [1, 4, 4]", "two dimensions"});
    // Gradients.
    const auto backward = [&](const std::string& name, const member& m, const char* wanted, const attest::settings& more = {}) {
        question asked = asked_of(o, s, n);
        asked.inputs[name] = m;
        return refusal_of(asked, {{wanted, s.normal({2, 4, 3, 4})}}, more);
    };
    said(backward("dout", s.normal({2, 4, 3, 4}), "dq"), {rules::gradient_has_shape_of_output::sentence, "dout [2, 4, 3, 4]", "out [2, 4, 3, 2]"});
    said(backward("mask", s.booleans({3, 5}), "dmask"), {"dmask", "float mask"});
    said(backward("nothing", s.normal({1}), "dmask"), {"dmask", "float mask"});
    said(backward("dout", integers({2, 4, 3, 2}, std::vector<double>(48)), "dq"), {"dout", "i64"});
    question without = asked_of(o, s, n);
    without.inputs.erase("dout");
    said(refusal_of(without, {{"dq", s.normal({2, 4, 3, 4})}}), {"needs an input 'dout'"});
    // Additive scores.
    question additive = asked_of(o, s, n);
    additive.inputs["w1"] = s.normal({3, 4});
    additive.inputs["w2"] = s.normal({3, 4});
    additive.inputs["b"] = s.normal({3});
    const auto spoiled = [&](const char* name, const member& m) {
        question asked = additive;
        asked.inputs[name] = m;
        return refusal_of(asked, {{"out", s.normal({2, 4, 3, 2})}}, {{"score", "additive"}});
    };
    said(spoiled("w1", s.normal({3, 5})), {rules::weight_column_for_each_input::sentence, "k [2, 2, 5, 4]", "w1 [3, 5]"});
    said(spoiled("w2", s.normal({3, 5})), {rules::weight_column_for_each_input::sentence, "q [2, 4, 3, 4]", "w2 [3, 5]"});
    said(spoiled("w2", s.normal({2, 4})), {rules::additive_hidden_dimension::sentence, "w1 [3, 4]", "w2 [2, 4]"});
    said(spoiled("b", s.normal({2})), {rules::additive_hidden_dimension::sentence, "w1 [3, 4]", "b [2]"});
    // RoPE.
    said(refusal_of(asked_of(o, s, {1, 1, 2, 2, 3, 2}), {{"out", s.normal({1, 1, 2, 2})}}, {{"position", "rope"}}), {rules::even_dimension::sentence, "q [1, 1, 2, 3]", "3 and 2"});
    said(refusal_of(asked_of(o, s, {1, 1, 2, 2, 4, 2}), {{"out", s.normal({1, 1, 2, 2})}}, {{"position", "rope"}, {"rope-dim", "6"}}), {"q [1, 1, 2, 4]", "rope-dim", "6"});
}

TEST_CASE("attention of nothing, and of one", "[oracle]") {
    source s(29);
    options o;
    o.cap = 5;
    hold_attention(o, asked_of(o, s, {1, 1, 1, 1, 1, 1}));
    hold_attention(o, asked_of(o, s, {1, 1, 2, 1, 2, 1}));
    // No keys at all: rows are 0, lse is −∞, and gradients of q are 0.
    hold_attention(o, asked_of(o, s, {1, 1, 2, 0, 2, 2}));
    // No queries, no components of v, no batch: what has elements is judged.
    hold_attention(o, asked_of(o, s, {1, 1, 0, 2, 2, 2}));
    hold_attention(o, asked_of(o, s, {1, 1, 2, 2, 2, 0}));
    CHECK(refusal_of(asked_of(o, s, {0, 1, 2, 2, 2, 2}), {{"out", s.normal({0, 1, 2, 2})}}).find("nothing to compare") == 0);
    CHECK(refusal_of(asked_of(o, s, {1, 0, 2, 2, 2, 2}), {{"out", s.normal({1, 0, 2, 2})}, {"lse", s.normal({1, 0, 2})}}).find("nothing to compare") == 0);
    CHECK(refusal_of(asked_of(o, s, {1, 1, 2, 2, 0, 2}), {{"out", s.normal({1, 1, 2, 2})}}).find("d_k = 0") != std::string::npos);
    question empty_lengths = asked_of(o, s, {0, 1, 2, 2, 2, 2});
    empty_lengths.inputs["k_lengths"] = integers({0}, {});
    CHECK(refusal_of(empty_lengths, {{"out", s.normal({0, 1, 2, 2})}}).find("nothing to compare") == 0);
}
