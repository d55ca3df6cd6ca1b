// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/row_sample.hpp"
#include "catch.hpp"

#include <algorithm>

using attest::parse_rows;
using attest::row_sample;
using attest::sampled_rows;
using rows = std::vector<std::size_t>;

TEST_CASE("a sample is as many distinct rows as asked, ascending, and all rows if there are no more", "[oracle]") {
    for (const std::size_t total : {0U, 1U, 2U, 10U, 1000U})
        for (const std::size_t count : {1U, 2U, 9U, 10U, 999U, 5000U})
            for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX}) {
                const rows sample = sampled_rows(total, {count, seed});
                CAPTURE(total, count, seed);
                CHECK(sample.size() == std::min(total, count));
                CHECK(std::is_sorted(sample.begin(), sample.end()));
                CHECK(std::adjacent_find(sample.begin(), sample.end()) == sample.end());
                CHECK((sample.empty() || sample.back() < total));
            }
    const std::size_t huge = SIZE_MAX - 1; // nothing is as long as the rows are many
    CHECK(sampled_rows(huge, {3, 0}).size() == 3);
}

TEST_CASE("the same rows everywhere, others for another seed", "[oracle]") {
    CHECK(sampled_rows(1000, {4, 0}) == rows{190, 444, 820, 821});
    CHECK(sampled_rows(1000, {4, 0}) != sampled_rows(1000, {4, 1}));
}

TEST_CASE("every row is as likely as any other, and every pair", "[oracle]") {
    std::vector<int> single(8), pair(64);
    const int draws = 56000;
    for (int seed = 0; seed < draws; ++seed) {
        const rows sample = sampled_rows(8, {2, static_cast<std::uint64_t>(seed)});
        for (const std::size_t row : sample) ++single[row];
        ++pair[8 * sample[0] + sample[1]];
    }
    for (const int count : single) CHECK(std::abs(count - draws / 4) < 600);  // 6 standard deviations
    for (std::size_t a = 0; a < 8; ++a)
        for (std::size_t b = a + 1; b < 8; ++b) CHECK(std::abs(pair[8 * a + b] - draws / 28) < 270);
}

TEST_CASE("how a sample is asked for", "[oracle]") {
    CHECK(parse_rows("all") == std::nullopt);
    CHECK(parse_rows("sample:64") == row_sample{64, 0});
    CHECK(parse_rows("sample:1,seed=7") == row_sample{1, 7});
    CHECK(parse_rows("sample:5000000000,seed=18446744073709551615") == row_sample{5000000000, UINT64_MAX});
    for (const char* const nonsense : {"", "none", "ALL", "sample", "sample:", "sample:0", "sample:0,seed=1", "sample:-1", "sample:+1", "sample: 1", "sample:1.5", "sample:1e3", "sample:64,", "sample:64,seed",
                                       "sample:64,seed=", "sample:64,seed=-1", "sample:64,seed=18446744073709551616", "sample:18446744073709551616", "sample:64,seed=1,seed=2", "sample:64 seed=1",
                                       "seed=1,sample:64", "sample=64", "64", "all,seed=1"}) {
        CAPTURE(nonsense);
        CHECK_THROWS_AS(parse_rows(nonsense), attest::usage_error);
    }
    try {
        (void)parse_rows("sample:0");
    } catch (const attest::usage_error& error) {
        CHECK(std::string(error.what()).find("--rows sample:0: expected all, sample:N or sample:N,seed=S") == 0);
    }
}
