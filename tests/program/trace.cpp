// SPDX-License-Identifier: BSL-1.0
// attest trace: digits and marks against another evaluation, the lectures' examples, masks, formats, and what is refused.
#include "catch.hpp"
#include "program/worked.hpp"

#include <boost/math/special_functions/erf.hpp>

using namespace program;

namespace {

outcome trace(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "trace");
    return run(arguments);
}
const std::vector<std::string> lecture = {"--q", "1 0; 0 1", "--k", "1 0; 0 1", "--v", "2 0; 0 3"};
std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

} // namespace

TEST_CASE("trace: the lectures' example of two tokens, line by line", "[program]") {
    const outcome o = trace(lecture);
    INFO(shown(o));
    REQUIRE(o.status == 0);
    CHECK(o.err.empty());
    for (const char* const line : {"  q_1·k_2 = 1·0 + 0·1 = 0\n", "  s_11 = 1/√2 ≈ 0.70711\n", "  s_12 = 0/√2 = 0\n", "  e^(s_11) ≈ 2.02811\n", "  e^(s_12) = e^0 = 1\n",
                                   "  Σ_1 = e^(s_11) + e^(s_12) ≈ 2.02811 + 1 ≈ 3.02811\n", "  α_11 ≈ 2.02811/3.02811 ≈ 0.66976\n",
                                   "  z_1 = α_11·v_1 + α_12·v_2 ≈ 0.66976·(2, 0) + 0.33024·(0, 3) ≈ (1.33952, 0.99072)\n", "= is exact; ≈ is correctly rounded from the exact value, not from the rounded numbers before it.\n"})
        CHECK(contains(o.out, line));
}

TEST_CASE("trace: nothing stands behind = that is not equal to what stands before it", "[program]") {
    const outcome fractions = trace({"--op", "score", "--q", "3", "--k", "15/7; 0"});
    INFO(shown(fractions));
    CHECK(contains(fractions.out, "  q_1·k_1 = 45/7 ≈ 6.42857\n"));
    CHECK(contains(fractions.out, "  s_11 = 45/7 ≈ 6.42857\n"));
    const outcome equal = trace({"--op", "softmax", "--x", "1/3 1/3"});
    INFO(shown(equal));
    CHECK(contains(equal.out, " = 0.5\n"));
    CHECK_FALSE(contains(equal.out, "/2.79122 ="));
    // A scale with more digits than are shown is rounded wherever it stands.
    const outcome scaled = trace({"--q", "1; 2", "--k", "1; 0", "--v", "3; 1", "--dout", "1; 1", "--scale", "-0.7071068", "--digits", "2"});
    INFO(shown(scaled));
    CHECK(contains(scaled.out, "≈ (-0.71)·("));
    CHECK_FALSE(contains(scaled.out, "= (-0.71)·("));
}

TEST_CASE("trace: powers of ten in squares and fractions stand in parentheses", "[program]") {
    const outcome text = trace({"--op", "layer_norm", "--x", "1e-7 3e-7 -2e-7", "--eps", "0"});
    INFO(shown(text));
    CHECK(contains(text.out, "(3.3333·10^-8)²"));
    CHECK(contains(text.out, "(3.3333·10^-8)/(2.0548·10^-7)"));
    const outcome latex = trace({"--op", "layer_norm", "--x", "1e-7 3e-7 -2e-7", "--eps", "0", "--format", "latex"});
    INFO(shown(latex));
    CHECK_FALSE(contains(latex.out, "}^2}^2"));
    CHECK_FALSE(contains(latex.out, "10^{-8}^2"));
}

TEST_CASE("trace: what lies at a power of ten is rounded to it from both sides", "[program]") {
    const outcome o = trace({"--op", "gelu", "--x", "1e300 -1e300"});
    INFO(shown(o));
    CHECK(contains(o.out, "≈ 1.0000·10^300\n"));
    CHECK_FALSE(contains(o.out, "Φ(x_11) ≈ (1·10^300)·1.00000 ≈ ?"));
    const outcome named = trace({"--q", "1", "--k", "1", "--name", "a=b"});
    CHECK(named.status == 2);
    CHECK(contains(named.err, "--name and --bf16 are about the members of a CASE"));
}

