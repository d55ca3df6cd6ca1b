// SPDX-License-Identifier: BSL-1.0
// A case of any op, put before `check` and `evaluate`; and what a right program gives for it, in long double,
// double and float, by reference.hpp.
#pragma once

#include "attest/oracle/decode.hpp"
#include "attest/oracle/verdict.hpp"
#include "attest/question/named_view.hpp"
#include "attest/question/op.hpp"
#include "kernels.hpp"
#include "reference.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace asked {

using attest::array;
using attest::dtype;
using plain::lengths;
using plain::options;
using strings = std::vector<std::string>;

/// A tensor of a case, batch first and head second whatever the layout.
struct member {
    lengths shape;
    std::vector<double> values;
    dtype type = dtype::f64;
};
using members = std::map<std::string, member>;

struct question {
    attest::settings settings; ///< without the layout
    members inputs;
    std::string layout = "bhnd";
    std::size_t unit_dimensions = 0; ///< so many leading dimensions, of length 1, are left out of all tensors of rank 3 and more
    [[nodiscard]] std::string op() const {
        for (const auto& [key, value] : settings)
            if (key == "op") return value;
        return "";
    }
};

/// `check` and `evaluate`.
attest::check_result checked(const question& asked, const members& candidates, const attest::settings& more = {});
struct evaluated {
    lengths shape;
    std::vector<long double> values;
};
std::map<std::string, evaluated> values_of(const question& asked, const strings& wanted, strings* order = nullptr);
/// What the usage_error of a check says; "" if there is none.
std::string refusal_of(const question& asked, const members& candidates = {{"out", {{1}, {0}}}}, const attest::settings& more = {});

// ---- inputs

class source {
public:
    explicit source(std::uint64_t seed, const attest::format& stored = attest::formats::f64) : random_{seed}, format_{stored} {}
    member normal(lengths shape, double spread = 1, double mean = 0) {
        member m{std::move(shape), {}};
        m.values = kernels::draw(random_, attest::element_count(m.shape), mean, spread, format_);
        if (format_ == attest::formats::f32) m.type = dtype::f32;
        if (format_ == attest::formats::bf16) m.type = dtype::bf16;
        return m;
    }
    /// True with three chances of four.
    member booleans(lengths shape) {
        member m{std::move(shape), {}, dtype::boolean};
        for (std::size_t e = 0; e < attest::element_count(m.shape); ++e) m.values.push_back(random_.below(4) != 0);
        return m;
    }
    kernels::generator& random() { return random_; }

private:
    kernels::generator random_;
    attest::format format_;
};

inline member integers(lengths shape, std::vector<double> values, dtype type = dtype::i64) { return {std::move(shape), std::move(values), type}; }

// ---- what a right program gives

template <class T> struct outcome {
    std::map<std::string, plain::tensor<T>> tensors;
};

/// Runs a model (given<N> → results<N>) in T; with a `dout`, also backwards, for all float inputs whose gradient the op has.
template <class T, class Model> outcome<T> run(const question& asked, const Model& model) {
    using N = plain::number<T>;
    N::forget();
    plain::given<N> in;
    for (const auto& [name, m] : asked.inputs) {
        plain::tensor<N> t{m.shape, {}};
        const bool floats = attest::is_float(m.type);
        for (const double x : m.values) t.values.push_back(floats ? N::leaf(static_cast<T>(x)) : N(static_cast<T>(x)));
        in.is_float[name] = floats;
        in.tensors[name] = std::move(t);
    }
    const plain::results<N> all = model(in);
    outcome<T> made;
    for (const auto& [name, t] : all) {
        plain::tensor<T> values{t.shape, {}};
        for (const N& x : t.values) values.values.push_back(x.value);
        made.tensors[name] = std::move(values);
    }
    if (!in.has("dout")) return made;
    std::vector<std::pair<N, T>> seeds;
    const plain::tensor<N>&out = all.at("out"), &dout = in["dout"];
    for (std::size_t e = 0; e < out.values.size(); ++e)
        if (out.values[e].value != plain::padding<T>) seeds.emplace_back(out.values[e], dout.values.at(e).value);
    const std::vector<T> slope = N::backward(seeds);
    for (const auto& [name, t] : in.tensors) {
        const std::string gradient = attest::gradient_name(name);
        if (!in.is_float.at(name) || name == "dout" || !attest::is_output(attest::find_op(asked.op()), gradient)) continue;
        plain::tensor<T> values{t.shape, {}};
        for (const N& x : t.values) values.values.push_back(slope[static_cast<std::size_t>(x.at)]);
        made.tensors[gradient] = std::move(values);
    }
    return made;
}

/// Results as candidates. Padding holds garbage.
template <class T> members candidates_of(const outcome<T>& made, dtype type = dtype::f64) {
    members all;
    for (const auto& [name, t] : made.tensors) {
        member m{t.shape, {}, type};
        for (const T x : t.values) m.values.push_back(x == plain::padding<T> ? (m.values.size() % 2 ? std::numeric_limits<double>::quiet_NaN() : 77.0) : static_cast<double>(x));
        all[name] = std::move(m);
    }
    return all;
}

/// Only these results.
inline members only(const members& from, const strings& names) {
    members some;
    for (const std::string& name : names) some[name] = from.at(name);
    return some;
}

} // namespace asked
