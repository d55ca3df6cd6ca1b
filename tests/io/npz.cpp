// SPDX-License-Identifier: BSL-1.0
#include "attest/io/npz.hpp"
#include "catch.hpp"
#include "io/crafted.hpp"

#include <fstream>

using namespace crafted;
using attest::dtype;

namespace {

attest::archive parse(const std::string& image) { return attest::parse_npz(bytes(image), "a.npz"); }

std::string refused(const std::string& image) {
    return refusal([&image] { return parse(image); });
}

/// Names of the arrays, each followed by a space.
std::string names(const attest::archive& content) {
    std::string text;
    for (const attest::named_array& item : content.arrays) text += item.name + " ";
    return text;
}

attest::array counting(dtype type, std::vector<std::size_t> shape) {
    attest::array result{type, std::move(shape), {}};
    result.data.resize(result.view().bytes());
    for (std::size_t i = 0; i < result.data.size(); ++i)
        result.data[i] = static_cast<std::byte>(type == dtype::boolean ? i % 2 : i % 251);
    return result;
}

std::string file_bytes(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What a member of unknown size, written into a pipe, leaves behind its data.
std::string descriptor(const member& item, bool signature, std::size_t width) {
    const std::string& plain = item.method == 8 ? item.inflated : item.data;
    return (signature ? "PK\x07\x08"s : ""s) + little(crc32(plain), 4) + little(item.data.size(), width) +
           little(plain.size(), width);
}

} // namespace

TEST_CASE("stored and deflated members are read, texts and others told apart", "[io]") {
    const attest::archive content = parse(zipped({numbers("q.npy"),
                                                  deflated_numbers("layers/0.k.npy"),
                                                  {.name = "attest.json", .data = "{}"},
                                                  {.name = "notes.txt", .data = "x"},
                                                  {.name = "folder/", .data = ""}}));
    CHECK(names(content) == "q layers/0.k ");
    for (const attest::named_array& item : content.arrays) {
        CHECK(item.value.type == dtype::f32);
        CHECK(item.value.shape == std::vector<std::size_t>{2});
        CHECK(std::memcmp(item.value.data.data(), "\0\0\x80\x3f\0\0\0\x40", 8) == 0);
    }
    CHECK(content.texts == std::vector<std::pair<std::string, std::string>>{{"attest.json", "{}"}});
    CHECK(content.warnings == std::vector<std::string>{"a.npz: member notes.txt: not an array, ignored",
                                                       "a.npz: member folder/: not an array, ignored"});
}

TEST_CASE("a file of torch.save says what it is", "[io]") {
    try {
        (void)parse(zipped({{.name = "model/data.pkl", .data = "x"}, {.name = "model/data/0", .data = "y"}}));
        FAIL("it was read");
    } catch (const attest::file_error& error) {
        CHECK(std::string(error.what()) == "a.npz: a file of torch.save, which is pickled, and pickles are never read; expected what safetensors.torch.save_file writes, or numpy.savez");
    }
    CHECK(names(parse(zipped({numbers("q.npy"), {.name = "data.pkl", .data = "x"}}))) == "q ");
}

TEST_CASE("an archive of nothing is an archive", "[io]") {
    CHECK(parse(zipped({})).arrays.empty());
    CHECK(parse(zipped({}, {.comment = "hello"})).arrays.empty());
    CHECK(names(parse(zipped({numbers("q.npy")}, {.comment = "hello PK\x05\x06 and PK\x01\x02"}))) == "q ");
}

TEST_CASE("a member's own trouble names file and member", "[io]") {
    CHECK(says(refused(zipped({{.name = "q.npy", .data = "nothing"}})),
               {"a.npz: member q.npy: not a npy file, 7 bytes"}));
    CHECK(says(refused(zipped({{.name = "q.npy", .data = npy(dict("|O", "(2,)"), "xx")}})),
               {"a.npz: member q.npy: descr '|O'", "pickle"}));
    CHECK(says(refused(zipped({{.name = "q.npy", .data = npy(dict("<f4", "(3,)"), "xxxxxxxx")}})),
               {"a.npz: member q.npy: shape [3] of f32 needs 12 bytes of data, there are 8"}));
    const attest::archive old = parse(zipped({{.name = "q.npy", .data = npy(dict("|u1", "(1L,)"), "x")}}));
    REQUIRE(old.warnings.size() == 1);
    CHECK(says(old.warnings[0], {"a.npz: member q.npy: ", "suffix L"}));
    CHECK(says(refused(zipped({numbers(".npy")})), {"member .npy: unsafe name"}));
    CHECK(says(refused(zipped({numbers("a/.npy")})), {"member a/.npy: unsafe name"}));
    const std::string big(attest::npz_text_limit + 1, ' ');
    CHECK(says(refused(zipped({{.name = "attest.json", .data = big}})),
               {"member attest.json: text of 1048577 bytes; expected at most 1048576"}));
    CHECK(parse(zipped({{.name = "notes.txt", .data = big}})).warnings.size() == 1);
}

TEST_CASE("row 15: no end record, a comment that lies, junk before the zip", "[io]") {
    const std::string good = zipped({numbers("q.npy")});
    const std::size_t end = good.size() - 22;
    CHECK(says(refused(""), {"a.npz: not a zip, 0 bytes: too short"}));
    CHECK(says(refused(good.substr(0, end)), {"a.npz: not a zip, " + std::to_string(end) + " bytes: no end record"}));
    CHECK(says(refused(numbers("q").data), {"not a zip", "no end record"}));
    CHECK(says(refused(zipped({numbers("q.npy")}, {.comment_length = 5, .comment = "four"})),
               {"the end record at " + std::to_string(end) + " says a comment of 5 bytes, 4 follow"}));
    CHECK(says(refused(good + "junk"), {"says a comment of 0 bytes, 4 follow"}));
    CHECK(says(refused("junk" + good),
               {"not a zip: central directory", "(4 bytes of something else before or between)"}));
    CHECK(says(refused(zipped({numbers("q.npy")}, {}, "junk")),
               {"not a plain zip: 4 bytes of something else before its first member"}));
    CHECK(says(refused(zipped({numbers("q.npy")}, {.before = "junk"})),
               {"(4 bytes of something else before or between)"}));
    CHECK(says(refused(zipped({}, {}, "junk")), {"4 bytes before an empty directory"}));
    // A second end record hidden in the comment of the first: which one counts?
    CHECK(says(refused(zipped({numbers("q.npy")}, {.comment = zipped({})})),
               {"two end records, at " + std::to_string(end)}));
    CHECK(says(refused(zipped({numbers("q.npy")}, {.offset = 0xFFFFFFF0})),
               {"not a zip: central directory", "4294967280"}));
    CHECK(says(refused(zipped({numbers("q.npy")}, {.entries = 2})), {"2 members in a central directory of 51 bytes"}));
    CHECK(says(refused(zipped({numbers("q.npy"), numbers("k.npy")}, {.entries = 1})),
               {"central directory has 51 bytes more than its 1 members need"}));
    std::string parts = good;
    parts[end + 4] = 1;
    CHECK(says(refused(parts), {"zip in several parts"}));
}

TEST_CASE("row 16: local header and central directory must agree", "[io]") {
    const auto local = [](record lie) {
        member item = deflated_numbers("q.npy");
        item.local = std::move(lie);
        return refused(zipped({item}));
    };
    const member good = deflated_numbers("q.npy");
    const std::string compressed = std::to_string(good.data.size());
    const std::string size = std::to_string(good.inflated.size());
    CHECK(
        says(local({.name = "k.npy"}), {"a.npz: member q.npy: local header says name k.npy, central directory q.npy"}));
    CHECK(says(local({.name = "../q.npy"}), {"member q.npy: local header says name ../q.npy"}));
    CHECK(says(local({.method = 0}), {"member q.npy: local header says method 0, central directory 8"}));
    CHECK(says(local({.crc = 7}),
               {"local header says CRC 7, central directory " + std::to_string(crc32(good.inflated))}));
    CHECK(says(local({.crc = 0}), {"local header says CRC 0"}));
    CHECK(says(local({.compressed = 9}), {"local header says compressed size 9, central directory " + compressed}));
    CHECK(says(local({.size = 9}), {"local header says size 9, central directory " + size}));
    CHECK(says(local({.size = 0}), {"local header says size 0, central directory " + size}));
    CHECK(says(local({.flags = 1}), {"local header says flags 1, central directory 0"}));
    CHECK(says(local({.flags = 8}), {"local header says flags 8, central directory 0"}));
    member item = good;
    item.central.offset = 3;
    CHECK(says(refused(zipped({numbers("k.npy"), item})), {"member q.npy: no local header at 3"}));
    item.central.offset = 1000000;
    CHECK(says(refused(zipped({numbers("k.npy"), item})), {"member q.npy: local header of 30 bytes at 1000000"}));
}

TEST_CASE("row 17: members that overlap are refused, both named", "[io]") {
    // Two entries for the same bytes.
    member again = numbers("q.npy");
    again.central.offset = 0;
    std::string text = refused(zipped({numbers("q.npy"), again}));
    CHECK(says(text, {"member q.npy: is there twice"}));
    again.central.name = "k.npy";
    text = refused(zipped({numbers("q.npy"), again}));
    CAPTURE(text);
    CHECK((says(text, {"a.npz: member", "overlaps member", "(a bomb?)"}) || says(text, {"local header says name"})));

    // The quoted overlap: a member's deflate stream quotes the next local header inside a stored block.
    const member inner = deflated_numbers("b.npy");
    const std::string inner_local = "PK\x03\x04" + little(20, 2) + shared(inner, {}) + inner.name + inner.data;
    member outer{.name = "a.npy", .data = deflated(inner_local), .inflated = inner_local, .method = 8};
    member quoted = inner;
    const std::string first = zipped({outer});
    quoted.central.offset =
        static_cast<std::uint32_t>(30 + 5 + 5); // past the local header of a.npy and its block's head
    std::string image = zipped({outer, quoted});
    // cut the copy of b.npy that the helper wrote as a member of its own
    const std::size_t copy = 30 + 5 + outer.data.size();
    image.erase(copy, inner_local.size());
    const std::size_t end = image.size() - 22;
    image.replace(end + 16, 4, little(copy, 4));
    text = refused(image);
    CAPTURE(text);
    CHECK(says(text, {"a.npz: member a.npy: overlaps member b.npy: it ends at " + std::to_string(copy) +
                      ", which begins at 40 (a bomb?)"}));

    member late = numbers("q.npy");
    late.local.compressed = late.central.compressed = late.local.size = late.central.size =
        static_cast<std::uint32_t>(late.data.size() + 1);
    CHECK(says(refused(zipped({late})), {"member q.npy: overlaps the central directory: it ends at"}));
    member gap = numbers("q.npy");
    gap.after = "hole";
    CHECK(says(refused(zipped({gap, numbers("k.npy")})),
               {"member q.npy: 4 bytes between its end at", "belong to nothing"}));
}

TEST_CASE("row 18: ratio, total, and declared against inflated size", "[io]") {
    const auto declares = [](std::uint32_t size, member item = deflated_numbers("q.npy")) {
        item.local.size = item.central.size = size;
        return refused(zipped({item}));
    };
    const std::size_t compressed = deflated_numbers("q.npy").data.size();
    CHECK(says(declares(0xF0000000),
               {"a.npz: member q.npy: declares 4026531840 bytes from " + std::to_string(compressed) + " of deflate",
                "1032:1", "at most " + std::to_string(compressed * 1032)}));
    const member plain = deflated_numbers("q.npy");
    const auto size = static_cast<std::uint32_t>(plain.inflated.size());
    // The header inside agrees with what is declared, so that only the inflating can tell.
    member longer = plain; // inflates to 8 bytes of data more than it declares
    longer.inflated += "12345678";
    longer.data = deflated(longer.inflated);
    longer.local.crc = longer.central.crc = crc32(plain.inflated);
    CHECK(says(declares(size, longer),
               {"member q.npy: inflates to more than the " + std::to_string(size) + " bytes it declares"}));
    member shorter = plain;
    shorter.inflated = npy(dict("<f4", "(4,)"), "0123456789abcdef");
    shorter.data = deflated(shorter.inflated.substr(0, shorter.inflated.size() - 8));
    const std::string text = declares(static_cast<std::uint32_t>(shorter.inflated.size()), shorter);
    CAPTURE(text);
    CHECK(says(text, {"member q.npy: inflates to " + std::to_string(shorter.inflated.size() - 8) + " bytes, declares " +
                      std::to_string(shorter.inflated.size())}));
    member stored = numbers("q.npy");
    CHECK(says(declares(7, stored),
               {"member q.npy: stored, but size 7 and compressed size " + std::to_string(stored.data.size())}));
    CHECK(says(declares(size - 1), {"member q.npy: shape [2] of f32 needs 8 bytes of data, there are 7"}));

    // 64 GiB in all: 17 ignored members of 4 GiB each, declared by ZIP64 fields. Nothing of that size is ever there.
    member huge{.name = "q.npy", .data = std::string(100, 'x'), .method = 8};
    huge.local.size = huge.central.size = 0xFFFFFFFF;
    huge.local.extra = huge.central.extra = little(1, 2) + little(8, 2) + little(std::uint64_t{65} << 30U, 8);
    CHECK(says(refused(zipped({huge})), {"member q.npy: declares 69793218560 bytes from 100 of deflate"}));
}

TEST_CASE("row 18: the total is limited to 64 GiB", "[io]") {
    // 1032:1 allows this size from 65 MiB of deflate, which stand in a file with a hole.
    const std::filesystem::path path = scratch("test_io_npz_total.npz");
    const std::uint64_t compressed = 67 << 20;
    const std::uint64_t size = std::uint64_t{65} << 30U;
    const std::string extra = little(1, 2) + little(8, 2) + little(size, 8);
    const std::string common = little(0, 2) + little(8, 2) + little(0, 8) + little(compressed, 4) +
                               little(0xFFFFFFFF, 4) + little(5, 2) + little(extra.size(), 2);
    const std::string local = "PK\x03\x04" + little(45, 2) + common + "q.npy" + extra;
    const std::string directory =
        "PK\x01\x02" + little(45, 2) + little(45, 2) + common + little(0, 14) + "q.npy" + extra;
    const std::uint64_t begin = local.size() + compressed;
    {
        std::ofstream file(path, std::ios::binary);
        file << local;
        file.seekp(static_cast<std::streamoff>(begin));
        file << directory << "PK\x05\x06" << little(0, 4) << little(1, 2) << little(1, 2) << little(directory.size(), 4)
             << little(begin, 4) << little(0, 2);
    }
    const std::string text = refusal([&path] { return attest::read_npz(path); });
    CAPTURE(text);
    CHECK(
        says(text, {"member q.npy: its 69793218560 bytes and the 0 of the members before exceed the limit of 64 GiB"}));
    std::filesystem::remove(path);
}

TEST_CASE("row 19: names that are there twice or lead elsewhere are refused", "[io]") {
    CHECK(says(refused(zipped({numbers("q.npy"), numbers("q.npy")})), {"a.npz: member q.npy: is there twice"}));
    const struct {
        std::string name;
        std::string_view why;
        std::string_view shown;
    } table[] = {{"../q.npy", "the component '..'", "../q.npy"},
                 {"a/../q.npy", "the component '..'", "a/../q.npy"},
                 {"a/./q.npy", "the component '.'", "a/./q.npy"},
                 {"/q.npy", "absolute", "/q.npy"},
                 {"C:q.npy", "drive", "C:q.npy"},
                 {"a\\q.npy", "backslash", "a\\q.npy"},
                 {"q.npy\0.txt"s, "NUL", "q.npy\\x00.txt"},
                 {"q\n.npy", "control", "q\\x0a.npy"},
                 {"", "empty", "member"},
                 {"a//q.npy", "empty component", "a//q.npy"},
                 {"\xff.npy", "not UTF-8", "\\xff.npy"},
                 {"..", "the component '..'", ".."}};
    for (const auto& [name, why, shown] : table) {
        const std::string text = refused(zipped({numbers(name)}));
        CAPTURE(name, text);
        CHECK(says(text, {"a.npz: member ", shown, "unsafe name: it", why}));
    }
    CHECK(names(parse(zipped({numbers("é.npy"), numbers("..a.npy"), numbers("Q.npy"), numbers("q.npy"),
                              numbers("a b:c.npy")}))) == "é ..a Q q a b:c ");
}

TEST_CASE("row 20: encryption, other methods, CRC, ZIP64 fields that are short", "[io]") {
    const auto with = [](std::uint16_t flags, std::uint16_t method) {
        member item = numbers("q.npy");
        item.flags = flags;
        item.method = method;
        item.inflated = item.data;
        return refused(zipped({item}));
    };
    CHECK(says(with(1, 0), {"a.npz: member q.npy: encrypted (flags 1)"}));
    CHECK(says(with(65, 8), {"member q.npy: encrypted (flags 65)"}));
    CHECK(says(with(0, 99), {"member q.npy: encrypted"}));
    CHECK(says(with(0, 12), {"member q.npy: compression method 12 (bzip2); expected 0 (stored) or 8 (deflate)"}));
    CHECK(says(with(0, 14), {"compression method 14 (LZMA)"}));
    CHECK(says(with(0, 93), {"compression method 93 (zstd)"}));
    CHECK(says(with(0, 1000), {"compression method 1000"}));
    CHECK(says(with(32, 0), {"patched"}));

    for (member item : {numbers("q.npy"), deflated_numbers("q.npy")}) {
        item.local.crc = item.central.crc = 12345;
        CAPTURE(item.method);
        CHECK(says(refused(zipped({item})), {"a.npz: member q.npy: bad CRC", "12345"}));
    }
    member broken = deflated_numbers("q.npy");
    broken.data[0] = '\x07'; // a block type that does not exist
    CHECK(says(refused(zipped({broken})),
               {"member q.npy: cannot be inflated after 0 of " + std::to_string(broken.inflated.size()) + " bytes"}));

    member zip64 = numbers("q.npy");
    const std::uint64_t size = zip64.data.size();
    zip64.local.size = zip64.local.compressed = 0xFFFFFFFF;
    zip64.local.extra = little(1, 2) + little(16, 2) + little(size, 8) + little(size, 8);
    CHECK(names(parse(zipped({zip64}))) == "q "); // as NumPy writes each member
    zip64.local.extra = little(1, 2) + little(8, 2) + little(size, 8);
    CHECK(says(refused(zipped({zip64})), {"member q.npy: ZIP64 extra field short: 8 bytes, at least 16 needed"}));
    zip64.local.extra = little(1, 2) + little(16, 2) + little(size, 8);
    CHECK(says(refused(zipped({zip64})), {"member q.npy: extra field broken: 12 bytes are left for one of 20"}));
    zip64.local.extra = little(1, 2) + little(16, 2) + little(size, 8) + little(size + 1, 8);
    CHECK(says(refused(zipped({zip64})), {"local header says compressed size " + std::to_string(size + 1) +
                                          ", central directory " + std::to_string(size)}));
    zip64.local.extra = {};
    CHECK(says(refused(zipped({zip64})), {"local header says compressed size 4294967295"}));
    zip64.local.extra = "\1\0\0"s;
    CHECK(says(refused(zipped({zip64})), {"extra field broken: 3 bytes"}));
    zip64.local.extra = little(1, 2) + little(16, 2) + little(size, 8) + little(size, 8) + little(1, 2) + little(0, 2);
    CHECK(says(refused(zipped({zip64})), {"two ZIP64 extra fields"}));
    zip64.local = {};
    zip64.central.offset = 0xFFFFFFFF;
    zip64.central.extra = little(1, 2) + little(8, 2) + little(0, 8);
    CHECK(names(parse(zipped({zip64}))) == "q ");
    zip64.central.extra = little(1, 2) + little(4, 2) + little(0, 4);
    CHECK(says(refused(zipped({zip64})), {"member q.npy: ZIP64 extra field short: 4 bytes, at least 8 needed"}));
    member other = numbers("q.npy");
    other.local.extra = "UT\5\0\1abcd"s; // a time stamp, as Info-ZIP writes
    CHECK(names(parse(zipped({other}))) == "q ");
}

TEST_CASE("row 20: a data descriptor must agree; consistent ones are what zipfile writes into a pipe", "[io]") {
    for (const member& plain : {numbers("q.npy"), deflated_numbers("q.npy")})
        for (const bool signature : {true, false})
            for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
                CAPTURE(plain.method, signature, width);
                member item = plain;
                item.flags = 8;
                item.local.crc = item.local.size = item.local.compressed = 0;
                item.after = descriptor(plain, signature, width);
                CHECK(names(parse(zipped({item, numbers("k.npy")}))) == "q k ");
                CHECK(names(parse(zipped({numbers("k.npy"), item}))) == "k q ");
                for (std::size_t at = signature ? 0 : 4; at < item.after.size(); ++at) {
                    member lie = item;
                    lie.after[at] = static_cast<char>(lie.after[at] ^ 1);
                    CHECK(says(refused(zipped({lie})), {"member q.npy: data descriptor "}));
                }
                item.after += "\0\0\0\0"s;
                CHECK_FALSE(refused(zipped({item})).empty());
                item.after += "!";
                CHECK(says(refused(zipped({item})), {"member q.npy: ", "bytes between its data and the next header"}));
                item.after = {};
                CHECK(says(refused(zipped({item})), {"member q.npy: 0 bytes between its data and the next header"}));
            }
}

