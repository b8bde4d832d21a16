// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/rules.h"

#include "core/modules/imports.h"
#include "core/modules/ptxas.h"
#include "core/plan/linked_candidate.h"

#include <array>
#include <cmath>
#include <set>

namespace cuda_agent::modules {

namespace {

constexpr std::size_t mostEntries = 2000;

/// Operators that make tensors or say how to look at one, and the copy behind `.contiguous()`.
constexpr std::array harmless = {
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "zeros",
    "zeros_like",
    "new_zeros",
    "zero_",
    "view",
    "_unsafe_view",
    "reshape",
    "as_strided",
    "t",
    "transpose",
    "permute",
    "expand",
    "select",
    "slice",
    "squeeze",
    "unsqueeze",
    "detach",
    "alias",
    "unbind",
    "split",
    "split_with_sizes",
    "chunk",
    "narrow",
    "flatten",
    "unflatten",
    "movedim",
    "contiguous",
    "clone",
    "view_as",
    "diagonal",
    "unfold",
    "lift_fresh",
    "resize_",
    "set_",
    "is_same_size",
    "_reshape_alias",
    "view_as_real",
    "view_as_complex",
    "stride",
    "size",
};

/// "aten.mm.default" -> "mm".
std::string_view baseOf(std::string_view name) {
    const auto first = name.find('.');
    if (first == name.npos)
        return name;
    const auto rest = name.substr(first + 1);
    return rest.substr(0, rest.find('.'));
}

bool isHarmless(const std::string &name) {
    const auto base = baseOf(name);
    return std::find(harmless.begin(), harmless.end(), base) != harmless.end();
}

bool containsAny(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](auto word) { return text.find(word) != text.npos; });
}

/// Kernels of PyTorch's that harmless operators run.
bool isHarmlessKernel(std::string_view name) {
    return containsAny(name, {"direct_copy_kernel", "FillFunctor", "fill_kernel", "CopyDevice"});
}

/// Names that cuBLAS and cuDNN give their kernels for products and convolutions.
bool isProductKernel(std::string_view name) {
    return containsAny(name, {"gemm", "gemv", "nvjet", "splitKreduce", "cublas"});
}
bool isConvolutionKernel(std::string_view name) {
    return containsAny(
        name, {"conv", "fprop", "dgrad", "wgrad", "nchwToNhwc", "nhwcToNchw", "winograd", "fft"});
}

/// Without template arguments, which demanglers write differently.
std::string plainName(const std::string &name) {
    const auto readable = readableKernel(name);
    return readable.substr(0, readable.find('<'));
}

bool mentions(const Candidate &candidate, std::string_view word) {
    return std::any_of(candidate.files.begin(), candidate.files.end(), [&](const auto &file) {
        return file.first != modelFile && file.second.find(word) != std::string::npos;
    });
}

std::string list(const std::vector<std::string> &names) {
    std::string text;
    constexpr std::size_t most = 5;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
        text += (i ? ", " : "") + names[i];
    if (names.size() > most)
        text += fmt::format(" and {} more", names.size() - most);
    return text;
}

std::string textOf(const Json &entry, const char *field) {
    const auto found = entry.find(field);
    return found != entry.end() && found->is_string() ? plan::tamed(found->get<std::string>())
                                                      : std::string();
}

int countOf(const Json &entry) {
    const auto found = entry.find("calls");
    return found != entry.end() && found->is_number_integer()
               ? std::clamp(found->get<int>(), 0, 1'000'000'000)
               : 0;
}

} // namespace

std::string_view nameOf(Rules rules) {
    return rules == Rules::published ? "published" : "kernelbench";
}

Result<Rules> rulesFromName(std::string_view name) {
    for (const auto rules : {Rules::published, Rules::kernelbench})
        if (nameOf(rules) == name)
            return rules;
    return requestError("rules are 'published' or 'kernelbench', not '{}'", name);
}

bool namesLibraries(const Candidate &candidate) {
    return mentions(candidate, "cublas") || mentions(candidate, "cudnn");
}

std::vector<std::string> suspiciousImports(const std::vector<std::string> &names) {
    auto found = machineryIn(names);
    for (const auto &name : names) {
        const auto whole = operatorOf(name);
        if (whole.empty())
            continue;
        // "add_Tensor" is add.Tensor, "_unsafe_view" has no overload: the longest known name
        // counts.
        const bool known =
            std::any_of(harmless.begin(), harmless.end(), [&](std::string_view each) {
                return whole == each || whole.starts_with(std::string(each) + "_");
            });
        if (!known && whole != "item" && !whole.starts_with("to_"))
            found.push_back("it calls the framework operator " + whole);
    }
    return found;
}

