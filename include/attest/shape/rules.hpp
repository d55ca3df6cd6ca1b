// SPDX-License-Identifier: BSL-1.0
/// \file
/// The dimension rules of the lectures: each is one named predicate with one sentence.
///
/// The compiler says the sentence where the lengths are types; `shape_error` says it, with the two lengths, where they are known at run time
/// alone. `RULE::holds<A, B>` is the predicate, for proofs and constraints.
#pragma once

#include "attest/shape/axis.hpp"

#include <exception>

namespace attest {

/// A rule of shapes was broken at run time. `what()` is the rule's sentence and the two lengths.
class shape_error : public std::exception {
public:
    shape_error(const char* sentence, std::size_t left, std::size_t right) noexcept
        : sentence_{sentence}, left_{left}, right_{right} {
        char* end = append(text_, sentence);
        end = append(append_number(append(end, " ("), left), " and ");
        *append(append_number(end, right), ")") = '\0';
    }
    [[nodiscard]] const char* what() const noexcept override { return text_; }
    [[nodiscard]] const char* sentence() const noexcept { return sentence_; }
    [[nodiscard]] std::size_t left() const noexcept { return left_; }
    [[nodiscard]] std::size_t right() const noexcept { return right_; }

private:
    // No <string>: this header is under every other.
    char* append(char* to, const char* from) noexcept {
        while (*from != '\0' && to < text_ + capacity - 1) *to++ = *from++;
        return to;
    }
    char* append_number(char* to, std::size_t number) noexcept {
        char digits[24] = {};
        int first = 23;
        do digits[--first] = static_cast<char>('0' + number % 10);
        while ((number /= 10) != 0);
        return append(to, digits + first);
    }
    static constexpr std::size_t capacity = 400;
    const char* sentence_;
    std::size_t left_;
    std::size_t right_;
    char text_[capacity] = {};
};

namespace rules::detail {
// A's length where both are known to the compiler; else the same number for both, so that only the run-time check speaks.
template <axis_type A, axis_type B>
inline constexpr std::size_t comparable_length = is_dynamic<A> || is_dynamic<B> ? 0 : A::size;
// The names, asked only where the lengths are known and agree, and only where they are not known: so that one assert speaks. Variables of their
// own, because compilers print the name and its two axes.
template <axis_type A, axis_type B>
inline constexpr bool same_axis = names_agree<A, B> || !lengths_may_agree<A, B> || is_dynamic<A> || is_dynamic<B>;
template <axis_type A, axis_type B> inline constexpr bool same_dynamic_axis = names_agree<A, B> || !(is_dynamic<A> || is_dynamic<B>);
} // namespace rules::detail

// One rule: predicate, compile-time check (whose failure prints both lengths, and both axes as template arguments) and run-time check, from one
// sentence. A macro, because a C++20 static_assert takes only a literal. At most one of the asserts fails.
#define ATTEST_RULE_AXES_MEET(NAME, SENTENCE)                                                                                    \
    struct NAME {                                                                                                                \
        static constexpr const char* sentence = SENTENCE;                                                                        \
        template <axis_type A, axis_type B> static constexpr bool holds = meets<A, B>;                                           \
        template <axis_type A, axis_type B> static constexpr void check(std::size_t a, std::size_t b) {                          \
            static_assert(detail::comparable_length<A, B> == detail::comparable_length<B, A>, SENTENCE);                         \
            static_assert(detail::same_axis<A, B>, SENTENCE " [same length, different axis]");                                   \
            static_assert(detail::same_dynamic_axis<A, B>, SENTENCE " [different axis]");                                        \
            if constexpr (is_dynamic<A> || is_dynamic<B>)                                                                        \
                if (a != b) throw shape_error(SENTENCE, a, b);                                                                   \
        }                                                                                                                        \
    }

namespace rules {

/// Q n_q × d_k and K n_k × d_k (A008, B002, B007).
ATTEST_RULE_AXES_MEET(query_key_dimension, "the keys K must have as many components as the queries Q: both have dimension d_k, "
                                           "and a score is the dot product q_i . k_j");
/// weights n_q × n_k times V n_k × d_v (A066, B057).
ATTEST_RULE_AXES_MEET(value_for_each_key, "the values V must have one row for each key: column j of the weights is the weight of "
                                          "key j, and multiplies v_j");
/// A n × m times B m × p.
ATTEST_RULE_AXES_MEET(inner_dimension, "the product A B needs B to have one row for each column of A");
/// Mask n_q × n_k: rows.
ATTEST_RULE_AXES_MEET(mask_row_for_each_query, "the mask must have one row for each query: entry (i, j) says whether query i may see key j");
/// Mask n_q × n_k: columns.
ATTEST_RULE_AXES_MEET(mask_column_for_each_key, "the mask must have one column for each key: entry (i, j) says whether query i may see key j");
/// Tensors that are compared, copied or combined element by element (A085).
ATTEST_RULE_AXES_MEET(same_shape, "tensors that are combined element by element must have the same shape");

/// X n × d_in times W d_in × d_out (A062, A103, B021).
ATTEST_RULE_AXES_MEET(weight_row_for_each_input, "the product X W needs the weights W to have one row for each component of a row of X "
                                                 "(layout in_out: d_in x d_out)");
/// W d_out × d_in times x, or X Wᵀ (B016).
ATTEST_RULE_AXES_MEET(weight_column_for_each_input, "the product W x needs the weights W to have one column for each component of x "
                                                    "(layout out_in: d_out x d_in)");
/// W x + b.
ATTEST_RULE_AXES_MEET(bias_for_each_output, "the bias b must have one component for each component of the product that it is added to");
/// Concat(head_1, …, head_H) W_O (B022, B025, E044).
ATTEST_RULE_AXES_MEET(output_row_for_each_head_component, "W_O must have one row for each component of Concat(head_1, ..., head_H): H times d_v rows");
/// X + Sublayer(X) (A084).
ATTEST_RULE_AXES_MEET(residual_keeps_shape, "a residual connection X + Sublayer(X) needs Sublayer(X) to have the shape of X");
/// γ ⊙ x̂ + β (A077, A091).
ATTEST_RULE_AXES_MEET(norm_weight_for_each_component, "gamma and beta must have one component for each component of x: they scale and shift each by itself");
/// s = qᵀ W k: rows of W.
ATTEST_RULE_AXES_MEET(bilinear_row_for_each_query_component, "the bilinear score q W k needs W to have one row for each component of the query q");
/// s = qᵀ W k: columns of W.
ATTEST_RULE_AXES_MEET(bilinear_column_for_each_key_component, "the bilinear score q W k needs W to have one column for each component of the key k");
/// s = b · tanh(W_1 k + W_2 q): b, and the rows of W_1 and W_2.
ATTEST_RULE_AXES_MEET(additive_hidden_dimension, "the additive score b . tanh(W_1 k + W_2 q) needs b, W_1 and W_2 to have equally many rows");
/// x_t + p_t: the components of the position (B034).
ATTEST_RULE_AXES_MEET(position_component_for_each_component, "a position must have one component for each component of the embedding that it is added to");
/// The stages of a gradient have the shape of what they are the gradient of.
ATTEST_RULE_AXES_MEET(gradient_has_shape_of_output, "the gradient of an output must have the shape of the output");

/// Positions that come in pairs, sine and cosine (B030), and rotations.
struct even_dimension {
#define ATTEST_SENTENCE "sines and cosines come in pairs: the dimension must be even"
    static constexpr const char* sentence = ATTEST_SENTENCE;
    template <axis_type A> static constexpr bool holds = is_dynamic<A> || A::size % 2 == 0;
    template <axis_type A> static constexpr void check(std::size_t length) {
        static_assert(holds<A>, ATTEST_SENTENCE);
        if (length % 2 != 0) throw shape_error(ATTEST_SENTENCE, length, 2);
    }
#undef ATTEST_SENTENCE
};

/// A sequence of n tokens and a table of learned positions (B035).
struct position_in_table {
#define ATTEST_SENTENCE "a table of learned positions must have a row for each position of the sequence: no sequence is longer than the table"
    static constexpr const char* sentence = ATTEST_SENTENCE;
    template <axis_type N, axis_type Table> static constexpr bool holds = is_dynamic<N> || is_dynamic<Table> || N::size <= Table::size;
    template <axis_type N, axis_type Table> static constexpr void check(std::size_t n, std::size_t rows) {
        static_assert(holds<N, Table>, ATTEST_SENTENCE);
        if (n > rows) throw shape_error(ATTEST_SENTENCE, n, rows);
    }
#undef ATTEST_SENTENCE
};

/// Fewer key-value heads than heads: query head h reads key-value head ⌊h·H_kv/H⌋.
struct key_value_heads_divide_heads {
#define ATTEST_SENTENCE "the number of key-value heads must divide the number of heads: each serves equally many"
    static constexpr const char* sentence = ATTEST_SENTENCE;
    template <axis_type H, axis_type HKV>
    static constexpr bool holds = is_dynamic<H> || is_dynamic<HKV> || (HKV::size != 0 && H::size % (HKV::size == 0 ? 1 : HKV::size) == 0);
    template <axis_type H, axis_type HKV> static constexpr void check(std::size_t h, std::size_t h_kv) {
        static_assert(holds<H, HKV>, ATTEST_SENTENCE);
        if (h_kv == 0 || h % h_kv != 0) throw shape_error(ATTEST_SENTENCE, h, h_kv);
    }
#undef ATTEST_SENTENCE
};

/// d_k = d_model / H (B023, E044).
struct heads_divide_model {
#define ATTEST_SENTENCE "the number of heads H must divide d_model: each head has d_k = d_model / H components"
    static constexpr const char* sentence = ATTEST_SENTENCE;
    template <std::size_t DModel, std::size_t H>
    static constexpr bool holds = DModel == dynamic || H == dynamic || (H != 0 && DModel % H == 0);
    /// The length of an axis per head, checked by the compiler; dynamic if one of the two is.
    template <std::size_t DModel, std::size_t H> static constexpr std::size_t length() {
        static_assert(holds<DModel, H>, ATTEST_SENTENCE);
        if constexpr (DModel == dynamic || H == dynamic) return dynamic;
        else if constexpr (H == 0) return 0; // the assert has spoken
        else return DModel / H;
    }
    /// The same at run time; throws shape_error(d_model, H).
    static constexpr std::size_t length(std::size_t d_model, std::size_t h) {
        if (h == 0 || d_model % h != 0) throw shape_error(ATTEST_SENTENCE, d_model, h);
        return d_model / h;
    }
#undef ATTEST_SENTENCE
};

/// Memory that a shape is laid over; known at run time alone.
struct memory_fits_shape {
    static constexpr const char* sentence = "the memory must hold exactly the elements of the shape laid over it";
    static constexpr void check(std::size_t held, std::size_t needed) {
        if (held != needed) throw shape_error(sentence, held, needed);
    }
};

/// Lengths given at run time for an axis whose length is a type.
struct length_of_fixed_axis {
    static constexpr const char* sentence = "a length given for an axis must be that of its type";
    static constexpr void check(std::size_t given, std::size_t fixed) {
        if (fixed != dynamic && given != fixed) throw shape_error(sentence, given, fixed);
    }
};

/// The number of elements of a shape; `greatest` is the greatest count so far that the next length may multiply.
struct countable_elements {
    static constexpr const char* sentence = "the number of elements of a shape must fit in std::size_t";
    static constexpr void check(std::size_t count, std::size_t greatest) {
        if (count > greatest) throw shape_error(sentence, count, greatest);
    }
};

/// Element access with checking.
struct index_in_range {
    static constexpr const char* sentence = "an index must be less than the length of its axis";
    static constexpr void check(std::size_t index, std::size_t length) {
        if (index >= length) throw shape_error(sentence, index, length);
    }
};

} // namespace rules
#undef ATTEST_RULE_AXES_MEET

} // namespace attest
