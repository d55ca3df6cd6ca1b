// SPDX-License-Identifier: BSL-1.0
// Elements made by hand, put before the judge: at once, or rung by rung and in any order.
#pragma once

#include "attest/oracle/judge.hpp"
#include "kernels.hpp"

#include <sstream>
#include <string>

namespace elements {

using kernels::infinity;
inline constexpr double quiet = std::numeric_limits<double>::quiet_NaN();

struct element {
    attest::exact_number exact{0};
    double got = 0;
    std::vector<attest::element_limits> limits = {};
    double reach = infinity, hull_low = -infinity, hull_high = infinity;
    bool judged = true;
    std::optional<std::size_t> row = {};
};

/// A tensor of elements, and what a rung knows of each.
class candidate {
public:
    candidate(attest::dtype type, std::vector<element> all, std::vector<std::size_t> shape = {}) : all_{std::move(all)}, format_{attest::format_of(type)} {
        if (shape.empty()) shape = {1, all_.size()};
        stored_ = {type, std::move(shape), std::vector<std::byte>(all_.size() * attest::size_of(type))};
        for (std::size_t at = 0; at < all_.size(); ++at) attest::encode(stored_, at, all_[at].got);
    }
    [[nodiscard]] attest::output_judge judge(const std::vector<const attest::arithmetic*>& possible) const { return {"out", stored_, possible, attest::kept_in_output_format::by_none}; }
    /// The middle of the enclosure is `off` radii from the exact value.
    [[nodiscard]] attest::element_facts facts(std::size_t at, const attest::exact_number& radius, attest::rung from, bool last = false, double off = 0) const {
        const element& e = all_[at];
        const attest::exact_number middle = off == 0 || !e.exact.is_finite() ? e.exact : e.exact + radius * attest::exact_number(off);
        const bool known = radius.is_finite();
        return {.exact = middle, .radius = radius,
                .rounded_low = known ? attest::round_to(format_, middle - radius) : -infinity, .rounded_high = known ? attest::round_to(format_, middle + radius) : infinity,
                .from = from, .last = last, .limits = e.limits, .reach = e.reach, .hull_low = e.hull_low, .hull_high = e.hull_high, .judged = e.judged, .row = e.row};
    }

private:
    std::vector<element> all_;
    attest::format format_;
    attest::array stored_;
};

inline std::vector<const attest::arithmetic*> f32_and_tf32() { return {attest::find_arithmetic("f32"), attest::find_arithmetic("tf32")}; }

/// All elements, known exactly.
inline attest::output_judge judged(const std::vector<const attest::arithmetic*>& possible, attest::dtype type, const std::vector<element>& all, std::vector<std::size_t> shape = {}) {
    const candidate made(type, all, std::move(shape));
    attest::output_judge judge = made.judge(possible);
    for (std::size_t at = 0; at < all.size(); ++at)
        if (!judge.element(at, made.facts(at, attest::exact_number(0), attest::rung::decided))) throw std::logic_error("an element that is known exactly is in doubt");
    // The judge looks at the candidate's memory, but not after its last element.
    return judge;
}

/// All elements in a random order, those in doubt again in another; each rung knows them better, and none exactly.
inline attest::output_judge climbed(const std::vector<const attest::arithmetic*>& possible, attest::dtype type, const std::vector<element>& all, kernels::generator& r) {
    const candidate made(type, all);
    attest::output_judge judge = made.judge(possible);
    std::vector<std::size_t> open(all.size());
    for (std::size_t at = 0; at < open.size(); ++at) open[at] = at;
    for (const auto& [from, bits] : {std::pair{attest::rung::in_double, 45}, std::pair{attest::rung::in_double_double, 95}, std::pair{attest::rung::in_real, 185}}) {
        for (std::size_t at = open.size(); at > 1; --at) std::swap(open[at - 1], open[r.below(at)]);
        std::vector<std::size_t> still_open;
        for (const std::size_t at : open) {
            const attest::exact_number size = all[at].exact.is_finite() ? abs(all[at].exact) : attest::exact_number(0);
            const double off = static_cast<double>(r.below(2001)) / 1000.5 - 1;
            if (!judge.element(at, made.facts(at, ldexp(size, -bits), from, from == attest::rung::in_real, off))) still_open.push_back(at);
        }
        open = std::move(still_open);
    }
    if (!open.empty()) throw std::logic_error("the last rung left elements open");
    return judge;
}

/// Elements of f32: mostly near their limits, or near a tie, or near a power of two; few outside.
inline std::vector<element> drawn(kernels::generator& r, std::size_t count) {
    using attest::exact_number;
    std::vector<element> all;
    for (std::size_t at = 0; at < count; ++at) {
        const auto uniform = [&] { return static_cast<double>(r.below(1U << 30)) * 0x1p-30; };
        const double rounded = (r.below(5) == 0 ? 1.0 : static_cast<double>(static_cast<float>(1 + uniform()))) * (r.below(2) == 0 ? 1 : -0.125);
        const double ulp = attest::ulp(attest::formats::f32, rounded);
        // A few bits away from a number of the format, or from a tie: by 2^−30 to 2^−100 of a ULP.
        exact_number exact = exact_number(rounded) + exact_number(r.below(3) == 0 ? ulp / 2 : 0.0);
        exact = exact + ldexp(exact_number(ulp * (0.5 + uniform())), -static_cast<int>(30 + r.below(70)));
        const double off = static_cast<double>(r.below(8)) * (r.below(10) == 0 ? 100 : 1);
        element e{.exact = exact, .got = rounded + off * ulp};
        // Limits for which the distance is near the border as well, from time to time.
        const double border = r.below(6) == 0 ? off * ulp - ulp / 2 : 20 * ulp * uniform();
        e.limits = {{2 * ulp + border, border < 0 ? 0 : border}, {100 * ulp, 50 * ulp}};
        if (r.below(20) == 0) e = {.exact = exact_number(quiet), .got = r.below(4) == 0 ? 1 : quiet, .limits = {{0, 0}, {0, 0}}};
        all.push_back(e);
    }
    return all;
}

/// Everything that a report tells, but for rms and the shares of the rungs.
inline std::string told(const attest::output_result& r) {
    std::ostringstream text;
    text << std::hexfloat << attest::name_of(r.verdict) << " exact " << r.exact << ", outside " << r.outside_certain << " " << r.outside_expected << ", rows " << r.rows_outside << " "
         << r.rows_outside_expected << " " << r.rows << ", not finite " << r.not_finite << " " << r.not_finite_right << ", blind " << r.blind << " " << r.unjudged << ", unseparated "
         << r.unseparated << ", shares " << r.limit_share << " " << r.expected_share << ", greatest " << r.max_ulp;
    for (const auto& e : {r.worst, r.first_outside})
        if (e) text << "; " << attest::shape_text(e->index) << " " << e->got << " " << e->correctly_rounded << " " << e->ulp << " " << e->limit_ulp << " " << e->expected_limit_ulp;
    return text.str();
}

} // namespace elements
