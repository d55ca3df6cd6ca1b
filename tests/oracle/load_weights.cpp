// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/load_weights.hpp"
#include "attest/arithmetic/real.hpp"
#include "catch.hpp"
#include "formula/layer_weights.hpp"

#include <array>
#include <deque>
#include <string>
#include <vector>

using namespace attest;

namespace {

struct d_model : axis<4> {};
struct d_memory : axis<6> {};
struct H : axis<2> {};
struct H_kv : axis<1> {};
struct d_k : axis<2> {};
struct d_v : axis<3> {};
struct d_ff : axis<5> {};
using dyn = axis<dynamic>;
using encoder_weights = encoder_layer_weights<double, d_model, H, d_k, d_v, d_ff, H_kv>;
using decoder_weights = decoder_layer_weights<double, d_model, H, d_k, d_v, d_ff, H_kv, d_memory>;
template <class S> using dynamic_encoder = encoder_layer_weights<S, dyn, dyn, dyn, dyn, dyn, dyn>;
template <class S> using dynamic_decoder = decoder_layer_weights<S, dyn, dyn, dyn, dyn, dyn, dyn, dyn>;

// A case's tensors, made from weights.
struct bundle {
    std::deque<array> arrays; // whose elements stay where they are
    std::vector<named_view> tensors;

    array& add(const std::string& name, std::vector<std::size_t> shape, dtype type = dtype::f64) {
        array a;
        a.type = type;
        a.data.resize(element_count(shape) * size_of(type));
        a.shape = std::move(shape);
        arrays.push_back(std::move(a));
        tensors.emplace_back(name, arrays.back().view());
        return arrays.back();
    }
    template <class W> void add_weights(const std::string& prefix, const W& w, weight_layout layout, dtype type = dtype::f64) {
        layers::each_tensor(w, [&](const std::string& name, const auto& t) {
            using T = std::remove_cvref_t<decltype(t)>;
            if constexpr (T::rank == 1) {
                array& a = add(prefix + name, {t.length(0)}, type);
                for (std::size_t e = 0; e < t.elements(); ++e) encode(a, e, static_cast<double>(t(e)));
            } else {
                const bool out_in = layout == weight_layout::out_in;
                const std::size_t rows = t.length(0), columns = t.length(1);
                array& a = add(prefix + name, out_in ? std::vector{columns, rows} : std::vector{rows, columns}, type);
                for (std::size_t i = 0; i < rows; ++i)
                    for (std::size_t j = 0; j < columns; ++j) encode(a, out_in ? j * rows + i : i * columns + j, static_cast<double>(t(i, j)));
            }
        });
    }
    void remove(const std::string& name) {
        const std::size_t before = tensors.size();
        std::erase_if(tensors, [&](const named_view& t) { return t.name == name; });
        REQUIRE(tensors.size() + 1 == before);
    }
    void reshape(const std::string& name, std::vector<std::size_t> shape) {
        remove(name);
        add(name, std::move(shape));
    }
};

// Equal elements, whatever the axes and scalars.
template <class V, class W> void check_same(const V& v, const W& w) {
    std::vector<std::vector<double>> wanted;
    layers::each_tensor(w, [&](const std::string&, const auto& t) { wanted.emplace_back(t.data(), t.data() + t.elements()); });
    std::size_t at = 0;
    layers::each_tensor(v, [&](const std::string& name, const auto& t) {
        INFO(name);
        std::vector<double> got;
        for (std::size_t e = 0; e < t.elements(); ++e) got.push_back(static_cast<double>(t.data()[e]));
        CHECK(got == wanted.at(at++));
    });
    CHECK(at == wanted.size());
}

template <class F> std::string trouble(const F& f) {
    try {
        f();
    } catch (const usage_error& e) {
        return e.what();
    }
    return "none";
}

const weight_layout layouts[] = {weight_layout::in_out, weight_layout::out_in};

} // namespace

