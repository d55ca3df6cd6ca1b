// SPDX-License-Identifier: BSL-1.0
// The ops that work element by element or row by row: values and gradients against plain formulas, right and wrong programs judged.
#include "held.hpp"

using namespace asked;

namespace {

constexpr double quiet = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
namespace rules = attest::rules;

auto element_wise(const std::string& which) {
    return [which](const auto& in) {
        using N = typename std::decay_t<decltype(in["x"].values)>::value_type;
        plain::tensor<N> out{in["x"].shape, {}};
        for (const N& x : in["x"].values) out.values.push_back(plain::activated(x, which));
        return plain::results<N>{{"out", out}};
    };
}

auto norm_of_rows(const options& o, bool rms) {
    return [o, rms](const auto& in) {
        using N = typename std::decay_t<decltype(in["x"].values)>::value_type;
        const std::size_t d = in["x"].shape.back();
        plain::tensor<N> out{in["x"].shape, {}};
        for (std::size_t first = 0; first < in["x"].values.size(); first += d) {
            const std::vector<N> row(in["x"].values.begin() + static_cast<long>(first), in["x"].values.begin() + static_cast<long>(first + d));
            const auto weights = [&](const char* name) { return in.has(name) ? &in[name].values : nullptr; };
            const auto y = rms ? plain::rms_norm(row, weights("gamma"), o) : plain::layer_norm(row, weights("gamma"), weights("beta"), o);
            out.values.insert(out.values.end(), y.begin(), y.end());
        }
        return plain::results<N>{{"out", out}};
    };
}

auto feed_forward_of(const options& o) {
    return [o](const auto& in) {
        using N = typename std::decay_t<decltype(in["x"].values)>::value_type;
        plain::table<N> x(in["x"].values.size() / in["x"].shape.back(), in["x"].shape.back());
        x.values = in["x"].values;
        const plain::table<N> y = plain::feed_forward(in, "", x, o);
        lengths shape = in["x"].shape;
        shape.back() = y.columns;
        return plain::results<N>{{"out", {shape, y.values}}};
    };
}

attest::settings norm_settings(const options& o, bool rms) {
    attest::settings s{{"op", rms ? "rms_norm" : "layer_norm"}};
    if (o.eps_in_std) s.emplace_back("eps-placement", "std");
    if (o.unbiased) s.emplace_back("variance", "unbiased");
    if (o.eps == 1e-6L) s.emplace_back("eps", "1e-6");
    if (o.eps == 0.5L) s.emplace_back("eps", "0.5");
    return s;
}

} // namespace

TEST_CASE("relu and gelu", "[oracle]") {
    source s(31);
    question asked{{{"op", "relu"}}, {{"x", s.normal({2, 3, 4}, 2)}, {"dout", s.normal({2, 3, 4})}}};
    asked.inputs["x"].values[0] = asked.inputs["x"].values[5] = 0;
    asked.inputs["x"].values[7] = -0.0;
    hold(asked, element_wise("relu"));
    asked.inputs["x"].values = {0, 1e-300, -1e-300, 5, -5, 0.1, -0.1, 30, -30, 2, -2, 1, -1, 0.5, -0.5, 3, -3, 6, -6, 1e-8, -1e-8, 8, -8, 0.75};
    for (const char* form : {"erf", "tanh", "sigmoid"}) {
        INFO("gelu " << form);
        asked.settings = {{"op", "gelu"}, {"gelu", form}};
        question moderate = asked; // long double itself loses digits in 1 + tanh(x) far below 0
        for (double& x : moderate.inputs["x"].values) x = std::fmax(x, -2.5);
        const auto right = run<long double>(moderate, element_wise(std::string("gelu-") + form));
        for (const auto& [name, t] : right.tensors) {
            const auto values = values_of(moderate, {name});
            for (std::size_t e = 0; e < t.values.size(); ++e) {
                INFO(name << " at x = " << moderate.inputs["x"].values[e]);
                CHECK(std::fabs(values.at(name).values[e] - t.values[e]) <= 1e-15L * std::fabs(t.values[e]));
            }
        }
        const members made = candidates_of(run<double>(asked, element_wise(std::string("gelu-") + form)));
        hold_right(asked, made);
        hold_wrong(moderate, candidates_of(run<double>(moderate, element_wise(std::string("gelu-") + form))), right);
        hold_undecided(asked, made);
        for (const char* other : {"erf", "tanh", "sigmoid"})
            if (std::string(other) != form) fails(asked, asked, element_wise(std::string("gelu-") + other), {"out", "dx"});
    }
    fails(asked, asked, element_wise("relu"), {"out", "dx"});
    // The derivative of ReLU at 0 is 0.
    question at_zero{{{"op", "relu"}}, {{"x", {{3}, {0, 1, -1}}}, {"dout", {{3}, {5, 5, 5}}}}};
    CHECK(checked(at_zero, {{"dx", {{3}, {0, 5, 0}}}}).verdict == attest::verdict::exact);
    CHECK(checked(at_zero, {{"dx", {{3}, {5, 5, 0}}}}).verdict == attest::verdict::wrong);
    CHECK(checked(at_zero, {{"dx", {{3}, {2.5, 5, 0}}}}).verdict == attest::verdict::wrong);
}

