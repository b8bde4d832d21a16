// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/run_writer.h"

#include "core/base/descriptor_io.h"
#include "core/base/folder_lock.h"
#include "core/base/hash.h"
#include "core/base/untrusted_json.h"

#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace cuda_agent::learn {

namespace {

namespace fs = std::filesystem;

constexpr auto statusPeriod = std::chrono::seconds(1);
constexpr auto lookPeriod = std::chrono::milliseconds(250);
constexpr std::size_t longestName = 200;
constexpr std::size_t longestMetrics = std::size_t{8} << 30;
/// A reader that looks at the lock holds it for a moment.
constexpr auto lockPatience = std::chrono::milliseconds(200);

double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// JSON has no NaN and no infinity: they are written as words.
Json valueOf(double value) {
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

bool isMetricName(std::string_view name) {
    if (name.empty() || name.size() > longestName)
        return false;
    for (const char c : name)
        if (static_cast<unsigned char>(c) < 32 || c == 127)
            return false;
    return true;
}

/// status.json.XXXXXX and the like, of writers that were killed.
void removeLeftovers(const fs::path &folder) {
    std::error_code failed, ignored;
    std::vector<fs::path> old;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        if ((name.starts_with("status.json.") && name.size() == 18) ||
            (name.starts_with("run.json.") && name.size() == 15))
            old.push_back(entry->path());
    }
    for (const fs::path &path : old)
        fs::remove(path, ignored);
}

} // namespace

RunWriter::~RunWriter() {
    if (heldBack_ && lock_)
        std::ignore = writeStatus();
}

Result<RunWriter> RunWriter::lock(const fs::path &folder) {
    RunWriter writer;
    writer.folder_ = folder;
    CUDA_AGENT_ASSIGN(lock, lockFolder(folder, "trainer", lockPatience));
    writer.lock_ = std::move(lock);
    return writer;
}

Result<RunWriter> RunWriter::create(const fs::path &folder, RunInfo info) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return machineError("cannot create {}: {}", folder.string(), error.message());
    auto writer = lock(folder);
    if (!writer)
        return writer;
    if (fs::exists(runInfoFile(folder), error))
        return requestError("{} holds a run already; resume it or name another folder",
                            folder.string());
    for (const char *name : {"rollouts", "checkpoints"}) {
        fs::create_directories(folder / name, error);
        if (error)
            return machineError("cannot create {}: {}", (folder / name).string(), error.message());
    }
    info.started = now();
    CUDA_AGENT_TRY(writeFileAtomically(recipeFile(folder), info.recipe));
    CUDA_AGENT_TRY(writeFileAtomically(metricsFile(folder), ""));
    // Last of all: a folder with run.json can be resumed.
    CUDA_AGENT_TRY(writeFileAtomically(runInfoFile(folder), formatRunInfo(info)));
    writer->info_ = std::move(info);
    CUDA_AGENT_TRY(writer->begin(writer->info_.started, 0));
    return writer;
}

Result<RunWriter> RunWriter::resume(const fs::path &folder, std::int64_t nextStep) {
    CUDA_AGENT_ASSIGN(info, readRunInfo(folder)); // before a lock file appears in a wrong folder
    auto writer = lock(folder);
    if (!writer)
        return writer;
    writer->info_ = std::move(info);
    if (auto status = readStatus(folder))
        writer->status_ = *status; // seconds and tokens, until the trainer knows better
    CUDA_AGENT_TRY(writer->cutRows(nextStep));
    std::error_code failed, ignored;
    std::vector<fs::path> undone;
    for (fs::directory_iterator entry(folder / "rollouts", failed), end; !failed && entry != end;
         entry.increment(failed))
        if (stepOfName(entry->path().filename().string()) >= nextStep)
            undone.push_back(entry->path());
    for (const fs::path &path : undone)
        fs::remove_all(path, ignored);
    writer->status_.state = RunState::running;
    writer->status_.step = nextStep;
    writer->status_.error.clear();
    writer->status_.secondsLeft = RunStatus::unknown;
    CUDA_AGENT_TRY(writer->begin(now(), nextStep));
    return writer;
}

Result<void> RunWriter::cutRows(std::int64_t nextStep) {
    const fs::path path = metricsFile(folder_);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        CUDA_AGENT_TRY(writeFileAtomically(path, ""));
    }
    CUDA_AGENT_ASSIGN(text, readTextFile(path, longestMetrics));
    std::size_t good = 0;
    while (good < text.size()) {
        const std::size_t end = text.find('\n', good);
        if (end == text.npos)
            break; // torn
        // A line that cannot be read was not written here: left for a person to look at.
        const Json row = parseUntrusted(std::string_view(text).substr(good, end - good));
        if (row.is_object() && row.contains("step") && row["step"].is_number()) {
            const auto step = row["step"].get<double>();
            if (step >= static_cast<double>(nextStep))
                break;
            lastStep_ = static_cast<std::int64_t>(step);
        }
        good = end + 1;
    }
    if (good < text.size() && ::truncate(path.c_str(), static_cast<off_t>(good)) != 0)
        return machineError("cannot cut {}: {}", path.string(), std::strerror(errno));
    goodBytes_ = static_cast<std::int64_t>(good);
    return {};
}