TEST_CASE("a layer's weights come back as they were, in either layout, on fixed axes and on dynamic ones", "[oracle]") {
    const auto encoder = layers::filled_weights<encoder_weights>(1);
    const auto decoder = layers::filled_weights<decoder_weights>(2);
    for (const weight_layout layout : layouts) {
        bundle b;
        b.add_weights("", encoder, layout);
        b.add_weights("deep.decoder.", decoder, layout);
        encoder_weights e;
        load(e, b.tensors, "", layout);
        check_same(e, encoder);
        decoder_weights d;
        load(d, b.tensors, "deep.decoder.", layout);
        check_same(d, decoder);
        dynamic_encoder<double> e_dynamic;
        load(e_dynamic, b.tensors, "", layout, {.n_heads = 2, .n_kv_heads = 1});
        check_same(e_dynamic, encoder);
        CHECK(e_dynamic.self_attn.n_heads == 2);
        CHECK(e_dynamic.self_attn.n_kv_heads == 1);
        CHECK(e_dynamic.self_attn.d_k() == 2);
        CHECK(e_dynamic.self_attn.d_v() == 3);
        CHECK(e_dynamic.self_attn.w_q.length(1) == 4);
        CHECK(e_dynamic.self_attn.w_o.length(0) == 6);
        dynamic_decoder<real<50>> d_dynamic; // any scalar that takes a double
        load(d_dynamic, b.tensors, "deep.decoder.", layout, {2, 1});
        check_same(d_dynamic, decoder);
        CHECK(d_dynamic.cross_attn.w_k.length(0) == 6);
    }
}

TEST_CASE("the parts load by themselves, from every floating-point type, exactly", "[oracle]") {
    const auto attention = layers::filled_weights<multi_head_weights<double, d_model, H, d_k, d_v, H_kv, d_memory>>(3);
    const auto ffn = layers::filled_weights<feed_forward_weights<double, d_model, d_ff>>(4);
    const auto norm = layers::filled_weights<layer_norm_weights<double, d_model>>(5);
    for (const dtype type : {dtype::f64, dtype::f32, dtype::f16, dtype::bf16}) { // k/16 between −2 and 2 is exact in all
        bundle b;
        b.add_weights("a.", attention, weight_layout::out_in, type);
        b.add_weights("f.", ffn, weight_layout::out_in, type);
        b.add_weights("n.", norm, weight_layout::out_in, type);
        multi_head_weights<double, d_model, H, d_k, d_v, H_kv, d_memory> a;
        load(a, b.tensors, "a.", weight_layout::out_in);
        check_same(a, attention);
        feed_forward_weights<float, d_model, d_ff> f;
        load(f, b.tensors, "f.", weight_layout::out_in);
        check_same(f, ffn);
        layer_norm_weights<double, d_model> n;
        load(n, b.tensors, "n.");
        check_same(n, norm);
    }
}

TEST_CASE("a range of layers: a vector grows, an array must be as long, and no number may be missing", "[oracle]") {
    const auto first = layers::filled_weights<encoder_weights>(6), second = layers::filled_weights<encoder_weights>(7);
    bundle b;
    b.add_weights("layers.1.", second, weight_layout::in_out); // the order of the members is nothing
    b.add_weights("layers.0.", first, weight_layout::in_out);
    b.add("norm.gamma", {4});
    b.add("layers.norm", {4}); // no layer's

    std::vector<dynamic_encoder<double>> grown(5);
    load(grown, b.tensors, "layers.", weight_layout::in_out, {2, 1});
    REQUIRE(grown.size() == 2);
    check_same(grown[0], first);
    check_same(grown[1], second);
    layer_stack<encoder_weights, 2> stack;
    load(stack, b.tensors, "layers.", weight_layout::in_out);
    check_same(stack[1], second);
    encoder_weights built_in[2];
    load(built_in, b.tensors, "layers.", weight_layout::in_out);
    check_same(built_in[0], first);
    std::array<encoder_weights, 3> three;
    CHECK(trouble([&] { load(three, b.tensors, "layers.", weight_layout::in_out); }) == "layers.0, layers.1, ...: there are 2 layers; expected 3");
    std::vector<encoder_weights> none;
    load(none, b.tensors, "blocks.", weight_layout::in_out);
    CHECK(none.empty());

    b.add("layers.3.ffn.w_1", {4, 5});
    CHECK(trouble([&] { load(grown, b.tensors, "layers.", weight_layout::in_out, {2, 1}); }) ==
          "the tensor layers.3.ffn.w_1 belongs to no layer: layers are numbered from 0 without a gap, and layers.2 is missing");
    b.remove("layers.3.ffn.w_1");
    b.add("layers.01.ffn.w_1", {4, 5}); // not layer 1
    CHECK(trouble([&] { load(grown, b.tensors, "layers.", weight_layout::in_out, {2, 1}); }).starts_with("the tensor layers.01.ffn.w_1 belongs to no layer"));
}

