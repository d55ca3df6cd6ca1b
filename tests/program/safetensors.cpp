// SPDX-License-Identifier: BSL-1.0
// Cases in a .safetensors or in a folder of .npy: what check, eval and inspect make of them.
#include "catch.hpp"
#include "program/program.hpp"

#include "attest/io/metadata.hpp"
#include "attest/io/npy.hpp"
#include "attest/io/safetensors.hpp"

using namespace program;

namespace {

std::string as_safetensors(const std::string& name, const attest::archive& content) {
    attest::write_safetensors(scratch(name), content);
    return scratch(name).string();
}

/// The archive as a folder of .npy. Its path.
std::string as_folder(const std::string& name, const attest::archive& content) {
    std::filesystem::remove_all(scratch(name));
    std::filesystem::create_directory(scratch(name));
    for (const attest::named_array& a : content.arrays) attest::write_npy(scratch(name) / (a.name + ".npy"), a.value);
    for (const auto& [member, text] : content.texts) write(scratch(name) / member, text);
    return scratch(name).string();
}

/// A dump, its two-byte members said to be bf16 where they are.
attest::archive dumped(const std::string& name) {
    attest::archive file = attest::read_npz(dump(name));
    if (contains(name, "bf16"))
        for (attest::named_array& a : file.arrays)
            if (a.value.type == dtype::raw16 || a.value.type == dtype::u16) a.value.type = dtype::bf16;
    return file;
}

std::string source_file(const std::string& name) { return std::string(ATTEST_SOURCE_DIR) + "/tests/io/files/" + name; }

/// What check says, without the name of the case and the time it took.
nlohmann::json said(const std::string& file, const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments = {"check", "--json", file};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const outcome o = run(arguments);
    INFO(shown(o));
    REQUIRE(objects(o).size() == 1);
    nlohmann::json result = objects(o)[0];
    result["status"] = o.status;
    result.erase("case");
    result.erase("seconds");
    return result;
}

} // namespace

TEST_CASE("a case is judged the same in every format", "[program]") {
    attention_case c;
    c.json = R"({"op": "attention", "arithmetic": "f64"})";
    const auto judged = [&c](int status) {
        const std::string npz = c.write("formats.npz");
        const nlohmann::json expected = said(npz);
        CHECK(expected["status"] == status);
        CHECK(said(as_safetensors("formats.safetensors", c.held())) == expected);
        CHECK(said(as_folder("formats", c.held())) == expected);
    };
    judged(0);
    c.out = c.computed();
    c.out[3] += 0.01;
    judged(1);
    c.out = {};
    c.mask.assign(15, 0.0);
    c.mask[7] = -INFINITY;
    judged(0);
}

TEST_CASE("softmax in a .safetensors and in a folder", "[program]") {
    const double e = 1 / (1 + std::exp(1.0));
    attest::archive file;
    file.arrays = {{"x", numbers(dtype::f64, {2}, {1, 2})}, {"out", numbers(dtype::f64, {2}, {e, 1 - e})}};
    file.texts = {{"attest.json", R"({"op": "softmax"})"}};
    CHECK(run({"check", as_safetensors("softmax.safetensors", file)}).status == 0);
    CHECK(run({"check", as_folder("softmax", file)}).status == 0);
    file.arrays[1].value = numbers(dtype::f64, {2}, {1 - e, e});
    CHECK(run({"check", as_safetensors("softmax.safetensors", file)}).status == 1);
    CHECK(run({"check", as_folder("softmax", file)}).status == 1);
}

TEST_CASE("a bf16 case of PyTorch is judged as it comes", "[program]") {
    const outcome o = run({"check", source_file("attention.safetensors")});
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(contains(o.out, "q [1, 2, 5, 8] bf16"));
    CHECK(contains(o.out, "bf16+f32 (declared)"));

    attest::archive file = attest::read_safetensors(source_file("attention.safetensors"));
    for (attest::named_array& a : file.arrays) {
        REQUIRE(a.value.type == dtype::bf16);
        if (a.name == "out") attest::encode(a.value, 3, 2 * attest::decode(a.value, 3) + 1);
    }
    const outcome broken = run({"check", as_safetensors("broken.safetensors", file)});
    INFO(shown(broken));
    CHECK(broken.status == 1);
    CHECK(contains(broken.out, "farthest [0, 0, 0, 3]"));
}

