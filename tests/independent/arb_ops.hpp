// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ops score, softmax and attention on balls, in plain loops: `answer(question)` gives every wanted output.
#pragma once

#include "arb_attention.hpp"

namespace independent {

inline answers answer_score(const question& asked) {
    const table &q = asked["q"], &k = asked["k"];
    const arb_score score(asked);
    const std::size_t B = std::max(q.batches(), k.batches()), H = q.heads();
    output scores({B, H, q.rows(), k.rows()});
    for (std::size_t b = 0; b < B; ++b)
        for (std::size_t h = 0; h < H; ++h) {
            const arb_matrix Q = matrix_of(q, q.batches() == 1 ? 0 : b, h), K = matrix_of(k, k.batches() == 1 ? 0 : b, h * k.heads() / H);
            for (std::size_t i = 0; i < q.rows(); ++i)
                for (std::size_t j = 0; j < k.rows(); ++j) scores(b, h, i, j).ball = score.scaled_and_capped(score.raw(Q[i], K[j]));
        }
    answers all;
    all.emplace("scores", std::move(scores));
    return all;
}

/// out_j = e^{x_j}/Σ_l e^{x_l};   dx_j = out_j (dout_j − Σ_l out_l dout_l). Where all x_l are −∞ out is NaN, and dx 0: that row is a constant.
inline answers answer_softmax(const question& asked) {
    const table& x = asked["x"];
    const table* const dout = asked.find("dout");
    const int rank = static_cast<int>(x.shape.size());
    const auto axis = static_cast<std::size_t>(asked.how.axis < 0 ? asked.how.axis + rank : asked.how.axis);
    std::size_t stride = 1;
    for (std::size_t k = axis + 1; k < x.shape.size(); ++k) stride *= x.shape[k];
    const std::size_t n = x.shape[axis];
    output out(x.shape), dx(x.shape);
    for (std::size_t first = 0; first < x.values.size(); ++first) {
        if (first / stride % n != 0) continue; // not the first of a row along the axis
        softmax_row row(n);
        for (std::size_t j = 0; j < n; ++j)
            if (const double entry = x.values[first + j * stride]; entry != -HUGE_VAL) row.put(j, arb_number(entry), arb_number(0), arb_number(entry));
        row.exponentiate(std::nullopt);
        arb_row d(n);
        for (std::size_t j = 0; j < n && dout != nullptr; ++j) d[j] = arb_number(dout->values[first + j * stride]);
        const arb_number mean = row.sum_of_terms_times(d);
        for (std::size_t j = 0; j < n; ++j) {
            element &o = out.elements[first + j * stride], &g = dx.elements[first + j * stride];
            if (row.sees_nothing()) o.what = special::nan;
            else if (row.seen[j]) {
                o.ball = row.weight(j);
                g.ball = row.through_softmax(j, d[j], mean);
            }
        }
    }
    answers all;
    all.emplace("out", std::move(out));
    if (dout != nullptr) all.emplace("dx", std::move(dx));
    return all;
}

/// Every output that the question's tensors give, with the precision in force.
[[nodiscard]] inline answers answer(const question& asked) {
    if (asked.how.op == "score") return answer_score(asked);
    if (asked.how.op == "softmax") return answer_softmax(asked);
    return attention_on_balls(asked).answer();
}

} // namespace independent
