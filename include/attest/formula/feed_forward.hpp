// SPDX-License-Identifier: BSL-1.0
/// \file
/// FFN(x) = act(x W_1 + b_1) W_2 + b_2 for each token x by itself (A096, A100, A103, B053; Vaswani et al., arXiv 1706.03762, section 3.3).
///
/// The lectures use GELU (A103) and ReLU (B053); "two linear transformations" (A101) are affine, for they have biases: FFN(0) need not be 0.
#pragma once

#include "attest/formula/activation.hpp"
#include "attest/formula/projection.hpp"

namespace attest {

/// The weights of a feed-forward network, in the layout in_out. A bias of a fixed axis starts as zeros; a dynamic one of length 0 is no bias.
template <class S, axis_type DModel, axis_type DFF> struct feed_forward_weights {
    tensor<S, DModel, DFF> w_1 = {};
    tensor<S, DFF> b_1 = {};
    tensor<S, DFF, DModel> w_2 = {};
    tensor<S, DModel> b_2 = {};

    using model_axis = DModel;
    using hidden_axis = DFF;
};

/// act(X W_1 + b_1) W_2 + b_2, row by row. Shapes: X n × d_model, W_1 d_model × d_ff, b_1 d_ff, W_2 d_ff × d_out, b_2 d_out → n × d_out.
/// Throws shape_error (or does not compile) unless they fit: W_1 a row for each component of a token, W_2 a row for each hidden component.
template <matrix_like X, matrix_like W1, vector_like B1, matrix_like W2, vector_like B2>
[[nodiscard]] constexpr auto feed_forward(const X& x, const W1& w_1, const B1& b_1, const W2& w_2, const B2& b_2, const activation& act = {}) {
    return project_in_out(activate(project_in_out(x, w_1, b_1), act), w_2, b_2);
}

/// The same with the weights as one aggregate. Shapes: X n × d_model → n × d_model.
template <matrix_like X, class W>
    requires requires(const W& w) { w.w_2; }
[[nodiscard]] constexpr auto feed_forward(const X& x, const W& w, const activation& act = {}) {
    return feed_forward(x, w.w_1, w.b_1, w.w_2, w.b_2, act);
}

} // namespace attest
