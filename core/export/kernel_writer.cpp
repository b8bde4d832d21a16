// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/writers.h"

#include "core/base/names.h"
#include "core/base/paths.h"
#include "core/toolchain/host/rewriter.h"

#include <algorithm>
#include <filesystem>
#include <regex>

namespace cuda_agent::exporter {

namespace {

using Kind = plan::Argument::Kind;

std::string definesOf(const plan::Plan &plan) {
    std::string text;
    for (const auto &[name, value] : plan.defines)
        text += fmt::format("#define {} {}\n", name, value);
    return text.empty() ? text : "// The launch plan's macros.\n" + text;
}

const char *typeOf(Kind kind) {
    switch (kind) {
    case Kind::buffer:
        return "const void *";
    case Kind::int32:
        return "int32_t ";
    case Kind::int64:
        return "int64_t ";
    case Kind::float32:
        return "float ";
    case Kind::float64:
        break;
    }
    return "double ";
}

std::vector<std::string> entriesOf(const std::string &kernel, const std::vector<Start> &starts) {
    std::vector<std::string> entries;
    for (const auto &start : starts)
        if (start.source == kernel &&
            std::find(entries.begin(), entries.end(), start.entry) == entries.end())
            entries.push_back(start.entry);
    return entries;
}

/// `#include <cuda_fp16.h>` of the kernel means the header that came along.
Result<std::string> withOwnHeaders(const std::string &text) {
    const auto folder = shareDir() / "host-cuda";
    static const std::regex include("(^|\n)([ \t]*#[ \t]*include[ \t]*)[<\"]([^>\"\n]+)[>\"]");
    std::string result;
    auto rest = text.cbegin();
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
        result.append(rest, (*it)[0].first);
        rest = (*it)[0].second;
        const std::string name = (*it)[3];
        std::error_code ignored;
        const bool ours = std::filesystem::is_regular_file(folder / name, ignored);
        result += ours ? fmt::format("{}{}\"include/{}\"", (*it)[1].str(), (*it)[2].str(), name)
                       : (*it)[0].str();
    }
    result.append(rest, text.cend());
    return result;
}

} // namespace

std::string Start::parameters() const {
    std::string text;
    for (std::size_t i = 0; i < kinds.size(); ++i)
        text += fmt::format(", {}{}", typeOf(kinds[i]), names[i]);
    return text;
}

std::string Start::arguments() const {
    std::string text;
    for (const auto &name : names)
        text += ", " + name;
    return text;
}

Result<std::vector<Start>> startsOf(const plan::Plan &plan) {
    std::vector<Start> starts;
    for (const auto &step : plan.steps) {
        const auto *kernel = std::get_if<plan::KernelStep>(&step);
        if (!kernel)
            continue;
        Start start{kernel->source, kernel->entry, {}, {}};
        std::set<std::string> taken{"launch", kernel->entry};
        for (std::size_t i = 0; i < kernel->arguments.size(); ++i) {
            const auto &argument = kernel->arguments[i];
            start.kinds.push_back(argument.kind);
            std::string name = argument.kind == Kind::buffer ? argument.buffer : "";
            if (name.empty() || isReserved(name) || !taken.insert(name).second)
                name = fmt::format("argument{}", i);
            start.names.push_back(std::move(name));
        }
        bool known = false;
        for (const auto &other : starts) {
            if (other.entry != start.entry)
                continue;
            if (other.source != start.source)
                return requestError("the kernel '{}' is in '{}' and in '{}'; give one of them "
                                    "another name, for an extension links both together",
                                    start.entry, other.source, start.source);
            known = known || other.kinds == start.kinds;
        }
        if (!known)
            starts.push_back(std::move(start));
    }
    return starts;
}

std::string stemOf(const std::string &kernel) {
    return nameFrom(kernel.substr(0, kernel.size() - 3)); // without ".cu"
}