TEST_CASE("trace: the base of rotations is written as a number", "[program]") {
    const outcome base = trace({"--op", "rope", "--x", "1 0 1 0", "--rope-base", "1e4"});
    INFO(shown(base));
    CHECK(contains(base.out, "  θ_1 = 10000^(-2/4) = 0.01\n"));
    const outcome great = trace({"--op", "rope", "--x", "1 0 1 0", "--rope-base", "1e9999"});
    INFO(shown(great));
    CHECK(great.status == 2);
    CHECK(contains(great.err, "--rope-base 1e9999: its exponent is beyond 60"));
}

TEST_CASE("trace: other numbers of the lectures", "[program]") {
    const outcome score = trace({"--q", "3 4", "--k", "0 2"});
    INFO(shown(score));
    CHECK(contains(score.out, "  q_1·k_1 = 3·0 + 4·2 = 8\n"));
    CHECK(contains(score.out, "  s_11 = 8/√2 ≈ 5.65685\n"));
    const outcome softmax = trace({"--op", "softmax", "--x", "1.3 5.1 2.2 0.7 1.1"});
    INFO(shown(softmax));
    CHECK(contains(softmax.out, "  Y ≈ [ 0.02019  0.90254  0.04966  0.01108  0.01653 ]   1×5\n"));
    const outcome mirrored = trace({"--q", "1 1; 1 -1", "--k", "1 1; 1 -1", "--v", "1 0; 0 1", "--causal", "top-left"});
    INFO(shown(mirrored));
    CHECK(contains(mirrored.out, "  s_12 = −∞ (hidden)\n"));
    CHECK(contains(mirrored.out, "  α_12 = 0 (hidden)\n"));
    CHECK(contains(mirrored.out, "= (1, 0)\n"));
    CHECK(contains(mirrored.out, "  α_22 ≈ 4.11325/5.11325 ≈ 0.80443\n"));
    const outcome sharp = trace({"--op", "softmax", "--x", "8 0"});
    CHECK(contains(sharp.out, "≈ 0.99966\n"));
    CHECK(contains(sharp.out, "≈ 0.00034\n")); // two significant digits are left: no power of ten
}

TEST_CASE("trace: digits and marks of attention and its gradients are right in 150 random cases", "[program]") {
    random_numbers random{2024};
    for (int i = 0; i < 150; ++i) {
        const std::size_t n_q = static_cast<std::size_t>(1 + random.below(3)), n_k = static_cast<std::size_t>(1 + random.below(3)), d_k = static_cast<std::size_t>(1 + random.below(4)), d_v = static_cast<std::size_t>(1 + random.below(2));
        const bool causal = random.below(3) == 0, dot = random.below(3) == 0;
        const int digits = i % 3 == 0 ? 5 : 1 + random.below(40), places = random.below(3);
        const auto q = random.matrix(n_q, d_k, 2, places), k = random.matrix(n_k, d_k, 2, places), v = random.matrix(n_k, d_v, 3, places), dz = random.matrix(n_q, d_v, 2, places);
        const wide_attention exact(q.second, k.second, v.second, dz.second, dot ? wide(1) : wide(1 / sqrt(wide(static_cast<int>(d_k)))), causal);
        const outcome o = trace({"--q", q.first, "--k", k.first, "--v", v.first, "--dout", dz.first, "--digits", std::to_string(digits), "--score", dot ? "dot" : "scaled", "--causal", causal ? "top-left" : "none"});
        INFO(i << ": " << digits << " digits\n" << shown(o));
        REQUIRE(o.status == 0);
        const std::pair<const char*, const wide_matrix*> matrices[] = {{"A", &exact.a}, {"Z", &exact.z}, {"dV", &exact.dv}, {"dA", &exact.da}, {"dS", &exact.ds}, {"dQ", &exact.dq}, {"dK", &exact.dk}};
        for (const auto& [name, values] : matrices) {
            CAPTURE(name);
            CHECK(is_right(matrix_in(o.out, name), *values, digits));
        }
    }
}

