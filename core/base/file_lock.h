// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/unique_fd.h"

namespace cuda_agent {

/// An open file whose lock (flock(2)) is given up when it goes. To close the file is not enough: a
/// process that another thread is just starting has its descriptor, too, until it runs its program,
/// and the lock with it. Takes no lock itself.
class FileLock {
  public:
    FileLock() = default;
    explicit FileLock(UniqueFd file) : file_(std::move(file)) {}
    FileLock(FileLock &&) noexcept = default;
    FileLock &operator=(FileLock &&other) noexcept {
        if (this != &other) {
            giveUp();
            file_ = std::move(other.file_);
        }
        return *this;
    }
    FileLock(const FileLock &) = delete;
    FileLock &operator=(const FileLock &) = delete;
    ~FileLock() { giveUp(); }

    int get() const { return file_.get(); }
    explicit operator bool() const { return static_cast<bool>(file_); }

  private:
    void giveUp();

    UniqueFd file_;
};

} // namespace cuda_agent
