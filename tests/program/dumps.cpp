// SPDX-License-Identifier: BSL-1.0
// Each line of tests/dumps/expected.txt is a dump and the verdict that it must get.
#include "catch.hpp"
#include "program/program.hpp"

#include <sstream>

using namespace program;

namespace {

struct expectation {
    std::string line;
    std::vector<std::string> arguments;
    int status = 0;
};

// `folder`: "" or "blocks/".
std::vector<expectation> expectations(const std::string& folder = "") {
    std::vector<expectation> all;
    std::ifstream file(dump(folder + "expected.txt"));
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string name, verdict;
        if (!(words >> name)) continue;
        expectation e{line, {"check", dump(folder + name)}, 0};
        words >> verdict;
        if (verdict != "right" && verdict != "wrong" && verdict != "undecided") throw std::runtime_error("expected.txt: neither right nor wrong nor undecided: " + line);
        e.status = verdict == "wrong" ? 1 : verdict == "undecided" ? 3 : 0;
        for (std::string word; words >> word;) e.arguments.push_back(word);
        all.push_back(e);
    }
    return all;
}

} // namespace

TEST_CASE("every dump gets its verdict", "[program]") {
    const std::vector<expectation> all = expectations();
    CHECK(all.size() >= 80);
    std::size_t wrong = 0;
    for (const expectation& e : all) {
        wrong += e.status == 1 ? 1 : 0;
        const outcome o = run(e.arguments);
        INFO(e.line << "\n" << shown(o));
        CHECK(o.status == e.status);
        CHECK(o.err.empty());
    }
    CHECK(wrong >= 15);
}

TEST_CASE("every dump of a block gets its verdict", "[program]") {
    const std::vector<expectation> all = expectations("blocks/");
    std::size_t right = 0, wrong = 0, undecided = 0;
    for (const expectation& e : all) {
        (e.status == 0 ? right : e.status == 1 ? wrong : undecided) += 1;
        const outcome o = run(e.arguments);
        INFO(e.line << "\n" << shown(o));
        CHECK(o.status == e.status);
        CHECK(o.err.empty());
    }
    CHECK(right >= 40);
    CHECK(wrong >= 15);
    CHECK(undecided >= 20);
}

TEST_CASE("a report claims no more for a limit than is known of it", "[program]") {
    const outcome first_order = run({"check", dump("blocks/torch-decoder-post-f64.npz")});
    INFO(shown(first_order));
    CHECK(contains(first_order.out, "inside the first-order limit"));
    CHECK(contains(first_order.out, "first-order and not proved"));
    CHECK_FALSE(contains(first_order.out, "worst-case"));
    const outcome certain = run({"check", dump("numpy-f64.npz")});
    INFO(shown(certain));
    CHECK(contains(certain.out, "inside the certain limit")); // of so few terms that the expected one is not below it
    CHECK(contains(certain.out, "it is nowhere below the certain limit"));
    const outcome expected = run({"check", dump("torch-flash-bf16-mean-4.npz"), "--bf16", "all"});
    INFO(shown(expected));
    CHECK(contains(expected.out, "inside the expected limit"));
    CHECK_FALSE(contains(certain.out, "first-order"));
}

TEST_CASE("what a dump of several stages gets wrong is named, in the order of computation", "[program]") {
    const outcome o = run({"check", dump("numpy-f64-stages.npz"), "--scale", "0.2"});
    INFO(shown(o));
    CHECK(o.status == 1);
    CHECK(contains(o.out, "first bad stage, in the order of computation: scores")); // raw_scores have no scale in them
}

TEST_CASE("every dump is named in its expected.txt, and every name there is a dump", "[program]") {
    for (const std::string folder : {"", "blocks/"}) {
        const std::string expected = content(dump(folder + "expected.txt"));
        for (const auto& entry : std::filesystem::directory_iterator(dump(folder))) {
            const std::string name = entry.path().filename().string();
            if (entry.path().extension() != ".npz" && entry.path().extension() != ".safetensors") continue;
            CAPTURE(folder, name);
            CHECK(contains(expected, name + " "));
        }
        for (const expectation& e : expectations(folder)) {
            CAPTURE(e.line);
            CHECK(std::filesystem::is_regular_file(e.arguments[1]));
        }
    }
}