TEST_CASE("trace: softmax of numbers near and far, and its gradient", "[program]") {
    random_numbers random{7};
    for (int i = 0; i < 100; ++i) {
        const int greatest = i % 2 == 0 ? 3 : 150, digits = 1 + random.below(20);
        const auto x = random.matrix(2, static_cast<std::size_t>(1 + random.below(5)), greatest, i % 3), dy = random.matrix(2, x.second[0].size(), 2, 0);
        const outcome o = trace({"--op", "softmax", "--x", x.first, "--dout", dy.first, "--digits", std::to_string(digits)});
        INFO(digits << " digits\n" << shown(o));
        REQUIRE(o.status == 0);
        wide_matrix y = x.second, dx = x.second;
        for (std::size_t r = 0; r < 2; ++r) {
            wide sum = 0, dot = 0;
            for (wide& e : y[r]) sum += (e = exp(e));
            for (wide& e : y[r]) e /= sum;
            for (std::size_t c = 0; c < y[r].size(); ++c) dot += y[r][c] * dy.second[r][c];
            for (std::size_t c = 0; c < y[r].size(); ++c) dx[r][c] = y[r][c] * (dy.second[r][c] - dot);
        }
        CHECK(is_right(matrix_in(o.out, "Y"), y, digits));
        CHECK(is_right(matrix_in(o.out, "dX"), dx, digits));
        bool beyond = false;
        for (const auto& row : x.second)
            for (const wide& e : row) beyond = beyond || abs(e) > 30;
        CHECK(contains(o.out, "is subtracted before the exponential") == beyond);
    }
}

TEST_CASE("trace: norms, activations and positions against another evaluation", "[program]") {
    random_numbers random{99};
    for (int i = 0; i < 60; ++i) {
        const int digits = 1 + random.below(20);
        const std::size_t d = static_cast<std::size_t>(2 + random.below(3));
        const auto x = random.matrix(2, d, 3, i % 3), gamma = random.matrix(1, d, 2, 1), beta = random.matrix(1, d, 2, 1);
        const std::vector<std::string> common = {"--x", x.first, "--digits", std::to_string(digits)};
        wide_matrix normed = x.second, rms = x.second, gelu = x.second, relu = x.second, turned_x = x.second;
        for (std::size_t r = 0; r < 2; ++r) {
            wide mean = 0, square = 0, variance = 0;
            for (const wide& e : x.second[r]) mean += e / static_cast<int>(d), square += e * e / static_cast<int>(d);
            for (const wide& e : x.second[r]) variance += (e - mean) * (e - mean) / static_cast<int>(d);
            for (std::size_t c = 0; c < d; ++c) {
                const wide& e = x.second[r][c];
                normed[r][c] = (e - mean) / sqrt(wide(variance + wide(1) / 100000)) * gamma.second[0][c] + beta.second[0][c];
                rms[r][c] = e / sqrt(wide(square + wide(1) / 2)) * gamma.second[0][c];
                if (i % 4 == 0) gelu[r][c] = e * (1 + boost::math::erf(wide(e / sqrt(wide(2))))) / 2;
                relu[r][c] = e < 0 ? wide(0) : e;
            }
            for (std::size_t p = 0; p + 1 < d; p += 2) {
                const wide angle = (3 + static_cast<int>(r)) / pow(wide(100), wide(static_cast<int>(p)) / static_cast<int>(d)), cosine = cos(angle), sine = sin(angle);
                turned_x[r][p] = x.second[r][p] * cosine - x.second[r][p + 1] * sine;
                turned_x[r][p + 1] = x.second[r][p] * sine + x.second[r][p + 1] * cosine;
            }
        }
        const auto right = [&](const std::vector<std::string>& more, const wide_matrix& exact) {
            const outcome o = trace(with(common, more));
            INFO(shown(o));
            CHECK(o.status == 0);
            CHECK(is_right(matrix_in(o.out, "Y"), exact, digits));
        };
        right({"--op", "layer_norm", "--tensor", "gamma=" + gamma.first, "--tensor", "beta=" + beta.first}, normed);
        right({"--op", "rms_norm", "--eps", "0.5", "--tensor", "gamma=" + gamma.first}, rms);
        if (i % 4 == 0) right({"--op", "gelu"}, gelu); // whose other evaluation takes long
        right({"--op", "relu"}, relu);
        if (d % 2 == 0) right({"--op", "rope", "--rope-base", "100", "--position-offset", "3"}, turned_x);
    }
    const outcome o = trace({"--op", "sinusoidal", "--length", "4", "--d-model", "5", "--digits", "12"});
    INFO(shown(o));
    wide_matrix table(4, std::vector<wide>(5));
    for (int t = 0; t < 4; ++t)
        for (int c = 0; c < 5; ++c) {
            const wide angle = t / pow(wide(10000), wide(c - c % 2) / 5);
            table[static_cast<std::size_t>(t)][static_cast<std::size_t>(c)] = c % 2 == 0 ? wide(sin(angle)) : wide(cos(angle));
        }
    CHECK(is_right(matrix_in(o.out, "PE"), table, 12));
}

