// SPDX-License-Identifier: BSL-1.0
/// \file
/// The entries of the proofs that were built, and their parts, asked again.
#pragma once

#include "proofs/settle.hpp"

#include <exception>
#include <map>
#include <string>
#include <vector>

namespace attest::tests {

/// All entries, by their ids. None has two, which a test looks at.
[[nodiscard]] inline std::map<std::string, std::vector<const proofs::entry*>> entries() {
    std::map<std::string, std::vector<const proofs::entry*>> all;
    for (const proofs::entry* e = proofs::entry::first(); e != nullptr; e = e->next()) all[std::string(e->of().id)].push_back(e);
    return all;
}

/// A part that throws is false: what would throw does not compile.
[[nodiscard]] inline bool holds_with(const proofs::settled_part& part, std::string_view printed, const proofs::claim& of) {
    try {
        return part.check(printed, of);
    } catch (const std::exception&) {
        return false;
    }
}

/// Would the parts that read the claim be true of this one? The others do not know of it.
[[nodiscard]] inline bool all_parts_hold(const proofs::entry& e, const proofs::claim& of) {
    for (std::size_t i = 0; i < e.settled().n_parts; ++i) {
        const proofs::settled_part& part = e.settled().parts[i];
        if (part.takes_claim && !holds_with(part, part.printed, of)) return false;
    }
    return true;
}

} // namespace attest::tests
