// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "attest/oracle/decode.hpp"

#include <cmath>

namespace attest::worked {

namespace {

constexpr std::size_t longest_text = 4000, longest_number = 60;

std::string shortened(const std::string& text) { return text.size() > 40 ? text.substr(0, 40) + "..." : text; }

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        const bool space = c == ' ' || c == '\t' || c == ',';
        if (!space) words.back() += c;
        else if (!words.back().empty()) words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

fraction fraction_from(const std::string& name, const std::string& word) {
    if (word.size() > longest_number) throw usage_error("--tensor " + name + ": the number '" + shortened(word) + "' has " + std::to_string(word.size()) + " characters; expected at most " + std::to_string(longest_number));
    const std::size_t slash = word.find('/');
    const std::string key = "tensor " + name;
    const auto small = [&](const std::string& part) {
        const detail::number_parts parts = detail::parse_number(key, part);
        if (parts.exponent > 999 || parts.exponent < -999) throw usage_error("--tensor " + name + ": the exponent of '" + word + "' is beyond 999");
        return number_from<fraction>(key, part);
    };
    if (slash == std::string::npos) return small(word);
    const fraction below = small(word.substr(slash + 1));
    if (below == 0) throw usage_error("--tensor " + name + ": '" + word + "' divides by 0");
    return fraction(small(word.substr(0, slash)) / below);
}

fraction exactly(double x) {
    const big_float b(x);
    const std::int64_t e = b.last_exponent();
    if (e >= 0) return fraction(integer(b.mantissa() << static_cast<unsigned>(e)));
    return fraction(b.mantissa(), integer(integer(1) << static_cast<unsigned>(-e)));
}

std::string place_of(std::size_t i, const std::vector<std::size_t>& shape) {
    std::string text;
    for (std::size_t k = shape.size(); k-- > 0; i /= shape[k]) text = std::to_string(i % shape[k]) + (text.empty() ? "" : ", ") + text;
    return "[" + text + "]";
}

} // namespace

const tensor& problem::need(std::string_view name, std::size_t rank) const {
    const tensor* t = find(name);
    if (t == nullptr) throw usage_error(how.op + " needs " + std::string(name) + ": a member of the case, or --tensor " + std::string(name) + "=\"1 0; 0 1\"");
    if (t->rank() < rank) throw usage_error(std::string(name) + " " + shape_text(t->shape) + " has " + std::to_string(t->rank()) + " dimensions; expected " + std::to_string(rank) + " at least");
    return *t;
}

void refuse_large(const std::string& name, const std::vector<std::size_t>& shape) {
    const auto refuse = [&](const std::string& what) {
        throw usage_error(name + " " + shape_text(shape) + " is not small: " + what + "; attest eval gives the values of large cases");
    };
    std::size_t slices = 1, elements = 1;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (shape[k] == 0) throw usage_error(name + " " + shape_text(shape) + " is empty; expected at least one element");
        if (k + 2 >= shape.size() && shape[k] > most_length) refuse("a dimension of " + std::to_string(shape[k]) + ", where a worked example has at most " + std::to_string(most_length) + " rows and components");
        if (k + 2 < shape.size() && (shape[k] > most_slices || (slices *= shape[k]) > most_slices))
            refuse("more than " + std::to_string(most_slices) + " slices, where a worked example has at most " + std::to_string(most_slices));
        elements *= shape[k];
    }
    if (elements > most_elements) refuse(std::to_string(elements) + " elements, where a worked example has at most " + std::to_string(most_elements));
}

tensor tensor_from_text(const std::string& name, const std::string& text, bool one_dimension) {
    if (text.size() > longest_text) throw usage_error("--tensor " + name + ": " + std::to_string(text.size()) + " characters; expected at most " + std::to_string(longest_text));
    tensor t;
    std::size_t rows = 0, columns = 0, booleans = 0;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(';', from), text.size());
        const std::vector<std::string> words = words_of(text.substr(from, end - from));
        from = end + 1;
        if (words.empty() && from > text.size() && rows != 0) break; // "1 0; 0 1;"
        if (words.empty()) throw usage_error("--tensor " + name + ": row " + std::to_string(rows + 1) + " is empty; rows are separated by ; and numbers by spaces, as in \"1 0; 0 1\"");
        if (rows != 0 && words.size() != columns)
            throw usage_error("--tensor " + name + ": row " + std::to_string(rows + 1) + " has length " + std::to_string(words.size()) + ", row 1 length " + std::to_string(columns) + "; expected equally many numbers");
        columns = words.size();
        ++rows;
        for (const std::string& word : words) {
            const bool infinite = name == "mask" && (word == "-inf" || word == "−∞");
            const bool boolean = name == "mask" && (word == "true" || word == "false");
            booleans += boolean ? 1 : 0;
            t.hidden.push_back(infinite);
            t.entries.push_back(infinite ? number(0) : boolean ? number(word == "true" ? 1 : 0) : number(fraction_from(name, word)));
        }
    }
    if (booleans != 0 && booleans != t.entries.size()) throw usage_error("--tensor " + name + ": " + std::to_string(booleans) + " of " + std::to_string(t.entries.size()) + " entries are true or false; expected all of them, or none");
    t.is_boolean = booleans != 0;
    if (one_dimension && rows != 1) throw usage_error("--tensor " + name + ": " + std::to_string(rows) + " rows; expected one, since it is a vector");
    t.shape = one_dimension ? std::vector<std::size_t>{columns} : std::vector<std::size_t>{rows, columns};
    refuse_large(name, t.shape);
    return t;
}

