// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"

#include "core/base/descriptor_io.h"
#include "core/base/folder_lock.h"
#include "core/base/hash.h"
#include "core/session/line.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cuda_agent::session {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t blobLimit = std::size_t{1} << 30;

fs::path logFile(const fs::path &folder) {
    return folder / "session.jsonl";
}

std::string reason(int error) {
    return std::generic_category().message(error);
}

bool diskFull(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

double now() {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Result<std::string> readLogText(const fs::path &folder) {
    const UniqueFd file(::open(logFile(folder).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        if (errno == ENOENT || errno == ENOTDIR)
            return requestError("{} holds no session (there is no session.jsonl in it)",
                                folder.string());
        return requestError("cannot read {}: {}", logFile(folder).string(), reason(errno));
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0)
        return machineError("cannot read {}: {}", logFile(folder).string(), reason(errno));
    // Shorter when a writer has just taken a failed event back.
    auto text = readUpTo(file.get(), static_cast<std::size_t>(status.st_size));
    if (!text)
        return machineError("cannot read {}: {}", logFile(folder).string(), reason(errno));
    return std::move(*text);
}

Result<void> checkHeader(std::string_view line, const fs::path &file) {
    Json header;
    if (!parseFast(line, header) || !header.is_object() || !header.contains("schema") ||
        !header["schema"].is_number_integer() || header["schema"].get<std::int64_t>() < 1)
        return requestError("{} is not a session log: its first line is not {{\"schema\": {}}}",
                            file.string(), schemaVersion);
    const auto schema = header["schema"].get<std::int64_t>();
    if (schema > schemaVersion)
        return requestError("{} was written by a newer version of this program (schema {}, this "
                            "one reads up to {}); open it with the newer version",
                            file.string(), schema, schemaVersion);
    return {};
}

struct Scan {
    Contents contents;
    std::int64_t next = 0;     ///< sequence number after the last whole line
    std::size_t goodBytes = 0; ///< end of the last whole line
};

Result<Scan> scan(std::string_view text, const fs::path &file) {
    Scan result;
    const std::size_t headerEnd = text.find('\n');
    if (headerEnd == std::string_view::npos)
        return requestError("{} is not a session log: its first line has no end", file.string());
    CUDA_AGENT_TRY(checkHeader(text.substr(0, headerEnd), file));
    result.goodBytes = headerEnd + 1;
    for (int number = 2; result.goodBytes < text.size(); ++number) {
        const std::size_t begin = result.goodBytes;
        const std::size_t end = text.find('\n', begin);
        if (end == std::string_view::npos) {
            result.contents.problem = fmt::format(
                "line {} is not whole: its writer was killed, or is writing it now", number);
            break;
        }
        Line line = parseLine(text.substr(begin, end - begin));
        if (line.whole && line.event.sequence != result.next) {
            line.whole = false;
            line.problem = fmt::format("has number {} where {} was expected", line.event.sequence,
                                       result.next);
        }
        if (!line.whole) {
            // After a power cut the file system may have kept the length but not the content.
            if (end + 1 == text.size()) {
                result.contents.problem =
                    fmt::format("line {}, the last one, {}", number, line.problem);
                break;
            }
            return requestError("{}:{}: the line {}; mend or remove the line, everything before "
                                "it is whole",
                                file.string(), number, line.problem);
        }
        if (line.known)
            result.contents.events.push_back(std::move(line.event));
        else
            ++result.contents.unknownEvents;
        ++result.next;
        result.goodBytes = end + 1;
    }
    return result;
}

/// Keeps what is about to be cut off, for a person to look at.
Result<void> keepTorn(const fs::path &file, std::string_view torn) {
    const fs::path beside = file.string() + ".torn";
    const UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    int error = fd && writeWhole(fd.get(), std::string(torn) + "\n") ? 0 : errno;
    if (error == 0 && ::fsync(fd.get()) != 0)
        error = errno;
    if (error != 0)
        return machineError("cannot keep the torn last line of {} in {}: {}", file.string(),
                            beside.string(), reason(error));
    return {};
}

bool isBlobName(std::string_view name) {
    return name.size() == 64 &&
           name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace

Result<Log> Log::lock(const fs::path &folder) {
    Log log;
    log.folder_ = folder;
    CUDA_AGENT_ASSIGN(lock, lockFolder(folder, "program"));
    log.lock_ = std::move(lock);
    return log;
}

Result<void> Log::openFile() {
    const fs::path path = logFile(folder_);
    file_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!file_)
        return machineError("cannot write to {}: {}", path.string(), reason(errno));
    return {};
}

Result<Log> Log::create(const fs::path &folder) {
    std::error_code error;
    fs::create_directories(folder / "blobs", error);
    if (error)
        return machineError("cannot create {}: {}", (folder / "blobs").string(), error.message());
    auto log = lock(folder);
    if (!log)
        return log;
    if (fs::exists(logFile(folder), error))
        return requestError("{} holds a session already; resume it or name another folder",
                            folder.string());
    const std::string header = fmt::format("{{\"schema\":{}}}\n", schemaVersion);
    CUDA_AGENT_TRY(writeFileAtomically(logFile(folder), header));
    CUDA_AGENT_TRY(log->openFile());
    log->goodBytes_ = static_cast<std::int64_t>(header.size());
    return log;
}

Result<Log> Log::open(const fs::path &folder) {
    std::error_code error;
    if (!fs::exists(logFile(folder), error)) // before a lock file appears in a wrong folder
        return requestError("{} holds no session (there is no session.jsonl in it)",
                            folder.string());
    auto log = lock(folder);
    if (!log)
        return log;
    CUDA_AGENT_ASSIGN(text, readLogText(folder));
    CUDA_AGENT_ASSIGN(scanned, scan(text, logFile(folder)));
    CUDA_AGENT_TRY(log->openFile());
    if (scanned.goodBytes < text.size()) {
        CUDA_AGENT_TRY(keepTorn(logFile(folder), std::string_view(text).substr(scanned.goodBytes)));
        if (::ftruncate(log->file_.get(), static_cast<off_t>(scanned.goodBytes)) != 0)
            return machineError("cannot cut the torn last line off {}: {}",
                                logFile(folder).string(), reason(errno));
    }
    log->next_ = scanned.next;
    log->goodBytes_ = static_cast<std::int64_t>(scanned.goodBytes);
    return log;
}

tl::unexpected<Error> Log::takeBack(int error) {
    std::string message =
        diskFull(error) ? fmt::format("the disk is full: event {} could not be written to {} ({}); "
                                      "free some space, everything before it is kept",
                                      next_, logFile(folder_).string(), reason(error))
                        : fmt::format("event {} could not be written to {}: {}; everything before "
                                      "it is kept",
                                      next_, logFile(folder_).string(), reason(error));
    // When even this fails the next append tries again, and a reader leaves the torn line out.
    if (::ftruncate(file_.get(), goodBytes_) != 0)
        message += fmt::format(" (and its first part could not be removed: {})", reason(errno));
    return tl::unexpected(Error{ErrorKind::machine, std::move(message)});
}

Result<Event> Log::append(EventType type, int turn, Json data) {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0)
        return takeBack(errno);
    if (status.st_size < goodBytes_ || status.st_nlink == 0)
        return machineError("{} was shortened or removed by another program; event {} is not "
                            "written",
                            logFile(folder_).string(), next_);
    if (status.st_size > goodBytes_ && ::ftruncate(file_.get(), goodBytes_) != 0)
        return takeBack(errno);

    if (nestsTooDeep(data)) // writing it out would need a deep stack
        return machineError("event {} ({}) is not written: its data is nested too deeply", next_,
                            nameOf(type));
    const std::string text = formatLine({next_, now(), type, turn, std::move(data)}) + "\n";
    // What is handed on is what a reader will get, so that live and replay cannot differ.
    Line line = parseLine(std::string_view(text).substr(0, text.size() - 1));
    if (!line.known)
        return machineError("event {} ({}) is not written: its line {}", next_, nameOf(type),
                            line.problem);
    if (!writeWhole(file_.get(), text)) // one write() unless the kernel cuts it short
        return takeBack(errno);
    const bool durable = type == EventType::verdictGiven || type == EventType::sessionEnded;
    if (durable && ::fdatasync(file_.get()) != 0)
        return takeBack(errno);
    goodBytes_ += static_cast<std::int64_t>(text.size());
    ++next_;
    if (listener_)
        listener_(line.event);
    return std::move(line.event);
}

Result<std::string> Log::putBlob(std::string_view bytes) {
    if (bytes.size() > blobLimit)
        return machineError("a blob of {} bytes is too large for the log (at most {})",
                            bytes.size(), blobLimit);
    std::string name = sha256Hex(bytes);
    const fs::path path = folder_ / "blobs" / name;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 &&
        static_cast<std::size_t>(status.st_size) == bytes.size())
        return name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
        return machineError("cannot create {}: {}", path.parent_path().string(), error.message());
    CUDA_AGENT_TRY(writeFileAtomically(path, bytes));
    return name;
}

void Log::setListener(std::function<void(const Event &)> listener) {
    listener_ = std::move(listener);
}

Result<Contents> readLog(const fs::path &folder) {
    CUDA_AGENT_ASSIGN(text, readLogText(folder));
    CUDA_AGENT_ASSIGN(scanned, scan(text, logFile(folder)));
    return std::move(scanned.contents);
}

Result<std::string> readBlob(const fs::path &folder, std::string_view name) {
    if (!isBlobName(name))
        return requestError("'{}' is not the name of a blob (64 lower-case hex digits)", name);
    const fs::path path = folder / "blobs" / name;
    CUDA_AGENT_ASSIGN(bytes, readTextFile(path, blobLimit));
    if (sha256Hex(bytes) != name)
        return requestError("{} is damaged: its content does not have the hash in its name",
                            path.string());
    return std::move(bytes);
}

} // namespace cuda_agent::session
