// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/sass.h"

#include "core/base/paths.h"
#include "core/sandbox/sandbox.h"
#include "core/toolchain/ptx_places.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace cuda_agent::toolchain {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t outputLimit = 64ull << 20;
constexpr const char *insideProgram = "/disassembler/nvdisasm";
constexpr const char *insideCubin = "/cubin/kernel.cubin";

bool take(std::string_view &text, std::string_view what) {
    if (!text.starts_with(what))
        return false;
    text.remove_prefix(what.size());
    return true;
}

/// `File "F", line N inlined at ...`: the first of the places.
std::optional<SourcePlace> readPlace(std::string_view text, std::string_view source) {
    text = withoutSpace(text);
    if (!take(text, "File \""))
        return {};
    const auto end = text.find('"');
    if (end == text.npos)
        return {};
    auto file = text.substr(0, end);
    text.remove_prefix(end + 1);
    SourcePlace place;
    if (!take(text, ", line "))
        return {};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), place.line);
    if (error != std::errc() || place.line < 1)
        return {};
    place.file = isPathOf(file, source) ? source : file;
    return place;
}

/// `/*01a0*/   INSTRUCTION ;`
std::optional<ListedInstruction> readInstruction(std::string_view line) {
    if (!take(line, "/*"))
        return {};
    const auto end = line.find("*/");
    if (end == line.npos || end == 0)
        return {};
    ListedInstruction instruction;
    const auto [stop, error] =
        std::from_chars(line.data(), line.data() + end, instruction.address, 16);
    if (error != std::errc() || stop != line.data() + end)
        return {};
    auto text = line.substr(end + 2);
    text = withoutSpace(text.substr(0, text.rfind(';')));
    if (text.empty())
        return {};
    instruction.text = text;
    return instruction;
}

} // namespace

std::vector<ListedFunction> parseSass(std::string_view text, std::string_view source) {
    std::vector<ListedFunction> functions;
    std::vector<SourcePlace> places;
    bool fresh = true; // the next place begins anew
    constexpr std::string_view section = ".section\t.text.";
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = withoutSpace(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        auto rest = line;
        if (take(rest, section)) {
            functions.push_back({std::string(rest.substr(0, rest.find(','))), {}});
            places.clear();
            fresh = true;
        } else if (take(rest, "//##")) {
            auto place = readPlace(rest, source);
            if (!place)
                continue;
            if (std::exchange(fresh, false))
                places.clear();
            places.push_back(std::move(*place));
        } else if (auto instruction = readInstruction(line); instruction && !functions.empty()) {
            instruction->places = places; // those of the one before where none is said
            functions.back().instructions.push_back(std::move(*instruction));
            fresh = true;
        }
    }
    return functions;
}

Result<fs::path> findDisassembler() {
    std::vector<fs::path> folders;
    if (const auto toolkit = cudaToolkitDir(); !toolkit.empty())
        folders.push_back(toolkit / "bin");
    folders.emplace_back("/usr/local/cuda/bin");
    std::error_code error;
    const auto environment = pythonProgram().parent_path().parent_path();
    for (const auto &python : fs::directory_iterator(environment / "lib", error))
        for (const char *where : {"nvidia/cu13/bin", "triton/backends/nvidia/bin"})
            folders.push_back(python.path() / "site-packages" / where);
    for (const auto &folder : folders)
        if (fs::is_regular_file(folder / "nvdisasm", error))
            return fs::canonical(folder / "nvdisasm", error);
    return machineError("nvdisasm is not there, in the CUDA toolkit or beside PyTorch; run {}",
                        setupCommand());
}

Result<std::vector<ListedFunction>> disassemble(const fs::path &cubin, std::string_view source,
                                                std::stop_token stop) {
    CUDA_AGENT_ASSIGN(program, findDisassembler());
    sandbox::Policy policy;
    policy.name = "disassembler";
    policy.mounts = {{program, insideProgram}, {cubin, insideCubin}};
    policy.limits.wall = 60'000ms;
    policy.limits.memoryBytes = 2ull << 30;
    policy.limits.processes = 16;
    policy.limits.scratchBytes = 64ull << 20;
    policy.limits.outputBytes = outputLimit;
    CUDA_AGENT_ASSIGN(record, sandbox::run(policy, {insideProgram, "-c", "-gi", insideCubin}, {},
                                           std::move(stop)));
    if (!record.clean())
        return machineError("nvdisasm cannot read {}: {} {}", cubin.string(), record.summary(),
                            record.standardError.substr(0, 400));
    return parseSass(record.standardOutput, source);
}

} // namespace cuda_agent::toolchain
