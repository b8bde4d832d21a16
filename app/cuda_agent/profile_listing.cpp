// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/profile_listing.h"

#include "core/plan/sources.h"

namespace cuda_agent::app {

namespace {

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

Result<std::vector<toolchain::Listing>> listingsOf(const plan::Candidate &candidate,
                                                   const device::Architecture &architecture,
                                                   toolchain::Code code, std::stop_token stop) {
    std::vector<toolchain::Listing> listings;
    for (const auto &source : plan::sourcesOf(candidate)) {
        CUDA_AGENT_ASSIGN(listed,
                          toolchain::listingOf(source, std::string(architecture.name), code, stop));
        if (auto *listing = std::get_if<toolchain::Listing>(&listed))
            listings.push_back(std::move(*listing));
    }
    return listings;
}

void print(const std::vector<toolchain::Listing> &listings, const plan::Candidate &candidate,
           const device::Architecture &architecture, toolchain::Code code, Printer &printer) {
    for (const auto &listing : listings) {
        const auto &source = listing.source;
        const auto lines = linesOf(candidate.files.at(source));
        for (const auto &function : listing.functions) {
            printer.line(fmt::format("\n{} on {}", function.name, architecture.name));
            int before = 0;
            for (const auto &instruction : function.instructions) {
                const int line = instruction.lineIn(source);
                if (line != before && line > 0 && static_cast<std::size_t>(line) < lines.size())
                    printer.line(fmt::format("{}:{}: {}", source, line,
                                             lines[static_cast<std::size_t>(line)]));
                before = line;
                printer.line(
                    code == toolchain::Code::ptx
                        ? fmt::format("    {:5}  {}", instruction.address, instruction.text)
                        : fmt::format("    {:5x}  {}", instruction.address, instruction.text));
            }
        }
    }
}

Json toJson(const std::vector<toolchain::Listing> &listings) {
    Json json = Json::array();
    for (const auto &listing : listings)
        for (const auto &function : listing.functions) {
            Json instructions = Json::array();
            for (const auto &each : function.instructions) {
                Json places = Json::array();
                for (const auto &place : each.places)
                    places.push_back({{"file", place.file}, {"line", place.line}});
                instructions.push_back({{"address", each.address},
                                        {"text", each.text},
                                        {"line", each.lineIn(listing.source)},
                                        {"places", std::move(places)}});
            }
            json.push_back({{"source", listing.source},
                            {"function", function.name},
                            {"instructions", std::move(instructions)}});
        }
    return json;
}

} // namespace cuda_agent::app