tensor tensor_from_array(const std::string& name, const array_view& array) {
    refuse_large(name, array.shape);
    const bool mask = name == "mask" || name.ends_with(".mask");
    if (!mask) require_float(name, array);
    tensor t;
    t.shape = array.shape;
    t.is_boolean = array.type == dtype::boolean;
    for (std::size_t i = 0; i < array.elements(); ++i) {
        const double x = decode(array, i);
        const bool infinite = mask && x == -std::numeric_limits<double>::infinity();
        if (!std::isfinite(x) && !infinite)
            throw usage_error(name + place_of(i, array.shape) + " is " + (std::isnan(x) ? "NaN" : x > 0 ? "+inf" : "-inf") + ": a worked example needs numbers" + (mask ? ", or -inf in a mask" : ""));
        t.hidden.push_back(infinite);
        t.entries.push_back(infinite ? number(0) : number(exactly(x)));
    }
    return t;
}

std::vector<std::size_t> joined_slices(const std::vector<std::pair<std::string, const tensor*>>& tensors, bool grouped_heads) {
    std::vector<std::size_t> joined;
    for (const auto& [name, t] : tensors) {
        const std::size_t lead = t->rank() < 2 ? 0 : t->rank() - 2;
        if (lead > joined.size()) joined.insert(joined.begin(), lead - joined.size(), 1);
        for (std::size_t k = 0; k < lead; ++k) {
            std::size_t& at = joined[joined.size() - lead + k];
            const std::size_t length = t->shape[k];
            const bool divides = grouped_heads && k + 1 == lead && name != tensors.front().first && length != 0 && at % length == 0;
            if (at == 1) at = length;
            else if (length != at && length != 1 && !divides)
                throw usage_error(name + " " + shape_text(t->shape) + " does not go with " + tensors.front().first + " " + shape_text(tensors.front().second->shape) + ": dimension " + std::to_string(k) + " is " +
                                  std::to_string(length) + "; expected " + std::to_string(at) + " or 1");
        }
    }
    std::size_t count = 1;
    for (const std::size_t length : joined) count *= length;
    if (count > most_slices) throw usage_error("the case has " + std::to_string(count) + " slices, where a worked example has at most " + std::to_string(most_slices) + "; attest eval gives the values of large cases");
    return joined;
}

std::size_t slice_offset(const tensor& t, const std::vector<std::size_t>& slices, std::size_t slice) {
    const std::size_t lead = t.rank() < 2 ? 0 : t.rank() - 2;
    std::size_t offset = 0, step = 1;
    for (std::size_t k = 0; k < lead; ++k) {
        const std::size_t all = slices[slices.size() - 1 - k], own = t.shape[lead - 1 - k], at = slice % all;
        offset += step * (at * own / all); // own is all, 1 or a divisor
        step *= own;
        slice /= all;
    }
    return offset * t.last(0) * (t.rank() < 2 ? 1 : t.last(1));
}

table slice_of(const tensor& t, const std::vector<std::size_t>& slices, std::size_t slice) {
    table result(t.rank() < 2 ? 1 : t.last(1), t.last(0));
    const auto begin = t.entries.begin() + static_cast<std::ptrdiff_t>(slice_offset(t, slices, slice));
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(result.entries.size()), result.entries.begin());
    return result;
}

std::string slice_name(const std::vector<std::size_t>& slices, std::size_t slice) { return "Slice " + place_of(slice, slices) + " of " + shape_text(slices); }

void refuse_conventions(const conventions& how, const std::vector<std::string_view>& known) {
    for (const auto& [key, value] : conventions_in_force(how)) {
        // What only says how something is read or judged.
        const bool idle = key == "names" || key == "arithmetic" || key == "false-alarm" || key == "precision" || key == "mask-polarity" || key == "weights";
        if (idle || value == detail::find_convention(key).values.front() || std::find(known.begin(), known.end(), key) != known.end()) continue;
        throw usage_error("attest trace has no steps for " + key + "=" + value + " of " + how.op + (known.empty() ? "" : "; it knows " + detail::listed(known)) + "; attest eval gives the values");
    }
}
void begin_slice(writer& to, const std::vector<std::size_t>& slices, std::size_t slice) {
    if (!slices.empty()) to.say(2, slice_name(slices, slice));
    to.begin_again();
}

} // namespace attest::worked
