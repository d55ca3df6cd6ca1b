// SPDX-License-Identifier: BSL-1.0
/// \file
/// Random cases of score, softmax and attention, with every option, ordinary and hostile. `draw_case(seed, number)` is the same everywhere, but for the
/// last bits of some logarithms.
#pragma once

#include "kinds.hpp"

namespace independent {

namespace drawn {

inline std::size_t draw_length(source& random, std::size_t most) {
    const std::size_t bound = random.chance(50) ? std::min<std::size_t>(most, 4) : most;
    return 1 + random.below(bound);
}
inline table numbers(std::vector<std::size_t> shape, std::vector<double> values, std::string type, std::size_t left_out) {
    return {std::move(shape), std::move(values), std::move(type), left_out};
}

// So many leading dimensions as are 1 may be left out, at random.
inline std::size_t draw_left_out(source& random, const table& t, std::size_t most) {
    std::size_t ones = 0;
    while (ones < most && t.shape[ones] == 1) ++ones;
    return random.below(ones + 1);
}

class attention_case {
public:
    attention_case(source& random, const kind& of, question& made) : random_{random}, of_{of}, made_{made}, how_{made.how} {}

    void draw(bool score_alone) {
        format_ = &random_.one_of(formats);
        if (random_.chance(25)) format_ = &formats[0];
        how_.op = score_alone ? "score" : "attention";
        how_.score = random_.chance(60) ? score_rule::scaled : static_cast<score_rule>(random_.below(4));
        if (how_.score == score_rule::scaled && random_.chance(35)) how_.scale = random_.one_of(scales);
        if (random_.chance(15)) how_.softcap = random_.one_of(caps);
        if (random_.chance(25)) how_.layout = random_.chance(50) ? "bnhd" : "nbd";
        const std::size_t most_pairs = random_.chance(80) ? 24 : random_.chance(80) ? 120 : 1500; // most cases are small, so that there are many
        most_components_ = most_pairs == 24 ? 6 : 16;
        n_q_ = draw_length(random_, 24);
        n_k_ = random_.chance(40) ? n_q_ : draw_length(random_, 24);
        B_ = random_.chance(60) ? 1 : 1 + random_.below(3);
        H_ = random_.chance(50) ? 1 : 1 + random_.below(6);
        while (n_q_ * n_k_ * B_ * H_ > most_pairs) {
            std::size_t& less = B_ > 1 && random_.chance(50) ? B_ : H_ > 1 && random_.chance(50) ? H_ : n_q_ > 1 ? n_q_ : n_k_;
            --less;
        }
        d_q_ = draw_length(random_, most_components_);
        const bool learned = how_.score == score_rule::bilinear || how_.score == score_rule::additive;
        d_k_ = learned && random_.chance(50) ? draw_length(random_, most_components_) : d_q_;
        if (!score_alone) draw_position();
        draw_queries_and_keys();
        if (learned) draw_weights_of_score();
        if (score_alone) made_.wanted = {"scores"};
        else draw_rest();
    }

private:
    void add(const char* name, table t) { made_.tensors.emplace_back(name, std::move(t)); }
    // For some tensors another format.
    const stored_format& format() { return random_.chance(90) ? *format_ : random_.one_of(formats); }

    void draw_position() {
        if (random_.chance(20)) {
            how_.position = position_rule::rope;
            d_k_ = d_q_;
            if (d_q_ % 2 == 1 && d_q_ == 1) d_k_ = d_q_ = 2;
            if (d_q_ % 2 == 1 || random_.chance(30)) how_.rope_dim = 2 * (1 + random_.below(d_q_ / 2));
            how_.half_pairing = random_.chance(50);
            if (random_.chance(40)) how_.rope_base = random_.one_of(bases);
            if (random_.chance(40)) how_.position_offset = random_.below(random_.chance(50) ? 10 : 100000);
        } else if (random_.chance(25)) how_.position = position_rule::alibi;
    }

