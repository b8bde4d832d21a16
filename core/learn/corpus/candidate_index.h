// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_set>

namespace cuda_agent::learn {

struct Document;

/// A candidate's files: path -> text.
using CandidateFiles = std::map<std::string, std::string>;

/// The same for candidates whose kernel sources (.cu and their headers) are the same text, whatever
/// the files are called; blanks and line ends at ends of lines and of files do not count. Of a
/// candidate without such sources: of all its files. A plan is compared as JSON. Empty: no files.
std::string sourcesKey(const CandidateFiles &files);

/// Which candidates a corpus shows: those that each turn of its conversations leaves, by its Write,
/// Edit and MultiEdit calls. Only what is trained on, the split "train", counts. Any thread may
/// ask.
class CandidateIndex {
  public:
    /// Reads the corpus once, a document at a time. Errors: request (no such file, no corpus).
    static Result<CandidateIndex> read(const std::filesystem::path &corpus);

    void add(const Document &document);
    /// Whether the corpus shows a candidate of the same sources.
    bool has(const CandidateFiles &files) const;
    std::size_t size() const { return keys_.size(); } ///< different candidates

  private:
    std::unordered_set<std::uint64_t> keys_; ///< the first 64 bits of the keys
};

} // namespace cuda_agent::learn
