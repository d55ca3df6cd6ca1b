// SPDX-License-Identifier: BSL-1.0
#include "attest/io/npy.hpp"
#include "catch.hpp"
#include "io/crafted.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>

using namespace crafted;
using attest::dtype;

namespace {

attest::array parse(const std::string& image, std::vector<std::string>* warnings = nullptr) {
    return attest::parse_npy(bytes(image), "a.npy", warnings);
}

std::string refused(const std::string& image) {
    return refusal([&image] { return parse(image); });
}

std::string refused_header(const std::string& header) { return refused(npy(header, "")); }

std::string refused_shape(const std::string& shape) { return refused_header(dict("<f4", shape)); }

template <class T>
std::vector<T> values(const attest::array& value) {
    std::vector<T> result(value.data.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), value.data.data(), value.data.size());
    return result;
}

/// An array whose bytes count up.
attest::array counting(dtype type, std::vector<std::size_t> shape) {
    attest::array result{type, std::move(shape), {}};
    result.data.resize(result.view().bytes());
    for (std::size_t i = 0; i < result.data.size(); ++i)
        result.data[i] = static_cast<std::byte>(type == dtype::boolean ? i % 2 : i % 251);
    return result;
}

const std::string two = "\0\0\x80\x3f\0\0\0\x40"s; // 1.0f, 2.0f

} // namespace

TEST_CASE("row 1: what is no npy is refused with its length", "[io]") {
    const std::string good = npy(dict("<f4", "(2,)"), two);
    for (std::size_t length = 0; length < 8; ++length) {
        const std::string text = refused(good.substr(0, length));
        CAPTURE(text);
        CHECK(says(text, {"a.npy: not a npy file, " + std::to_string(length) + " bytes"}));
    }
    CHECK(says(refused("\x93NUMPX" + good.substr(6)),
               {"a.npy: not a npy file, " + std::to_string(good.size()) + " bytes"}));
    CHECK(says(refused("PK\x03\x04 and more"), {"not a npy file, 13 bytes", "zip"}));
}

TEST_CASE("row 2: versions other than 1.0, 2.0 and 3.0 are refused", "[io]") {
    const std::string header = dict("<f4", "(2,)");
    CHECK(says(refused(npy(header, two, 4, 0)), {"a.npy: unknown npy version 4.0; expected 1.0, 2.0 or 3.0"}));
    CHECK(says(refused(npy(header, two, 1, 1)), {"a.npy: unknown npy version 1.1"}));
    CHECK(says(refused(npy(header, two, 0, 0)), {"unknown npy version 0.0"}));
    CHECK(says(refused(npy(header, two, 255, 255)), {"unknown npy version 255.255"}));
}

TEST_CASE("rows 3 and 4: a header that is longer than the file, or too long, is refused", "[io]") {
    CHECK(says(refused("\x93NUMPY\x02\0\xff\xff\xff\xff"s),
               {"a.npy: header length 4294967295 exceeds the file: 0 bytes follow"}));
    CHECK(says(refused("\x93NUMPY\x01\0\x40\0{}"s), {"a.npy: header length 64 exceeds the file: 2 bytes follow"}));
    CHECK(says(refused("\x93NUMPY\x01\0\x40"s), {"a.npy: truncated: 9 bytes"}));
    CHECK(says(refused("\x93NUMPY\x02\0\x40\0\0"s), {"a.npy: truncated: 11 bytes"}));
    std::string header = dict("<f4", "(2,)");
    header.resize(attest::npy_header_limit, ' ');
    CHECK(values<float>(parse(npy(header, two, 2))) == std::vector<float>{1, 2});
    CHECK(
        says(refused(npy(header + " ", two, 2)), {"a.npy: header too large: 1048577 bytes; expected at most 1048576"}));
}

TEST_CASE("row 5: versions 2.0 and 3.0 have a length of 4 bytes", "[io]") {
    for (const int major : {1, 2, 3}) {
        CAPTURE(major);
        const attest::array value = parse(npy(dict("<f4", "(2,)"), two, major));
        CHECK(value.type == dtype::f32);
        CHECK(value.shape == std::vector<std::size_t>{2});
        CHECK(values<float>(value) == std::vector<float>{1, 2});
    }
}