    void draw_queries_and_keys() {
        const std::size_t kv_heads = random_.chance(40) ? divisor_of(H_) : H_;
        const bool q_once = random_.chance(10), k_once = !q_once && random_.chance(15);
        q_batches_ = q_once ? 1 : B_;
        k_batches_ = k_once ? 1 : B_;
        kv_heads_ = kv_heads;
        // Scores next to ties: the products of a key and a query of ones sum up to the middle of two numbers.
        const bool ties = how_.op == "score" && (how_.score == score_rule::scaled || how_.score == score_rule::dot) && random_.chance(25);
        table q = draw_table(random_, format(), {q_batches_, H_, n_q_, d_q_}, of_.q, of_.size);
        table k = draw_table(random_, format(), {k_batches_, kv_heads_, n_k_, d_k_}, of_.k, of_.size);
        if (ties) {
            for (double& x : q.values) x = std::ldexp(1.0, static_cast<int>(random_.below(2)));
            const stored_format& f = *std::find_if(std::begin(formats), std::end(formats), [&](const stored_format& each) { return k.type == each.name; });
            for (std::size_t r = 0; r < k.values.size() / d_k_; ++r) {
                const std::vector<double> row = draw_tied_mean(random_, f, d_k_);
                for (std::size_t c = 0; c < d_k_; ++c) k.values[r * d_k_ + c] = stored(f, row[c] / static_cast<double>(d_k_)); // exact where d_k is a power of two
            }
        }
        // One rank for all: with a layout, dimensions that are left out must be the same everywhere.
        const std::size_t ones = B_ > 1 ? 0 : H_ > 1 ? 1 : 2;
        left_out_ = random_.below(ones + 1);
        q.left_out = k.left_out = left_out_;
        add("q", std::move(q));
        add("k", std::move(k));
    }

    void draw_weights_of_score() {
        const std::size_t a = 1 + random_.below(8);
        const recipe by = random_.chance(80) ? recipe::ordinary : of_.q;
        const auto weight = [&](std::size_t rows, std::size_t columns, std::size_t left_out) {
            table t = draw_table(random_, format(), {1, 1, rows, columns}, by, of_.size);
            t.left_out = left_out;
            return t;
        };
        if (how_.score == score_rule::bilinear) add("w", weight(d_q_, d_k_, 2));
        else {
            add("w1", weight(a, d_k_, 2));
            add("w2", weight(a, d_q_, 2));
            add("b", weight(1, a, 3));
        }
    }

    void draw_rest() {
        d_v_ = draw_length(random_, most_components_);
        const stored_format& of_values = format();
        const std::size_t batches = random_.chance(10) ? 1 : k_batches_, heads = kv_heads_ > 1 && random_.chance(10) ? 1 : kv_heads_;
        table v = draw_table(random_, of_values, {batches, heads, n_k_, d_v_}, of_.v);
        if (random_.chance(8) && d_v_ == d_k_ && v.shape == made_["k"].shape) v = made_["k"];
        v.left_out = left_out_;
        if (std::max({q_batches_, k_batches_, v.batches()}) < B_) B_ = std::max({q_batches_, k_batches_, v.batches()});
        add("v", std::move(v));
        draw_lengths();
        how_.causal = random_.chance(45) ? causal_kind::none : random_.chance(50) ? causal_kind::top_left : causal_kind::bottom_right;
        if (random_.chance(20)) how_.window = {random_.below(5), random_.below(5)};
        how_.empty_row_is_nan = random_.chance(30);
        if (random_.chance(45)) draw_mask();
        if (random_.chance(15)) draw_dropout();
        if (random_.chance(15)) add("sink", per_head(random_.chance(80) ? 3 : 1e4));
        if (how_.position == position_rule::alibi && random_.chance(40)) add("alibi_slopes", per_head(1));
        if (how_.position == position_rule::rope && random_.chance(40)) draw_positions();
        made_.wanted = {"raw_scores", "scores", "weights", "lse", "out"};
        if (!random_.chance(65)) return;
        table dout = draw_table(random_, format(), {B_, H_, n_q_, d_v_}, of_.dout);
        dout.left_out = left_out_;
        add("dout", std::move(dout));
        for (const char* gradient : {"dq", "dk", "dv"}) made_.wanted.emplace_back(gradient);
        if (const table* const mask = made_.find("mask"); mask != nullptr && (mask->type[0] == 'f' || mask->type == "bf16")) made_.wanted.emplace_back("dmask");
    }

