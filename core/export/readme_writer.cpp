// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/template.h"
#include "core/export/writers.h"

#include <algorithm>

namespace cuda_agent::exporter {

namespace {

std::string milliseconds(const Json &time, const char *key) {
    const double seconds = time.value(key, 0.0);
    return seconds < 1e-3 ? fmt::format("{:.1f} µs", seconds * 1e6)
                          : fmt::format("{:.3f} ms", seconds * 1e3);
}

std::string bullets(const Json &list) {
    std::string text;
    for (const auto &entry : list)
        if (entry.is_string())
            text += "- " + entry.get<std::string>() + "\n";
    return text;
}

/// "compile_tf32" -> "torch.compile, TF32".
std::string labelOf(const std::string &name) {
    std::string more;
    if (name.ends_with("_tf32"))
        more = ", TF32";
    else if (name.ends_with("_max_autotune"))
        more = ", max-autotune";
    return (name.starts_with("compile") ? "torch.compile" : "eager") + more;
}

std::string timesTable(const Json &verdict) {
    const Json times = verdict.value("times", Json::object());
    if (!times.contains("candidate"))
        return {};
    const double own = times["candidate"].value("seconds", 0.0);
    std::string text = "| | median | 95 % interval | against the kernels |\n|---|---|---|---|\n";
    for (const auto *name :
         {"candidate", "eager", "compile", "compile_max_autotune", "eager_tf32", "compile_tf32"}) {
        if (!times.contains(name))
            continue;
        const auto &time = times[name];
        const bool isOwn = std::string_view(name) == "candidate";
        text += fmt::format(
            "| {} | {} | {} .. {} | {} |\n", isOwn ? "these kernels" : labelOf(name),
            milliseconds(time, "seconds"), milliseconds(time, "low"), milliseconds(time, "high"),
            isOwn || own <= 0 ? "" : fmt::format("{:.2f}x", time.value("seconds", 0.0) / own));
    }
    return text;
}

std::string verdictText(const Source &source) {
    const Json &verdict = source.verdict;
    if (!verdict.is_object())
        return "None: the candidate was exported without being verified. Run the tests.";
    std::string text =
        fmt::format("{} on {} ({}), {} strength, numerics `{}`, reward {}.\n",
                    verdict.value("correct", false) ? "Correct" : "Not correct", source.deviceName,
                    source.architecture, verdict.value("strength", "?"),
                    verdict.value("numerics", "?"), verdict.value("reward", 0));
    const std::string table = timesTable(verdict);
    if (!table.empty())
        text += "\n" + table;
    if (verdict.contains("fraction_of_limit"))
        text +=
            fmt::format("\n{:.0f} % of that machine's {} limit ({}).\n",
                        100 * verdict.value("fraction_of_limit", 0.0),
                        verdict.value("limited_by", "?"), milliseconds(verdict, "limit_seconds"));
    if (source.device == device::Kind::cpu)
        text += "\nThese are times of a CPU; they say nothing about a GPU.\n";
    text += "\nThey were measured by the workbench's own runner, from the plan. The extension runs "
            "the same kernels; it makes its buffers anew for each call and is compiled by nvcc or "
            "a C++ compiler of yours, so measure it with `benchmark.py`.\n";
    if (source.verdict.value("strength", "") != "full")
        text += "\nVerified in training strength only.\n";
    std::string checks;
    for (const auto &check : verdict.value("checks", Json::array()))
        checks += fmt::format("- {} {}: {}\n",
                              check.value("skipped", false)  ? "left out"
                              : check.value("passed", false) ? "passed"
                                                             : "failed",
                              check.value("name", ""), check.value("detail", ""));
    if (!checks.empty())
        text += "\nChecks:\n\n" + checks;
    if (const auto flags = bullets(verdict.value("flags", Json::array())); !flags.empty())
        text += "\nFlags:\n\n" + flags;
    if (const auto limits = bullets(verdict.value("unenforced", Json::array())); !limits.empty())
        text += "\nNot enforced while it was verified:\n\n" + limits;
    text.pop_back();
    return text;
}

std::string buildText(const Source &source, const std::string &hostProblem) {
    if (source.device == device::Kind::cpu)
        return "The kernels are CUDA C++ that was made for a CPU. They are built for one, "
               "translated by the workbench (`csrc/cpu`), with clang where there is one (g++ "
               "vectorises far less) and for the processor at hand; `PORTABLE_BUILD=1` leaves the "
               "latter out.";
    std::string text = fmt::format(
        "It is built for the GPUs that PyTorch sees, or for `TORCH_CUDA_ARCH_LIST`; the "
        "kernels were verified on {}. ",
        source.architecture.empty() ? "one kind only" : source.architecture);
    if (hostProblem.empty())
        return text +
               "On a machine without CUDA the same kernels are built for the CPU, translated "
               "by the workbench (`csrc/cpu`): right, but not made to be fast there.";
    return text +
           fmt::format("Without CUDA it is not built, for the kernels run on a GPU only ({}).",
                       hostProblem);
}

std::string sizesOf(const OperatorArgument &argument) {
    return fmt::format("`{}` {} [{}]", argument.name, nameOf(argument.type.dtype),
                       fmt::join(argument.type.shape, ", "));
}

std::string limitsText(const Source &source, const Interface &interface) {
    std::vector<std::string> sizes;
    for (const auto &argument : interface.arguments)
        if (argument.kind == OperatorArgument::Kind::input)
            sizes.push_back(sizesOf(argument));
    std::string text = fmt::format("Verified for {}. ", fmt::join(sizes, ", "));
    if (interface.conditions.empty()) {
        text += "Other sizes run the same kernels.";
    } else {
        text +=
            "Other sizes run the same kernels where this holds, and the reference otherwise:\n\n";
        for (const auto &condition : interface.conditions)
            text += fmt::format("- `{}` ({})\n", condition.expression, condition.message);
    }
    std::string symbols;
    for (const auto &[name, expression] : source.plan.symbols)
        symbols += fmt::format("{}`{} = {}`", symbols.empty() ? "" : ", ", name, expression.text());
    if (!symbols.empty() && !interface.conditions.empty())
        text += fmt::format("\nNames there: {}.\n", symbols);
    text += "\nThe tests try other sizes too; the verdict is about the verified ones alone.\n\n";
    text += "`Model` runs the reference, and warns once, in these cases too: its constructor was "
            "given other arguments than `get_init_inputs()`; it is in training mode and has layers "
            "that differ there; autocast is on; a tensor has another type or device. Attributes "
            "of the Model that are changed later are not noticed, and values that serve as an "
            "index are not checked.\n\n";
    if (interface.differentiable)
        text += "**The backward is PyTorch's.** There is no backward kernel: gradients come from "
                "running the reference once more and differentiating it.\n\n";
    else
        text += "The operator has no gradient.\n\n";
    std::vector<std::string> constants;
    for (const auto &argument : interface.arguments)
        if (argument.constant)
            constants.push_back(fmt::format("`{}`", argument.name));
    if (!constants.empty())
        text += fmt::format("Tensors that are neither parameters nor buffers ({}) are taken when a "
                            "`Model` is made: from its attributes, or, where `forward()` of the "
                            "reference makes them from numbers, from a `torch.export` of it, which "
                            "takes some seconds then. Gradients flow past them as they do in the "
                            "reference.\n\n",
                            fmt::join(constants, ", "));
    const bool library =
        std::any_of(source.plan.steps.begin(), source.plan.steps.end(), [](const auto &step) {
            return std::holds_alternative<plan::GemmStep>(step) ||
                   std::holds_alternative<plan::ConvolutionStep>(step);
        });
    if (library)
        text +=
            "Matrix products and convolutions of the plan are ATen's here (cuBLAS, cuDNN; "
            "oneDNN and BLAS on a CPU). Whether they use TF32 stands in the plan and is set for "
            "that step alone.\n\n";
    if (!source.overrides.empty()) {
        text += "Constants of the task were set to other values, in `reference.py` too:";
        for (const auto &[name, value] : source.overrides)
            text += fmt::format(" `{} = {}`", name, value);
        text += ".\n\n";
    }
    while (text.ends_with('\n'))
        text.pop_back();
    return text;
}

std::string filesText(const Source &source, const Interface &interface, bool host) {
    std::string text;
    const auto add = [&](const std::string &file, const std::string &what) {
        text += fmt::format("| `{}` | {} |\n", file, what);
    };
    for (const auto &kernel : source.plan.sources())
        add("csrc/kernels/" + (kernel.starts_with("kernels/") ? kernel.substr(8) : kernel),
            "kernels, unchanged");
    add("csrc/operator.cpp", "the launch plan as host code, and the operator's registration");
    add("csrc/plan_support.h", "what it is written with");
    if (source.device == device::Kind::cuda && !source.plan.sources().empty())
        add("csrc/cuda/", "how the kernels are started on a GPU");
    if (host && !source.plan.sources().empty())
        add("csrc/cpu/", "the kernels translated for a CPU, and what runs their threads there");
    add("src/" + interface.package + "/__init__.py", "`Model`, shapes for compilers, the backward");
    add("src/" + interface.package + "/reference.py", "the task");
    text.pop_back();
    return text;
}

} // namespace

Result<std::string> readmeFile(const Source &source, const Interface &interface,
                               const std::string &hostProblem) {
    return filledTemplate(
        "README.md.in",
        {{"PACKAGE", interface.package},
         {"SUMMARY", fmt::format("A PyTorch extension: the task `{}` as one operator with its own "
                                 "CUDA C++ kernels, exported by the CUDA Agent Workbench. "
                                 "It needs PyTorch and a compiler, nothing else.",
                                 source.task)},
         {"SCHEMA", interface.schema() + "`"},
         {"BUILD", buildText(source, hostProblem)},
         {"VERDICT", verdictText(source)},
         {"LIMITS", limitsText(source, interface)},
         {"FILES", filesText(source, interface, hostProblem.empty())}});
}

} // namespace cuda_agent::exporter