std::string kernelsHeader(const std::vector<Start> &starts) {
    std::string text = head("//") + R"cpp(#pragma once

// The kernels as host code starts them: one function a kernel. Numbers have the widths that the
// launch plan gives them.

#include <cstddef>
#include <cstdint>

/// Sizes of a launch and where it runs.
struct Launch {
    unsigned grid[3] = {1, 1, 1};
    unsigned block[3] = {1, 1, 1};
    size_t shared = 0; ///< dynamic shared memory in bytes
    unsigned cluster[3] = {1, 1, 1};
    void *stream = nullptr; ///< a cudaStream_t; without meaning on a CPU
};
)cpp";
    std::string last;
    for (const auto &start : starts) {
        if (start.source != last)
            text += fmt::format("\n// {}\n", start.source);
        last = start.source;
        text += fmt::format("void start_{}(const Launch &launch{});\n", start.entry,
                            start.parameters());
    }
    return text;
}

std::string cudaFile(const Source &source, const std::string &kernel,
                     const std::vector<Start> &starts) {
    std::string text =
        head("//") + fmt::format("\n// {} as it is, and how its kernels are started.\n\n{}{}"
                                 "#include \"../kernels/{}\"\n\n"
                                 "#include \"../cuda_launch.h\"\n#include \"../kernels.h\"\n",
                                 kernel, definesOf(source.plan),
                                 source.plan.defines.empty() ? "" : "\n",
                                 kernel.starts_with("kernels/") ? kernel.substr(8) : kernel);
    for (const auto &start : starts)
        if (start.source == kernel)
            text += fmt::format("\nvoid start_{0}(const Launch &launch{1}) {{\n"
                                "    startKernel(\"{0}\", {0}, launch{2});\n}}\n",
                                start.entry, start.parameters(), start.arguments());
    return text;
}

std::string hostStarts(const std::vector<Start> &starts) {
    std::string text = head("//") + "\n// Starts the kernels that were translated for the host.\n\n"
                                    "#include \"../kernels.h\"\n#include \"host_launch.h\"\n\n";
    std::set<std::string> declared;
    for (const auto &start : starts)
        if (declared.insert(start.entry).second)
            text += fmt::format(
                "extern \"C\" int cuda_agent_launch_{}(const CudaAgentHostLaunch *launch);\n",
                start.entry);
    for (const auto &start : starts)
        text += fmt::format("\nvoid start_{0}(const Launch &launch{1}) {{\n"
                            "    startOnHost(\"{0}\", cuda_agent_launch_{0}, launch{2});\n}}\n",
                            start.entry, start.parameters(), start.arguments());
    return text;
}

Result<std::string> hostFile(const Source &source, const std::string &kernel) {
    CUDA_AGENT_ASSIGN(starts, startsOf(source.plan));
    toolchain::Source unit;
    unit.path = kernel;
    unit.text = source.kernels.at(kernel);
    unit.entries = entriesOf(kernel, starts);
    unit.defines = source.plan.defines;
    auto rewritten = toolchain::host::rewrite(unit);
    if (const auto *problems = std::get_if<std::vector<toolchain::Diagnostic>>(&rewritten)) {
        const auto &first = problems->front();
        return failedError("{}:{}: {}", kernel, first.line, first.message);
    }
    std::string text = std::get<toolchain::host::Rewritten>(rewritten).text;
    // The table of entries is for loading at run time; here the linker finds them.
    text.resize(std::min(text.rfind("__CAH_LIBRARY_BEGIN\n"), text.size()));
    CUDA_AGENT_ASSIGN(localized, withOwnHeaders(text));
    std::string before = "#include \"include/cuda_agent_host.h\"\n";
    for (const char *header : {"cuda_fp16.h", "cuda_bf16.h"})
        if (unit.text.find(header) != std::string::npos)
            before += fmt::format("#include \"include/{}\"\n", header);
    return fmt::format("{}\n// {} translated for the host: kernels are loops or fibers over their "
                       "threads.\n\n{}\n{}{}\n{}",
                       head("//"), kernel, before, definesOf(source.plan),
                       source.plan.defines.empty() ? "" : "\n", localized);
}

} // namespace cuda_agent::exporter