TEST_CASE("relu and gelu of NaN, infinity, a number and nothing", "[oracle]") {
    const auto judged = [](const char* op, const member& x, const member& out) { return checked({{{"op", op}}, {{"x", x}}}, {{"out", out}}).verdict; };
    CHECK(judged("relu", {{}, {3}}, {{}, {3}}) == attest::verdict::exact);
    CHECK(judged("relu", {{2}, {infinity, -1}}, {{2}, {infinity, 0}}) == attest::verdict::exact);
    CHECK_FALSE(attest::passes(judged("relu", {{2}, {quiet, -1}}, {{2}, {0, 0}})));
    CHECK_FALSE(attest::passes(judged("gelu", {{2}, {infinity, -1}}, {{2}, {0, 0}})));
    for (const char* form : {"erf", "tanh", "sigmoid"})
        for (const double x : {infinity, -infinity, quiet, 1e300, -1e300, 1e-320, 50.0, -50.0}) {
            const question asked{{{"op", "gelu"}, {"gelu", form}}, {{"x", {{1}, {x}}}, {"dout", {{1}, {1}}}}};
            INFO(form << " of " << x);
            CHECK_NOTHROW(checked(asked, {{"out", {{1}, {x > 0 ? x : 0}}}, {"dx", {{1}, {x > 0 ? 1.0 : 0.0}}}}));
            if (std::fabs(x) == 50) hold_right(asked, candidates_of(run<double>(asked, element_wise(std::string("gelu-") + form))));
        }
    said(refusal_of({{{"op", "relu"}}, {{"x", {{0, 3}, {}}}}}, {{"out", {{0, 3}, {}}}}), {"nothing to compare"});
    said(refusal_of({{{"op", "relu"}}, {{"x", {{2}, {1, 2}}}}}, {{"out", {{3}, {1, 2, 3}}}}), {"out [3]", "expected [2]"});
    said(refusal_of({{{"op", "relu"}}, {{"x", {{2}, {1, 2}}}}}, {{"dx", {{2}, {1, 2}}}}), {"needs an input 'dout'"});
    said(refusal_of({{{"op", "gelu"}}, {{"x", {{2}, {1, 2}}}, {"dout", {{2, 1}, {1, 2}}}}}, {{"dx", {{2}, {1, 2}}}}), {rules::gradient_has_shape_of_output::sentence, "dout [2, 1]", "out [2]"});
    said(refusal_of({{{"op", "relu"}}, {{"x", integers({2}, {1, 2})}}}, {{"out", {{2}, {1, 2}}}}), {"x [2]", "i64"});
}

