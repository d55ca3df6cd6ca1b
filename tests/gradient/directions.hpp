// SPDX-License-Identifier: BSL-1.0
// The gradient of a whole layer or stack against dual numbers: each tensor in turn moves in a random direction v, and the derivative of Σ dout ⊙ out must be
// Σ gradient ⊙ v, at 50 digits.
#pragma once

#include "formula/layer_weights.hpp"
#include "gradient/derivatives.hpp"

#include <string>
#include <vector>

namespace directed {

using big = derived::big;
using dual_big = attest::dual<big>;

/// A tensor that may move, and its gradient.
struct moving {
    std::string name;
    dual_big* values;
    std::size_t count;
    std::vector<big> gradient;
};

template <class X, class G> moving tensor_of(const std::string& name, X& x, const G& gradient) {
    REQUIRE(gradient.elements() == x.elements());
    REQUIRE(gradient.rank == x.rank);
    for (std::size_t k = 0; k < x.rank; ++k) REQUIRE(gradient.length(k) == x.length(k));
    return {name, x.data(), x.elements(), std::vector<big>(gradient.data(), gradient.data() + gradient.elements())};
}

/// Every tensor of weights, and its part of the gradient.
template <class W, class G> void add_weights(std::vector<moving>& all, const std::string& prefix, W& w, const G& gradient) {
    std::vector<moving> parts;
    layers::each_tensor(w, [&](const std::string& name, auto& t) { parts.push_back({prefix + name, t.data(), t.elements(), {}}); });
    std::size_t at = 0;
    layers::each_tensor(gradient, [&](const std::string& name, const auto& t) {
        REQUIRE(at < parts.size());
        REQUIRE(parts[at].name == prefix + name);
        REQUIRE(parts[at].count == t.elements());
        parts[at++].gradient.assign(t.data(), t.data() + t.elements());
    });
    REQUIRE(at == parts.size());
    all.insert(all.end(), parts.begin(), parts.end());
}

/// `value()` reads the moving tensors, and gives Σ dout ⊙ out.
template <class F> void check(const std::vector<moving>& all, const F& value) {
    std::mt19937_64 generator(2026);
    for (const moving& m : all) {
        const std::vector<dual_big> saved(m.values, m.values + m.count);
        big wanted(0);
        for (std::size_t e = 0; e < m.count; ++e) {
            const big v = big(static_cast<int>(generator() % 65) - 32) / big(16);
            m.values[e] = dual_big(saved[e].value(), v);
            wanted = wanted + m.gradient[e] * v;
        }
        const big got = value().derivative();
        for (std::size_t e = 0; e < m.count; ++e) m.values[e] = saved[e];
        INFO(m.name << ": along a random direction the gradient has " << wanted.text(50) << ", dual numbers have " << got.text(50));
        CHECK(derived::agrees(wanted, got));
        // The keys' bias alone moves nothing: softmax does not see what is added to all scores of a row.
        CHECK((abs(got) > big(1e-20)) == !m.name.ends_with("b_k"));
    }
}

} // namespace directed
