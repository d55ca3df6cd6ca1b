// SPDX-License-Identifier: BSL-1.0
// Questions whose keys are counted: shapes and parameters; and moments of finite distributions, by enumeration.
#include "exercise.hpp"

namespace attest::worked {

namespace {

math shape_of(int rows, int columns) { return {std::to_string(rows) + "×" + std::to_string(columns), std::to_string(rows) + " \\times " + std::to_string(columns)}; }
math plain(int n) { return std::to_string(n); }
math with_subscript(const char* name, const char* of) { return {std::string(name) + "_" + of, std::string(name) + "_{" + of + "}"}; }

} // namespace

question ask_shapes(random_integers& random) {
    const int heads = 1 << random.between(0, 3), d_k = random.between(2, 8), d_v = random.between(2, 8), d_model = heads * random.between(2, 8), n = random.between(2, 12);
    const bool cross = random.between(0, 1) == 1;
    const int m = cross ? random.between(2, 12) : n;
    const math w_q = with_subscript("W", "Q"), w_k = with_subscript("W", "K"), w_v = with_subscript("W", "V"), w_o = with_subscript("W", "O"), top("ᵀ", "^\\top");
    writer asked(exercise_decimals);
    const std::string s = heads == 1 ? "" : "s";
    asked.say({std::to_string(n) + " tokens of " + std::to_string(d_model) + " components attend to " + (cross ? "a memory of " + std::to_string(m) + " such tokens" : std::string("themselves")) + " with " + std::to_string(heads) + " head" + s +
               "; in each, queries and keys have " + std::to_string(d_k) + " components, values " + std::to_string(d_v) + ". Vectors are rows."});
    asked.say({"Give the shapes of ", w_q, ", ", w_k, ", ", w_v, ", ", math("Q"), ", ", math("K"), ", ", math("V"), ", ", math("Q·Kᵀ", "QK^\\top"), ", the weights ", math("A"), " and the output ", math("Z"), " of one head; the shapes of the concatenation ",
               math("C"), ", of ", w_o, " and of the result ", math("Y"), "; the number of parameters of one head and of everything, without biases; and how many weights all heads compute."});

    writer key(exercise_decimals);
    const auto is = [](const math& name, int rows, int columns) { return line{name, {{false, shape_of(rows, columns)}}}; };
    // rows×inner times inner×columns
    const auto times_shape = [](const math& name, int rows, int inner, int columns) {
        const math factors = math("(") + shape_of(rows, inner) + math(")") + times() + math("(") + shape_of(inner, columns) + math(")");
        return line{math("shape of ", "\\text{shape of }") + name, {{false, factors}, {false, shape_of(rows, columns)}}};
    };
    const math of("shape of ", "\\text{shape of }");
    key.put({is(of + w_q, d_model, d_k), is(of + w_k, d_model, d_k), is(of + w_v, d_model, d_v), times_shape("Q", n, d_model, d_k), times_shape("K", m, d_model, d_k), times_shape("V", m, d_model, d_v),
             times_shape(math("Q·Kᵀ", "QK^\\top"), n, d_k, m), is(of + math("A"), n, m), times_shape("Z", n, m, d_v), is(of + math("C"), n, heads * d_v), is(of + w_o, heads * d_v, d_model), times_shape("Y", n, heads * d_v, d_model)});
    const int of_head = d_model * d_k + d_model * d_k + d_model * d_v, of_output = heads * d_v * d_model;
    const math products = plain(d_model) + times() + plain(d_k) + math(" + ") + plain(d_model) + times() + plain(d_k) + math(" + ") + plain(d_model) + times() + plain(d_v);
    key.put({{math("parameters of one head", "\\text{parameters of one head}"), key.value(number(of_head), {{false, products}})},
             {math("parameters of everything", "\\text{parameters of everything}"),
              key.value(number(heads * of_head + of_output), {{false, plain(heads) + times() + plain(of_head) + math(" + ") + plain(heads * d_v) + times() + plain(d_model)}})},
             {math("weights of all heads", "\\text{weights of all heads}"), key.value(number(heads * n * m), {{false, plain(heads) + times() + plain(n) + times() + plain(m)}})}});
    return {std::move(asked.steps), std::move(key.steps)};
}

question ask_variance(random_integers& random) {
    // A distribution: values with whole weights.
    const int kind = random.between(0, 2), a = random.between(1, 3);
    std::vector<std::pair<int, int>> outcomes;
    std::string told;
    if (kind == 0) {
        outcomes = {{-a, 1}, {a, 1}};
        told = std::to_string(-a) + " and " + std::to_string(a) + ", equally probable";
    } else if (kind == 1) {
        for (int x = -a; x <= a; ++x) outcomes.emplace_back(x, 1);
        told = "the whole numbers from " + std::to_string(-a) + " to " + std::to_string(a) + ", equally probable";
    } else {
        const int zeros = random.between(2, 4);
        outcomes = {{-a, 1}, {0, zeros}, {a, 1}};
        told = std::to_string(-a) + " and " + std::to_string(a) + ", each with probability 1/" + std::to_string(zeros + 2) + ", otherwise 0";
    }
    const int d_k = 1 << random.between(1, 6);
    const math q_m = math("q_m"), k_m = math("k_m"), dot = math("q·k", "q \\cdot k"), scaled = over(dot, root_of(math(std::to_string(d_k))));
    const auto expected = [](const math& x) { return math("E[", "\\mathrm{E}[") + x + math("]"); };
    const auto variance = [](const math& x) { return math("Var(", "\\operatorname{Var}(") + x + math(")"); };
    const auto spread = [](const math& x) { return math("std(", "\\operatorname{std}(") + x + math(")"); };
    writer asked(exercise_decimals);
    asked.say({"The components of ", math("q"), " and ", math("k"), " are independent, and each takes the values " + told + ". Both have " + std::to_string(d_k) + " components. Give variance and standard deviation of ", dot, ", and of ", scaled, "."});

    // By enumeration of both components.
    int weight = 0, first = 0, second = 0, product_first = 0, product_second = 0;
    for (const auto& [x, p] : outcomes) {
        weight += p;
        first += p * x;
        second += p * x * x;
        for (const auto& [y, r] : outcomes) {
            product_first += p * r * x * y;
            product_second += p * r * x * x * y * y;
        }
    }
    const number mean(fraction(first, weight)), square(fraction(second, weight)), mean_of_product(fraction(product_first, weight * weight)), square_of_product(fraction(product_second, weight * weight));
    const number of_one = square_of_product - mean_of_product * mean_of_product, of_dot = number(d_k) * of_one;
    const math q_squared("q_m²", "q_m^2"), product_squared("(q_m·k_m)²", "(q_m k_m)^2"), one("q_m·k_m", "q_m k_m");
    writer key(exercise_decimals);
    math sum;
    for (const auto& [x, p] : outcomes) {
        const math term = (x < 0 ? math("(" + std::to_string(x) + ")") : math(std::to_string(x))) + math("²", "^2");
        sum += (sum.text.empty() ? math("") : math(" + ")) + (p == 1 ? term : plain(p) + times() + term);
    }
    const math mean_square{"(" + sum.text + ")/" + std::to_string(weight), "\\frac{" + sum.latex + "}{" + std::to_string(weight) + "}"};
    key.put({{expected(q_m), key.value(mean, {{false, expected(k_m)}})},
             {expected(q_squared), key.value(square, {{false, mean_square}})},
             {expected(product_squared), key.value(square_of_product, {{false, expected(q_squared) + times() + expected(math("k_m²", "k_m^2"))}})},
             {variance(one), key.value(of_one, {{false, expected(product_squared) + math(" - ") + expected(q_m) + math("²", "^2") + times() + expected(k_m) + math("²", "^2")}})},
             {variance(dot), key.value(of_dot, {{false, plain(d_k) + times() + variance(one)}})},
             {spread(dot), key.value(sqrt(of_dot), {{false, root_of(variance(dot))}})},
             {variance(scaled), key.value(of_dot / number(d_k), {{false, over(variance(dot), plain(d_k))}})},
             {spread(scaled), key.value(sqrt(of_dot / number(d_k)), {{false, root_of(variance(scaled))}})}});
    key.say({"The variance of the scaled score does not depend on the number of components."});
    return {std::move(asked.steps), std::move(key.steps)};
}

} // namespace attest::worked
