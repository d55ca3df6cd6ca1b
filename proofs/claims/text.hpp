// SPDX-License-Identifier: BSL-1.0
/// \file
/// What the lectures say of references, names and labels.
#pragma once

#include "../claim.hpp"

namespace attest::proofs {

inline constexpr claim text_claims[] = {
    {.id = "A007",
     .statement = "\"$ _i$\" is the i-th query vector, and k_j the j-th key vector.",
     .text = wording::wrong,
     .status = outcome::refuted,
     .by = means::text,
     .details = "what is printed: the index stands behind no letter; polynomials, 3 queries and 4 keys: entry (i, j) of the "
               "scores is made of row i of Q and row j of K",
     .correction = "q_i is the i-th query vector: the letter is lost."},
    {.id = "A071",
     .statement = "That the order of heads does not matter is shown below, and multi-head attention in \"the section lecture "
                  "on transformers\".",
     .text = wording::wrong,
     .status = outcome::refuted,
     .by = means::text,
     .details = "the headings of the lecture that follow name no order of heads, and none of the three documents has the title "
               "that is referred to. Multi-head attention itself is treated in B (B021, B022). Corrected: polynomials, 2 "
               "heads",
     .correction = "Nothing below shows it. What is true is in A020: the products head_h W_O^h may be added in any order, "
                   "where W_O^h are the rows of W_O that belong to head h."},
    {.id = "A113",
     .statement = "arXiv 1706.03762 is \"Attention Is All You Need\" by A Vaswani and others (2017).",
     .text = wording::correct,
     .status = outcome::not_checkable,
     .by = means::citation,
     .details = "a citation: no program can look it up here"},
    {.id = "A114",
     .statement = "\"On the Dimensionality of Word Embeddings\" is by Wang and others, at NeurIPS 2018.",
     .text = wording::wrong,
     .status = outcome::not_checkable,
     .by = means::citation,
     .details = "a citation: no program can look it up here",
     .correction = "The authors are Zi Yin and Yuanyuan Shen, and the title ends in \"Word Embedding\"."},
    {.id = "A115",
     .statement = "978-981-96-4705-7 is the ISBN of \"The Geometry of Intelligence\", by P Singh and B Raman (2025).",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::exact,
     .details = "whole numbers: it has 13 digits, and the check digit is right, so it cannot be that exactly one digit is "
               "wrong. That it is this book's is a citation"},
    {.id = "A116",
     .statement = "arXiv 1607.06450 is \"Layer Normalization\" by JL Ba and others (2016).",
     .text = wording::correct,
     .status = outcome::not_checkable,
     .by = means::citation,
     .details = "a citation: no program can look it up here"},
    {.id = "A117",
     .statement = "Allamar J (blog) The Illustrated GPT-2.",
     .text = wording::wrong,
     .status = outcome::not_checkable,
     .by = means::citation,
     .details = "a person's name: nothing else in the line says how it is spelled",
     .correction = "Alammar J."},
    {.id = "B060",
     .statement = "The bilinear score is \"general\", the additive one Bahdanau's, the scaled dot product Vaswani et al.'s, "
                  "and sinusoidal positions the original Transformer's.",
     .text = wording::correct,
     .status = outcome::not_checkable,
     .by = means::citation,
     .details = "citations (arXiv 1508.04025, 1409.0473, 1706.03762): no program can look them up here"},
    {.id = "E079",
     .statement = "The solutions refer to a geometry below, to L2.2, to the parent note, and to notes on gradients, the dot "
                  "product and multi-head attention.",
     .text = wording::wrong,
     .status = outcome::refuted,
     .by = means::text,
     .details = "two lists that were copied by hand, what the solutions refer to, and the labels and headings of the exercises, which are "
               "the title alone: the compiler says that nothing of the one is in the other, but not that they are complete; corrected: "
               "vectors that reproduce the solutions' raw scores, in whole numbers, and others that do so too",
     .correction = "Nothing that they refer to is there, nor are the problems. Inputs can be inferred from the solutions, but "
                   "are not the only ones."},
};

} // namespace attest::proofs
