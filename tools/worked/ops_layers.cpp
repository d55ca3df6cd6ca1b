// SPDX-License-Identifier: BSL-1.0
// feed_forward and multi_head_attention: rows times matrices, and what stands between.
#include "attention.hpp"
#include "ops.hpp"

namespace attest::worked {

namespace {

// A matrix of weights as [in, out].
table weights_of(const problem& given, std::string_view name, std::size_t in) {
    const tensor& w = given.need(name, 2);
    if (w.rank() != 2) throw usage_error(std::string(name) + " " + shape_text(w.shape) + " has " + std::to_string(w.rank()) + " dimensions; expected 2");
    const table t = slice_of(w, {}, 0), turned = given.how.weight_out_in ? transposed(t) : t;
    if (turned.rows != in)
        throw usage_error(std::string(name) + " " + shape_text(w.shape) + " takes " + std::to_string(turned.rows) + " components, but what it multiplies has " + std::to_string(in) + " (weight-layout=" +
                          (given.how.weight_out_in ? "out_in" : "in_out") + ")");
    return turned;
}
std::optional<std::vector<number>> bias_of(const problem& given, std::string_view name, std::size_t d) {
    const tensor* b = given.find(name);
    if (b == nullptr) return std::nullopt;
    if (b->shape != std::vector<std::size_t>{d}) throw usage_error(std::string(name) + " " + shape_text(b->shape) + ": expected [" + std::to_string(d) + "], one for each component of the result");
    return b->entries;
}

// result = x·w + b, entry by entry.
table write_affine(writer& to, const math& result, const math& entry, const table& x, const table& w, const std::optional<std::vector<number>>& b) {
    table out = product(x, w);
    const table columns = transposed(w);
    formulas lines;
    for (std::size_t i = 0; i < out.rows; ++i)
        for (std::size_t c = 0; c < out.columns; ++c) {
            link numbers = to.dot(x.row(i), columns.row(c));
            if (b) {
                out(i, c) = out(i, c) + (*b)[c];
                numbers.what += math(" + ") + to.operand((*b)[c]);
                numbers.rounded = numbers.rounded || !to.is_exact((*b)[c]);
            }
            lines.push_back({indexed(entry, i, c), to.value(out(i, c), {numbers})});
        }
    to.put(std::move(lines));
    to.put(result, out);
    return out;
}
void put_bias(writer& to, const math& name, const std::optional<std::vector<number>>& b) {
    if (!b) return;
    table row(1, b->size());
    row.entries = *b;
    to.put(name, row);
}
table columns_of(const table& t, std::size_t from, std::size_t count) {
    table part(t.rows, count);
    for (std::size_t i = 0; i < t.rows; ++i)
        for (std::size_t c = 0; c < count; ++c) part(i, c) = t(i, from + c);
    return part;
}

} // namespace

void write_feed_forward_op(writer& to, const problem& given) {
    if (given.how.activation_gelu && given.how.gelu != gelu_kind::by_erf) throw usage_error("attest trace has steps for gelu=erf alone; attest eval gives the values of the others");
    const tensor& x = given.need("x", 2);
    const table w_1 = weights_of(given, "w_1", x.last(0)), w_2 = weights_of(given, "w_2", w_1.columns);
    const auto b_1 = bias_of(given, "b_1", w_1.columns), b_2 = bias_of(given, "b_2", w_2.columns);
    const std::vector<std::size_t> slices = joined_slices({{"x", &x}}, false);
    to.say(1, "Feed-forward network");
    to.say_marks();
    for (std::size_t s = 0; s < element_count(slices); ++s) {
        begin_slice(to, slices, s);
        const table rows = slice_of(x, slices, s);
        to.say_step("Given");
        to.put("X", rows);
        to.put(indexed("W", 0), w_1);
        put_bias(to, indexed("b", 0), b_1);
        to.put(indexed("W", 1), w_2);
        put_bias(to, indexed("b", 1), b_2);
        to.say_step("The first layer");
        const table hidden = write_affine(to, "H", "h", rows, w_1, b_1);
        to.say_step(given.how.activation_gelu ? "GELU, each number by itself" : "ReLU, each number by itself");
        const table active = given.how.activation_gelu ? write_gelu(to, hidden, "h", "a") : write_relu(to, hidden, "h", "a");
        to.put("A", active);
        to.say_step("The second layer");
        (void)write_affine(to, "Y", "y", active, w_2, b_2);
    }
}

void write_multi_head_op(writer& to, const problem& given) {
    const tensor& x = given.need("x", 2);
    const tensor* memory = given.find("memory");
    if (memory != nullptr) (void)given.need("memory", 2);
    const tensor& source = memory == nullptr ? x : *memory;
    const std::size_t heads = *given.how.heads, kv_heads = given.how.kv_heads.value_or(heads);
    const table w_q = weights_of(given, "w_q", x.last(0)), w_k = weights_of(given, "w_k", source.last(0)), w_v = weights_of(given, "w_v", source.last(0));
    const auto share = [](std::string_view name, std::size_t columns, std::size_t among) {
        if (columns % among != 0) throw usage_error(std::string(name) + " has " + std::to_string(columns) + " columns, which " + std::to_string(among) + " heads do not divide");
        return columns / among;
    };
    const std::size_t d_k = share("w_q", w_q.columns, heads), d_k_of_keys = share("w_k", w_k.columns, kv_heads), d_v = share("w_v", w_v.columns, kv_heads);
    if (d_k != d_k_of_keys) throw usage_error("a head of w_q has " + std::to_string(d_k) + " columns, one of w_k " + std::to_string(d_k_of_keys) + "; expected equally many");
    const table w_o = weights_of(given, "w_o", heads * d_v);
    const auto b_q = bias_of(given, "b_q", w_q.columns), b_k = bias_of(given, "b_k", w_k.columns), b_v = bias_of(given, "b_v", w_v.columns), b_o = bias_of(given, "b_o", w_o.columns);
    std::vector<std::pair<std::string, const tensor*>> tensors = {{"x", &x}};
    if (memory != nullptr) tensors.emplace_back("memory", memory);
    const std::vector<std::size_t> slices = joined_slices(tensors, false);
    const auto subscript = [](const char* name, const char* of) { return math(std::string(name) + "_" + of, std::string(name) + "_{" + of + "}"); };
    to.say(1, std::string("Multi-head ") + (memory == nullptr ? "" : "cross-") + "attention with " + std::to_string(heads) + (heads == 1 ? " head" : " heads"));
    to.say_marks();
    for (std::size_t s = 0; s < element_count(slices); ++s) {
        to.say(2, slices.empty() ? std::string("All heads: projections") : slice_name(slices, s) + ", all heads: projections");
        to.begin_again();
        const table rows = slice_of(x, slices, s), read = slice_of(source, slices, s);
        to.say_step("Given");
        to.put("X", rows);
        if (memory != nullptr) to.put("M", read);
        const std::tuple<const char*, const table*, const std::optional<std::vector<number>>*> matrices[] = {{"Q", &w_q, &b_q}, {"K", &w_k, &b_k}, {"V", &w_v, &b_v}, {"O", &w_o, &b_o}};
        for (const auto& [of, w, b] : matrices) {
            to.put(subscript("W", of), *w);
            put_bias(to, subscript("b", of), *b);
        }
        to.say_step("Queries, keys and values of all heads, side by side");
        const table q = write_affine(to, "Q", "q", rows, w_q, b_q), k = write_affine(to, "K", "k", read, w_k, b_k), v = write_affine(to, "V", "v", read, w_v, b_v);
        table together(q.rows, heads * d_v);
        for (std::size_t h = 0; h < heads; ++h) {
            to.say(2, "Head " + std::to_string(h + 1));
            to.begin_again();
            const std::size_t of_keys = h * kv_heads / heads;
            attention_slice a;
            a.q = columns_of(q, h * d_k, d_k);
            a.k = columns_of(k, of_keys * d_k, d_k);
            a.v = columns_of(v, of_keys * d_v, d_v);
            a.rule = rule_of(given.how);
            a.visible = seen_by_rule(given.how, a.q.rows, a.k.rows);
            const attention_values values = write_attention(to, a);
            for (std::size_t i = 0; i < q.rows; ++i)
                for (std::size_t c = 0; c < d_v; ++c) together(i, h * d_v + c) = values.out(i, c);
        }
        to.say(2, "All heads again");
        to.begin_again();
        to.say_step("The heads' outputs side by side");
        to.put("Z", together);
        to.say_step("The output projection");
        (void)write_affine(to, "Y", "y", together, w_o, b_o);
    }
}

} // namespace attest::worked
