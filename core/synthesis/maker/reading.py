# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task's text computes, told from its syntax tree: a list of operators with their operands.

Names of variables, attributes, parameters and constants, the order of constants, nesting, helper
functions and classes, loops over modules and ways of importing leave no trace in it. Nothing is
executed: hostile texts may be read. Where a text does what is not understood here, the name of its
syntax stands in the list, so that unlike texts stay unlike.
"""

import ast
import itertools
import operator

from maker.reading_values import (MOST_ROUNDS, Bound, Dotted, Function, Instance, Layer, Line, Many,
                                  Number, Plain, Reading, Result, collect, counted, described,
                                  extreme, folded, truth)
from maker.spellings import canonical

MOST_LINES = 4000
MOST_DEPTH = 12
MOST_ITEMS = 1000
MOST_STEPS = 300000
BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow",
          ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.MatMult: "matmul",
          ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
          ast.LShift: "bitwise_left_shift", ast.RShift: "bitwise_right_shift"}
COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
DECIDED = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
           ast.Eq: operator.eq, ast.NotEq: operator.ne}
# Questions to a tensor whose answers are numbers.
ASKED = {"size", "shape", "dim", "ndim", "ndimension", "numel", "nelement", "stride", "item",
         "element_size", "storage_offset"}
PLAIN = {"dtype", "device", "is_cuda", "requires_grad", "training", "data", "layout"}


class Unreadable(ValueError):
    """A text in which no Model can be found."""


class Returned(Exception):
    def __init__(self, value):
        super().__init__()
        self.value = value


class Finished(Exception):
    """As many lines as are read of one text."""


def read(code):
    """Reading of a task's text. Raises SyntaxError or Unreadable."""
    try:
        return Reader(ast.parse(code)).reading()
    except (RecursionError, MemoryError):
        raise Unreadable("nested too deeply")


