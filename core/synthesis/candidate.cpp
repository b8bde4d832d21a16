// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/candidate.h"

namespace cuda_agent::synthesis {

Json toJson(const Candidate &candidate) {
    return {{"index", candidate.index},
            {"id", candidate.id},
            {"source", candidate.source},
            {"ops", candidate.ops},
            {"kinds", candidate.kinds},
            {"families", candidate.families},
            {"dtype", candidate.dtype},
            {"backward", candidate.backward},
            {"code", candidate.code},
            {"small", candidate.small},
            {"estimated_seconds", candidate.estimatedSeconds},
            {"estimated_bytes", candidate.estimatedBytes},
            {"exact_hash", candidate.exactHash},
            {"near_hash", candidate.nearHash},
            {"skeleton_hash", candidate.skeletonHash},
            {"similarity", candidate.similarity},
            {"nearest", candidate.nearest},
            {"rejected", candidate.rejected},
            {"detail", candidate.detail}};
}

Result<Candidate> candidateFromJson(const Json &json) {
    Candidate candidate;
    try {
        json.at("index").get_to(candidate.index);
        if (const auto why = json.find("gave_up"); why != json.end()) {
            candidate.rejected = "no task";
            why->get_to(candidate.detail);
            return candidate;
        }
        json.at("id").get_to(candidate.id);
        json.at("source").get_to(candidate.source);
        json.at("ops").get_to(candidate.ops);
        json.at("kinds").get_to(candidate.kinds);
        json.at("families").get_to(candidate.families);
        json.at("dtype").get_to(candidate.dtype);
        json.at("backward").get_to(candidate.backward);
        json.at("code").get_to(candidate.code);
        json.at("small").get_to(candidate.small);
        json.at("estimated_seconds").get_to(candidate.estimatedSeconds);
        json.at("estimated_bytes").get_to(candidate.estimatedBytes);
        json.at("exact_hash").get_to(candidate.exactHash);
        json.at("near_hash").get_to(candidate.nearHash);
        json.at("skeleton_hash").get_to(candidate.skeletonHash);
        json.at("similarity").get_to(candidate.similarity);
        candidate.nearest = json.value("nearest", std::string());
        candidate.rejected = json.value("rejected", std::string());
        candidate.detail = json.value("detail", std::string());
    } catch (const Json::exception &problem) {
        return requestError("no candidate: {}", problem.what());
    }
    return candidate;
}

void Screen::look(Candidate &candidate) {
    if (!candidate.rejected.empty()) {
        // Refused by an earlier look: what was remembered then is remembered again.
        if (candidate.rejected == "near duplicate" || candidate.rejected == "many variants") {
            exact_.insert(candidate.exactHash);
            near_.insert(candidate.nearHash);
        }
        return;
    }
    const auto refuse = [&](const char *reason, std::string detail) {
        candidate.rejected = reason;
        candidate.detail = std::move(detail);
    };
    if (candidate.similarity > similarity_)
        return refuse("near the benchmark",
                      fmt::format("{:.2f} to {}", candidate.similarity, candidate.nearest));
    if (!exact_.insert(candidate.exactHash).second)
        return refuse("duplicate", "an earlier candidate has the same text but for names");
    if (!near_.insert(candidate.nearHash).second)
        return refuse("near duplicate", "an earlier candidate has numbers of the same size");
    if (++skeletons_[candidate.skeletonHash] > variants_)
        return refuse("many variants",
                      fmt::format("{} earlier candidates compute the same", variants_));
}

} // namespace cuda_agent::synthesis
