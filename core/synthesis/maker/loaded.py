# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task under test: the whole one and the small one, both from the same text."""

import ast
import linecache
import sys

from maker.rejected import Rejected, rejection
from worker.loader import Task
from worker.protocol import WorkerError
from worker.source import Source

# A task of a set is for itself: it reads no file, asks no clock, knows no machine.
PACKAGES = {"torch", "transformers", "numpy", "einops", "math", "typing", "collections",
            "functools", "itertools", "dataclasses", "abc", "enum", "operator", "copy", "warnings",
            "numbers", "random", "__future__"}


class HeldTask(Task):
    """A task that draws the inputs of some seeds once. They are never changed: a forward() that
    changes its inputs is refused before anything else is done with them."""

    def __init__(self, source, device):
        self.held = {}
        super().__init__(source, device)

    def hold(self, seed):
        if seed not in self.held:
            self.held[seed] = super().draw(seed)
        return self.draw(seed)

    def draw(self, seed):
        return list(self.held[seed]) if seed in self.held else super().draw(seed)

    def draw_anew(self, seed):
        return super().draw(seed)

    def finish(self):
        """A call is over when its outcome is read: a process that waits has its turn at the device
        taken by others. What fails there is then told by the call that reads."""


class Loaded:
    """Holds the models on the device until drop(). Raises Rejected."""

    def __init__(self, path, text, overrides, device):
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        linecache.checkcache(path)  # the task before had the same name
        self.device = device
        self.compiled = None  # the whole one's model, once it was compiled
        try:
            source = Source(path, {}, text)
            check_imports(source)
            self.small = self._small(path, text, overrides) if overrides else None
            self.whole = HeldTask(source, device)
        except WorkerError as error:
            if error.kind != "request":
                raise
            raise rejection(error) from error
        if self.small is None:
            self.small = self.whole

    def _small(self, path, text, overrides):
        """None where the constants cannot be changed so: then the whole one stands for it."""
        try:
            return HeldTask(Source(path, overrides, text), self.device)
        except WorkerError as error:
            if error.restart:
                raise
            return None

    def by_the_small(self, function):
        """What `function` says of the small task, or of the whole one where that does not run made
        small; it stands for the small one from then on."""
        if self.small is not self.whole:
            try:
                return function(self.small)
            except (WorkerError, Rejected) as error:
                if error.restart:
                    raise
                self.small = self.whole
        return function(self.whole)

    def drop(self):
        self.small = self.whole = self.compiled = None
        sys.modules.pop("task", None)


def check_imports(source):
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = ["." if node.level else node.module]
        else:
            continue
        for name in names:
            if name.split(".")[0] not in PACKAGES:
                raise Rejected("imports", f"{source.label}:{node.lineno}: imports {name}")
