// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::ncu {

/// Reads records of comma-separated values (RFC 4180: fields in quotes may hold commas, line ends
/// and doubled quotes), one after the other. Borrows the text. One thread.
class CsvReader {
  public:
    explicit CsvReader(std::string_view text) : rest_(text) {}

    /// The next record, empty lines left out; none at the end.
    /// Errors: request, with the line, when a quoted field does not end or goes on behind its
    /// quote, or when there are more than `mostFields` fields.
    Result<std::optional<std::vector<std::string>>> next();
    /// The rest of the line that starts here, without reading it.
    std::string_view line() const;
    void skipLine();
    bool atEnd() const { return rest_.empty(); }
    /// Of the record that was read last, from 1.
    int lineNumber() const { return recordLine_; }

    static constexpr std::size_t mostFields = 100'000;

  private:
    Result<std::string> quoted();
    std::string plain();

    std::string_view rest_;
    int line_ = 1;
    int recordLine_ = 0;
};

} // namespace cuda_agent::ncu