TEST_CASE("trace: layers are worked out to the end", "[program]") {
    random_numbers random{5};
    for (int i = 0; i < 20; ++i) {
        const auto x = random.matrix(2, 2, 2, 0), w_1 = random.matrix(2, 3, 2, 0), b_1 = random.matrix(1, 3, 1, 0), w_2 = random.matrix(3, 2, 2, 1);
        wide_matrix h = times(x.second, w_1.second);
        for (auto& row : h)
            for (std::size_t c = 0; c < 3; ++c) row[c] = row[c] + b_1.second[0][c] < 0 ? wide(0) : wide(row[c] + b_1.second[0][c]);
        const outcome forward = trace({"--op", "feed_forward", "--x", x.first, "--tensor", "w_1=" + w_1.first, "--tensor", "b_1=" + b_1.first, "--tensor", "w_2=" + w_2.first});
        INFO(shown(forward));
        CHECK(is_right(matrix_in(forward.out, "Y"), times(h, w_2.second), 5));

        const auto w_q = random.matrix(2, 2, 1, 0), w_k = random.matrix(2, 2, 1, 0), w_v = random.matrix(2, 2, 2, 0), w_o = random.matrix(2, 2, 2, 0);
        const outcome heads = trace({"--op", "multi_head_attention", "--heads", "2", "--x", x.first, "--tensor", "w_q=" + w_q.first, "--tensor", "w_k=" + w_k.first, "--tensor", "w_v=" + w_v.first, "--tensor", "w_o=" + w_o.first});
        wide_matrix z(2, std::vector<wide>(2));
        for (std::size_t head = 0; head < 2; ++head) {
            const auto column = [&](const wide_matrix& w) {
                const wide_matrix all = times(x.second, w);
                return wide_matrix{{all[0][head]}, {all[1][head]}};
            };
            const wide_attention one(column(w_q.second), column(w_k.second), column(w_v.second), {}, wide(1), false);
            for (std::size_t r = 0; r < 2; ++r) z[r][head] = one.z[r][0];
        }
        INFO(shown(heads));
        CHECK(is_right(matrix_in(heads.out, "Y"), times(z, w_o.second), 5));
    }
}

TEST_CASE("trace: what is exact is marked so, though roots and exponentials are on the way", "[program]") {
    // Equal scores: weights are fractions; equal values: outputs are those; gradients that cancel are 0.
    const outcome o = trace({"--q", "1 0; 0 1", "--k", "1 1; 1 1; 1 1", "--v", "2 1; 2 0; 2 5", "--dout", "1 0; 1 0"});
    INFO(shown(o));
    REQUIRE(o.status == 0);
    CHECK(contains(o.out, "= 1/3 ≈ 0.33333\n"));
    CHECK(contains(o.out, "= (2, 2)\n"));
    REQUIRE(matrix_in(o.out, "dK").size() == 3);
    for (const auto& row : matrix_in(o.out, "dK"))
        for (const shown_number& n : row) CHECK((n.text == "0" && !n.rounded));
    // Both queries are one, and their gradients opposite: what reaches the keys cancels, which no enclosure could tell.
    const outcome opposite = trace({"--q", "1; 1", "--k", "1; 2", "--v", "1; 3", "--dout", "1; -1"});
    INFO(shown(opposite));
    REQUIRE(matrix_in(opposite.out, "dK").size() == 2);
    for (const auto& row : matrix_in(opposite.out, "dK")) CHECK((row.size() == 1 && row[0].text == "0" && !row[0].rounded));
    CHECK(matrix_in(opposite.out, "dS")[0][0].rounded);
    // Halves away from zero, and short decimals without zeros behind.
    const outcome tie = trace({"--op", "relu", "--x", "1/8 0.5 2 1/3", "--digits", "2"});
    INFO(shown(tie));
    CHECK(contains(tie.out, "= 1/8 ≈ 0.13\n"));
    CHECK(contains(tie.out, "= 0.5\n"));
    CHECK(contains(tie.out, "= 1/3 ≈ 0.33\n"));
}

