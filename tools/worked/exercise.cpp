// SPDX-License-Identifier: BSL-1.0
#include "exercise.hpp"

namespace attest::worked {

namespace {

struct topic_info {
    std::string_view name, title;
    question (*ask)(random_integers&);
};
constexpr topic_info topics[] = {
    {"softmax", "softmax", ask_softmax},
    {"attention", "attention", ask_attention},
    {"causal", "causal attention", ask_causal},
    {"multi-head", "multi-head attention", ask_multi_head},
    {"positions", "positions", ask_positions},
    {"cross-attention", "cross-attention", ask_cross_attention},
    {"layer-norm", "LayerNorm", ask_layer_norm},
    {"feed-forward", "the feed-forward network", ask_feed_forward},
    {"shapes", "shapes and parameters", ask_shapes},
    {"variance", "why scores are scaled", ask_variance},
    {"gradients", "gradients of attention", ask_gradients},
};

void append(document& sheet, const std::string& title, document part) {
    sheet.blocks.emplace_back(heading{2, title});
    for (block& b : part.blocks) sheet.blocks.push_back(std::move(b));
    sheet.undetermined = sheet.undetermined || part.undetermined;
}

} // namespace

document exercise_sheet(const std::string& topic, std::uint64_t seed, int count, bool with_key) {
    std::vector<std::string_view> names;
    for (const topic_info& t : topics) names.push_back(t.name);
    const auto chosen = std::find(names.begin(), names.end(), topic);
    if (chosen == names.end()) throw usage_error("--topic: there is no topic '" + topic.substr(0, 40) + "'" + detail::did_you_mean(topic, names) + "; there are " + detail::listed(names));
    const topic_info& info = topics[chosen - names.begin()];
    random_integers random(seed);
    std::vector<question> questions;
    for (int i = 0; i < count; ++i) questions.push_back(info.ask(random));
    writer to(exercise_decimals);
    to.say(1, "Exercises: " + std::string(info.title));
    to.say({"Topic " + std::string(info.name) + ", seed " + std::to_string(seed) + ". Give numbers that are not exact to " + std::to_string(exercise_decimals) + " digits after the point."});
    document sheet = std::move(to.steps);
    for (std::size_t i = 0; i < questions.size(); ++i) append(sheet, "Question " + std::to_string(i + 1), std::move(questions[i].asked));
    if (!with_key) return sheet;
    writer key(exercise_decimals);
    key.say(1, "Key: " + std::string(info.title));
    key.say_marks();
    for (block& b : key.steps.blocks) sheet.blocks.push_back(std::move(b));
    for (std::size_t i = 0; i < questions.size(); ++i) append(sheet, "Key to question " + std::to_string(i + 1), std::move(questions[i].key));
    return sheet;
}

} // namespace attest::worked
