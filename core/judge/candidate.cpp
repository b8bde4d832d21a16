// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/candidate.h"

#include <algorithm>
#include <array>

namespace cuda_agent::judge {

namespace fs = std::filesystem;

Result<Candidate> readCandidate(const fs::path &source) {
    std::error_code problem;
    if (!fs::exists(source, problem))
        return requestError("there is no '{}'; a candidate is a folder with plan.json or "
                            "model_new.py, or a Python file with ModelNew",
                            source.string());
    if (!fs::is_directory(source, problem)) {
        if (source.extension() != ".py")
            return requestError("'{}' is not a folder; a candidate is a folder with plan.json or "
                                "model_new.py, or a Python file with ModelNew",
                                source.string());
        CUDA_AGENT_ASSIGN(module, modules::readCandidate(source));
        return Candidate(std::move(module));
    }
    const bool isPlan = fs::exists(source / "plan.json", problem);
    const bool isModule = fs::exists(source / modules::modelFile, problem);
    if (isPlan && isModule)
        return requestError("'{}' holds both plan.json and model_new.py; remove the one that is "
                            "not meant",
                            source.string());
    if (isModule) {
        CUDA_AGENT_ASSIGN(module, modules::readCandidate(source));
        return Candidate(std::move(module));
    }
    CUDA_AGENT_ASSIGN(plan, plan::readCandidate(source));
    return Candidate(std::move(plan));
}

std::string_view kindOf(const Candidate &candidate) {
    return std::holds_alternative<plan::Candidate>(candidate) ? "plan" : "module";
}

plan::Signature signatureOf(const task::Description &description) {
    plan::Signature signature;
    for (const auto &port : description.inputs)
        signature.inputs.push_back(port.type);
    for (const auto &port : description.parameters)
        signature.parameters[port.name] = port.type;
    for (const auto &port : description.outputs)
        signature.outputs.push_back(port.type);
    for (std::size_t i = 0; i < description.scalars.size(); ++i)
        if (description.scalars[i].is_number() || description.scalars[i].is_boolean())
            signature.scalars[static_cast<int>(i)] = description.scalars[i].is_boolean()
                                                         ? description.scalars[i].get<bool>()
                                                         : description.scalars[i].get<double>();
    return signature;
}

bool addsAtomically(const Candidate &candidate) {
    const auto files = filesOf(candidate);
    return std::any_of(files.begin(), files.end(), [](const auto &file) {
        constexpr std::array names{"atomicAdd", "atomic_add", "fetch_add", "red.", "atom."};
        return std::any_of(names.begin(), names.end(), [&](const char *name) {
            return file.second.find(name) != std::string::npos;
        });
    });
}

std::map<std::string, std::string> filesOf(const Candidate &candidate) {
    if (const auto *module = std::get_if<modules::Candidate>(&candidate))
        return module->files;
    const auto &plan = std::get<plan::Candidate>(candidate);
    auto files = plan.files;
    files["plan.json"] = plan.planText;
    return files;
}

} // namespace cuda_agent::judge