TEST_CASE("ZIP64's end record is read, and must agree with the ordinary one", "[io]") {
    const std::string plain = zipped({numbers("q.npy")});
    const std::size_t size = 51; // 46 and the name
    const std::size_t begin = plain.size() - 22 - size;
    const auto end64 = [=](std::uint64_t at, std::uint64_t length = 44, std::uint64_t entries = 1) {
        return "PK\x06\x06" + little(length, 8) + little(45, 2) + little(45, 2) + little(0, 8) + little(entries, 8) +
               little(entries, 8) + little(size, 8) + little(begin, 8) + "PK\x06\x07" + little(0, 4) + little(at, 8) +
               little(1, 4);
    };
    const std::uint64_t at = begin + size;
    const auto file = [&](const std::string& before) {
        return zipped({numbers("q.npy")},
                      {.entries = 0xFFFF, .size = 0xFFFFFFFF, .offset = 0xFFFFFFFF, .before = before});
    };
    CHECK(names(parse(file(end64(at)))) == "q ");
    CHECK(names(parse(zipped({numbers("q.npy")}, {.before = end64(at)}))) == "q ");
    CHECK(says(refused(zipped({numbers("q.npy")}, {.entries = 2, .before = end64(at)})),
               {"its end record says 2 members", "its ZIP64 record 1"}));
    CHECK(says(refused(file(end64(at + 1))), {"ZIP64 end record at " + std::to_string(at + 1)}));
    CHECK(says(refused(file(end64(at - 1))), {"no ZIP64 end record at " + std::to_string(at - 1)}));
    CHECK(says(refused(file(end64(at, 45))), {"ZIP64 end record says 45 bytes; expected 44"}));
    CHECK(says(refused(file(end64(at, 44, std::uint64_t{1} << 60U))),
               {"1152921504606846976 members in a central directory of 51 bytes"}));
    CHECK(says(refused(file("")), {"not a zip: central directory of 4294967295 bytes at 4294967295"}));
}