Result<void> checkForm(const Candidate &candidate, Rules rules, device::Kind device) {
    if (candidate.form != Form::singleFile)
        return {};
    if (rules == Rules::published)
        return requestError("a single Python file is judged under --rules kernelbench; the "
                            "published rules want kernels/X.cu with kernels/X_binding.cpp and "
                            "model_new.py");
    if (device == device::Kind::cpu)
        return requestError("a single file compiles its own CUDA code (load_inline, Triton) and "
                            "needs a GPU; on the cpu device write the published workspace "
                            "(kernels/X.cu, kernels/X_binding.cpp, model_new.py) or a plan");
    return {};
}

std::optional<double> Audit::kernelSeconds() const {
    if (!kernels)
        return std::nullopt;
    double sum = 0;
    for (const Kernel &kernel : *kernels)
        sum += kernel.seconds;
    return sum;
}

Result<Audit> auditFromJson(const Json &json) {
    const auto operators = json.find("operators");
    if (operators == json.end() || !operators->is_array() || operators->size() > mostEntries)
        return failedError("the candidate's process sent no usable audit");
    Audit audit;
    for (const auto &entry : *operators) {
        if (!entry.is_object())
            return failedError("the candidate's process sent no usable audit");
        const auto own = entry.find("own");
        audit.operators.push_back({textOf(entry, "name"), countOf(entry),
                                   own != entry.end() && own->is_boolean() && own->get<bool>()});
    }
    audit.kernelsProblem = textOf(json, "kernels_problem");
    const auto kernels = json.find("kernels");
    if (kernels == json.end() || !kernels->is_array() || kernels->size() > mostEntries)
        return audit;
    audit.kernels.emplace();
    for (const auto &entry : *kernels) {
        if (!entry.is_object())
            return failedError("the candidate's process sent no usable audit");
        const auto seconds = entry.find("seconds");
        const double value =
            seconds != entry.end() && seconds->is_number() ? seconds->get<double>() : 0;
        audit.kernels->push_back(
            {textOf(entry, "name"), countOf(entry), std::isfinite(value) ? value : 0});
    }
    return audit;
}

Json toJson(const Audit &audit) {
    Json json{{"operators", Json::array()}};
    for (const auto &each : audit.operators)
        json["operators"].push_back(
            {{"name", each.name}, {"calls", each.calls}, {"own", each.own}});
    if (audit.kernels) {
        json["kernels"] = Json::array();
        for (const auto &each : *audit.kernels)
            json["kernels"].push_back(
                {{"name", each.name}, {"calls", each.calls}, {"seconds", each.seconds}});
    } else {
        json["kernels_problem"] = audit.kernelsProblem;
    }
    return json;
}

Finding judgeOrigin(Rules rules, const Audit &audit, const Candidate &candidate,
                    const std::vector<toolchain::EntryInfo> &own) {
    Finding finding;
    std::vector<std::string> operators, kernels;
    for (const auto &each : audit.operators)
        if (!each.own && !isHarmless(each.name))
            operators.push_back(each.name);
    std::set<std::string> ownNames;
    for (const auto &entry : own)
        ownNames.insert(plainName(entry.name));
    const bool products = mentions(candidate, "cublas");
    const bool convolutions = mentions(candidate, "cudnn");
    bool ownRan = false;
    if (audit.kernels && candidate.form == Form::workspace)
        for (const auto &kernel : *audit.kernels) {
            if (ownNames.contains(plainName(kernel.name)))
                ownRan = true;
            else if (!isHarmlessKernel(kernel.name) &&
                     !(products && isProductKernel(kernel.name)) &&
                     !(convolutions && isConvolutionKernel(kernel.name)))
                kernels.push_back(kernel.name);
        }
    if (rules == Rules::published) {
        if (!operators.empty())
            finding.refused = fmt::format("framework operators ran: {}; under --rules published "
                                          "the candidate's own kernels do all the work",
                                          list(operators));
        else if (!kernels.empty())
            finding.refused = fmt::format("kernels ran that are not the candidate's own: {}; "
                                          "cuBLAS is for products, cuDNN for convolutions",
                                          list(kernels));
        else if (audit.kernels && candidate.form == Form::workspace && !ownRan && !products &&
                 !convolutions)
            finding.refused = "none of the candidate's own kernels ran";
    } else {
        if (!operators.empty())
            finding.flags.push_back("framework operators ran: " + list(operators));
        if (!kernels.empty())
            finding.flags.push_back("kernels ran that are not its own: " + list(kernels));
    }
    if (!audit.kernels && !audit.kernelsProblem.empty())
        finding.flags.push_back("which kernels ran was not recorded: " + audit.kernelsProblem);
    return finding;
}

} // namespace cuda_agent::modules
