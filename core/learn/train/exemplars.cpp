// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/exemplars.h"

#include "core/learn/corpus/candidate_index.h"
#include "core/tools/judge_summary.h"

#include <algorithm>
#include <tuple>

namespace cuda_agent::learn {

namespace {

constexpr const char *fileName = "exemplars.json";

/// As JSON keeps it: what is no UTF-8 is replaced, so that a run goes on with the same text.
std::string kept(const std::string &text) {
    return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
        .get<std::string>();
}

} // namespace

void Exemplars::add(const std::vector<Trajectory> &trajectories) {
    if (most_ <= 0)
        return;
    const auto worth = [](const Variant &one) {
        return std::tuple(one.reward, one.overCompile, one.overEager);
    };
    for (const auto &one : trajectories) {
        const auto &episode = one.episode;
        if (!episode.correct() || episode.candidate.empty())
            continue;
        Variant variant;
        for (const auto &[path, text] : episode.candidate)
            variant.files[kept(path)] = kept(text);
        variant.key = sourcesKey(variant.files);
        variant.reward = one.reward;
        variant.milestone = episode.milestone;
        variant.seconds = episode.seconds;
        variant.overEager = episode.overEager;
        variant.overCompile = episode.overCompile;
        auto &mine = variants_[one.task];
        if (std::ranges::find(mine, variant.key, &Variant::key) != mine.end())
            continue;
        const auto behind = std::ranges::find_if(
            mine, [&](const Variant &other) { return worth(other) < worth(variant); });
        mine.insert(behind, std::move(variant));
        if (static_cast<std::int64_t>(mine.size()) > most_)
            mine.pop_back();
    }
}

std::vector<chat::Exemplar> Exemplars::of(const std::string &task, std::int64_t most) const {
    std::vector<chat::Exemplar> exemplars;
    const auto found = variants_.find(task);
    if (found == variants_.end())
        return exemplars;
    for (const auto &one : found->second) {
        if (static_cast<std::int64_t>(exemplars.size()) >= most)
            break;
        auto score = fmt::format("correct, reward {}", one.milestone);
        score += one.seconds > 0 ? ", " + tools::formatSeconds(one.seconds) : ", not timed";
        if (one.overEager > 0)
            score += fmt::format(", {:.2f}x eager", one.overEager);
        if (one.overCompile > 0)
            score += fmt::format(", {:.2f}x torch.compile", one.overCompile);
        exemplars.push_back({one.files, std::move(score)});
    }
    return exemplars;
}

Json Exemplars::toJson(const Variant &variant) {
    return {{"files", variant.files},          {"reward", variant.reward},
            {"milestone", variant.milestone},  {"seconds", variant.seconds},
            {"over_eager", variant.overEager}, {"over_compile", variant.overCompile}};
}

Exemplars::Variant Exemplars::variantFrom(const Json &json) {
    Variant variant;
    variant.files = json.at("files").get<std::map<std::string, std::string>>();
    variant.key = sourcesKey(variant.files);
    variant.reward = json.at("reward").get<double>();
    variant.milestone = json.at("milestone").get<int>();
    variant.seconds = json.at("seconds").get<double>();
    variant.overEager = json.at("over_eager").get<double>();
    variant.overCompile = json.at("over_compile").get<double>();
    return variant;
}

Result<void> Exemplars::save(const std::filesystem::path &folder) const {
    if (most_ <= 0)
        return {};
    Json all = Json::object();
    for (const auto &[task, variants] : variants_)
        for (const auto &one : variants)
            all[task].push_back(toJson(one));
    return writeFileAtomically(folder / fileName,
                               all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<void> Exemplars::restore(const std::filesystem::path &folder) {
    variants_.clear();
    const auto file = folder / fileName;
    if (most_ <= 0 || !std::filesystem::exists(file))
        return {};
    CUDA_AGENT_ASSIGN(text, readTextFile(file, std::size_t{1} << 32));
    CUDA_AGENT_ASSIGN(all, parseJson(text, file.string()));
    try {
        for (const auto &[task, variants] : all.items())
            for (const auto &one : variants)
                variants_[task].push_back(variantFrom(one));
    } catch (const Json::exception &) { // a field that is missing or of another type
        return requestError("{}: not a checkpoint's exemplars", file.string());
    }
    for (auto &[task, variants] : variants_) // the recipe may ask for fewer now
        variants.resize(std::min(variants.size(), static_cast<std::size_t>(most_)));
    return {};
}

} // namespace cuda_agent::learn