TEST_CASE("what is written is read back, stored and deflated, and twice the same", "[io]") {
    attest::archive content;
    for (const dtype type : {dtype::f64, dtype::f32, dtype::f16, dtype::i8, dtype::i16, dtype::i32, dtype::i64,
                             dtype::u8, dtype::u16, dtype::u32, dtype::u64, dtype::boolean, dtype::raw16})
        for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{}, {7}, {0}, {2, 3, 4}})
            content.arrays.push_back(
                {std::string{attest::name_of(type)} + attest::shape_text(shape), counting(type, shape)});
    content.arrays.push_back({"ü/long", counting(dtype::f64, {300, 700})}); // more than one step of reading
    content.texts = {{"attest.json", "{\"op\": \"rope\"}"}, {"empty.json", ""}};
    const std::filesystem::path path = scratch("test_io_npz.npz");
    for (const bool compress : {false, true}) {
        CAPTURE(compress);
        attest::write_npz(path, content, compress);
        const std::string first = file_bytes(path);
        attest::write_npz(path, content, compress); // over the file that is there
        CHECK(first == file_bytes(path));
        for (const attest::archive& back : {attest::read_npz(path), parse(first)}) {
            CHECK(back.warnings.empty());
            CHECK(back.texts == content.texts);
            REQUIRE(back.arrays.size() == content.arrays.size());
            for (std::size_t i = 0; i < back.arrays.size(); ++i) {
                CAPTURE(back.arrays[i].name);
                CHECK(back.arrays[i].name == content.arrays[i].name);
                CHECK(back.arrays[i].value.type == content.arrays[i].value.type);
                CHECK(back.arrays[i].value.shape == content.arrays[i].value.shape);
                CHECK(back.arrays[i].value.data == content.arrays[i].value.data);
            }
        }
    }
    attest::write_npz(path, {});
    CHECK(attest::read_npz(path).arrays.empty());
    std::filesystem::remove(path);
}