TEST_CASE("row 6: a header is a dict of exactly three keys, and the key is named", "[io]") {
    CHECK(says(refused_header(""), {"header is not a dict"}));
    CHECK(says(refused_header("['descr']"), {"header is not a dict", "['descr']"}));
    CHECK(says(refused_header("{}"), {"header lacks the key 'descr'"}));
    CHECK(says(refused_header("{'descr': '<f4', 'shape': ()}"), {"lacks the key 'fortran_order'"}));
    CHECK(says(refused_header("{'descr': '<f4', 'fortran_order': False}"), {"lacks the key 'shape'"}));
    CHECK(says(refused_header("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'order': 1}"),
               {"extra key 'order'"}));
    CHECK(says(refused_header("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': ()}"),
               {"key 'descr' twice"}));
    CHECK(says(refused_header("{'descr': '<f4' 'fortran_order': False, 'shape': ()}"),
               {"after the value of 'descr'", "at byte 16"}));
    CHECK(says(refused_header("{'descr' '<f4'}"), {"':' after 'descr'"}));
    CHECK(says(refused_header("{'descr: 1}"), {"a string that ends"}));
    CHECK(says(refused_header("{descr: '<f4'}"), {"a key"}));
    CHECK(says(refused_header(R"({'de\x73cr': '<f4'})"), {"without '\\'"}));
    CHECK(says(refused_header("{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"),
               {"nothing but spaces after the dict", "'x'"}));
    CHECK(says(refused_header("{'descr': '<f4', 'fortran_order': False, 'shape': (), ,}"), {"a key"}));
    CHECK(says(refused_header("{'descr': '<f4', 'fortran_order': False, 'shape': ()"), {"header has nothing at byte"}));
}

TEST_CASE("the header's keys may come in any order, quoted either way, with any padding", "[io]") {
    const std::string header = "{ \"shape\" :(2 ,) ,'fortran_order':False,\n\t'descr':\"<f4\"}   ";
    CHECK(values<float>(parse(npy(header, two))) == std::vector<float>{1, 2});
}

TEST_CASE("row 7: a shape torn apart by a locale's digit groups gets a hint", "[io]") {
    const std::string text = refused(npy(dict("|u1", "(2,621, 401)"), std::string(2621 * 401, '\0')));
    CAPTURE(text);
    CHECK(says(text, {"shape [2, 621, 401] of u8 needs 498042 bytes of data, there are 1051021", "552979 extra bytes",
                      "(2621, 401) would fit", "locale"}));
    CHECK(says(refused(npy(dict("<f8", "(1,000, 2)"), std::string(16000, '\0'))), {"bad dimension '000'", "locale"}));
    CHECK(says(refused(npy(dict("|u1", "(1,234,567)"), std::string(1234567, '\0'))), {"(1234567,) would fit"}));
    const std::string plain = refused(npy(dict("|u1", "(2, 621, 401)"), "abc"));
    CHECK(says(plain, {"needs 498042 bytes of data, there are 3"}));
    CHECK(plain.find("locale") == std::string::npos);
}

TEST_CASE("row 8: a dimension is a decimal number that is not negative", "[io]") {
    for (const char* const bad : {"-1", "True", "2.0", "1000000000000000000000000000000", "0x10", "1e3", "+2", "1_0",
                                  "007", "2l", "L", "'2'", "(2", "[2", "None", "99999999999999999999"}) {
        const std::string text = refused_shape("("s + bad + ", 2)");
        CAPTURE(bad, text);
        CHECK(says(text, {"a.npy: bad dimension '"s + bad + "'"}));
    }
    CHECK(says(refused_shape("(,)"), {"bad dimension ''"}));
    CHECK(says(refused_shape("(2,,3)"), {"bad dimension ''"}));
    CHECK(says(refused_shape("(2 3)"), {"',' or ')' in the shape"}));
    CHECK(says(refused_shape("(5)"), {"shape (5) is a number, not a tuple; expected (n,)"}));
    CHECK(says(refused_shape("5"), {"shape is 5", "a tuple"}));
    CHECK(says(refused_shape("[2, 3]"), {"shape is [2", "a tuple"}));
    CHECK(says(refused_header("{'shape': (2, 3"), {"',' or ')' in the shape"}));
    std::string axes = "(";
    for (int i = 0; i < 32; ++i) axes += "1, ";
    CHECK(parse(npy(dict("|u1", axes + ")"), "x")).shape.size() == 32);
    CHECK(says(refused_shape(axes + "1)"), {"shape has 33 dimensions; expected at most 32"}));
}

