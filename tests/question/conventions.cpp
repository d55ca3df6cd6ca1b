// SPDX-License-Identifier: BSL-1.0
#include "attest/question/conventions.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

using namespace asked;
using attest::causal_alignment;
using attest::convention_info;
using attest::conventions;
using attest::gelu_kind;
using attest::position_kind;
using attest::score_kind;
using attest::settings;
using attest::tensor_layout;
using attest::window_size;

namespace {

std::string in_force(const settings& given, std::string_view key) {
    for (const auto& [k, v] : attest::conventions_in_force(attest::read_conventions(given)))
        if (k == key) return v;
    return "(not in force)";
}
std::string refused(const settings& given) {
    return refusal([&] { return attest::read_conventions(given); });
}
// The op with what it cannot do without.
settings with_op(std::string_view op) {
    settings s = {{"op", std::string(op)}};
    if (attest::concerns(attest::detail::find_convention("heads"), op)) s.emplace_back("heads", "8");
    if (op == "sinusoidal") s.insert(s.end(), {{"length", "6"}, {"d-model", "4"}});
    return s;
}
settings operator+(settings s, const settings& more) {
    s.insert(s.end(), more.begin(), more.end());
    return s;
}
// An op and what a convention needs beside it to mean something.
settings where_it_means_something(const convention_info& info, std::string_view op) {
    settings s = with_op(op);
    for (const attest::detail::condition& c : attest::detail::conditions)
        if (c.key == info.key && attest::concerns(attest::detail::find_convention(c.other), op)) s.emplace_back(c.other, c.value);
    return s;
}
bool has_kind(const convention_info& info) { return info.values.back() == "NUMBER" || info.values.back() == "INTEGER" || info.key == "window"; }

} // namespace

TEST_CASE("without a word the defaults are in force, and each is the first value of the table", "[question]") {
    for (const attest::op_info& op : attest::ops()) {
        for (const convention_info& info : attest::convention_table()) {
            CAPTURE(op.name, info.key);
            CHECK_FALSE(info.summary.empty());
            if (!attest::concerns(info, op.name)) {
                CHECK(in_force(with_op(op.name), info.key) == "(not in force)");
                continue;
            }
            std::string expected(info.values.front());
            if (info.key == "heads") expected = "8";
            if (info.key == "length") expected = "6";
            if (info.key == "d-model") expected = "4";
            CHECK(in_force(where_it_means_something(info, op.name), info.key) == expected);
        }
    }
}

TEST_CASE("every value of every convention is taken by every op that it concerns, and comes out as it went in", "[question]") {
    for (const convention_info& info : attest::convention_table()) {
        std::size_t concerned = 0;
        for (const attest::op_info& op : attest::ops()) {
            if (!attest::concerns(info, op.name)) continue;
            ++concerned;
            for (const std::string_view value : info.values) {
                std::string text = value == "NUMBER" ? "0x1.8p-3" : value == "INTEGER" ? info.key == "precision" ? "512" : "4" : value.starts_with("NAME/") ? "tf32" + std::string(value.substr(4)) : value == "W" ? "4" : value == "L,R" ? "3,0" : std::string(value);
                CAPTURE(info.key, op.name, text);
                const settings given = where_it_means_something(info, op.name) + settings{{std::string(info.key), text}};
                const bool own_weights = (text == "bilinear" || text == "additive") && op.name != "attention" && op.name != "score";
                const bool needed = text == "none" && (info.key == "heads" || info.key == "length" || info.key == "d-model");
                if (own_weights || needed) CHECK_FALSE(refused(given).empty());
                else CHECK(in_force(given, info.key) == text);
            }
        }
        CAPTURE(info.key);
        CHECK(concerned > 0);
        // All words of the table are ops.
        CHECK(concerned == static_cast<std::size_t>(std::count(info.ops.begin(), info.ops.end(), ' ')) + 1);
    }
}

