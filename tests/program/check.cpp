// SPDX-License-Identifier: BSL-1.0
// attest check: where inputs, candidates and conventions come from, and how its report is told.
#include "catch.hpp"
#include "json_text.hpp"
#include "program/program.hpp"

#include <fcntl.h>

using namespace program;

namespace {

// A pseudo terminal: what is written to `name` can be read back.
class terminal {
public:
    terminal() : descriptor_{::posix_openpt(O_RDWR | O_NOCTTY)} {
        if (descriptor_ >= 0 && ::grantpt(descriptor_) == 0 && ::unlockpt(descriptor_) == 0) {
            name_ = ::ptsname(descriptor_);
            keep_ = ::open(name_.c_str(), O_RDWR | O_NOCTTY); // so that what was written stays after the writer is gone
        }
    }
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;
    ~terminal() {
        if (keep_ >= 0) ::close(keep_);
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] bool usable() const { return keep_ >= 0; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::string read() const {
        ::fcntl(descriptor_, F_SETFL, O_NONBLOCK);
        std::string text;
        char buffer[4096];
        for (ssize_t got = 0; (got = ::read(descriptor_, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(got));
        return text;
    }

private:
    int descriptor_ = -1, keep_ = -1;
    std::string name_;
};

bool coloured(const std::string& text) { return contains(text, "\x1b["); }

} // namespace

TEST_CASE("a report says what was checked, under which conventions, and the verdict", "[program]") {
    const std::string file = attention_case{}.write("plain.npz");
    const outcome o = run({"check", file, "--arithmetic", "f64"});
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(o.err.empty());
    for (const std::string& part : {file, std::string("attention"), std::string("q [3, 4] f64"), std::string("out [3, 2] f64"), std::string("causal=none"), std::string("scale=1/sqrt(d_k)"),
                                   std::string("f64 (declared)"), std::string("consistent")})
        CHECK(contains(o.out, part));
}

TEST_CASE("the case's own conventions hold, and the command line wins over them", "[program]") {
    attention_case c;
    c.scale = 0.25;
    c.json = R"({"op": "attention", "scale": 0.25})";
    const std::string quarter = c.write("quarter.npz");
    CHECK(run({"check", quarter}).status == 0);
    CHECK(run({"check", quarter, "--scale", "0.25"}).status == 0);
    CHECK(run({"check", quarter, "--scale", "0x1p-2"}).status == 0);
    CHECK(run({"check", quarter, "--scale", "1/sqrt(d_k)"}).status == 1);
    CHECK(run({"check", quarter, "--scale", "-0.25"}).status == 1);
    CHECK(run({"check", quarter, "--causal", "top-left"}).status == 1);
    c.scale = -0.25;
    c.json = "";
    const std::string bare = c.write("bare.npz");
    CHECK(run({"check", bare, "--op", "attention", "--scale", "-0.25"}).status == 0);
    CHECK(run({"check", bare, "--op", "attention", "--scale=-0.25"}).status == 0);
    CHECK(run({"check", "--op", "attention", "--scale", "-0.25", bare}).status == 0);
    CHECK(is_trouble(run({"check", bare}), {bare, "no op is given", "Ops that fit: attention"}));
}

TEST_CASE("softmax runs along the axis that is said, from the end if negative", "[program]") {
    // Along axis 0 of [2, 3]: columns of equal entries.
    const std::string file = softmax_case("columns.npz", dtype::f64, {2, 3}, {1, 2, 3, 1, 2, 3}, std::vector<double>(6, 0.5), R"({"op": "softmax", "axis": 0})");
    CHECK(run({"check", file}).status == 0);
    CHECK(run({"check", file, "--axis", "-2"}).status == 0);
    CHECK(run({"check", file, "--axis=-2"}).status == 0);
    CHECK(run({"check", file, "--axis", "0"}).status == 0);
    CHECK(run({"check", file, "--axis", "-1"}).status == 1);
    CHECK(run({"check", file, "--axis", "1"}).status == 1);
    CHECK(is_trouble(run({"check", file, "--axis", "2"}), {file, "x [2, 3] has no axis 2"}));
    CHECK(is_trouble(run({"check", file, "--axis", "-3"}), {"x [2, 3] has no axis -3"}));
}

TEST_CASE("--candidate takes the outputs from another file", "[program]") {
    attention_case c;
    const std::string right = c.write("right.npz");
    c.out = std::vector<double>(6, 0.25);
    const std::string wrong = c.write("wrong.npz");
    const attest::array good = numbers(dtype::f64, {3, 2}, attention_case{}.computed());

    attest::write_npz(scratch("outputs.npz"), {{{"out", good}}});
    attest::write_npy(scratch("out.npy"), good);
    attest::write_npy(scratch("result.npy"), good);
    for (const std::string& candidate : {scratch("outputs.npz").string(), scratch("out.npy").string(), right}) {
        const outcome o = run({"check", wrong, "--candidate", candidate});
        INFO(shown(o));
        CHECK(o.status == 0);
        CHECK(contains(o.out, "member 'out' of the case is not checked")); // a warning, since it was there
    }
    CHECK(run({"check", right, "--candidate", wrong}).status == 1);
    CHECK(run({"check", wrong, "--candidate", scratch("result.npy").string(), "--name", "out=result"}).status == 0);
    CHECK(is_trouble(run({"check", right, "--candidate", scratch("result.npy").string()}), {"nothing to compare"})); // not the case's own instead
    CHECK(is_trouble(run({"check", right, "--candidate", scratch("none.npz").string()}), {"none.npz", "no such file"}));

    attest::archive inputs = c.held();
    inputs.arrays.pop_back();
    attest::write_npz(scratch("inputs.npz"), inputs);
    CHECK(is_trouble(run({"check", scratch("inputs.npz").string()}), {"inputs.npz", "nothing to compare", "only q, k, v", "--name out=MEMBER"}));
    CHECK(run({"check", scratch("inputs.npz").string(), "--candidate", scratch("out.npy").string()}).status == 0);

    std::filesystem::create_directories(scratch("turned"));
    attest::write_npy(scratch("turned/out.npy"), numbers(dtype::f64, {2, 3}, std::vector<double>(6, 0.0)));
    CHECK(is_trouble(run({"check", right, "--candidate", scratch("turned/out.npy").string()}), {"out [2, 3] does not have the shape", "expected [3, 2]"}));
}

TEST_CASE("--name tells which member is which", "[program]") {
    attest::archive file = attention_case{}.held();
    for (attest::named_array& a : file.arrays) a.name = "my_" + a.name;
    attest::write_npz(scratch("named.npz"), file);
    const std::string named = scratch("named.npz").string();
    CHECK(run({"check", named, "--name", "q=my_q", "--name", "k=my_k", "--name", "v=my_v", "--name", "out=my_out"}).status == 0);
    CHECK(run({"check", named, "--name", "q=my_q", "--name", "k=my_k", "--name", "v=my_v", "--name", "lse=my_out"}).status == 2);
    CHECK(is_trouble(run({"check", named, "--name", "q=my_q", "--name", "k=my_k", "--name", "out=my_out"}), {"needs an input 'v'", "q, k"}));
    // What q is called after another name is the case's business, but a candidate that is called k is refused.
    CHECK(is_trouble(run({"check", named, "--name", "q=my_q", "--name", "q=my_k", "--name", "v=my_v", "--name", "out=my_out"}), {"--name q=my_k", "named twice"}));
}

TEST_CASE("two-byte arrays are bf16 only when told", "[program]") {
    attention_case c;
    c.type = dtype::bf16;
    attest::archive file = c.held();
    attest::write_npz(scratch("bf16.npz"), file);
    for (attest::named_array& a : file.arrays) a.value.type = dtype::u16;
    attest::write_npz(scratch("u16.npz"), file);
    for (const std::string& name : {scratch("bf16.npz").string(), scratch("u16.npz").string()}) {
        CHECK(run({"check", name, "--bf16", "all"}).status == 0);
        CHECK(run({"check", name, "--bf16", "q,k,v,out"}).status == 0);
        CHECK(run({"check", name, "--bf16", "q", "--bf16", "k,v", "--bf16", "out"}).status == 0);
        CHECK(is_trouble(run({"check", name}), {name, "--bf16"}));
        CHECK(is_trouble(run({"check", name, "--bf16", "q,k,v"}), {"out [3, 2]", "--bf16 out"}));
    }
    // A name may be of the candidate's file.
    attest::archive wide = attention_case{}.held();
    wide.arrays.pop_back();
    attest::write_npz(scratch("wide.npz"), wide);
    attest::write_npz(scratch("narrow.npz"), {{file.arrays.back()}});
    CHECK(run({"check", scratch("wide.npz").string(), "--candidate", scratch("narrow.npz").string(), "--bf16", "out"}).status == 0);
    CHECK(run({"check", scratch("wide.npz").string(), "--candidate", scratch("narrow.npz").string(), "--bf16", "all"}).status == 0);
    CHECK(is_trouble(run({"check", scratch("wide.npz").string(), "--candidate", scratch("narrow.npz").string()}), {"--bf16 out"}));
    // Where both files have one of that name, it is of the one that has two bytes there.
    CHECK(run({"check", attention_case{}.write("full.npz"), "--candidate", scratch("narrow.npz").string(), "--bf16", "out"}).status == 0);
    const std::string narrow_case = c.write("narrow-case.npz");
    attest::write_npy(scratch("out.npy"), numbers(dtype::f32, {3, 2}, c.computed()));
    CHECK(run({"check", narrow_case, "--candidate", scratch("out.npy").string(), "--bf16", "q,k,v,out"}).status == 0);
    CHECK(is_trouble(run({"check", scratch("wide.npz").string(), "--candidate", scratch("narrow.npz").string(), "--bf16", "q"}), {"--bf16 q", "f64"}));
    CHECK(is_trouble(run({"check", scratch("wide.npz").string(), "--candidate", scratch("narrow.npz").string(), "--bf16", "nope"}), {"--bf16 nope"}));
}

TEST_CASE("members that nothing uses are warned of, and near misses are trouble", "[program]") {
    attention_case c;
    c.more.push_back({"gradient", numbers(dtype::f64, {1}, {0})});
    const outcome o = run({"check", c.write("more.npz")});
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(contains(o.out, "warning      member 'gradient'"));
    c.more.front().name = "Mask";
    CHECK(is_trouble(run({"check", c.write("near.npz")}), {"near.npz", "member 'Mask' differs from 'mask' only in case or separator", "--name mask=Mask"}));
    c.more.front().name = "dropout_mask";
    CHECK(is_trouble(run({"check", c.write("later.npz")}), {"later.npz", "dropout_mask is given: declare dropout-p"}));
}

TEST_CASE("colours are for terminals, unless asked for", "[program]") {
    const std::string file = attention_case{}.write("colours.npz");
    CHECK_FALSE(coloured(run({"check", file}).out));
    CHECK_FALSE(coloured(run({"check", file, "--color", "never"}).out));
    CHECK_FALSE(coloured(run({"check", file, "--color", "auto"}).out));
    CHECK(coloured(run({"check", file, "--color", "always"}).out));
    CHECK(coloured(run({"check", file, "--color", "always"}, "NO_COLOR=1").out));
    CHECK_FALSE(coloured(run({"check", file, "--json", "--color", "always"}).out));

    const auto on_a_terminal = [&](const std::string& before, std::vector<std::string> more) {
        const terminal there;
        if (!there.usable()) return std::string();
        more.insert(more.begin(), {"check", file});
        CHECK(run(more, before, ">" + there.name()).status == 0);
        return there.read();
    };
    if (!terminal().usable()) {
        WARN("no pseudo terminal here; colours on a terminal are not tested");
        return;
    }
    const std::string shown_there = on_a_terminal("NO_COLOR=", {});
    INFO(shown_there);
    CHECK(contains(shown_there, "consistent"));
    CHECK(coloured(shown_there));
    CHECK_FALSE(coloured(on_a_terminal("NO_COLOR=1", {})));
    CHECK_FALSE(coloured(on_a_terminal("NO_COLOR=", {"--color", "never"})));
    CHECK(coloured(on_a_terminal("NO_COLOR=1", {"--color", "always"})));
}

TEST_CASE("--json prints one object a line and case, trouble included", "[program]") {
    attention_case c;
    const std::string right = c.write("right.npz");
    c.out = std::vector<double>(6, NAN);
    c.json = R"({"op": "attention", "causal": "top-left", "arithmetic": "f32"})";
    const std::string wrong = c.write("wrong.npz");
    const std::string missing = scratch("missing.npz").string();
    const outcome o = run({"check", "--json", right, missing, wrong});
    INFO(shown(o));
    CHECK(o.status == 2);
    CHECK(lines(o.out) == 3);
    CHECK(lines(o.err) == 1);
    const auto all = objects(o);
    REQUIRE(all.size() == 3);
    CHECK(all[0]["verdict"] == "consistent");
    CHECK(all[0]["assumed"] == true);
    CHECK(all[0]["arithmetic"] == "f64");
    CHECK(all[0]["seconds"]["read"].get<double>() > 0);
    CHECK(all[1]["case"] == missing);
    CHECK(contains(all[1]["error"].get<std::string>(), "no such file"));
    CHECK_FALSE(all[1].contains("verdict"));
    CHECK(all[2]["verdict"] == "wrong");
    CHECK(all[2]["first_bad_stage"] == "out");
    CHECK(all[2]["conventions"]["causal"] == "top-left");
    CHECK(all[2]["arithmetic"] == "f32");
    CHECK(all[2]["assumed"] == false);
    CHECK(all[2]["outputs"][0]["worst"]["got"] == "nan");
    CHECK(all[2]["outputs"][0]["max_ulp"] == "inf");
    CHECK(all[2]["outputs"][0]["not_finite"] == 6);

    // A usage error that concerns no case has no object.
    const outcome usage = run({"check", "--json", right, "--nope"});
    INFO(shown(usage));
    CHECK(is_trouble(usage));
    // One that concerns a case does.
    const outcome convention = run({"check", "--json", right, "--causal", "no"});
    INFO(shown(convention));
    CHECK(convention.status == 2);
    REQUIRE(objects(convention).size() == 1);
    CHECK(contains(objects(convention)[0]["error"].get<std::string>(), "'causal' has no value 'no'"));
}
