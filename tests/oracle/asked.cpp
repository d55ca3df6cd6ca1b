// SPDX-License-Identifier: BSL-1.0
// Questions of the tests of the ops, put before `check` and `evaluate`; and what `evaluate` itself promises.
#include "asked.hpp"
#include "attest/oracle/evaluate.hpp"
#include "catch.hpp"
#include "checked.hpp"

namespace asked {

namespace {

// Whether a tensor of the case lies as the layout says: those of tokens, queries, keys and values.
bool lies_in_layout(const std::string& op, const std::string& name) {
    static const std::set<std::string> laid{"q", "k", "v", "x", "memory", "out", "dout", "dq", "dk", "dv", "dx", "dmemory"};
    const std::string last = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    const bool stage = last == "out" && name != "out";
    return op != "layer_norm" && (laid.contains(name) || stage);
}

// [b…, n, d] to its place in the layout, or back.
member moved(const question& asked, const std::string& name, member m, bool back) {
    const std::string op = asked.op();
    const bool heads = op == "attention" || op == "score" || op == "rope";
    while (!back && m.shape.size() > 2 && asked.unit_dimensions > 4 - m.shape.size() && m.shape.front() == 1 && lies_in_layout(op, name)) m.shape.erase(m.shape.begin());
    const std::size_t rank = m.shape.size();
    if (asked.layout == "bhnd" || rank < 3 || !lies_in_layout(op, name) || (asked.layout == "bnhd" && !heads)) return m;
    const attest::tensor_layout layout = asked.layout == "nbd" ? attest::tensor_layout::nbd : attest::tensor_layout::bnhd;
    // The order of dimensions in the layout, written out.
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < rank; ++k) order.push_back(k);
    if (layout == attest::tensor_layout::bnhd) std::swap(order[rank - 3], order[rank - 2]);
    else {
        order.erase(order.end() - 2);
        order.insert(order.begin(), rank - 2);
    }
    member to = m;
    const lengths& plain_shape = m.shape;
    if (back) {
        for (std::size_t k = 0; k < rank; ++k) to.shape[order[k]] = m.shape[k];
    } else {
        for (std::size_t k = 0; k < rank; ++k) to.shape[k] = plain_shape[order[k]];
    }
    const lengths &ordered = back ? to.shape : m.shape, &laid = back ? m.shape : to.shape;
    lengths index(rank, 0);
    for (std::size_t e = 0; e < m.values.size(); ++e) {
        std::size_t rest = e, at = 0;
        for (std::size_t k = rank; k-- > 0; rest /= ordered[k]) index[k] = rest % ordered[k];
        for (std::size_t k = 0; k < rank; ++k) at = at * laid[k] + index[order[k]];
        if (back) to.values[e] = m.values[at];
        else to.values[at] = m.values[e];
    }
    return to;
}

// Views of members, and the arrays behind them.
struct views {
    std::vector<array> owned;
    std::vector<attest::named_view> all;
    views(const question& asked, const members& from) {
        owned.reserve(from.size());
        for (const auto& [name, given] : from) {
            const member m = moved(asked, name, given, false);
            array a{m.type, m.shape, {}};
            a.data.resize(m.values.size() * attest::size_of(m.type));
            for (std::size_t e = 0; e < m.values.size(); ++e) {
                if (attest::is_float(m.type)) attest::encode(a, e, m.values[e]);
                else if (m.type == dtype::boolean) a.data[e] = static_cast<std::byte>(m.values[e] != 0);
                else {
                    const auto integer = static_cast<std::int64_t>(m.values[e]);
                    std::memcpy(a.data.data() + e * attest::size_of(m.type), &integer, attest::size_of(m.type)); // little-endian, as all that we run on
                }
            }
            owned.push_back(std::move(a));
            all.emplace_back(name, owned.back());
        }
    }
};

attest::settings settings_of(const question& asked, const attest::settings& more) {
    attest::settings all = asked.settings;
    if (asked.layout != "bhnd") all.emplace_back("layout", asked.layout);
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

} // namespace

attest::check_result checked(const question& asked, const members& candidates, const attest::settings& more) {
    const views in(asked, asked.inputs), out(asked, candidates);
    return once::check(settings_of(asked, more), in.all, out.all);
}

std::map<std::string, evaluated> values_of(const question& asked, const strings& wanted, strings* order) {
    const views in(asked, asked.inputs);
    std::vector<std::string> names;
    std::vector<member> laid;
    std::vector<std::vector<long double>> low; // what is left of a value beside its double
    std::vector<std::vector<bool>> seen;
    bool once = true;
    once::evaluate(
        settings_of(asked, {}), in.all, wanted,
        [&](const std::vector<attest::evaluated_output>& outputs) {
            REQUIRE(names.empty());
            for (const auto& output : outputs) {
                names.push_back(output.name);
                laid.push_back({output.shape, std::vector<double>(attest::element_count(output.shape))});
                low.emplace_back(laid.back().values.size());
                seen.emplace_back(laid.back().values.size(), false);
            }
        },
        [&](std::size_t output, std::size_t at, const attest::exact_number& value, double radius) {
            once = once && !seen.at(output).at(at) && radius >= 0;
            seen[output][at] = true;
            const auto high = static_cast<double>(value);
            laid[output].values[at] = high;
            if (value.is_finite()) low[output][at] = static_cast<double>(value - attest::exact_number(high));
        });
    CHECK(once);
    if (order) *order = names;
    std::map<std::string, evaluated> all;
    for (std::size_t o = 0; o < names.size(); ++o) {
        for (const bool each : seen[o]) once = once && each;
        member rest = laid[o];
        for (std::size_t e = 0; e < rest.values.size(); ++e) rest.values[e] = static_cast<double>(low[o][e]);
        const member high = moved(asked, names[o], laid[o], true), below = moved(asked, names[o], rest, true);
        evaluated& to = all[names[o]];
        to.shape = high.shape;
        for (std::size_t e = 0; e < high.values.size(); ++e) to.values.push_back(static_cast<long double>(high.values[e]) + static_cast<long double>(below.values[e]));
    }
    CHECK(once);
    return all;
}

std::string refusal_of(const question& asked, const members& candidates, const attest::settings& more) {
    try {
        (void)checked(asked, candidates, more);
    } catch (const attest::usage_error& error) {
        return error.what();
    }
    return "";
}

} // namespace asked

using namespace asked;

TEST_CASE("evaluate refuses what the op does not give", "[oracle]") {
    question asked{{{"op", "relu"}}, {{"x", {{2}, {1, -1}}}}};
    const auto refused = [&](const strings& wanted) {
        try {
            (void)values_of(asked, wanted);
        } catch (const attest::usage_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refused({"weights"}) == "'weights' is not an output of relu");
    CHECK(refused({"out", "dx"}).find("relu needs an input 'dout'") == 0);
    CHECK(refused({"out"}).empty());
    asked.settings = {};
    CHECK(refused({"out"}).find("no op is given") == 0);
}

TEST_CASE("evaluate gives results in the order of computation, whatever the order of the wish", "[oracle]") {
    source s(1);
    const question asked{{{"op", "attention"}, {"softcap", "5"}}, {{"q", s.normal({2, 2})}, {"k", s.normal({3, 2})}, {"v", s.normal({3, 1})}, {"dout", s.normal({2, 1})}}};
    strings order;
    (void)values_of(asked, {"dv", "dq", "out", "lse", "weights", "scores", "raw_scores", "dk"}, &order);
    CHECK(order == strings{"raw_scores", "scores", "weights", "lse", "out", "dq", "dk", "dv"});
}
