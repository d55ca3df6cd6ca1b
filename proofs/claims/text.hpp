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
     .status = outcome::not_checkable,
     .by = means::reading,
     .details = "to be seen by reading: no letter stands before the index. That q_i and k_j are row i of Q and row j "
                "of K is proved with A049",
     .correction = "q_i is the i-th query vector: the letter is lost."},
    {.id = "A071",
     .statement = "That the order of heads does not matter is shown below, and multi-head attention in \"the section "
                  "lecture on transformers\".",
     .text = wording::wrong,
     .status = outcome::not_checkable,
     .by = means::reading,
     .details = "to be seen by reading: no heading that follows names the order of heads, and none of the three "
                "documents is a lecture on transformers; B treats multi-head attention (B021, B022). What is true of "
                "the order is proved with A020",
     .correction = "Nothing below shows it, and the section that is meant is not there."},
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
     .statement = "978-981-96-4705-7 is an ISBN whose check digit is right. (That it is that of \"The Geometry of "
                  "Intelligence\", by P Singh and B Raman, 2025, is a citation, and not checkable.)",
     .text = wording::correct,
     .status = outcome::proved,
     .by = means::exact,
     .details = "whole numbers: it has 13 digits, and the check digit is right, so it cannot be that exactly one "
                "digit is wrong"},
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
     .statement = "The solutions refer to a geometry below, to L2.2, to the parent note, and to notes on gradients, "
                  "the dot product and multi-head attention.",
     .text = wording::wrong,
     .status = outcome::not_checkable,
     .by = means::reading,
     .details = "to be seen by reading: the exercises have a title and no other heading or label. That inputs can be "
                "inferred is proved with E013 and E066; that they are not the only ones is an example in whole "
                "numbers (proofs/text.cpp)",
     .correction = "Nothing that they refer to is there, nor are the problems. Inputs can be inferred from the "
                   "solutions, but are not the only ones."},
};

} // namespace attest::proofs
