// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/gzip.h"

#include "core/base/json.h"

#include <fstream>
#include <memory>
#include <vector>
#include <zlib.h>

namespace cuda_agent {

namespace {
constexpr int gzipWindow = 15 + 16; ///< zlib's way to ask for a gzip head
constexpr std::size_t piece = 1u << 16;

/// Calls `take` with what the file unpacks to, a piece at a time. Errors: as readGzipFile(), and
/// those of `take`.
Result<void> unpack(const std::filesystem::path &file,
                    const std::function<Result<void>(std::string_view)> &take) {
    std::error_code error;
    std::ifstream from(file, std::ios::binary);
    if (!from || !std::filesystem::is_regular_file(file, error))
        return requestError("cannot read {}", file.string());
    z_stream stream{};
    if (inflateInit2(&stream, gzipWindow) != Z_OK)
        return machineError("zlib cannot start");
    const std::unique_ptr<z_stream, decltype(&inflateEnd)> ends(&stream, &inflateEnd);
    std::vector<char> in(piece), out(piece);
    int code = Z_BUF_ERROR; // of no input
    const auto refill = [&] {
        if (stream.avail_in > 0)
            return true;
        from.read(in.data(), static_cast<std::streamsize>(in.size()));
        stream.next_in = reinterpret_cast<Bytef *>(in.data());
        stream.avail_in = static_cast<uInt>(from.gcount());
        return stream.avail_in > 0;
    };
    bool full = false; // there may be more inside
    while (refill() || full) {
        if (code == Z_STREAM_END)
            inflateReset(&stream); // a further member
        stream.next_out = reinterpret_cast<Bytef *>(out.data());
        stream.avail_out = static_cast<uInt>(out.size());
        code = inflate(&stream, Z_NO_FLUSH);
        CUDA_AGENT_TRY(take({out.data(), out.size() - stream.avail_out}));
        full = code == Z_OK && stream.avail_out == 0;
        if (code != Z_OK && code != Z_STREAM_END)
            break;
    }
    if (code != Z_STREAM_END)
        return requestError("{} is no whole gzip file", file.string());
    return {};
}
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
    std::string result;
    CUDA_AGENT_TRY(unpack(file, [&](std::string_view some) -> Result<void> {
        result += some;
        if (result.size() > limit)
            return requestError("{} holds more than {} MB", file.string(), limit >> 20);
        return {};
    }));
    return result;
}

Result<void> eachGzipLine(const std::filesystem::path &file,
                          const std::function<Result<void>(std::string_view, std::size_t)> &line,
                          std::size_t longest) {
    std::string rest; // of a line that has not ended
    std::size_t number = 0;
    const auto take = [&](std::string_view some) -> Result<void> {
        for (auto end = some.find('\n'); end != some.npos; end = some.find('\n')) {
            rest += some.substr(0, end);
            CUDA_AGENT_TRY(line(rest, ++number));
            rest.clear();
            some.remove_prefix(end + 1);
        }
        rest += some;
        if (rest.size() > longest)
            return requestError("{}:{}: a line of more than {} MB", file.string(), number + 1,
                                longest >> 20);
        return {};
    };
    CUDA_AGENT_TRY(unpack(file, take));
    return rest.empty() ? Result<void>() : line(rest, ++number);
}

} // namespace cuda_agent
