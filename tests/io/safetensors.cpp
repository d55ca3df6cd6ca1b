// SPDX-License-Identifier: BSL-1.0
#include "attest/io/safetensors.hpp"
#include "catch.hpp"
#include "io/crafted.hpp"

#include <clocale>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>

using namespace crafted;
using attest::dtype;
using texts = std::vector<std::pair<std::string, std::string>>;

namespace {

/// A file: the length that the header really has, unless another is given; the header; data.
std::string image(const std::string& header, const std::string& data = {}, std::optional<std::uint64_t> length = {}) {
    return little(length.value_or(header.size()), 8) + header + data;
}

attest::archive parse(const std::string& file) { return attest::parse_safetensors(bytes(file), "a.safetensors"); }

std::string refused(const std::string& file) {
    return refusal([&file] { return parse(file); });
}
/// The refusal of a file with this header, behind its name.
std::string refused(const std::string& header, const std::string& data) {
    const std::string line = refused(image(header, data)), begin = "a.safetensors: ";
    return line.starts_with(begin) ? line.substr(begin.size()) : "(no refusal) " + line;
}

/// One tensor's object.
std::string object(const std::string& type, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}
/// A header of tensor q alone, and of two tensors a and b of bytes.
std::string one(const std::string& type, const std::string& shape, const std::string& offsets) {
    return R"({"q":)" + object(type, shape, offsets) + "}";
}
std::string two(std::size_t begin_a, std::size_t end_a, std::size_t begin_b, std::size_t end_b) {
    const auto bytes_at = [](std::size_t begin, std::size_t end) {
        return object("U8", "[" + std::to_string(end - begin) + "]",
                      "[" + std::to_string(begin) + "," + std::to_string(end) + "]");
    };
    return R"({"a":)" + bytes_at(begin_a, end_a) + R"(,"b":)" + bytes_at(begin_b, end_b) + "}";
}
const std::string eight(8, 'x');

std::string names(const attest::archive& content) {
    std::string text;
    for (const attest::named_array& item : content.arrays) text += item.name + " ";
    return text;
}

const attest::array& tensor(const attest::archive& content, const std::string& name) {
    for (const attest::named_array& item : content.arrays)
        if (item.name == name) return item.value;
    throw std::out_of_range("no tensor " + name);
}

/// The elements of an array of T.
template <class T>
std::vector<T> values(const attest::array& a) {
    std::vector<T> result(a.elements());
    REQUIRE(a.data.size() == result.size() * sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), a.data.data(), a.data.size());
    return result;
}

attest::array counting(dtype type, std::vector<std::size_t> shape) {
    attest::array result{type, std::move(shape), {}};
    result.data.resize(result.view().bytes());
    for (std::size_t i = 0; i < result.data.size(); ++i)
        result.data[i] = static_cast<std::byte>(type == dtype::boolean ? i % 2 : i % 251);
    return result;
}

bool same(const attest::array& a, const attest::array& b) {
    return a.type == b.type && a.shape == b.shape && a.data == b.data;
}

std::string file_bytes(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string image_of(const attest::archive& content) {
    const std::vector<std::byte> data = attest::to_safetensors(content);
    std::string text(data.size(), '\0');
    if (!data.empty()) std::memcpy(text.data(), data.data(), data.size());
    return text;
}

constexpr dtype every_type[] = {dtype::bf16, dtype::f16, dtype::f32, dtype::f64, dtype::boolean, dtype::i8, dtype::i16,
                                dtype::i32,  dtype::i64, dtype::u8,  dtype::u16, dtype::u32,     dtype::u64};

} // namespace

TEST_CASE("a file of one tensor is read", "[io]") {
    const attest::archive content = parse(image(one("F32", "[2]", "[0,8]"), "\0\0\x80\x3f\0\0\0\x40"s));
    REQUIRE(names(content) == "q ");
    CHECK(content.arrays[0].value.type == dtype::f32);
    CHECK(content.arrays[0].value.shape == std::vector<std::size_t>{2});
    CHECK(values<float>(content.arrays[0].value) == std::vector<float>{1, 2});
    CHECK(content.texts.empty());
    CHECK(content.warnings.empty());
}

TEST_CASE("every dtype that an array has is read by its name", "[io]") {
    for (const dtype type : every_type) {
        std::string name{attest::name_of(type)};
        for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        const std::size_t size = attest::size_of(type);
        const std::string data(3 * size, '\1');
        CAPTURE(name);
        const attest::archive content = parse(image(one(name, "[3,1]", "[0," + std::to_string(3 * size) + "]"), data));
        CHECK(content.arrays.at(0).value.type == type);
        CHECK(content.arrays[0].value.data == std::vector<std::byte>(3 * size, std::byte{1}));
    }
}

