// SPDX-License-Identifier: BSL-1.0
// The numbers of the docs' pictures: one function for each picture, one file for each theme; data.cpp prints them all.
#pragma once

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace attest::pictures {

using json = nlohmann::ordered_json;

// data_attention.cpp
json attention_heat_maps();
json output_geometry();
json saturation();
json sensitivity();
json gradient_flow();
json causal_alignment();
// data_variance.cpp
json score_distribution();
json variance_growth();
// data_layers.cpp
json sinusoidal_positions();
json rope_rotation();
json relu_gelu();
json layer_norm_epsilon();
json residual_slope();
json block_shapes();
// data_checks.cpp
json ulp_errors(const std::filesystem::path& dumps);
json ladder(const std::filesystem::path& dumps);

// n points from a to b, both included; each by itself, so that they are the same everywhere.
inline std::vector<double> points(double a, double b, std::size_t n) {
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = a + (b - a) * static_cast<double>(i) / static_cast<double>(n - 1);
    return x;
}

template <class M> json rows_of(const M& matrix) {
    json rows = json::array();
    for (std::size_t i = 0; i < matrix.length(0); ++i) {
        json row = json::array();
        for (std::size_t j = 0; j < matrix.length(1); ++j) row.push_back(matrix(i, j));
        rows.push_back(row);
    }
    return rows;
}

// What a picture's numbers must fulfil. A picture whose numbers do not is not drawn.
inline void demand(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error("pictures: " + what);
}
inline void demand_near(double x, double expected, double within, const std::string& what) {
    demand(std::fabs(x - expected) <= within, what + " is " + json(x).dump() + ", not " + json(expected).dump());
}

} // namespace attest::pictures
