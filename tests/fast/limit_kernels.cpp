// SPDX-License-Identifier: BSL-1.0
// The kernels of the limits give the same bits on all targets that this processor has.
#include "attest/elementary/exp.hpp"
#include "attest/fast/compiled_limits.hpp"
#include "catch.hpp"
#include "targets.hpp"

#include <algorithm>
#include <bit>

namespace {

using namespace attest;
using fast::limit_kernels;

std::vector<double> draw(std::mt19937_64& r, std::size_t n, double least, double most) {
    std::uniform_real_distribution<double> d(least, most);
    std::vector<double> x(n);
    for (double& one : x) one = r() % 9 == 0 ? 0.0 : d(r);
    return x;
}
// Numbers of 16 bits: products of three are exact.
std::vector<double> draw_brief(std::mt19937_64& r, std::size_t n) {
    std::vector<double> x(n);
    for (double& one : x) one = static_cast<double>(static_cast<int>(r() % 65535) - 32767) * 0x1p-12;
    return x;
}
std::vector<const double*> rows_of(const std::vector<double>& x, std::size_t n, std::size_t stride) {
    std::vector<const double*> rows(n);
    for (std::size_t j = 0; j < n; ++j) rows[j] = x.data() + j * stride;
    return rows;
}

// All that the kernels give for one draw, as bits.
std::vector<std::uint64_t> all_of(const limit_kernels& k, std::uint64_t seed) {
    std::mt19937_64 r(seed);
    const std::size_t n = 1 + r() % 70, d = 1 + r() % 70, stride = fast::padded_to_lanes(d);
    std::vector<std::uint64_t> bits;
    const auto put = [&](const std::vector<double>& x, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) bits.push_back(std::bit_cast<std::uint64_t>(x[i]));
    };
    const auto components = [&](const std::vector<double>& sums, std::size_t terms) {
        for (std::size_t t = 0; t < terms; ++t)
            for (std::size_t e = 0; e < d; ++e) bits.push_back(std::bit_cast<std::uint64_t>(sums[t * stride + e]));
    };
    const std::vector<double> v = draw(r, n * stride, -3, 3), o = draw(r, stride, -1, 1), factor = draw(r, n, 0, 2);
    const std::vector<const double*> rows = rows_of(v, n, stride);
    std::vector<std::vector<double>> c;
    for (int i = 0; i < 6; ++i) c.push_back(draw(r, n, 0, 1));
    for (const bool factors : {false, true}) {
        const fast::limit_values values{rows.data(), factors ? factor.data() : nullptr, n, d, o.data()};
        std::vector<double> sums(fast::main_sums_call::terms * stride);
        for (const bool careful : {false, true}) {
            for (const bool all : {false, true}) {
                k.main_sums({values, c[0].data(), c[1].data(), c[2].data(), all ? c[3].data() : nullptr, careful, sums.data(), stride});
                components(sums, fast::main_sums_call::terms);
            }
            k.partial_sums({values, c[0].data(), sums.data(), sums.data() + stride});
            components(sums, 2);
            k.pair_sums({values, c[0].data(), factors ? c[1].data() : nullptr, careful, sums.data(), stride});
            components(sums, fast::pair_sums_call::terms);
        }
        k.size_sums({values, 0x1p-100, 0x1p-20, 0x1p-30, c[0].data(), factors ? c[1].data() : nullptr, 0x1p-40, sums.data(), stride});
        components(sums, fast::size_sums_call::terms);
        k.score_sums({values, c[0].data(), c[1].data(), c[2].data(), c[3].data(), sums.data(), stride});
        components(sums, fast::score_sums_call::terms);
        std::vector<std::uint32_t> order(n);
        for (std::size_t j = 0; j < n; ++j) order[j] = static_cast<std::uint32_t>((j * 37 + 5) % n); // some twice, where n is a multiple of 37
        std::vector<fast::alike_run> runs;
        for (std::size_t end = 0; end < n;) {
            end = std::min<std::size_t>(n, end + 1 + r() % 4);
            runs.push_back({static_cast<std::uint32_t>(end), r() % 2 == 0 ? 0 : 0.1});
        }
        for (const bool from_exact : {false, true}) {
            k.alike({values, order.data(), runs.data(), runs.size(), c[0].data(), from_exact, sums.data()});
            components(sums, 1);
        }
    }