TEST_CASE("what may be odd and is right is read", "[io]") {
    SECTION("rank 0") {
        const attest::archive content = parse(image(one("F64", "[]", "[0,8]"), "\0\0\0\0\0\0\xf8\x7f"s)); // NaN
        CHECK(content.arrays.at(0).value.shape.empty());
        CHECK(std::isnan(values<double>(content.arrays[0].value).at(0)));
    }
    SECTION("zero lengths, several empty tensors at one place, before and behind one with data") {
        const std::string header = R"({"z":)" + object("F32", "[0]", "[4,4]") + R"(,"e":)" +
                                   object("F64", "[2,0]", "[0,0]") + R"(,"q":)" + object("F32", "[1]", "[0,4]") +
                                   R"(,"f":)" + object("U8", "[0,7]", "[4,4]") + R"(,"d":)" +
                                   object("BF16", "[0]", "[0,0]") + "}";
        const attest::archive content = parse(image(header, "abcd"));
        CHECK(names(content) == "e d q z f ");
        CHECK(tensor(content, "e").shape == std::vector<std::size_t>{2, 0});
        CHECK(tensor(content, "q").data.size() == 4);
    }
    SECTION("keys in any order: of tensors, and in a tensor") {
        const std::string header =
            R"({"b":{"data_offsets":[4,8],"shape":[4],"dtype":"U8"},"a":)" + object("I8", "[4]", "[0,4]") + "}";
        const attest::archive content = parse(image(header, "abcdefgh"));
        CHECK(names(content) == "a b ");
        CHECK(values<char>(tensor(content, "b")) == std::vector<char>{'e', 'f', 'g', 'h'});
    }
    SECTION("a header padded with spaces, or with the spaces of JSON") {
        for (const std::string& padding : {" "s, std::string(1000, ' '), "\n"s, "\t\r\n "s})
            CHECK(names(parse(image(one("U8", "[1]", "[0,1]") + padding, "x"))) == "q ");
        CHECK(names(parse(
                  image(R"({ "q" : { "dtype" : "U8", "shape" : [ 1 ], "data_offsets" : [ 0 , 1 ] } })", "x"))) == "q ");
    }
    SECTION("nothing") {
        CHECK(parse(image("{}")).arrays.empty());
        CHECK(parse(image("{}      ")).arrays.empty());
        CHECK(parse(image(R"({"__metadata__":{}})")).texts.empty());
    }
    SECTION("names that are no paths, and one that is empty") {
        const std::string header = R"({"../a/":)" + object("U8", "[0]", "[0,0]") + R"(,"":)" +
                                   object("U8", "[0]", "[0,0]") + R"(,"\u00e9\\":)" + object("U8", "[0]", "[0,0]") +
                                   "}";
        CHECK(names(parse(image(header))) == "../a/  é\\ ");
    }
    SECTION("data that are not aligned") {
        const std::string header =
            R"({"a":)" + object("U8", "[1]", "[0,1]") + R"(,"q":)" + object("F64", "[1]", "[1,9]") + "}";
        CHECK(values<double>(tensor(parse(image(header, "x\0\0\0\0\0\0\xf0\x3f"s)), "q")) == std::vector<double>{1});
    }
}

// Row 21.
TEST_CASE("a length that is no length is refused", "[io]") {
    CHECK(refused("") ==
          "a.safetensors: not a safetensors file, 0 bytes; expected 8 bytes of header length, a header, data");
    CHECK(says(refused("1234567"), {"not a safetensors file, 7 bytes"}));
    CHECK(refused(image("{}", "", std::uint64_t{1} << 63U)) ==
          "a.safetensors: header length 9223372036854775808 exceeds the file: 2 bytes follow; expected a safetensors "
          "file");
    CHECK(says(refused(image("{}", "", std::numeric_limits<std::uint64_t>::max())),
               {"header length 18446744073709551615 exceeds", "2 bytes follow"}));
    CHECK(says(refused(image("{}", "", std::numeric_limits<std::uint64_t>::max() - 7)),
               {"header length 18446744073709551608 exceeds"})); // + 8 is 0
    CHECK(says(refused(image("{}", "", 3)), {"header length 3 exceeds the file: 2 bytes follow"}));
    CHECK(refused(image("")) == "a.safetensors: the header is empty; expected {…}");
    CHECK(says(refused("PK\x03\x04" + std::string(40, 'x')), {"begins like a zip"}));
    CHECK(says(refused("\x93NUMPY\x01"s + '\0' + std::string(40, 'x')), {"begins like a npy"}));
}

TEST_CASE("a header of more than 100 MB is refused before it is read", "[io]") {
    const std::filesystem::path path = scratch("large.safetensors");
    { std::ofstream(path, std::ios::binary) << image("{", "", 100'000'001); }
    std::filesystem::resize_file(path, 100'000'100); // a hole
    CHECK(refusal([&path] { return attest::read_safetensors(path); }) ==
          path.string() + ": header too large: 100000001 bytes; expected at most 100000000");
    std::filesystem::remove(path);
}

// Row 22.
TEST_CASE("a header that is not a JSON object in UTF-8 is refused", "[io]") {
    CHECK(refused("{\"\xff\":1}", "") == "the header has no UTF-8 at its byte 2; expected JSON in UTF-8");
    CHECK(says(refused("{\"\xed\xa0\x80\":1}", ""), {"no UTF-8 at its byte 2"})); // a surrogate
    CHECK(refused("{}\0"s, "") == "the header has a NUL byte at its byte 2; expected JSON in UTF-8");
    CHECK(says(refused("{\0}"s, ""), {"NUL byte at its byte 1"}));
    CHECK(refused("[]", "") == "the header begins with '[]'; expected '{'");
    CHECK(says(refused("12", ""), {"begins with '12'"}));
    CHECK(says(refused("\xef\xbb\xbf{}", ""), {"the header begins with", "expected '{'"}));
    CHECK(says(refused(" {}", ""), {"the header begins with ' {}'"}));
    CHECK(says(refused("{", ""), {"the header is not JSON at its byte 2", "unexpected end of input"}));
    CHECK(says(refused("{} x", ""), {"the header is not JSON at its byte 4", "'{} x'"}));
    CHECK(says(refused("{}{}", ""), {"the header is not JSON at its byte 3"}));
    CHECK(says(refused("{} // no", ""), {"the header is not JSON"}));
    CHECK(says(refused(R"({"q":)" + object("U8", "[1,]", "[0,1]") + "}", "x"),
               {"tensor q: the header is not JSON at its byte "}));
    CHECK(says(refused(R"({"q":NaN})", ""), {"not JSON"}));
    CHECK(says(refused(R"({"\ud800":1})", ""), {"not JSON", "surrogate"}));
    CHECK(says(refused("{\"a\nb\":1}", ""), {"not JSON", "control character"}));
}

