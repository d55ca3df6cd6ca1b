// SPDX-License-Identifier: BSL-1.0
/// \file
/// `polynomial`: a formula on symbols. What two formulas make of the same symbols is equal just if it is equal for all numbers of
/// every commutative ring: exact, where a point of a finite field (identity.hpp) leaves a probability. For small shapes: 16
/// variables, 48 terms.
///
/// ```cpp
/// constexpr bool product_rule = [] {
///     symbols x;
///     const auto q = x.vector<d_k>(), k = x.vector<d_k>();
///     return dot_product{}(q, k) == q(0) * k(0) + q(1) * k(1);
/// }();
/// ```
#pragma once

#include "attest/shape/tensor.hpp"

#include <cstdint>
#include <exception>

namespace attest::proofs {

/// What is asked is not known: the value of a moment that no hypothesis gives, or a moment that need not be finite.
class not_known : public std::exception {
public:
    explicit not_known(const char* sentence) noexcept : sentence_{sentence} {}
    [[nodiscard]] const char* what() const noexcept override { return sentence_; }

private:
    const char* sentence_;
};

/// A product of powers of up to 16 variables, with exponents up to 15: four bits each.
using product_code = std::uint64_t;
inline constexpr unsigned most_variables = 16;

/// Variable number `index`: random under a mean(), any number elsewhere.
struct variable {
    unsigned index;
    constexpr explicit variable(unsigned i) : index{i} {}
    [[nodiscard]] constexpr product_code code() const { return product_code{1} << (4 * index); }
};

/// Constant number `index`, a number that is the same in every outcome.
struct constant {
    unsigned index;
    constexpr explicit constant(unsigned i) : index{i} {}
};

/// Polynomials with integer coefficients in variables, constants and moments. Constants may have negative exponents: 1/√d is
/// root_d^−1.
class polynomial {
public:
    static constexpr unsigned n_constants = 3, most_moments = 9, most_terms = 48;

    constexpr polynomial() = default;
    // Copies only what counts.
    constexpr polynomial(const polynomial& other) : n_terms_{other.n_terms_} {
        for (unsigned i = 0; i < n_terms_; ++i) terms_[i] = other.terms_[i];
    }
    constexpr polynomial& operator=(const polynomial& other) {
        n_terms_ = other.n_terms_;
        for (unsigned i = 0; i < n_terms_; ++i) terms_[i] = other.terms_[i];
        return *this;
    }
    constexpr ~polynomial() = default;
    template <std::same_as<int> I>
    constexpr polynomial(I x) {
        add(number(x));
    } // NOLINT(google-explicit-constructor): as in every arithmetic
    constexpr polynomial(const variable& x) { add(number(1, x.code())); } // NOLINT(google-explicit-constructor)
    constexpr polynomial(const constant& x) {                             // NOLINT(google-explicit-constructor)
        term t = number(1);
        t.constants[x.index] = 1;
        add(t);
    }
    /// The number E[product], of which nothing is known but E[1] = 1.
    [[nodiscard]] static constexpr polynomial moment(product_code product) {
        term t = number(1);
        if (product != 0) t.moments[0] = product;
        return polynomial(t);
    }

    friend constexpr polynomial operator+(const polynomial& a, const polynomial& b) {
        polynomial sum = a;
        for (unsigned i = 0; i < b.n_terms_; ++i) sum.add(b.terms_[i]);
        return sum;
    }
    friend constexpr polynomial operator-(const polynomial& a) {
        polynomial negative = a;
        for (unsigned i = 0; i < a.n_terms_; ++i) negative.terms_[i].coefficient = -a.terms_[i].coefficient;
        return negative;
    }
    friend constexpr polynomial operator-(const polynomial& a, const polynomial& b) { return a + -b; }
    friend constexpr polynomial operator*(const polynomial& a, const polynomial& b) {
        polynomial result;
        for (unsigned i = 0; i < a.n_terms_; ++i)
            for (unsigned j = 0; j < b.n_terms_; ++j) result.add(times(a.terms_[i], b.terms_[j]));
        return result;
    }
    /// By constants, and by a unit: else throws not_known.
    friend constexpr polynomial operator/(const polynomial& a, const polynomial& b) {
        if (b.n_terms_ != 1 || b.terms_[0].variables != 0 || b.terms_[0].moments[0] != 0 ||
            b.terms_[0].coefficient * b.terms_[0].coefficient != 1)
            throw not_known("a quotient by what is not a product of constants");
        term inverse = b.terms_[0];
        for (int& exponent : inverse.constants) exponent = -exponent;
        return a * polynomial(inverse);
    }
    /// Equal as polynomials: for all values of all variables, constants and moments.
    friend constexpr bool operator==(const polynomial& a, const polynomial& b) {
        if (a.n_terms_ != b.n_terms_) return false;
        for (unsigned i = 0; i < a.n_terms_; ++i) {
            unsigned j = 0;
            while (j < b.n_terms_ && !b.terms_[j].like(a.terms_[i])) ++j;
            if (j == b.n_terms_ || a.terms_[i].coefficient != b.terms_[j].coefficient) return false;
        }
        return true;
    }