    const std::size_t d_k = 1 + r() % 20;
    const std::vector<double> keys = draw_brief(r, n * d_k), brief = draw_brief(r, n * stride), weight = draw_brief(r, n);
    std::vector<double> sum(d_k * stride), mean(d_k);
    k.moves({n, d_k, d, weight.data(), rows_of(keys, n, d_k).data(), rows_of(brief, n, stride).data(), sum.data(), mean.data()});
    put(mean, d_k);
    for (std::size_t a = 0; a < d_k; ++a)
        for (std::size_t e = 0; e < d; ++e) bits.push_back(std::bit_cast<std::uint64_t>(sum[a * stride + e]));
    for (std::size_t sets = 1; sets <= 3; ++sets) {
        std::vector<double> s[3] = {std::vector<double>(d), std::vector<double>(d), std::vector<double>(d)};
        k.row_sums({n, d, rows_of(brief, n, stride).data(), sets, {weight.data(), weight.data(), weight.data()}, sets == 1 ? c[1].data() : nullptr,
                    {s[0].data(), s[1].data(), s[2].data()}});
        for (const std::vector<double>& one : s) put(one, d);
    }
    std::vector<double> to = draw(r, n * d, -1, 1);
    const std::vector<double> x = draw_brief(r, 3 * d), of_key = draw_brief(r, 3 * n), more = draw(r, 3 * n, 0, 1);
    for (const bool with_more : {false, true}) {
        k.add_products({3, n, d, to.data(), x.data(), of_key.data(), with_more ? more.data() : nullptr});
        put(to, n * d);
    }

    const std::size_t padded = (n + fast::key_block - 1) / fast::key_block * fast::key_block;
    const std::vector<double> blocks = draw(r, padded * d, -2, 2), q = draw(r, d, -1, 1), half = draw(r, d, 0.5, 1);
    std::vector<double> raw(padded), sizes(padded);
    k.dot_sizes({q.data(), blocks.data(), d, 0, n, raw.data(), sizes.data()});
    put(raw, n);
    put(sizes, n);
    for (std::size_t queries = 1; queries <= fast::product_sizes_call::most_queries; ++queries) {
        std::vector<std::vector<double>> of(queries, std::vector<double>(padded));
        std::vector<const double*> query(queries, q.data());
        query.back() = half.data();
        std::vector<double*> sums_of;
        for (std::vector<double>& sizes_of_query : of) sums_of.push_back(sizes_of_query.data());
        k.product_sizes({query.data(), queries, blocks.data(), d, 0, n, sums_of.data()});
        for (const std::vector<double>& sizes_of_query : of) put(sizes_of_query, n);
        if (queries > 1 && of[0] != sizes) bits.clear(); // no target is right
    }
    std::vector<std::uint32_t> order(d);
    std::vector<unsigned char> ends(d);
    for (std::size_t e = 0; e < d; ++e) {
        order[e] = static_cast<std::uint32_t>(d - 1 - e);
        ends[e] = e + 1 == d || r() % 2 == 0 ? 1 : 0;
    }
    k.alike_squares({blocks.data(), fast::key_block, fast::key_block, d, q.data(), half.data(), order.data(), ends.data(), raw.data()});
    put(raw, fast::key_block);
    for (const bool stored : {false, true}) {
        std::vector<double> error(n);
        k.score_errors({n, c[0].data(), c[1].data(), c[2].data(), c[3].data(), 0x1p-20, 0x1p-140, 0x1p-150, 0x1p-150, 0.3, 0.5, 1.5, 1e38, 1e38, 1.4427, stored, false, 0x1p-8,
                        0x1p-133, 1e38, error.data()});
        put(error, n);
    }
    std::vector<double> log_weight(n), up(n), raised(n);
    k.log_weights({n, c[3].data(), c[1].data(), 2.0, 1e308, 0x1p-20, 0x1p-18, 0x1p-17, 0x1p-23, 7.9, 0x1p-20, log_weight.data()});
    put(log_weight, n);
    for (const double most : {1.0, 0x1p-7}) { // by exp, and by its series
        for (double& one : log_weight) one = std::min(one, most);
        const fast::grown_weights_sums g = k.grown_weights({n, c[0].data(), log_weight.data(), 1 + 0x1p-30, up.data(), raised.data()});
        put(up, n);
        put(raised, n);
        put({g.least_weight, g.greatest_log_weight, g.raised, g.shrunk, g.more}, 5);
    }
    put({k.greatest_sum(c[0].data(), c[1].data(), n)}, 1);
    k.divide(c[0].data(), n, 3.7, up.data());
    put(up, n);
    const std::vector<double> far = draw(r, n, seed % 2 == 0 ? -0.3 : -800, seed % 2 == 0 ? 0.3 : 750);
    k.exponentials(far.data(), n, up.data());
    put(up, n);
    for (std::size_t j = 0; j < n; ++j)
        if (up[j] != attest::exp(far[j])) bits.clear(); // no target is right
    return bits;
}

} // namespace

TEST_CASE("the limits' kernels give the same bits on all targets", "[fast]") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const std::vector<std::uint64_t> wanted = all_of(fast::compiled_limit_kernels(), seed);
        REQUIRE(!wanted.empty());
        for (const fast::kernels* k : fast_tests::all_kernels()) {
            INFO(k->name);
            CHECK(all_of(*k->limits, seed) == wanted);
        }
    }
}