TEST_CASE("trace: a case's numbers are the binary ones that it holds", "[program]") {
    attest::archive file;
    file.arrays.push_back({"x", numbers(dtype::f32, {2}, {0.1, 0.5})});
    file.texts.emplace_back("attest.json", R"({"op": "relu"})");
    attest::write_npz(scratch("tenth.npz"), file);
    const outcome o = trace({scratch("tenth.npz").string(), "--digits", "20"}), as_text = trace({"--op", "relu", "--x", "0.1 0.5", "--digits", "20"});
    INFO(shown(o) << shown(as_text));
    CHECK(contains(o.out, "≈ 0.10000000149011611938\n"));
    CHECK(contains(as_text.out, "y_11 = max(x_11, 0) = max(0.1, 0) = 0.1\n"));

    // Heads and batches are slices; the values are those of attest eval.
    attention_case c;
    c.n_q = 2, c.n_k = 2, c.d_k = 2;
    c.q = attention_case::some(4, 1), c.k = attention_case::some(4, 2), c.v = attention_case::some(4, 3);
    const std::string name = c.write("two.npz");
    const outcome traced = trace({name, "--digits", "12"}), evaluated = run({"eval", name, "--digits", "30"});
    INFO(shown(traced) << shown(evaluated));
    std::istringstream stream(evaluated.out.substr(evaluated.out.find('\n')));
    wide_matrix z(2, std::vector<wide>(2));
    for (auto& row : z)
        for (wide& e : row) {
            std::string word;
            stream >> word;
            e = wide(word);
        }
    const shown_matrix printed = matrix_in(traced.out, "Z");
    REQUIRE(printed.size() == 2);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 2; ++j) CHECK(abs(wide(value_of(printed[i][j].text) - z[i][j])) <= wide("0.500001e-12"));
    attest::archive heads;
    for (const char* const t : {"q", "k", "v"}) heads.arrays.push_back({t, numbers(dtype::f64, {2, 1, 1}, {1, 2})});
    attest::write_npz(scratch("heads.npz"), heads);
    const outcome sliced = trace({scratch("heads.npz").string(), "--op", "attention"});
    INFO(shown(sliced));
    CHECK(contains(sliced.out, "Slice [0] of [2]"));
    CHECK(contains(sliced.out, "Slice [1] of [2]"));
}

TEST_CASE("trace: masks hide and add", "[program]") {
    const auto hidden = [](const std::vector<std::string>& more) {
        const outcome o = trace(with({"--q", "1; 2; 3", "--k", "1; 2; 3", "--v", "1; 2; 3"}, more));
        INFO(shown(o));
        REQUIRE(o.status == 0);
        std::string pattern;
        for (const auto& row : matrix_in(o.out, "S")) {
            for (const shown_number& n : row) pattern += n.text == "−∞" ? 'x' : '.';
            pattern += ' ';
        }
        // A hidden key weighs exactly nothing.
        const shown_matrix a = matrix_in(o.out, "A");
        for (std::size_t i = 0; i < a.size(); ++i)
            for (std::size_t j = 0; j < a[i].size(); ++j)
                if (pattern[i * 4 + j] == 'x') CHECK((a[i][j].text == "0" && !a[i][j].rounded));
        return pattern;
    };
    CHECK(hidden({}) == "... ... ... ");
    CHECK(hidden({"--causal", "top-left"}) == ".xx ..x ... ");
    CHECK(hidden({"--window", "1"}) == ".xx x.x xx. ");
    CHECK(hidden({"--window", "1,0"}) == ".xx ..x x.. ");
    CHECK(hidden({"--mask", "true false true; true true false; false false true"}) == ".x. ..x xx. ");
    CHECK(hidden({"--mask", "true false true; true true false; false false true", "--mask-polarity", "drop"}) == "x.x xx. ..x ");
    CHECK(hidden({"--mask", "0 1 0; 1 1 1; 0 0 1", "--mask-polarity", "keep"}) == "x.x ... xx. ");
    CHECK(hidden({"--mask", "0 -inf 0; 0.5 0 0; 0 0 -inf"}) == ".x. ... ..x ");
    CHECK(hidden({"--mask", "0 0 -inf"}) == "..x ..x ..x "); // one row for all
    const outcome shifted = trace({"--q", "1; 2", "--k", "1; 2; 3", "--v", "1; 2; 3", "--causal", "bottom-right"});
    CHECK(lines(shifted.out) > 10);
    CHECK(contains(shifted.out, "  s_13 = −∞ (hidden)\n"));
    CHECK(!contains(shifted.out, "  s_12 = −∞"));
    const outcome added = trace({"--q", "1", "--k", "1", "--v", "1", "--mask", "0.5"});
    CHECK(contains(added.out, "  s_11 = 1/√1 + 0.5 = 1.5\n"));
    const outcome empty = trace({"--q", "1", "--k", "1", "--v", "1", "--mask", "-inf"});
    INFO(shown(empty));
    CHECK(empty.status == 0);
    CHECK(contains(empty.out, "sees no key"));
    CHECK(contains(empty.out, "Z = [ 0 ]"));
}