TEST_CASE("what is in force can be given again, and gives the same", "[question]") {
    const std::vector<settings> questions = {
        {{"op", "attention"}, {"score", "dot"}, {"window", "2,5"}, {"softcap", "30"}, {"position", "rope"}, {"rope-dim", "8"}, {"position-offset", "17"}, {"dropout-p", "0.1"}},
        {{"op", "multi_head_attention"}, {"heads", "8"}, {"kv-heads", "2"}, {"names", "torch"}, {"weights", "mean"}, {"position", "alibi"}},
        {{"op", "decoder"}, {"heads", "4"}, {"norm", "pre"}, {"eps", "1e-6"}, {"eps-placement", "std"}, {"variance", "unbiased"}, {"activation", "gelu"}, {"gelu", "tanh"}},
        {{"op", "attention"}, {"score", "additive"}},
        {{"op", "sinusoidal"}, {"length", "3"}, {"d-model", "5"}},
        {{"op", "rope"}, {"rope-pairing", "half"}, {"rope-base", "500000"}}};
    for (const settings& given : questions) {
        const settings all = attest::conventions_in_force(attest::read_conventions(given));
        CAPTURE(given.front().second);
        CHECK(attest::conventions_in_force(attest::read_conventions(settings{{"op", given.front().second}} + all)) == all);
        for (const auto& setting : given)
            if (setting.first != "op") CHECK(std::find(all.begin(), all.end(), setting) != all.end());
    }
}

TEST_CASE("each setting changes its own member and nothing else", "[question]") {
    const auto with = [](const char* key, const char* value) { return attest::read_conventions({{"op", "attention"}, {key, value}}); };
    CHECK(with("causal", "top-left").causal == causal_alignment::top_left);
    CHECK(with("causal", "bottom-right").causal == causal_alignment::bottom_right);
    CHECK(with("causal", "none").causal == causal_alignment::none);
    CHECK(with("scale", "0.25").scale == "0.25");
    CHECK_FALSE(with("scale", "1/sqrt(d_k)").scale.has_value());
    CHECK(with("score", "dot").dot_score());
    CHECK_FALSE(with("score", "scaled").dot_score());
    CHECK(with("score", "bilinear").score == score_kind::bilinear);
    CHECK(with("score", "additive").score == score_kind::additive);
    CHECK_FALSE(with("score", "additive").dot_score());
    CHECK(with("softcap", "50").softcap == "50");
    CHECK_FALSE(with("softcap", "none").softcap.has_value());
    CHECK_FALSE(with("mask-polarity", "drop").mask_keeps);
    CHECK(with("mask-polarity", "keep").mask_keeps);
    CHECK(with("mask-polarity", "keep").mask_polarity_declared);
    CHECK_FALSE(with("causal", "none").mask_polarity_declared);
    CHECK(with("empty-row", "nan").empty_row_is_nan);
    CHECK_FALSE(with("empty-row", "zero").empty_row_is_nan);
    CHECK(with("dropout-p", "0.25").dropout_p == "0.25");
    CHECK_FALSE(with("dropout-p", "0").dropout_p.has_value());
    CHECK(with("position", "rope").position == position_kind::rope);
    CHECK(with("position", "alibi").position == position_kind::alibi);
    CHECK(with("position", "none").position == position_kind::none);
    CHECK(with("layout", "bnhd").layout == tensor_layout::bnhd);
    CHECK(with("layout", "nbd").layout == tensor_layout::nbd);
    CHECK(with("names", "torch").names_torch);
    CHECK_FALSE(with("names", "attest").names_torch);
    CHECK(with("arithmetic", "bf16+f32").arithmetic == "bf16+f32");
    CHECK_FALSE(with("arithmetic", "undeclared").arithmetic.has_value());
    CHECK(with("false-alarm", "1e-6").false_alarm == 1e-6);
    CHECK(with("precision", "192").precision == 192);
    const conventions c = with("causal", "top-left");
    CHECK((c.op == "attention" && !c.scale && !c.dot_score() && c.mask_keeps && c.layout == tensor_layout::bhnd && c.axis == -1 && !c.arithmetic && !c.window && !c.softcap &&
           !c.dropout_p && c.position == position_kind::none && !c.rope_half && !c.rope_base && !c.rope_dim && c.position_offset == 0 && !c.heads && !c.kv_heads && !c.weights_mean &&
           !c.weight_out_in && !c.names_torch && !c.norm_pre && !c.eps && !c.eps_in_std && !c.variance_unbiased && !c.activation_gelu && c.gelu == gelu_kind::by_erf && !c.length && !c.d_model &&
           c.false_alarm == 1e-9 && c.precision == 2048));
}

