// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "binding_registry.h"

namespace cuda_agent_extension {

std::vector<Register> &registered() {
    static std::vector<Register> functions;
    return functions;
}

} // namespace cuda_agent_extension

PYBIND11_MODULE(cuda_extension, module) {
    for (const auto function : cuda_agent_extension::registered())
        function(module);
}