    table per_head(double spread) {
        table t = draw_table(random_, format(), {1, 1, 1, H_}, recipe::large, spread);
        t.left_out = 3;
        return t;
    }
    void draw_lengths() {
        const auto lengths = [&](const char* name, std::size_t full) {
            std::vector<double> each;
            for (std::size_t b = 0; b < B_; ++b) each.push_back(static_cast<double>(random_.chance(50) ? full : random_.below(full + 1)));
            add(name, numbers({1, 1, 1, B_}, each, random_.one_of(integer_types), 3));
        };
        if (random_.chance(20)) lengths("q_lengths", n_q_);
        if (random_.chance(25)) lengths("k_lengths", n_k_);
    }
    table over_pairs(std::string type) {
        const auto once = [&](std::size_t length) { return random_.chance(50) ? 1 : length; };
        table t{{once(B_), once(H_), random_.chance(80) ? n_q_ : 1, random_.chance(90) ? n_k_ : 1}, {}, std::move(type)};
        t.values.resize(t.shape[0] * t.shape[1] * t.shape[2] * t.shape[3]);
        t.left_out = draw_left_out(random_, t, 3);
        return t;
    }
    void draw_mask() {
        const std::size_t which = random_.below(4); // half of all are added
        table t = over_pairs(which == 0 ? "bool" : which == 1 ? random_.one_of(integer_types) : "f64");
        const unsigned seen = random_.chance(70) ? 75 : random_.chance(50) ? 15 : 100;
        if (which < 2) {
            how_.mask_keeps = random_.chance(50);
            if (which == 0 && random_.chance(50)) how_.mask_keeps.reset();
            const bool keeps = how_.mask_keeps.value_or(true);
            for (double& x : t.values) x = random_.chance(seen) == keeps ? 1 : 0;
        } else {
            const stored_format& f = format();
            t.type = f.name;
            const std::size_t like = random_.below(5);
            for (double& x : t.values) {
                const double normal = random_.normal();
                const double entry = like == 0 ? 0 : like == 1 ? normal : like == 2 ? normal * 0x1p-60 : like == 3 ? normal * 1e300 : random_.chance(80) ? normal : -1e9;
                x = random_.chance(seen) ? stored(f, entry) : -HUGE_VAL;
            }
        }
        if (t.shape[2] > 1 && random_.chance(30)) { // a row of which nothing is seen
            const double hides = which >= 2 ? -HUGE_VAL : how_.mask_keeps.value_or(true) ? 0 : 1;
            for (std::size_t c = 0; c < t.columns(); ++c) t.values[t.at(0, 0, random_.below(t.rows()), c)] = hides;
            const std::size_t row = random_.below(t.rows());
            for (std::size_t c = 0; c < t.columns(); ++c) t.values[t.at(0, 0, row, c)] = hides;
        }
        add("mask", std::move(t));
    }
    void draw_dropout() {
        how_.dropout_p = random_.one_of(probabilities);
        table t = over_pairs(random_.chance(50) ? "bool" : random_.one_of(integer_types));
        for (double& x : t.values) x = random_.chance(75) ? 1 : 0;
        add("dropout_mask", std::move(t));
    }
    // Query i stands at the token i, or i + n_k − n_q, which must be there.
    void draw_positions() {
        const table *const q = made_.find("q_lengths"), *const k = made_.find("k_lengths");
        for (std::size_t b = 0; b < B_ && how_.causal == causal_kind::bottom_right; ++b)
            if ((q != nullptr ? q->values[b] : static_cast<double>(n_q_)) > (k != nullptr ? k->values[b] : static_cast<double>(n_k_))) return;
        how_.position_offset = 0;
        const std::size_t n = std::max(n_q_, n_k_), rows = random_.chance(50) ? 1 : B_;
        table t{{1, 1, rows, n}, {}, "f64"};
        const std::size_t like = random_.below(4);
        t.type = like == 0 || like == 3 ? "i64" : like == 1 ? "f64" : "f32";
        for (std::size_t e = 0; e < rows * n; ++e) {
            const double whole = static_cast<double>(random_.below(5000)), more = random_.normal() * 1000;
            t.values.push_back(like == 0 ? whole - 100 : like == 1 ? more : like == 2 ? std::floor(whole / 625) / 2 : std::floor(whole * 1.8e12));
        }
        t.left_out = rows == 1 && random_.chance(50) ? 3 : 2;
        add("positions", std::move(t));
    }
    std::size_t divisor_of(std::size_t n) {
        std::vector<std::size_t> divisors;
        for (std::size_t d = 1; d <= n; ++d)
            if (n % d == 0) divisors.push_back(d);
        return divisors[random_.below(divisors.size())];
    }