TEST_CASE("what cannot be written says why, and leaves the file that is there", "[io]") {
    const std::filesystem::path path = scratch("test_io_npz_kept.npz");
    attest::write_npz(path, {.arrays = {{"q", counting(dtype::f32, {2})}}});
    const std::string before = file_bytes(path);
    const auto write = [&path](attest::archive content) {
        return refusal([&] {
            attest::write_npz(path, content);
            return 0;
        });
    };
    const attest::array one = counting(dtype::f32, {2});
    CHECK(says(write({.arrays = {{"q", one}, {"q", one}}}), {path.string() + ": member q.npy: is there twice"}));
    CHECK(says(write({.arrays = {{"../q", one}}}), {"member ../q.npy: unsafe name"}));
    CHECK(says(write({.texts = {{"", "x"}}}), {"unsafe name"}));
    attest::array wrong = one;
    wrong.data.pop_back();
    CHECK(says(write({.arrays = {{"q", wrong}}}),
               {"member q.npy: cannot be written: shape [2] of f32 with 7 bytes; expected 8"}));
    CHECK(file_bytes(path) == before);
    std::filesystem::remove(path);
    CHECK(says(refusal([&path] { return attest::read_npz(path); }), {path.string() + ": no such file"}));
    CHECK(says(refusal([&path] { return attest::read_npz(path.parent_path()); }), {"is a directory"}));
    CHECK(says(refusal([&] {
                   attest::write_npz(path.parent_path() / "none" / "a.npz", {.arrays = {{"q", one}}});
                   return 0;
               }),
               {"cannot be written"}));
}

