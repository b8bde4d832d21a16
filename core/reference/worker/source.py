# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of a task file: parsing it, and overriding its module-level constants.

Knows nothing of torch, so that a file that is no Python is refused before torch is imported.
"""

import ast
import os
import traceback

from .protocol import task_error


class Source:
    """A parsed task file with overrides applied.

    A name can be set when a top-level statement assigns it an expression of literals, arithmetic
    and other such names: `batch_size = 4 * 1024`. The value is replaced in the syntax tree, before
    the statements that depend on it run; line numbers stay those of the file.
    """

    def __init__(self, path, overrides, text=None):
        self.path = path
        self.overrides = dict(overrides)
        self.label = os.path.basename(path)
        try:
            if text is None:
                with open(path, "rb") as file:
                    text = file.read()
            self.text = text
            self.tree = ast.parse(text, path)
        except SyntaxError as error:
            raise task_error(f"{self.label}:{error.lineno or 1}: not Python: {error.msg}",
                             error.lineno or 1)
        except (ValueError, RecursionError, MemoryError) as error:
            raise task_error(f"{self.label}:1: not Python: {error or type(error).__name__}", 1)
        except OSError as error:
            raise task_error(f"cannot read {self.label}: {error.strerror}")
        self.places = {}
        self.plain = set()
        for statement in self.tree.body:
            self._collect(statement)
        for name, text in overrides.items():
            self._override(name, text)

    def changed(self, name, text):
        """The same file, as it was read, with one more override."""
        return Source(self.path, self.overrides | {name: text}, self.text)

    def settable(self):
        return sorted(self.places)

    def code(self):
        return compile(ast.fix_missing_locations(self.tree), self.path, "exec")

    def _collect(self, statement):
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        else:
            return
        if not self._is_constant(statement.value):
            return
        for target in targets:
            if isinstance(target, ast.Name):
                self._add(target.id, statement, "value", statement.value)
            elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple) and \
                    len(targets) == 1 and len(target.elts) == len(statement.value.elts):
                for i, part in enumerate(target.elts):
                    if isinstance(part, ast.Name):
                        self._add(part.id, statement.value.elts, i, statement.value.elts[i])

    def _add(self, name, owner, key, value):
        self.places.setdefault(name, []).append((owner, key))
        if not any(isinstance(part, ast.Name) for part in ast.walk(value)):
            self.plain.add(name)

    def _is_constant(self, node, names=True):
        if isinstance(node, ast.Constant):
            return not isinstance(node.value, (bytes, type(...)))
        if isinstance(node, ast.Name):
            return names and node.id in self.places
        if isinstance(node, ast.UnaryOp):
            return self._is_constant(node.operand, names)
        if isinstance(node, ast.BinOp):
            return self._is_constant(node.left, names) and self._is_constant(node.right, names)
        if isinstance(node, (ast.Tuple, ast.List)):
            return all(self._is_constant(part, names) for part in node.elts)
        return False

    def _override(self, name, text):
        if name not in self.places:
            known = ", ".join(self.settable())
            raise task_error(f"{self.label} has no module-level constant '{name}'; " +
                             (f"--set can change {known}" if known else "it has none to set"))
        try:
            value = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            value = None
        if value is None or not self._is_constant(value, names=False):
            raise task_error(f"the value '{text}' of {name} is not a Python literal; write a "
                             f"number, a tuple or a quoted string, for example --set {name}=16")
        for owner, key in self.places[name]:
            if isinstance(owner, list):
                owner[key] = value
            else:
                setattr(owner, key, value)

    def line_of(self, error):
        """The deepest line of the task file in a traceback, or 0."""
        line = 0
        for frame, number in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename == self.path:
                line = number
        return line