TEST_CASE("trace: scores of any size neither crash nor hang", "[program]") {
    const outcome o = trace({"--q", "1e38 0; -1e38 1", "--k", "1e38 0; 1 1", "--v", "2; 3", "--score", "dot", "--dout", "1; 1"});
    INFO(shown(o));
    CHECK(o.status == 0);
    CHECK(contains(o.out, "below 10^-1000"));
    CHECK(contains(o.out, "≈ 2.00000\n"));
    attest::archive file;
    for (const char* const t : {"q", "k"}) file.arrays.push_back({t, numbers(dtype::f64, {2, 2}, {1.7976931348623157e308, 5e-324, -1.7976931348623157e308, 1})});
    file.arrays.push_back({"v", numbers(dtype::f64, {2, 1}, {1, 1e-300})});
    attest::write_npz(scratch("extreme.npz"), file);
    const outcome extreme = trace({scratch("extreme.npz").string(), "--op", "attention"});
    INFO(shown(extreme));
    CHECK((extreme.status == 0 || extreme.status == 3));
    CHECK(contains(extreme.out, "·10^616"));
    // A value that no precision at hand separates from a tie: said, not guessed.
    const outcome tie = trace({"--q", "1e9", "--k", "1; 0", "--v", "0.25; 1", "--digits", "1"});
    INFO(shown(tie));
    CHECK(tie.status == 3);
    CHECK(contains(tie.out, "?"));
    CHECK(contains(tie.err, "4096 bits"));
}

TEST_CASE("trace: Markdown and LaTeX say the same numbers", "[program]") {
    const outcome markdown = trace(with(lecture, {"--format", "markdown"})), latex = trace(with(lecture, {"--format", "latex"}));
    INFO(shown(markdown) << shown(latex));
    CHECK(contains(markdown.out, "# Scaled dot-product attention\n"));
    CHECK(contains(markdown.out, "- $s_{11} = \\frac{1}{\\sqrt{2}} \\approx 0.70711$\n"));
    CHECK(contains(markdown.out, "| 1 | $1.33952$ | $0.99072$ |\n"));
    CHECK(contains(latex.out, "\\begin{align*}\n"));
    CHECK(contains(latex.out, "s_{11} &= \\frac{1}{\\sqrt{2}} \\approx 0.70711 \\\\\n"));
    CHECK(contains(latex.out, "1.33952 & 0.99072 \\\\\n"));
    const auto count = [&](const std::string& part) {
        std::size_t n = 0;
        for (std::size_t at = latex.out.find(part); at != std::string::npos; at = latex.out.find(part, at + 1)) ++n;
        return n;
    };
    for (const char* const environment : {"align*", "pmatrix"}) CHECK(count("\\begin{" + std::string(environment) + "}") == count("\\end{" + std::string(environment) + "}"));
    CHECK(count("{") == count("}"));
    for (const char c : latex.out) REQUIRE(static_cast<unsigned char>(c) < 0x80); // pdflatex without packages reads it
}