    static constexpr const char* scales[] = {"1", "0.125", "0.3", "-0.5", "1e-3", "0x1.8p-2", "2", "0", "1e300", "1e-300"};
    static constexpr const char* caps[] = {"1", "30", "50", "0.7", "1e-3", "1e10"};
    static constexpr const char* bases[] = {"500000", "2", "1", "0.5", "10000"};
    static constexpr const char* probabilities[] = {"0.5", "0.25", "0.1", "0x1p-3", "0.9"};
    static constexpr const char* integer_types[] = {"i64", "i32", "u8"};

    source& random_;
    const kind& of_;
    question& made_;
    options& how_;
    const stored_format* format_ = nullptr;
    std::size_t n_q_ = 1, n_k_ = 1, B_ = 1, H_ = 1, d_q_ = 1, d_k_ = 1, d_v_ = 1, q_batches_ = 1, k_batches_ = 1, kv_heads_ = 1, left_out_ = 0, most_components_ = 16;
};

inline void draw_softmax(source& random, const kind& of, question& made) {
    made.how.op = "softmax";
    const stored_format& f = random.one_of(formats);
    std::vector<std::size_t> shape;
    for (std::size_t k = 1 + random.below(4); k > 0; --k) shape.push_back(1 + random.below(k == 1 ? random.chance(50) ? 4 : 24 : 3));
    std::size_t count = 1;
    for (const std::size_t length : shape) count *= length;
    table x{shape, draw_matrix(random, f, count, 1, of.q, of.size), f.name};
    const auto axis = static_cast<int>(random.below(shape.size()));
    made.how.axis = random.chance(50) ? axis : axis - static_cast<int>(shape.size());
    if (random.chance(20)) // next to a tie: weights c and 1 − c of two entries, the others far below
        for (double& entry : x.values) {
            const tie t = draw_tie(random, random.one_of(formats));
            const double c = std::fabs(t.middle) < 1 ? std::fabs(t.middle) : 0.25;
            entry = stored(f, random.chance(50) ? 0 : std::log(c) - std::log1p(-c));
        }
    if (random.chance(25))
        for (double& entry : x.values)
            if (random.chance(20)) entry = -HUGE_VAL;
    made.tensors.emplace_back("x", std::move(x));
    made.wanted = {"out"};
    if (!random.chance(60)) return;
    made.tensors.emplace_back("dout", table{shape, draw_matrix(random, f, count, 1, of.dout), f.name});
    made.wanted.emplace_back("dx");
}

} // namespace drawn

/// Case `number` of a seed.
[[nodiscard]] inline question draw_case(std::uint64_t seed, std::uint64_t number) {
    source random(seed * 0x2545f4914f6cdd1dU + number);
    random.bits();
    question made;
    const drawn::kind& of = random.one_of(drawn::kinds);
    made.about = of.name;
    const std::size_t op = random.below(10);
    if (op < 2) drawn::draw_softmax(random, of, made);
    else drawn::attention_case(random, of, made).draw(op < 4);
    if (random.chance(10)) // some of the outputs alone
        while (made.wanted.size() > 1 && random.chance(70)) made.wanted.erase(made.wanted.begin() + static_cast<std::ptrdiff_t>(random.below(made.wanted.size())));
    else if (number % 3 == 1) // what the first rung of attention gives in blocks
        std::erase_if(made.wanted, [](const std::string& name) { return name == "raw_scores" || name[0] == 'd'; });
    return made;
}

} // namespace independent