TEST_CASE("an arithmetic may have suffixes, in one order", "[question]") {
    const auto with = [](const std::string& value) { return attest::read_conventions({{"op", "attention"}, {"arithmetic", value}}).arithmetic.value_or("undeclared"); };
    for (const std::string name : {"f64", "f32", "tf32", "bf16+f32", "f16+f32", "bf16", "f16"}) {
        for (const std::string suffix : {"", "/truncate", "/ftz", "/truncate/ftz"}) CHECK(with(name + suffix) == name + suffix);
        CHECK(with(name + "/ftz/truncate") == name + "/truncate/ftz");
        for (const std::string suffix : {"/", "/trunc", "/ftz/ftz", "/truncate/ftz/truncate", "/ftz/", "/FTZ", "/truncate,ftz", "//ftz", "/truncateftz"}) {
            CAPTURE(name, suffix);
            CHECK(says(refused({{"arithmetic", name + suffix}}), {"'arithmetic' has no value '" + name + suffix + "'", "/truncate and /ftz"}));
        }
    }
    CHECK(says(refused({{"arithmetic", "undeclared/ftz"}}), {"has no value 'undeclared/ftz'", "behind a declared arithmetic"}));
    CHECK(says(refused({{"arithmetic", "fp8/ftz"}}), {"has no value 'fp8'", "it has undeclared, f64"}));
    CHECK(says(refused({{"arithmetic", "NAME/ftz"}}), {"has no value 'NAME'"}));
}

TEST_CASE("the false alarm is a probability, and as a double the nearest to what is written", "[question]") {
    const auto as_double = [](const char* text) {
        const conventions c = attest::read_conventions({{"op", "softmax"}, {"false-alarm", text}});
        CHECK(in_force({{"op", "softmax"}, {"false-alarm", text}}, "false-alarm") == text);
        return c.false_alarm;
    };
    CHECK(as_double("1e-9") == 1e-9);
    CHECK(as_double("1E-9") == 1e-9);
    CHECK(as_double("0.000000001") == 1e-9);
    CHECK(as_double("0.05") == 0.05);
    CHECK(as_double("0.30000000000000000000") == 0.3);
    CHECK(as_double("123456789e-12") == 123456789e-12);
    CHECK(as_double("0x1p-30") == 0x1p-30);
    CHECK(as_double("0x.8") == 0.5);
    CHECK(as_double("0x1.8p-100") == 0x1.8p-100);
    CHECK(as_double("0.99999999999999999999999999") == 1); // less than 1, and rounded
    for (const char* const small : {"1e-30", "2.5e-100", "1e-300"}) CHECK(as_double(small) == Approx(std::stod(small)).epsilon(1e-14));
    CHECK(as_double("0.1234567890123456789012345678901234567890") == Approx(0.1234567890123456789).epsilon(1e-15));
    for (const std::string bad : {"0", "-1e-9", "1", "1.0", "2", "0x1p0", "1e-301", "1e-9999", "0.0"}) {
        CAPTURE(bad);
        CHECK(says(refused({{"false-alarm", bad}}), {"'false-alarm' is a probability, greater than 0 and less than 1", "such as 1e-9, not '" + bad + "'"}));
    }
    for (const std::string bad : {"", "never", "1e-9 ", "1 in 1000"}) CHECK(says(refused({{"false-alarm", bad}}), {"'false-alarm' must be a number"}));
}

TEST_CASE("the precision is a number of bits", "[question]") {
    for (const char* const bits : {"64", "192", "2048", "1048576"}) CHECK(in_force({{"op", "gelu"}, {"precision", bits}}, "precision") == bits);
    CHECK(in_force({{"op", "gelu"}, {"precision", "0128"}}, "precision") == "128");
    for (const std::string bad : {"", "0", "63", "1048577", "-64", "1e3", "192.0", "bits", "99999999999999999999"}) {
        CAPTURE(bad);
        CHECK(refused({{"precision", bad}}) == "the convention 'precision' is a number of bits, 64 to 1048576, not '" + bad + "'");
    }
}

