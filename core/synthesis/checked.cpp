// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/checked.h"

#include <array>

namespace cuda_agent::synthesis {

namespace {
constexpr std::array stageNames{"check", "time", "compile", "again", "third"};
constexpr std::array outcomeNames{"passed", "rejected", "machine"};

template <typename Value, typename Names>
bool fromName(const Names &names, const std::string &name, Value &value) {
    for (std::size_t i = 0; i < names.size(); ++i)
        if (name == names[i]) {
            value = static_cast<Value>(i);
            return true;
        }
    return false;
}
} // namespace

std::string_view nameOf(Stage stage) {
    return stageNames.at(static_cast<std::size_t>(stage));
}

std::string_view nameOf(Outcome outcome) {
    return outcomeNames.at(static_cast<std::size_t>(outcome));
}

Json toJson(const Checked &checked) {
    Json json = checked.figures;
    json["index"] = checked.index;
    json["stage"] = nameOf(checked.stage);
    json["outcome"] = nameOf(checked.outcome);
    if (!checked.reason.empty())
        json["reason"] = checked.reason;
    if (!checked.detail.empty())
        json["detail"] = checked.detail;
    if (checked.seconds > 0)
        json["seconds"] = checked.seconds;
    json["took_seconds"] = checked.tookSeconds;
    return json;
}

Result<Checked> checkedFromJson(const Json &json) {
    Checked checked;
    try {
        checked.figures = json;
        json.at("index").get_to(checked.index);
        if (!fromName(stageNames, json.at("stage").get<std::string>(), checked.stage) ||
            !fromName(outcomeNames, json.at("outcome").get<std::string>(), checked.outcome))
            return requestError("no outcome of a filter");
        checked.reason = json.value("reason", std::string());
        checked.detail = json.value("detail", std::string());
        checked.seconds = json.value("seconds", 0.0);
        checked.tookSeconds = json.value("took_seconds", 0.0);
        for (const auto *key :
             {"index", "stage", "outcome", "reason", "detail", "seconds", "took_seconds"})
            checked.figures.erase(key);
    } catch (const Json::exception &problem) {
        return requestError("no outcome of a filter: {}", problem.what());
    }
    return checked;
}

} // namespace cuda_agent::synthesis
