// SPDX-License-Identifier: BSL-1.0
#include "attest/oracle/decode.hpp"
#include "catch.hpp"
#include "question/arrays.hpp"

#include <cmath>
#include <limits>

using namespace asked;
using attest::decode;
using attest::encode;

namespace {

template <class T> void integers_come_out(dtype type) {
    const std::vector<T> values = {std::numeric_limits<T>::min(), T(0), T(1), std::numeric_limits<T>::max()};
    const array a = of_bytes(type, {values.size()}, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        CAPTURE(attest::name_of(type), i);
        CHECK(decode(a, i) == static_cast<double>(values[i]));
    }
}

} // namespace

TEST_CASE("integers of every type come out exactly", "[oracle]") {
    integers_come_out<std::int8_t>(dtype::i8);
    integers_come_out<std::int16_t>(dtype::i16);
    integers_come_out<std::int32_t>(dtype::i32);
    integers_come_out<std::uint8_t>(dtype::u8);
    integers_come_out<std::uint16_t>(dtype::u16);
    integers_come_out<std::uint32_t>(dtype::u32);
    const array flags = booleans({3}, {0, 1, 0});
    CHECK(decode(flags, 0) == 0);
    CHECK(decode(flags, 1) == 1);
}

TEST_CASE("64-bit integers are taken up to 2^53, and refused beyond", "[oracle]") {
    constexpr std::int64_t two53 = std::int64_t{1} << 53;
    const array a = of_bytes<std::int64_t>(dtype::i64, {6}, {two53, -two53, two53 + 2, -two53 - 2, 0, std::numeric_limits<std::int64_t>::min()});
    CHECK(decode(a, 0) == 0x1p53);
    CHECK(decode(a, 1) == -0x1p53);
    CHECK(decode(a, 4) == 0);
    CHECK(says(refusal([&] { return decode(a, 2); }), {"9007199254740994", "2^53"}));
    CHECK(says(refusal([&] { return decode(a, 3); }), {"-9007199254740994"}));
    CHECK(says(refusal([&] { return decode(a, 5); }), {"-9223372036854775808"}));
    const array b = of_bytes<std::uint64_t>(dtype::u64, {2}, {std::uint64_t{1} << 53, std::numeric_limits<std::uint64_t>::max()});
    CHECK(decode(b, 0) == 0x1p53);
    CHECK(says(refusal([&] { return decode(b, 1); }), {"18446744073709551615"}));
}

TEST_CASE("floating-point numbers come out exactly, whatever their address", "[oracle]") {
    const array bf16 = of_bytes<std::uint16_t>(dtype::bf16, {4}, {0x3F80, 0xC049, 0x0001, 0x7F80});
    CHECK(decode(bf16, 0) == 1.0);
    CHECK(decode(bf16, 1) == -3.140625);
    CHECK(decode(bf16, 2) == 0x1p-133);
    CHECK(decode(bf16, 3) == std::numeric_limits<double>::infinity());
    const array f16 = of_bytes<std::uint16_t>(dtype::f16, {4}, {0x3C00, 0x0001, 0x7BFF, 0x7E00});
    CHECK(decode(f16, 0) == 1.0);
    CHECK(decode(f16, 1) == 0x1p-24);
    CHECK(decode(f16, 2) == 65504);
    CHECK(std::isnan(decode(f16, 3)));
    array odd = of_bytes<double>(dtype::f64, {1}, {0.1});
    odd.data.insert(odd.data.begin(), std::byte{0});
    CHECK(decode(attest::array_view{dtype::f64, {1}, odd.data.data() + 1}, 0) == 0.1);
}

TEST_CASE("encode stores what decode reads", "[oracle]") {
    for (const dtype type : {dtype::f64, dtype::f32, dtype::f16, dtype::bf16}) {
        array a = zeros(type, {2, 3});
        const double values[] = {0.5, -0.0, 1.0078125, 384, -0.0625, std::numeric_limits<double>::infinity()};
        for (std::size_t i = 0; i < 6; ++i) encode(a, i, values[i]);
        for (std::size_t i = 0; i < 6; ++i) {
            CAPTURE(attest::name_of(type), i);
            CHECK(decode(a, i) == values[i]);
            CHECK(std::signbit(decode(a, i)) == std::signbit(values[i]));
        }
    }
    array f16 = zeros(dtype::f16, {1});
    encode(f16, 0, 0.1);
    CHECK(decode(f16, 0) == attest::round_to(attest::formats::f16, 0.1));
}

TEST_CASE("types that are no floating-point numbers have no format, and cannot be stored into", "[oracle]") {
    for (const dtype type : {dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16, dtype::u32, dtype::u64, dtype::boolean, dtype::raw16}) {
        CAPTURE(attest::name_of(type));
        const std::string name(attest::name_of(type));
        CHECK(says(refusal([&] { return attest::format_of(type); }), {name}));
        CHECK(says(refusal([&] {
            array a = zeros(type, {1});
            encode(a, 0, 1.0);
            return 0;
        }), {name}));
        const bool may_be_bf16 = type == dtype::raw16 || type == dtype::u16 || type == dtype::i16;
        const std::string refused = refusal([&] {
            attest::require_float("q", zeros(type, {2, 3}));
            return 0;
        });
        CHECK(says(refused, {"q [2, 3] holds " + name, "expected floating-point numbers"}));
        CHECK((refused.find("--bf16 q") != std::string::npos) == may_be_bf16);
    }
    CHECK(attest::format_of(dtype::bf16) == attest::formats::bf16);
    CHECK(attest::format_of(dtype::f16) == attest::formats::f16);
    CHECK(attest::format_of(dtype::f32) == attest::formats::f32);
    CHECK(attest::format_of(dtype::f64) == attest::formats::f64);
    CHECK(says(refusal([] { return decode(zeros(dtype::raw16, {1}), 0); }), {"V2", "--bf16"}));
}
