// SPDX-License-Identifier: BSL-1.0
/// \file
/// `tracked`: a number in `real<50>` that carries how far a right computation of it may be off, in each of several arithmetics. Any formula of
/// `formula/` and `gradient/` evaluated in `tracked` gives the exact value, its own error estimate, and rounding limits: plain propagation of the
/// rounding bounds.
///
/// ## What is propagated
///
/// For a value v and each arithmetic, E bounds |computed v − v| for every right way of computing v. Products, quotients and functions take in the errors of
/// their operands (|ab − a'b'| <= |a|E_b + |b|E_a + E_aE_b, and so on). A sum is not rounded term by term, since the order of its terms is the kernel's own:
/// it stays *open*, and remembers Σ|terms| and how many roundings r may have happened since its operands were last closed. When it is used, it is closed:
///
///     E  :=  Σ E_terms + γ_{2r+2} · (Σ|terms| + Σ E_terms) + (2r + 2) · tiny,      γ_k = k u / (1 − k u)   (Higham, Accuracy and Stability, lemma 3.1),
///
/// which holds for every order of the sum, for fused multiply-adds, and, since r counts each product and each addition and is doubled, also for kernels that
/// rescale their partial sums at every step (blockwise softmax), that apply a scale to an operand, to the product, or in two halves, or that fold a
/// constant into it. Differences are sums: x − mean is given u(|x| + |mean|), so that kernels that multiply it out (a·x + b, as in LayerNorm's backward pass) are
/// covered.
/// Functions: exp is off by a relative 8u + 2u|x|, that is 4 ULP and the rounding of its argument; tanh, erf, log by 8u of their values, sin and cos by an
/// absolute 8u, sqrt by 2u (assumptions on the libraries; the ones that were looked at stay below).
///
/// What it does not see: that errors cancel or are correlated. So E grows by a factor with every layer of a stack. In double it is still 10^−10 or less after
/// a layer, where a mistake is 10^−3 or more. Where it has grown too far, the computation is recorded on a tape, and bounded to first order: oracle/tape.hpp.
#pragma once

#include "attest/elementary/exp.hpp"
#include "attest/elementary/log.hpp"
#include "attest/elementary/sqrt.hpp"
#include "attest/oracle/rounding.hpp"
#include "attest/oracle/tape.hpp"

#include <algorithm>
#include <array>

namespace attest {


/// What `tracked` knows of an arithmetic.
struct tracked_arithmetic {
    double unit;    ///< relative error of a sum, product, quotient
    double operand; ///< each operand of a product is rounded to this first (tf32), or 0
    double store;   ///< what is kept between steps is rounded to this (16 bits), or 0
    double tiny;    ///< absolute error below the normal range
    double input;   ///< inputs are rounded to this first: they are given in double
};

/// The arithmetics that a `tracked` carries errors for. The first is real<50> itself: the error estimate of the value (2^−180 for an operation
/// that loses 2^−192). The 16-bit one stands for bf16 and f16 alike: the coarser unit, the narrower range.
enum class tracked_kind : std::size_t { value, f64, f32, tf32, sixteen_bits };
inline constexpr tracked_arithmetic tracked_arithmetics[] = {{0x1p-180, 0, 0, 0x1p-1074, 0},
                                                             {0x1p-53, 0, 0, 0x1p-1074, 0},
                                                             {0x1p-24, 0, 0, 0x1p-126, 0x1p-24},
                                                             {0x1p-24, 0x1p-11, 0, 0x1p-126, 0x1p-11},
                                                             {0x1p-24, 0, 0x1p-8, 0x1p-24, 0x1p-8}};
inline constexpr std::size_t tracked_count = std::size(tracked_arithmetics);

/// See the head of this file.
class tracked {
public:
    using errors = std::array<double, tracked_count>;
    /// Where operations are recorded; nothing: nowhere.
    inline static thread_local tape* recorder = nullptr;