TEST_CASE("layer_norm in all four variants, and rms_norm in two", "[oracle]") {
    source s(32);
    for (const bool rms : {false, true})
        for (const bool in_std : {false, true})
            for (const bool unbiased : {false, true})
                for (const long double eps : {1e-5L, 1e-6L, 0.5L})
                    for (const int weights : {0, 1, 2, 3}) {
                        if (rms && (unbiased || weights >= 2)) continue;
                        options o;
                        o.eps_in_std = in_std;
                        o.unbiased = unbiased;
                        o.eps = eps;
                        INFO((rms ? "rms" : "layer") << (in_std ? ", std" : ", variance") << (unbiased ? ", unbiased" : ", biased") << ", eps " << static_cast<double>(eps) << ", weights " << weights);
                        question asked{norm_settings(o, rms), {{"x", s.normal({2, 3, 5}, 2, 0.5)}, {"dout", s.normal({2, 3, 5})}}};
                        if (weights & 1) asked.inputs["gamma"] = s.normal({5}, 0.25, 1);
                        if (weights & 2) asked.inputs["beta"] = s.normal({5});
                        hold(asked, norm_of_rows(o, rms));
                        if (weights != 1) continue;
                        options other = o;
                        other.eps_in_std = !in_std;
                        fails(asked, asked, norm_of_rows(other, rms), {"out", "dx", "dgamma"});
                        other = o;
                        other.eps = eps == 1e-5L ? 1e-6L : 1e-5L;
                        fails(asked, asked, norm_of_rows(other, rms), {"out", "dx", "dgamma"});
                        other = o;
                        other.unbiased = !unbiased;
                        if (!rms) fails(asked, asked, norm_of_rows(other, rms), {"out", "dx", "dgamma"});
                        fails(asked, asked, norm_of_rows(o, !rms), {"out", "dx", "dgamma"});
                    }
}

TEST_CASE("wrong gradients of layer_norm", "[oracle]") {
    source s(33);
    const options o;
    const question asked{norm_settings(o, false), {{"x", s.normal({4, 6})}, {"gamma", s.normal({6})}, {"beta", s.normal({6})}, {"dout", s.normal({4, 6})}}};
    const members right = candidates_of(run<double>(asked, norm_of_rows(o, false)));
    // The terms that come through mean and variance left out: dx = γ dout/σ.
    members bad = right;
    for (std::size_t i = 0; i < 4; ++i) {
        double mean = 0, square = 0;
        for (std::size_t c = 0; c < 6; ++c) mean += asked.inputs.at("x").values[i * 6 + c] / 6;
        for (std::size_t c = 0; c < 6; ++c) square += std::pow(asked.inputs.at("x").values[i * 6 + c] - mean, 2) / 6;
        for (std::size_t c = 0; c < 6; ++c) bad["dx"].values[i * 6 + c] = asked.inputs.at("gamma").values[c] * asked.inputs.at("dout").values[i * 6 + c] / std::sqrt(square + 1e-5);
    }
    const auto result = checked(asked, bad);
    CHECK(result.first_bad_stage == "dx");
    CHECK(attest::passes(result_of(result, "dgamma").verdict));
    // dgamma of the mean over rows, not their sum.
    bad = right;
    for (double& x : bad["dgamma"].values) x /= 4;
    CHECK(checked(asked, bad).first_bad_stage == "dgamma");
}

