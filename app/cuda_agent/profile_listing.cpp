// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/profile_listing.h"

#include "core/plan/sources.h"
#include "core/toolchain/ptx.h"
#include "core/toolchain/sass.h"

namespace cuda_agent::app {

namespace {

Result<std::vector<toolchain::ListedFunction>>
ptxOf(const toolchain::Source &source, const plan::Target &target, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(made, toolchain::translateToPtx(
                                source, std::string(target.architecture->name), std::move(stop)));
    if (const auto *ptx = std::get_if<std::string>(&made))
        return toolchain::parsePtx(*ptx, source.path);
    return std::vector<toolchain::ListedFunction>();
}

/// The lines of a text, the first at 1.
std::vector<std::string_view> linesOf(std::string_view text) {
    std::vector<std::string_view> lines{{}};
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return lines;
}

} // namespace

Result<std::vector<Listing>> listingsOf(const plan::Candidate &candidate,
                                        const plan::Target &target, const std::string &kind,
                                        std::stop_token stop) {
    std::vector<Listing> listings;
    for (const auto &source : plan::sourcesOf(candidate)) {
        const auto binary = target.binaries.find(source.path);
        if (binary == target.binaries.end())
            continue;
        auto functions = kind == "ptx" ? ptxOf(source, target, stop)
                                       : toolchain::disassemble(binary->second, source.path, stop);
        if (!functions)
            return tl::unexpected(std::move(functions).error());
        listings.push_back({source.path, std::move(*functions)});
    }
    return listings;
}

void print(const std::vector<Listing> &listings, const plan::Candidate &candidate,
           const plan::Target &target, const std::string &kind, Printer &printer) {
    for (const auto &[source, functions] : listings) {
        const auto lines = linesOf(candidate.files.at(source));
        for (const auto &function : functions) {
            printer.line(fmt::format("\n{} on {}", function.name, target.architecture->name));
            int before = 0;
            for (const auto &instruction : function.instructions) {
                const int line = instruction.lineIn(source);
                if (line != before && line > 0 && static_cast<std::size_t>(line) < lines.size())
                    printer.line(fmt::format("{}:{}: {}", source, line,
                                             lines[static_cast<std::size_t>(line)]));
                before = line;
                printer.line(
                    kind == "ptx"
                        ? fmt::format("    {:5}  {}", instruction.address, instruction.text)
                        : fmt::format("    {:5x}  {}", instruction.address, instruction.text));
            }
        }
    }
}

Json toJson(const std::vector<Listing> &listings) {
    Json json = Json::array();
    for (const auto &[source, functions] : listings)
        for (const auto &function : functions) {
            Json instructions = Json::array();
            for (const auto &each : function.instructions) {
                Json places = Json::array();
                for (const auto &place : each.places)
                    places.push_back({{"file", place.file}, {"line", place.line}});
                instructions.push_back({{"address", each.address},
                                        {"text", each.text},
                                        {"line", each.lineIn(source)},
                                        {"places", std::move(places)}});
            }
            json.push_back({{"source", source},
                            {"function", function.name},
                            {"instructions", std::move(instructions)}});
        }
    return json;
}

} // namespace cuda_agent::app