    tracked() = default; ///< 0
    template <std::same_as<int> I> tracked(I x) : tracked(static_cast<double>(x), exactly{}) {} // NOLINT(google-explicit-constructor)
    /// An input: exact, but arithmetics below double round it first.
    explicit tracked(double x) : tracked(x, exactly{}) {
        for (std::size_t a = 0; a < tracked_count; ++a) error_[a] = tracked_arithmetics[a].input * size_;
        shape_ = x == 0 ? shape::zero : shape::any;
    }
    /// A number known to 50 digits that no arithmetic holds: a constant, such as 10^−5.
    explicit tracked(const exact_number& x) : tracked(x, tape::none, 0) {}
    /// x, of which nothing is known that a right computation may give.
    [[nodiscard]] static tracked without_bound(const tracked& x) {
        tracked r = x.closed();
        for (std::size_t a = 1; a < tracked_count; ++a) r.error_[a] = no_bound;
        r.operation_ = record(tape::none, 0, tape::none, 0, no_bound);
        r.shape_ = shape::any;
        return r;
    }
    /// NaN or an infinity that a formula declares for rows without a key: an answer, and not what some input made of it. It has no error.
    [[nodiscard]] static tracked declared(const exact_number& x) {
        tracked r(x);
        r.roundings_ = 0;
        return r;
    }
    static tracked pi() { return tracked(exact_number::pi()); }

    [[nodiscard]] const exact_number& value() const noexcept { return value_; }
    /// Its last operation on the tape.
    [[nodiscard]] std::int32_t operation() const {
        (void)closed();
        return operation_;
    }
    /// The bound of |computed − exact| in an arithmetic; infinity where nothing can be said.
    [[nodiscard]] double error(tracked_kind a) const { return closed().error_[static_cast<std::size_t>(a)]; }

    friend tracked operator-(const tracked& a) {
        tracked r = a;
        r.value_ = -a.value_;
        if (a.shape_ == shape::one) r.shape_ = shape::any;
        if (a.operation_ != tape::none) {
            (void)a.closed();
            r.operation_ = record(a.operation_, -1);
        }
        return r;
    }
    friend tracked operator+(const tracked& a, const tracked& b) {
        if (a.shape_ == shape::zero) return b;
        if (b.shape_ == shape::zero) return a;
        tracked r;
        r.value_ = a.value_ + b.value_;
        r.size_ = a.size_ + b.size_;
        r.roundings_ = a.roundings_ + b.roundings_ + 1;
        r.shape_ = shape::any;
        r.operation_ = record(a.operation_, 1, b.operation_, 1);
        for (std::size_t k = 0; k < tracked_count; ++k) r.error_[k] = a.error_[k] + b.error_[k];
        return r;
    }
    friend tracked operator-(const tracked& a, const tracked& b) { return a + -b; }
    friend tracked operator*(const tracked& open_a, const tracked& open_b) {
        if (open_a.shape_ == shape::one) return open_b;
        if (open_b.shape_ == shape::one) return open_a;
        if (open_a.shape_ == shape::zero && open_b.value_.is_finite()) return {};
        if (open_b.shape_ == shape::zero && open_a.value_.is_finite()) return {};
        const tracked a = open_a.closed(), b = open_b.closed();
        tracked r(a.value_ * b.value_, a.operation_, plain(b.value_), b.operation_, plain(a.value_), {0, 1, 0});
        for (std::size_t k = 0; k < tracked_count; ++k) {
            const double operand = tracked_arithmetics[k].operand;
            const double off = a.size_ * b.error_[k] + b.size_ * a.error_[k] + a.error_[k] * b.error_[k];
            r.error_[k] = known(off + 2.5 * operand * (r.size_ + off));
        }
        return r;
    }
    friend tracked operator/(const tracked& open_a, const tracked& open_b) {
        if (open_b.shape_ == shape::one) return open_a;
        const tracked a = open_a.closed(), b = open_b.closed();
        const double quotient = plain(a.value_ / b.value_), divisor = plain(b.value_);
        tracked r(a.value_ / b.value_, a.operation_, 1 / divisor, b.operation_, -quotient / divisor,
                  {0, 1 / (divisor * divisor), 2 * (quotient < 0 ? -quotient : quotient) / (divisor * divisor)});
        for (std::size_t k = 0; k < tracked_count; ++k) {
            const double least = b.size_ * (1 - 0x1p-50) - b.error_[k];
            r.error_[k] = least > 0 ? known((a.error_[k] + r.size_ * b.error_[k]) / least) : no_bound;
        }
        return r;
    }

