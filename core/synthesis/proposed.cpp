// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/proposed.h"

#include "core/base/gzip.h"
#include "core/synthesis/tasks.h"

#include <algorithm>

namespace cuda_agent::synthesis {

namespace {

/// Of a set's line; empty lists where it has no such list.
std::vector<std::string> namesAt(const Json &line, const char *key) {
    std::vector<std::string> names;
    if (const auto found = line.find(key); found != line.end() && found->is_array())
        for (const Json &name : *found)
            if (name.is_string())
                names.push_back(name.get<std::string>());
    return names;
}

bool meets(const std::set<std::string> &some, const std::set<std::string> &others) {
    return std::ranges::any_of(some, [&](const auto &each) { return others.contains(each); });
}

} // namespace

std::set<std::string> fusionsOf(const std::string &source,
                                const std::vector<std::string> &families) {
    std::set<std::string> fusions;
    if (source == "expressions") {
        for (std::size_t i = 0; i < families.size(); ++i)
            for (std::size_t j = 0; j < families.size(); ++j)
                if (i != j)
                    fusions.insert(families[i] + " > " + families[j]);
        return fusions;
    }
    for (std::size_t i = 1; i < families.size(); ++i)
        fusions.insert(families[i - 1] + " > " + families[i]);
    return fusions;
}

std::set<std::string> kindsOf(const std::string &source, const std::vector<std::string> &kinds,
                              const std::vector<std::string> &families) {
    const auto &named = source == "transformers" ? families : kinds;
    return {named.begin(), named.end()};
}

bool KeptTraits::of(const Candidate &candidate) const {
    return meets(fusionsOf(candidate.source, candidate.families), fusions) ||
           meets(kindsOf(candidate.source, candidate.kinds, candidate.families), kinds);
}

Result<KeptTraits> keptFromTraining(const std::vector<std::filesystem::path> &sets) {
    KeptTraits kept;
    std::set<std::string> seenFusions, seenKinds; ///< of all sets' training tasks
    for (const auto &set : sets) {
        CUDA_AGENT_TRY(
            eachGzipLine(set, [&](std::string_view text, std::size_t number) -> Result<void> {
                CUDA_AGENT_ASSIGN(line,
                                  parseJson(text, fmt::format("{}:{}", set.string(), number)));
                const auto families = namesAt(line, "families"), named = namesAt(line, "kinds");
                const bool known = line.is_object() && line.contains("split") &&
                                   line["split"].is_string() && line.contains("families");
                if (!known)
                    return requestError("{}:{}: no task of a synthesised set: it has no split and "
                                        "families",
                                        set.string(), number);
                const auto split = line["split"].get<std::string>();
                const auto source = line.value("data_source", "");
                auto fusions = fusionsOf(source, families);
                auto kinds = kindsOf(source, named, families);
                if (split == "held_out")
                    kept.fusions.merge(fusions);
                else if (split == "outer")
                    kept.kinds.merge(kinds);
                else {
                    seenFusions.merge(fusions);
                    seenKinds.merge(kinds);
                }
                return {};
            }));
    }
    std::erase_if(kept.fusions, [&](const auto &each) { return seenFusions.contains(each); });
    std::erase_if(kept.kinds, [&](const auto &each) { return seenKinds.contains(each); });
    return kept;
}

std::string proposedLines(const std::deque<Candidate> &candidates, const KeptTraits &kept) {
    std::string text;
    for (const Candidate &candidate : candidates) {
        if (!candidate.rejected.empty() || kept.of(candidate))
            continue;
        const auto operators = std::clamp<std::size_t>(candidate.ops.size(), 1, 3);
        text += Json{{"name", nameOf(candidate, candidate.kinds)},
                     {"level", std::to_string(operators)},
                     {"split", "train"},
                     {"ops", candidate.ops},
                     {"data_source", candidate.source},
                     {"code", candidate.code},
                     {"kinds", candidate.kinds},
                     {"families", candidate.families},
                     {"dtype", candidate.dtype},
                     {"backward", candidate.backward}}
                    .dump(-1, ' ', false, Json::error_handler_t::replace) +
                "\n";
    }
    return text;
}

} // namespace cuda_agent::synthesis
