// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QByteArray>
#include <QFile>

#include <atomic>
#include <memory>

struct z_stream_s;

namespace cuda_agent::widgets {

/// The lines of a text file, plain or gzip (RFC 1952, several members too; told by its first
/// bytes), one after the other in bounded memory. The bytes are untrusted. One thread at a time.
class LineReader {
  public:
    static constexpr qint64 longestLine = 16 << 20;
    static constexpr qint64 mostUnpacked = qint64(4) << 30;

    explicit LineReader(const QString &path);
    ~LineReader();
    LineReader(const LineReader &) = delete;
    LineReader &operator=(const LineReader &) = delete;

    /// Errors: request (missing, unreadable, named .gz and is none).
    Result<void> open();
    bool packed() const { return stream_ != nullptr; }
    /// Goes on to the next line; false at the end, after a fault, or soon after `stop`. Of a gzip
    /// file that is cut off or damaged, the line in which that happens is left out.
    bool next(const std::atomic<bool> &stop);
    /// With its line end where it has one; only its beginning when it is too long.
    const QByteArray &line() const { return line_; }
    bool tooLong() const { return tooLong_; }
    qint64 offset() const { return offset_; } ///< of the line in the (unpacked) text
    qsizetype number() const { return number_; }
    /// What ended the reading early, in one sentence. Errors: request.
    Result<void> fault() const { return fault_; }

  private:
    bool fill();
    bool unpack();
    bool fail(const char *what);

    QFile file_;
    std::unique_ptr<z_stream_s> stream_;
    QByteArray input_, chunk_, line_;
    qsizetype at_ = 0;
    qint64 position_ = 0, offset_ = 0;
    qsizetype number_ = 0;
    bool tooLong_ = false;
    bool inMember_ = false;
    Result<void> fault_;
};

} // namespace cuda_agent::widgets
