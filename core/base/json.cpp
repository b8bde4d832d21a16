// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/json.h"

#include "core/base/descriptor_io.h"
#include "core/base/unique_fd.h"
#include "core/base/untrusted_json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cuda_agent {

namespace {

std::string position(std::string_view text, std::size_t byte) {
    byte = std::min(byte == 0 ? 0 : byte - 1, text.size());
    const auto before = text.substr(0, byte);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto start = before.rfind('\n');
    const auto column = start == before.npos ? byte + 1 : byte - start;
    return fmt::format("line {}, column {}", line, column);
}

} // namespace

Result<Json> parseJson(std::string_view text, std::string_view what) {
    if (const auto at = tooDeepAt(text); at != text.npos)
        return requestError("{} is not taken: {}: lists and objects nest deeper than {}", what,
                            position(text, at + 1), deepestJson);
    try {
        return Json::parse(text);
    } catch (const Json::parse_error &error) {
        std::string reason = error.what();
        if (const auto colon = reason.rfind(": "); colon != reason.npos)
            reason = reason.substr(colon + 2);
        return requestError("{} is not JSON: {}: {}", what, position(text, error.byte), reason);
    } catch (const Json::out_of_range &) {
        return requestError("{} is not taken: it holds a number beyond 1.8e308", what);
    }
}

Result<Json> readJsonFile(const std::filesystem::path &path) {
    CUDA_AGENT_ASSIGN(text, readTextFile(path));
    return parseJson(text, path.string());
}

Result<std::string> readTextFile(const std::filesystem::path &path, std::size_t limit) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return requestError("cannot read {}: {}", path.string(), std::strerror(errno));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return requestError("{} is not a file", path.string());
    if (static_cast<std::size_t>(status.st_size) > limit)
        return requestError("{} has {} bytes; at most {} are read", path.string(), status.st_size,
                            limit);
    auto text = readUpTo(file.get(), static_cast<std::size_t>(status.st_size));
    if (!text)
        return requestError("cannot read {}: {}", path.string(), std::strerror(errno));
    return std::move(*text); // shorter when the file shrank meanwhile
}

Result<void> writeFileAtomically(const std::filesystem::path &path, std::string_view content) {
    std::error_code ignored;
    if (path.has_parent_path())
        std::filesystem::create_directories(path.parent_path(), ignored);
    std::string temporary = path.string() + ".XXXXXX";
    UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file)
        return machineError("cannot write {}: {}", path.string(), std::strerror(errno));
    const auto fail = [&]() -> Result<void> {
        const int reason = errno;
        ::unlink(temporary.c_str());
        return machineError("cannot write {}: {}", path.string(), std::strerror(reason));
    };
    if (!writeWhole(file.get(), content))
        return fail();
    if (::fchmod(file.get(), 0644) != 0 || ::fsync(file.get()) != 0 ||
        ::rename(temporary.c_str(), path.c_str()) != 0)
        return fail();
    return {};
}

} // namespace cuda_agent
