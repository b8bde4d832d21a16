// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bench/record.h"

#include <algorithm>
#include <array>

namespace cuda_agent::bench {

namespace {

constexpr std::array names{"correct", "wrong",    "not_compiled", "none",
                           "missing", "unusable", "out_of_time",  "machine"};

} // namespace

std::optional<double> positiveAt(const Json &json, const char *pointer) {
    const Json::json_pointer at(pointer);
    if (!json.is_object() || !json.contains(at) || !json.at(at).is_number())
        return std::nullopt;
    const auto value = json.at(at).get<double>();
    return value > 0 ? std::optional(value) : std::nullopt;
}

std::string_view nameOf(Outcome outcome) {
    return names.at(static_cast<std::size_t>(outcome));
}

std::optional<double> Record::speedup(const std::string &over) const {
    if (outcome != Outcome::correct)
        return std::nullopt;
    if (over == "best_stock") {
        const auto stock = positiveAt(verdict, "/best_stock/seconds");
        const auto own = positiveAt(verdict, "/times/candidate/seconds");
        return stock && own ? std::optional(*stock / *own) : std::nullopt;
    }
    return positiveAt(verdict, ("/speedup/" + over).c_str());
}

double Record::fractionOfLimit() const {
    return outcome == Outcome::correct ? positiveAt(verdict, "/fraction_of_limit").value_or(0) : 0;
}

std::string Record::key() const {
    return fmt::format("{} {} {}", task, task::nameOf(numerics), sample);
}

Json toJson(const Record &record) {
    Json json{{"task", record.task},
              {"level", record.level},
              {"name", record.name},
              {"numerics", task::nameOf(record.numerics)},
              {"outcome", nameOf(record.outcome)},
              {"seconds", record.seconds},
              {"phases", record.phases},
              {"versions", record.versions}};
    if (record.sample >= 0)
        json["sample"] = record.sample;
    if (!record.cause.empty())
        json["cause"] = record.cause;
    if (record.algebra)
        json["algebra"] = true;
    if (!record.session.empty()) {
        json["session"] = record.session;
        json["turns"] = record.turns;
        json["best_turn"] = record.bestTurn;
    }
    if (!record.verdict.is_null())
        json["verdict"] = record.verdict;
    return json;
}

Result<Record> recordFromJson(const Json &json) {
    try {
        Record record;
        record.task = json.at("task");
        record.level = json.at("level");
        record.name = json.at("name");
        CUDA_AGENT_ASSIGN(numerics, task::numericsFromName(json.at("numerics").get<std::string>()));
        record.numerics = numerics;
        const std::string outcome = json.at("outcome");
        const auto found = std::find(names.begin(), names.end(), outcome);
        if (found == names.end())
            return requestError("a result has the unknown outcome '{}'", outcome);
        record.outcome = static_cast<Outcome>(found - names.begin());
        record.seconds = json.at("seconds");
        record.phases = json.at("phases").get<std::map<std::string, double>>();
        record.versions = json.at("versions");
        record.sample = json.value("sample", -1);
        record.cause = json.value("cause", "");
        record.algebra = json.value("algebra", false);
        record.session = json.value("session", "");
        record.turns = json.value("turns", 0);
        record.bestTurn = json.value("best_turn", 0);
        record.verdict = json.value("verdict", Json());
        return record;
    } catch (const Json::exception &problem) {
        return requestError("a line is no result: {}", problem.what());
    }
}

void setOutcome(Record &record, Json verdict) {
    record.verdict = std::move(verdict);
    if (const auto reference = record.verdict.value("reference", std::string()); !reference.empty())
        record.versions["reference"] = reference;
    const bool compiled = record.verdict.value("compiled", false);
    const bool correct = record.verdict.value("correct", false);
    record.outcome = correct ? Outcome::correct : compiled ? Outcome::wrong : Outcome::notCompiled;
    record.cause = correct ? std::string() : record.verdict.value("problem", std::string());
}

} // namespace cuda_agent::bench
