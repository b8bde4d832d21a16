// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/metrics_store.h"

#include "core/base/json.h"
#include "core/base/unique_fd.h"
#include "core/base/untrusted_json.h"
#include "core/learn/run/event_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>
#include <set>

namespace cuda_agent::learn {
namespace {

constexpr const char *linesName = "metrics.jsonl";
constexpr std::size_t fingerprint = 256;
constexpr std::size_t longestLine = 16u << 20;
constexpr std::size_t mostProblems = 20;
constexpr std::size_t mostStages = 10'000;

bool isEventFile(const std::string &name) {
    return name.find("tfevents") != std::string::npos && !name.ends_with(".profile-empty");
}

/// A number as metrics.jsonl may hold it; none for other types (text, lists), which are no metrics.
std::optional<double> metricValue(const Json &value) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (value.is_number())
        return value.get<double>();
    if (value.is_boolean())
        return value.get<bool>() ? 1 : 0;
    if (value.is_null())
        return std::numeric_limits<double>::quiet_NaN();
    if (!value.is_string())
        return std::nullopt;
    std::string text = value.get<std::string>();
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (text == "nan")
        return std::numeric_limits<double>::quiet_NaN();
    if (text == "infinity" || text == "+infinity" || text == "inf" || text == "+inf")
        return infinity;
    if (text == "-infinity" || text == "-inf")
        return -infinity;
    return std::nullopt;
}

/// Python's json module writes NaN and Infinity as bare words, which JSON does not have: puts
/// them into quotes.
std::string quoted(std::string_view line) {
    std::string result;
    bool inText = false;
    for (std::size_t i = 0; i < line.size();) {
        if (line[i] == '"') {
            inText = !inText;
        } else if (inText && line[i] == '\\' && i + 1 < line.size()) {
            result += line[i++];
        } else if (!inText) {
            std::string_view word;
            for (const std::string_view candidate : {"-Infinity", "Infinity", "NaN"})
                if (line.substr(i).starts_with(candidate))
                    word = word.empty() ? candidate : word;
            if (!word.empty()) {
                result += '"';
                result += word;
                result += '"';
                i += word.size();
                continue;
            }
        }
        result += line[i++];
    }
    return result;
}

Json parsed(std::string_view line) {
    Json json = parseUntrusted(line);
    if (json.is_discarded() &&
        (line.find("NaN") != line.npos || line.find("Infinity") != line.npos))
        json = parseUntrusted(quoted(line));
    return json;
}

std::string readAt(int fd, std::uint64_t offset, std::size_t size) {
    std::string bytes(size, '\0');
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got =
            ::pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

/// The least and greatest of what is known, where NaN means nothing.
double later(double known, double candidate) {
    return candidate < known ? known : candidate;
}
double earlier(double known, double candidate) {
    return candidate > known ? known : candidate;
}

} // namespace

void MetricSeries::push(const Place &place, double newValue) {
    step.push_back(place.step);
    time.push_back(place.time);
    samples.push_back(place.samples);
    tokens.push_back(place.tokens);
    value.push_back(newValue);
    nonFinite += std::isfinite(newValue) ? 0 : 1;
}

void MetricSeries::cut(std::size_t count) {
    for (std::size_t i = count; i < value.size(); ++i)
        nonFinite -= std::isfinite(value[i]) ? 0 : 1;
    for (auto *column : {&step, &time, &samples, &tokens, &value})
        column->resize(std::min(count, column->size()));
}

MetricsStore::MetricsStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

std::size_t MetricsStore::badCount() const {
    std::size_t count = 0;
    for (const File &file : files_)
        count += file.bad + file.reader.badRecords();
    return count;
}

/// False when a file that was read is gone or another one, so that all must be read anew.
bool MetricsStore::findFiles() {
    std::error_code failed;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator entry(folder_, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code ignored;
        const std::string name = entry->path().filename().string();
        if ((name == linesName || isEventFile(name)) && entry->is_regular_file(ignored))
            names.push_back(name);
    }
    if (std::find(names.begin(), names.end(), linesName) != names.end())
        std::erase_if(names, [](const std::string &name) { return name.ends_with(ownEventFiles); });
    // The names of event files hold the time of their begin.
    std::sort(names.begin(), names.end(), [](const std::string &a, const std::string &b) {
        return std::pair(a != linesName, a) < std::pair(b != linesName, b);
    });
    for (const File &file : files_) {
        const bool gone =
            std::find(names.begin(), names.end(), file.path.filename().string()) == names.end();
        if (gone || rewritten(file))
            return false;
    }
    std::vector<File> found;
    lastWrite_ = none;
    int order = 0;
    for (const std::string &name : names) {
        const auto path = folder_ / name;
        auto old = std::find_if(files_.begin(), files_.end(),
                                [&](const File &file) { return file.path == path; });
        File file;
        if (old != files_.end()) {
            file = std::move(*old);
        } else {
            file.path = path;
            file.events = name != linesName;
        }
        const bool moved = old != files_.end() && file.events && file.order != order;
        if (moved && file.offset > 0)
            return false; // an older file has come beside it: which one counts is another question
        if (file.events)
            file.order = order++;
        struct stat status {};
        if (::stat(path.c_str(), &status) == 0)
            lastWrite_ = later(lastWrite_, static_cast<double>(status.st_mtim.tv_sec) +
                                               static_cast<double>(status.st_mtim.tv_nsec) * 1e-9);
        found.push_back(std::move(file));
    }
    files_ = std::move(found);
    return true;
}

bool MetricsStore::rewritten(const File &file) const {
    if (file.offset == 0)
        return false;
    const UniqueFd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0)
        return false; // told when it is read
    return status.st_ino != file.inode ||
           static_cast<std::uint64_t>(status.st_size) < file.offset ||
           readAt(fd.get(), 0, file.head.size()) != file.head ||
           readAt(fd.get(), file.offset - file.tail.size(), file.tail.size()) != file.tail;
}

