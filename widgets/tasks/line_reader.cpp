// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/line_reader.h"

#include <zlib.h>

#include <cstring>

namespace cuda_agent::widgets {

namespace {

constexpr qint64 chunkSize = 256 << 10;
constexpr int gzipOnly = 16 + MAX_WBITS; ///< zlib.h: 16 more than the window bits means gzip

} // namespace

LineReader::LineReader(const QString &path) : file_(path) {}

LineReader::~LineReader() {
    if (stream_)
        inflateEnd(stream_.get());
}

Result<void> LineReader::open() {
    const std::string name = file_.fileName().toStdString();
    if (!file_.open(QIODevice::ReadOnly))
        return requestError("{} cannot be read: {}", name, file_.errorString().toStdString());
    const bool gzip = file_.peek(2) == QByteArrayView("\x1f\x8b", 2);
    if (!gzip && file_.fileName().endsWith(QLatin1String(".gz"), Qt::CaseInsensitive) &&
        file_.size() > 0)
        return requestError("{} is not a gzip file, although its name says so", name);
    if (!gzip)
        return {};
    stream_ = std::make_unique<z_stream>();
    std::memset(stream_.get(), 0, sizeof(z_stream));
    if (inflateInit2(stream_.get(), gzipOnly) != Z_OK) {
        stream_.reset();
        return machineError("{} cannot be unpacked: zlib does not start", name);
    }
    inMember_ = true;
    return {};
}

bool LineReader::next(const std::atomic<bool> &stop) {
    line_.clear();
    tooLong_ = false;
    offset_ = position_;
    while (!stop) {
        if (at_ == chunk_.size() && !fill()) {
            if (!fault_ || (line_.isEmpty() && !tooLong_))
                return false;
            ++number_;
            return true;
        }
        const char *begin = chunk_.constData() + at_;
        const qsizetype left = chunk_.size() - at_;
        const auto *end =
            static_cast<const char *>(std::memchr(begin, '\n', static_cast<std::size_t>(left)));
        const qsizetype taken = end ? end - begin + 1 : left;
        at_ += taken;
        position_ += taken;
        if (!tooLong_) {
            line_.append(begin, taken);
            tooLong_ = line_.size() > longestLine + 1; // its end does not count
        }
        if (end) {
            ++number_;
            return true;
        }
    }
    return false;
}

bool LineReader::fill() {
    at_ = 0;
    if (!fault_) {
        chunk_.clear();
        return false;
    }
    if (stream_)
        return unpack();
    chunk_ = file_.read(chunkSize);
    if (chunk_.isEmpty() && file_.error() != QFile::NoError)
        return fail("cannot be read to its end");
    return !chunk_.isEmpty();
}

bool LineReader::fail(const char *what) {
    chunk_.clear();
    fault_ = requestError("{} {}", file_.fileName().toStdString(), what);
    return false;
}

bool LineReader::unpack() {
    chunk_.resize(chunkSize);
    stream_->next_out = reinterpret_cast<Bytef *>(chunk_.data());
    stream_->avail_out = static_cast<uInt>(chunkSize);
    while (stream_->avail_out == chunkSize) {
        if (stream_->avail_in == 0) {
            input_ = file_.read(chunkSize);
            if (input_.isEmpty() && inMember_)
                return fail("is cut off: what comes before that is shown; make it again or copy "
                            "it again");
            if (input_.isEmpty()) {
                chunk_.clear();
                return false;
            }
            stream_->next_in = reinterpret_cast<Bytef *>(input_.data());
            stream_->avail_in = static_cast<uInt>(input_.size());
        }
        if (!inMember_) {
            // Zeros may pad the file; another member begins with gzip's first byte.
            if (*stream_->next_in == 0) {
                ++stream_->next_in;
                --stream_->avail_in;
                continue;
            }
            if (inflateReset(stream_.get()) != Z_OK)
                return fail("is damaged");
            inMember_ = true;
        }
        const int answer = inflate(stream_.get(), Z_NO_FLUSH);
        if (answer == Z_STREAM_END)
            inMember_ = false;
        else if (answer != Z_OK && answer != Z_BUF_ERROR)
            return fail("is damaged: what comes before that is shown; make it again or copy it "
                        "again");
    }
    chunk_.resize(chunkSize - static_cast<qint64>(stream_->avail_out));
    if (position_ + chunk_.size() > mostUnpacked)
        return fail("holds more than 4 GiB of text; only its beginning is shown");
    return true;
}

} // namespace cuda_agent::widgets
