# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modelling files of the installed transformers define, read from their source.

Nothing of transformers is imported, so that a look at hundreds of files takes seconds.
"""

import ast
import functools
import hashlib
import importlib.util
import pathlib
import re
from dataclasses import dataclass

# Bases outside of a modelling file that make a class a torch.nn.Module.
MODULES = re.compile(r"^(torch\.)?nn\.[A-Z]|^GradientCheckpointingLayer$|^Conv1D$")
RAW = ("torch.empty", "torch.zeros", "torch.ones", "torch.Tensor")
WHOLE = re.compile(r"PreTrainedModel$|^Generic(For|Model)|Model$")


@dataclass(frozen=True)
class Parameter:
    name: str
    required: bool


@dataclass(frozen=True)
class Class:
    """A subclass of torch.nn.Module. `source` names what it computes: the hash of its syntax tree
    and those of all that it uses of the same file, without the family's name."""

    name: str
    bases: tuple
    whole: bool         # a PreTrainedModel
    init: tuple         # Parameters after self
    forward: tuple
    has_forward: bool   # its own or inherited within the file
    returns_tuple: bool
    source: str
    raw: tuple          # names of parameters of constants or of memory as it is, its parts' too
    batch_norm: bool    # statistics of batches are among its buffers
    reads: frozenset    # names of what it and its parts ask a configuration for


@functools.lru_cache(maxsize=None)
def models_folder():
    found = importlib.util.find_spec("transformers")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("transformers is not installed")
    return pathlib.Path(found.submodule_search_locations[0]) / "models"


def modelling_files():
    """All modelling files by the names of their folders; only those of PyTorch."""
    return {path.parent.name: path
            for path in sorted(models_folder().glob("*/modeling_*.py"))
            if path.stem == f"modeling_{path.parent.name}"}


@functools.lru_cache(maxsize=None)
def tree_of(family):
    path = models_folder() / family / f"modeling_{family}.py"
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.lru_cache(maxsize=None)
def classes(family):
    """{name: Class} of every subclass of torch.nn.Module in a family's modelling file, in its
    order."""
    definitions = {node.name: node for node in tree_of(family).body
                   if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    found = {}
    for name, node in definitions.items():
        if isinstance(node, ast.ClassDef):
            chain = ancestry(name, definitions)
            outer = [base for base in chain if base not in definitions]
            if any(MODULES.search(base) or WHOLE.search(base) for base in outer):
                found[name] = read_class(family, node, chain, outer, definitions)
    return found


def ancestry(name, definitions):
    """Names of all bases, nearest first; those outside of the file as they are written."""
    found = []
    for base in definitions[name].bases:
        text = ast.unparse(base)
        found.append(text)
        if isinstance(definitions.get(text), ast.ClassDef):
            found += ancestry(text, definitions)
    return found


def read_class(family, node, chain, outer, definitions):
    lineage = [node] + [definitions[base] for base in chain if base in definitions]
    init = method(lineage, "__init__")
    forward = method(lineage, "forward")
    used = closure(node.name, definitions)
    return Class(node.name, tuple(chain), any(WHOLE.search(base) for base in outer),
                 parameters(init), parameters(forward), forward is not None,
                 forward is not None and gives_tuple(forward),
                 hash_of(family, [definitions[name] for name in used]),
                 tuple(sorted({raw for name in used for raw in raw_parameters(definitions[name])})),
                 any("BatchNorm" in ast.unparse(definitions[name]) for name in used),
                 frozenset(read for name in used for read in read_of(definitions[name])))


def method(lineage, name):
    for node in lineage:
        for part in node.body:
            if isinstance(part, ast.FunctionDef) and part.name == name:
                return part
    return None


def parameters(function):
    if function is None:
        return ()
    names = [argument.arg for argument in function.args.args[1:]]
    optional = len(function.args.defaults)
    return tuple(Parameter(name, place < len(names) - optional)
                 for place, name in enumerate(names))


def gives_tuple(forward):
    """Whether a tuple comes back: by the return statements, which annotations often miss."""
    tuples = {"outputs"}
    for node in ast.walk(forward):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and \
                isinstance(node.targets[0], ast.Name):
            tuples.add(node.targets[0].id)
    returned = [node.value for node in ast.walk(forward) if isinstance(node, ast.Return)]
    return any(isinstance(value, ast.Tuple) or isinstance(value, ast.Name) and value.id in tuples
               or isinstance(value, ast.BinOp) and isinstance(value.left, ast.Tuple)
               for value in returned)


def closure(name, definitions):
    """A definition and all of the same file that it uses, itself first."""
    found = [name]
    for current in found:
        for node in ast.walk(definitions[current]):
            if isinstance(node, ast.Name) and node.id in definitions and node.id not in found:
                found.append(node.id)
    return found


def hash_of(family, nodes):
    names = {node.name: f"definition{place}" for place, node in enumerate(nodes)}
    text = "\n".join(bare(node, names) for node in nodes)
    # Configurations are annotations only, and those are gone.
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def bare(node, names):
    """The syntax tree as text, without docstrings, annotations and own names."""

    class Strip(ast.NodeTransformer):
        def visit_FunctionDef(self, function):
            self.generic_visit(function)
            function.returns = None
            function.body = without_docstring(function.body)
            function.name = names.get(function.name, function.name)
            return function

        def visit_ClassDef(self, described):
            self.generic_visit(described)
            described.body = without_docstring(described.body)
            described.name = names.get(described.name, described.name)
            return described

        def visit_arg(self, argument):
            argument.annotation = None
            return argument

        def visit_AnnAssign(self, statement):
            self.generic_visit(statement)
            if statement.value is None:
                return None
            return ast.copy_location(ast.Assign([statement.target], statement.value), statement)

        def visit_Name(self, name):
            name.id = names.get(name.id, name.id)
            return name

    copied = ast.parse(ast.unparse(node)).body[0]
    return ast.unparse(ast.fix_missing_locations(Strip().visit(copied)))


def read_of(node):
    """Names that are asked of a configuration: config.hidden_size, getattr(config, "head_dim")."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and ast.unparse(part.value).endswith("config"):
            found.add(part.attr)
        elif isinstance(part, ast.Call) and ast.unparse(part.func) == "getattr" and \
                len(part.args) > 1 and isinstance(part.args[1], ast.Constant):
            found.add(part.args[1].value)
    return found


def without_docstring(body):
    kept = [part for part in body if not (isinstance(part, ast.Expr) and
                                          isinstance(part.value, ast.Constant))]
    return kept or [ast.Pass()]


def raw_parameters(node):
    """Attributes that are parameters of several dimensions made of constants or of memory as it
    is."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Attribute) and \
                re.match(r"(torch\.)?nn\.Parameter\(", ast.unparse(part.value)):
            for call in ast.walk(part.value):
                if isinstance(call, ast.Call) and ast.unparse(call.func) in RAW and (
                        len(call.args) > 1 or
                        not isinstance(call.args[0], (ast.Name, ast.Attribute))):
                    found.add(part.targets[0].attr)
    return found
