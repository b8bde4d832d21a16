// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// PTX, disassemblies and what the assembler says about them: made of a candidate's source, whose
// inline assembly stands in them as it was written.

#include "core/toolchain/diagnostic.h"
#include "core/toolchain/nvrtc_worker/ptx_lines.h"
#include "core/toolchain/ptx.h"
#include "core/toolchain/sass.h"
#include "tests/fuzz/fuzz.h"

using namespace cuda_agent;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto text = fuzz::textOf(data, size);
    for (const auto &functions :
         {toolchain::parsePtx(text, "kernels/a.cu"), toolchain::parseSass(text, "kernels/a.cu")})
        for (const auto &function : functions)
            for (const auto &instruction : function.instructions) {
                fuzz::require(!instruction.text.empty(), "an instruction has a text");
                fuzz::require(instruction.places.size() <= 64, "inlining has an end");
                for (const auto &place : instruction.places)
                    fuzz::require(place.line > 0, "lines count from one");
            }
    // A log that asks for lines of the text, behind its first empty line.
    const auto middle = text.find("\n\n");
    const auto log = text.substr(0, middle);
    const auto ptx = middle == text.npos ? text : text.substr(middle + 2);
    for (const auto &each :
         toolchain::parseDiagnostics(toolchain::withSourceLines(log, ptx, "kernels/a.cu")))
        fuzz::require(each.line >= 0 && each.column >= 0, "places count from one");
    return 0;
}