TEST_CASE("each setting of layers changes its own member", "[question]") {
    const auto with = [](const char* key, const char* value) { return attest::read_conventions({{"op", "encoder_layer"}, {"heads", "8"}, {"position", "rope"}, {"activation", "gelu"}, {key, value}}); };
    CHECK(with("heads", "16").heads == 16);
    CHECK(with("kv-heads", "2").kv_heads == 2);
    CHECK_FALSE(with("kv-heads", "heads").kv_heads.has_value());
    CHECK(with("weights", "mean").weights_mean);
    CHECK_FALSE(with("weights", "per-head").weights_mean);
    CHECK(with("weight-layout", "out_in").weight_out_in);
    CHECK_FALSE(with("weight-layout", "in_out").weight_out_in);
    CHECK(with("rope-pairing", "half").rope_half);
    CHECK_FALSE(with("rope-pairing", "interleaved").rope_half);
    CHECK(with("rope-base", "500000").rope_base == "500000");
    CHECK_FALSE(with("rope-base", "10000").rope_base.has_value());
    CHECK(with("rope-dim", "32").rope_dim == 32);
    CHECK_FALSE(with("rope-dim", "d").rope_dim.has_value());
    CHECK(with("position-offset", "100").position_offset == 100);
    CHECK(with("norm", "pre").norm_pre);
    CHECK_FALSE(with("norm", "post").norm_pre);
    CHECK(with("eps", "1e-6").eps == "1e-6");
    CHECK(with("eps", "0").eps == "0");
    CHECK(with("eps-placement", "std").eps_in_std);
    CHECK_FALSE(with("eps-placement", "variance").eps_in_std);
    CHECK(with("variance", "unbiased").variance_unbiased);
    CHECK_FALSE(with("variance", "biased").variance_unbiased);
    CHECK(with("gelu", "erf").gelu == gelu_kind::by_erf);
    CHECK(with("gelu", "tanh").gelu == gelu_kind::by_tanh);
    CHECK(with("gelu", "sigmoid").gelu == gelu_kind::by_sigmoid);
    CHECK(with("activation", "gelu").activation_gelu);
    const conventions table = attest::read_conventions({{"op", "sinusoidal"}, {"length", "64"}, {"d-model", "512"}});
    CHECK((table.length == 64 && table.d_model == 512));
}

TEST_CASE("a window of W keys holds the query's own and W - 1 to each side, or L,R", "[question]") {
    const auto window = [](const char* text) { return attest::read_conventions({{"op", "attention"}, {"window", text}}).window; };
    CHECK(window("4") == window_size{3, 3});
    CHECK(window("1") == window_size{0, 0});
    CHECK(window("3,0") == window_size{3, 0});
    CHECK(window("0,2") == window_size{0, 2});
    CHECK(window("0,0") == window_size{0, 0});
    CHECK(window("999999999") == window_size{999999998, 999999998});
    CHECK_FALSE(window("none").has_value());
    CHECK(in_force({{"op", "attention"}, {"window", "3,3"}}, "window") == "4"); // the same window
    CHECK(in_force({{"op", "attention"}, {"window", "3,4"}}, "window") == "3,4");
    for (const char* const text : {"", "0", "-1", "-1,-1", "4,", ",4", "4,5,6", "4;5", "4 ,5", "1000000000", "1.5", "all", "W"}) {
        CAPTURE(text);
        CHECK(refused({{"op", "attention"}, {"window", text}}) ==
              "the convention 'window' is W, 1 or greater, such as 4 (its own key and 3 to each side), or L,R, such as 3,0, not '" + std::string(text) + "'");
    }
}

TEST_CASE("axes are integers of one or two digits", "[question]") {
    const auto axis = [](const char* text) { return attest::read_conventions({{"op", "softmax"}, {"axis", text}}).axis; };
    CHECK(axis("-1") == -1);
    CHECK(axis("0") == 0);
    CHECK(axis("-0") == 0);
    CHECK(axis("31") == 31);
    CHECK(axis("-12") == -12);
    CHECK(axis("01") == 1);
    for (const char* const text : {"", "-", "+1", "1.0", "100", "99999999999999999999", "last", " 1", "1 ", "--1", "0x1", "1e0"}) {
        CAPTURE(text);
        CHECK(refused({{"op", "softmax"}, {"axis", text}}) == "the convention 'axis' is an integer such as -1 or 0, not '" + std::string(text) + "'");
    }
}