TEST_CASE("bf16 dumps without --bf16 get the verdict that they get with it", "[program]") {
    for (const char* const name : {"torch-flash-bf16.npz", "torch-math-bf16.npz", "jax-softmax-bf16.npz", "wrong-lse-fast-exp-bf16.npz"}) {
        CAPTURE(name);
        const std::string file = as_safetensors("dump.safetensors", dumped(name));
        CHECK(said(file) == said(dump(name), {"--bf16", "all"}));
        CHECK(run({"check", file, "--bf16", "all"}).status == run({"check", file}).status);
    }
    // In a folder they are NumPy's two bytes again.
    const std::string folder = as_folder("dump", dumped("torch-flash-bf16.npz"));
    CHECK(is_trouble(run({"check", folder}), {folder, "--bf16"}));
    CHECK(said(folder, {"--bf16", "all"}) == said(dump("torch-flash-bf16.npz"), {"--bf16", "all"}));
}

TEST_CASE("the command line wins over __metadata__, and its mistakes are named", "[program]") {
    attention_case c;
    c.json = R"({"op": "attention", "causal": "top-left"})";
    const std::string file = as_safetensors("told.safetensors", c.held());
    CHECK(run({"check", file}).status == 1);
    CHECK(run({"check", file, "--causal", "none"}).status == 0);
    attest::archive content = c.held();
    content.texts = {{"attest.json", R"({"op": })"}};
    CHECK(is_trouble(run({"check", as_safetensors("told.safetensors", content)}), {"told.safetensors: member attest.json: not JSON"}));
    content.texts = {{"attest.json", R"({"op": "attention", "cuasal": "none"})"}};
    CHECK(is_trouble(run({"check", as_safetensors("told.safetensors", content)}), {"told.safetensors", "cuasal"}));
    content.texts = {{"format", "pt"}};
    CHECK(is_trouble(run({"check", as_safetensors("told.safetensors", content)}), {"no op is given"}));
    CHECK(run({"check", as_safetensors("told.safetensors", content), "--op", "attention"}).status == 0);
}

TEST_CASE("a candidate may come in any format", "[program]") {
    attention_case c;
    attest::archive out;
    out.arrays = {{"out", numbers(dtype::f64, {3, 2}, c.computed())}};
    const std::string given = c.write("given.npz");
    for (const std::string& candidate : {as_safetensors("out.safetensors", out), as_folder("out", out)}) {
        const outcome o = run({"check", given, "--candidate", candidate});
        INFO(shown(o));
        CHECK(o.status == 0);
    }
}

TEST_CASE("eval writes .safetensors, bf16 natively, and check calls it exact", "[program]") {
    const std::string given = attention_case{}.write("given.npz");
    for (const std::string type : {"f64", "f32", "bf16", "f16"}) {
        const std::string written = scratch("exact.safetensors").string();
        const outcome e = run({"eval", given, "--dtype", type, "-o", written, "--outputs", "lse,out", "--scale", "0.3"});
        INFO(type << "\n" << shown(e));
        REQUIRE(e.status == 0);
        const attest::archive file = attest::read_safetensors(written);
        CHECK(attest::name_of(member(file, "out").type) == type);
        CHECK(member(file, "out").shape == shape{3, 2});
        REQUIRE(file.texts.size() == 1);
        CHECK(file.texts[0].first == "attest.json");
        attest::settings settings = attest::parse_settings(file.texts[0].second, "exact");
        std::sort(settings.begin(), settings.end());
        CHECK(settings == attest::settings{{"op", "attention"}, {"scale", "0.3"}});
        const nlohmann::json result = said(given, {"--candidate", written, "--scale", "0.3"});
        CHECK(result["status"] == 0);
        CHECK(result["verdict"] == "exact");
        CHECK(result["outputs"].size() == 2);
    }
    // The same bytes every time, and a .npz where that is asked for.
    run({"eval", given, "-o", scratch("one.safetensors").string()});
    run({"eval", given, "-o", scratch("two.safetensors").string()});
    CHECK(content(scratch("one.safetensors")) == content(scratch("two.safetensors")));
    run({"eval", given, "-o", scratch("one.npz").string()});
    CHECK(values(member(attest::read_npz(scratch("one.npz")), "out")) == values(member(attest::read_safetensors(scratch("one.safetensors")), "out")));
    CHECK(is_trouble(run({"eval", given, "-o", scratch("out.npy").string()}), {"-o ", "out.npy: outputs are written to FILE.npz or FILE.safetensors"}));
    CHECK_FALSE(std::filesystem::exists(scratch("out.npy")));
    for (const std::string& place : {scratch("no/such/out.safetensors").string(), std::string("/dev/null/out.safetensors")})
        CHECK(is_trouble(run({"eval", given, "-o", place}), {place, "cannot be written"}));
}

