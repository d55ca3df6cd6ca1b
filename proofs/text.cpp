// SPDX-License-Identifier: BSL-1.0
// References, names and labels: what a compiler can say of them.

#include "polynomial.hpp"
#include "settle.hpp"

#include "attest/formula/score.hpp"

namespace attest::proofs {
namespace {

// [A007]
// Does every index of a printed symbol stand behind a letter?
constexpr bool is_letter(char x) { return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z'); }
constexpr bool indices_have_letters(std::string_view symbol) {
    for (std::size_t i = 0; i < symbol.size(); ++i)
        if (symbol[i] == '_' && (i == 0 || !is_letter(symbol[i - 1]))) return false;
    return true;
}
static_assert(indices_have_letters("k_j") && indices_have_letters("q_i . k_j") && !indices_have_letters("_j"));

struct queries : axis<3> {};
struct keys : axis<4> {};
struct d_k : axis<2> {};
const entry A007 = settle("A007", fails_as_printed([] { return !indices_have_letters("$ _i$"); }), holds_corrected([] {
                              symbols x;
                              const auto q = x.matrix<queries, d_k>();
                              const auto k = x.matrix<keys, d_k>();
                              const auto s = scores(q, k);
                              for (std::size_t i = 0; i < queries::size; ++i)
                                  for (std::size_t j = 0; j < keys::size; ++j)
                                      if (!(s(i, j) == q(i, 0) * k(j, 0) + q(i, 1) * k(j, 1))) return false;
                              return indices_have_letters("q_i");
                          }));
// [/A007]

// [A071]
// Does `text` say `word`?
constexpr bool says(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }
template <std::size_t N>
constexpr bool one_says(const std::string_view (&texts)[N], std::string_view word) {
    for (const std::string_view text : texts)
        if (says(text, word)) return true;
    return false;
}

// The titles, and the headings of the attention lecture behind "see below". The only one that names heads, "Multi-Head Assembly",
// holds one sentence, which refers to a lecture on transformers. No title is that of one, though lecture 6 of the foundations
// treats multi-head attention (B021, B022).
constexpr std::string_view titles[] = {"Attention", "Math Foundations — Lecture 6",
                                       "Exercises — Transformers — attention mechanism, self-attention"};
constexpr std::string_view headings[] = {"W^K versus W^Q",
                                         "The scaling factor",
                                         "Proof",
                                         "Proof (2)",
                                         "Proof (3): Dividing by sqrt(d_k)",
                                         "Softmax and attention",
                                         "Softmax and attention (2)",
                                         "Value Vectors",
                                         "Calculating Values",
                                         "The Weighted Sum",
                                         "Attention: Example",
                                         "Multi-Head Assembly",
                                         "Layer Normalization",
                                         "Layer Normalization (LN)",
                                         "LN step 1: Add",
                                         "LN step 2: Norm",
                                         "LN: Effects",
                                         "Feed-Forward Network (FFN)",
                                         "FFN layer",
                                         "Rectified Linear Unit (ReLU)",
                                         "Gaussian Error Linear Unit (GELU)",
                                         "Layer Normalization (2)",
                                         "Conclusion"};
constexpr std::string_view multi_head_assembly = "will cover multihead attention";
constexpr bool is_lecture_on_transformers(std::string_view title) { return says(title, "ecture") && says(title, "ransformer"); }

struct one_token : axis<1> {};
struct d_v : axis<2> {};
const entry A071 =
    settle("A071", fails_as_printed([] {
               for (const std::string_view title : titles)
                   if (is_lecture_on_transformers(title)) return false;
               return !one_says(headings, "ommutativ") && !one_says(headings, "rder") && !says(multi_head_assembly, "order") &&
                      !one_says(headings, "ransformer") && one_says(titles, "ransformer") && one_says(titles, "Lecture");
           }),
           holds_corrected([] { // 2 heads of 2 components for one token, and 2 columns of W_O
               symbols x;
               const auto head_1 = x.matrix<one_token, d_v>(), head_2 = x.matrix<one_token, d_v>();
               const auto w_1 = x.matrix<d_v, axis<2>>(), w_2 = x.matrix<d_v, axis<2>>();
               const auto first = matmul(head_1, w_1), second = matmul(head_2, w_2);
               for (std::size_t c = 0; c < 2; ++c) {
                   tensor<polynomial, one_token, axis<4>> concat{{head_1(0, 0), head_1(0, 1), head_2(0, 0), head_2(0, 1)}};
                   tensor<polynomial, axis<4>, axis<1>> column{{w_1(0, c)}, {w_1(1, c)}, {w_2(0, c)}, {w_2(1, c)}};
                   const polynomial output = matmul(concat, column)(0, 0);
                   if (!(output == first(0, c) + second(0, c) && output == second(0, c) + first(0, c))) return false;
               }
               return find_claim("A020") != nullptr && find_claim("B021") != nullptr && find_claim("B022") != nullptr;
           }));
// [/A071]

// [A115]
// Σ w_i x_i is divisible by 10, with w = 1, 3, 1, 3, …, 1. Both are prime to 10, so that one wrong digit shows. Four hyphens part
// the 13 digits in five.
constexpr bool is_isbn_13(std::string_view printed) {
    struct digits : axis<13> {};
    tensor<int, digits> x, w;
    std::size_t n = 0, hyphens = 0;
    bool behind_a_digit = false;
    for (const char digit : printed) {
        if (digit == '-' && behind_a_digit) {
            behind_a_digit = false;
            ++hyphens;
            continue;
        }
        if (digit < '0' || digit > '9' || n == digits::size) return false;
        behind_a_digit = true;
        w(n) = n % 2 == 0 ? 1 : 3;
        x(n++) = digit - '0';
    }
    return n == digits::size && hyphens == 4 && behind_a_digit && dot_product{}(w, x) % 10 == 0;
}
static_assert(!is_isbn_13("978-981-96-4705-1") && !is_isbn_13("978-981-96-4705"));
const entry A115 = settle("A115", holds("978-981-96-4705-7", [](std::string_view printed) { return is_isbn_13(printed); }));
// [/A115]

// [E079]
// What the solutions refer to, and what there is to refer to: two lists, copied by hand. That they are complete no compiler sees.
constexpr std::string_view references[] = {"geometry",          "L2.2",      "parent note", "Gradient vanishing",
                                           "cosine similarity", "Multi-Head"};
constexpr std::string_view labels[] = {"Exercises — Transformers — attention mechanism, self-attention"};
const entry E079 =
    settle("E079", fails_as_printed([] {
               for (const std::string_view reference : references)
                   if (one_says(labels, reference)) return false;
               return true;
           }),
           holds_corrected([] { // the raw scores 1, 0, 0, 1 and 2, 0, 0, 2, and that two inputs give the former
               struct tokens : axis<2> {};
               using vectors = tensor<int, tokens, d_k>;
               using raw = tensor<int, tokens, tokens>;
               const vectors unit{{1, 0}, {0, 1}}, symmetric{{1, 1}, {1, -1}}, other{{2, 1}, {1, 1}}, inverse{{1, -1}, {-1, 2}};
               return scores(unit, unit) == raw{{1, 0}, {0, 1}} && scores(symmetric, symmetric) == raw{{2, 0}, {0, 2}} &&
                      scores(other, inverse) == scores(unit, unit);
           }));
// [/E079]

} // namespace
} // namespace attest::proofs
