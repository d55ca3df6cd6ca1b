// SPDX-License-Identifier: BSL-1.0
// attest inspect: what a file holds.
#include "catch.hpp"
#include "program/program.hpp"

#include <sstream>

using namespace program;

namespace {

// The line that begins with a name, words separated by single spaces.
std::string line_of(const outcome& o, const std::string& name) {
    std::istringstream stream(o.out);
    for (std::string line; std::getline(stream, line);) {
        std::istringstream words(line);
        std::string word, all;
        while (words >> word) all += (all.empty() ? "" : " ") + word;
        if (all.rfind(name + " ", 0) == 0) return all;
    }
    return "(no line)";
}

} // namespace

TEST_CASE("inspect shows names, types, shapes, ranges, and counts what is not finite", "[program]") {
    attest::archive file;
    file.arrays.push_back({"a", numbers(dtype::f64, {2, 2}, {-1.5, 0, 0.1, 3e20})});
    file.arrays.push_back({"b", numbers(dtype::f32, {5}, {NAN, 1, INFINITY, -INFINITY, NAN})});
    file.arrays.push_back({"c", numbers(dtype::f16, {1}, {0.5})});
    file.arrays.push_back({"d", numbers(dtype::bf16, {2}, {1, 2})});
    file.arrays.push_back({"e", {dtype::boolean, {3}, {std::byte{0}, std::byte{1}, std::byte{1}}}});
    file.arrays.push_back({"f", {dtype::i8, {2}, {std::byte{0xff}, std::byte{7}}}});
    file.arrays.push_back({"g", {dtype::f64, {0, 4}, {}}});
    file.arrays.push_back({"h", numbers(dtype::f64, {2}, {NAN, NAN})});
    file.arrays.push_back({"i", numbers(dtype::f64, {}, {42})});
    file.texts.emplace_back("attest.json", "{\n  \"op\":\t\"attention\"\n}\n");
    file.texts.emplace_back("evil.json", "\x1b[31m");
    attest::write_npz(scratch("many.npz"), file);
    const outcome o = run({"inspect", scratch("many.npz").string()});
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(o.err.empty());
    CHECK(line_of(o, "a") == "a f64 [2, 2] -1.5 to 3e+20");
    CHECK(line_of(o, "b") == "b f32 [5] 1 to 1, 2 NaN, 2 infinite");
    CHECK(line_of(o, "c") == "c f16 [1] 0.5 to 0.5");
    CHECK(contains(line_of(o, "d"), "d V2 [2] two bytes of a type that NumPy does not know; if bf16: --bf16 d"));
    CHECK(line_of(o, "e") == "e bool [3] 0 to 1");
    CHECK(line_of(o, "f") == "f i8 [2] -1 to 7");
    CHECK(line_of(o, "g") == "g f64 [0, 4] empty");
    CHECK(line_of(o, "h") == "h f64 [2] no finite value, 2 NaN");
    CHECK(line_of(o, "i") == "i f64 [] 42 to 42");
    CHECK(line_of(o, "attest.json") == "attest.json text { \"op\": \"attention\" }");
    CHECK(lines(o.out) == 11);
    CHECK_FALSE(contains(o.out, "\x1b"));

    const outcome told = run({"inspect", scratch("many.npz").string(), "--bf16", "d"});
    INFO(shown(told));
    CHECK(line_of(told, "d") == "d bf16 [2] 1 to 2");
    CHECK(is_trouble(run({"inspect", scratch("many.npz").string(), "--bf16", "a"}), {"many.npz", "--bf16 a"}));
}

TEST_CASE("inspect reads a .npy under its own name", "[program]") {
    attest::write_npy(scratch("values.npy"), numbers(dtype::f32, {2}, {1, -2}));
    const outcome o = run({"inspect", scratch("values.npy").string()});
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(line_of(o, "values") == "values f32 [2] -2 to 1");
    CHECK(lines(o.out) == 1);
}

TEST_CASE("inspect shows integers beyond 2^53 as well", "[program]") {
    attest::array big{dtype::i64, {1}, std::vector<std::byte>(8, std::byte{0x7f})};
    attest::write_npy(scratch("big.npy"), big);
    const outcome o = run({"inspect", scratch("big.npy").string()});
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(contains(line_of(o, "big"), "big i64 [1] "));
}

TEST_CASE("inspect reads every dump", "[program]") {
    for (const auto& entry : std::filesystem::directory_iterator(ATTEST_DUMPS_DIR)) {
        if (entry.path().extension() != ".npz") continue;
        const outcome o = run({"inspect", entry.path().string()});
        INFO(entry.path() << "\n" << shown(o));
        CHECK(o.status == 0);
        CHECK(lines(o.out) >= 2);
    }
}
