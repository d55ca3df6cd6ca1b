// SPDX-License-Identifier: BSL-1.0
// Reads worked examples back, and evaluates them once more: by Boost's cpp_bin_float, which shares nothing with what the program computes in.
#pragma once

#include "program/program.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <map>
#include <sstream>

namespace program {

using wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<250>, boost::multiprecision::et_off>;
using wide_matrix = std::vector<std::vector<wide>>;

/// A printed number: its text, and whether ≈ stands before it.
struct shown_number {
    std::string text;
    bool rounded = false;
};
using shown_matrix = std::vector<std::vector<shown_number>>;

/// "0.66976", "3.35·10^-4", "1/3".
inline wide value_of(const std::string& text) {
    if (const std::size_t slash = text.find('/'); slash != std::string::npos) return wide(text.substr(0, slash)) / wide(text.substr(slash + 1));
    const std::size_t power = text.find("·10^");
    return power == std::string::npos ? wide(text) : wide(text.substr(0, power) + "e" + text.substr(power + std::string("·10^").size()));
}

/// What the marks and digits promise: = is the number; ≈ is not, but the nearest with its digits, of which there are as many as were asked for.
inline bool is_right(const shown_number& n, const wide& exact, int digits) {
    const wide size = abs(exact) > 1 ? wide(abs(exact)) : wide(1), apart = abs(wide(value_of(n.text) - exact));
    if (!n.rounded) return apart <= size * wide("1e-200");
    const std::size_t power = n.text.find("·10^"), point = n.text.find('.');
    const std::string mantissa = n.text.substr(0, power);
    const int places = point == std::string::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
    const int exponent = power == std::string::npos ? 0 : std::stoi(n.text.substr(power + std::string("·10^").size()));
    if (places != (power == std::string::npos ? digits : digits - 1)) return false;
    const int last = exponent - places;
    const wide unit = last < 0 ? 1 / pow(wide(10), -last) : pow(wide(10), last);
    return apart > 0 && apart <= unit / 2 * (1 + wide("1e-60"));
}

/// The numbers of the matrix of that name in a worked example as text; the one after `from`.
inline shown_matrix matrix_in(const std::string& text, const std::string& name, std::size_t from = 0) {
    shown_matrix m;
    std::size_t at = std::string::npos;
    bool all_rounded = false;
    for (const bool rounded : {false, true}) {
        const std::size_t found = std::min(text.find("\n  " + name + (rounded ? " ≈ " : " = ") + "⎡", from), text.find("\n  " + name + (rounded ? " ≈ " : " = ") + "[", from));
        if (found < at) {
            at = found;
            all_rounded = rounded;
        }
    }
    if (at == std::string::npos) return m;
    std::istringstream stream(text.substr(at + 1));
    for (std::string line; std::getline(stream, line);) {
        std::size_t begin = std::string::npos, end = std::string::npos;
        for (const std::string open : {"⎡", "⎢", "⎣", "["})
            if (const std::size_t b = line.find(open); b != std::string::npos) begin = b + open.size();
        for (const std::string close : {"⎤", "⎥", "⎦", "]"})
            if (const std::size_t e = line.find(close); e != std::string::npos) end = e;
        if (begin == std::string::npos || end == std::string::npos) break;
        m.emplace_back();
        std::istringstream row(line.substr(begin, end - begin));
        for (std::string word; row >> word;) {
            const bool marked = word.rfind("≈", 0) == 0;
            if (marked) word.erase(0, std::string("≈").size());
            m.back().push_back({word, marked || (all_rounded && word.find('/') == std::string::npos)});
        }
        if (contains(line, "⎦") || contains(line, "[")) break;
    }
    return m;
}
inline wide_matrix values_of(const shown_matrix& shown) {
    wide_matrix m;
    for (const auto& row : shown) {
        m.emplace_back();
        for (const shown_number& n : row) m.back().push_back(value_of(n.text));
    }
    return m;
}
/// Whether the matrix is printed, and each of its numbers right.
inline bool is_right(const shown_matrix& shown, const wide_matrix& exact, int digits) {
    if (shown.empty() || shown.size() != exact.size()) return false;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        if (shown[i].size() != exact[i].size()) return false;
        for (std::size_t j = 0; j < exact[i].size(); ++j)
            if (!is_right(shown[i][j], exact[i][j], digits)) return false;
    }
    return true;
}

inline wide_matrix times(const wide_matrix& a, const wide_matrix& b) {
    wide_matrix c(a.size(), std::vector<wide>(b[0].size()));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b[0].size(); ++j)
            for (std::size_t m = 0; m < b.size(); ++m) c[i][j] += a[i][m] * b[m][j];
    return c;
}
inline wide_matrix turned(const wide_matrix& a) {
    wide_matrix t(a[0].size(), std::vector<wide>(a.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[0].size(); ++j) t[j][i] = a[i][j];
    return t;
}

/// Attention and its gradients, by the formulas as they stand in a book. `causal`: query i sees keys j <= i.
struct wide_attention {
    wide_matrix a, z, dv, da, ds, dq, dk;

    wide_attention(const wide_matrix& q, const wide_matrix& k, const wide_matrix& v, const wide_matrix& dz, const wide& scale, bool causal) {
        wide_matrix s = times(q, turned(k));
        a = s;
        for (std::size_t i = 0; i < s.size(); ++i) {
            wide sum = 0;
            for (std::size_t j = 0; j < s[i].size(); ++j) {
                a[i][j] = causal && j > i ? wide(0) : wide(exp(wide(s[i][j] * scale)));
                sum += a[i][j];
            }
            for (wide& e : a[i]) e /= sum;
        }
        z = times(a, v);
        if (dz.empty()) return;
        dv = times(turned(a), dz);
        da = times(dz, turned(v));
        ds = da;
        for (std::size_t i = 0; i < ds.size(); ++i) {
            wide sum = 0;
            for (std::size_t j = 0; j < ds[i].size(); ++j) sum += a[i][j] * da[i][j];
            for (std::size_t j = 0; j < ds[i].size(); ++j) ds[i][j] = a[i][j] * (da[i][j] - sum);
        }
        dq = times(ds, k);
        dk = times(turned(ds), q);
        for (wide_matrix* m : {&dq, &dk})
            for (auto& row : *m)
                for (wide& x : row) x *= scale;
    }
};

/// Random numbers of at most `places` decimals, as text for --tensor and as numbers.
struct random_numbers {
    std::uint32_t state;

    int below(int n) {
        state = state * 1664525U + 1013904223U;
        return static_cast<int>((state >> 8U) % static_cast<std::uint32_t>(n));
    }
    std::pair<std::string, wide_matrix> matrix(std::size_t rows, std::size_t columns, int greatest, int places) {
        std::string text;
        wide_matrix m;
        int unit = 1;
        for (int p = 0; p < places; ++p) unit *= 10;
        for (std::size_t i = 0; i < rows; ++i) {
            m.emplace_back();
            text += i == 0 ? "" : "; ";
            for (std::size_t c = 0; c < columns; ++c) {
                const int n = below(2 * greatest * unit + 1) - greatest * unit;
                text += (c == 0 ? "" : " ") + std::to_string(n) + (unit == 1 ? "" : "/" + std::to_string(unit));
                m.back().push_back(wide(n) / unit);
            }
        }
        return {text, m};
    }
};

} // namespace program
