// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/export/interface.h"

#include <map>
#include <string>
#include <vector>

// The parts of an extension that are written from the plan, one function a file.

namespace cuda_agent::exporter {

/// The two lines that every file which the export writes begins with; `mark` is "//" or "#".
std::string head(const char *mark);

/// How one kernel is started: its entry and the types of its arguments, as the plan gives them.
struct Start {
    std::string source;
    std::string entry;
    std::vector<plan::Argument::Kind> kinds;
    std::vector<std::string> names; ///< of the buffers; "argument2" for numbers
    /// "const void *in0, int32_t argument1"
    std::string parameters() const;
    std::string arguments() const; ///< "in0, argument1"
};
/// Each entry with each way in which it is called, in order of use.
/// Errors: request, when two kernel files have the same entry.
Result<std::vector<Start>> startsOf(const plan::Plan &plan);

/// csrc/operator.cpp: the plan as host code. Errors: machine (a template is missing).
Result<std::string> operatorFile(const Source &source, const Interface &interface);
/// csrc/kernels.h: declarations of start_<entry>().
std::string kernelsHeader(const std::vector<Start> &starts);
/// csrc/cuda/<name>.cu: a kernel file with its start functions, compiled by nvcc.
std::string cudaFile(const Source &source, const std::string &kernel,
                     const std::vector<Start> &starts);
/// csrc/cpu/start.cpp: the start functions of all kernels that were translated for the host.
std::string hostStarts(const std::vector<Start> &starts);
/// csrc/cpu/<name>.cpp: a kernel file translated for the host. Errors: failed, with the reason.
Result<std::string> hostFile(const Source &source, const std::string &kernel);

/// <package>/__init__.py. Errors: machine (a template is missing).
Result<std::string> packageFile(const Source &source, const Interface &interface);
/// README.md; `hostProblem` as in Extension. Errors: machine (a template is missing).
Result<std::string> readmeFile(const Source &source, const Interface &interface,
                               const std::string &hostProblem);

/// "kernels/row/soft max.cu" -> "kernels_row_soft_max".
std::string stemOf(const std::string &kernel);
/// A number as C++ of the type of `kind`, or of double.
std::string numberText(plan::Argument::Kind kind, double value);
/// Text as a literal of C++ or Python.
std::string literalOf(const std::string &text);
/// "at::kFloat", "torch.float32".
std::string typeText(DType type, Language language);

} // namespace cuda_agent::exporter