TEST_CASE("trace: what it cannot write out is refused in one line", "[program]") {
    const auto refused = [](const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
        const outcome o = trace(arguments);
        INFO(shown(o));
        CHECK(is_trouble(o, parts));
    };
    refused({}, {"CASE", "--q"});
    refused({"--q", "1", "--k", "1_0", "--v", "1"}, {"k", "'1_0'"});
    refused({"--q", "1", "--k", "", "--v", "1"}, {"tensor k", "row 1 is empty"});
    refused({"--q", "1 2; 3", "--k", "1", "--v", "1"}, {"row 2 has length 1, row 1 length 2"});
    refused({"--q", "1/0", "--k", "1"}, {"'1/0' divides by 0"});
    refused({"--q", "1/2/3", "--k", "1"}, {"2/3"});
    refused({"--q", "nan", "--k", "1"}, {"nan"});
    refused({"--q", "1e1000", "--k", "1"}, {"exponent"});
    refused({"--q", std::string(70, '1'), "--k", "1"}, {"70 characters"});
    refused({"--q", "1 2", "--k", "1", "--v", "1"}, {"q has 2 components, k has 1"});
    refused({"--q", "1", "--k", "1; 2", "--v", "1"}, {"k has 2 rows, v has 1"});
    refused({"--q", "1 2 3 4 5 6 7 8 9", "--k", "1"}, {"q [1, 9] is not small", "8", "attest eval"});
    refused({"--q", "1", "--k", "1", "--v", "1", "--softcap", "3"}, {"softcap=3", "attest eval"});
    refused({"--q", "1", "--k", "1", "--v", "1", "--position", "alibi"}, {"position=alibi"});
    refused({"--q", "1", "--k", "1", "--v", "1", "--empty-row", "nan"}, {"empty-row=nan"});
    refused({"--q", "1", "--k", "1", "--v", "1", "--tensor", "sink=1"}, {"sink", "q, k, v, mask, dout"});
    refused({"--q", "1", "--k", "1", "--tensor", "kk=1"}, {"kk", "no input of that name"});
    refused({"--q", "1", "--tensor", "q=1", "--k", "1"}, {"q is given twice"});
    refused({"--tensor", "q"}, {"NAME=TEXT"});
    refused({"--x", "1"}, {"no op is given"});
    refused({"--op", "encoder", "--heads", "1", "--x", "1"}, {"encoder", "score, softmax, attention"});
    refused({"--op", "softmax"}, {"nothing is given"});
    refused({"--op", "layer_norm", "--x", "1 1", "--eps", "0"}, {"row 1", "eps is 0"});
    refused({"--q", "1; 2", "--k", "1; 2", "--v", "1; 2", "--mask", "0 1; 1 0"}, {"mask-polarity"});
    refused({"--q", "1; 2", "--k", "1; 2", "--v", "1; 2", "--mask", "true 1; 1 0"}, {"1 of 4", "true or false"});
    refused({"--q", "1", "--k", "1", "--format", "pdf"}, {"pdf", "text, markdown or latex"});
    refused({"--q", "1", "--k", "1", "--digits", "41"}, {"--digits"});
    refused({"--q", "1", "--k", "1", "--digits", "0"}, {"--digits"});
    refused({scratch("missing.npz").string(), "--op", "softmax"}, {"missing.npz"});
    refused({attention_case{}.write("plain.npz"), "--q", "1"}, {"one of them"});

    const auto softmax = [&](const shape& lengths, const std::vector<double>& x) { return softmax_case("hostile.npz", dtype::f64, lengths, x, x); };
    refused({softmax({3}, {1, NAN, 2})}, {"x[1] is NaN"});
    refused({softmax({2, 2}, {1, 2, INFINITY, 2})}, {"x[1, 0] is +inf"});
    refused({softmax({0}, {})}, {"x [0] is empty"});
    refused({softmax({}, {1})}, {"x []", "0 dimensions"});
    refused({softmax({9, 2}, std::vector<double>(18, 1))}, {"x [9, 2] is not small"});
    refused({softmax({9, 2, 2}, std::vector<double>(36, 1))}, {"slices"});
    refused({softmax({2}, {1, 2}), "--axis", "0"}, {"axis=0"});
    attest::archive one;
    for (const char* const t : {"q", "k", "v"}) one.arrays.push_back({t, numbers(dtype::f64, {2}, {1, 2})});
    attest::write_npz(scratch("rank-one.npz"), one);
    refused({scratch("rank-one.npz").string(), "--op", "attention"}, {"q [2]", "expected 2"});
}