TEST_CASE("a value that a convention does not have is refused with those that it has", "[question]") {
    for (const convention_info& info : attest::convention_table()) {
        if (has_kind(info)) continue;
        std::string values;
        for (const std::string_view value : info.values) values += (values.empty() ? "" : ", ") + std::string(value);
        for (const std::string bad : {"", "true", "banana", "0"}) {
            CAPTURE(info.key, bad);
            CHECK(refused({{std::string(info.key), bad}}) == "the convention '" + std::string(info.key) + "' has no value '" + bad + "'; it has " + values);
        }
    }
    CHECK(refused({{"causal", "top_left"}}) == "the convention 'causal' has no value 'top_left' (did you mean top-left?); it has none, top-left, bottom-right");
    CHECK(says(refused({{"rope-pairing", "interleave"}}), {"has no value 'interleave' (did you mean interleaved?)"}));
}

TEST_CASE("a number out of its range is refused with the range", "[question]") {
    CHECK(says(refused({{"scale", "1/sqrt(d)"}}), {"'scale' must be a number", "'1/sqrt(d)'"}));
    CHECK(refused({{"softcap", "0"}}) == "'softcap' must be greater than 0, not '0'");
    CHECK(refused({{"softcap", "-30"}}) == "'softcap' must be greater than 0, not '-30'");
    CHECK(refused({{"rope-base", "0.0"}}) == "'rope-base' must be greater than 0, not '0.0'");
    CHECK(refused({{"eps", "-1e-5"}}) == "'eps' must be 0 or greater, not '-1e-5'");
    CHECK(refused({{"dropout-p", "1"}}) == "'dropout-p' must be at least 0 and less than 1, not '1'");
    for (const char* const key : {"softcap", "rope-base", "eps", "dropout-p", "scale"}) {
        CAPTURE(key);
        CHECK(says(refused({{key, "nan"}}), {"'" + std::string(key) + "' must be a number"}));
        CHECK(says(refused({{key, ""}}), {"'" + std::string(key) + "' must be a number"}));
    }
    for (const auto& [key, least] : std::vector<std::pair<std::string, std::string>>{{"heads", "1"}, {"kv-heads", "1"}, {"length", "1"}, {"d-model", "1"}, {"rope-dim", "2"}, {"position-offset", "0"}}) {
        for (const std::string bad : {"-1", "1.5", "", "none at all", "1e3"}) {
            CAPTURE(key, bad);
            CHECK(refused({{key, bad}}) == "the convention '" + key + "' is an integer of at most nine digits, " + least + " or greater, not '" + bad + "'");
        }
    }
    CHECK_FALSE(refused({{"heads", "0"}}).empty());
    CHECK_FALSE(refused({{"length", "0"}}).empty());
    CHECK_FALSE(refused({{"rope-dim", "0"}}).empty());
}

TEST_CASE("an unknown key is refused with those there are", "[question]") {
    for (const char* const key : {"", "bf16", "temperature"}) {
        CAPTURE(key);
        CHECK(says(refused({{key, "x"}}), {"there is no convention '" + std::string(key) + "'; there are op, causal, window, score, scale,", "axis, length, d-model, arithmetic, false-alarm, precision"}));
    }
    for (const auto& [key, meant] : std::vector<std::pair<const char*, const char*>>{
             {"Causal", "causal"}, {"mask_polarity", "mask-polarity"}, {"scale ", "scale"}, {"casual", "causal"}, {"kv_heads", "kv-heads"}, {"n-heads", "heads"}, {"rope-theta", ""}}) {
        CAPTURE(key);
        const std::string hint = *meant == '\0' || std::string_view(key) == "n-heads" ? "" : " (did you mean " + std::string(meant) + "?)";
        CHECK(says(refused({{key, "x"}}), {"there is no convention '" + std::string(key) + "'" + hint}));
    }
}

