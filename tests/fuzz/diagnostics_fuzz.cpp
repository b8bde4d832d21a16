// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What compilers print about a candidate's source, much of which is the source's own text.

#include "core/modules/ptxas.h"
#include "core/toolchain/diagnostic.h"
#include "tests/fuzz/fuzz.h"

using namespace cuda_agent;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto text = fuzz::textOf(data, size);
    for (const auto &each : toolchain::parseDiagnostics(text)) {
        fuzz::require(each.line >= 0 && each.column >= 0, "places count from one");
        fuzz::require(each.severity == "error" || each.severity == "warning" ||
                          each.severity == "note",
                      "there are three severities");
        fuzz::require(each.file.find('\n') == std::string::npos, "a file's name is one line");
        (void)toolchain::toJson(each).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    for (const auto &entry : modules::entriesFromPtxas(text))
        fuzz::require(!entry.name.empty(), "a kernel has a name");
    (void)modules::readableKernel(std::string(text));
    return 0;
}