TEST_CASE("inspect shows a .safetensors and a folder", "[program]") {
    attest::archive file;
    file.arrays = {{"q", numbers(dtype::bf16, {2}, {1, -2})}, {"m", {dtype::boolean, {2}, {std::byte{0}, std::byte{1}}}}};
    file.texts = {{"attest.json", R"({"op": "softmax"})"}, {"format\x1b", "pt\x1b"}};
    const outcome o = run({"inspect", as_safetensors("seen.safetensors", file)});
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(o.out == "q                bf16  [2]                  -2 to 1\n"
                   "m                bool  [2]                  0 to 1\n"
                   "attest.json      text  {\"op\": \"softmax\"}\n"
                   "format\\x1b       text  pt\\x1b\n");
    file.texts.pop_back();
    const outcome f = run({"inspect", as_folder("seen", file), "--bf16", "q"});
    INFO(shown(f));
    CHECK(f.status == 0);
    CHECK(f.out == "m                bool  [2]                  0 to 1\n"
                   "q                bf16  [2]                  -2 to 1\n"
                   "attest.json      text  {\"op\": \"softmax\"}\n");
    write(scratch("seen") / "notes.txt", "x");
    const outcome warned = run({"inspect", scratch("seen").string()});
    CHECK(warned.status == 0);
    CHECK(contains(warned.err, "member notes.txt: not an array, ignored"));
}

TEST_CASE("a file without a known ending is what it begins with", "[program]") {
    const attention_case c;
    CHECK(run({"check", c.write("unknown-zip")}).status == 0);
    CHECK(run({"check", as_safetensors("unknown.bin", c.held())}).status == 0);
    attest::write_npy(scratch("unknown.dat"), numbers(dtype::f32, {1}, {1}));
    const outcome o = run({"inspect", scratch("unknown.dat").string()});
    CHECK(o.status == 0);
    CHECK(contains(o.out, "unknown "));
    for (const std::string& bytes : {std::string{}, std::string("x"), std::string("hello, world"), std::string(9, '\0')}) {
        write(scratch("unknown.bin"), bytes);
        CHECK(is_trouble(run({"inspect", scratch("unknown.bin").string()}), {"unknown.bin: neither .npz nor .npy nor .safetensors"}));
    }
}

TEST_CASE("a broken .safetensors is one line of trouble", "[program]") {
    const std::string whole = content(as_safetensors("whole.safetensors", attention_case{}.held()));
    for (std::size_t cut = 0; cut < whole.size(); cut += 1 + whole.size() / 17) {
        write(scratch("cut.safetensors"), whole.substr(0, cut));
        const outcome o = run({"check", scratch("cut.safetensors").string()});
        INFO("cut after " << cut << " of " << whole.size() << " bytes\n" << shown(o));
        CHECK(is_trouble(o, {"cut.safetensors: "}));
    }
    CHECK(is_trouble(run({"check", source_file("float8.safetensors"), "--op", "attention"}), {"tensor q: dtype 'F8_E4M3' is not read"}));
}