TEST_CASE("row 9: a product that overflows is refused, also beside a zero", "[io]") {
    CHECK(says(refused_shape("(4294967296, 4294967296)"), {"shape (4294967296, 4294967296) overflows"}));
    CHECK(says(refused_shape("(9223372036854775808, 0)"), {"shape (9223372036854775808, 0) overflows"}));
    CHECK(says(refused_shape("(0, 4294967296, 4294967296)"), {"overflows"}));
    CHECK(says(refused_shape("(18446744073709551615,)"), {"overflows"}));
    CHECK(says(refused_shape("(2305843009213693952,)"), {"overflows"}));
    CHECK(says(refused_shape("(1152921504606846975,)"), {"needs 4611686018427387900 bytes of data, there are 0"}));
}

TEST_CASE("rows 10 and 11: the data are exactly as long as the shape says", "[io]") {
    CHECK(says(refused(npy(dict("<f4", "(2,)"), two.substr(1))),
               {"a.npy: shape [2] of f32 needs 8 bytes of data, there are 7"}));
    CHECK(says(refused(npy(dict("<f4", "(2,)"), two + "!")), {"needs 8 bytes of data, there are 9, 1 extra bytes"}));
    CHECK(says(refused(npy(dict("<f4", "(0,)"), "!")), {"needs 0 bytes of data, there are 1"}));
    CHECK(says(refused(npy(dict("<f8", "()"), "")), {"shape [] of f64 needs 8 bytes of data, there are 0"}));
}

TEST_CASE("row 12: fortran_order is True or False, wherever else the words stand", "[io]") {
    for (const char* const bad : {"0", "1", "true", "None", "'True'", "Truee", "Falsehood", "\"False\""}) {
        CAPTURE(bad);
        CHECK(says(refused_header(dict("<f4", "(2,)", bad)), {"fortran_order is "s + bad, "True or False"}));
    }
    const std::string trick =
        refused_header("{'descr': \"'fortran_order': True\", 'fortran_order': False, 'shape': (2,)}");
    CHECK(says(trick, {"descr ''fortran_order': True' is not read"}));
}

TEST_CASE("row 13: pickles, structured types, text and dates are refused by name", "[io]") {
    const auto descr = [](const std::string& name) { return refused_header(dict(name, "(2,)")); };
    CHECK(says(descr("|O"), {"descr '|O' is Python objects, a pickle, which is never read"}));
    CHECK(says(descr("O"), {"pickle"}));
    CHECK(says(descr("<U8"), {"descr '<U8' is text"}));
    CHECK(says(descr("|S3"), {"descr '|S3' is text"}));
    CHECK(says(descr("<M8[ns]"), {"descr '<M8[ns]' is dates"}));
    CHECK(says(descr("<m8"), {"dates"}));
    CHECK(says(descr("<c8"), {"complex"}));
    CHECK(says(refused_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
               {"descr is a structured type, [('a', '<f4')]; expected"}));
    CHECK(says(refused_header("{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (2,)}"),
               {"descr is a subarray type"}));
}

TEST_CASE("row 14: byte orders are swapped, or refused by name", "[io]") {
    CHECK(values<float>(parse(npy(dict(">f4", "(2,)"), "\x3f\x80\0\0\x40\0\0\0"s))) == std::vector<float>{1, 2});
    CHECK(values<std::int16_t>(parse(npy(dict(">i2", "(2,)"), "\x01\x02\xff\xfe"s))) ==
          std::vector<std::int16_t>{258, -2});
    CHECK(values<std::uint64_t>(parse(npy(dict(">u8", "()"), "\0\0\0\0\0\0\x01\x02"s))) ==
          std::vector<std::uint64_t>{258});
    const auto descr = [](const std::string& name) { return refused_header(dict(name, "(2,)")); };
    CHECK(says(descr("=f4"), {"descr '=f4' does not say the byte order", "'<f4' or '>f4'"}));
    CHECK(says(descr("|f4"), {"'|f4' does not say the byte order"}));
    CHECK(says(descr("f4"), {"'f4' does not say the byte order"}));
    CHECK(says(descr("<g2"), {"descr '<g2' is not read"}));
    CHECK(says(descr("<f16"), {"'<f16' is not read"}));
    CHECK(says(descr("|V4"), {"'|V4' is not read"}));
    CHECK(says(descr(">V2"), {"'>V2' gives a byte order to bytes that are no number"}));
    CHECK(says(descr(""), {"descr '' is not read"}));
    CHECK(says(descr("<f44"), {"'<f44' is not read"}));
    CHECK(parse(npy(dict("|V2", "(2,)"), "abcd")).type == dtype::raw16);
    CHECK(parse(npy(dict("<V2", "(2,)"), "abcd")).type == dtype::raw16); // what ml_dtypes' bfloat16 saves
}

