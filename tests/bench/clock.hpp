// SPDX-License-Identifier: BSL-1.0
// How the libraries of tests/bench/peers.py measure.
#pragma once

#include <chrono>
#include <ctime>

/// Seconds of the processor's time that f takes, on all threads of this process; what other processes take beside it does not count, but for what they do to the caches.
template <class F> double processor_seconds(const F& f) {
    const std::clock_t start = std::clock();
    f();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Seconds on the clock at the wall, for what runs on several threads.
template <class F> double wall_seconds(const F& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