TEST_CASE("constant rows, one component, none", "[oracle]") {
    for (const bool in_std : {false, true}) {
        options o;
        o.eps_in_std = in_std;
        question one{norm_settings(o, false), {{"x", {{2, 1}, {3, -4}}}, {"gamma", {{1}, {2}}}, {"beta", {{1}, {7}}}, {"dout", {{2, 1}, {1, 2}}}}};
        CHECK(attest::passes(checked(one, {{"out", {{2, 1}, {7, 7}}}, {"dbeta", {{1}, {3}}}}).verdict));
        CHECK(is_bad(checked(one, {{"out", {{2, 1}, {7, 7.5}}}}).verdict));
        question constant{norm_settings(o, false), {{"x", {{2, 3}, {0.1, 0.1, 0.1, 1, 2, 4}}}, {"dout", {{2, 3}, {1, 2, 3, 4, 5, 6}}}}};
        const auto right = run<double>(constant, norm_of_rows(o, false));
        members made = candidates_of(right);
        made.erase("dx");
        CHECK(attest::passes(checked(constant, made).verdict));
        constant.inputs["x"].values = {0, 0, 0, 1, 2, 4};
        CHECK(attest::passes(checked(constant, only(candidates_of(run<double>(constant, norm_of_rows(o, false))), {"out"})).verdict));
        // The slope of sigma at 0: none. With eps beside sigma dx is not judged there; anything else is.
        if (!in_std) hold(constant, norm_of_rows(o, false));
        else CHECK_NOTHROW(checked(constant, {{"dx", {{2, 3}, {0, 0, 0, 0, 0, 0}}}}));
    }
    const attest::settings layer{{"op", "layer_norm"}};
    said(refusal_of({layer, {{"x", {{2, 0}, {}}}}}, {{"out", {{2, 0}, {}}}}), {"nothing to compare"});
    said(refusal_of({layer, {{"x", {{0, 2}, {}}}}}, {{"out", {{0, 2}, {}}}}), {"nothing to compare"});
    said(refusal_of({layer, {{"x", {{}, {2}}}}}, {{"out", {{}, {2}}}}), {"x []", "single number"});
    said(refusal_of({{{"op", "layer_norm"}, {"variance", "unbiased"}}, {{"x", {{2, 1}, {1, 2}}}}}, {{"out", {{2, 1}, {0, 0}}}}), {"x [2, 1]", "unbiased"});
    // No rows, but parameters: their gradients are 0.
    const question no_rows{layer, {{"x", {{0, 2}, {}}}, {"gamma", {{2}, {1, 2}}}, {"dout", {{0, 2}, {}}}}};
    CHECK(checked(no_rows, {{"dgamma", {{2}, {0, 0}}}}).verdict == attest::verdict::exact);
    CHECK(checked(no_rows, {{"dgamma", {{2}, {0, 1}}}}).verdict == attest::verdict::wrong);
    // eps = 0 and a constant row: 0/0.
    const question zero{{{"op", "layer_norm"}, {"eps", "0"}}, {{"x", {{1, 2}, {3, 3}}}}};
    CHECK(attest::passes(checked(zero, {{"out", {{1, 2}, {quiet, quiet}}}}).verdict));
    CHECK_FALSE(attest::passes(checked(zero, {{"out", {{1, 2}, {0, 0}}}}).verdict));
}

TEST_CASE("norms refuse what does not fit", "[oracle]") {
    source s(34);
    const question asked{{{"op", "layer_norm"}}, {{"x", s.normal({2, 4})}, {"gamma", s.normal({4})}, {"dout", s.normal({2, 4})}}};
    const auto with = [&](const std::string& name, const member& m, const char* wanted = "out", const char* op = "layer_norm") {
        question other = asked;
        other.settings = {{"op", op}};
        other.inputs[name] = m;
        return refusal_of(other, {{wanted, s.normal({2, 4})}});
    };
    said(with("gamma", s.normal({3})), {rules::norm_weight_for_each_component::sentence, "x [2, 4]", "gamma [3]"});
    said(with("beta", s.normal({5})), {rules::norm_weight_for_each_component::sentence, "x [2, 4]", "beta [5]"});
    said(with("gamma", s.normal({1, 4})), {"gamma [1, 4]", "one dimension"});
    said(with("gamma", {{}, {1}}), {"gamma []"});
    said(with("gamma", s.normal({0})), {rules::norm_weight_for_each_component::sentence, "gamma [0]"});
    said(with("beta", s.normal({4}), "out", "rms_norm"), {"beta", "RMSNorm"});
    said(with("dout", s.normal({4}), "dx"), {rules::gradient_has_shape_of_output::sentence, "dout [4]", "out [2, 4]"});
    said(refusal_of(asked, {{"dgamma", s.normal({3})}}), {"dgamma [3]", "expected [4]"});
}

