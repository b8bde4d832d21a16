# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task may have left behind in its process, put back before the next one.

That is for tasks that are careless. One that is malicious can change what it likes; the engine
gives those that a language model wrote a process of their own.
"""

import gc
import os
import random
import signal
import sys
import warnings

import torch


class State:
    """The process as it was when this was made."""

    def __init__(self):
        self.modules = 0
        self._collect()
        self.folder = os.getcwd()
        self.environment = dict(os.environ)
        self.path = list(sys.path)
        self.recursion = sys.getrecursionlimit()
        self.threads = torch.get_num_threads()
        self.matmul = torch.get_float32_matmul_precision()
        self.hooks = {name: dict(value) for name, value in self._hooks()}
        cudnn = torch.backends.cudnn
        self.cudnn = {name: getattr(cudnn, name)
                      for name in ("enabled", "benchmark", "deterministic", "allow_tf32")}

    def restore(self):
        signal.alarm(0)
        os.chdir(self.folder)
        if dict(os.environ) != self.environment:
            os.environ.clear()
            os.environ.update(self.environment)
        sys.path[:] = self.path
        sys.setrecursionlimit(self.recursion)
        sys.modules.pop("task", None)
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        random.seed(0)
        torch.manual_seed(0)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.use_deterministic_algorithms(False)
        torch.set_anomaly_enabled(False)
        torch.set_float32_matmul_precision(self.matmul)
        for name, value in self.cudnn.items():
            setattr(torch.backends.cudnn, name, value)
        if torch.get_num_threads() != self.threads:
            torch.set_num_threads(self.threads)
        for name, value in self._hooks():
            if value != self.hooks[name]:
                value.clear()
                value.update(self.hooks[name])
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
        self._collect()

    def _collect(self):
        # Modules stay once they are there; collecting is then a matter of what tasks made.
        gc.collect()
        if len(sys.modules) > self.modules:
            gc.freeze()
            self.modules = len(sys.modules)

    @staticmethod
    def _hooks():
        """Hooks of all modules, as torch.nn.modules.module.register_module_*_hook() adds."""
        table = torch.nn.modules.module.__dict__
        return [(name, value) for name, value in table.items()
                if name.startswith("_global_") and name.endswith("hooks")]
