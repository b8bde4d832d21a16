# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the text of a model_new.py reaches for. Reads it on standard input, runs nothing of it.

Prints a JSON list of findings {"line", "what", "when"}; "when" is "always" for what touches the
machinery of Python, the process or PyTorch, and "published" for what only a candidate of those
rules has no use for. A text that does not parse is reported as a compiler would, with exit code 1.
"""

import ast
import json
import sys

PLAIN_IMPORTS = {"torch", "cuda_extension", "math", "typing", "typing_extensions", "functools",
                 "itertools", "collections", "dataclasses", "enum", "abc", "__future__", "numbers",
                 "operator", "warnings", "contextlib", "copy"}
MACHINERY = {"sys", "inspect", "gc", "ctypes", "threading", "_thread", "multiprocessing",
             "subprocess", "socket", "signal", "importlib", "builtins", "mmap", "traceback",
             "atexit", "concurrent", "asyncio", "time", "resource", "posix", "marshal", "code",
             "worker", "modules", "__main__", "linecache", "io", "pathlib", "glob", "shutil"}
CALLS = {"eval", "exec", "compile", "__import__", "globals", "vars", "open", "input", "breakpoint",
         "memoryview"}
LOOKERS = {"getattr", "setattr", "delattr"}  # with a name in plain sight they are harmless
ATTRIBUTES = {"__globals__", "__dict__", "__subclasses__", "__bases__", "__base__", "__mro__",
              "__code__", "__closure__", "__builtins__", "__loader__", "__spec__", "__self__",
              "__func__", "__wrapped__", "__getattribute__", "__torch_dispatch__",
              "__torch_function__", "__reduce__", "f_back", "f_globals", "f_locals", "f_code",
              "tb_frame", "gi_frame", "cr_frame", "_getframe"}
TORCH_ALWAYS = {"_C", "sys", "os", "overrides", "library", "importlib", "inspect", "threading",
                "ctypes"}
TORCH_PUBLISHED = {"ops", "compile", "jit", "fx", "utils", "func", "vmap", "distributed",
                   "multiprocessing", "hub", "load", "package", "futures", "classes", "export",
                   "compiler"}
PARTS = {"sys", "_sys", "os", "_os", "_C", "inspect", "importlib", "builtins", "gc", "ctypes",
         "threading", "attrgetter", "methodcaller"}
HOOKS = {"__torch_dispatch__", "__torch_function__"}


def dotted(node):
    """["torch", "nn", "Module"] of an attribute chain that starts at a name, else []."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else []


class Findings(ast.NodeVisitor):
    def __init__(self):
        self.found = []
        self.aliases = {"torch": "torch"}  # name -> what it stands for

    def add(self, node, what, when="always"):
        entry = {"line": getattr(node, "lineno", 0), "what": what, "when": when}
        if entry not in self.found:
            self.found.append(entry)

    def imported(self, node, module):
        root, *rest = module.split(".")
        if root in MACHINERY:
            self.add(node, f"it imports {module}")
        elif root not in PLAIN_IMPORTS:
            self.add(node, f"it imports {module}", "published")
        elif root == "torch" and rest:
            self.torch_part(node, rest[0])

    def torch_part(self, node, part):
        if part in TORCH_ALWAYS:
            self.add(node, f"it uses torch.{part}")
        elif part in TORCH_PUBLISHED or part.startswith("_"):
            self.add(node, f"it uses torch.{part}", "published")

    def visit_Import(self, node):
        for alias in node.names:
            self.imported(node, alias.name)
            if alias.asname:
                self.aliases[alias.asname] = alias.name

    def visit_ImportFrom(self, node):
        module = node.module or ""
        self.imported(node, module if not node.level else "." + module)
        for alias in node.names:
            if module == "torch":
                self.torch_part(node, alias.name)
            if alias.name in PARTS:
                self.add(node, f"it imports {alias.name} from {module}")
            self.aliases[alias.asname or alias.name] = f"{module}.{alias.name}"

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and (node.id in CALLS | LOOKERS or node.id in {
                "__builtins__", "__loader__", "__spec__"}):
            self.add(node, f"it uses {node.id}")

    def visit_Attribute(self, node):
        if node.attr in ATTRIBUTES:
            self.add(node, f"it uses {node.attr}")
        chain = dotted(node)
        if chain:
            chain = self.aliases.get(chain[0], chain[0]).split(".") + chain[1:]
            if chain[0] == "torch" and len(chain) > 1:
                self.torch_part(node, chain[1])
            if any(part in PARTS for part in chain[1:]):
                self.add(node, f"it uses {'.'.join(chain)}")
        self.generic_visit(node)

    def visit_Constant(self, node):
        # Names that reach the machinery by way of a text.
        if isinstance(node.value, str) and len(node.value) < 200 and \
                any(part in ATTRIBUTES for part in node.value.split(".")):
            self.add(node, f"it names {node.value[:40]}")

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in LOOKERS:
            name = node.args[1] if len(node.args) > 1 else None
            if not isinstance(name, ast.Constant):
                self.add(node, f"it uses {node.func.id} with a name that is worked out")
            elif name.value in ATTRIBUTES | TORCH_ALWAYS:
                self.add(node, f"it uses {name.value}")
            for each in node.args + [keyword.value for keyword in node.keywords]:
                self.visit(each)
            return
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        if node.name in HOOKS:
            self.add(node, f"it defines {node.name}")
        self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        for base in node.bases:
            chain = dotted(base)
            if chain and chain[-1] in {"Tensor", "Parameter"}:
                self.add(node, f"class {node.name} is a kind of tensor")
        self.generic_visit(node)


def main():
    try:
        text = sys.stdin.buffer.read()
        compile(text, "model_new.py", "exec")
        findings = Findings()
        findings.visit(ast.parse(text))
    except SyntaxError as error:
        print(f"model_new.py:{error.lineno or 1}:{error.offset or 1}: error: {error.msg}",
              file=sys.stderr)
        return 1
    except (ValueError, RecursionError, MemoryError) as error:
        print(f"model_new.py:1:1: error: not Python: {error or type(error).__name__}",
              file=sys.stderr)
        return 1
    print(json.dumps(findings.found[:100]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