Result<void> RunWriter::begin(double time, std::int64_t firstStep) {
    removeLeftovers(folder_);
    const fs::path path = metricsFile(folder_);
    metrics_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!metrics_)
        return machineError("cannot write to {}: {}", path.string(), std::strerror(errno));
    CUDA_AGENT_ASSIGN(events, EventFileWriter::create(folder_, time, firstStep));
    events_.emplace(std::move(events));
    status_.start = fmt::format("{:016x}", randomSeed());
    status_.answered.clear();
    return writeStatus();
}

Result<void> RunWriter::log(std::int64_t step, std::string_view stage, const Metrics &metrics) {
    if (step < lastStep_ || metrics.empty())
        return requestError("a row of step {} after step {} with {} metrics is not written", step,
                            lastStep_, metrics.size());
    Json values = Json::object();
    for (const auto &[name, value] : metrics) {
        if (!isMetricName(name))
            return requestError("'{}' is no name of a metric", name);
        values[name] = valueOf(value);
    }
    const double time = now();
    // As by hand, so that a person who looks at the file finds the step first.
    const std::string line =
        fmt::format("{{\"step\":{},\"stage\":{},\"time\":{:.3f},\"metrics\":{}}}\n", step,
                    Json(stage).dump(-1, ' ', false, Json::error_handler_t::replace), time,
                    values.dump(-1, ' ', false, Json::error_handler_t::replace));
    struct stat status {};
    if (::fstat(metrics_.get(), &status) != 0)
        return machineError("cannot write {}: {}", metricsFile(folder_).string(),
                            std::strerror(errno));
    if (status.st_size < goodBytes_ || status.st_nlink == 0)
        return machineError("{} was shortened or removed by another program; step {} is not "
                            "written",
                            metricsFile(folder_).string(), step);
    if (!writeWhole(metrics_.get(), line)) {
        const int reason = errno;
        std::ignore = ::ftruncate(metrics_.get(), goodBytes_);
        return machineError("step {} could not be written to {}: {}; everything before it is kept",
                            step, metricsFile(folder_).string(), std::strerror(reason));
    }
    goodBytes_ += static_cast<std::int64_t>(line.size());
    lastStep_ = step;
    return events_->add(time, step, metrics);
}

Result<void> RunWriter::writeStatus() {
    heldBack_ = false;
    statusWritten_ = Clock::now();
    status_.written = now();
    return writeFileAtomically(statusFile(folder_), formatStatus(status_));
}

Result<void> RunWriter::setStatus(const RunStatus &status) {
    const bool other = status.state != status_.state || status.stage != status_.stage ||
                       status.error != status_.error;
    RunStatus next = status;
    next.start = status_.start;
    next.answered = status_.answered;
    status_ = std::move(next);
    if (!other && Clock::now() - statusWritten_ < statusPeriod) {
        heldBack_ = true;
        return {};
    }
    return writeStatus();
}

RunWriter::Asked RunWriter::requested() {
    const auto time = Clock::now();
    if (looked_ != Clock::time_point{} && time - looked_ < lookPeriod)
        return asked_;
    looked_ = time;
    const auto request = readRequest(folder_);
    if (!request || request->start != status_.start || request->id == status_.answered)
        return asked_;
    if (asked_ != Asked::stop)
        asked_ = request->order == RunOrder::stop    ? Asked::stop
                 : request->order == RunOrder::pause ? Asked::pause
                                                     : Asked::nothing;
    status_.answered = request->id;
    std::ignore = writeStatus(); // an answer that gets lost is given with the next status
    return asked_;
}

RunWriter::Asked RunWriter::waitWhilePaused(const std::stop_token &stop) {
    if (requested() != Asked::pause)
        return asked_;
    RunStatus status = status_;
    status.state = RunState::paused;
    std::ignore = setStatus(status);
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested() && requested() == Asked::pause)
        wake.wait_for(lock, stop, lookPeriod, [] { return false; });
    if (stop.stop_requested())
        return Asked::stop;
    status = status_;
    status.state = RunState::running;
    std::ignore = setStatus(status);
    return asked_;
}

Result<void> RunWriter::addRollout(const RolloutRow &row) {
    const std::string line = formatRollout(row);
    CUDA_AGENT_TRY(parseRollout(line, "a rollout"));
    const fs::path folder = rolloutFolder(folder_, row.step), path = folder / "index.jsonl";
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return machineError("cannot create {}: {}", folder.string(), error.message());
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file || !writeWhole(file.get(), line))
        return machineError("cannot write {}: {}", path.string(), std::strerror(errno));
    return {};
}

} // namespace cuda_agent::learn
