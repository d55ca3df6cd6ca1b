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
///
/// From hypotheses that no random variables meet anything would follow. Such as contradict each other plainly are refused, by what
/// throws `contradiction` and does not compile in a constant expression: a moment with two values; a variable that is independent of
/// itself; a moment of independent variables that is not the product of theirs (state the moments of the factors first); a variance
/// below 0; a correlation above 1. That no other contradiction is left is up to the proof: random signs meet what the lecture assumes.
#pragma once

#include "polynomial.hpp"

#include <initializer_list>
#include <vector>

namespace attest::proofs {

/// No random variables meet these hypotheses.
class contradiction : public std::exception {
public:
    explicit contradiction(const char* sentence) noexcept : sentence_{sentence} {}
    [[nodiscard]] const char* what() const noexcept override { return sentence_; }

private:
    const char* sentence_;
};

namespace detail {
// Not constexpr: reached in a constant expression, they end it, and their names are what the compiler prints.
[[noreturn]] inline void a_moment_is_given_with_two_values() { throw contradiction("a moment is given with two values"); }
[[noreturn]] inline void a_variable_is_independent_of_itself() { throw contradiction("a variable is independent of itself"); }
[[noreturn]] inline void a_given_moment_is_not_what_independence_makes_of_it() {
    throw contradiction("a given moment is not what independence makes of it");
}
[[noreturn]] inline void a_variance_is_negative() { throw contradiction("a variance is negative"); }
[[noreturn]] inline void a_correlation_is_above_1() { throw contradiction("a correlation is above 1"); }
} // namespace detail

/// What is assumed of random variables, each assumption by its name. Throws contradiction where it contradicts those before it.
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
        h.add_independence(blocks);
        return h;
    }
    /// The vector of the `left` variables is independent of that of the `right` ones; of the components of one nothing is said.
    [[nodiscard]] constexpr hypotheses independent(std::initializer_list<variable> left,
                                                   std::initializer_list<variable> right) const {
        hypotheses h = *this;
        std::vector<product_code> blocks(2);
        for (const variable& x : left) blocks[0] += 15 * x.code();
        for (const variable& x : right) blocks[1] += 15 * x.code();
        h.add_independence(blocks);
        return h;
    }
    /// E[product] = value.
    [[nodiscard]] constexpr hypotheses given(const polynomial& product, const polynomial& value) const {
        hypotheses h = *this;
        h.add_given(product.as_product(), value);
        h.refuse_contradictions_of_products();
        return h;
    }
    /// E[x] = 0 and E[x²] = 1 of each.
    [[nodiscard]] constexpr hypotheses standard(std::initializer_list<variable> variables) const {
        hypotheses h = *this;
        h.given_.reserve(h.given_.size() + 2 * variables.size());
        for (const variable& x : variables) {
            h.add_given(x.code(), 0);
            h.add_given(2 * x.code(), 1);
        }
        h.refuse_contradictions_of_products();
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

    constexpr void add_independence(const std::vector<product_code>& blocks) {
        product_code all = 0;
        for (const product_code block : blocks) {
            if ((all & block) != 0) detail::a_variable_is_independent_of_itself();
            all |= block;
        }
        independences_.push_back(blocks);
        refuse_contradictions_of_products();
    }
    constexpr void add_given(product_code product, const polynomial& value) {
        const polynomial* already = given_mean(product);
        if ((already != nullptr && !(*already == value)) || (product == 0 && !(value == 1))) // E[1] = 1
            detail::a_moment_is_given_with_two_values();
        given_.push_back({product, value});
        refuse_negative_variance(product);
        if (has_odd_power(product)) return;
        if (value.negative()) detail::a_variance_is_negative(); // or another mean of squares
        refuse_negative_variance(product / 2);
    }
    // Is E[x²] − E[x]², of a product x, below 0?
    constexpr void refuse_negative_variance(product_code x) const {
        if (has_high_power(x)) return;
        const polynomial *mean = given_mean(x), *second = given_mean(2 * x);
        if (mean != nullptr && second != nullptr && (*second - square(*mean)).negative()) detail::a_variance_is_negative();
    }
    constexpr void refuse_contradictions_of_products() const {
        for (const auto& [product, value] : given_) {
            for (const auto& blocks : independences_)
                if (splits(blocks, product) && !(mean_by(blocks, product) == value))
                    detail::a_given_moment_is_not_what_independence_makes_of_it();
            for (unsigned i = 0; i < most_variables; ++i) {
                const product_code x = variable(i).code(), y = product - x;
                if ((product & 15 * x) == x && y > x && (y & (y - 1)) == 0 && (y & lowest_bits) != 0) refuse_correlation(x, y, value);
            }
        }
    }
    // Is (E[xy] − E[x] E[y])² > Var x Var y?
    constexpr void refuse_correlation(product_code x, product_code y, const polynomial& mean_of_product) const {
        if (!has_mean_of(x) || !has_mean_of(y) || !has_mean_of(2 * x) || !has_mean_of(2 * y)) return;
        const polynomial covariance = mean_of_product - mean_of(x) * mean_of(y);
        const polynomial variance_of_x = mean_of(2 * x) - square(mean_of(x)), variance_of_y = mean_of(2 * y) - square(mean_of(y));
        if ((variance_of_x * variance_of_y - square(covariance)).negative()) detail::a_correlation_is_above_1();
    }

    static constexpr product_code lowest_bits = 0x1111'1111'1111'1111U;
    [[nodiscard]] static constexpr bool has_odd_power(product_code product) { return (product & lowest_bits) != 0; }
    [[nodiscard]] static constexpr bool has_high_power(product_code product) { return (product & 8 * lowest_bits) != 0; } // above 7
    [[nodiscard]] static constexpr bool splits(const std::vector<product_code>& blocks, product_code product) {
        product_code rest = product;
        unsigned parts = 0;
        for (const product_code block : blocks) {
            parts += (product & block) != 0 ? 1U : 0U;
            rest &= ~block;
        }
        return rest == 0 && parts > 1;
    }
    // The independence that splits a product, or nullptr.
    [[nodiscard]] constexpr const std::vector<product_code>* split(product_code product) const {
        for (const auto& blocks : independences_)
            if (splits(blocks, product)) return &blocks;
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
        return blocks == nullptr ? polynomial::moment(product) : mean_by(*blocks, product);
    }
    [[nodiscard]] constexpr polynomial mean_by(const std::vector<product_code>& blocks, product_code product) const {
        polynomial factors = 1;
        for (const product_code block : blocks)
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