TEST_CASE("every element type is read, and those of one byte with any order sign", "[io]") {
    const struct {
        const char* descr;
        dtype type;
    } table[] = {{"<f8", dtype::f64}, {"<f4", dtype::f32}, {"<f2", dtype::f16},     {"<i8", dtype::i64},
                 {"<i4", dtype::i32}, {"<i2", dtype::i16}, {"|i1", dtype::i8},      {"<i1", dtype::i8},
                 {"<u8", dtype::u64}, {"<u4", dtype::u32}, {"<u2", dtype::u16},     {"|u1", dtype::u8},
                 {">u1", dtype::u8},  {"u1", dtype::u8},   {"|b1", dtype::boolean}, {"|V2", dtype::raw16}};
    for (const auto& [descr, type] : table) {
        CAPTURE(descr);
        const attest::array value = parse(npy(dict(descr, "(3,)"), std::string(3 * attest::size_of(type), '\1')));
        CHECK(value.type == type);
        CHECK(value.elements() == 3);
        CHECK(value.data == std::vector<std::byte>(3 * attest::size_of(type), std::byte{1}));
    }
}

TEST_CASE("a bool is 0 or 1", "[io]") {
    CHECK(values<std::uint8_t>(parse(npy(dict("|b1", "(3,)"), "\0\1\1"s))) == std::vector<std::uint8_t>{0, 1, 1});
    CHECK(says(refused(npy(dict("|b1", "(2, 3)"), "\0\1\1\0\1\2"s)),
               {"a.npy: bool element [1, 2] holds the byte 2; expected 0 or 1"}));
    CHECK(says(refused(npy(dict("|b1", "()"), "\xff")), {"bool element [] holds the byte 255"}));
    // The index is that of the array, not of the file.
    CHECK(says(refused(npy(dict("|b1", "(2, 3)", "True"), "\0\1\2\0\1\0"s)), {"bool element [0, 1] holds the byte 2"}));
}

TEST_CASE("Fortran order becomes C order", "[io]") {
    // a[i][j] = 3 i + j, stored column by column
    CHECK(values<std::uint8_t>(parse(npy(dict("|u1", "(2, 3)", "True"), "\0\3\1\4\2\5"s))) ==
          std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5});
    const std::vector<std::size_t> shape = {2, 3, 4, 5};
    std::string file(2 * 2 * 3 * 4 * 5, '\0');
    for (std::size_t a = 0, c = 0; a < 2; ++a)
        for (std::size_t b = 0; b < 3; ++b)
            for (std::size_t d = 0; d < 4; ++d)
                for (std::size_t e = 0; e < 5; ++e, ++c)
                    file[2 * (a + 2 * (b + 3 * (d + 4 * e))) + 1] = static_cast<char>(c);
    std::vector<std::uint16_t> expected(120);
    std::iota(expected.begin(), expected.end(), std::uint16_t{0});
    CHECK(values<std::uint16_t>(parse(npy(dict(">u2", "(2, 3, 4, 5)", "True"), file))) == expected);
    CHECK(parse(npy(dict("|u1", "(2, 0, 3)", "True"), "")).data.empty());
    CHECK(values<std::uint8_t>(parse(npy(dict("|u1", "(1, 3, 1)", "True"), "abc"))) ==
          std::vector<std::uint8_t>{'a', 'b', 'c'});
    CHECK(parse(npy(dict("|u1", "()", "True"), "a")).shape.empty());
}

TEST_CASE("one number, no number, infinity and NaN are arrays like any other", "[io]") {
    CHECK(parse(npy(dict("<f4", "()"), two.substr(4))).shape.empty());
    CHECK(values<float>(parse(npy(dict("<f4", "()"), two.substr(4)))) == std::vector<float>{2});
    const attest::array none = parse(npy(dict("<f4", "(3, 0, 2)"), ""));
    CHECK(none.shape == std::vector<std::size_t>{3, 0, 2});
    CHECK(none.data.empty());
    const std::string odd = "\0\0\x80\x7f\x01\0\xc0\xff"s; // infinity, a NaN with a payload: kept bit by bit
    const attest::array value = parse(npy(dict("<f4", "(2,)"), odd));
    CHECK(std::memcmp(value.data.data(), odd.data(), odd.size()) == 0);
}

