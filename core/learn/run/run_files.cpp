// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/run_files.h"

#include "core/base/descriptor_io.h"
#include "core/base/file_lock.h"
#include "core/base/hash.h"
#include "core/base/untrusted_json.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>

namespace cuda_agent::learn {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longestFile = 1u << 20;
constexpr std::size_t longestText = 4096;
constexpr std::size_t mostStages = 1000;
constexpr double mostCount = 9.0e15; ///< whole numbers that a double holds

constexpr std::array<std::string_view, 5> stateNames{"running", "paused", "stopped", "done",
                                                     "failed"};
constexpr std::array<std::string_view, 3> orderNames{"pause", "go-on", "stop"};

std::string dumped(const Json &json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Takes fields of one object; the first problem is kept.
class Fields {
  public:
    Fields(const Json &object, std::string_view what) : object_(object), what_(what) {}

    void text(const char *name, std::string &value, bool required = false) {
        if (const Json *found = find(name, required)) {
            if (!found->is_string() || found->get_ref<const std::string &>().size() > longestText)
                return say(name, "is no text of at most 4096 bytes");
            value = found->get<std::string>();
        }
    }
    void count(const char *name, std::int64_t &value, bool required = false) {
        double number = static_cast<double>(value);
        this->number(name, number, required);
        if (number != std::floor(number) || number < 0 || number > mostCount)
            return say(name, "is no whole number of 0 or more");
        value = static_cast<std::int64_t>(number);
    }
    void number(const char *name, double &value, bool required = false) {
        if (const Json *found = find(name, required)) {
            if (!found->is_number() || !std::isfinite(found->get<double>()))
                return say(name, "is no number");
            value = found->get<double>();
        }
    }
    template <typename Enum, std::size_t count>
    void word(const char *name, Enum &value, const std::array<std::string_view, count> &words) {
        std::string given;
        text(name, given, true);
        for (std::size_t i = 0; i < count; ++i)
            if (words[i] == given) {
                value = static_cast<Enum>(i);
                return;
            }
        say(name, "is none of the words known");
    }
    const Json *find(const char *name, bool required) {
        const auto found = object_.find(name);
        if (found != object_.end())
            return &*found;
        if (required)
            say(name, "is missing");
        return nullptr;
    }
    void say(const char *name, const char *why) {
        if (problem_.empty())
            problem_ = fmt::format("{}: \"{}\" {}", what_, name, why);
    }
    Result<void> finish() const {
        if (!problem_.empty())
            return requestError("{}", problem_);
        return {};
    }

  private:
    const Json &object_;
    std::string_view what_;
    std::string problem_;
};

Result<Json> objectOf(std::string_view text, std::string_view what) {
    Json json = parseUntrusted(text);
    if (!json.is_object())
        return requestError("{} is not a JSON object", what);
    return json;
}

Result<void> checkFormat(Fields &fields, std::string_view what) {
    std::int64_t format = 0;
    fields.count("format", format, true);
    CUDA_AGENT_TRY(fields.finish());
    if (format > runFormat)
        return requestError("{} was written by a newer version of this program (format {}, this "
                            "one reads up to {}); open it with the newer version",
                            what, format, runFormat);
    return {};
}

std::string pathText(const fs::path &path) {
    return path.string();
}

} // namespace

std::string_view nameOf(RunState state) {
    return stateNames.at(static_cast<std::size_t>(state));
}

std::string_view nameOf(RunOrder order) {
    return orderNames.at(static_cast<std::size_t>(order));
}

std::string formatRunInfo(const RunInfo &info) {
    Json stages = Json::array();
    for (const PlannedStage &stage : info.stages)
        stages.push_back({{"name", stage.name}, {"steps", stage.steps}});
    // As text: a JSON number of 64 bits does not survive every reader.
    return Json{{"format", runFormat},
                {"name", info.name},
                {"seed", std::to_string(info.seed)},
                {"device", info.device},
                {"versions", info.versions},
                {"stages", stages},
                {"started", info.started}}
               .dump(2, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

Result<RunInfo> parseRunInfo(std::string_view text, std::string_view what) {
    CUDA_AGENT_ASSIGN(json, objectOf(text, what));
    Fields fields(json, what);
    CUDA_AGENT_TRY(checkFormat(fields, what));
    RunInfo info;
    std::string seed;
    fields.text("name", info.name);
    fields.text("seed", seed);
    fields.text("device", info.device);
    fields.number("started", info.started);
    if (!seed.empty()) {
        if (seed.size() > 20 || seed.find_first_not_of("0123456789") != seed.npos)
            fields.say("seed", "is no whole number in quotes");
        else
            info.seed = std::strtoull(seed.c_str(), nullptr, 10);
    }
    if (const Json *versions = fields.find("versions", false)) {
        if (!versions->is_object())
            fields.say("versions", "is no object");
        else
            for (const auto &[name, value] : versions->items())
                if (value.is_string())
                    info.versions[name] = value.get<std::string>();
    }
    if (const Json *stages = fields.find("stages", false)) {
        if (!stages->is_array() || stages->size() > mostStages)
            fields.say("stages", "is no list of at most 1000");
        else
            for (const Json &entry : *stages) {
                if (!entry.is_object()) {
                    fields.say("stages", "holds something that is no object");
                    break;
                }
                PlannedStage stage;
                Fields inner(entry, what);
                inner.text("name", stage.name, true);
                inner.count("steps", stage.steps);
                CUDA_AGENT_TRY(inner.finish());
                info.stages.push_back(std::move(stage));
            }
    }
    CUDA_AGENT_TRY(fields.finish());
    return info;
}

std::string formatStatus(const RunStatus &status) {
    Json json{{"format", runFormat},
              {"state", nameOf(status.state)},
              {"stage", status.stage},
              {"step", status.step},
              {"stage_step", status.stageStep},
              {"stage_steps", status.stageSteps},
              {"tokens", status.tokens},
              {"seconds", status.seconds},
              {"start", status.start},
              {"answered", status.answered},
              {"written", status.written}};
    if (std::isfinite(status.secondsLeft))
        json["seconds_left"] = status.secondsLeft;
    if (!status.error.empty())
        json["error"] = status.error.substr(0, longestText);
    return dumped(json) + "\n";
}

Result<RunStatus> parseStatus(std::string_view text, std::string_view what) {
    CUDA_AGENT_ASSIGN(json, objectOf(text, what));
    Fields fields(json, what);
    CUDA_AGENT_TRY(checkFormat(fields, what));
    RunStatus status;
    fields.word("state", status.state, stateNames);
    fields.text("stage", status.stage);
    fields.count("step", status.step);
    fields.count("stage_step", status.stageStep);
    fields.count("stage_steps", status.stageSteps);
    fields.count("tokens", status.tokens);
    fields.number("seconds", status.seconds);
    fields.number("seconds_left", status.secondsLeft);
    fields.text("error", status.error);
    fields.text("start", status.start);
    fields.text("answered", status.answered);
    fields.number("written", status.written);
    CUDA_AGENT_TRY(fields.finish());
    return status;
}

std::string formatRequest(const RunRequest &request) {
    return dumped(Json{{"format", runFormat},
                       {"request", nameOf(request.order)},
                       {"id", request.id},
                       {"start", request.start}}) +
           "\n";
}

Result<RunRequest> parseRequest(std::string_view text, std::string_view what) {
    CUDA_AGENT_ASSIGN(json, objectOf(text, what));
    Fields fields(json, what);
    CUDA_AGENT_TRY(checkFormat(fields, what));
    RunRequest request;
    fields.word("request", request.order, orderNames);
    fields.text("id", request.id, true);
    fields.text("start", request.start, true);
    CUDA_AGENT_TRY(fields.finish());
    return request;
}

std::string formatRollout(const RolloutRow &row) {
    Json json{{"step", row.step},
              {"task", row.task},
              {"reward", row.reward},
              {"turns", row.turns},
              {"session", row.session}};
    if (!row.note.empty())
        json["note"] = row.note.substr(0, longestText);
    return dumped(json) + "\n";
}

Result<RolloutRow> parseRollout(std::string_view text, std::string_view what) {
    CUDA_AGENT_ASSIGN(json, objectOf(text, what));
    Fields fields(json, what);
    RolloutRow row;
    std::int64_t turns = 0;
    fields.count("step", row.step, true);
    fields.text("task", row.task, true);
    fields.number("reward", row.reward);
    fields.count("turns", turns);
    fields.text("session", row.session, true);
    fields.text("note", row.note);
    if (turns > 1'000'000)
        fields.say("turns", "is above a million");
    // It is opened when somebody asks for it: it must not lead out of the run's folder.
    const fs::path session(row.session);
    if (session.is_absolute())
        fields.say("session", "is no name of a folder below this one");
    for (const fs::path &part : session)
        if (part == "..")
            fields.say("session", "is no name of a folder below this one");
    CUDA_AGENT_TRY(fields.finish());
    row.turns = static_cast<int>(turns);
    return row;
}

fs::path runInfoFile(const fs::path &folder) {
    return folder / "run.json";
}
fs::path recipeFile(const fs::path &folder) {
    return folder / "recipe.toml";
}
fs::path statusFile(const fs::path &folder) {
    return folder / "status.json";
}
fs::path controlFile(const fs::path &folder) {
    return folder / "control.json";
}
fs::path metricsFile(const fs::path &folder) {
    return folder / "metrics.jsonl";
}
fs::path rolloutFolder(const fs::path &folder, std::int64_t step) {
    return folder / "rollouts" / fmt::format("step-{}", step);
}
fs::path checkpointFolder(const fs::path &folder, std::int64_t step) {
    return folder / "checkpoints" / fmt::format("step-{}", step);
}

std::int64_t stepOfName(std::string_view name) {
    constexpr std::string_view head = "step-";
    if (!name.starts_with(head))
        return -1;
    name.remove_prefix(head.size());
    if (name.empty() || name.size() > 15 || name.find_first_not_of("0123456789") != name.npos)
        return -1;
    return std::strtoll(std::string(name).c_str(), nullptr, 10);
}

Result<std::string> readSmallFile(const fs::path &path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0)
        return requestError("cannot read {}: {}", path.string(), std::strerror(errno));
    if (!S_ISREG(status.st_mode))
        return requestError("cannot read {}: it is no file", path.string());
    if (static_cast<std::size_t>(status.st_size) > longestFile)
        return requestError("{} has {} bytes; at most {} are read", path.string(), status.st_size,
                            longestFile);
    auto text = readUpTo(file.get(), longestFile);
    if (!text)
        return requestError("cannot read {}: {}", path.string(), std::strerror(errno));
    return std::move(*text);
}

Result<RunInfo> readRunInfo(const fs::path &folder) {
    std::error_code ignored;
    if (!fs::exists(runInfoFile(folder), ignored))
        return requestError("{} holds no run (there is no run.json in it)", folder.string());
    CUDA_AGENT_ASSIGN(text, readSmallFile(runInfoFile(folder)));
    CUDA_AGENT_ASSIGN(info, parseRunInfo(text, pathText(runInfoFile(folder))));
    if (auto recipe = readSmallFile(recipeFile(folder)))
        info.recipe = std::move(*recipe);
    return std::move(info);
}

Result<RunStatus> readStatus(const fs::path &folder) {
    CUDA_AGENT_ASSIGN(text, readSmallFile(statusFile(folder)));
    return parseStatus(text, pathText(statusFile(folder)));
}

Result<RunRequest> readRequest(const fs::path &folder) {
    CUDA_AGENT_ASSIGN(text, readSmallFile(controlFile(folder)));
    return parseRequest(text, pathText(controlFile(folder)));
}

Result<RunRequest> askRun(const fs::path &folder, RunOrder order) {
    CUDA_AGENT_TRY(readRunInfo(folder));
    std::error_code ignored;
    if (!fs::exists(statusFile(folder), ignored))
        return requestError("no trainer has begun in {} yet", folder.string());
    CUDA_AGENT_ASSIGN(status, readStatus(folder));
    if (status.state != RunState::running && status.state != RunState::paused)
        return requestError("the trainer of {} has ended ({}); start it again to go on",
                            folder.string(), nameOf(status.state));
    RunRequest request{order, fmt::format("{:016x}", randomSeed()), status.start};
    CUDA_AGENT_TRY(writeFileAtomically(controlFile(folder), formatRequest(request)));
    return request;
}

bool isHeld(const fs::path &folder) {
    const FileLock lock(
        UniqueFd(::open((folder / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
    return lock && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

} // namespace cuda_agent::learn
