// SPDX-License-Identifier: BSL-1.0
// score, softmax and attention: from tensors to slices.
#include "ops.hpp"

namespace attest::worked {

namespace {

void expect_equal(const std::string& a, std::size_t of_a, const std::string& b, std::size_t of_b, const std::string& what) {
    if (of_a != of_b) throw usage_error(a + " has " + std::to_string(of_a) + " " + what + ", " + b + " has " + std::to_string(of_b) + "; expected equally many");
}

// Which keys a query may see by the causal rule and the window.
bool may_see(const conventions& how, std::size_t i, std::size_t j, std::size_t n_q, std::size_t n_k) {
    const bool shifted = how.causal == causal_alignment::bottom_right;
    const auto distance = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i) - (shifted ? static_cast<std::ptrdiff_t>(n_k) - static_cast<std::ptrdiff_t>(n_q) : 0);
    if (how.causal != causal_alignment::none && distance > 0) return false;
    if (!how.window) return true;
    return distance < 0 ? static_cast<std::size_t>(-distance) <= how.window->left : static_cast<std::size_t>(distance) <= how.window->right;
}

} // namespace

score_rule rule_of(const conventions& how) {
    if (how.score == score_kind::bilinear || how.score == score_kind::additive)
        throw usage_error(std::string("attest trace has no steps for score=") + (how.score == score_kind::bilinear ? "bilinear" : "additive") + "; it knows scaled and dot; attest eval gives the values");
    if (how.score == score_kind::dot) return {score_rule::kind::plain, number(1)};
    if (!how.scale) return {};
    return {score_rule::kind::by_factor, number(number_from<fraction>("scale", *how.scale))};
}

std::vector<bool> seen_by_rule(const conventions& how, std::size_t n_q, std::size_t n_k) {
    std::vector<bool> seen;
    for (std::size_t i = 0; i < n_q; ++i)
        for (std::size_t j = 0; j < n_k; ++j) seen.push_back(may_see(how, i, j, n_q, n_k));
    return seen;
}

void write_score_op(writer& to, const problem& given) {
    const tensor &q = given.need("q", 2), &k = given.need("k", 2);
    expect_equal("q", q.last(0), "k", k.last(0), "components");
    const std::vector<std::size_t> slices = joined_slices({{"q", &q}, {"k", &k}}, true);
    const std::size_t count = element_count(slices);
    to.say(1, given.how.score == score_kind::dot ? "Dot-product scores" : "Scaled dot-product scores");
    to.say_marks();
    for (std::size_t s = 0; s < count; ++s) {
        begin_slice(to, slices, s);
        attention_slice a;
        a.q = slice_of(q, slices, s);
        a.k = slice_of(k, slices, s);
        a.see_all();
        a.rule = rule_of(given.how);
        to.say_step("Given");
        to.put("Q", a.q);
        to.put("K", a.k);
        attention_values values;
        write_scores(to, a, values);
    }
}