    friend tracked attest_sqrt(const tracked& open) {
        const tracked x = open.closed();
        const exact_number root = attest_sqrt(x.value_);
        return x.function(root, [&](double e, std::size_t) { return std::min(e / std::max(magnitude(root), 0x1p-1000), attest::sqrt(e)); }, 2, 0, 0.5 / plain(root), 0.25 / (plain(root) * plain(root) * plain(root)));
    }
    friend tracked attest_exp(const tracked& open) {
        const tracked x = open.closed();
        const exact_number y = attest_exp(x.value_);
        // e^{x + e} − e^x <= e^x · e·e^e
        return x.function(y, [&](double e, std::size_t) { return e > 600 ? no_bound : e == 0 ? 0 : magnitude(y) * e * attest::exp(e); }, 8 + 2 * x.size_, 0, plain(y), plain(y));
    }
    friend tracked attest_log(const tracked& open) {
        const tracked x = open.closed();
        const exact_number y = attest_log(x.value_);
        return x.function(y, [&](double e, std::size_t) { return e < x.size_ / 2 ? 2 * e / x.size_ : no_bound; }, 8, 8, 1 / plain(x.value_), 1 / (x.size_ * x.size_));
    }
    friend tracked attest_tanh(const tracked& open) {
        const tracked x = open.closed();
        const auto slope = [&](double e) { return std::min(1.0, 4.1 * attest::exp(-2 * std::max(x.size_ - e, 0.0))); }; // 1 − tanh² <= 4 e^{−2|x|}
        const exact_number y = attest_tanh(x.value_);
        return x.function(y, [&](double e, std::size_t) { return e == 0 ? 0 : e * slope(e); }, 8, 0, plain(exact_number(1) - y * y), 0.8);
    }
    friend tracked attest_erf(const tracked& open) {
        const tracked x = open.closed();
        const auto slope = [&](double e) { // 2/√π e^{−x²}
            const double nearest = std::min(std::max(x.size_ - e, 0.0), 1e3);
            return 1.13 * attest::exp(-nearest * nearest);
        };
        return x.function(attest_erf(x.value_), [&](double e, std::size_t) { return e == 0 ? 0 : e * slope(e); }, 8, 0, slope(0), 1);
    }
    friend tracked attest_sin(const tracked& open) {
        const tracked x = open.closed();
        return x.function(attest_sin(x.value_), [](double e, std::size_t) { return e; }, 0, 8, plain(attest_cos(x.value_)), 1);
    }
    friend tracked attest_cos(const tracked& open) {
        const tracked x = open.closed();
        return x.function(attest_cos(x.value_), [](double e, std::size_t) { return e; }, 0, 8, -plain(attest_sin(x.value_)), 1);
    }
    /// max(x, 0), whose error is none where even the error leaves x below 0.
    friend tracked attest_relu(const tracked& open) {
        tracked x = open.closed();
        if (x.value_.is_nan() || (!x.value_.is_negative() && !x.value_.is_zero())) return x;
        if (x.operation_ != tape::none) x.operation_ = record(x.operation_, x.sign_is_open() ? 1 : 0);
        for (double& e : x.error_) e = e < x.size_ * (1 - 0x1p-50) ? 0 : e;
        x.value_ = exact_number(0);
        x.size_ = 0;
        if (std::all_of(x.error_.begin(), x.error_.end(), [](double e) { return e == 0; })) x.shape_ = shape::zero;
        return x;
    }
    /// 1 for x > 0, else 0; nothing is known where the error leaves the sign open.
    friend tracked attest_step(const tracked& open) {
        const tracked x = open.closed();
        tracked r(x.value_.is_negative() || x.value_.is_zero() ? 0 : 1);
        for (std::size_t k = 0; k < tracked_count; ++k) r.error_[k] = x.error_[k] > 0 && x.error_[k] >= x.size_ * (1 - 0x1p-50) ? 1 : 0;
        if (std::any_of(r.error_.begin(), r.error_.end(), [](double e) { return e != 0; })) r.shape_ = shape::any;
        if (x.value_.is_nan()) r.value_ = x.value_;
        if (x.operation_ != tape::none && x.sign_is_open()) r.operation_ = record(tape::none, 0, tape::none, 0, 1);
        return r;
    }
    /// The shift of softmax has no error of its own: whatever the kernel shifts by leaves the quotient as it is.
    friend tracked attest_shift_point(const tracked& a, const tracked& b) {
        tracked m;
        m.value_ = a.value_ < b.value_ || b.value_.is_nan() ? b.value_ : a.value_;
        m.size_ = magnitude(m.value_);
        m.shape_ = shape::any;
        return m;
    }
    /// e/sum, of which a program that forms it as e^{x − lse} keeps the rounding of lse = shift + log sum, for its whole row.
    friend tracked attest_softmax_weight(const tracked& e, const tracked& sum, const tracked& shift) {
        tracked r = (e / sum).closed();
        const double lse = shift.size_ + std::max(attest::log(sum.closed().size_), 0.0) + 1;
        r.operation_ = record(r.operation_, 1, tape::none, 0, 4 * lse * 0x1p-53 * r.size_);
        for (std::size_t k = 0; k < tracked_count; ++k) r.error_[k] = known(r.error_[k] + 4 * lse * tracked_arithmetics[k].unit * r.size_);
        return r;
    }
    // 1 + erf x and 1 + tanh x: exact values that do not cancel, errors of the sums, which do.
    friend tracked attest_one_plus_erf(const tracked& open) {
        const tracked x = open.closed();
        const double nearest = std::min(std::max(x.size_ - x.error_[0], 0.0), 1e3);
        return (tracked(1) + attest_erf(x)).with_value(attest_one_plus_erf(x.value_), 1.13 * attest::exp(-nearest * nearest) * x.error_[0]);
    }
    friend tracked attest_one_plus_tanh(const tracked& open) {
        const tracked x = open.closed();
        return (tracked(1) + attest_tanh(x)).with_value(attest_one_plus_tanh(x.value_), 4.1 * attest::exp(-2 * std::max(x.size_ - x.error_[0], 0.0)) * x.error_[0]);
    }
    // Order is that of the values.
    friend bool operator<(const tracked& a, const tracked& b) { return a.value_ < b.value_; }
    friend bool operator==(const tracked& a, const tracked& b) { return a.value_ == b.value_; }

private:
    static constexpr double no_bound = std::numeric_limits<double>::infinity();
    // 0 and 1 that nothing has touched: adding and multiplying by them is exact.
    enum class shape : unsigned char { zero, one, any };
    struct exactly {};
    tracked(double x, exactly) : value_{x}, size_{x < 0 ? -x : x}, shape_{x == 0 ? shape::zero : x == 1 ? shape::one : shape::any} {}

