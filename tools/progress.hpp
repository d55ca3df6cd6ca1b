// SPDX-License-Identifier: BSL-1.0
// Progress on standard error: on a terminal alone, and only when a run takes more than a second.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <unistd.h>

namespace attest::program {

class progress_line {
public:
    explicit progress_line(std::string name) : name_{std::move(name)}, terminal_{isatty(STDERR_FILENO) != 0} {}
    ~progress_line() { clear(); }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    [[nodiscard]] std::function<void(std::size_t, std::size_t)> teller() {
        if (!terminal_) return {};
        return [this](std::size_t done, std::size_t all) {
            const auto now = std::chrono::steady_clock::now();
            if (now - last_ < std::chrono::seconds(1)) return;
            last_ = now;
            shown_ = true;
            std::fprintf(stderr, "\r\x1b[Kattest: %s: row %zu of %zu", name_.c_str(), done, all);
            std::fflush(stderr);
        };
    }
    void clear() {
        if (shown_) std::fputs("\r\x1b[K", stderr);
        shown_ = false;
    }

private:
    std::string name_;
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace attest::program