TEST_CASE("biases, gamma and beta may be missing: absent on dynamic axes, zeros and ones on fixed ones", "[oracle]") {
    bundle b;
    b.add_weights("", layers::filled_weights<encoder_weights>(8), weight_layout::in_out);
    for (const char* name : {"self_attn.b_q", "self_attn.b_k", "self_attn.b_v", "self_attn.b_o", "ffn.b_1", "ffn.b_2", "norm1.gamma", "norm1.beta", "norm2.beta"})
        b.remove(name);
    dynamic_encoder<double> absent;
    load(absent, b.tensors, "", weight_layout::in_out, {2, 1});
    CHECK(absent.self_attn.b_q.length(0) == 0);
    CHECK(absent.ffn.b_2.length(0) == 0);
    CHECK(absent.norm1.gamma.length(0) == 0);
    CHECK(absent.norm2.gamma.length(0) == 4);
    CHECK(absent.norm2.beta.length(0) == 0);
    encoder_weights fixed;
    load(fixed, b.tensors, "", weight_layout::in_out);
    CHECK(fixed.ffn.b_1 == tensor<double, d_ff>{});
    CHECK(fixed.norm1.gamma == tensor<double, d_model>{1, 1, 1, 1});
    CHECK(fixed.norm1.beta == tensor<double, d_model>{});
}