TEST_CASE("Python 2's suffix L is read, with a warning", "[io]") {
    std::vector<std::string> warnings;
    CHECK(parse(npy(dict("<f4", "(1L, 2L)"), two), &warnings).shape == std::vector<std::size_t>{1, 2});
    REQUIRE(warnings.size() == 1);
    CHECK(says(warnings[0], {"a.npy: ", "suffix L"}));
    CHECK(parse(npy(dict("<f4", "(2L,)"), two)).elements() == 2); // nobody listens
}

TEST_CASE("what is written is read back, and begins its data at a multiple of 64", "[io]") {
    for (const dtype type : {dtype::f64, dtype::f32, dtype::f16, dtype::i8, dtype::i16, dtype::i32, dtype::i64,
                             dtype::u8, dtype::u16, dtype::u32, dtype::u64, dtype::boolean, dtype::raw16})
        for (const std::vector<std::size_t>& shape :
             {std::vector<std::size_t>{}, {1}, {7}, {0}, {2, 3}, {2, 0, 3}, {1, 2, 3, 4}}) {
            CAPTURE(attest::name_of(type), shape);
            const attest::array value = counting(type, shape);
            const std::vector<std::byte> image = attest::to_npy(value);
            CHECK((image.size() - value.data.size()) % 64 == 0);
            const attest::array back = attest::parse_npy(image, "a.npy");
            CHECK(back.type == type);
            CHECK(back.shape == shape);
            CHECK(back.data == value.data);
        }
    CHECK(attest::parse_npy(attest::to_npy(counting(dtype::bf16, {3})), "a.npy").type ==
          dtype::raw16); // npy has no name for it
    CHECK(says(refusal([] { return attest::to_npy(counting(dtype::u8, std::vector<std::size_t>(33, 1))); }),
               {"33 dimensions", "32"}));
}

TEST_CASE("files are written and read; what is no file says so", "[io]") {
    const std::filesystem::path path = scratch("test_io_npy.npy");
    const attest::array value = counting(dtype::f32, {5, 3});
    attest::write_npy(path, value);
    const attest::array back = attest::read_npy(path);
    CHECK(back.shape == value.shape);
    CHECK(back.data == value.data);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    CHECK(says(refusal([&] { return attest::read_npy(path); }),
               {path.string() + ": shape [5, 3] of f32 needs 60 bytes of data, there are 59"}));
    std::filesystem::resize_file(path, 0);
    CHECK(says(refusal([&] { return attest::read_npy(path); }), {"not a npy file, 0 bytes"}));
    std::filesystem::remove(path);
    CHECK(says(refusal([&] { return attest::read_npy(path); }), {path.string() + ": no such file"}));
    CHECK(says(refusal([&] { return attest::read_npy(path.parent_path()); }), {"is a directory"}));
    CHECK(says(refusal([&] { return attest::read_npy("/dev/null"); }), {"/dev/null: is a pipe or a device"}));
    CHECK(says(refusal([&] {
                   attest::write_npy(path.parent_path() / "none" / "a.npy", value);
                   return 0;
               }),
               {"cannot be written"}));
}

TEST_CASE("every prefix of a npy is refused", "[io]") {
    for (const int major : {1, 2}) {
        const std::string good = npy(dict("<f4", "(2,)"), two, major);
        for (std::size_t length = 0; length < good.size(); ++length) {
            CAPTURE(major, length);
            CHECK(says(refused(good.substr(0, length)), {"a.npy: "}));
        }
    }
}

TEST_CASE("a npy with one byte changed is read, or refused in one line", "[io]") {
    const std::string good = npy(dict(">f4", "(1, 2L)", "True"), two);
    std::size_t read = 0;
    for (std::size_t at = 0; at < good.size(); ++at)
        for (int value = 0; value < 256; ++value) {
            std::string image = good;
            image[at] = static_cast<char>(value);
            const std::string text = refused(image);
            if (text.empty())
                ++read;
            else if (!says(text, {"a.npy: "}))
                FAIL("byte " << at << " = " << value << ": " << text);
        }
    CHECK(read >= 256 * two.size()); // the data may be anything
    CHECK(read < 256 * good.size() / 2);
}
