// SPDX-License-Identifier: BSL-1.0
/// \file
/// A small algebra of moments: what hypotheses let one say of the expectation of a polynomial in random variables.
///
/// ```cpp
/// constexpr variable q(0), k(1);
/// constexpr auto independent = [] { return hypotheses().finite(2).independent({q, k}); };
/// static_assert(independent().mean(q * k) == independent().mean(q) * independent().mean(k)); // E[qk] = E[q] E[k]
/// static_assert(!independent().mean(q * k).known());                                         // which is 0, or not: no mean is
/// known
/// ```
/// An expectation is linear. That of a product is another *moment*, a number of which nothing is known, unless a hypothesis says
/// more: that variables are independent, so that it is a product of moments; or what it is. So a proof uses no hypothesis but
/// those that it states. Equality is that of polynomials in variables, constants and moments: exact, for all values at once.
#pragma once

#include "polynomial.hpp"

#include <initializer_list>
#include <vector>

namespace attest::proofs {

/// What is assumed of random variables, each assumption by its name.
class hypotheses {
public:
    /// Moments up to this order are finite, those of products too (Hölder). Others throw not_known.
    [[nodiscard]] constexpr hypotheses finite(unsigned order) const {
        hypotheses h = *this;
        h.order_ = order;
        return h;
    }
    /// These variables are mutually independent.
    [[nodiscard]] constexpr hypotheses independent(std::initializer_list<variable> variables) const {
        hypotheses h = *this;
        std::vector<product_code> blocks;
        for (const variable& x : variables) blocks.push_back(15 * x.code());
        h.independences_.push_back(blocks);
        return h;
    }
    /// The vector of the `left` variables is independent of that of the `right` ones; of the components of one nothing is said.
    [[nodiscard]] constexpr hypotheses independent(std::initializer_list<variable> left,
                                                   std::initializer_list<variable> right) const {
        hypotheses h = *this;
        std::vector<product_code> blocks(2);
        for (const variable& x : left) blocks[0] += 15 * x.code();
        for (const variable& x : right) blocks[1] += 15 * x.code();
        h.independences_.push_back(blocks);
        return h;
    }
    /// E[product] = value.
    [[nodiscard]] constexpr hypotheses given(const polynomial& product, const polynomial& value) const {
        hypotheses h = *this;
        h.given_.push_back({product.as_product(), value});
        return h;
    }
    /// E[x] = 0 and E[x²] = 1 of each.
    [[nodiscard]] constexpr hypotheses standard(std::initializer_list<variable> variables) const {
        hypotheses h = *this;
        h.given_.reserve(h.given_.size() + 2 * variables.size());
        for (const variable& x : variables) {
            h.given_.push_back({x.code(), 0});
            h.given_.push_back({2 * x.code(), 1});
        }
        return h;
    }

    /// E[x]. Throws not_known if it need not be finite.
    [[nodiscard]] constexpr polynomial mean(const polynomial& x) const {
        return x.with_products([this](product_code product) {
            if (!has_mean_of(product)) throw not_known("this moment need not be finite");
            return mean_of(product);
        });
    }
    /// Do the hypotheses say that E[x] is finite?
    [[nodiscard]] constexpr bool has_mean(const polynomial& x) const {
        bool all = true;
        static_cast<void>(x.with_products([&](product_code product) {
            all = all && has_mean_of(product);
            return polynomial(0);
        }));
        return all;
    }
    /// E[(x − E[x])²].
    [[nodiscard]] constexpr polynomial variance(const polynomial& x) const { return covariance(x, x); }
    /// E[(x − E[x]) (y − E[y])].
    [[nodiscard]] constexpr polynomial covariance(const polynomial& x, const polynomial& y) const {
        return mean((x - mean(x)) * (y - mean(y)));
    }

private:
    struct known_moment {
        product_code product;
        polynomial value;
    };

    // The independence that splits a product, or nullptr.
    [[nodiscard]] constexpr const std::vector<product_code>* split(product_code product) const {
        for (const auto& blocks : independences_) {
            product_code rest = product;
            unsigned parts = 0;
            for (const product_code block : blocks) {
                parts += (product & block) != 0 ? 1U : 0U;
                rest &= ~block;
            }
            if (rest == 0 && parts > 1) return &blocks;
        }
        return nullptr;
    }
    [[nodiscard]] constexpr const polynomial* given_mean(product_code product) const {
        for (const known_moment& m : given_)
            if (m.product == product) return &m.value;
        return nullptr;
    }
    [[nodiscard]] constexpr polynomial mean_of(product_code product) const {
        if (const polynomial* value = given_mean(product)) return *value;
        const auto* blocks = split(product);
        if (blocks == nullptr) return polynomial::moment(product);
        polynomial factors = 1;
        for (const product_code block : *blocks)
            if ((product & block) != 0) factors = factors * mean_of(product & block);
        return factors;
    }
    [[nodiscard]] constexpr bool has_mean_of(product_code product) const {
        if (given_mean(product) != nullptr) return true;
        if (const auto* blocks = split(product)) {
            for (const product_code block : *blocks)
                if (!has_mean_of(product & block)) return false;
            return true;
        }
        unsigned degree = 0;
        for (unsigned i = 0; i < most_variables; ++i) degree += static_cast<unsigned>(product >> 4 * i & 15U);
        return degree <= order_;
    }

    unsigned order_ = 0;
    std::vector<std::vector<product_code>> independences_;
    std::vector<known_moment> given_;
};

} // namespace attest::proofs
