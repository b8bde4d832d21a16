# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which public operators a task calls, told by running it."""

import sys

from torch.overrides import TorchFunctionMode

from maker.names import canonical_name, module_name


class Recorder(TorchFunctionMode):
    """While it is active, `names` grows by the canonical name of each outermost public call.

    What a module of torch.nn or of transformers calls inside is that module's; the task's own
    modules and containers are looked into. A function that calls others counts once, and one of
    transformers that goes on with what a module of transformers gave (apply_rotary_pos_emb) is that
    module's. One thread, one model; after an exception it may be used again."""

    def __init__(self, model=None):
        super().__init__()
        self.names = []
        self.model = model
        self.inside = 0
        self.hooks = []

    def __enter__(self):
        self.names, self.inside = [], 0
        for module in self.model.modules() if self.model is not None else ():
            if module_name(module):
                self.hooks += [module.register_forward_pre_hook(self.entered, prepend=True),
                               module.register_forward_hook(self.left, always_call=True)]
        return super().__enter__()

    def __exit__(self, *exception):
        for hook in self.hooks:
            hook.remove()
        self.hooks = []
        return super().__exit__(*exception)

    def entered(self, module, inputs):
        if not self.inside:
            self.names.append(module_name(module))
        self.inside += 1

    def left(self, module, inputs, outputs):
        self.inside -= 1

    def goes_on(self, frame):
        """Whether a function of transformers calls, right after a module of transformers."""
        if not self.names or not self.names[-1].startswith("transformers."):
            return False
        while frame is not None:
            package = str(frame.f_globals.get("__name__")).split(".")[0]
            if package not in ("torch", "maker"):  # of PyTorch's own, in Python; of a Recorder
                return package == "transformers"
            frame = frame.f_back
        return False

    def __torch_function__(self, func, types, args=(), kwargs=None):
        # PyTorch keeps the mode off in here: what `func` calls inside is not seen.
        if not self.inside and not self.goes_on(sys._getframe(1)):
            name = canonical_name(func)
            if name:
                self.names.append(name)
        return func(*args, **(kwargs or {}))
