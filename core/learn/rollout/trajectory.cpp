// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/rollout/trajectory.h"

#include "core/learn/model/safetensors.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace cuda_agent::learn {

namespace {

constexpr const char *listName = "trajectories";

Json described(const Trajectory &one) {
    const auto &episode = one.episode;
    return {{"task", one.task},
            {"level", one.level},
            {"place", one.place},
            {"group", one.group},
            {"session", one.session},
            {"turns", one.record.turns},
            {"cut", one.record.cut},
            {"correct", episode.correct()},
            {"candidate", episode.candidate},
            {"seconds", episode.seconds},
            {"exemplars", one.exemplars},
            {"milestone", episode.milestone},
            {"best_turn", episode.bestTurn},
            {"over_eager", episode.overEager},
            {"over_compile", episode.overCompile},
            {"of_limit", episode.ofLimit},
            {"episode_turns", episode.turns},
            {"calls", episode.calls},
            {"refused", episode.refused},
            {"unreadable", episode.unreadable},
            {"verdicts", episode.verdicts},
            {"reason", episode.reason}};
}

void readInto(Trajectory &one, const Json &json) {
    auto &episode = one.episode;
    one.task = json.at("task").get<std::string>();
    one.level = json.at("level").get<std::string>();
    one.place = json.value("place", one.place); // not in files of before, whose places are theirs
    one.group = json.at("group").get<std::int64_t>();
    one.session = json.at("session").get<std::string>();
    one.record.turns = json.at("turns").get<std::int64_t>();
    one.record.cut = json.at("cut").get<bool>();
    if (json.at("correct").get<bool>())
        episode.verdict = Json::object();
    // Older files have none of these.
    episode.candidate = json.value("candidate", std::map<std::string, std::string>());
    episode.seconds = json.value("seconds", 0.0);
    one.exemplars = json.value("exemplars", std::int64_t{0});
    episode.milestone = json.at("milestone").get<int>();
    episode.bestTurn = json.at("best_turn").get<int>();
    episode.overEager = json.at("over_eager").get<double>();
    episode.overCompile = json.at("over_compile").get<double>();
    episode.ofLimit = json.value("of_limit", 0.0); // not in files of before
    episode.turns = json.at("episode_turns").get<int>();
    episode.calls = json.at("calls").get<int>();
    episode.refused = json.at("refused").get<int>();
    episode.unreadable = json.at("unreadable").get<int>();
    episode.verdicts = json.at("verdicts").get<int>();
    episode.reason = json.at("reason").get<std::string>();
}

template <typename T>
at::Tensor tensorOf(const std::vector<T> &values, at::ScalarType type) {
    return at::from_blob(const_cast<T *>(values.data()), {static_cast<std::int64_t>(values.size())},
                         type)
        .clone();
}

template <typename T>
std::vector<T> slice(const at::Tensor &all, std::int64_t begin, std::int64_t end) {
    const T *const data = all.const_data_ptr<T>();
    return {data + begin, data + end};
}

} // namespace

std::vector<WholeEpisode> wholeEpisodes(const std::vector<Trajectory> &trajectories) {
    std::vector<WholeEpisode> all;
    for (const auto &one : trajectories) {
        if (all.empty() || all.back().last->place != one.place) {
            all.push_back({&one, one.episode, one.reward});
            continue;
        }
        auto &whole = all.back();
        whole.last = &one;
        whole.episode.add(one.episode);
        whole.reward = std::max(whole.reward, one.reward);
    }
    return all;
}

Result<void> writeTrajectories(const std::filesystem::path &file,
                               const std::vector<Trajectory> &trajectories) {
    TokenRecord all;
    std::vector<std::int64_t> begins{0};
    std::vector<double> rewards;
    Json list = Json::array();
    const auto append = [](auto &to, const auto &from) {
        to.insert(to.end(), from.begin(), from.end());
    };
    for (const auto &one : trajectories) {
        append(all.tokens, one.record.tokens);
        append(all.byPolicy, one.record.byPolicy);
        append(all.logProbabilities, one.record.logProbabilities);
        append(all.entropy, one.record.entropy);
        begins.push_back(static_cast<std::int64_t>(all.tokens.size()));
        rewards.push_back(one.reward);
        list.push_back(described(one));
    }
    Safetensors content;
    content.tensors = {{"tokens", tensorOf(all.tokens, at::kInt)},
                       {"by_policy", tensorOf(all.byPolicy, at::kByte)},
                       {"log_probabilities", tensorOf(all.logProbabilities, at::kFloat)},
                       {"entropy", tensorOf(all.entropy, at::kFloat)},
                       {"begins", tensorOf(begins, at::kLong)},
                       {"rewards", tensorOf(rewards, at::kDouble)}};
    content.metadata[listName] = list.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    return writeSafetensors(file, content);
}

Result<std::vector<Trajectory>> readTrajectories(const std::filesystem::path &file) {
    CUDA_AGENT_ASSIGN(content, readSafetensors(file));
    const auto bad = [&] { return requestError("{}: not a file of trajectories", file.string()); };
    const auto tensor = [&](const char *name, at::ScalarType type) {
        const auto found = content.tensors.find(name);
        return found != content.tensors.end() && found->second.dim() == 1 &&
                       found->second.scalar_type() == type
                   ? found->second
                   : at::Tensor();
    };
    const auto tokens = tensor("tokens", at::kInt), policy = tensor("by_policy", at::kByte),
               logs = tensor("log_probabilities", at::kFloat),
               entropy = tensor("entropy", at::kFloat), begins = tensor("begins", at::kLong),
               rewards = tensor("rewards", at::kDouble);
    for (const auto &each : {tokens, policy, logs, entropy, begins, rewards})
        if (!each.defined())
            return bad();
    const auto list = Json::parse(content.metadata[listName], nullptr, false);
    const auto count = rewards.numel();
    if (!list.is_array() || static_cast<std::int64_t>(list.size()) != count ||
        begins.numel() != count + 1 || policy.numel() != tokens.numel() ||
        logs.numel() != tokens.numel() || entropy.numel() != tokens.numel())
        return bad();
    std::vector<Trajectory> trajectories(static_cast<std::size_t>(count));
    const auto *const place = begins.const_data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < trajectories.size(); ++i) {
        const auto from = place[i], to = place[i + 1];
        if (from < 0 || to < from || to > tokens.numel())
            return bad();
        auto &one = trajectories[i];
        one.record.tokens = slice<std::int32_t>(tokens, from, to);
        one.record.byPolicy = slice<std::uint8_t>(policy, from, to);
        one.record.logProbabilities = slice<float>(logs, from, to);
        one.record.entropy = slice<float>(entropy, from, to);
        one.reward = rewards.const_data_ptr<double>()[i];
        one.place = static_cast<std::int64_t>(i);
        try {
            readInto(one, list[i]);
        } catch (const Json::exception &) { // a field that is missing or of another type
            return bad();
        }
    }
    return trajectories;
}

} // namespace cuda_agent::learn
