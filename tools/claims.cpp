// SPDX-License-Identifier: BSL-1.0
#include "claims.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace attest::program {

namespace {

struct place {
    std::string_view id, file;
    int line;
};
constexpr place places[] = {
#include "claim_sources.inc" // made from proofs/ by claim_sources/
};

} // namespace

std::vector<const claim*> claims_in_order() {
    std::vector<const claim*> all;
    for (const auto claims : proofs::ledger)
        for (const claim& c : claims) all.push_back(&c);
    std::ranges::sort(all, {}, &claim::id);
    return all;
}

std::string_view word(proofs::wording text) {
    using enum proofs::wording;
    return text == correct ? "correct" : text == imprecise ? "imprecise" : text == wrong ? "wrong" : "not checkable";
}
std::string_view word(proofs::outcome status) {
    using enum proofs::outcome;
    return status == proved ? "proved" : status == refuted ? "refuted" : status == identity ? "identity (probabilistic)" : status == tested ? "tested" : "not checkable";
}
std::string_view word(proofs::means by) {
    using enum proofs::means;
    switch (by) {
    case types: return "types";
    case exact: return "exact numbers";
    case polynomials: return "polynomials";
    case enclosures: return "enclosures";
    case enumeration: return "enumeration";
    case moments: return "moments";
    case field: return "finite field";
    case doubles: return "bits of double";
    case opinion: return "opinion";
    case empirical: return "empirical";
    case citation: return "citation";
    case history: return "history";
    case reading: return "reading";
    }
    return "";
}

std::string source_of(const claim& c) {
    const auto* at = std::ranges::find(places, c.id, &place::id);
    return at == std::end(places) ? "" : fmt::format("{}:{}", at->file, at->line);
}

std::string error_of(const claim& c) {
    if (c.seeds == 0) return "";
    if (c.degree == 0)
        return fmt::format("{} random points; the formulas contain exp, so that the probability of an error is small under an assumption (arXiv 2506.04529), not proved",
                           c.seeds);
    const double log2_error = c.seeds * (std::log2(static_cast<double>(c.degree)) - 60.99); // p > 2^60.99
    return fmt::format("{} random points; degree at most {}, so that a false identity would pass with probability below 2^{} (Schwartz, Zippel)", c.seeds, c.degree,
                       static_cast<int>(std::ceil(log2_error)));
}

bool proofs_were_built() {
#ifdef ATTEST_PROOFS_BUILT
    return true;
#else
    return false;
#endif
}

std::string proofs_sentence() {
#ifdef ATTEST_PROOFS_BUILT
    return "the proofs were compiled with this program";
#else
    return "the proofs were not compiled with this program: cmake --workflow --preset proofs does that";
#endif
}

} // namespace attest::program
