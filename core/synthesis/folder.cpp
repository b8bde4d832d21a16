// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/folder.h"

#include "core/base/gzip.h"
#include "core/base/paths.h"
#include "core/base/temporary_folder.h"
#include "core/reference/launch.h"

namespace cuda_agent::synthesis {

namespace fs = std::filesystem;

namespace {

constexpr int mostFailures = 3; ///< of a stage of a candidate by the machine's fault
constexpr std::uint64_t parquetMemory = 4ull << 30;
constexpr std::chrono::minutes parquetPatience{5};

Result<void> checkRecipe(const fs::path &file, const Recipe &recipe) {
    const Json mine{{"format", 1}, {"recipe", toJson(recipe)}};
    std::error_code error;
    if (!fs::exists(file, error))
        return writeFileAtomically(file, mine.dump(2) + "\n");
    CUDA_AGENT_ASSIGN(before, readJsonFile(file));
    const auto found = before.find("recipe");
    if (found == before.end() || !found->is_object())
        return requestError("{} holds no recipe; use another --out folder", file.string());
    const auto &theirs = *found;
    for (const auto &[key, value] : mine["recipe"].items()) {
        // A set may grow, and how hard it is tried says nothing of what comes out.
        if (key == "tasks" || key == "audited" || key.ends_with("_seconds") ||
            key == "candidates_per_process" || key.starts_with("endpoint_"))
            continue;
        if (theirs.value(key, Json()) != value)
            return requestError("{} holds a synthesis with {} {}, not {}; use another --out folder",
                                file.parent_path().string(), key, theirs.value(key, Json()).dump(),
                                value.dump());
    }
    return writeFileAtomically(file, mine.dump(2) + "\n");
}

std::string graphHashOf(const Checked &check) {
    return check.figures.value("graph_hash", std::string());
}

/// Makes `set.parquet` beside `set.jsonl.gz`, in a sandbox: the library is not ours.
Result<void> writeParquet(const fs::path &folder, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(scratch, TemporaryFolder::make("cuda-agent-parquet"));
    CUDA_AGENT_ASSIGN(policy, reference::pythonPolicy({}, scratch.path() / "cache", parquetMemory));
    policy.name = "parquet";
    policy.limits.wall = parquetPatience;
    policy.mounts.push_back({shareDir() / "maker", "/tasks/maker", false});
    policy.mounts.push_back({fs::absolute(folder / "set.jsonl.gz"), "/set.jsonl.gz", false});
    const auto out = scratch.path() / "out";
    fs::create_directory(out);
    policy.mounts.push_back({out, "/out", true});
    CUDA_AGENT_ASSIGN(record,
                      sandbox::run(policy,
                                   {pythonProgram().string(), "-I", "/tasks/maker/parquet_main.py",
                                    "/set.jsonl.gz", "/out/set.parquet"},
                                   {}, std::move(stop)));
    if (!record.clean())
        return machineError("set.parquet could not be written ({}): {}", record.summary(),
                            record.standardError.substr(0, 500));
    CUDA_AGENT_ASSIGN(bytes, readTextFile(out / "set.parquet", std::size_t{1} << 30));
    return writeFileAtomically(folder / "set.parquet", bytes);
}

} // namespace

Result<Folder> Folder::open(const fs::path &path, const Recipe &recipe) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
        return requestError("cannot create {}: {}", path.string(), error.message());
    Folder folder;
    folder.path_ = path;
    folder.recipe_ = recipe;
    folder.screen_.emplace(recipe.similarity, recipe.variants);
    if (fs::exists(path / "crawl.json", error)) {
        CUDA_AGENT_ASSIGN(crawl, readJsonFile(path / "crawl.json"));
        if (!crawl.is_object() || !crawl["operators"].is_array())
            return requestError("{} has no list 'operators'; remove it and it is made again",
                                (path / "crawl.json").string());
        folder.crawl_ = crawl["operators"];
    }
    CUDA_AGENT_ASSIGN(
        candidates, LineLog::open(path / "candidates.jsonl", [&](const Json &json) -> Result<void> {
            CUDA_AGENT_ASSIGN(candidate, candidateFromJson(json));
            if (candidate.index != folder.candidates_.size())
                return requestError("candidate {} is missing", folder.candidates_.size());
            // What the screen has refused it refuses again, and remembers.
            if (!candidate.id.empty() && candidate.rejected != notPython)
                candidate.rejected.clear();
            folder.take(std::move(candidate));
            return {};
        }));
    folder.candidateLog_.emplace(std::move(candidates)); // and nobody else writes from here on
    CUDA_AGENT_TRY(checkRecipe(path / "synthesis.json", recipe));
    CUDA_AGENT_ASSIGN(checked,
                      LineLog::open(path / "checked.jsonl", [&](const Json &json) -> Result<void> {
                          CUDA_AGENT_ASSIGN(one, checkedFromJson(json));
                          if (one.index >= folder.candidates_.size())
                              return requestError("there is no candidate {}", one.index);
                          folder.take(std::move(one));
                          return {};
                      }));
    folder.checkedLog_.emplace(std::move(checked));
    if (const auto measured = readJsonFile(path / "difficulty.json");
        measured && measured->is_object())
        for (const auto &[id, figures] : measured->items())
            folder.difficulty_[id] = figures;
    return folder;
}

Result<void> Folder::setCrawl(const Json &found) {
    crawl_ = found.value("operators", Json::array());
    return writeFileAtomically(path_ / "crawl.json", found.dump(1) + "\n");
}

