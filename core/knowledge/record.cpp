// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/knowledge/record.h"

#include <algorithm>

namespace cuda_agent::knowledge {

namespace {

// A verdict may come from a log that anybody may have written: a field of another type is absent.
double number(const Json &object, const char *name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return object.is_object() && found != object.end() && found->is_number() ? found->get<double>()
                                                                             : 0;
}
bool truth(const Json &object, const char *name) {
    return object.contains(name) && object.at(name).is_boolean() && object.at(name).get<bool>();
}
std::string text(const Json &object, const char *name) {
    return object.contains(name) && object.at(name).is_string() ? object.at(name).get<std::string>()
                                                                : std::string();
}
Json part(const Json &object, const char *name) {
    return object.is_object() && object.contains(name) ? object.at(name) : Json::object();
}

} // namespace

Json toJson(const Record &record) {
    Json json{{"operators", record.task.operators},
              {"dominant", record.task.dominant},
              {"dtype", record.task.dtype},
              {"bytes_bucket", record.task.bytes},
              {"row_bucket", record.task.row},
              {"task", record.taskName},
              {"device_kind", record.deviceKind},
              {"device", record.device},
              {"architecture", record.architecture},
              {"numerics", record.numerics},
              {"policy", record.policy},
              {"candidate", record.candidate},
              {"note", record.note},
              {"hash", record.hash},
              {"session", record.session},
              {"turn", record.turn},
              {"compiled", record.compiled},
              {"correct", record.correct},
              {"strength", record.full ? "full" : "training"},
              {"reward", record.reward},
              {"time", record.time}};
    const auto add = [&](const char *name, double value) {
        if (value > 0)
            json[name] = value;
    };
    if (record.id > 0)
        json["id"] = record.id;
    if (!record.schedule.empty())
        json["schedule"] = record.schedule;
    if (!record.problem.empty())
        json["problem"] = record.problem;
    add("seconds", record.seconds);
    add("speedup_eager", record.againstEager);
    add("speedup_compile", record.againstCompile);
    add("speedup_best_stock", record.againstStock);
    add("fraction_of_limit", record.fractionOfLimit);
    return json;
}

void setVerdict(Record &record, const Json &verdict) {
    if (!verdict.is_object())
        return;
    record.compiled = truth(verdict, "compiled");
    record.correct = truth(verdict, "correct");
    record.full = text(verdict, "strength") == "full";
    record.reward = verdict.contains("reward")
                        ? static_cast<int>(std::clamp(number(verdict, "reward"), -1.0, 3.0))
                        : -1;
    record.problem = oneLine(text(verdict, "problem"), 300);
    record.seconds = number(part(part(verdict, "times"), "candidate"), "seconds");
    record.againstEager = number(part(verdict, "speedup"), "eager");
    record.againstCompile = number(part(verdict, "speedup"), "compile");
    if (const double stock = number(part(verdict, "best_stock"), "seconds");
        stock > 0 && record.seconds > 0)
        record.againstStock = stock / record.seconds;
    record.fractionOfLimit = number(verdict, "fraction_of_limit");
}

std::string oneLine(std::string_view text, std::size_t most) {
    std::string line;
    for (const char c : text) {
        const bool space = static_cast<unsigned char>(c) <= ' ' || c == 0x7f;
        if (!space)
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    while (line.ends_with(' '))
        line.pop_back();
    if (line.size() <= most)
        return line;
    constexpr std::string_view more = "…";
    std::size_t end = most > more.size() ? most - more.size() : 0;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80)
        --end;
    return line.substr(0, end) + std::string(more);
}

} // namespace cuda_agent::knowledge
