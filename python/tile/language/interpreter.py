"""Runs a kernel's Python source: plain values at once, device code into the trace.

Expressions are evaluated as Python would; where a device value takes part, ops
are built. Statements are in statements.py. Names follow Python's scopes, with one
rule more: a name that is bound inside a device region (a loop, a branch) is not
visible after it, and cannot carry a value from one iteration to the next, since
the region's text is built once. Reading such a name is an error that says so.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import LanguageError, TileError
from . import arithmetic, loops
from . import math as device_math
from .buffers import Access, Buffer, Var
from .expr import Const, Expr, Symbol, binary
from .source import Source
from .trace import Region, Trace

OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
}
COMPARISONS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
# Python's functions that have a meaning on device values.
DEVICE_BUILTINS: dict[Any, Callable[..., Any]] = {
    builtins.min: device_math.min,
    builtins.max: device_math.max,
    builtins.abs: device_math.abs,
    builtins.pow: device_math.pow,
    builtins.float: lambda x: x.astype("float32"),
    builtins.int: lambda x: x.astype("int32"),
    builtins.bool: lambda x: x.astype("bool"),
}


class Binding:
    """What a name stands for, and in which device region it was bound."""

    __slots__ = ("value", "region", "line", "gone")

    def __init__(self, value: Any, region: Region, line: int) -> None:
        self.value = value
        self.region = region
        self.line = line
        self.gone = ""


class Frame:
    """The names of one function that is being run."""

    def __init__(self, source: Source, outer: Frame | None, names: Mapping[str, Any]) -> None:
        self.source = source
        self.outer = outer
        self.fixed = names
        self.names: dict[str, Binding] = {}

    def find(self, name: str) -> tuple[Frame, Binding] | None:
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame, frame.names[name]
            frame = frame.outer
        return None

    def saved(self) -> list[dict[str, Binding]]:
        """The names of this function and those around it, as they are now."""
        return [dict(self.names), *([] if self.outer is None else self.outer.saved())]

    def restore(self, names: list[dict[str, Binding]]) -> None:
        """Names as they were."""
        self.names.clear()
        self.names.update(names[0])
        if self.outer is not None:
            self.outer.restore(names[1:])


class Interpreter:
    """Evaluates expressions of one frame."""

    def __init__(self, trace: Trace, frame: Frame) -> None:
        self.trace = trace
        self.frame = frame

    # Places ------------------------------------------------------------

    def at(self, node: ast.AST) -> None:
        """Ops that follow come from this node."""
        self.trace.builder.location = self.frame.source.location(node)

    def error(self, node: ast.AST, reason: str) -> LanguageError:
        return LanguageError(reason, self.frame.source.location(node))

    # Names -------------------------------------------------------------

    def read(self, node: ast.Name) -> Any:
        found = self.frame.find(node.id)
        if found is None:
            frame: Frame | None = self.frame
            while frame is not None:
                if node.id in frame.fixed:
                    return frame.fixed[node.id]
                frame = frame.outer
            if hasattr(builtins, node.id):
                return getattr(builtins, node.id)
            raise self.error(node, f"the name {node.id} is not defined")
        frame, binding = found
        if binding.gone:
            raise self.error(node, binding.gone)
        if not isinstance(binding.value, (Var, Buffer)):
            for region in reversed(self.trace.regions):
                if region is binding.region:
                    break
                region.reads.add((id(frame), node.id))
        return binding.value

    def bind(self, name: str, value: Any, node: ast.AST) -> None:
        """Binds a name in this frame, in the region that is open."""
        region = self.trace.regions[-1]
        names, line = self.frame.names, getattr(node, "lineno", 0)
        old = names.get(name)
        fresh = Binding(value, region, line)
        if old is None or old.gone or old.region is region:
            if old is None or old.gone:
                region.writes.append(lambda: self._hide(names, name, fresh, None))
            names[name] = fresh
            return
        for outer in reversed(self.trace.regions):
            if outer is old.region:
                break
            if outer.kind in ("loop", "persistent") and (id(self.frame), name) in outer.reads:
                raise self.error(
                    node,
                    f"{name} is read in this loop and assigned here, so it would carry a value from one iteration "
                    "to the next; make it a variable with T.alloc_var, or use T.unroll for a loop that is built "
                    "iteration by iteration",
                )
        region.writes.append(lambda: self._hide(names, name, fresh, old))
        names[name] = fresh

    def _hide(self, names: dict[str, Binding], name: str, fresh: Binding, old: Binding | None) -> None:
        """A region ends: what it bound can be seen no more."""
        inside = names[name]
        if inside.gone and old is None:
            return
        where = "loop" if fresh.region.kind in ("loop", "parallel", "persistent") else fresh.region.kind
        place = {"branch": "`if` on a device value", "launch": "T.Kernel"}.get(where, where)
        inside = Binding(None, self.trace.regions[-1], fresh.line)
        inside.gone = (
            f"{name} was assigned inside the {place} at line {fresh.line} and cannot be read after it; "
            "make it a variable with T.alloc_var before"
        )
        if old is not None and old.region.kind != "host":
            # Bound again within an outer region, it would still be carried.
            inside.region = old.region
        names[name] = inside

    # Expressions -------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression."""
        handler = getattr(self, f"eval_{type(node).__name__}", None)
        if handler is None:
            raise self.error(node, f"{type(node).__name__} expressions are not supported in a kernel")
        before = self.trace.builder.location
        self.at(node)
        try:
            return handler(node)
        except LanguageError as error:
            if error.location is None:
                error.location = self.frame.source.location(node)
            raise
        except TileError:
            raise
        except RecursionError:
            raise self.error(node, "the kernel's meta-level code recurses without end") from None
        except Exception as error:
            if getattr(error, "tile_location", None) is None:
                error.tile_location = self.frame.source.location(node)  # type: ignore[attr-defined]
                raise self.error(node, f"{type(error).__name__}: {error}") from error
            raise
        finally:
            self.trace.builder.location = before

    def operand(self, node: ast.expr) -> Any:
        """An expression's value, with an element of a buffer loaded."""
        value = self.evaluate(node)
        return value.load() if isinstance(value, Access) and value.is_element else value

    def eval_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def eval_Name(self, node: ast.Name) -> Any:
        return self.read(node)

    def eval_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.operand(node.value)
        self.bind(node.target.id, value, node)
        return value

    def eval_Attribute(self, node: ast.Attribute) -> Any:
        value = self.evaluate(node.value)
        try:
            return getattr(value, node.attr)
        except AttributeError as error:
            name = getattr(value, "__name__", None) or type(value).__name__
            raise self.error(
                node, str(error) if isinstance(value, type(ast)) else f"{name} has no {node.attr}"
            ) from None

    def eval_Tuple(self, node: ast.Tuple) -> Any:
        return tuple(self._items(node.elts))

    def eval_List(self, node: ast.List) -> Any:
        return list(self._items(node.elts))

    def eval_Set(self, node: ast.Set) -> Any:
        return set(self._items(node.elts))

    def _items(self, nodes: list[ast.expr]) -> list[Any]:
        items: list[Any] = []
        for item in nodes:
            if isinstance(item, ast.Starred):
                items.extend(self.evaluate(item.value))
            else:
                items.append(self.evaluate(item))
        return items

    def eval_Dict(self, node: ast.Dict) -> Any:
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                result.update(self.evaluate(value))
            else:
                result[self.evaluate(key)] = self.evaluate(value)
        return result

    def eval_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return "".join(str(self.evaluate(part)) for part in node.values)

    def eval_FormattedValue(self, node: ast.FormattedValue) -> Any:
        value = self.evaluate(node.value)
        convert: dict[int, Callable[[Any], Any]] = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}
        return format(convert[node.conversion](value), self.evaluate(node.format_spec) if node.format_spec else "")

    def eval_Slice(self, node: ast.Slice) -> Any:
        return slice(*(None if part is None else self.operand(part) for part in (node.lower, node.upper, node.step)))

    def eval_Subscript(self, node: ast.Subscript) -> Any:
        value = self.evaluate(node.value)
        item = self.evaluate(node.slice)
        if isinstance(value, Buffer):
            items = item if isinstance(item, tuple) else (item,)
            return value[tuple(i.load() if isinstance(i, Access) and i.is_element else i for i in items)]
        if isinstance(value, Expr):
            raise self.error(node, "a device value cannot be indexed; only buffers can")
        return value[item]

    def eval_BinOp(self, node: ast.BinOp) -> Any:
        op = OPERATORS[type(node.op)]
        a, b = self.operand(node.left), self.operand(node.right)
        self.at(node)
        if isinstance(a, (Expr, Buffer)) or isinstance(b, (Expr, Buffer)):
            if op == "@":
                raise self.error(node, "matrix products are written T.gemm(A, B, C)")
            for side in (a, b):
                if isinstance(side, Buffer):
                    side._arithmetic()
            return binary(op, a, b)
        return eval(f"a {op} b", {"a": a, "b": b})  # noqa: S307 - an operator of the table

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.operand(node.operand)
        if isinstance(node.op, ast.Not):
            test = arithmetic.truth(value) if isinstance(value, Expr) and not isinstance(value, Symbol) else value
            return binary("^", test, True) if isinstance(test, Expr) else not test
        if isinstance(node.op, ast.USub):
            return -value
        return +value if isinstance(node.op, ast.UAdd) else ~value

    def eval_Compare(self, node: ast.Compare) -> Any:
        left = self.operand(node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators):
            right = self.operand(right_node)
            self.at(node)
            test = self._compare(COMPARISONS[type(op)], left, right)
            if not isinstance(test, Expr) and not test:
                return test
            result = test if result is True else self._conjunction(result, test)
            left = right
        return result

    def _compare(self, op: str, a: Any, b: Any) -> Any:
        if (isinstance(a, Expr) or isinstance(b, Expr)) and op in arithmetic.COMPARISONS:
            return binary(op, a, b)
        if op in ("in", "not in") and isinstance(a, Expr):
            raise LanguageError("`in` works on values known at compile time")
        return eval(f"a {op} b", {"a": a, "b": b})  # noqa: S307 - an operator of the table

    def _conjunction(self, a: Any, b: Any) -> Any:
        if not isinstance(a, Expr):
            return b if a else a
        return a if b is True else binary("&", arithmetic.truth(a), arithmetic.truth(b))

    def eval_BoolOp(self, node: ast.BoolOp) -> Any:
        """`and`, `or`: the right side has no effect, and is not run where it could
        go wrong, if the left side decides."""
        both = isinstance(node.op, ast.And)
        value = self.operand(node.values[0])
        for right in node.values[1:]:
            if not isinstance(value, Expr) or isinstance(value, Const):
                known = bool(arithmetic.truth(value))
                if known != both:
                    return value
                value = self.operand(right)
                continue
            test = arithmetic.truth(value)
            value = self.choose(test, right, None, True) if both else self.choose(test, None, right, False)
        return value

    def eval_IfExp(self, node: ast.IfExp) -> Any:
        return self.conditional(node.test, node.body, node.orelse)

    def conditional(self, test: ast.expr, yes: ast.expr, no: ast.expr) -> Any:
        """A choice of which only the chosen side is evaluated."""
        condition = arithmetic.truth(self.operand(test))
        if not isinstance(condition, Expr):
            return self.operand(yes if condition else no)
        return self.choose(condition, yes, no, None)

    def choose(self, condition: Expr, yes: ast.expr | None, no: ast.expr | None, logical: bool | None) -> Any:
        """Both sides side by side where that is harmless, else an `scf.if`. For a
        logical operator the missing side is the condition's own value."""
        sides = []
        for node in (yes, no):
            with self.trace.capture() as (body, unsafe):
                # The missing side of `and` is false, that of `or` true.
                value: Any = not logical
                if node is not None:
                    value = self.operand(node)
                    value = value if logical is None else arithmetic.truth(value)
            sides.append((body, unsafe[0], value))
        for _, _, value in sides:
            if isinstance(value, (Buffer, Access)):
                raise LanguageError("a choice between buffers cannot depend on a device value")
        (first, _, a), (second, _, b) = sides
        if not any(count for _, count, _ in sides):
            self.trace.builder.splice(first)
            self.trace.builder.splice(second)
            if logical is not None and (isinstance(a, Expr) or isinstance(b, Expr)):
                return binary("&" if logical else "|", condition, a if logical else b)
            return arithmetic.select(condition, a, b)
        return loops.branch_value(self.trace, condition, (first, a), (second, b))

    def eval_Call(self, node: ast.Call) -> Any:
        function = self.evaluate(node.func)
        if function is device_math.if_then_else and len(node.args) == 3 and not node.keywords:
            return self.conditional(*node.args)
        arguments = self._items(node.args)
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                named.update(self.evaluate(keyword.value))
            else:
                named[keyword.arg] = self.evaluate(keyword.value)
        self.at(node)
        if any(isinstance(x, (Expr, Buffer)) for x in arguments):
            replacement = (
                DEVICE_BUILTINS.get(function)
                if isinstance(function, type(min))
                or function
                in (
                    builtins.float,
                    builtins.int,
                    builtins.bool,
                )
                else None
            )
            if replacement is not None:
                function = replacement
            elif function is builtins.range:
                function = loops.serial
            elif getattr(function, "__module__", "") in ("math", "cmath") or function in (sum, round, sorted):
                raise self.error(
                    node,
                    f"{function.__name__} of Python works on numbers known at compile time; "
                    f"use T.{function.__name__} or write it out",
                )
        elif function is builtins.range and self.trace.launch is not None:
            function = loops.python_range
        return function(*arguments, **named)

    def eval_Lambda(self, node: ast.Lambda) -> Any:
        from .functions import Closure

        return Closure(node, self.frame, self.defaults(node.args))

    def defaults(self, spec: ast.arguments) -> dict[str, Any]:
        """The default values of a function's parameters."""
        names = [item.arg for item in (*spec.posonlyargs, *spec.args)]
        values = dict(zip(names[len(names) - len(spec.defaults) :], map(self.operand, spec.defaults)))
        for item, value in zip(spec.kwonlyargs, spec.kw_defaults):
            if value is not None:
                values[item.arg] = self.operand(value)
        return values

    def eval_ListComp(self, node: ast.ListComp) -> Any:
        with self._scope():
            return [self._item(node.elt) for _ in self._comprehension(node.generators)]

    def eval_SetComp(self, node: ast.SetComp) -> Any:
        with self._scope():
            return {self._item(node.elt) for _ in self._comprehension(node.generators)}

    def eval_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        with self._scope():
            return iter([self._item(node.elt) for _ in self._comprehension(node.generators)])

    def eval_DictComp(self, node: ast.DictComp) -> Any:
        with self._scope():
            return {self.operand(node.key): self._item(node.value) for _ in self._comprehension(node.generators)}

    def _item(self, node: ast.expr) -> Any:
        """An item of a comprehension: elements are loaded, new variables are kept."""
        value = self.evaluate(node)
        kept = isinstance(value, Var) and isinstance(node, ast.Call)
        return value.load() if isinstance(value, Access) and value.is_element and not kept else value

    @contextlib.contextmanager
    def _scope(self) -> Iterator[None]:
        """A comprehension's variables are its own."""
        outer = self.frame
        self.frame = Frame(outer.source, outer, {})
        try:
            yield
        finally:
            self.frame = outer

    def _comprehension(self, generators: list[ast.comprehension]) -> Any:
        """Runs through a comprehension's loops, at compile time."""
        if not generators:
            yield None
            return
        first = generators[0]
        items = loops.unrolled(self.evaluate(first.iter), "a comprehension")
        for item in items:
            self.assign(first.target, item)
            if all(self._known(test) for test in first.ifs):
                yield from self._comprehension(generators[1:])

    def _known(self, test: ast.expr) -> bool:
        value = arithmetic.truth(self.operand(test))
        if isinstance(value, Expr):
            raise self.error(test, "a comprehension's condition must be known at compile time")
        return bool(value)

    # Targets -----------------------------------------------------------

    def guard_item(self, target: ast.Subscript) -> None:
        """Refuses to change a list or dictionary from inside a loop or branch of the
        kernel that it was made outside of: that would happen once, while building."""
        root: ast.expr = target
        while isinstance(root, (ast.Subscript, ast.Attribute)):
            root = root.value
        found = self.frame.find(root.id) if isinstance(root, ast.Name) else None
        for region in reversed(self.trace.regions):
            if found is not None and region is found[1].region:
                return
            if region.kind in ("loop", "parallel", "persistent", "branch"):
                raise self.error(
                    target,
                    "an item of a list or dictionary that was made outside this loop or branch is assigned in it, "
                    "which would happen once, when the kernel is built; use T.alloc_var or T.alloc_local",
                )

    def assign(self, target: ast.expr, value: Any) -> None:
        """Assigns to a name, an element, or a tuple of them."""
        if isinstance(target, ast.Name):
            found = self.frame.names.get(target.id)
            if (
                found is not None
                and isinstance(found.value, Var)
                and not isinstance(value, (Var, Buffer))
                and (isinstance(value, (Expr, int, float)))
            ):
                found.value.store(value)
                return
            self.bind(target.id, value, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = list(value)
            if any(isinstance(t, ast.Starred) for t in target.elts):
                raise self.error(target, "a starred target is not supported in a kernel")
            if len(values) != len(target.elts):
                raise self.error(target, f"{len(target.elts)} names, and {len(values)} values")
            for part, item in zip(target.elts, values):
                self.assign(part, item)
        elif isinstance(target, ast.Subscript):
            container = self.evaluate(target.value)
            if isinstance(container, Buffer):
                access = self.evaluate(target)
                self.at(target)
                access.store(value)
                return
            key = self.operand(target.slice)
            if isinstance(container[key] if _has(container, key) else None, Var) and isinstance(
                value, (Expr, int, float)
            ):
                container[key].store(value)
            else:
                self.guard_item(target)
                container[key] = value
        elif isinstance(target, ast.Attribute):
            raise self.error(target, "attributes cannot be assigned in a kernel")
        else:
            raise self.error(target, f"cannot assign to {type(target).__name__}")


def _has(container: Any, key: Any) -> bool:
    """Whether a list or a dictionary has an item."""
    try:
        return key in container if isinstance(container, dict) else -len(container) <= key < len(container)
    except TypeError:
        return False
