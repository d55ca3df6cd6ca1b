// SPDX-License-Identifier: BSL-1.0
/// \file
/// Memory for the kernels: doubles at an address that is a multiple of a cache line, where loads of whole vectors cross none.
///
/// Fresh memory costs as much as a tenth of an attention of 1024 tokens, for the system maps and clears it page by page. So each thread keeps the last few
/// buffers that it is done with, for its next ones.
#pragma once

#include <cstddef>
#include <new>

namespace attest::fast {

namespace detail {

struct block {
    double* at = nullptr;
    std::size_t count = 0; // doubles

    void allocate(std::size_t doubles) {
        at = static_cast<double*>(::operator new[](doubles * sizeof(double), std::align_val_t{64}));
        count = doubles;
    }
    void release() noexcept {
        ::operator delete[](at, std::align_val_t{64});
        *this = {};
    }
};

// What a thread keeps: six blocks of at most 4 MiB.
struct spare_blocks {
    static constexpr std::size_t greatest = std::size_t{1} << 19;
    block blocks[6] = {};

    spare_blocks() = default;
    spare_blocks(const spare_blocks&) = delete;
    spare_blocks& operator=(const spare_blocks&) = delete;
    ~spare_blocks() {
        for (block& spare : blocks) spare.release();
    }
    static spare_blocks& of_this_thread() {
        thread_local spare_blocks spares;
        return spares;
    }
    // The smallest that is great enough, or none.
    block take(std::size_t count) noexcept {
        block* best = nullptr;
        for (block& spare : blocks)
            if (spare.count >= count && spare.at != nullptr && (best == nullptr || spare.count < best->count)) best = &spare;
        if (best == nullptr) return {};
        const block taken = *best;
        *best = {};
        return taken;
    }
    // In the place of the smallest.
    void keep(block done) noexcept {
        block* least = &blocks[0];
        for (block& spare : blocks)
            if (spare.count < least->count) least = &spare;
        if (done.count <= greatest && done.count > least->count) {
            const block old = *least;
            *least = done;
            done = old;
        }
        done.release();
    }
};

} // namespace detail

/// At least so many doubles, not initialised. Throws std::bad_alloc.
class buffer {
public:
    explicit buffer(std::size_t count) : block_{detail::spare_blocks::of_this_thread().take(count)} {
        if (block_.at == nullptr) block_.allocate(count);
    }
    buffer(buffer&& other) noexcept : block_{other.block_} { other.block_ = {}; }
    buffer& operator=(buffer&&) = delete;
    ~buffer() { detail::spare_blocks::of_this_thread().keep(block_); }

    [[nodiscard]] double* data() const noexcept { return block_.at; }

private:
    detail::block block_;
};

} // namespace attest::fast