TEST_CASE("deep nesting is refused where it begins", "[io]") {
    const std::string deep(1'000'000, '['), objects = [] {
        std::string text;
        for (int i = 0; i < 100'000; ++i) text += R"({"a":)";
        return text;
    }();
    CHECK(refused(R"({"q":)" + deep, "") ==
          "tensor q: is an array; expected an object of dtype, shape and data_offsets");
    CHECK(refused(R"({"q":{"shape":[)" + deep, "") ==
          "tensor q: shape[0] is an array; expected an integer from 0 to 1152921504606846975");
    CHECK(says(refused(objects, ""), {"tensor a: has the extra key 'a'"}));
    CHECK(refused(R"({"q":{"shape":)" + objects, "") ==
          "tensor q: shape is an object; expected an array such as [2, 3]");
    CHECK(refused(R"({"__metadata__":{"k":)" + deep, "") == "__metadata__ 'k' is an array; expected a text");
}

TEST_CASE("a key that is there twice is refused, whatever it is written with", "[io]") {
    const std::string empty = object("U8", "[0]", "[0,0]");
    CHECK(refused(R"({"q":)" + empty + R"(,"q":)" + empty + "}", "") ==
          "tensor q: is there twice; expected each name once");
    CHECK(says(refused(R"({"q":)" + empty + R"(,"\u0071":)" + empty + "}", ""), {"tensor q: is there twice"}));
    CHECK(refused(R"({"__metadata__":{},"__metadata__":{}})", "") ==
          "__metadata__ is there twice; expected once at most");
    CHECK(refused(R"({"__metadata__":{"k":"1","k":"2"}})", "") ==
          "__metadata__ has the key 'k' twice; expected each key once");
    CHECK(refused(R"({"q":{"shape":[0],"dtype":"U8","shape":[1],"data_offsets":[0,0]}})", "") ==
          "tensor q: has the key 'shape' twice; expected each key once");
    CHECK(says(refused(R"({"q":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", ""),
               {"tensor q: has the key 'dtype' twice"}));
    // The same word is another key elsewhere.
    CHECK(names(parse(image(R"({"__metadata__":{"q":"1","dtype":"2"},"q":)" + empty + R"(,"dtype":)" + empty + "}"))) ==
          "q dtype ");
}

TEST_CASE("a tensor's object has its three keys and no other", "[io]") {
    CHECK(refused(R"({"q":{"shape":[0],"data_offsets":[0,0]}})", "") ==
          "tensor q: lacks the key 'dtype'; expected dtype, shape and data_offsets");
    CHECK(says(refused(R"({"q":{"dtype":"U8","data_offsets":[0,0]}})", ""), {"tensor q: lacks the key 'shape'"}));
    CHECK(says(refused(R"({"q":{"dtype":"U8","shape":[0]}})", ""), {"tensor q: lacks the key 'data_offsets'"}));
    CHECK(refused(R"({"q":{"dtype":"U8","strides":[1],"shape":[0],"data_offsets":[0,0]}})", "") ==
          "tensor q: has the extra key 'strides'; expected dtype, shape and data_offsets alone");
    CHECK(says(refused(R"({"q":null})", ""), {"tensor q: is null; expected an object"}));
    CHECK(says(refused(R"({"q":"U8"})", ""), {"tensor q: is the string 'U8'"}));
    CHECK(says(refused(one("U8", "[0]", "[]"), ""), {"tensor q: data_offsets has 0 numbers; expected [begin, end]"}));
    CHECK(says(refused(one("U8", "[0]", "[0]"), ""), {"tensor q: data_offsets has 1 numbers"}));
    CHECK(says(refused(one("U8", "[0]", "[0,0,0]"), ""), {"tensor q: data_offsets has more than two numbers"}));
    CHECK(says(refused(one("U8", "0", "[0,0]"), ""), {"tensor q: shape is the number 0; expected an array"}));
    CHECK(says(refused(one("U8", "null", "[0,0]"), ""), {"tensor q: shape is null"}));
    CHECK(says(refused(R"({"q":{"dtype":["U8"],"shape":[0],"data_offsets":[0,0]}})", ""),
               {"tensor q: dtype is an array; expected a text"}));
    CHECK(says(refused(R"({"q":{"dtype":8,"shape":[0],"data_offsets":[0,0]}})", ""),
               {"tensor q: dtype is the number 8"}));
    std::string many = "[1";
    for (int i = 0; i < 31; ++i) many += ",1";
    CHECK(parse(image(one("U8", many + "]", "[0,1]"), "x")).arrays.at(0).value.shape.size() == 32);
    CHECK(refused(one("U8", many + ",1]", "[0,1]"), "x") ==
          "tensor q: shape has more dimensions than 32; expected fewer");
}

// Row 23.
TEST_CASE("tensors that do not tile the data are refused", "[io]") {
    CHECK(names(parse(image(two(0, 4, 4, 8), eight))) == "a b ");
    CHECK(names(parse(image(two(4, 8, 0, 4), eight))) == "b a ");
    CHECK(refused(two(0, 5, 4, 8), eight) ==
          "tensors 'a' [0, 5] and 'b' [4, 8] overlap; expected each to begin where another ends");
    CHECK(says(refused(two(4, 8, 0, 5), eight), {"tensors 'b' [0, 5] and 'a' [4, 8] overlap"}));
    CHECK(says(refused(two(0, 8, 0, 8), eight), {"tensors 'a' [0, 8] and 'b' [0, 8] overlap"}));
    CHECK(says(refused(two(0, 8, 2, 4), eight), {"tensors 'a' [0, 8] and 'b' [2, 4] overlap"}));
    CHECK(says(refused(two(0, 8, 4, 4), eight),
               {"tensors 'a' [0, 8] and 'b' [4, 4] overlap"})); // an empty one inside another
    CHECK(refused(two(0, 3, 4, 8), eight) == "bytes 3 to 4 of the data are no tensor's, before tensor 'b' [4, 8], "
                                             "after 'a' [0, 3]; expected data_offsets from 3");
    CHECK(refused(two(1, 4, 4, 8), eight) ==
          "bytes 0 to 1 of the data are no tensor's, before tensor 'a' [1, 4]; expected data_offsets from 0");
    CHECK(refused(two(0, 4, 4, 7), eight) == "bytes 7 to 8 of the data are no tensor's, after tensor 'b' [4, 7]; "
                                             "expected the file to end with the last tensor");
    CHECK(refused("{}", eight) ==
          "bytes 0 to 8 of the data are no tensor's; expected the file to end with the last tensor");
    CHECK(refused(two(0, 4, 4, 9), eight) ==
          "tensor b: data_offsets [4, 9] exceed the data; expected at most 8, where the file ends");
    CHECK(refused(one("U8", "[4]", "[8,4]"), eight) ==
          "tensor q: data_offsets [8, 4] end before they begin; expected begin <= end");
    CHECK(says(refused(one("U8", "[0]", "[9,9]"), eight), {"tensor q: data_offsets [9, 9] exceed the data"}));
    CHECK(says(refused(one("U8", "[1]", "[18446744073709551615,18446744073709551615]"), eight),
               {"tensor q: data_offsets [18446744073709551615, ", "exceed"}));
    CHECK(says(refused(one("U8", "[1]", "[0,18446744073709551615]"), eight),
               {"tensor q: data_offsets [0, 18446744073709551615] exceed"}));
}

// Row 24.
TEST_CASE("a shape that does not fit its bytes is refused", "[io]") {
    CHECK(refused(one("F32", "[3]", "[0,8]"), eight) ==
          "tensor q: shape [3] of F32 needs 12 bytes, data_offsets [0, 8] hold 8; expected both the same");
    CHECK(says(refused(one("F32", "[1]", "[0,8]"), eight), {"shape [1] of F32 needs 4 bytes", "hold 8"}));
    CHECK(says(refused(one("F32", "[]", "[0,8]"), eight), {"shape [] of F32 needs 4 bytes", "hold 8"}));
    CHECK(says(refused(one("F32", "[0,2]", "[0,8]"), eight), {"shape [0, 2] of F32 needs 0 bytes", "hold 8"}));
    CHECK(says(refused(one("BF16", "[2,1]", "[0,8]"), eight), {"shape [2, 1] of BF16 needs 4 bytes", "hold 8"}));
    CHECK(refused(one("F32", "[4294967296,4294967296]", "[0,0]"), "") ==
          "tensor q: shape [4294967296, 4294967296] overflows: more elements than 1152921504606846975; expected fewer");
    CHECK(says(refused(one("U8", "[4294967296,4294967296,0]", "[0,0]"), ""), {"overflows"})); // a zero hides nothing
    CHECK(says(refused(one("U8", "[0,9223372036854775808]", "[0,0]"), ""),
               {"tensor q: shape[1] is the number 9223372036854775808; expected"}));
    CHECK(says(refused(one("F64", "[2305843009213693953]", "[0,8]"), eight),
               {"shape[0] is the number 2305843009213693953"})); // 2^61 + 1: times 8 it is 8
    CHECK(refused(one("F4", "[3]", "[0,2]"), "xx") ==
          "tensor q: shape [3] of F4 takes 12 bits; expected a multiple of 8");
    CHECK(says(refused(one("F6_E2M3", "[5]", "[0,4]"), "xxxx"), {"shape [5] of F6_E2M3 takes 30 bits"}));
    CHECK(says(refused(one("F6_E3M2", "[4]", "[0,4]"), "xxxx"), {"shape [4] of F6_E3M2 needs 3 bytes", "hold 4"}));
    CHECK(says(refused(one("F4", "[2,2]", "[0,4]"), "xxxx"), {"shape [2, 2] of F4 needs 2 bytes", "hold 4"}));
    CHECK(says(refused(one("F8_E4M3", "[2]", "[0,4]"), "xxxx"), {"shape [2] of F8_E4M3 needs 2 bytes", "hold 4"}));
    CHECK(says(refused(one("C64", "[2]", "[0,8]"), eight), {"shape [2] of C64 needs 16 bytes", "hold 8"}));
}

// Row 25.
TEST_CASE("dtypes that are not read are refused by name, after their places", "[io]") {
    const std::string known = "expected BF16 F16 F32 F64 BOOL I8 I16 I32 I64 U8 U16 U32 U64";
    CHECK(refused(one("F8_E4M3", "[8]", "[0,8]"), eight) == "tensor q: dtype 'F8_E4M3' is not read; " + known);
    for (const char* const type : {"F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
        CHECK(refused(one(type, "[8]", "[0,8]"), eight) == "tensor q: dtype '"s + type + "' is not read; " + known);
    CHECK(says(refused(one("F4", "[16]", "[0,8]"), eight), {"dtype 'F4' is not read"}));
    CHECK(says(refused(one("F6_E2M3", "[4]", "[0,3]"), "xxx"), {"dtype 'F6_E2M3' is not read"}));
    CHECK(says(refused(one("F6_E3M2", "[4]", "[0,3]"), "xxx"), {"dtype 'F6_E3M2' is not read"}));
    CHECK(says(refused(one("C64", "[1]", "[0,8]"), eight), {"dtype 'C64' is not read"}));
    CHECK(refused(one("f32", "[2]", "[0,8]"), eight) == "tensor q: dtype 'f32' is unknown; " + known);
    CHECK(says(refused(one("", "[2]", "[0,8]"), eight), {"tensor q: dtype '' is unknown"}));
    CHECK(says(refused(one("I4\\u0000", "[2]", "[0,8]"), eight), {"tensor q: dtype 'I4\\x00' is unknown"}));
    // Their places are looked at first, with those of the others.
    CHECK(says(refused(one("I4", "[2]", "[0,9]"), eight), {"tensor q: data_offsets [0, 9] exceed the data"}));
    CHECK(says(refused(one("I4", "[2]", "[8,0]"), eight), {"end before they begin"}));
    CHECK(says(refused(one("I4", "[2]", "[1,8]"), eight), {"bytes 0 to 1", "'q' [1, 8]"}));
    CHECK(says(refused(one("F8_E4M3", "[4]", "[0,4]"), eight), {"bytes 4 to 8", "'q' [0, 4]"}));
    CHECK(says(refused(one("I4", "[4294967296,4294967296]", "[0,8]"), eight), {"overflows"}));
    const std::string overlapping =
        R"({"a":)" + object("I4", "[9]", "[0,5]") + R"(,"b":)" + object("U8", "[4]", "[4,8]") + "}";
    CHECK(says(refused(overlapping, eight), {"tensors 'a' [0, 5] and 'b' [4, 8] overlap"}));
}

TEST_CASE("offsets and lengths are integers written as integers", "[io]") {
    const auto offset = [](const std::string& written) {
        return refused(one("U8", "[8]", "[" + written + ",8]"), eight);
    };
    CHECK(offset("-1") ==
          "tensor q: data_offsets[0] is the number -1; expected an integer from 0 to 18446744073709551615");
    CHECK(says(offset("-0"), {"data_offsets[0] is the number -0"}));
    CHECK(says(offset("0.0"), {"data_offsets[0] is the number 0.0"}));
    CHECK(says(offset("0e0"), {"data_offsets[0] is the number 0e0"}));
    CHECK(says(offset("1e400"), {"data_offsets[0] is the number 1e400; expected an integer"}));
    CHECK(says(offset("-1e400"), {"data_offsets[0] is the number -1e400"}));
    CHECK(says(offset("18446744073709551616"), {"data_offsets[0] is the number 18446744073709551616"}));
    CHECK(says(offset("-9223372036854775809"), {"data_offsets[0] is the number -9223372036854775809"}));
    CHECK(says(offset("1" + std::string(5000, '0')), {"data_offsets[0] is the number 1000", "…"}));
    CHECK(says(offset("\"0\""), {"data_offsets[0] is the string '0'"}));
    CHECK(says(offset("true"), {"data_offsets[0] is true"}));
    CHECK(says(offset("null"), {"data_offsets[0] is null"}));
    CHECK(says(offset("[0]"), {"data_offsets[0] is an array"}));
    CHECK(says(offset("{}"), {"data_offsets[0] is an object"}));
    CHECK(says(offset("00"), {"tensor q: the header is not JSON"}));
    CHECK(says(refused(one("U8", "[8]", "[0,8.0]"), eight), {"data_offsets[1] is the number 8.0"}));
    const auto length = [](const std::string& written) {
        return refused(one("U8", "[2," + written + "]", "[0,8]"), eight);
    };
    CHECK(length("-4") == "tensor q: shape[1] is the number -4; expected an integer from 0 to 1152921504606846975");
    CHECK(says(length("-0"), {"shape[1] is the number -0"}));
    CHECK(says(length("4.0"), {"shape[1] is the number 4.0"}));
    CHECK(says(length("1e400"), {"shape[1] is the number 1e400"}));
    CHECK(says(length("1152921504606846976"), {"shape[1] is the number 1152921504606846976"}));
    CHECK(says(length("true"), {"shape[1] is true"}));
    CHECK(says(length("\"4\""), {"shape[1] is the string '4'"}));
}

TEST_CASE("numbers are refused as they are written, whatever the locale", "[io]") {
    const std::string before = std::setlocale(LC_NUMERIC, nullptr);
    if (!std::setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        WARN("no German locale here; not tested");
        return;
    }
    const std::string line = refused(one("U8", "[8.5]", "[0,8]"), eight);
    std::setlocale(LC_NUMERIC, before.c_str());
    CHECK(says(line, {"shape[0] is the number 8.5; expected"}));
}

TEST_CASE("__metadata__ is text to text", "[io]") {
    const auto with = [](const std::string& value) { return R"({"__metadata__":)" + value + "}"; };
    CHECK(parse(image(with(R"({"format":"pt","attest":"{}","":"\n"})"))).texts ==
          texts{{"format", "pt"}, {"attest.json", "{}"}, {"", "\n"}});
    CHECK(refused(with(R"({"k":1})"), "") == "__metadata__ 'k' is the number 1; expected a text");
    CHECK(says(refused(with(R"({"k":1.5})"), ""), {"__metadata__ 'k' is the number 1.5"}));
    CHECK(says(refused(with(R"({"k":1e400})"), ""), {"__metadata__ 'k' is the number 1e400"}));
    CHECK(says(refused(with(R"({"k":null})"), ""), {"__metadata__ 'k' is null"}));
    CHECK(says(refused(with(R"({"k":true})"), ""), {"__metadata__ 'k' is true"}));
    CHECK(says(refused(with(R"({"k":{}})"), ""), {"__metadata__ 'k' is an object"}));
    CHECK(says(refused(with(R"({"attest":{"op":"attention"}})"), ""),
               {"__metadata__ 'attest' is an object; expected a text"}));
    CHECK(refused(with("null"), "") == "__metadata__ is null; expected an object of texts");
    CHECK(says(refused(with("[]"), ""), {"__metadata__ is an array"}));
    CHECK(says(refused(with("\"a\""), ""), {"__metadata__ is the string 'a'"}));
    CHECK(says(refused(with("-3"), ""), {"__metadata__ is the number -3"}));
    // A tensor of that name is no tensor.
    CHECK(says(refused(with(object("U8", "[0]", "[0,0]")), ""), {"__metadata__ 'shape' is an array"}));
}

TEST_CASE("settings under a name that is nearly right are not passed over", "[io]") {
    for (const char* const key : {"Attest", "ATTEST", "attest.json", "Attest.json"})
        CHECK(refused(R"({"__metadata__":{")"s + key + R"(":"{}"}})", "") ==
              "__metadata__ has the key '"s + key + "'; expected 'attest' for the settings");
    CHECK(parse(image(R"({"__metadata__":{"attestation":"a","test":"b","attest ":"c"}})")).texts.size() == 3);
}

TEST_CASE("big metadata are read; settings are small", "[io]") {
    const auto with = [](const std::string& key, std::size_t size) {
        return image(R"({"__metadata__":{")" + key + R"(":")" + std::string(size, 'x') + "\"}}");
    };
    CHECK(parse(with("thumbnail", 3'000'000)).texts.at(0).second.size() == 3'000'000);
    CHECK(parse(with("attest", 1024 * 1024)).texts.at(0).second.size() == 1024 * 1024);
    CHECK(refused(with("attest", 1024 * 1024 + 1)) ==
          "a.safetensors: __metadata__ 'attest' has 1048577 bytes; expected at most 1048576");
}

TEST_CASE("names cannot reach a terminal as commands", "[io]") {
    const std::string empty = object("U8", "[0]", "[0,0]");
    CHECK(refused(R"({"a\u001b[31m":)" + empty + "}", "") ==
          "tensor a\\x1b[31m: unsafe name: it has a control character; expected a plain name");
    CHECK(says(refused(R"({"a\u0000":)" + empty + "}", ""), {"tensor a\\x00: unsafe name"}));
    CHECK(says(refused(R"({"a\u009b1m":)" + empty + "}", ""), {"tensor a\\xc2\\x9b1m: unsafe name"}));
    CHECK(says(refused(R"({"a\nb":)" + empty + "}", ""), {"unsafe name"}));
    CHECK(says(refused(R"({"q":{"\u001b[31m":1}})", ""), {"extra key '\\x1b[31m'"}));
    CHECK(says(refused(R"({"__metadata__":{"\u001b[31m":1}})", ""), {"__metadata__ '\\x1b[31m' is the number 1"}));
    CHECK(says(refused(R"({")" + std::string(10'000, 'n') + R"(":1})", ""), {"n…: is the number 1"}));
}

TEST_CASE("a bool of a safetensors file is 0 or 1", "[io]") {
    CHECK(parse(image(one("BOOL", "[2]", "[0,2]"), "\0\1"s)).arrays.at(0).value.type == dtype::boolean);
    CHECK(refused(one("BOOL", "[2,2]", "[0,4]"), "\0\1\2\1"s) ==
          "tensor q: bool element [1, 0] holds the byte 2; expected 0 or 1");
}

TEST_CASE("a file cut anywhere is refused", "[io]") {
    const std::string whole =
        image(R"({"__metadata__":{"attest":"{}"},"q":)" + object("F32", "[2]", "[0,8]") + "}", eight);
    CHECK_FALSE(parse(whole).arrays.empty());
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        CAPTURE(cut);
        CHECK(says(refused(whole.substr(0, cut)), {"a.safetensors: "}));
    }
    CHECK(says(refused(whole + "x"), {"bytes 8 to 9 of the data are no tensor's"}));
}

TEST_CASE("what is written is read, of every type and shape", "[io]") {
    attest::archive content;
    for (const dtype type : every_type) {
        const std::string name{attest::name_of(type)};
        content.arrays.push_back({name + " scalar", counting(type, {})});
        content.arrays.push_back({name + " 2 3 4", counting(type, {2, 3, 4})});
        content.arrays.push_back({name + " empty", counting(type, {5, 0})});
        content.arrays.push_back({name + " \"quoted\\\" é", counting(type, {3})});
    }
    content.arrays.push_back({"deep", counting(dtype::u8, std::vector<std::size_t>(32, 1))});
    content.texts = {
        {"attest.json", R"({"op": "attention"})"}, {"format", "pt"}, {"notes.json", "\"é\"\n\1"}, {"", ""}};
    const std::filesystem::path path = scratch("every.safetensors");
    attest::write_safetensors(path, content);
    const attest::archive back = attest::read_safetensors(path);
    CHECK(back.texts == content.texts);
    CHECK(back.warnings.empty());
    REQUIRE(back.arrays.size() == content.arrays.size());
    for (const attest::named_array& item : content.arrays) {
        CAPTURE(item.name);
        CHECK(same(tensor(back, item.name), item.value));
    }
    // Again: the same bytes, from the file's order and from the image in memory.
    CHECK(image_of(content) == file_bytes(path));
    CHECK(image_of(back) == file_bytes(path));
    CHECK_FALSE(std::filesystem::exists(scratch("every.safetensors.part0")));
}

TEST_CASE("what is written is laid out as the format wants it", "[io]") {
    attest::archive content;
    content.arrays.push_back({"b", counting(dtype::boolean, {3})});
    content.arrays.push_back({"h", counting(dtype::bf16, {1, 3})});
    content.arrays.push_back({"s", counting(dtype::f32, {})});
    content.arrays.push_back({"d", counting(dtype::f64, {1})});
    content.arrays.push_back({"c", counting(dtype::f64, {0})});
    const std::string file = image_of(content);
    const std::string header =
        R"({"d":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"c":{"dtype":"F64","shape":[0],"data_offsets":[8,8]},)"
        R"("s":{"dtype":"F32","shape":[],"data_offsets":[8,12]},"h":{"dtype":"BF16","shape":[1,3],"data_offsets":[12,18]},)"
        R"("b":{"dtype":"BOOL","shape":[3],"data_offsets":[18,21]}})";
    const std::size_t padded = (header.size() + 7) / 8 * 8;
    CHECK(file.substr(0, 8) == little(padded, 8));
    CHECK(file.substr(8, padded) == header + std::string(padded - header.size(), ' '));
    CHECK(file.size() == 8 + padded + 21);
    CHECK(names(parse(file)) == "d c s h b ");

    CHECK(image_of({}) == little(8, 8) + "{}      ");
    content.arrays.clear();
    content.texts = {{"format", "pt"}, {"attest.json", "{}"}};
    CHECK(image_of(content).substr(8) == R"({"__metadata__":{"format":"pt","attest":"{}"}} )" + std::string(1, ' '));
}

TEST_CASE("what cannot be written is refused, and nothing is left behind", "[io]") {
    const std::filesystem::path path = scratch("refused.safetensors");
    std::filesystem::remove(path);
    const auto refusing = [&path](const attest::archive& content) {
        const std::string line = refusal([&] {
            attest::write_safetensors(path, content);
            return 0;
        }),
                          begin = path.string() + ": ";
        CHECK_FALSE(std::filesystem::exists(path));
        return line.starts_with(begin) ? line.substr(begin.size()) : "(no refusal) " + line;
    };
    const attest::array some = counting(dtype::u8, {2});
    CHECK(refusing({.arrays = {{"q", some}, {"q", some}}}) == "tensor q: is there twice; expected each name once");
    CHECK(says(refusing({.arrays = {{"__metadata__", some}}}),
               {"tensor __metadata__: cannot be written: the format keeps this name"}));
    CHECK(says(refusing({.arrays = {{"\xff", some}}}), {"tensor \\xff: cannot be written: its name"}));
    CHECK(says(refusing({.arrays = {{"a\nb", some}}}),
               {"tensor a\\x0ab: cannot be written: its name has a control character"}));
    CHECK(refusing({.arrays = {{"q", counting(dtype::raw16, {2})}}}) ==
          "tensor q: cannot be written: two bytes of an unknown type; expected a type; is it bf16?");
    CHECK(refusing({.arrays = {{"q", {dtype::f32, {2}, std::vector<std::byte>(7)}}}}) ==
          "tensor q: cannot be written: shape [2] of f32 with 7 bytes; expected 8");
    CHECK(says(refusing({.arrays = {{"q", counting(dtype::u8, std::vector<std::size_t>(33, 1))}}}),
               {"tensor q: cannot be written: 33 dimensions; expected at most 32"}));
    CHECK(says(refusing({.texts = {{"a", "1"}, {"a", "2"}}}), {"text a: is there twice"}));
    CHECK(says(refusing({.texts = {{"a", "\xff"}}}), {"text a: cannot be written: it is not UTF-8"}));
    CHECK(says(refusing({.texts = {{"attest", "{}"}}}),
               {"text attest: cannot be written: it would be taken for the settings; expected attest.json"}));
}

TEST_CASE("a file is replaced when the new one is complete, and only then", "[io]") {
    const std::filesystem::path path = scratch("replaced.safetensors");
    attest::write_safetensors(path, {.arrays = {{"old", counting(dtype::u8, {2})}}});
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    CHECK_FALSE(refusal([&path] {
                    attest::write_safetensors(path, {.arrays = {{"", counting(dtype::raw16, {2})}}});
                    return 0;
                }).empty());
    CHECK(names(attest::read_safetensors(path)) == "old ");
    // What another process may have left there stays.
    const std::filesystem::path part = scratch("replaced.safetensors.part0");
    { std::ofstream(part) << "not mine"; }
    attest::write_safetensors(path, {.arrays = {{"new", counting(dtype::u8, {2})}}});
    CHECK(names(attest::read_safetensors(path)) == "new ");
    CHECK(file_bytes(part) == "not mine");
    CHECK(std::filesystem::status(path).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
    std::filesystem::remove(part);
}

TEST_CASE("a place that cannot be written is refused", "[io]") {
    const auto refusing = [](const std::filesystem::path& path) {
        return refusal([&path] {
            attest::write_safetensors(path, {});
            return 0;
        });
    };
    CHECK(refusing(scratch("no/such/a.safetensors")) ==
          scratch("no/such/a.safetensors").string() + ": cannot be written: No such file or directory");
    CHECK(says(refusing(scratch("")), {"cannot be written: is a directory"}));
    CHECK(refusing("/dev/null") == "/dev/null: cannot be written: is a pipe or a device");
    CHECK(says(refusing("/dev/null/a.safetensors"), {"/dev/null/a.safetensors: cannot be written: Not a directory"}));
    CHECK(says(refusing(scratch(std::string(300, 'a'))), {"cannot be written: File name too long"}));
    CHECK(says(refusal([] { return attest::read_safetensors(scratch("no/such/a.safetensors")); }), {"no such file"}));
    CHECK(says(refusal([] { return attest::read_safetensors(scratch("")); }), {"is a directory"}));
}

#ifdef ATTEST_SOURCE_DIR
TEST_CASE("files of Python's package are read", "[io]") {
    const std::filesystem::path folder = std::filesystem::path(ATTEST_SOURCE_DIR) / "tests/io/files";
    const attest::archive content = attest::read_safetensors(folder / "types.safetensors");
    CHECK(content.texts == texts{{"note", "a \"quoted\" word,\na new line, an é"}});
    REQUIRE(content.arrays.size() == 17);
    const auto check = [&content](const std::string& name, dtype type, auto one) {
        using T = decltype(one);
        CAPTURE(name);
        const attest::array& a = tensor(content, name);
        CHECK(a.type == type);
        CHECK(a.shape == std::vector<std::size_t>{2, 3});
        CHECK(values<T>(a) == std::vector<T>{1, 2, 3, 4, 5, 96});
    };
    check("f32", dtype::f32, float{});
    check("f64", dtype::f64, double{});
    check("i8", dtype::i8, std::int8_t{});
    check("i16", dtype::i16, std::int16_t{});
    check("i32", dtype::i32, std::int32_t{});
    check("i64", dtype::i64, std::int64_t{});
    check("u8", dtype::u8, std::uint8_t{});
    check("u16", dtype::u16, std::uint16_t{});
    check("u32", dtype::u32, std::uint32_t{});
    check("u64", dtype::u64, std::uint64_t{});
    CHECK(tensor(content, "bf16").type == dtype::bf16);
    CHECK(values<std::uint16_t>(tensor(content, "bf16")) ==
          std::vector<std::uint16_t>{0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x42c0});
    CHECK(tensor(content, "f16").type == dtype::f16);
    CHECK(values<std::uint16_t>(tensor(content, "f16")) ==
          std::vector<std::uint16_t>{0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x5600});
    CHECK(tensor(content, "bool").shape == std::vector<std::size_t>{2, 1, 2});
    CHECK(values<char>(tensor(content, "bool")) == std::vector<char>{1, 0, 0, 1});
    CHECK(tensor(content, "scalar").shape.empty());
    CHECK(values<float>(tensor(content, "scalar")) == std::vector<float>{-0.5F});
    CHECK(tensor(content, "empty").shape == std::vector<std::size_t>{0, 4});
    CHECK(tensor(content, "empty_too").shape == std::vector<std::size_t>{3, 0});
    CHECK(values<std::uint16_t>(tensor(content, "Größe")) == std::vector<std::uint16_t>{0x7f80, 0x7fc0, 0x8000});
    CHECK(image_of(content) == file_bytes(folder / "types.safetensors")); // and is written as that package writes it

    CHECK(attest::read_safetensors(folder / "attention.safetensors").texts ==
          texts{{"attest.json", R"({"op": "attention", "arithmetic": "bf16+f32"})"}});
    CHECK(says(refusal([&folder] { return attest::read_safetensors(folder / "float8.safetensors"); }),
               {"float8.safetensors: tensor q: dtype 'F8_E4M3' is not read"}));
}
#endif
