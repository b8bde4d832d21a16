// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/rollout_index.h"

#include "core/base/descriptor_io.h"
#include "core/base/unique_fd.h"

#include <algorithm>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t newest = 8; ///< steps that may still grow
constexpr std::size_t mostBytes = 4u << 20;

} // namespace

bool RolloutIndex::read() {
    std::set<std::int64_t> there;
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(folder_ / "rollouts", failed), end;
         !failed && entry != end; entry.increment(failed))
        if (const auto step = stepOfName(entry->path().filename().string()); step >= 0)
            there.insert(step);
    bool other =
        std::erase_if(steps_, [&](const auto &known) { return !there.contains(known.first); }) > 0;
    std::size_t kept = 0, place = 0;
    for (auto step = there.rbegin(); step != there.rend() && kept < most; ++step, ++place) {
        auto &known = steps_[*step];
        // The last look is when it is no longer among the newest: its file may have been empty, or
        // not there, when many steps came after it at once.
        if (!known.settled || place < newest) {
            other = readStep(*step, known) || other;
            known.settled = place >= newest;
        }
        kept += known.rows.size();
    }
    if (!other)
        return false;
    rows_.clear();
    for (const auto &[number, step] : steps_)
        rows_.insert(rows_.end(), step.rows.begin(), step.rows.end());
    if (rows_.size() > most)
        rows_.erase(rows_.begin(), rows_.end() - static_cast<std::ptrdiff_t>(most));
    return true;
}

bool RolloutIndex::readStep(std::int64_t number, Step &step) {
    const auto path = rolloutFolder(folder_, number) / "index.jsonl";
    // A pipe of that name must not stop the reader: O_NONBLOCK.
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    const bool good = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
    bool other = false;
    if (!good || (step.offset > 0 && (status.st_ino != step.inode ||
                                      static_cast<std::uint64_t>(status.st_size) < step.offset))) {
        other = !step.rows.empty();
        step = {};
    }
    if (!good || ::lseek(file.get(), static_cast<off_t>(step.offset), SEEK_SET) < 0)
        return other;
    step.inode = status.st_ino;
    const auto text = readUpTo(file.get(), mostBytes);
    if (!text)
        return other;
    std::size_t begin = 0;
    for (std::size_t end; (end = text->find('\n', begin)) != text->npos; begin = end + 1) {
        ++step.line;
        auto row = parseRollout(std::string_view(*text).substr(begin, end - begin),
                                fmt::format("{}:{}", path.string(), step.line));
        if (row && row->step == number) {
            step.rows.push_back(std::move(*row));
            other = true;
        } else {
            ++step.bad;
            if (problem_.empty())
                problem_ = row ? fmt::format("{}:{}: is of another step", path.string(), step.line)
                               : row.error().message;
        }
    }
    if (begin == 0 && text->size() >= mostBytes) { // no line is that long
        ++step.bad;
        begin = text->size();
    }
    step.offset += begin;
    return other;
}

std::filesystem::path RolloutIndex::sessionFolder(const RolloutRow &row) const {
    return rolloutFolder(folder_, row.step) / row.session;
}

std::size_t RolloutIndex::badLines() const {
    std::size_t count = 0;
    for (const auto &[number, step] : steps_)
        count += step.bad;
    return count;
}

} // namespace cuda_agent::learn
