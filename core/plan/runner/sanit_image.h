// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace cuda_agent::plan::runner::sanit {

/// A variable of a kernel library.
struct Variable {
    std::string name;        ///< as its author wrote it: "tile"
    std::uint64_t value = 0; ///< address, or offset in the thread's storage
    std::uint64_t bytes = 0;
    bool threadLocal = false; ///< a `__shared__` array
};

struct Place {
    std::string file;
    int line = 0;
    int column = 0;
};

/// What a kernel library says about itself: its variables and its line table (ELF of this machine's
/// byte order, DWARF 2 to 4). Values are as linked, before the library is moved to its address.
class Image {
  public:
    /// Errors: machine (not readable, no such library).
    static Result<Image> read(const std::filesystem::path &file);

    const std::vector<Variable> &variables() const { return variables_; }
    /// Bytes of address space it takes when loaded.
    std::uint64_t span() const { return span_; }
    /// Offset of the library's own anchor in the thread's storage.
    std::uint64_t anchor() const { return anchor_; }
    /// Where the code at this address comes from.
    std::optional<Place> placeOf(std::uint64_t address) const;

  private:
    struct Row {
        std::uint64_t address = 0;
        int file = -1; ///< index into files_; -1 ends a sequence
        int line = 0;
        int column = 0;
    };
    friend class LineReader;

    std::vector<Variable> variables_;
    std::uint64_t span_ = 0;
    std::uint64_t anchor_ = 0;
    std::vector<std::string> files_;
    std::vector<Row> rows_; ///< by address
};

} // namespace cuda_agent::plan::runner::sanit
