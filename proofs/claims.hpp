// SPDX-License-Identifier: BSL-1.0
/// \file
/// The ledger: every claim of the lectures, once. The entries stand in claims/, one file a concept, beside the proof of that concept.
#pragma once

#include "claim.hpp"

#include "claims/activation.hpp"
#include "claims/attention.hpp"
#include "claims/encoder.hpp"
#include "claims/feed_forward.hpp"
#include "claims/layer_norm.hpp"
#include "claims/learned_score.hpp"
#include "claims/mask.hpp"
#include "claims/multi_head.hpp"
#include "claims/position.hpp"
#include "claims/residual.hpp"
#include "claims/score.hpp"
#include "claims/softmax.hpp"
#include "claims/symmetry.hpp"
#include "claims/text.hpp"
#include "claims/variance.hpp"
#include "claims/worked_examples.hpp"

#include <span>

namespace attest::proofs {

/// The claims of each concept.
inline constexpr std::span<const claim> ledger[] = {
    activation_claims,
    attention_claims,
    encoder_claims,
    feed_forward_claims,
    layer_norm_claims,
    learned_score_claims,
    mask_claims,
    multi_head_claims,
    position_claims,
    residual_claims,
    score_claims,
    softmax_claims,
    symmetry_claims,
    text_claims,
    variance_claims,
    worked_examples_claims,
};

/// The claim with this id, or nullptr.
[[nodiscard]] constexpr const claim* find_claim(std::string_view id) {
    for (const auto claims : ledger)
        for (const claim& c : claims)
            if (c.id == id) return &c;
    return nullptr;
}

} // namespace attest::proofs
