// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/difficulty.h"

#include "core/bench/record.h"

namespace cuda_agent::synthesis {

namespace {

constexpr std::size_t mostBytes = std::size_t{4} << 30;
constexpr int noReward = -1; ///< of what is not right

bool judged(bench::Outcome outcome) {
    return outcome != bench::Outcome::missing && outcome != bench::Outcome::unusable &&
           outcome != bench::Outcome::machine;
}

double rewardOf(const bench::Record &record) {
    if (record.outcome != bench::Outcome::correct || !record.verdict.is_object())
        return noReward;
    const auto found = record.verdict.find("reward");
    return found != record.verdict.end() && found->is_number() ? found->get<double>() : noReward;
}

} // namespace

Result<std::map<std::string, Json>> difficultyFrom(const std::filesystem::path &evaluation) {
    const auto file = evaluation / "results.jsonl";
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        return requestError("{} holds no results.jsonl; it is no folder of 'cuda-agent evaluate'",
                            evaluation.string());
    CUDA_AGENT_ASSIGN(text, readTextFile(file, mostBytes));
    std::map<std::string, bench::Record> last; // a task that is tried again counts as it ends
    std::size_t begin = 0;
    for (std::size_t number = 1; begin < text.size(); ++number) {
        const auto end = text.find('\n', begin);
        if (end == text.npos)
            break; // being written
        const auto what = fmt::format("{}:{}", file.string(), number);
        CUDA_AGENT_ASSIGN(json, parseJson(std::string_view(text).substr(begin, end - begin), what));
        auto record = bench::recordFromJson(json);
        if (!record)
            return requestError("{}: {}", what, record.error().message);
        last.insert_or_assign(record->key(), std::move(*record));
        begin = end + 1;
    }
    std::map<std::string, const bench::Record *> best;
    for (const auto &[key, record] : last) {
        if (!judged(record.outcome))
            continue;
        auto &known = best[record.task];
        const bool better =
            !known || record.numerics < known->numerics ||
            (record.numerics == known->numerics && rewardOf(record) > rewardOf(*known));
        known = better ? &record : known;
    }
    std::map<std::string, Json> figures;
    for (const auto &[task, record] : best)
        figures[task] = {{"reward", rewardOf(*record)}, {"turns", record->turns}};
    return figures;
}

} // namespace cuda_agent::synthesis
