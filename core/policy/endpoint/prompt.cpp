// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/endpoint/messages.h"

#include "core/base/tensor_type.h"
#include "core/tools/judge_summary.h"

#include <fmt/ranges.h>

namespace cuda_agent::policy {

namespace {

std::string typeText(const TensorType &type) {
    const auto order = memoryOrderOf(type);
    return fmt::format("{} [{}]{}", nameOf(type.dtype), fmt::join(type.shape, ", "),
                       order.empty() ? ""
                                     : fmt::format(", which lies in memory in the order [{}]",
                                                   fmt::join(order, ", ")));
}

void addPorts(std::string &text, const char *what, const std::vector<task::Port> &ports) {
    if (ports.empty())
        return;
    text += fmt::format("{}:\n", what);
    for (const auto &port : ports)
        text += fmt::format("- {}: {}\n", port.name, typeText(port.type));
}

} // namespace

std::string systemPrompt(const Context &context, const skills::SkillSet &skills) {
    const bool cuda = context.device.kind == device::Kind::cuda;
    std::string text = fmt::format(
        R"(You write fast CUDA kernels in place of a PyTorch module. You work in turns: say briefly what you think and what gain you expect, call tools, read what they answer.

The workspace is /workspace. model.py there is the task and is protected. You write a candidate: plan.json and the CUDA files that it names (kernels/*.cu). The plan says which buffers there are, how large they are, and which kernels and library steps (gemm, convolution) run over them; there is no host code. Read the skill "plan-candidates" before you write your first plan. Where a plan cannot express what is needed, write the published workspace instead: model_new.py, kernels/X.cu and kernels/X_binding.cpp (skill "module-candidates"); never both at once, so remove plan.json then. Its operators and kernels are recorded: PyTorch's own may not do the work.

Rules:
- The candidate computes what the module computes, for these inputs and for any others of the same shapes and dtypes: random, huge, tiny, NaN and Inf included. It is checked against a double precision oracle with the reference's own error as the measure.
- Work is done by your kernels. GEMM and convolution may be library steps; no other library, no framework operators.
- Inputs stay unchanged, outputs are written in full, nothing outside the buffers is touched.
- Numerics are '{}'{}.

Workflow: read model.py and the baselines; find out what bounds the task (memory traffic, operations, launches); write the simplest correct candidate that fuses everything; Compile; Verify; then improve one thing at a time, and say before each change what you expect of it. The aim is to be correct and more than 5 % faster than torch.compile, then to come close to the machine's limit. Before you end, Verify the best candidate with strength "full". To end, answer without calling a tool: one paragraph that says what made the best candidate fast, and what did not help. Later sessions read it.
)",
        task::nameOf(context.numerics),
        context.numerics == task::Numerics::standard
            ? ": fp32 products in fp32, convolutions in TF32 where the reference does so"
            : ": TF32 tensor cores are allowed for products");
    if (!cuda)
        text +=
            "\nThis machine has no GPU: the same CUDA C++ is compiled for the CPU and really run "
            "there. Times are CPU times. Barriers and warp operations are slow there; one "
            "thread a row with plain inner loops over contiguous data is fast. No tensor cores, "
            "inline PTX, cp.async or clusters.\n";
    if (const auto catalogue = skills.catalogue(); !catalogue.empty())
        text += "\nSkills (load one with the tool Skill when it fits what you are about to do):\n" +
                catalogue;
    return text;
}

std::string taskMessage(const Context &context, const std::string &source) {
    const auto &task = context.task;
    std::string text = fmt::format("The task, model.py:\n```python\n{}\n```\n", source);
    addPorts(text, "Inputs of forward(), by position", task.inputs);
    addPorts(text, "Parameters and constants, by key", task.parameters);
    std::vector<task::Port> outputs = task.outputs; // candidates may write them as they lie there
    for (std::size_t i = 0; i < outputs.size(); ++i)
        outputs[i].type =
            denseType(outputs[i].type.dtype, outputs[i].type.shape, task.graph.outputOrder(i));
    addPorts(text, "Outputs", outputs);
    const auto &device = context.device;
    text += fmt::format("Machine: {} ({}), {} {}, {} MiB cache", device.name, device.architecture,
                        device.multiprocessors,
                        device.kind == device::Kind::cuda ? "multiprocessors" : "hardware threads",
                        device.cacheBytes >> 20);
    if (device.sharedBytesPerBlock > 0)
        text +=
            fmt::format(", up to {} bytes of shared memory a block", device.sharedBytesPerBlock);
    text +=
        fmt::format("\nMeasured: copies {:.0f} GB/s", context.ceilings.copyBytesPerSecond / 1e9);
    if (context.ceilings.fp32FlopsPerSecond > 0)
        text += fmt::format(", fp32 products {:.1f} TFLOP/s",
                            context.ceilings.fp32FlopsPerSecond / 1e12);
    if (context.ceilings.tf32FlopsPerSecond > 0)
        text += fmt::format(", TF32 products {:.1f} TFLOP/s",
                            context.ceilings.tf32FlopsPerSecond / 1e12);
    if (context.ceilings.halfFlopsPerSecond > 0)
        text += fmt::format(", 16-bit products {:.1f} TFLOP/s",
                            context.ceilings.halfFlopsPerSecond / 1e12);
    if (context.ceilings.launchSeconds > 0)
        text += fmt::format(", a launch takes {:.1f} us", context.ceilings.launchSeconds * 1e6);
    for (const auto &level : context.ceilings.levels)
        text += fmt::format(", {} reads {:.0f} GB/s", level.name, level.bytesPerSecond / 1e9);
    text += fmt::format("\nThe task moves {:.2f} MB at least",
                        static_cast<double>(task.countedBytes) / 1e6);
    if (task.matmulFlops + task.convolutionFlops > 0)
        text += fmt::format(" and needs {:.2f} GFLOP in products",
                            (task.matmulFlops + task.convolutionFlops) / 1e9);
    text += "\nBaselines:";
    for (const auto &[name, value] : context.baselines.items())
        if (value.is_object() && value.contains("seconds"))
            text +=
                fmt::format(" {} {};", name, tools::formatSeconds(value["seconds"].get<double>()));
    text += fmt::format("\nYou have {} turns at most.\n", context.turnLimit);
    if (!context.knowledge.empty())
        text += "\n" + context.knowledge + "\n";
    if (context.attempts > 1)
        text += fmt::format("\nThis is attempt {} of {} at this task, each on its own; the best "
                            "candidate of all counts. {}\n",
                            context.attempt, context.attempts,
                            context.attempt == 1
                                ? "Take the way that promises most."
                                : "Others take the obvious way: look for one that differs in kind "
                                  "(how work is cut into kernels and shared out, what stays on "
                                  "chip, which instructions do it).");
    return text;
}

} // namespace cuda_agent::policy