TEST_CASE("every prefix of a npz is refused", "[io]") {
    member streamed = deflated_numbers("s.npy");
    streamed.flags = 8;
    streamed.local.crc = streamed.local.size = streamed.local.compressed = 0;
    streamed.after = descriptor(streamed, true, 4);
    const std::string good = zipped({numbers("q.npy"), streamed, {.name = "attest.json", .data = "{}"}});
    REQUIRE(refused(good).empty());
    for (std::size_t length = 0; length < good.size(); ++length) {
        CAPTURE(length);
        CHECK(says(refused(good.substr(0, length)), {"a.npz: "}));
    }
}

TEST_CASE("a npz with one byte changed is read, or refused in one line", "[io]") {
    member streamed = deflated_numbers("s.npy");
    streamed.flags = 8;
    streamed.local.crc = streamed.local.size = streamed.local.compressed = 0;
    streamed.after = descriptor(streamed, true, 4);
    const std::string good = zipped({numbers("q.npy"), streamed});
    std::size_t read = 0;
    for (std::size_t at = 0; at < good.size(); ++at)
        for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
            std::string image = good;
            image[at] = static_cast<char>(image[at] ^ change);
            const std::string text = refused(image);
            if (text.empty())
                ++read;
            else if (!says(text, {"a.npz: "}))
                FAIL("byte " << at << " changed by " << change << ": " << text);
        }
    CHECK(read > 0); // times and versions may be anything
    CHECK(read < 9 * good.size() / 3);
}