    // A product, a quotient, or a constant that has to be rounded.
    tracked(const exact_number& x, std::int32_t a, double to_a, std::int32_t b = tape::none, double to_b = 0, curvature second = {})
        : value_{x}, size_{magnitude(x)}, roundings_{1}, operation_{record(a, to_a, b, to_b, 0, second)}, shape_{shape::any} {}
    // Whether rounding may decide over the sign, when a computation is bounded to first order.
    [[nodiscard]] bool sign_is_open() const { return recorder != nullptr && size_ <= 64 * recorder->likely_error(operation_); }
    static std::int32_t record(std::int32_t a, double to_a, std::int32_t b = tape::none, double to_b = 0, double lost = 0, curvature second = {}) {
        return recorder == nullptr ? tape::none : recorder->record(a, to_a, b, to_b, lost, second);
    }
    static double plain(const exact_number& x) { return static_cast<double>(x); }
    // The same number, known better: off by `brought`, and what a value loses.
    [[nodiscard]] tracked with_value(const exact_number& x, double brought) const {
        tracked r = closed();
        r.value_ = x;
        r.size_ = magnitude(x);
        r.error_[0] = known(brought + 0x1p-160 * r.size_ + 0x1p-1074);
        return r;
    }
    // A bound that is no number says nothing.
    static double known(double e) { return e >= 0 ? e : no_bound; }
    static double magnitude(const exact_number& x) {
        const auto m = static_cast<double>(x);
        return (m < 0 ? -m : m) * (1 + 0x1p-50);
    }

