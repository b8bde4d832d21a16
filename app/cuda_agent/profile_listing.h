// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cuda_agent/printer.h"

#include "core/plan/targets.h"
#include "core/toolchain/listing.h"

namespace cuda_agent::app {

/// What the compiler made of one kernel file.
struct Listing {
    std::string source; ///< "kernels/x.cu"
    std::vector<toolchain::ListedFunction> functions;
};

/// The instructions of a candidate's kernels on one architecture: `kind` is "sass" or "ptx".
/// Sources that do not compile are left out. Errors: machine (no nvdisasm, ...), stopped.
Result<std::vector<Listing>> listingsOf(const plan::Candidate &candidate,
                                        const plan::Target &target, const std::string &kind,
                                        std::stop_token stop);

/// Each instruction under the line of source that it was made from, with its address in
/// hexadecimal, of PTX with its line.
void print(const std::vector<Listing> &listings, const plan::Candidate &candidate,
           const plan::Target &target, const std::string &kind, Printer &printer);

/// [{"source", "function", "instructions": [{"address", "text", "line" (0: unknown), "places":
/// [{"file", "line"}]}]}]
Json toJson(const std::vector<Listing> &listings);

} // namespace cuda_agent::app