class Reader:
    def __init__(self, tree, needed="Model"):
        self.globals = {}
        self.statements = {}
        self.constants = {}
        self.lines = []
        self.built = ()  # lines of the construction, while forward() is read
        self.where = "t"
        self.depth = 0
        self.steps = 0  # of the part that is read
        for statement in tree.body:
            self.declare(statement)
        if needed and not isinstance(self.statements.get(needed), ast.ClassDef):
            raise Unreadable(f"no class {needed}")

    def declare(self, statement):
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                self.globals[alias.asname or name] = Dotted(name)
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                self.globals[alias.asname or alias.name] = Dotted(
                    f"{statement.module or ''}.{alias.name}")
        elif isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            self.statements[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    self.statements[target.id] = statement.value
                elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                    for one, value in zip(target.elts, statement.value.elts):
                        if isinstance(one, ast.Name):
                            self.statements[one.id] = value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and \
                statement.value is not None:
            self.statements[statement.target.id] = statement.value
        elif isinstance(statement, (ast.If, ast.Try)):
            for inner in statement.body:
                self.declare(inner)

    def reading(self):
        model = Instance(self.statements["Model"])
        construction = self.collected("i", lambda: self.construct(model, *self.given()))
        self.built = construction
        forward = self.collected("t", lambda: self.call_method(
            model, "forward", [Result("x", place) for place in range(99)], {}))
        inputs = self.collected("i", lambda: self.called_by_name("get_inputs"))
        return Reading(forward, construction, inputs)

    def collected(self, where, doing):
        self.lines, self.where, self.depth, self.steps = [], where, 0, 0
        try:
            doing()
        except Finished:
            pass
        return tuple(self.lines)

    def given(self):
        """Arguments of Model()."""
        value = self.called_by_name("get_init_inputs")
        if isinstance(value, Many):
            last = value.items[-1] if value.items else None
            if isinstance(last, Many) and value.items and all(
                    isinstance(item, Many) for item in value.items) and len(value.items) == 2:
                return value.items[0].items, {}
            return value.items, {}
        return [], {}

    def called_by_name(self, name):
        node = self.statements.get(name)
        return self.inline(node, [], {}, {}) if isinstance(node, ast.FunctionDef) else None

    # Functions and classes of the text.

    def construct(self, instance, positional, keywords):
        if self.method_of(instance.of, "__init__") is not None:
            self.call_method(instance, "__init__", positional, keywords)
        return instance

    def method_of(self, described, name):
        for part in described.body:
            if isinstance(part, ast.FunctionDef) and part.name == name:
                return part
        for base in described.bases:
            inner = self.statements.get(base.id) if isinstance(base, ast.Name) else None
            if isinstance(inner, ast.ClassDef) and inner is not described:
                return self.method_of(inner, name)
        return None

    def call_method(self, instance, name, positional, keywords):
        node = self.method_of(instance.of, name)
        if node is None:
            return self.emit(name, positional, keywords)
        if any(isinstance(part, ast.Name) and part.id == "staticmethod"
               for part in node.decorator_list):
            return self.inline(node, positional, keywords, {})
        return self.inline(node, [instance, *positional], keywords, {})

    def inline(self, node, positional, keywords, closed):
        """The value that a function of the text returns; its lines join those that are there."""
        if self.depth >= MOST_DEPTH:
            return self.emit("deep", positional, keywords)
        scope = dict(closed)
        names = [argument.arg for argument in node.args.posonlyargs + node.args.args]
        for name, default in zip(reversed(names), reversed(node.args.defaults)):
            scope[name] = self.evaluate(default, {})
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults):
            if default is not None:
                scope[argument.arg] = self.evaluate(default, {})
        if node.args.vararg:
            scope[node.args.vararg.arg] = Many(list(positional[len(names):]))
        scope.update(zip(names, positional))
        scope.update(keywords)
        self.depth += 1
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, scope)
            self.execute(node.body, scope)
        except Returned as returned:
            return returned.value
        finally:
            self.depth -= 1
        return Plain("None")

    # Statements.

    def execute(self, statements, scope):
        for statement in statements:
            handler = getattr(self, "do_" + type(statement).__name__, None)
            if handler is not None:
                handler(statement, scope)
            elif not isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom, ast.Global,
                                            ast.Break, ast.Continue, ast.Assert, ast.Raise)):
                self.emit("syntax " + type(statement).__name__, [], {})

    def do_Expr(self, statement, scope):
        if not isinstance(statement.value, ast.Constant):
            self.evaluate(statement.value, scope)

    def do_Return(self, statement, scope):
        raise Returned(self.evaluate(statement.value, scope) if statement.value else Plain("None"))

    def do_Assign(self, statement, scope):
        value = self.evaluate(statement.value, scope)
        for target in statement.targets:
            self.assign(target, value, scope)

    def do_AnnAssign(self, statement, scope):
        if statement.value is not None:
            self.assign(statement.target, self.evaluate(statement.value, scope), scope)

    def do_AugAssign(self, statement, scope):
        joined = ast.BinOp(statement.target, statement.op, statement.value)
        self.assign(statement.target, self.evaluate(joined, scope), scope)

    def do_FunctionDef(self, statement, scope):
        scope[statement.name] = Function(statement, scope)

    def do_With(self, statement, scope):
        self.execute(statement.body, scope)

    def do_Try(self, statement, scope):
        self.execute(statement.body, scope)

    def do_If(self, statement, scope):
        known = truth(self.evaluate(statement.test, scope))
        if known is None:
            # Both, one behind the other; what is returned in one is no end of the other.
            for body in (statement.body, statement.orelse):
                try:
                    self.execute(body, scope)
                except Returned as returned:
                    if body is statement.orelse or not statement.orelse:
                        raise returned
            return
        self.execute(statement.body if known else statement.orelse, scope)

    def do_For(self, statement, scope):
        for item in self.rounds(self.evaluate(statement.iter, scope)):
            self.assign(statement.target, item, scope)
            self.execute(statement.body, scope)

    def do_While(self, statement, scope):
        self.emit("while", [], {})
        self.execute(statement.body, scope)

    def rounds(self, value):
        """What a loop runs over: every module of a list, every number of a short range, else one
        round that stands for all."""
        if isinstance(value, Many) and len(value.items) <= MOST_ROUNDS:
            return list(value.items)
        if isinstance(value, Many):
            return value.items[:1]
        self.emit("loop", [], {})
        return [value if isinstance(value, Result) else Number()]

    def assign(self, target, value, scope):
        if isinstance(target, ast.Name):
            scope[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = value.items if isinstance(value, Many) else [
                value if isinstance(value, Result) else Number()] * len(target.elts)
            for one, item in itertools.zip_longest(target.elts, items[:len(target.elts)],
                                                   fillvalue=Number()):
                self.assign(one.value if isinstance(one, ast.Starred) else one, item, scope)
        elif isinstance(target, ast.Attribute):
            owner = self.evaluate(target.value, scope)
            if isinstance(owner, Instance):
                owner.attributes[target.attr] = value
        elif isinstance(target, ast.Subscript):
            owner = self.evaluate(target.value, scope)
            if isinstance(owner, Result):
                stored = self.emit("setitem", [owner, value], {})
                self.assign(target.value, stored, scope)

    # Expressions.

    def evaluate(self, node, scope):
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Finished
        handler = getattr(self, "of_" + type(node).__name__, None)
        if handler is None:
            return self.emit("syntax " + type(node).__name__, [], {})
        return handler(node, scope)

    def of_Constant(self, node, scope):
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return Number(node.value)
        return Plain(repr(node.value))

    def of_Name(self, node, scope):
        if node.id in scope:
            return scope[node.id]
        if node.id in self.constants:
            return self.constants[node.id]
        if node.id in self.statements:
            found = self.statements[node.id]
            if isinstance(found, (ast.ClassDef, ast.FunctionDef)):
                return Function(found, {})
            self.constants[node.id] = Number()  # of a constant that needs itself
            self.constants[node.id] = self.evaluate(found, {})
            return self.constants[node.id]
        return self.globals.get(node.id, Dotted(node.id))

    def of_Attribute(self, node, scope):
        owner = self.evaluate(node.value, scope)
        if isinstance(owner, Dotted):
            return Dotted(f"{owner.name}.{node.attr}")
        if isinstance(owner, Instance):
            if node.attr in owner.attributes:
                return owner.attributes[node.attr]
            if node.attr in PLAIN:
                return Plain(node.attr)
            return Bound(owner, node.attr)
        if isinstance(owner, Result):
            if node.attr in ("T", "mT", "H"):
                return self.emit("transpose", [owner], {})
            if node.attr in ("shape", "ndim"):
                return Number()
            if node.attr in ("values", "data"):
                return owner
            if node.attr in PLAIN:
                return Plain(node.attr)
        return Bound(owner, node.attr)

    def of_Subscript(self, node, scope):
        owner = self.evaluate(node.value, scope)
        inner = self.evaluate(node.slice, scope)
        if isinstance(owner, Many):
            if isinstance(inner, Number) and isinstance(inner.value, int) and \
                    -len(owner.items) <= inner.value < len(owner.items):
                return owner.items[inner.value]
            return Many(owner.items) if isinstance(inner, Plain) else \
                owner.items[0] if owner.items else Number()
        if isinstance(owner, Number):
            return Number()
        if isinstance(owner, (Result, Bound, Layer)):
            if isinstance(inner, Number):
                return self.emit("getitem", [owner, inner], {})
            return self.emit("index", [owner, inner], {})
        return owner

    def of_Slice(self, node, scope):
        parts = [self.evaluate(part, scope) if part else Plain("")
                 for part in (node.lower, node.upper, node.step)]
        return Many([Plain(":")] + parts)

    def of_Tuple(self, node, scope):
        return Many(self.unpacked(node.elts, scope))

    of_List = of_Set = of_Tuple

    def of_Dict(self, node, scope):
        return Many([self.evaluate(value, scope) for value in node.values])

    def unpacked(self, nodes, scope):
        items = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                value = self.evaluate(node.value, scope)
                items += value.items if isinstance(value, Many) else [value]
            else:
                items.append(self.evaluate(node, scope))
        return items

    def of_Starred(self, node, scope):
        return self.evaluate(node.value, scope)

    def of_ListComp(self, node, scope):
        items, inner = [], dict(scope)
        generator = node.generators[0]
        for item in self.rounds(self.evaluate(generator.iter, scope)):
            self.assign(generator.target, item, inner)
            items.append(self.evaluate(node.elt, inner))
        return Many(items)

    of_GeneratorExp = of_SetComp = of_ListComp

    def of_IfExp(self, node, scope):
        known = truth(self.evaluate(node.test, scope))
        if known is not None:
            return self.evaluate(node.body if known else node.orelse, scope)
        one, other = self.evaluate(node.body, scope), self.evaluate(node.orelse, scope)
        return one if isinstance(one, (Result, Layer, Instance)) else other

    def of_Lambda(self, node, scope):
        return Function(node, scope)

    def of_JoinedStr(self, node, scope):
        return Plain("text")

    def of_NamedExpr(self, node, scope):
        value = self.evaluate(node.value, scope)
        self.assign(node.target, value, scope)
        return value

    def of_BoolOp(self, node, scope):
        values = [self.evaluate(value, scope) for value in node.values]
        for value in values:
            known = truth(value)
            if known is None:
                return value if isinstance(value, Result) else Number()
            if known == isinstance(node.op, ast.Or):
                return value
        return values[-1]

    def of_BinOp(self, node, scope):
        return self.joined(node, self.evaluate(node.left, scope), self.evaluate(node.right, scope))

    def joined(self, node, left, right):
        if isinstance(left, Many) and isinstance(node.op, ast.Add) and isinstance(right, Many):
            return Many((left.items + right.items)[:MOST_ITEMS])
        if isinstance(left, Many) and isinstance(node.op, ast.Mult) and \
                isinstance(right, Number) and right.value in range(1, MOST_ROUNDS):
            return Many((left.items * right.value)[:MOST_ITEMS])
        if not any(isinstance(value, (Result, Layer, Bound)) for value in (left, right)):
            return folded(node.op, left, right)
        return self.emit(BINARY[type(node.op)], [left, right], {})

    def of_UnaryOp(self, node, scope):
        value = self.evaluate(node.operand, scope)
        if isinstance(node.op, ast.Not):
            known = truth(value)
            return Plain(str(not known)) if known is not None else Number()
        if isinstance(value, Number):
            if value.value is None or isinstance(node.op, ast.Invert):
                return Number()
            return Number(-value.value) if isinstance(node.op, ast.USub) else value
        if isinstance(node.op, ast.UAdd):
            return value
        return self.emit("neg" if isinstance(node.op, ast.USub) else "bitwise_not", [value], {})

    def of_Compare(self, node, scope):
        left = self.evaluate(node.left, scope)
        right = self.evaluate(node.comparators[0], scope)
        kind = type(node.ops[0])
        if isinstance(left, Result) and kind in COMPARED:
            return self.emit(COMPARED[kind], [left, right], {})
        if kind in (ast.Is, ast.IsNot):
            if isinstance(left, (Result, Layer, Instance, Many, Function, Number)) and \
                    right == Plain("None"):
                return Plain(str(kind is ast.IsNot))
            if isinstance(left, Plain) and isinstance(right, Plain):
                return Plain(str((left == right) == (kind is ast.Is)))
        if isinstance(left, Number) and isinstance(right, Number) and kind in DECIDED and \
                None not in (left.value, right.value):
            return Plain(str(DECIDED[kind](left.value, right.value)))
        if isinstance(left, Plain) and isinstance(right, Plain) and kind in (ast.Eq, ast.NotEq):
            return Plain(str((left == right) == (kind is ast.Eq)))
        return Number()

    def of_Call(self, node, scope):
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call) and \
                isinstance(node.func.value.func, ast.Name) and node.func.value.func.id == "super":
            return self.of_super(node, scope)
        function = self.evaluate(node.func, scope)
        positional = self.unpacked(node.args, scope)
        keywords = {word.arg or "**": self.evaluate(word.value, scope) for word in node.keywords}
        return self.apply(function, positional, keywords)

    def of_super(self, node, scope):
        instance = scope.get("self")
        if isinstance(instance, Instance):
            for base in instance.of.bases:
                inner = self.statements.get(base.id) if isinstance(base, ast.Name) else None
                method = self.method_of(inner, node.func.attr) \
                    if isinstance(inner, ast.ClassDef) else None
                if method is not None:
                    return self.inline(method, [instance, *self.unpacked(node.args, scope)],
                                       {word.arg or "**": self.evaluate(word.value, scope)
                                        for word in node.keywords}, {})
        return Plain("None")

    def apply(self, function, positional, keywords):
        if isinstance(function, Function):
            if isinstance(function.node, ast.ClassDef):
                if self.method_of(function.node, "forward") is None and \
                        self.method_of(function.node, "__init__") is None:
                    return self.emit(function.node.name, positional, keywords)
                return self.construct(Instance(function.node), positional, keywords)
            return self.inline(function.node, positional, keywords, function.closed)
        if isinstance(function, Instance):
            return self.call_method(function, "forward", positional, keywords)
        if isinstance(function, Many):
            return self.chained(function, positional)
        if isinstance(function, Layer):
            return self.emit(function.name, positional, keywords, function.arguments)
        if isinstance(function, Dotted):
            return self.apply_named(function.name, positional, keywords)
        if isinstance(function, Bound):
            return self.apply_method(function, positional, keywords)
        if isinstance(function, Result) and function.where == "i" and self.where == "t":
            return self.emit("made by " + self.built[function.place].name, positional, keywords)
        return self.emit("call", [function, *positional], keywords)

    def chained(self, layers, positional):
        """nn.Sequential: one after the other."""
        for layer in layers.items:
            if isinstance(layer, (Layer, Instance, Many, Function)):
                positional = [self.apply(layer, positional, {})]
        return positional[0] if positional else Plain("None")

    def apply_named(self, name, positional, keywords):
        last = name.rpartition(".")[2]
        if last in ("Sequential", "ModuleList", "ParameterList", "OrderedDict", "ModuleDict",
                    "list", "tuple", "reversed", "dict"):
            items = positional
            if len(items) == 1 and isinstance(items[0], Many) and last != "Sequential":
                items = items[0].items
            elif len(items) == 1 and isinstance(items[0], Many):
                items = [item.items[-1] if isinstance(item, Many) and item.items and
                         isinstance(item.items[0], Plain) else item for item in items[0].items]
            return Many(list(reversed(items)) if last == "reversed" else list(items))
        if last in ("range", "enumerate", "zip", "len", "isinstance"):
            return counted(last, positional)
        if last == "Parameter":
            return self.emit("parameter", positional, {})
        if name.startswith("math.") or last in ("int", "round", "print", "hasattr", "isinstance"):
            return Number()
        if last == "float" and positional:
            return Number() if isinstance(positional[0], Number) else Plain("inf")
        if last in ("min", "max", "abs", "sum", "divmod") and "." not in name:
            items = positional[0].items if positional and isinstance(positional[0], Many) else \
                positional
            if not any(isinstance(value, (Result, Many)) for value in items):
                return extreme(last, items)
        if last[:1].isupper() and last not in ("Tensor", "LongTensor", "FloatTensor"):
            return Layer(name, described(positional, keywords))
        return self.emit(name, positional, keywords)

    def apply_method(self, bound, positional, keywords):
        owner, name = bound.owner, bound.name
        if isinstance(owner, Instance):
            if name in ("register_buffer", "register_parameter", "add_module") and \
                    len(positional) > 1 and isinstance(positional[0], Plain):
                owner.attributes[positional[0].text.strip("'\"")] = positional[1]
                return Plain("None")
            return self.call_method(owner, name, positional, keywords)
        if isinstance(owner, Many):
            if name in ("append", "add_module", "add"):
                owner.items.append(positional[-1])
                return Plain("None")
            if name in ("extend",) and isinstance(positional[0], Many):
                owner.items += positional[0].items
                return Plain("None")
            if name in ("values", "items", "children", "keys"):
                return owner
            return Number()
        if isinstance(owner, Result) and name in ASKED:
            return Number()
        if isinstance(owner, (Plain, Number)):
            return Plain("text")
        return self.emit(name, [owner, *positional], keywords)

    def emit(self, name, positional, keywords, built=()):
        """Adds a line; its Result."""
        if len(self.lines) >= MOST_LINES:
            raise Finished
        operands = []
        for value in [*positional, *keywords.values()]:
            collect(value, operands)
        self.lines.append(Line(canonical(name), tuple(operands),
                               built + described(positional, keywords)))
        return Result(self.where, len(self.lines) - 1)