TEST_CASE("of two settings of one key the later wins", "[question]") {
    CHECK(in_force({{"op", "attention"}, {"causal", "top-left"}, {"causal", "bottom-right"}}, "causal") == "bottom-right");
    CHECK(in_force({{"op", "attention"}, {"scale", "3"}, {"scale", "1/sqrt(d_k)"}}, "scale") == "1/sqrt(d_k)");
    CHECK(in_force({{"op", "attention"}, {"softcap", "3"}, {"softcap", "none"}}, "softcap") == "none");
    CHECK(in_force({{"op", "attention"}, {"window", "3"}, {"window", "none"}}, "window") == "none");
    CHECK(in_force({{"op", "attention"}, {"arithmetic", "f32"}, {"arithmetic", "undeclared"}}, "arithmetic") == "undeclared");
    CHECK(in_force({{"op", "attention"}, {"false-alarm", "0.5"}, {"false-alarm", "1e-9"}}, "false-alarm") == "1e-9");
    CHECK(attest::read_conventions({{"op", "attention"}, {"false-alarm", "0.5"}, {"false-alarm", "1e-9"}}).false_alarm == 1e-9);
    CHECK(in_force({{"op", "attention"}, {"precision", "64"}, {"precision", "2048"}}, "precision") == "2048");
    CHECK(in_force(with_op("encoder") + settings{{"norm", "pre"}, {"norm", "post"}}, "norm") == "post");
    CHECK(attest::read_conventions({{"op", "attention"}, {"op", "softmax"}}).op == "softmax");
    // But what is wrong is refused even if it is overridden.
    CHECK_FALSE(refused({{"op", "attention"}, {"causal", "what"}, {"causal", "none"}}).empty());
}

TEST_CASE("a score that is not scaled has scale 1, and no other scale goes with it", "[question]") {
    for (const std::string score : {"dot", "bilinear", "additive"}) {
        CAPTURE(score);
        CHECK(in_force({{"op", "attention"}, {"score", score}}, "scale") == "1");
        CHECK(refused({{"op", "attention"}, {"score", score}, {"scale", "1"}}).empty());
        CHECK(says(refused({{"op", "attention"}, {"score", score}, {"scale", "0.5"}}), {"score=" + score + " is not scaled", "scale=0.5", "use score=scaled"}));
        CHECK(says(refused({{"op", "score"}, {"scale", "0.5"}, {"score", score}}), {"score=" + score, "scale=0.5"}));
        CHECK(says(refused({{"op", "score"}, {"scale", "1/sqrt(d_k)"}, {"score", score}}), {"score=" + score, "scale=1/sqrt(d_k)"}));
    }
}

TEST_CASE("a convention of another op is refused, wherever the op stands", "[question]") {
    CHECK(refused({{"op", "attention"}, {"axis", "0"}}) == "'axis' is a convention of softmax, not of attention");
    CHECK(says(refused({{"causal", "top-left"}, {"op", "softmax"}}), {"'causal' is a convention of attention multi_head_attention", "not of softmax"}));
    CHECK(refused({{"op", "softmax"}, {"arithmetic", "f32"}, {"axis", "0"}}).empty());
    // A name inside of another name is no name: attention is not among the ops with heads.
    CHECK(says(refused({{"op", "attention"}, {"heads", "8"}}), {"'heads' is a convention of multi_head_attention", "not of attention"}));
    CHECK(says(refused({{"op", "attention"}, {"weights", "mean"}}), {"'weights' is a convention of multi_head_attention", "not of attention"}));
    CHECK(says(refused({{"op", "rms_norm"}, {"variance", "biased"}}), {"'variance' is a convention of layer_norm", "not of rms_norm"}));
    CHECK(refused({{"op", "rms_norm"}, {"eps-placement", "std"}}).empty());
    CHECK(says(refused(with_op("multi_head_attention") + settings{{"norm", "pre"}}), {"'norm' is a convention of encoder_layer"}));
    for (const attest::op_info& op : attest::ops())
        for (const convention_info& info : attest::convention_table()) {
            if (attest::concerns(info, op.name)) continue;
            CAPTURE(op.name, info.key);
            const std::string value = info.values.front() == "none" && has_kind(info) && info.key != "softcap" && info.key != "window" ? "4" : std::string(info.values.front());
            CHECK(says(refused(with_op(op.name) + settings{{std::string(info.key), value}}), {"'" + std::string(info.key) + "' is a convention of", "not of " + std::string(op.name)}));
        }
}

