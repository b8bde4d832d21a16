// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "app/cuda_agent/printer.h"

#include "core/device/architectures.h"
#include "core/plan/runner.h"
#include "core/toolchain/listing_of.h"

namespace cuda_agent::app {

/// The instructions of a candidate's kernels on one architecture. Sources that do not compile are
/// left out. Errors: machine (no nvdisasm, ...), stopped.
Result<std::vector<toolchain::Listing>> listingsOf(const plan::Candidate &candidate,
                                                   const device::Architecture &architecture,
                                                   toolchain::Code code, std::stop_token stop);

/// Each instruction under the line of source that it was made from, with its address in
/// hexadecimal, of PTX with its line.
void print(const std::vector<toolchain::Listing> &listings, const plan::Candidate &candidate,
           const device::Architecture &architecture, toolchain::Code code, Printer &printer);

/// [{"source", "function", "instructions": [{"address", "text", "line" (0: unknown), "places":
/// [{"file", "line"}]}]}]
Json toJson(const std::vector<toolchain::Listing> &listings);

} // namespace cuda_agent::app