void MetricsStore::startOver() {
    files_.clear();
    metrics_.clear();
    owners_.clear();
    changed_.clear();
    problems_.clear();
    stages_.clear();
    lastStep_ = firstTime_ = lastTime_ = lastSamples_ = lastWrite_ = none;
}

MetricsStore::Change MetricsStore::read(std::size_t limit) {
    Change change;
    if (!findFiles()) {
        startOver();
        change.restarted = true;
        findFiles();
    }
    for (File &file : files_) {
        if (limit == 0) {
            change.more = true;
            break;
        }
        limit -= std::min(limit, readFile(file, limit, change.more));
    }
    for (const auto &[name, unused] : changed_)
        change.metrics.push_back(name);
    changed_.clear();
    return change;
}

std::size_t MetricsStore::readFile(File &file, std::size_t limit, bool &more) {
    if (file.reader.broken())
        return 0;
    // A pipe of that name must not stop the reader: O_NONBLOCK.
    const UniqueFd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        if (!file.told)
            complain(file, fmt::format("cannot be read: {}", std::strerror(errno)));
        file.told = true;
        return 0;
    }
    file.inode = status.st_ino;
    std::size_t total = 0;
    constexpr std::size_t chunk = 1u << 20;
    while (total < limit) {
        const std::string bytes = readAt(fd.get(), file.offset, std::min(chunk, limit - total));
        if (bytes.empty())
            return total;
        if (file.head.size() < fingerprint)
            file.head += bytes.substr(0, fingerprint - file.head.size());
        file.tail += bytes.size() > fingerprint ? bytes.substr(bytes.size() - fingerprint) : bytes;
        if (file.tail.size() > fingerprint)
            file.tail.erase(0, file.tail.size() - fingerprint);
        file.offset += bytes.size();
        total += bytes.size();
        if (file.events) {
            EventBatch batch;
            const std::size_t bad = file.reader.badRecords();
            file.reader.feed(bytes, batch);
            takeEvents(file, batch);
            if (file.reader.badRecords() > bad)
                complain(file, "holds damaged records (checksum or content); they are left out");
            if (file.reader.broken()) {
                complain(file,
                         fmt::format("is damaged from byte {} on; what follows cannot be read",
                                     file.reader.position()));
                ++file.bad;
                return total;
            }
        } else {
            takeLines(file, bytes);
        }
    }
    more = more || file.offset < static_cast<std::uint64_t>(status.st_size);
    return total;
}

void MetricsStore::takeLines(File &file, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const bool whole = end != bytes.npos;
        if (!file.skipping)
            file.rest += bytes.substr(0, end);
        bytes.remove_prefix(whole ? end + 1 : bytes.size());
        if (file.rest.size() > longestLine) {
            complain(file,
                     fmt::format("line {} is longer than 16 MiB; it is left out", ++file.line));
            ++file.bad;
            file.rest.clear();
            file.skipping = true;
        }
        if (file.skipping) {
            file.skipping = !whole;
            continue;
        }
        // A line that is a whole object is whole even if its end has not been written.
        if (!whole && !file.rest.ends_with('}'))
            continue;
        if (takeLine(file, file.rest, whole)) {
            file.early = !whole;
            file.rest.clear();
        }
    }
}