TEST_CASE("what does not fit is said with the name, both shapes and the rule's sentence", "[oracle]") {
    const auto fresh = [](weight_layout layout = weight_layout::in_out) {
        bundle b;
        b.add_weights("e.", layers::filled_weights<encoder_weights>(9), layout);
        return b;
    };
    const auto fixed = [](const bundle& b, weight_layout layout = weight_layout::in_out) {
        return trouble([&] {
            encoder_weights w;
            load(w, b.tensors, "e.", layout);
        });
    };
    const auto on_dynamic = [](const bundle& b, head_counts heads = {2, 1}) {
        return trouble([&] {
            dynamic_encoder<double> w;
            load(w, b.tensors, "e.", weight_layout::in_out, heads);
        });
    };
    const std::string row = rules::weight_row_for_each_input::sentence, bias = rules::bias_for_each_output::sentence,
                      residual = rules::residual_keeps_shape::sentence, concat = rules::output_row_for_each_head_component::sentence,
                      keys = rules::query_key_dimension::sentence, norm = rules::norm_weight_for_each_component::sentence;
    CHECK(fixed(fresh()) == "none");
    CHECK(on_dynamic(fresh()) == "none");

    bundle b = fresh();
    b.remove("e.ffn.w_2");
    CHECK(fixed(b) == "the tensor e.ffn.w_2 is missing");
    b.add("e.ffn.w_2", {4, 5});
    const std::string transposed = "e.ffn.w_2 [4, 5] does not fit; expected [5, 4] (in_out: d_in x d_out); it would fit in the layout out_in: " + row;
    CHECK(fixed(b) == transposed);
    CHECK(on_dynamic(b) == transposed);
    b.reshape("e.ffn.w_2", {5, 7});
    CHECK(fixed(b) == "e.ffn.w_2 [5, 7] does not fit; expected [5, 4] (in_out: d_in x d_out): " + residual);
    CHECK(on_dynamic(b) == fixed(b));
    b.reshape("e.ffn.w_2", {20});
    CHECK(fixed(b) == "e.ffn.w_2 [20] must have two dimensions");
    b.remove("e.ffn.w_2");
    b.add("e.ffn.w_2", {5, 4}, dtype::i32);
    CHECK(fixed(b) == "e.ffn.w_2 [5, 4] holds i32; expected floating-point numbers");

    b = fresh();
    b.reshape("e.ffn.w_1", {3, 5});
    CHECK(fixed(b) == "e.ffn.w_1 [3, 5] does not fit; expected [4, 5] (in_out: d_in x d_out): " + row);
    CHECK(on_dynamic(b) == "e.ffn.w_1 [3, 5] does not fit; expected [4, any] (in_out: d_in x d_out): " + row);
    b = fresh();
    b.reshape("e.ffn.b_1", {4});
    CHECK(fixed(b) == "e.ffn.b_1 [4] does not fit; expected [5]: " + bias);
    CHECK(on_dynamic(b) == fixed(b));
    b.reshape("e.ffn.b_1", {1, 5});
    CHECK(fixed(b) == "e.ffn.b_1 [1, 5] must have one dimension");
    b = fresh();
    b.reshape("e.norm2.gamma", {5});
    CHECK(fixed(b) == "e.norm2.gamma [5] does not fit; expected [4]: " + norm);
    CHECK(on_dynamic(b) == fixed(b));
    b = fresh();
    b.reshape("e.self_attn.w_k", {4, 3});
    CHECK(fixed(b) == "e.self_attn.w_k [4, 3] does not fit; expected [4, 2] (in_out: d_in x d_out): " + keys);
    CHECK(on_dynamic(b) == "e.self_attn.w_k [4, 3] does not fit; expected [any, 2] (in_out: d_in x d_out): " + keys);
    b = fresh();
    b.reshape("e.self_attn.w_o", {5, 4});
    CHECK(fixed(b) == "e.self_attn.w_o [5, 4] does not fit; expected [6, 4] (in_out: d_in x d_out): " + concat);
    CHECK(on_dynamic(b) == fixed(b));
    b = fresh(weight_layout::out_in);
    CHECK(fixed(b, weight_layout::out_in) == "none");
    b.reshape("e.self_attn.w_o", {6, 4});
    CHECK(fixed(b, weight_layout::out_in) ==
          "e.self_attn.w_o [6, 4] does not fit; expected [4, 6] (out_in: d_out x d_in); it would fit in the layout in_out: " + concat);

    b = fresh();
    b.reshape("e.self_attn.w_q", {4, 5});
    CHECK(on_dynamic(b) == "e.self_attn.w_q [4, 5]: " + std::string(rules::heads_divide_model::sentence) + " (5 and 2)");
}

TEST_CASE("the number of heads is declared where the type does not say it, and must agree where it does", "[oracle]") {
    bundle b;
    b.add_weights("e.", layers::filled_weights<encoder_weights>(10), weight_layout::in_out);
    const auto with = [&](auto w, head_counts heads) { return trouble([&] { load(w, b.tensors, "e.", weight_layout::in_out, heads); }); };
    CHECK(with(dynamic_encoder<double>{}, {}) == "e.self_attn.w_q: the number of heads is not known; declare it");
    CHECK(with(dynamic_encoder<double>{}, {2, 1}) == "none");
    // As many key-value heads as heads, unless told.
    CHECK(with(dynamic_encoder<double>{}, {.n_heads = 2}).starts_with("e.self_attn.w_k [4, 2] does not fit; expected [any, 4]"));
    CHECK(with(dynamic_encoder<double>{}, {3, 2}) ==
          "e.self_attn.w_k: " + std::string(rules::key_value_heads_divide_heads::sentence) + " (3 and 2)");
    CHECK(with(encoder_weights{}, {2, 1}) == "none");
    CHECK(with(encoder_weights{}, {4, 1}) == "e.self_attn.w_q: 4 heads are given; the weights' type has 2");
    CHECK(with(encoder_weights{}, {2, 2}) == "e.self_attn.w_k: 2 key-value heads are given; the weights' type has 1");
}
