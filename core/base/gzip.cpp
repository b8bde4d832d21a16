// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/gzip.h"

#include "core/base/json.h"

#include <vector>
#include <zlib.h>

namespace cuda_agent {

namespace {
constexpr int gzipWindow = 15 + 16; ///< zlib's way to ask for a gzip head
constexpr std::size_t piece = 1u << 16;
} // namespace

std::string gzip(std::string_view text) {
    z_stream stream{};
    std::string result;
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzipWindow, 9, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        throw std::bad_alloc();
    std::vector<char> out(piece);
    std::size_t at = 0;
    int code = Z_OK;
    while (code != Z_STREAM_END) {
        const auto part = text.substr(at, piece);
        at += part.size();
        // zlib does not write to what it reads, its interface is older than const.
        stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(part.data()));
        stream.avail_in = static_cast<uInt>(part.size());
        do {
            stream.next_out = reinterpret_cast<Bytef *>(out.data());
            stream.avail_out = static_cast<uInt>(out.size());
            code = deflate(&stream, at == text.size() ? Z_FINISH : Z_NO_FLUSH);
            result.append(out.data(), out.size() - stream.avail_out);
        } while (stream.avail_out == 0);
    }
    deflateEnd(&stream);
    return result;
}

Result<std::string> readGzipFile(const std::filesystem::path &file, std::size_t limit) {
    CUDA_AGENT_ASSIGN(packed, readTextFile(file, limit));
    z_stream stream{};
    if (inflateInit2(&stream, gzipWindow) != Z_OK)
        return machineError("zlib cannot start");
    std::string result;
    std::vector<char> out(piece);
    std::size_t at = 0;
    int code = Z_BUF_ERROR;
    while (at < packed.size() || stream.avail_in > 0) {
        if (stream.avail_in == 0) {
            const auto size = std::min(piece, packed.size() - at);
            stream.next_in = reinterpret_cast<Bytef *>(packed.data() + at);
            stream.avail_in = static_cast<uInt>(size);
            at += size;
        }
        stream.next_out = reinterpret_cast<Bytef *>(out.data());
        stream.avail_out = static_cast<uInt>(out.size());
        code = inflate(&stream, Z_NO_FLUSH);
        result.append(out.data(), out.size() - stream.avail_out);
        if (result.size() > limit || (code != Z_OK && code != Z_STREAM_END))
            break;
        if (code == Z_STREAM_END && (at < packed.size() || stream.avail_in > 0)) {
            inflateReset(&stream); // a further member
            code = Z_OK;
        }
    }
    // What is left inside comes out without further input.
    while (code == Z_OK && result.size() <= limit) {
        stream.next_out = reinterpret_cast<Bytef *>(out.data());
        stream.avail_out = static_cast<uInt>(out.size());
        code = inflate(&stream, Z_SYNC_FLUSH);
        result.append(out.data(), out.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    if (result.size() > limit)
        return requestError("{} holds more than {} MB", file.string(), limit >> 20);
    if (code != Z_STREAM_END)
        return requestError("{} is no whole gzip file", file.string());
    return result;
}

} // namespace cuda_agent
