// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// For kernels/X_binding.cpp:
//
//   static void registerX(pybind11::module &m) { m.def("x", &x); }
//   REGISTER_BINDING(X, registerX);
//
// All registered functions end up in the Python module `cuda_extension`.

#include <pybind11/pybind11.h>

#include <vector>

namespace cuda_agent_extension {

using Register = void (*)(pybind11::module &);

/// The functions to call when the module is made, in no particular order.
std::vector<Register> &registered();

struct Registrar {
    explicit Registrar(Register function) { registered().push_back(function); }
};

} // namespace cuda_agent_extension

#define REGISTER_BINDING(name, function)                                                           \
    static const ::cuda_agent_extension::Registrar cuda_agent_registrar_##name(function)
