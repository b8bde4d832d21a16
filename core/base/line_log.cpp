// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/line_log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace cuda_agent {

namespace fs = std::filesystem;

Result<LineLog> LineLog::open(const fs::path &file,
                              const std::function<Result<void>(const Json &)> &each) {
    LineLog log(file, FileLock(UniqueFd(
                          ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644))));
    if (!log.file_)
        return machineError("cannot write {}: {}", file.string(), std::strerror(errno));
    if (::flock(log.file_.get(), LOCK_EX | LOCK_NB) != 0)
        return requestError("another program writes to {}; wait for it or stop it", file.string());
    CUDA_AGENT_ASSIGN(text, readTextFile(file, std::size_t{4} << 30));
    std::size_t begin = 0;
    for (std::size_t number = 1; begin < text.size(); ++number) {
        const auto end = text.find('\n', begin);
        if (end == text.npos) { // cut off while it was written
            if (::ftruncate(log.file_.get(), static_cast<off_t>(begin)) != 0)
                return machineError("cannot mend {}: {}", file.string(), std::strerror(errno));
            break;
        }
        const auto what = fmt::format("{}:{}", file.string(), number);
        CUDA_AGENT_ASSIGN(json, parseJson(std::string_view(text).substr(begin, end - begin), what));
        if (auto taken = each(json); !taken)
            return requestError("{}: {}", what, taken.error().message);
        begin = end + 1;
    }
    return log;
}

Result<void> LineLog::append(const Json &line) {
    return append(std::vector<Json>{line});
}

Result<void> LineLog::append(const std::vector<Json> &lines) {
    std::string text;
    for (const auto &line : lines)
        text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    for (std::size_t done = 0; done < text.size();) {
        const auto written = ::write(file_.get(), text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return machineError("cannot write {}: {}", path_.string(), std::strerror(errno));
        done += static_cast<std::size_t>(written);
    }
    if (::fdatasync(file_.get()) != 0)
        return machineError("cannot write {}: {}", path_.string(), std::strerror(errno));
    return {};
}

} // namespace cuda_agent
