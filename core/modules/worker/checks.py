# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The library that looks at every access of kernels on the CPU device (libcuda-agent-host-checked.so,
core/plan/runner/sanit_module.cpp)."""

import ctypes
import json


class Checks:
    """`library`: the loaded one."""

    def __init__(self, library):
        self.library = library
        library.cuda_agent_check_report.restype = ctypes.c_char_p

    def memory(self, name, tensor, written):
        """Kernels may use what a tensor spans, and write it if `written`."""
        self.library.cuda_agent_check_memory(*self._piece(name, tensor), int(not written))

    def output(self, name, tensor):
        """Elements that nobody wrote are a finding. Of tensors with gaps nothing is said."""
        if tensor.is_contiguous():
            self.library.cuda_agent_check_output(*self._piece(name, tensor))

    def stopped(self):
        """Whether a check has ended a kernel."""
        return bool(self.library.cuda_agent_check_stopped())

    def findings(self):
        """As `Checker::report` has them."""
        return json.loads(self.library.cuda_agent_check_report())

    @staticmethod
    def _piece(name, tensor):
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
        span = (last + 1) * tensor.element_size() if tensor.numel() else 0
        return (name.encode(), ctypes.c_void_p(tensor.data_ptr()), ctypes.c_uint64(span),
                ctypes.c_uint(tensor.element_size()))