    /// Is it a number that holds no moment of which nothing is known?
    [[nodiscard]] constexpr bool known() const {
        for (unsigned i = 0; i < n_terms_; ++i)
            if (terms_[i].moments[0] != 0) return false;
        return true;
    }
    /// Is it less than 0 whatever the constants are? Known of a negative number less squares of constants; else false.
    [[nodiscard]] constexpr bool negative() const {
        bool has_number = false;
        for (unsigned i = 0; i < n_terms_; ++i) {
            const term& t = terms_[i];
            if (t.coefficient > 0 || t.variables != 0 || t.moments[0] != 0) return false;
            bool is_number = true;
            for (const int exponent : t.constants) {
                if (exponent % 2 != 0) return false;
                is_number = is_number && exponent == 0;
            }
            has_number = has_number || is_number;
        }
        return has_number;
    }
    /// With x² = n. Throws not_known for an odd or negative power of x.
    [[nodiscard]] constexpr polynomial with_square(const constant& x, int n) const {
        const unsigned index = x.index;
        polynomial result;
        for (unsigned i = 0; i < n_terms_; ++i) {
            term t = terms_[i];
            for (; t.constants[index] >= 2; t.constants[index] -= 2) t.coefficient *= n;
            if (t.constants[index] != 0) throw not_known("an odd or negative power of a constant whose square is given");
            result.add(t);
        }
        return result;
    }
    /// Its variables x replaced by `image(x's product)`, term by term.
    template <class Image>
    [[nodiscard]] constexpr polynomial with_products(const Image& image) const {
        polynomial result;
        for (unsigned i = 0; i < n_terms_; ++i) {
            term t = terms_[i];
            const product_code product = t.variables;
            t.variables = 0;
            const polynomial factor = image(product);
            for (unsigned j = 0; j < factor.n_terms_; ++j) result.add(times(t, factor.terms_[j]));
        }
        return result;
    }
    /// The product of which this polynomial consists; throws not_known if it is another.
    [[nodiscard]] constexpr product_code as_product() const {
        if (n_terms_ != 1 || !(polynomial(number(1, terms_[0].variables)) == *this))
            throw not_known("a moment is that of one product of variables");
        return terms_[0].variables;
    }

private:
    struct term {
        long long coefficient;
        product_code variables;
        int constants[n_constants];
        product_code moments[most_moments]; // in descending order, at least one 0 at the end

        [[nodiscard]] constexpr bool like(const term& other) const {
            if (variables != other.variables) return false;
            for (unsigned i = 0; i < n_constants; ++i)
                if (constants[i] != other.constants[i]) return false;
            for (unsigned i = 0; i < most_moments; ++i) {
                if (moments[i] != other.moments[i]) return false;
                if (moments[i] == 0) break;
            }
            return true;
        }
    };
    [[nodiscard]] static constexpr term number(long long coefficient, product_code variables = 0) {
        return {coefficient, variables, {}, {}};
    }
    constexpr explicit polynomial(const term& t) { add(t); }

    constexpr void add(const term& t) {
        if (t.coefficient == 0) return;
        for (unsigned i = 0; i < n_terms_; ++i)
            if (terms_[i].like(t)) {
                terms_[i].coefficient += t.coefficient;
                if (terms_[i].coefficient == 0) terms_[i] = terms_[--n_terms_];
                return;
            }
        if (n_terms_ == most_terms) throw not_known("too many terms");
        terms_[n_terms_++] = t;
    }
    static constexpr term times(const term& s, const term& t) {
        term result = number(s.coefficient * t.coefficient, s.variables + t.variables);
        constexpr product_code lowest_bits = 0x1111'1111'1111'1111U;
        const product_code carries = s.variables ^ t.variables ^ result.variables;
        if ((carries & (lowest_bits - 1)) != 0 || result.variables < s.variables) throw not_known("an exponent above 15");
        for (unsigned i = 0; i < n_constants; ++i) result.constants[i] = s.constants[i] + t.constants[i];
        for (unsigned of_s = 0, of_t = 0, n = 0; s.moments[of_s] != 0 || t.moments[of_t] != 0; ++n) {
            if (n + 1 == most_moments) throw not_known("too many moments in a product");
            result.moments[n] = s.moments[of_s] >= t.moments[of_t] ? s.moments[of_s++] : t.moments[of_t++];
        }
        return result;
    }

    // No two alike, and no coefficient 0. Not a std::vector: GCC 12 loses those of an array in a constant expression.
    term terms_[most_terms] = {};
    unsigned n_terms_ = 0;
};

// Seen here too, so that variables and constants become polynomials.
constexpr polynomial operator+(const polynomial& a, const polynomial& b);
constexpr polynomial operator-(const polynomial& a, const polynomial& b);
constexpr polynomial operator*(const polynomial& a, const polynomial& b);
constexpr polynomial operator/(const polynomial& a, const polynomial& b);
[[nodiscard]] constexpr polynomial square(const polynomial& x) { return x * x; }

/// Variables in turn: a matrix or vector of symbols, for an identity between polynomials that holds for all numbers.
class symbols {
public:
    [[nodiscard]] constexpr polynomial next() {
        if (count_ == most_variables) throw not_known("more variables than there are names");
        return variable(count_++);
    }
    template <axis_type D>
    [[nodiscard]] constexpr tensor<polynomial, D> vector() {
        tensor<polynomial, D> x;
        for (std::size_t i = 0; i < x.length(0); ++i) x(i) = next();
        return x;
    }
    template <axis_type N, axis_type D>
    [[nodiscard]] constexpr tensor<polynomial, N, D> matrix() {
        tensor<polynomial, N, D> x;
        for (std::size_t i = 0; i < x.length(0); ++i)
            for (std::size_t j = 0; j < x.length(1); ++j) x(i, j) = next();
        return x;
    }

private:
    unsigned count_ = 0;
};

} // namespace attest::proofs