void Folder::take(Candidate candidate) {
    screen_->look(candidate);
    if (!candidate.rejected.empty())
        ++rejected_[candidate.rejected];
    candidates_.push_back(std::move(candidate));
}

void Folder::take(Checked checked) {
    if (checked.outcome == Outcome::machine) {
        if (++failures_[{checked.stage, checked.index}] < mostFailures)
            return;
        checked.outcome = Outcome::rejected;
        checked.reason = "the machine fails";
    }
    if (checked.outcome == Outcome::rejected) {
        ++rejected_[checked.reason];
    } else if (checked.stage == stages[std::size(stages) - 1]) {
        const auto *check = find(Stage::check, checked.index);
        const auto graph = check ? graphHashOf(*check) : std::string();
        if (graph.empty())
            ++withoutGraph_;
        else if (!graphs_.insert(graph).second)
            ++rejected_["same graph"];
    }
    const auto index = checked.index;
    const bool before = isPromising(index);
    auto &those = outcomes_.at(static_cast<std::size_t>(checked.stage));
    those.insert_or_assign(index, std::move(checked));
    if (const bool now = isPromising(index); now != before)
        hope(index, now);
}

const Checked *Folder::find(Stage stage, std::size_t index) const {
    const auto found = of(stage).find(index);
    return found == of(stage).end() ? nullptr : &found->second;
}

Result<void> Folder::add(std::vector<Candidate> candidates) {
    std::vector<Json> lines;
    for (auto &candidate : candidates) {
        take(std::move(candidate));
        lines.push_back(toJson(candidates_.back()));
    }
    return candidateLog_->append(lines);
}

Result<void> Folder::add(Checked checked) {
    CUDA_AGENT_TRY(checkedLog_->append(toJson(checked)));
    take(std::move(checked));
    return {};
}

std::vector<const Candidate *> Folder::todo(Stage stage) const {
    std::vector<const Candidate *> todo;
    const auto ready = [&](const Candidate &candidate) {
        if (stage == Stage::check)
            return candidate.rejected.empty();
        const auto before = static_cast<Stage>(static_cast<int>(stage) - 1);
        const auto *outcome = find(before, candidate.index);
        return outcome && outcome->outcome == Outcome::passed;
    };
    for (const auto &candidate : candidates_)
        if (ready(candidate) && !find(stage, candidate.index))
            todo.push_back(&candidate);
    return todo;
}

bool Folder::isPromising(std::size_t index) const {
    const auto *compiled = find(Stage::compile, index);
    const auto refused = [&](Stage stage) {
        const auto *look = find(stage, index);
        return look && look->outcome != Outcome::passed;
    };
    return compiled && compiled->outcome == Outcome::passed && find(Stage::check, index) &&
           !refused(Stage::again) && !refused(Stage::third);
}

void Folder::hope(std::size_t index, bool more) {
    const auto graph = graphHashOf(*find(Stage::check, index));
    if (graph.empty()) {
        more ? ++hopeful_ : --hopeful_;
    } else if (more) {
        ++hopefulGraphs_[graph];
    } else if (const auto found = hopefulGraphs_.find(graph);
               found != hopefulGraphs_.end() && --found->second == 0) {
        hopefulGraphs_.erase(found);
    }
}

std::vector<Entry> Folder::entries() const {
    std::vector<Entry> entries;
    for (const auto &candidate : candidates_)
        entries.push_back(
            {&candidate, find(Stage::check, candidate.index), find(Stage::time, candidate.index),
             find(Stage::compile, candidate.index), find(Stage::again, candidate.index),
             find(Stage::third, candidate.index)});
    return entries;
}

Result<void> Folder::addDifficulty(const std::map<std::string, Json> &figures) {
    for (const auto &[id, entry] : figures)
        difficulty_[id] = entry;
    return writeFileAtomically(path_ / "difficulty.json", Json(difficulty_).dump(1) + "\n");
}

Json Folder::cardFor(const TaskSet &set) const {
    auto card = readJsonFile(path_ / "card.json");
    const auto text = readGzipFile(path_ / "set.jsonl.gz");
    const auto none = Json::object();
    if (!card || !text || !card->is_object())
        return none;
    const auto mine = toJson(recipe_);
    const auto theirs = card->value("recipe", Json());
    for (const auto *key : {"audited", "similarity", "seed"})
        if (!theirs.is_object() || theirs.value(key, Json()) != mine[key])
            return none;
    std::size_t begin = 0;
    for (const auto &task : set.tasks) {
        const auto end = text->find('\n', begin);
        if (end == text->npos)
            return none;
        const auto line = parseJson(std::string_view(*text).substr(begin, end - begin), "the set");
        if (!line || !line->is_object() || line->value("name", Json()) != task.name ||
            line->value("code", Json()) != task.candidate->code)
            return none;
        begin = end + 1;
    }
    return begin == text->size() ? std::move(*card) : none;
}

Result<void> Folder::write(const TaskSet &set, const Audit &audit, const Json &versions,
                           std::stop_token stop) {
    std::error_code error;
    fs::remove(path_ / "card.json", error); // it is there only for the set beside it
    CUDA_AGENT_TRY(writeFileAtomically(path_ / "set.jsonl.gz", gzip(linesOf(set))));
    CUDA_AGENT_TRY(writeParquet(path_, std::move(stop)));
    const auto card = cardOf(recipe_, set, candidates_.size(), rejected_, crawl_, audit, versions);
    CUDA_AGENT_TRY(writeFileAtomically(
        path_ / "card.json", card.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
    return writeFileAtomically(path_ / "card.md", cardAsMarkdown(card));
}

} // namespace cuda_agent::synthesis