/// True when the line is done with.
bool MetricsStore::takeLine(File &file, std::string_view line, bool whole) {
    if (line.find_first_not_of(" \t\r") == line.npos) {
        file.line += whole && !file.early ? 1 : 0;
        return whole;
    }
    const Json json = parsed(line);
    if (json.is_discarded() && !whole)
        return false;
    ++file.line;
    const auto wrong = [&](const char *why) {
        ++file.bad;
        complain(file, fmt::format("line {} {}; it is left out", file.line, why));
        return true;
    };
    if (json.is_discarded())
        return wrong("is not JSON");
    if (!json.is_object())
        return wrong("is not a JSON object");
    const auto number = [](const Json &object, const char *name) {
        const auto found = object.find(name);
        return found != object.end() && found->is_number() ? found->get<double>() : none;
    };
    MetricSeries::Place place{number(json, "step"), number(json, "time"), number(json, "samples"),
                              number(json, "tokens")};
    if (!std::isfinite(place.step))
        return wrong("has no number \"step\"");
    const auto nested = json.find("metrics");
    const bool ours = nested != json.end() && nested->is_object();
    if (ours && !std::isfinite(place.tokens))
        place.tokens = number(*nested, "train/tokens");
    if (const auto stage = json.find("stage"); stage != json.end() && stage->is_string())
        enterStage(stage->get<std::string>(), place);
    for (const auto &[name, value] : (ours ? *nested : json).items()) {
        const bool isPlace = !ours && (name == "step" || name == "time" || name == "samples" ||
                                       name == "tokens" || name == "stage");
        if (isPlace || name.empty())
            continue;
        if (const auto known = metricValue(value))
            add(name, true, 0, place, *known);
    }
    lastStep_ = place.step;
    lastSamples_ = std::isfinite(place.samples) ? place.samples : lastSamples_;
    firstTime_ = std::isfinite(place.time) ? earlier(firstTime_, place.time) : firstTime_;
    lastTime_ = std::isfinite(place.time) ? later(lastTime_, place.time) : lastTime_;
    return true;
}

void MetricsStore::enterStage(const std::string &stage, const MetricSeries::Place &place) {
    while (!stages_.empty() && stages_.back().first.step > place.step)
        stages_.pop_back(); // the trainer resumed before it
    if (stages_.empty() || stages_.back().stage != stage) {
        if (!stages_.empty() && stages_.back().last.step > place.step)
            stages_.back().last = place;
        if (stages_.size() < mostStages)
            stages_.push_back({stage, place, place});
    } else {
        stages_.back().last = place;
    }
}

void MetricsStore::takeEvents(File &file, const EventBatch &batch) {
    std::size_t purge = 0;
    for (std::size_t i = 0; i <= batch.scalars.size(); ++i) {
        for (; purge < batch.purges.size() && batch.purges[purge].at == i; ++purge) {
            const double from = batch.purges[purge].step;
            for (auto &[name, column] : metrics_) {
                if (owners_[name].lines || owners_[name].order > file.order)
                    continue;
                const auto keep = std::lower_bound(column.step.begin(), column.step.end(), from);
                if (keep == column.step.end())
                    continue;
                column.cut(static_cast<std::size_t>(keep - column.step.begin()));
                changed_[name] = true;
            }
        }
        if (i == batch.scalars.size())
            break;
        const EventScalar &scalar = batch.scalars[i];
        add(scalar.tag, false, file.order, {scalar.step, scalar.time, none, none}, scalar.value);
        if (!(lastStep_ >= scalar.step))
            lastStep_ = scalar.step;
        if (std::isfinite(scalar.time)) {
            firstTime_ = earlier(firstTime_, scalar.time);
            lastTime_ = later(lastTime_, scalar.time);
        }
    }
}

void MetricsStore::add(const std::string &name, bool lines, int order,
                       const MetricSeries::Place &place, double value) {
    const auto [known, fresh] = owners_.try_emplace(name, Owner{lines, order});
    Owner &owner = known->second;
    MetricSeries &column = metrics_[name];
    if (!fresh && owner.lines != lines) {
        if (owner.lines)
            return;
        column.cut(0);
        owner = {true, 0};
    }
    if (!lines) {
        // Several event files: the newest one that knows the metric is right about it.
        if (order < owner.order)
            return;
        owner.order = order;
    }
    changed_[name] = true;
    if (!column.step.empty() && place.step < column.step.back())
        column.cut(static_cast<std::size_t>(
            std::lower_bound(column.step.begin(), column.step.end(), place.step) -
            column.step.begin()));
    column.push(place, value);
}

void MetricsStore::complain(File &file, const std::string &text) {
    const std::string problem = file.path.filename().string() + ": " + text;
    if (problems_.size() < mostProblems &&
        std::find(problems_.begin(), problems_.end(), problem) == problems_.end())
        problems_.push_back(problem);
}

bool isRunFolder(const std::filesystem::path &folder) {
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        std::error_code ignored;
        const std::string name = entry->path().filename().string();
        if ((name == linesName || name == "run.json" || isEventFile(name)) &&
            entry->is_regular_file(ignored))
            return true;
    }
    return false;
}

std::vector<std::filesystem::path> findRunFolders(const std::filesystem::path &folder,
                                                  std::size_t limit) {
    std::vector<std::filesystem::path> found;
    std::deque<std::filesystem::path> open{folder};
    for (std::size_t looked = 0; !open.empty() && looked < limit; ++looked) {
        const auto current = std::move(open.front());
        open.pop_front();
        if (isRunFolder(current))
            found.push_back(current);
        std::error_code failed;
        for (std::filesystem::directory_iterator entry(current, failed), end;
             !failed && entry != end; entry.increment(failed)) {
            std::error_code ignored;
            if (!entry->path().filename().string().starts_with('.') &&
                !entry->is_symlink(ignored) && entry->is_directory(ignored))
                open.push_back(entry->path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace cuda_agent::learn
