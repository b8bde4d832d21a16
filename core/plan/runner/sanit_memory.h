// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <string>
#include <utility>

namespace cuda_agent::plan::runner::sanit {

/// One access of the past: the segment it was made in (sanit_order.h; 0: none) and where.
struct Past {
    static constexpr std::uint32_t codeBits = 26;
    std::uint32_t segment = 0;
    std::uint32_t code = 0;                            ///< offset of the access in its library
    bool ordered() const { return (code >> 31) != 0; } ///< atomic or volatile
    std::uint32_t parts() const { return (code >> codeBits) & 15u; } ///< bytes of the granule
    std::uint32_t offset() const { return code & ((1u << codeBits) - 1); }
    static std::uint32_t pack(std::uint64_t offset, std::uint32_t parts, bool ordered) {
        return (static_cast<std::uint32_t>(offset) & ((1u << codeBits) - 1)) | parts << codeBits |
               (ordered ? 1u << 31 : 0u);
    }
};

/// What is known of one granule. Two readers of different threads are enough to see that a writer
/// is not the only one.
struct Cell {
    Past write;
    Past reads[2];
};

/// Pages that cost nothing until they are touched, all zero. Movable, owned.
class LazyPages {
  public:
    LazyPages() = default;
    explicit LazyPages(std::size_t bytes);
    LazyPages(LazyPages &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    LazyPages &operator=(LazyPages &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~LazyPages();
    /// Null when the machine refused.
    void *data() const { return data_; }

  private:
    void *data_ = nullptr;
    std::size_t bytes_ = 0;
};

enum class RegionKind {
    input,   ///< nobody may write it
    buffer,  ///< outputs and scratch
    host,    ///< the same, and code that is not looked at may fill it (sanit_host.h)
    shared,  ///< of a block: what one block wrote is nothing to the next
    variable ///< `__device__`, `__constant__`
};

/// A piece of memory that kernels may use, with what is known of each granule of 1, 2 or 4 bytes.
class Region {
  public:
    /// `elementBytes`: of the elements, for messages and for the granule; 0: not known.
    Region(std::string name, RegionKind kind, std::uintptr_t begin, std::uint64_t bytes,
           unsigned elementBytes);

    const std::string &name() const { return name_; }
    RegionKind kind() const { return kind_; }
    std::uintptr_t begin() const { return begin_; }
    std::uintptr_t end() const { return end_; }
    bool contains(std::uintptr_t address) const { return address >= begin_ && address < end_; }
    unsigned granule() const { return 1u << shift_; }
    std::size_t indexOf(std::uintptr_t address) const { return (address - begin_) >> shift_; }
    Cell &cell(std::size_t index) { return static_cast<Cell *>(cells_.data())[index]; }
    bool usable() const { return cells_.data() != nullptr && written_.data() != nullptr; }

    /// Whether the granule holds a value that somebody wrote.
    bool isWritten(std::size_t index) const {
        return kind_ == RegionKind::input || kind_ == RegionKind::variable ||
               static_cast<const std::uint8_t *>(written_.data())[index] != 0 ||
               (kind_ == RegionKind::host && !holdsPoison(index));
    }
    void setWritten(std::size_t index) { static_cast<std::uint8_t *>(written_.data())[index] = 1; }
    void setAllWritten(bool written);
    std::uint64_t countUnwritten(std::uint64_t *first) const;

    /// "element 5 of out0", "byte 20 of tile".
    std::string placeOf(std::uintptr_t address) const;
    unsigned elementBytes() const { return elementBytes_; }

  private:
    bool holdsPoison(std::size_t index) const;

    std::string name_;
    RegionKind kind_;
    std::uintptr_t begin_ = 0, end_ = 0;
    unsigned elementBytes_ = 0;
    unsigned shift_ = 0;
    std::size_t granules_ = 0;
    LazyPages cells_, written_;
};

} // namespace cuda_agent::plan::runner::sanit
