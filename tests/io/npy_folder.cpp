// SPDX-License-Identifier: BSL-1.0
#include "attest/io/npy_folder.hpp"
#include "attest/io/npz.hpp"
#include "catch.hpp"
#include "io/crafted.hpp"

#include <fstream>
#include <sys/stat.h>

using namespace crafted;
using attest::dtype;

namespace {

/// A folder for one test, empty.
std::filesystem::path folder(const std::string& name) {
    const std::filesystem::path path = scratch("folder-" + name);
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
    return path;
}

void put(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

attest::array sevens(std::vector<std::size_t> shape) {
    attest::array a{dtype::u8, std::move(shape), {}};
    a.data.assign(a.view().bytes(), std::byte{7});
    return a;
}

std::string names(const attest::archive& content) {
    std::string text;
    for (const attest::named_array& item : content.arrays) text += item.name + " ";
    return text;
}

std::string refused(const std::filesystem::path& path) {
    return refusal([&path] { return attest::read_npy_folder(path); });
}

} // namespace

TEST_CASE("a folder of .npy is read: names sorted, texts and others told apart", "[io]") {
    const std::filesystem::path path = folder("good");
    attest::write_npy(path / "v.npy", sevens({2, 3}));
    attest::write_npy(path / "k.npy", sevens({0, 3}));
    attest::write_npy(path / "q.weight.npy", sevens({}));
    attest::write_npy(path / "É.npy", sevens({1}));
    put(path / "attest.json", R"({"op": "attention"})");
    put(path / "more.json", "");
    put(path / "notes.txt", "x");
    std::filesystem::create_directory(path / "sub");
    attest::write_npy(path / "sub" / "inside.npy", sevens({1}));
    const attest::archive content = attest::read_npy_folder(path);
    CHECK(names(content) == "k q.weight v É ");
    CHECK(content.arrays[2].value.shape == std::vector<std::size_t>{2, 3});
    CHECK(content.arrays[2].value.data == std::vector<std::byte>(6, std::byte{7}));
    CHECK(content.texts == std::vector<std::pair<std::string, std::string>>{{"attest.json", R"({"op": "attention"})"},
                                                                            {"more.json", ""}});
    CHECK(content.warnings == std::vector<std::string>{path.string() + ": member notes.txt: not an array, ignored",
                                                       path.string() + ": member sub: not an array, ignored"});
}

TEST_CASE("a folder is what the .npz of its files is", "[io]") {
    const std::filesystem::path path = folder("like-npz");
    attest::write_npy(path / "a.npy", sevens({2}));
    attest::write_npy(path / "b.npy", sevens({3, 1}));
    put(path / "attest.json", "{}");
    const attest::archive content = attest::read_npy_folder(path);
    attest::write_npz(scratch("like-folder.npz"), content);
    const attest::archive zipped = attest::read_npz(scratch("like-folder.npz"));
    CHECK(names(zipped) == names(content));
    CHECK(zipped.texts == content.texts);
    for (std::size_t i = 0; i < 2; ++i) CHECK(zipped.arrays.at(i).value.data == content.arrays.at(i).value.data);
}

TEST_CASE("a warning of a file in a folder names it", "[io]") {
    const std::filesystem::path path = folder("python2");
    put(path / "q.npy", npy(dict("|u1", "(1L,)"), "x"));
    const attest::archive content = attest::read_npy_folder(path);
    REQUIRE(content.warnings.size() == 1);
    CHECK(says(content.warnings[0], {path.string() + "/q.npy: ", "suffix L"}));
}

TEST_CASE("symbolic links are followed to files, and to nothing else", "[io]") {
    const std::filesystem::path path = folder("links");
    attest::write_npy(scratch("linked"), sevens({4}));
    std::filesystem::create_symlink(std::filesystem::absolute(scratch("linked")), path / "q.npy");
    CHECK(names(attest::read_npy_folder(path)) == "q ");
    std::filesystem::create_directory_symlink(path, scratch("folder-link"));
    CHECK(names(attest::read_npy_folder(scratch("folder-link"))) == "q ");
    std::filesystem::remove(scratch("folder-link"));

    std::filesystem::create_symlink("nowhere", path / "k.npy");
    CHECK(refused(path) == path.string() + "/k.npy: is a symbolic link to no file; expected a file");
    std::filesystem::remove(path / "k.npy");
    std::filesystem::create_symlink("loop.npy", path / "loop.npy");
    CHECK(says(refused(path), {path.string() + "/loop.npy: ", "symbolic link"}));
    std::filesystem::remove(path / "loop.npy");
    std::filesystem::create_symlink(path, path / "folder.npy");
    CHECK(says(refused(path), {path.string() + "/folder.npy: is a directory; expected a file"}));
    std::filesystem::remove(path / "folder.npy");
    std::filesystem::create_symlink("nowhere", path / "attest.json");
    CHECK(says(refused(path), {path.string() + "/attest.json: is a symbolic link to no file"}));
}

TEST_CASE("a file in a folder that is no array is refused with its name", "[io]") {
    const std::filesystem::path path = folder("bad");
    attest::write_npy(path / "q.npy", sevens({4}));
    const auto with = [&path](const std::string& name, const std::string& text) {
        put(path / name, text);
        const std::string line = refused(path);
        std::filesystem::remove(path / name);
        return line;
    };
    CHECK(says(with("k.npy", "hello"), {path.string() + "/k.npy: not a npy file, 5 bytes"}));
    CHECK(says(with("k.npy", npy(dict("<f4", "(2,)"), "1234567")),
               {path.string() + "/k.npy: shape [2] of f32 needs 8 bytes"}));
    CHECK(says(with("k.npy", npy(dict("|O", "(2,)"), "x")), {path.string() + "/k.npy: descr '|O'", "pickle"}));
    CHECK(with("big.json", std::string(1024 * 1024 + 1, ' ')) ==
          path.string() + "/big.json: text of 1048577 bytes; expected at most 1048576");
    CHECK(says(with(".npy", "x"), {path.string() + "/.npy: unsafe name: it has nothing before .npy"}));
    CHECK(says(with("a\nb.npy", "x"), {path.string() + "/a\\x0ab.npy: unsafe name: it has a control byte"}));
    CHECK(says(with("a\xff.npy", "x"), {path.string() + "/a\\xff.npy: unsafe name: it is not UTF-8"}));
    std::filesystem::create_directory(path / "x.npy");
    CHECK(refused(path) == path.string() + "/x.npy: is a directory; expected a file");
    std::filesystem::remove(path / "x.npy");
    REQUIRE(::mkfifo((path / "pipe.npy").c_str(), 0600) == 0); // not waited for
    CHECK(says(refused(path), {path.string() + "/pipe.npy: is a pipe or a device"}));
    std::filesystem::remove(path / "pipe.npy");
    CHECK(names(attest::read_npy_folder(path)) == "q ");
}

TEST_CASE("control bytes in names that are passed over do not reach a terminal", "[io]") {
    const std::filesystem::path path = folder("escape");
    attest::write_npy(path / "q.npy", sevens({4}));
    put(path / "\x1b[31m", "x");
    const attest::archive content = attest::read_npy_folder(path);
    CHECK(content.warnings == std::vector<std::string>{path.string() + ": member \\x1b[31m: not an array, ignored"});
}

TEST_CASE("a file or a folder that may not be read is refused", "[io]") {
    const std::filesystem::path path = folder("secret");
    attest::write_npy(path / "q.npy", sevens({4}));
    std::filesystem::permissions(path / "q.npy", std::filesystem::perms::none);
    if (std::ifstream(path / "q.npy").good()) {
        WARN("this user reads every file; not tested here");
        return;
    }
    CHECK(says(refused(path), {path.string() + "/q.npy: cannot be opened: Permission denied"}));
    std::filesystem::permissions(path, std::filesystem::perms::none);
    CHECK(says(refused(path), {path.string() + ": cannot be read: Permission denied"}));
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

TEST_CASE("what is no folder of .npy is refused", "[io]") {
    const std::filesystem::path path = folder("empty");
    CHECK(refused(path) == path.string() + ": folder without a .npy file; expected NAME.npy for each tensor");
    put(path / "attest.json", "{}");
    put(path / "q.NPY", "x");
    CHECK(says(refused(path), {"folder without a .npy file"}));
    CHECK(refused(path / "nowhere") == (path / "nowhere").string() + ": no such folder");
    CHECK(refused(path / "q.NPY") == (path / "q.NPY").string() + ": is not a folder; expected a folder");
    CHECK(says(refused(""), {"no such folder"}));
    CHECK(says(refused(std::string(300, 'a')), {"cannot be read: File name too long"}));
}

TEST_CASE("a folder of very many files is refused", "[io]") {
    const std::filesystem::path path = folder("many");
    for (std::size_t i = 0; i <= attest::npy_folder_limit; ++i)
        std::filesystem::create_symlink("nowhere", path / std::to_string(i));
    CHECK(refused(path) == path.string() + ": folder with more than 65536 files; expected fewer");
    std::filesystem::remove_all(path);
}