void write_attention_op(writer& to, const problem& given) {
    const tensor &q = given.need("q", 2), &k = given.need("k", 2), &v = given.need("v", 2);
    const tensor *mask = given.find("mask"), *dout = given.find("dout");
    const std::size_t n_q = q.last(1), n_k = k.last(1);
    expect_equal("q", q.last(0), "k", k.last(0), "components");
    expect_equal("k", n_k, "v", v.last(1), "rows");
    std::vector<std::pair<std::string, const tensor*>> tensors = {{"q", &q}, {"k", &k}, {"v", &v}};
    if (dout != nullptr) {
        (void)given.need("dout", 2);
        expect_equal("dout", dout->last(1), "q", n_q, "rows");
        expect_equal("dout", dout->last(0), "v", v.last(0), "components");
        tensors.emplace_back("dout", dout);
    }
    const std::vector<std::size_t> slices = joined_slices(tensors, true);
    const std::size_t count = element_count(slices);
    if (dout != nullptr && count != 1)
        for (const auto& [name, t] : tensors)
            if (element_count(t->shape) / (t->last(0) * t->last(1)) != count)
                throw usage_error(name + " " + shape_text(t->shape) + " is shared by several slices, over which attest trace does not add up gradients; give it for each of the " + std::to_string(count) + " slices");
    bool mask_adds = false;
    if (mask != nullptr) {
        if (mask->rank() != 0 && mask->last(0) != 1) expect_equal("mask", mask->last(0), "k", n_k, "columns for its rows: those of the mask and the rows of k");
        if (mask->rank() > 1 && mask->last(1) != 1) expect_equal("mask", mask->last(1), "q", n_q, "rows");
        if (mask->rank() == 0) throw usage_error("mask [] is a single number; expected [n_q, n_k] or more dimensions");
        (void)joined_slices({{"the slices", &q}, {"mask", mask}}, false);
        const bool zero_or_one = std::all_of(mask->entries.begin(), mask->entries.end(), [](const number& x) { return x.is(0) || x.is(1); }) &&
                                 std::none_of(mask->hidden.begin(), mask->hidden.end(), [](bool hides) { return hides; });
        mask_adds = !mask->is_boolean && !(zero_or_one && given.how.mask_polarity_declared);
        const bool has_one = std::any_of(mask->entries.begin(), mask->entries.end(), [](const number& x) { return x.is(1); });
        if (mask_adds && zero_or_one && has_one)
            throw usage_error("mask holds 0 and 1 alone: are they true and false, or added to the scores? Declare mask-polarity=keep or drop, or write true and false; what is added has other numbers than 0 and 1");
    }
    to.say(1, given.how.score == score_kind::dot ? "Dot-product attention" : "Scaled dot-product attention");
    to.say_marks();
    if (given.how.causal != causal_alignment::none)
        to.say({"Causal: query i sees ", given.how.causal == causal_alignment::top_left || n_q == n_k ? phrase(math("j <= i", "j \\le i")) : phrase(math("j <= i + " + std::to_string(n_k) + " - " + std::to_string(n_q), "j \\le i + " + std::to_string(n_k) + " - " + std::to_string(n_q))),
                " alone; all other keys are hidden."});
    if (given.how.window) to.say({"Window: a query sees keys at most " + std::to_string(given.how.window->left) + " before its own and " + std::to_string(given.how.window->right) + " after it."});
    for (std::size_t s = 0; s < count; ++s) {
        begin_slice(to, slices, s);
        attention_slice a;
        a.q = slice_of(q, slices, s);
        a.k = slice_of(k, slices, s);
        a.v = slice_of(v, slices, s);
        if (dout != nullptr) a.dout = slice_of(*dout, slices, s);
        a.rule = rule_of(given.how);
        a.visible = seen_by_rule(given.how, n_q, n_k);
        if (mask != nullptr && mask_adds) a.added = table(n_q, n_k);
        const std::size_t from = mask == nullptr ? 0 : slice_offset(*mask, slices, s);
        for (std::size_t i = 0; i < n_q; ++i)
            for (std::size_t j = 0; j < n_k; ++j) {
                bool seen = a.visible[i * n_k + j];
                if (mask != nullptr) {
                    const std::size_t row = mask->rank() < 2 || mask->last(1) == 1 ? 0 : i, column = mask->last(0) == 1 ? 0 : j, at = from + row * mask->last(0) + column;
                    if (!mask_adds) seen = seen && mask->entries[at].is(1) == given.how.mask_keeps;
                    else if (mask->hidden[at]) seen = false;
                    else (*a.added)(i, j) = mask->entries[at];
                }
                a.visible[i * n_k + j] = seen;
            }
        (void)write_attention(to, a);
    }
}

void write_softmax_op(writer& to, const problem& given) {
    const tensor& x = given.need("x", 1);
    const tensor* dout = given.find("dout");
    if (dout != nullptr && dout->shape != x.shape) throw usage_error("dout " + shape_text(dout->shape) + " does not go with x " + shape_text(x.shape) + "; expected the same shape");
    const std::vector<std::size_t> slices = joined_slices({{"x", &x}}, false);
    to.say(1, "Softmax of each row");
    to.say_marks();
    for (std::size_t s = 0; s < element_count(slices); ++s) {
        begin_slice(to, slices, s);
        const table rows = slice_of(x, slices, s);
        to.say_step("Given");
        to.put("X", rows);
        if (dout != nullptr) to.put("dY", slice_of(*dout, slices, s));
        const table weights = write_softmax(to, rows, std::vector<bool>(rows.entries.size(), true), "x", "y", "Y");
        if (dout == nullptr) continue;
        to.say_step("Gradient");
        (void)write_softmax_gradient(to, weights, slice_of(*dout, slices, s), "y", "dx", "dX");
    }
}

} // namespace attest::worked
