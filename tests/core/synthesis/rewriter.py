# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a task differently without changing what it computes: for tests of the screen.

rewrite() gives every variable, attribute, parameter, constant and helper another name, drops
comments, docstrings, annotations and blank lines, brings the constants into another order, changes
large sizes, imports in another way, and spells operators otherwise: modules of activations as
functions, functions as methods.
"""

import ast
import builtins

KEPT = {"Model", "forward", "get_inputs", "get_init_inputs", "self", "super"} | set(dir(builtins))
ACTIVATIONS = {"ReLU": "relu", "Sigmoid": "sigmoid", "Tanh": "tanh"}
METHODS = {"relu", "sigmoid", "tanh", "abs", "matmul", "clamp", "logsumexp", "cumsum", "softmax"}


def rewrite(code):
    tree = ast.parse(code)
    aliases = imported(tree)
    tree = Spelling(aliases).visit(tree)
    tree = Renaming(own_names(tree, aliases), aliases | {"torch"}).visit(tree)
    tree.body = reordered(tree.body)
    return ast.unparse(ast.fix_missing_locations(tree))


def imported(tree):
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return found


def own_names(tree, aliases):
    """New names for all that the text itself names."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            names.append(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and \
                isinstance(node.value, ast.Name) and node.value.id == "self":
            names.append(node.attr)
    # What is asked for by its name as a string keeps it.
    asked = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
             and isinstance(node.value, str)}
    kept = KEPT | asked | aliases | {name for name in names if name.startswith("__")}
    return {name: f"renamed_{place}" for place, name in enumerate(dict.fromkeys(names))
            if name not in kept}


class Renaming(ast.NodeTransformer):
    def __init__(self, names, aliases):
        self.names = names
        self.aliases = aliases

    def visit_Name(self, node):
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node):
        node.arg = self.names.get(node.arg, node.arg)
        node.annotation = None
        return node

    def visit_Attribute(self, node):
        if ast.unparse(node).startswith("self."):
            node.attr = self.names.get(node.attr, node.attr)
        return self.generic_visit(node)

    def visit_Call(self, node):
        """Keywords of what is not the library's."""
        root = ast.unparse(node.func).partition(".")[0].partition("(")[0]
        self.generic_visit(node)
        if root not in self.aliases and not isinstance(node.func, ast.Subscript):
            for word in node.keywords:
                word.arg = self.names.get(word.arg, word.arg)
        return node

    def visit_FunctionDef(self, node):
        node.name = self.names.get(node.name, node.name)
        node.returns = None
        self.generic_visit(node)
        node.body = without_docstring(node.body)
        return node

    def visit_ClassDef(self, node):
        node.name = self.names.get(node.name, node.name)
        self.generic_visit(node)
        node.body = without_docstring(node.body)
        return node


class Spelling(ast.NodeTransformer):
    """`x.relu()` for torch.relu(x) and F.relu(x), torch.relu for nn.ReLU(), `torch.nn` for nn."""

    def __init__(self, aliases):
        self.aliases = aliases

    def visit_Call(self, node):
        self.generic_visit(node)
        text = ast.unparse(node.func)
        last = text.rpartition(".")[2]
        if text in {f"{module}.{last}" for module in ("torch", "F")} and last in METHODS and \
                node.args and not isinstance(node.args[0], ast.Starred):
            return ast.Call(ast.Attribute(node.args[0], last, ast.Load()), node.args[1:],
                            node.keywords)
        return node

    def visit_Assign(self, node):
        """An activation of its own; within nn.Sequential it has to stay a module."""
        if isinstance(node.value, ast.Call) and not node.value.args:
            module, _, last = ast.unparse(node.value.func).rpartition(".")
            if module in ("nn", "torch.nn") and last in ACTIVATIONS and \
                    isinstance(node.targets[0], ast.Attribute):
                node.value = ast.parse(f"torch.{ACTIVATIONS[last]}", mode="eval").body
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id == "nn" and isinstance(node.ctx, ast.Load) and "nn" in self.aliases:
            return ast.parse("torch.nn", mode="eval").body
        return node


def without_docstring(body):
    kept = [part for part in body if not (isinstance(part, ast.Expr) and
                                          isinstance(part.value, ast.Constant))]
    return kept or [ast.Pass()]


def reordered(body):
    """Imports first, then the constants from the last to the first, with other large sizes."""
    body = without_docstring(body)
    imports = [part for part in body if isinstance(part, (ast.Import, ast.ImportFrom))]
    constants = [part for part in body if isinstance(part, ast.Assign)]
    others = [part for part in body if part not in imports and part not in constants]
    for part in constants:
        if isinstance(part.value, ast.Constant) and type(part.value.value) is int and \
                part.value.value > 99:
            part.value.value += part.value.value // 10 * 2
    return [ast.parse("import torch").body[0], *imports, *reversed(constants), *others]
