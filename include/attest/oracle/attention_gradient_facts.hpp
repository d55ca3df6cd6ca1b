// SPDX-License-Identifier: BSL-1.0
/// \file
/// From a case's rows to the limits of its gradients: what oracle/gradient_limits.hpp wants of each row; rotations turned back; sums over the slices that share
/// keys and values, and over what a mask broadcasts over.
#pragma once

#include "attest/oracle/attention_facts.hpp"
#include "attest/oracle/gradient_limits.hpp"

#include <set>

namespace attest {

/// One slice after the other, each with all of its rows where sums over rows are asked for. What is given must stay.
class attention_gradient_facts {
public:
    attention_gradient_facts(const conventions& how, const std::vector<named_view>& inputs, const attention_problem& p, const std::vector<certified_output>& outputs,
                             std::vector<const arithmetic*> possible, const attention_facts& facts, double lambda)
        : p_{p}, outputs_{outputs}, arithmetics_{std::move(possible)}, facts_{facts}, lambda_{lambda}, dout_{stack_of("dout", *find(inputs, "dout"), how.layout)},
          sums_(outputs.size()), keys_(outputs.size()) {
        for (const arithmetic* a : arithmetics_) {
            plain_.push_back(detail::without_stores(*a));
            plain_.back().operand = plain_.back().operand_tiny = 0; // a score made again has the same operands
        }
        for (const char* name : {"q", "k", "v", "dout", "w", "w1", "w2", "b"}) inputs_ = inputs_ & width_of({find(inputs, name)});
        if (how.score == score_kind::bilinear) w_ = detail::doubles_of(*find(inputs, "w"));
        if (how.score == score_kind::additive) {
            w1_ = detail::doubles_of(*find(inputs, "w1"));
            w2_ = detail::doubles_of(*find(inputs, "w2"));
            for (std::size_t e = 0; e < find(inputs, "b")->elements(); ++e) b_.push_back(decode(*find(inputs, "b"), e));
        }
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            if (outputs[o].of_rows) continue;
            std::size_t size = 1;
            for (const std::size_t length : outputs[o].at.length) size *= length;
            sums_[o].assign(arithmetics_.size(), std::vector<sum_of_limits>(size));
        }
    }
    /// dk and dv: which slice's and key's limits will be asked for.
    void wants(std::size_t output, std::size_t own_slice, std::size_t key) { keys_[output].emplace(own_slice, key); }

    /// A new rung: sums begin again.
    void begin() {
        for (auto& of_output : sums_)
            for (auto& of_arithmetic : of_output) std::fill(of_arithmetic.begin(), of_arithmetic.end(), sum_of_limits());
    }

    template <class S> void begin_slice(const attention_engine<ball<S>>& engine, std::size_t slice) {
        slice_ = slice;
        d_ = std::max(p_.d_k, p_.k.columns);
        gradient_shape shape;
        shape.rows = engine.rules().queries(slice);
        shape.n_k = p_.n_k;
        shape.d_k = d_;
        shape.d_v = p_.d_v;
        shape.scale = facts_.scale();
        shape.cap = facts_.rule().cap;
        shape.v = std::span<const double>(facts_.values().data(), p_.n_k * p_.d_v);
        shape.learned = !facts_.is_dot();
        shape.roundings = shape.learned ? static_cast<double>(d_) + 8 : 1;
        if (facts_.rule().rotated) {
            shape.roundings += facts_.rule().key_turn;
            for (std::size_t i = 0; i < shape.rows; ++i) shape.roundings = std::max(shape.roundings, facts_.query_turn(i) + static_cast<double>(d_) + 8);
            shape.stores = 5;
        }
        shape.inputs = inputs_;
        if (w_.rows != 0) through_keys();
        if (!facts_.is_dot()) {
            if (w_.rows != 0) shape.to_query = {through_keys_, sizes_of_keys_};
        } else {
            shape.to_query.value = facts_.keys();
            if (facts_.rule().rotated) {
                sizes_of_keys_.clear();
                for (std::size_t j = 0; j < p_.n_k; ++j)
                    for (std::size_t c = 0; c < d_; ++c) sizes_of_keys_.push_back(facts_.size_of_key(j, c));
                shape.to_query.size = sizes_of_keys_;
            }
        }
        std::set<std::size_t> keys;
        for (std::size_t o = 0; o < outputs_.size(); ++o)
            for (const auto& [own, key] : keys_[o])
                if (own == source_slice(p_.batch, outputs_[o].of->batch, slice)) keys.insert(key);
        limits_.emplace(arithmetics_, shape, lambda_, std::vector<std::size_t>(keys.begin(), keys.end()));
    }

