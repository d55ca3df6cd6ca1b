// SPDX-License-Identifier: BSL-1.0
// What a worked example is given: tensors of exact numbers, from a case or from text, and the conventions.
#pragma once

#include "writer.hpp"

#include "attest/io/array.hpp"
#include "attest/question/conventions.hpp"

#include <map>

namespace attest::worked {

struct tensor {
    std::vector<std::size_t> shape;
    std::vector<number> entries;
    bool is_boolean = false;
    std::vector<bool> hidden; // of a mask that is added: −∞; otherwise empty

    [[nodiscard]] std::size_t rank() const { return shape.size(); }
    [[nodiscard]] std::size_t last(std::size_t k) const { return shape[shape.size() - 1 - k]; } // 0: the last
};

struct problem {
    conventions how;
    std::map<std::string, tensor, std::less<>> tensors;

    [[nodiscard]] const tensor* find(std::string_view name) const {
        const auto at = tensors.find(name);
        return at == tensors.end() ? nullptr : &at->second;
    }
    // usage_error where it is missing, has fewer dimensions than `rank`, or none of some kind.
    [[nodiscard]] const tensor& need(std::string_view name, std::size_t rank) const;
};

// "1 0; 0 1": rows by ;, numbers as in conventions, fractions a/b, −inf, true and false in a mask.
[[nodiscard]] tensor tensor_from_text(const std::string& name, const std::string& text, bool one_dimension);
// usage_error for NaN, infinities, and for more than a board holds.
[[nodiscard]] tensor tensor_from_array(const std::string& name, const array_view& array);

// Sizes up to which an example is small.
inline constexpr std::size_t most_length = 8, most_slices = 8, most_elements = 512;
void refuse_large(const std::string& name, const std::vector<std::size_t>& shape);

// Leading dimensions of slices, equal or 1; and `head`: the last of them may also be a divisor.
[[nodiscard]] std::vector<std::size_t> joined_slices(const std::vector<std::pair<std::string, const tensor*>>& tensors, bool grouped_heads);
// The matrix of one slice of the joined ones.
[[nodiscard]] std::size_t slice_offset(const tensor& t, const std::vector<std::size_t>& slices, std::size_t slice);
[[nodiscard]] table slice_of(const tensor& t, const std::vector<std::size_t>& slices, std::size_t slice);
// "slice [0, 1]"
[[nodiscard]] std::string slice_name(const std::vector<std::size_t>& slices, std::size_t slice);

// The heading of a slice, where there are several, and the count of steps from 1.
void begin_slice(writer& to, const std::vector<std::size_t>& slices, std::size_t slice);

// usage_error naming the first convention of the op that is in force with another value than these steps know. `known`: keys that the op's steps read.
void refuse_conventions(const conventions& how, const std::vector<std::string_view>& known);

} // namespace attest::worked