TEST_CASE("a convention that means nothing beside another is refused, and not in force", "[question]") {
    const settings layer = with_op("encoder_layer");
    CHECK(refused(layer + settings{{"gelu", "tanh"}}) == "gelu=tanh means nothing with activation=relu; remove it, or declare activation=gelu");
    CHECK(refused(layer + settings{{"gelu", "tanh"}, {"activation", "gelu"}}).empty());
    CHECK(refused({{"op", "gelu"}, {"gelu", "tanh"}}).empty());
    for (const auto& [key, value] : settings{{"rope-base", "500000"}, {"rope-pairing", "half"}, {"rope-dim", "4"}, {"position-offset", "3"}}) {
        CAPTURE(key);
        CHECK(refused({{"op", "attention"}, {key, value}}) == key + "=" + value + " means nothing with position=none; remove it, or declare position=rope");
        CHECK(says(refused({{"op", "attention"}, {"position", "alibi"}, {key, value}}), {"means nothing with position=alibi"}));
        CHECK(refused({{"op", "attention"}, {key, value}, {"position", "rope"}}).empty());
        CHECK(refused({{"op", "rope"}, {key, value}}).empty());
        CHECK(in_force({{"op", "attention"}}, key) == "(not in force)");
        CHECK(in_force({{"op", "attention"}, {"position", "rope"}}, key) != "(not in force)");
    }
    CHECK(refused({{"op", "learned_position"}, {"position-offset", "3"}}).empty());
    CHECK(in_force(layer, "gelu") == "(not in force)");
    CHECK(in_force({{"op", "gelu"}}, "gelu") == "erf");
}

TEST_CASE("conventions that contradict each other are refused in one line that names both", "[question]") {
    for (const std::string score : {"bilinear", "additive"}) {
        CHECK(says(refused(with_op("multi_head_attention") + settings{{"score", score}}), {"score=" + score, "weights of its own", "multi_head_attention does not take"}));
        CHECK(says(refused(with_op("decoder") + settings{{"score", score}}), {"score=" + score, "decoder does not take"}));
    }
    CHECK(says(refused(with_op("feed_forward") + settings{{"names", "torch"}, {"weight-layout", "in_out"}}), {"names=torch implies weight-layout=out_in", "weight-layout=in_out"}));
    CHECK(refused(with_op("feed_forward") + settings{{"names", "torch"}, {"weight-layout", "out_in"}}).empty());
    CHECK(attest::read_conventions({{"op", "feed_forward"}, {"names", "torch"}}).weight_out_in);
    CHECK(in_force({{"op", "feed_forward"}, {"names", "torch"}}, "weight-layout") == "out_in");
    CHECK(refused({{"op", "rope"}, {"rope-dim", "5"}}) == "rope-dim=5 is odd, but components rotate in pairs");
    CHECK(refused(with_op("multi_head_attention") + settings{{"kv-heads", "3"}}) == "kv-heads=3 does not divide heads=8");
    CHECK(refused(with_op("multi_head_attention") + settings{{"kv-heads", "16"}}) == "kv-heads=16 does not divide heads=8");
    for (const char* const kv : {"1", "2", "4", "8"}) CHECK(refused(with_op("multi_head_attention") + settings{{"kv-heads", kv}}).empty());
}

TEST_CASE("counts that nothing else tells must be given", "[question]") {
    for (const char* const op : {"multi_head_attention", "encoder_layer", "decoder_layer", "encoder", "decoder"}) {
        CAPTURE(op);
        CHECK(refused({{"op", op}}) == std::string(op) + " needs heads=H: the columns of w_q are those of all heads side by side, [d_model, H*d_k], and their number does not tell H");
        CHECK_FALSE(refused({{"op", op}, {"heads", "4"}, {"heads", "none"}}).empty());
        CHECK(refused({{"op", op}, {"heads", "1"}}).empty());
    }
    CHECK(says(refused({{"op", "sinusoidal"}}), {"sinusoidal needs length=N and d-model=D"}));
    CHECK(says(refused({{"op", "sinusoidal"}, {"length", "4"}}), {"needs length=N and d-model=D"}));
    CHECK(says(refused({{"op", "sinusoidal"}, {"d-model", "4"}}), {"needs length=N and d-model=D"}));
    CHECK(refused({}).empty()); // no op, nothing to need
}
