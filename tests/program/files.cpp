// SPDX-License-Identifier: BSL-1.0
// Files that are not there, not whole, or not what they should be.
#include "catch.hpp"
#include "program/program.hpp"

#include <sys/stat.h>

using namespace program;

namespace {

// Trouble for every command that reads a file, the file named.
void refused_by_all(const std::string& file, const std::string& part) {
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"check", "--op", "attention", file}, {"eval", "--op", "attention", file}, {"inspect", file}}) {
        const outcome o = run(arguments);
        INFO(arguments.front() << "\n" << shown(o));
        CHECK(is_trouble(o, {file, part}));
    }
}

} // namespace

TEST_CASE("a truncated .npz is trouble, with one line that names it", "[program]") {
    const std::string file = dump("broken/truncated.npz");
    refused_by_all(file, "not a zip");
    const outcome o = run({"check", file});
    INFO(shown(o));
    CHECK(is_trouble(o, {"attest: " + file + ": "}));
}

TEST_CASE("a .npz cut anywhere is trouble", "[program]") {
    const std::string whole = content(attention_case{}.write("whole.npz"));
    REQUIRE(whole.size() > 500);
    for (std::size_t cut = 0; cut < whole.size(); cut += 1 + whole.size() / 23) {
        write(scratch("cut.npz"), whole.substr(0, cut));
        const outcome o = run({"check", scratch("cut.npz").string()});
        INFO("cut after " << cut << " of " << whole.size() << " bytes\n" << shown(o));
        CHECK(is_trouble(o, {"cut.npz"}));
    }
}

TEST_CASE("a file that cannot be opened is trouble", "[program]") {
    refused_by_all(scratch("nowhere.npz").string(), "no such file");
    refused_by_all(scratch("nowhere.npy").string(), "no such file");
    refused_by_all(scratch().string(), "folder");
    refused_by_all("/", "folder");
    refused_by_all(attention_case{}.write("file.npz") + "/inside.npz", "no such file");
    refused_by_all(std::string(300, 'a'), "too long");
    REQUIRE(::symlink("loop.npz", scratch("loop.npz").c_str()) == 0);
    refused_by_all(scratch("loop.npz").string(), "symbolic links");
    const outcome o = run({"check", ""});
    INFO(shown(o));
    CHECK(is_trouble(o, {"no such file"}));
}

TEST_CASE("a file that may not be read is trouble", "[program]") {
    const std::string file = attention_case{}.write("secret.npz");
    std::filesystem::permissions(file, std::filesystem::perms::none);
    if (std::ifstream(file).good()) {
        WARN("this user reads every file; not tested here");
        return;
    }
    refused_by_all(file, "ermission denied");
}

TEST_CASE("pipes and devices are refused, not waited for", "[program]") {
    REQUIRE(::mkfifo(scratch("pipe.npz").c_str(), 0600) == 0);
    refused_by_all(scratch("pipe.npz").string(), "pipe or a device");
    refused_by_all("/dev/zero", "pipe or a device");
}

TEST_CASE("what is no .npz, or not of this version, is trouble", "[program]") {
    const auto file = [](const std::string& name, const std::string& bytes) {
        write(scratch(name), bytes);
        return scratch(name).string();
    };
    refused_by_all(file("empty.npz", ""), "not a zip, 0 bytes");
    refused_by_all(file("text.npz", "hello, world; this is no archive at all, whatever its name says"), "not a zip");
    refused_by_all(file("empty.npy", ""), "empty.npy");
    refused_by_all(file("text.npy", "hello"), "text.npy");
    refused_by_all(file("a.safetensors", std::string(16, '\0')), "safetensors");
}

TEST_CASE("an archive without members has nothing to compare", "[program]") {
    attest::write_npz(scratch("nothing.npz"), {});
    const std::string file = scratch("nothing.npz").string();
    CHECK(is_trouble(run({"check", file}), {"no op is given", "none has its inputs"}));
    CHECK(is_trouble(run({"check", file, "--op", "attention"}), {file, "nothing to compare"}));
    CHECK(is_trouble(run({"eval", file, "--op", "attention"}), {file, "needs an input 'q'"}));
    const outcome o = run({"inspect", file});
    INFO(shown(o));
    CHECK((o.status == 0 && o.out.empty() && o.err.empty()));
}

TEST_CASE("a place that cannot be written is trouble", "[program]") {
    const std::string good = attention_case{}.write("good.npz");
    for (const std::string& place : {scratch("no/such/folder/out.npz").string(), scratch().string(), std::string("/dev/null/out.npz")}) {
        const outcome o = run({"eval", good, "-o", place});
        INFO(shown(o));
        CHECK(is_trouble(o, {place, "cannot be written"}));
    }
}
