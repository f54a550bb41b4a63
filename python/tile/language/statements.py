"""Runs a kernel's statements."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import LanguageError, TileError
from . import arithmetic, loops
from .buffers import Access, Buffer, Var
from .expr import Const, Expr, binary, describe
from .functions import Closure
from .interpreter import OPERATORS, Frame, Interpreter
from .loops import DeviceLoop, LoopExit
from .math import max as device_max
from .math import min as device_min
from .reducers import KINDS, Reducer
from .roles import Scoped
from .trace import Trace

META_LIMIT = 1_000_000
# Statements whose parts are run one by one.
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Break, ast.Continue, ast.Return, ast.FunctionDef)


class _Break(Exception):
    """Leaves a loop that runs at compile time."""


class _Continue(Exception):
    """Goes on with the next iteration of a loop that runs at compile time."""


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def run_function(trace: Trace, frame: Frame, node: ast.FunctionDef | ast.Lambda, arguments: Mapping[str, Any]) -> Any:
    """Runs a function's body with these arguments; gives what it returns."""
    runner = Statements(trace, frame)
    for name, value in arguments.items():
        runner.bind(name, value, node)
    if isinstance(node, ast.Lambda):
        return runner.operand(node.body)
    try:
        runner.block(node.body)
    except _Return as result:
        return result.value
    return None