    // The sum ended, and rounded.
    [[nodiscard]] tracked closed() const {
        if (roundings_ == 0) return *this;
        tracked r = *this;
        const double count = 2 * roundings_ + 2;
        const double size = magnitude(value_);
        for (std::size_t k = 0; k < tracked_count; ++k) {
            const tracked_arithmetic& a = tracked_arithmetics[k];
            const double gamma = count * a.unit < 0.5 ? count * a.unit / (1 - count * a.unit) : no_bound;
            double e = error_[k] + gamma * (size_ + error_[k]) + count * a.tiny;
            if (a.store > 0) e += 2.5 * a.store * (size + e);
            r.error_[k] = known(e * (1 + 0x1p-40));
        }
        if (recorder != nullptr) recorder->lose(operation_, (count * 0x1p-53 * size_ + count * 0x1p-1074) * (1 + 0x1p-40));
        r.size_ = size;
        r.roundings_ = 0;
        r.shape_ = shape::any;
        return r;
    }

    // f(x) with the error that x's own makes, and its rounding: `relative` units of the value and `absolute` ones. `slope`: f'(x); `bend`: |f''(x)| or more.
    template <class Propagate>
    [[nodiscard]] tracked function(const exact_number& y, const Propagate& propagate, double relative, double absolute, double slope, double bend) const {
        tracked r;
        r.value_ = y;
        r.size_ = magnitude(y);
        r.shape_ = shape::any;
        r.operation_ = record(operation_, slope, tape::none, 0, relative * 0x1p-53 * r.size_ + absolute * 0x1p-53 + 4 * 0x1p-1074, {bend, 0, 0});
        for (std::size_t k = 0; k < tracked_count; ++k) {
            const tracked_arithmetic& a = tracked_arithmetics[k];
            const double moved = propagate(error_[k], k);
            const double e = moved + (relative * a.unit + 2 * a.store) * (r.size_ + moved) + absolute * a.unit + 4 * a.tiny;
            r.error_[k] = known(e * (1 + 0x1p-40));
        }
        return r;
    }

    exact_number value_{0};
    double size_ = 0;      // |value|; of an open sum Σ|terms|
    double roundings_ = 0; // that may have happened since the operands were closed; 0: closed
    errors error_{};
    std::int32_t operation_ = tape::none; // on the tape
    shape shape_ = shape::zero;
};

/// While it lives, operations are recorded.
class recording {
public:
    explicit recording(tape& to) : before_{tracked::recorder} { tracked::recorder = &to; }
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;
    ~recording() { tracked::recorder = before_; }

private:
    tape* before_;
};

} // namespace attest

/// NaN and infinity, for rows that see no key.
template <> class std::numeric_limits<attest::tracked> {
public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_integer = false;
    static constexpr int max_exponent = 0; // not a number that a library should take for its own
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static attest::tracked infinity() { return attest::tracked::declared(std::numeric_limits<attest::exact_number>::infinity()); }
    static attest::tracked quiet_NaN() { return attest::tracked::declared(std::numeric_limits<attest::exact_number>::quiet_NaN()); }
};