TEST_CASE("feed_forward with and without biases, in both layouts of weights, with every activation", "[oracle]") {
    source s(35);
    for (const bool out_in : {false, true})
        for (const int biases : {0, 1, 2, 3})
            for (const char* activation : {"relu", "gelu-erf", "gelu-tanh", "gelu-sigmoid"})
                for (const lengths& x : {lengths{2, 2, 3}, lengths{3}}) {
                    options o;
                    o.out_in = out_in;
                    o.activation = activation;
                    question asked{{{"op", "feed_forward"}}, {{"x", s.normal(x)}, {"dout", s.normal(x)}}};
                    if (out_in) asked.settings.emplace_back("weight-layout", "out_in");
                    if (o.activation != "relu") {
                        asked.settings.emplace_back("activation", "gelu");
                        asked.settings.emplace_back("gelu", o.activation.substr(5));
                    }
                    asked.inputs["w_1"] = s.normal(out_in ? lengths{5, 3} : lengths{3, 5});
                    asked.inputs["w_2"] = s.normal(out_in ? lengths{3, 5} : lengths{5, 3});
                    if (biases & 1) asked.inputs["b_1"] = s.normal({5});
                    if (biases & 2) asked.inputs["b_2"] = s.normal({3});
                    INFO(activation << (out_in ? ", out_in" : ", in_out") << ", biases " << biases);
                    hold(asked, feed_forward_of(o));
                }
    // Transposed weights where both layouts fit.
    options o, turned;
    turned.out_in = true;
    const question square{{{"op", "feed_forward"}}, {{"x", s.normal({4, 3})}, {"w_1", s.normal({3, 3})}, {"w_2", s.normal({3, 3})}, {"dout", s.normal({4, 3})}}};
    fails(square, square, feed_forward_of(turned), {"out", "dx", "dw_1", "dw_2"});
    o.activation = "gelu-erf";
    fails(square, square, feed_forward_of(o), {"out", "dx", "dw_1", "dw_2"});
    // The bias's gradient of the last row alone.
    question biased = square;
    biased.inputs["b_2"] = s.normal({3});
    members bad = candidates_of(run<double>(biased, feed_forward_of(options{})));
    for (std::size_t c = 0; c < 3; ++c) bad["db_2"].values[c] = biased.inputs["dout"].values[9 + c];
    CHECK(checked(biased, bad).first_bad_stage == "db_2");
}

TEST_CASE("feed_forward refuses what does not fit", "[oracle]") {
    source s(36);
    const question asked{{{"op", "feed_forward"}}, {{"x", s.normal({2, 3})}, {"w_1", s.normal({3, 5})}, {"w_2", s.normal({5, 3})}, {"dout", s.normal({2, 3})}}};
    const auto with = [&](const std::string& name, const member& m, const char* wanted = "out") {
        question other = asked;
        other.inputs[name] = m;
        return refusal_of(other, {{wanted, s.normal({2, 3})}});
    };
    said(with("w_1", s.normal({4, 5})), {rules::weight_row_for_each_input::sentence, "x [2, 3]", "w_1 [4, 5]"});
    said(with("x", s.normal({2, 4})), {rules::weight_row_for_each_input::sentence, "x [2, 4]", "w_1 [3, 5]"});
    said(with("w_2", s.normal({4, 3})), {rules::weight_row_for_each_input::sentence, "w_2 [4, 3]", "[5, 3]"});
    said(with("w_2", s.normal({5, 4})), {rules::residual_keeps_shape::sentence, "w_2 [5, 4]", "[5, 3]"});
    said(with("w_2", s.normal({3, 5})), {"w_2 [3, 5]", "it would fit in the layout out_in"});
    said(with("b_1", s.normal({3})), {rules::bias_for_each_output::sentence, "b_1 [3]", "[5]"});
    said(with("b_2", s.normal({5})), {rules::bias_for_each_output::sentence, "b_2 [5]", "[3]"});
    said(with("w_1", s.normal({15})), {"w_1 [15]", "two dimensions"});
    said(with("dout", s.normal({3}), "dx"), {rules::gradient_has_shape_of_output::sentence, "dout [3]", "out [2, 3]"});
    said(refusal_of(asked, {{"db_1", s.normal({5})}}), {"db_1", "b_1"});
    said(refusal_of({{{"op", "feed_forward"}}, {{"x", s.normal({2, 3})}, {"w_1", s.normal({3, 5})}}}, {{"out", s.normal({2, 3})}}), {"w_2", "missing"});
    said(refusal_of({{{"op", "feed_forward"}}, {{"x", s.normal({0, 3})}, {"w_1", s.normal({3, 5})}, {"w_2", s.normal({5, 3})}}}, {{"out", s.normal({0, 3})}}), {"nothing to compare"});
    // No hidden components at all.
    const question narrow{{{"op", "feed_forward"}}, {{"x", s.normal({1, 2})}, {"w_1", s.normal({2, 0})}, {"w_2", s.normal({0, 2})}, {"b_2", {{2}, {1, 2}}}}};
    CHECK(checked(narrow, {{"out", {{1, 2}, {1, 2}}}}).verdict == attest::verdict::exact);
}