class Statements(Interpreter):
    """Executes statements of one frame."""

    def __init__(self, trace: Trace, frame: Frame) -> None:
        super().__init__(trace, frame)
        self.exits: list[LoopExit | None] = []  # None for a loop at compile time
        self.depths: list[int] = []
        self.start = len(trace.regions)

    def block(self, body: list[ast.stmt]) -> None:
        """Statements in order. Those after one that may have left the loop run under
        the condition that it has not."""
        for position, statement in enumerate(body):
            self.execute(statement)
            leaving = self.exits[-1] if self.exits else None
            rest = body[position + 1 :]
            if leaving is not None and leaving.taken and rest:
                if isinstance(statement, (ast.Break, ast.Continue)):
                    return
                self.at(rest[0])
                with self.branch(leaving.active()):
                    self.block(rest)
                return

    @contextlib.contextmanager
    def branch(self, condition: Any) -> Iterator[Any]:
        """The region of an `scf.if` without an else."""
        with self.trace.builder.block(f"scf.if {condition.ssa}") as opened, self.trace.region("branch"):
            yield opened

    def execute(self, node: ast.stmt) -> None:
        """One statement."""
        handler = getattr(self, f"exec_{type(node).__name__}", None)
        if handler is None:
            raise self.error(node, f"`{type(node).__name__.lower()}` statements are not supported in a kernel")
        self.at(node)
        launch = self.trace.launch
        try:
            if launch is not None and launch.roles is not None and not isinstance(node, COMPOUND):
                with launch.roles.statement():
                    handler(node)
            else:
                handler(node)
        except LanguageError as error:
            if error.location is None:
                error.location = self.frame.source.location(node)
            raise
        except (TileError, _Break, _Continue, _Return):
            raise
        except Exception as error:
            raise self.error(node, f"{type(error).__name__}: {error}") from error

    # Simple statements -------------------------------------------------

    def exec_Expr(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def exec_Pass(self, node: ast.Pass) -> None:
        pass

    def exec_Import(self, node: ast.Import) -> None:
        for name in node.names:
            module = __import__(name.name)
            if name.asname:
                for part in name.name.split(".")[1:]:
                    module = getattr(module, part)
            self.bind(name.asname or name.name.split(".")[0], module, node)

    def exec_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            raise self.error(node, "relative imports are not supported in a kernel")
        module = __import__(node.module, fromlist=[name.name for name in node.names])
        for name in node.names:
            self.bind(name.asname or name.name, getattr(module, name.name), node)

    def exec_Assign(self, node: ast.Assign) -> None:
        if self._combines(node):
            return
        first = node.targets[0]
        self.trace.hint = first.id if isinstance(first, ast.Name) else ""
        value = self._assigned(node.value)
        self.trace.hint = ""
        self.at(node)
        for target in node.targets:
            self.assign(target, value)

    def _combines(self, node: ast.Assign) -> bool:
        """`r[i] = T.max(r[i], x)` of a reducer, and whether it was that."""
        target = node.targets[0]
        if self.trace.parallel is None or not isinstance(target, ast.Subscript) or len(node.targets) > 1:
            return False
        reducer = self.evaluate(target.value)
        if not isinstance(reducer, Reducer):
            return False
        value, sides = node.value, []
        place = ast.dump(ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target))
        if isinstance(value, ast.Call) and len(value.args) == 2 and not value.keywords:
            named = {"max": (device_max, max), "min": (device_min, min)}.get(reducer.kind, ())
            sides = value.args if self.evaluate(value.func) in named else []
        elif isinstance(value, ast.BinOp) and OPERATORS[type(value.op)] == KINDS[reducer.kind][0]:
            sides = [value.left, value.right]
        others = [side for side in sides if ast.dump(side) != place]
        if len(others) != 1:
            raise reducer.misused()
        reducer.update(self.evaluate(target), self.operand(others[0]))
        return True

    def _assigned(self, node: ast.expr) -> Any:
        """A value to be bound: elements and variables are loaded, one by one."""
        if isinstance(node, ast.Tuple) and not any(isinstance(item, ast.Starred) for item in node.elts):
            return tuple(self._assigned(item) for item in node.elts)
        if isinstance(node, ast.Call):
            value = self.evaluate(node)
            if isinstance(value, DeviceLoop):
                return value.assigned()
            # The call that makes a variable gives the variable itself.
            return (
                value.load() if isinstance(value, Access) and value.is_element and not isinstance(value, Var) else value
            )
        return self.operand(node)

    def exec_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`A: T.Tensor(...)` declares a parameter of an eager kernel; with a value
        the annotation is a type to convert to."""
        from .program import declare_parameter

        if not isinstance(node.target, ast.Name):
            raise self.error(node, "only names can be annotated in a kernel")
        annotation = self.evaluate(node.annotation)
        if node.value is not None:
            value = self.operand(node.value)
            if isinstance(value, (Expr, int, float)):
                from .dtypes import DType
                from .expr import cast

                value = cast(value, annotation) if isinstance(annotation, DType) else value
            self.assign(node.target, value)
            return
        buffer = declare_parameter(self.trace, node.target.id, annotation)
        self.bind(node.target.id, buffer, node)

    def exec_AugAssign(self, node: ast.AugAssign) -> None:
        op = OPERATORS[type(node.op)]
        target = node.target
        if isinstance(target, ast.Subscript):
            container = self.evaluate(target.value)
            if isinstance(container, Buffer):
                access = self.evaluate(target)
                value = self.operand(node.value)
                self.at(node)
                if isinstance(container, Reducer):
                    if KINDS[container.kind][0] != op:
                        raise container.misused()
                    container.update(access, value)
                    return
                access.store(binary(op, access.load(), value))
                return
            key = self.operand(target.slice)
            old = container[key]
            if isinstance(old, Var):
                value = self.operand(node.value)
                self.at(node)
                old.store(binary(op, old.load(), value))
            else:
                self.guard_item(target)
                container[key] = self._combine(op, old, self.operand(node.value), node)
            return
        if not isinstance(target, ast.Name):
            raise self.error(node, "cannot assign to this target in a kernel")
        old = self.read(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        if isinstance(old, Var):
            value = self.operand(node.value)
            self.at(node)
            old.store(binary(op, old.load(), value))
            return
        self.assign(target, self._combine(op, old, self.operand(node.value), node))

    def _combine(self, op: str, old: Any, value: Any, node: ast.AST) -> Any:
        self.at(node)
        if isinstance(old, Expr) or isinstance(value, Expr):
            return binary(op, old, value)
        return eval(f"a {op} b", {"a": old, "b": value})  # noqa: S307 - an operator of the table

    def exec_Assert(self, node: ast.Assert) -> None:
        from .debug import device_assert

        value = self.operand(node.test)
        message = str(self.evaluate(node.msg)) if node.msg is not None else ast.unparse(node.test)
        if isinstance(value, Expr) and not isinstance(value, Const):
            self.at(node)
            device_assert(value, message)
        elif not arithmetic.truth(value):
            raise self.error(node, f"assertion failed: {message}")

    def exec_Raise(self, node: ast.Raise) -> None:
        what = self.evaluate(node.exc) if node.exc is not None else None
        raise self.error(node, f"{type(what).__name__}: {what}" if what is not None else "raise")

    def exec_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name) or target.id not in self.frame.names:
                raise self.error(node, "only a local name can be deleted")
            del self.frame.names[target.id]

    def exec_FunctionDef(self, node: ast.FunctionDef) -> None:
        function: Any = Closure(node, self.frame, self.defaults(node.args))
        for decorator in reversed(node.decorator_list):
            wrap = self.evaluate(decorator)
            from .functions import macro

            function = function if wrap is macro else wrap(function)
        self.bind(node.name, function, node)

    def exec_Return(self, node: ast.Return) -> None:
        if len(self.trace.regions) > self.start:
            raise self.error(node, "a kernel cannot return from inside a loop, a branch or T.Kernel; return at its end")
        raise _Return(None if node.value is None else self.evaluate(node.value))

    # Control flow ------------------------------------------------------

    def exec_If(self, node: ast.If) -> None:
        roles = self.trace.launch.roles if self.trace.launch is not None else None
        if roles is not None:
            roles.decided = False
        condition = arithmetic.truth(self.operand(node.test))
        if not isinstance(condition, Expr):
            with roles.chosen() if roles is not None and roles.decided else contextlib.nullcontext():
                self.block(node.body if condition else node.orelse)
            return
        if self.trace.launch is None:
            raise self.error(node, "a condition outside T.Kernel must be known at compile time")
        self.at(node)
        leaving = self.exits[-1] if self.exits else None
        before = leaving.taken if leaving is not None else False
        after = before
        with self.branch(condition) as opened:
            self.block(node.body)
        if leaving is not None:
            after, leaving.taken = leaving.taken, before
        if node.orelse:
            with self.trace.builder.another(opened, "else"), self.trace.region("branch"):
                self.block(node.orelse)
        if leaving is not None:
            leaving.taken = leaving.taken or after

    def exec_For(self, node: ast.For) -> None:
        if node.orelse:
            raise self.error(node, "`else` of a loop is not supported in a kernel")
        items = self.evaluate(node.iter)
        self.at(node)
        leaves = {type(item) for item in _exits(node.body)}
        if isinstance(items, DeviceLoop):
            known = items.known() if not leaves else None
            if known is None:
                items.run(self, node, leaves)
                return
            items = known
        self._unrolled(node, loops.unrolled(items, "a loop"))

    @contextlib.contextmanager
    def _inside(self, leaving: LoopExit | None) -> Iterator[None]:
        """In a loop that `leaving` ends, or that runs at compile time."""
        self.exits.append(leaving)
        self.depths.append(len(self.trace.regions))
        try:
            yield
        finally:
            self.exits.pop()
            self.depths.pop()

    def _goes_on(self, body: list[ast.stmt]) -> bool:
        """Runs the body of a loop at compile time; whether it was not left."""
        try:
            self.block(body)
        except _Continue:
            return True
        except _Break:
            return False
        return True

    def _unrolled(self, node: ast.For, items: Any) -> None:
        with self._inside(None):
            for item in items:
                self.assign(node.target, item)
                if not self._goes_on(node.body):
                    break

    def exec_While(self, node: ast.While) -> None:
        if node.orelse:
            raise self.error(node, "`else` of a loop is not supported in a kernel")
        leaves = {type(item) for item in _exits(node.body)}
        forever = isinstance(node.test, ast.Constant) and bool(node.test.value)
        if forever and ast.Break not in leaves:
            raise self.error(node, "this loop never ends: it has no `break`")
        if not forever:
            with self.trace.region("loop"), self.trace.capture():
                known = arithmetic.truth(self.operand(node.test))
            if not isinstance(known, Expr):
                self._while_known(node)
                return
        loops.run_while(self, node, leaves, forever)

    def _while_known(self, node: ast.While) -> None:
        with self._inside(None):
            for count in range(META_LIMIT + 1):
                if count == META_LIMIT:
                    raise self.error(
                        node, f"this loop runs at compile time and has not ended after {META_LIMIT} rounds"
                    )
                test = arithmetic.truth(self.operand(node.test))
                if isinstance(test, Expr):
                    raise self.error(node, "the condition of this loop is known at first and a device value later")
                if not test or not self._goes_on(node.body):
                    break

    def loop_body(self, node: ast.For | ast.While, leaving: LoopExit) -> None:
        """The body of a device loop."""
        with self._inside(leaving):
            self.block(node.body)

    def exec_Break(self, node: ast.Break) -> None:
        self._leave(node, "break", _Break)

    def exec_Continue(self, node: ast.Continue) -> None:
        self._leave(node, "continue", _Continue)

    def _leave(self, node: ast.stmt, word: str, at_compile_time: type[Exception]) -> None:
        leaving = self.exits[-1]
        if leaving is not None:
            leaving.leave(word)
            return
        if len(self.trace.regions) > self.depths[-1]:
            raise self.error(
                node,
                f"`{word}` depends on a device value, and its loop runs at compile time; loop with T.serial or range()",
            )
        raise at_compile_time

    def exec_With(self, node: ast.With) -> None:
        self._with(node, node.items)

    def _with(self, node: ast.With, items: list[ast.withitem]) -> None:
        if not items:
            self.block(node.body)
            self.at(node)
            return
        item = items[0]
        manager = self.evaluate(item.context_expr)
        self.at(node)

        def inside(value: Any) -> None:
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
            self._with(node, items[1:])

        if isinstance(manager, Scoped):
            manager.run(self, inside)
        elif hasattr(manager, "__enter__"):
            with manager as value:
                inside(value)
        else:
            raise self.error(node, f"`with` takes T.Kernel and the like, not {describe(manager)}")


def _exits(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The `break` and `continue` statements of a loop's body that belong to it."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue)):
            yield statement
        elif isinstance(statement, (ast.For, ast.While, ast.FunctionDef)):
            continue
        else:
            for name in ("body", "orelse"):
                yield from _exits(getattr(statement, name, []))
