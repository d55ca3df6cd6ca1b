// SPDX-License-Identifier: BSL-1.0
/// \file
/// Bytes that can be read from anywhere in a file, or in memory: what the readers look at before they trust any length.
#pragma once

#include "attest/io/error.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/types.h> // off_t, for fseeko

namespace attest {

/// Random access to a fixed number of bytes.
class byte_source {
public:
    byte_source() = default;
    byte_source(const byte_source&) = delete;
    byte_source& operator=(const byte_source&) = delete;
    virtual ~byte_source() = default;

    [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;

    /// Fills `into` from `offset` on. The caller has checked that offset + into.size() does not exceed size().
    /// \throws file_error if the bytes cannot be had after all
    virtual void read(std::uint64_t offset, std::span<std::byte> into) = 0;
};

/// Bytes in memory that somebody else owns.
class memory_source final : public byte_source {
public:
    explicit memory_source(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

    [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }

    void read(std::uint64_t offset, std::span<std::byte> into) override {
        if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
    }

private:
    std::span<const std::byte> bytes_;
};

/// A regular file, opened for reading. Directories, pipes and devices are refused: their size is not known beforehand.
class file_source final : public byte_source {
public:
    /// \throws file_error if the file is not there, is not a regular file, or cannot be opened
    explicit file_source(const std::filesystem::path& path) : name_(path.string()) {
        std::error_code error;
        const std::filesystem::file_status status = std::filesystem::status(path, error);
        if (status.type() == std::filesystem::file_type::not_found) throw file_error(name_, "no such file");
        if (error) throw file_error(name_, "cannot be read: " + error.message());
        if (status.type() == std::filesystem::file_type::directory) throw file_error(name_, "is a directory", "a file");
        if (status.type() != std::filesystem::file_type::regular)
            throw file_error(name_, "is a pipe or a device", "a regular file, whose size is known");
        file_.reset(std::fopen(path.c_str(), "rb"));
        if (!file_) throw file_error(name_, std::string{"cannot be opened: "} + std::strerror(errno));
        if (::fseeko(file_.get(), 0, SEEK_END) != 0) throw file_error(name_, "cannot be read: no size");
        const ::off_t end = ::ftello(file_.get());
        if (end < 0) throw file_error(name_, "cannot be read: no size");
        size_ = static_cast<std::uint64_t>(end);
    }

    [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }

    void read(std::uint64_t offset, std::span<std::byte> into) override {
        if (into.empty()) return;
        const bool there =
            std::cmp_less_equal(offset, size_) && ::fseeko(file_.get(), static_cast<::off_t>(offset), SEEK_SET) == 0;
        const std::size_t got = there ? std::fread(into.data(), 1, into.size(), file_.get()) : 0;
        if (got != into.size())
            throw file_error(name_,
                             "cannot be read: " + std::to_string(got) + " of " + std::to_string(into.size()) +
                                 " bytes at " + std::to_string(offset),
                             "a file that does not change while it is read");
    }

    /// Hands the open file over, so that another reader sees the same file, whatever its name means by then.
    [[nodiscard]] std::FILE* release() noexcept { return file_.release(); }

private:
    struct closer {
        void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
    };

    std::string name_;
    std::unique_ptr<std::FILE, closer> file_;
    std::uint64_t size_ = 0;
};

} // namespace attest