    /// A row, with the forward limits of each arithmetic.
    void row(const row_values& values, const row_facts& row, const std::vector<std::unique_ptr<forward_limits>>& forward) {
        values_ = &values;
        row_ = &row;
        gradient_row_facts f;
        f.key = values.visible;
        f.score = values.scores;
        f.weight = values.weights;
        f.factor = row.factor;
        if (row.rule.cap > 0)
            for (const double s : row.scaled) f.tanh.push_back(attest::tanh(s / row.rule.cap));
        f.kernels = row.kernels;
        f.lse = values.lse;
        f.sink_weight = row.sink_weight;
        f.dz = std::span<const double>(dout_.values.data() + (slice_ * p_.n_q + values.i) * p_.d_v, p_.d_v);
        derivatives(f);
        for (std::size_t a = 0; a < arithmetics_.size(); ++a) f.errors.push_back(errors(a, *forward[a]));
        facts_of_row_ = std::move(f);
        limits_->row(facts_of_row_);
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            if (outputs_[o].of_rows) continue;
            if (outputs_[o].name == "dmask") add_to_mask(o);
            if (outputs_[o].name == "dq") add_query(o);
        }
    }

    /// dq of the last row.
    [[nodiscard]] element_limits dq(std::size_t a, std::size_t c) const {
        return turned(a, c, values_->dq, facts_.query_turn(values_->i), [&](std::size_t e) { return limits_->dq(a, e); });
    }

    /// After the slice's last row: what it gives to dk and dv. `gradient`: before rotations are turned back.
    template <class S> void end_slice(const slice_gradient<ball<S>>& gradient, std::size_t slice) {
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            const certified_output& output = outputs_[o];
            if (output.name != "dk" && output.name != "dv") continue;
            const std::size_t own = source_slice(p_.batch, output.of->batch, slice);
            const bool shared = element_count(output.of->batch) != p_.slices();
            for (const auto& [of_slice, key] : keys_[o]) {
                if (of_slice != own) continue;
                const std::size_t first = first_of_row(output.at, output.of->batch, own, key);
                std::vector<double> value;
                for (std::size_t c = 0; c < output.of->columns; ++c) value.push_back(output.name == "dk" ? gradient.dk(key, c).nearest_double() : gradient.dv(key, c).nearest_double());
                for (std::size_t a = 0; a < arithmetics_.size(); ++a)
                    for (std::size_t c = 0; c < output.of->columns; ++c) {
                        const element_limits one = output.name == "dv" ? limits_->dv(a, key, c)
                                                                      : turned(a, c, value, facts_.key_turn(key), [&](std::size_t e) { return limits_->dk(a, key, e); });
                        sum_of_limits& sum = sums_[o][a][first + c * output.at.stride.back()];
                        sum.size += output.name == "dv" ? limits_->size_of_dv(a, key) : most_of_turned * limits_->size_of_dk(a, key);
                        add(sum.limits, one, shared ? of_partial_sum(a, detail::size_of(value[c]), one) : element_limits{0, 0, 0});
                    }
            }
        }
    }
    /// Of an element of a sum over rows, when all are there.
    [[nodiscard]] element_limits column(std::size_t output, std::size_t position, std::size_t a) const {
        const sum_of_limits& sum = sums_[output][a][position];
        return detail::gradient_sums::overflows(*arithmetics_[a], 1, sum.size) ? element_limits{} : sum.limits;
    }

