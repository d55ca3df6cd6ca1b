// SPDX-License-Identifier: BSL-1.0
// How Catch2 shows JSON in a failure: as JSON. Left to itself it takes a number for a range of itself, without end.
#pragma once

#include "catch.hpp"

#include <nlohmann/json.hpp>

template <> struct Catch::StringMaker<nlohmann::json> {
    static std::string convert(const nlohmann::json& value) { return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }
};