TEST_CASE("the gradient of softmax along any axis", "[oracle]") {
    source s(37);
    for (const char* axis : {"-1", "0", "1", "-2"}) {
        const std::size_t along = axis[0] == '-' ? static_cast<std::size_t>(3 - (axis[1] - '0')) : static_cast<std::size_t>(axis[0] - '0');
        question asked{{{"op", "softmax"}, {"axis", axis}}, {{"x", s.normal({2, 3, 4}, 3)}, {"dout", s.normal({2, 3, 4})}}};
        asked.inputs["x"].values[5] = -infinity;
        const auto model = [along](const auto& in) {
            using N = typename std::decay_t<decltype(in["x"].values)>::value_type;
            using T = typename N::scalar;
            const lengths& shape = in["x"].shape;
            std::size_t stride = 1;
            for (std::size_t k = along + 1; k < 3; ++k) stride *= shape[k];
            plain::tensor<N> out{shape, std::vector<N>(24)};
            for (std::size_t first = 0; first < 24; ++first) {
                if (first / stride % shape[along] != 0) continue;
                T greatest = -std::numeric_limits<T>::infinity();
                N total(T(0));
                for (std::size_t j = 0; j < shape[along]; ++j) greatest = std::max(greatest, in["x"].values[first + j * stride].value);
                for (std::size_t j = 0; j < shape[along]; ++j) {
                    const N& x = in["x"].values[first + j * stride];
                    if (x.value != -std::numeric_limits<T>::infinity()) total = total + (out.values[first + j * stride] = exp(x - N(greatest)));
                }
                for (std::size_t j = 0; j < shape[along]; ++j) out.values[first + j * stride] = out.values[first + j * stride] / total;
            }
            return plain::results<N>{{"out", out}};
        };
        INFO("axis " << axis);
        const auto right = run<long double>(asked, model);
        auto only_dx = right;
        only_dx.tensors.erase("out");
        const members made = candidates_of(run<double>(asked, model));
        hold_values(asked, only_dx, made);
        hold_right(asked, made);
        hold_wrong(asked, made, right);
        // dout ⊙ a alone: the sum over the row left out.
        members bad = made;
        for (std::size_t e = 0; e < 24; ++e) bad["dx"].values[e] = made.at("out").values[e] * asked.inputs["dout"].values[e];
        CHECK(checked(asked, bad).first_bad_stage == "dx");
    }
    said(refusal_of({{{"op", "softmax"}}, {{"x", s.normal({2, 3})}, {"dout", s.normal({3})}}}, {{"dx", s.normal({2, 3})}}), {rules::gradient_has_shape_of_output::sentence, "dout [3]", "out [2, 3]"});
}

TEST_CASE("row ops in f32 and bf16: undecided, or exact", "[oracle]") {
    source s(38, attest::formats::f32);
    const options o;
    const question asked{norm_settings(o, false), {{"x", s.normal({3, 8})}, {"gamma", s.normal({8})}, {"beta", s.normal({8})}, {"dout", s.normal({3, 8})}}};
    const auto in_f32 = checked(asked, candidates_of(run<float>(asked, norm_of_rows(o, false)), dtype::f32));
    CHECK(in_f32.verdict == attest::verdict::undecided);
    const auto zeros = checked(asked, {{"out", {{3, 8}, std::vector<double>(24, 0.0), dtype::f32}}});
    CHECK(zeros.verdict == attest::verdict::undecided);
    CHECK_FALSE(zeros.outputs[0].limits_derived);
    source in_bf16(39, attest::formats::bf16);
    const question coarse{{{"op", "relu"}}, {{"x", in_bf16.normal({16})}}};
    const members kept = candidates_of(run<float>(coarse, element_wise("relu")), dtype::bf16);
    CHECK(checked(coarse, kept).verdict == attest::verdict::exact);
    CHECK(checked(coarse, kept).arithmetic == "bf16+f32");
    members bad = kept;
    bad["out"].values[3] = 9;
    CHECK(checked(coarse, bad).verdict == attest::verdict::undecided);
}