private:
    // Of an element that several slices, or several pairs, add to; and Σ|terms| of it.
    struct sum_of_limits {
        element_limits limits{0, 0, detail::infinity_of_double};
        double size = 0;
    };
    static constexpr double most_of_turned = 2; // a component of a pair, of the sizes of both

    static void add(element_limits& sum, const element_limits& one, const element_limits& more = {0, 0, 0}) {
        sum.certain = (sum.certain + one.certain + more.certain) * detail::slack;
        sum.expected = std::min(sum.certain, (sum.expected + one.expected + more.expected) * detail::slack);
    }
    // A head's part of a sum over heads may be stored as an output before it is added: at most as many additions as there are slices.
    [[nodiscard]] element_limits of_partial_sum(std::size_t a, double size, const element_limits& one) const {
        const auto with = [&](double limit) {
            const double most = size + limit;
            return half_ulp_of_store(arithmetics_[a]->output, most) + detail::unfused(detail::roundings(static_cast<double>(p_.slices()) + 1, arithmetics_[a]->unit) * most);
        };
        return {with(one.certain), with(one.expected), 0};
    }

    // A component of a gradient after its rotation is turned back: both of its pair act, and the angle's error turns the pair.
    template <class Limits> [[nodiscard]] element_limits turned(std::size_t a, std::size_t c, std::span<const double> value, double turn, const Limits& limits) const {
        const element_limits own = limits(c);
        const std::optional<std::size_t> partner = facts_.partner(c);
        if (!partner || turn == 0) return own;
        const element_limits other = limits(*partner);
        const double size = detail::size_of(value[c]) + detail::size_of(value[*partner]), stored = arithmetics_[a]->query_key > 0 ? 5 * arithmetics_[a]->query_key : 0;
        const auto both = [&](double x, double y) {
            const double sum = x + y;
            return (sum + detail::unfused((detail::unfused(turn * arithmetics_[a]->unit) + stored) * (size + sum)) + 4 * (arithmetics_[a]->tiny + arithmetics_[a]->weight_tiny)) * detail::slack;
        };
        const double certain = both(own.certain, other.certain);
        return {certain, std::min(certain, both(own.expected, other.expected)), detail::infinity_of_double};
    }

    // ∂raw/∂q and ∂raw/∂k, padded to one length.
    void derivatives(gradient_row_facts& f) {
        const std::vector<double>& q = facts_.query(values_->i).x;
        if (facts_.is_dot()) {
            f.to_key.value = q;
            if (!facts_.rule().rotated) return;
            sizes_to_key_.clear();
            for (std::size_t c = 0; c < d_; ++c) sizes_to_key_.push_back(facts_.size_of_query(values_->i, c));
            f.to_key.size = sizes_to_key_;
            return;
        }
        if (w_.rows != 0) {
            to_key_.assign(d_, 0.0);
            sizes_to_key_.assign(d_, 0.0);
            const std::vector<double>& given = facts_.given_query(values_->i);
            for (std::size_t c = 0; c < w_.columns; ++c)
                for (std::size_t r = 0; r < w_.rows; ++r) {
                    to_key_[c] += detail::unfused(given[r] * w_(r, c));
                    sizes_to_key_[c] += detail::unfused(facts_.size_of_query(values_->i, r) * detail::size_of(w_(r, c)));
                }
            f.to_key = {to_key_, sizes_to_key_};
            return;
        }
        const std::size_t n = f.key.size();
        for (std::vector<double>* x : {&to_key_, &sizes_to_key_, &to_query_, &sizes_to_query_}) x->assign(n * d_, 0.0);
        for (std::size_t l = 0; l < n; ++l)
            for (std::size_t h = 0; h < b_.size(); ++h) {
                const double t = attest::tanh(facts_.hidden(f.key[l], h)), slope = detail::unfused((1 - t) * (1 + t)), through = detail::unfused(b_[h] * slope);
                // 1 − t² is off by roundings of 1, and by δ(2|t|(1 − t²)) + δ² for h off by δ, which is r <= 2^−6 of its size H.
                const double size = facts_.hidden_size(f.key[l], h), from_h = 2 * detail::unfused(detail::size_of(t) * slope) + detail::unfused(0x1p-6 * size);
                const double most = detail::unfused(detail::size_of(b_[h]) * (1 + detail::unfused(from_h * size)));
                const auto add_row = [&](const double_matrix& w, std::vector<double>& to, std::vector<double>& sizes) {
                    for (std::size_t c = 0; c < w.columns; ++c) {
                        to[l * d_ + c] += detail::unfused(through * w(h, c));
                        sizes[l * d_ + c] += detail::unfused(most * detail::size_of(w(h, c)));
                    }
                };
                add_row(w1_, to_key_, sizes_to_key_);
                add_row(w2_, to_query_, sizes_to_query_);
            }
        f.to_key = {to_key_, sizes_to_key_};
        f.to_query = {to_query_, sizes_to_query_};
    }
    // W k of every key.
    void through_keys() {
        through_keys_.assign(p_.n_k * d_, 0.0);
        sizes_of_keys_ = through_keys_;
        for (std::size_t j = 0; j < p_.n_k; ++j)
            for (std::size_t r = 0; r < w_.rows; ++r)
                for (std::size_t c = 0; c < w_.columns; ++c) {
                    through_keys_[j * d_ + r] += detail::unfused(w_(r, c) * facts_.key(j, c));
                    sizes_of_keys_[j * d_ + r] += detail::unfused(detail::size_of(w_(r, c)) * facts_.size_of_key(j, c));
                }
    }

    [[nodiscard]] gradient_score_errors errors(std::size_t a, const forward_limits& forward) const {
        gradient_score_errors e;
        const arithmetic& all = *arithmetics_[a];
        const std::size_t n = row_->score.size();
        for (std::size_t l = 0; l < n; ++l) e.bound.push_back(forward.score(l).certain);
        if (row_->sink)
            e.sink = detail::unfused((detail::input_unit(all, row_->rule.added) + 2 * all.unit) * detail::size_of(*row_->sink)) +
                     detail::input_tiny(all, row_->rule.added);
        if (!(all.weight > 0) && !(all.operand > 0)) return e;
        const row_limits without(plain_[a], *row_);
        for (std::size_t l = 0; l < n; ++l) e.plain.push_back(without.score(l));
        if (!(all.score > 0)) return e;
        const score_errors of_scores(all, row_->rule);
        for (std::size_t l = 0; l < n; ++l) {
            const double scaled = row_->scaled_size(l), before = of_scores.before_added(row_->sizes[l], scaled);
            if (!(before < detail::infinity_of_double)) {
                e.noise.push_back(e.bound[l]);
                continue;
            }
            const score_sources s = of_scores.sources(row_->sizes[l], scaled, before);
            const double added = of_scores.added_source(detail::size_of(row_->score[l]), row_->alibi_size(l), row_->mask_size(l), e.bound[l]);
            e.noise.push_back(attest::sqrt(detail::unfused(s.own * s.own) + detail::unfused(s.query * s.query) + detail::unfused(added * added)) * detail::slack);
        }
        return e;
    }

    void add_to_mask(std::size_t o) {
        const std::size_t terms = p_.slices() * p_.n_q * p_.n_k / std::max<std::size_t>(sums_[o].front().size(), 1);
        for (std::size_t l = 0; l < values_->visible.size(); ++l) {
            const std::size_t position = gradient_sums<double>::position_in_mask(p_, outputs_[o], slice_, values_->i, values_->visible[l]);
            for (std::size_t a = 0; a < arithmetics_.size(); ++a) {
                add(sums_[o][a][position].limits, limits_->ds(a, l, terms > 1, terms));
                sums_[o][a][position].size += limits_->size_of_ds(a, l);
            }
        }
    }
    void add_query(std::size_t o) {
        const std::size_t own = source_slice(p_.batch, outputs_[o].of->batch, slice_), first = first_of_row(outputs_[o].at, outputs_[o].of->batch, own, values_->i);
        for (std::size_t a = 0; a < arithmetics_.size(); ++a)
            for (std::size_t c = 0; c < outputs_[o].of->columns; ++c) {
                const element_limits one = dq(a, c);
                sum_of_limits& sum = sums_[o][a][first + c * outputs_[o].at.stride.back()];
                sum.size += most_of_turned * limits_->size_of_dq(a);
                add(sum.limits, one, of_partial_sum(a, detail::size_of(values_->dq[c]), one));
            }
    }

    const attention_problem& p_;
    const std::vector<certified_output>& outputs_;
    std::vector<const arithmetic*> arithmetics_;
    std::vector<arithmetic> plain_; // without 16-bit stores
    const attention_facts& facts_;
    double lambda_;
    matrix_stack dout_;
    double_matrix w_, w1_, w2_;
    std::vector<double> b_;
    input_width inputs_; // of all
    std::vector<std::vector<std::vector<sum_of_limits>>> sums_; // output, arithmetic, position
    std::vector<std::set<std::pair<std::size_t, std::size_t>>> keys_; // output: own slice and key
    std::size_t slice_ = 0, d_ = 0;
    const row_values* values_ = nullptr;
    const row_facts* row_ = nullptr;
    std::optional<attention_gradient_limits> limits_;
    gradient_row_facts facts_of_row_;
    std::vector<double> to_key_, sizes_to_key_, to_query_, sizes_to_query_, through_keys_, sizes_of_keys_;
};

} // namespace attest
