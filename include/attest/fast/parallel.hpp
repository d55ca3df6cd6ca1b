// SPDX-License-Identifier: BSL-1.0
/// \file
/// Independent tasks on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace attest::fast {

/// Does tasks 0 to count − 1 on so many threads, this one among them. Each makes a worker of its own (with its memory), `auto worker = make_worker()`, and
/// calls worker(i) for the next task that is left. Where one throws, the rest are left, and one of the exceptions is thrown on.
template <class MakeWorker> void in_parallel(unsigned threads, std::size_t count, const MakeWorker& make_worker) {
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    const auto work = [&] {
        try {
            auto worker = make_worker();
            for (std::size_t i = next++; i < count && !failed; i = next++) worker(i);
        } catch (...) {
            if (!failed.exchange(true)) failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    try {
        for (unsigned i = 1; i < threads && i < count; ++i) others.emplace_back(work);
    } catch (...) { // no more threads to be had: those that are there do it
    }
    work();
    for (std::thread& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

} // namespace attest::fast
