// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/modules/candidate.h"
#include "core/toolchain/compiler.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::modules {

/// What a candidate may use beside its own kernels. Names as on the command line.
enum class Rules {
    published,  ///< no framework operators; cuBLAS for products, cuDNN for convolutions
    kernelbench ///< what that benchmark allows; what looks odd becomes a flag
};
std::string_view nameOf(Rules rules); ///< "published", "kernelbench"
Result<Rules> rulesFromName(std::string_view name);

/// Whether a candidate of this form can be judged on that device under these rules.
/// Errors: request, with what to do instead.
Result<void> checkForm(const Candidate &candidate, Rules rules, device::Kind device);

/// What ran during one call of a candidate, as its process recorded it: operators by a dispatch
/// mode (calls from Python and from C++ alike), kernels by CUPTI activity on cuda.
struct Audit {
    struct Operator {
        std::string name; ///< "aten.mm.default"
        int calls = 0;
        bool own = false; ///< registered by the candidate, not by PyTorch
    };
    struct Kernel {
        std::string name; ///< demangled
        int calls = 0;
        double seconds = 0;
    };
    std::vector<Operator> operators;
    std::optional<std::vector<Kernel>> kernels; ///< absent where nothing could be recorded
    std::string kernelsProblem;                 ///< why, on cuda

    /// What they took together, on all streams; none where nothing could be recorded.
    std::optional<double> kernelSeconds() const;
};
/// Errors: failed; the process is not trusted.
Result<Audit> auditFromJson(const Json &json);
Json toJson(const Audit &audit);

/// Whether the sources name cuBLAS or cuDNN, which may do products and convolutions.
bool namesLibraries(const Candidate &candidate);

/// What the names that a candidate's library wants from others say: machinery (imports.h) and
/// operators of PyTorch's that do work.
std::vector<std::string> suspiciousImports(const std::vector<std::string> &names);

/// What the rules say about an audit.
struct Finding {
    std::string refused;            ///< one sentence, or empty
    std::vector<std::string> flags; ///< suspicions
};
/// `own`: the kernels that the engine compiled, empty for single files.
/// Allowed under `published`: making tensors, views, `.contiguous()`, and library kernels for
/// products and convolutions where the candidate's sources name cuBLAS or cuDNN.
Finding judgeOrigin(Rules rules, const Audit &audit, const Candidate &candidate,
                    const std::vector<toolchain::EntryInfo> &own);

} // namespace cuda_agent::modules
