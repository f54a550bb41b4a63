"""How operators become ops of arith and math, type by type."""

from __future__ import annotations

import operator
from typing import Any, Callable

from ..errors import LanguageError
from .dtypes import BOOL, INT, LARGEST, UINT, DType, float32, index, int32, int64
from .dtypes import bool as bool_
from .expr import (
    Bounds,
    Const,
    Expr,
    Linear,
    Scalar,
    bounds_of,
    common_dtype,
    describe,
    integer_op,
    linear_of,
    round_to,
)
from .trace import current

COMPARISONS: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    # how Python does it, the signed predicate, the float predicate
    "==": (operator.eq, "eq", "oeq"),
    "!=": (operator.ne, "ne", "une"),
    "<": (operator.lt, "slt", "olt"),
    "<=": (operator.le, "sle", "ole"),
    ">": (operator.gt, "sgt", "ogt"),
    ">=": (operator.ge, "sge", "oge"),
}
FOLD: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "min": min,
    "max": max,
    "ceildiv": lambda a, b: -(-a // b),
}
FLOAT_OPS = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf", "min": "minnumf", "max": "maxnumf"}
INTEGER_OPS = {"+": "addi", "-": "subi", "*": "muli", "&": "andi", "|": "ori", "^": "xori", "<<": "shli"}
BITWISE = ("&", "|", "^", "<<", ">>")


def emit_binary(op: str, a: Any, b: Any) -> Any:
    """`a op b`: a Python number or Const where both are known, else a new value."""
    for side in (a, b):
        if op in BITWISE and (isinstance(side, float) or isinstance(side, Expr) and side.dtype.is_float):
            raise LanguageError(f"'{op}' takes integers, and one of its operands is a float")
    folded = _fold(op, a, b)
    if folded is not None:
        return folded
    trace = current()
    dtype = common_dtype(a, b)
    if op in ("<<", ">>") and isinstance(a, Expr):
        dtype = a.dtype if a.dtype.kind != BOOL else int32
    if op in COMPARISONS:
        return _compare(op, a, b, dtype)
    if dtype.kind == BOOL and op not in ("&", "|", "^"):
        dtype = int32
    if dtype.is_float:
        return _float_binary(op, trace.value(a, dtype), trace.value(b, dtype), b)
    if op == "/":
        raise LanguageError(
            "'/' of two integers is ambiguous on a device; use // for the floor, T.truncdiv to round to zero, "
            "or cast to a float first"
        )
    return _integer_binary(op, a, b, dtype)


def _fold(op: str, a: Any, b: Any) -> Any:
    """The result where both operands are known, else None."""
    if not all(isinstance(side, (int, float, Const)) for side in (a, b)):
        return None
    x, y = (side.value if isinstance(side, Const) else side for side in (a, b))
    if op in COMPARISONS:
        return COMPARISONS[op][0](x, y)
    typed = isinstance(a, Const) or isinstance(b, Const)
    dtype = common_dtype(a, b)
    if op in ("<<", ">>") and isinstance(a, Const):
        dtype = a.dtype
    if typed and dtype.is_float:
        x, y = float(x), float(y)
    elif op == "/" and typed:
        raise LanguageError(
            "'/' of two integers is ambiguous on a device; use // for the floor, or cast to a float first"
        )
    try:
        result = FOLD[op](x, y)
    except ZeroDivisionError:
        if dtype.is_float and op == "/":
            result = float("nan") if x == 0 or x != x else float("inf") * (1 if (x > 0) == (str(y)[0] != "-") else -1)
        else:
            raise LanguageError("division by zero") from None
    return Const(round_to(result, dtype), dtype) if typed else result


def _compare(op: str, a: Any, b: Any, dtype: DType) -> Any:
    trace = current()
    if not dtype.is_float:
        known = _known_comparison(op, bounds_of(a), bounds_of(b), _difference(op, a, b, dtype))
        if known is not None:
            if trace.launch is not None and trace.launch.roles is not None:
                trace.launch.roles.known(a, b)
            return known
    x, y = trace.value(a, dtype), trace.value(b, dtype)
    _, signed, ordered = COMPARISONS[op]
    if dtype.is_float:
        return trace.emit(f"arith.cmpf {ordered}, {x.ssa}, {y.ssa} : {dtype.mlir}", bool_, bounds=(0, 1))
    predicate = "u" + signed[1:] if dtype.kind in (UINT, BOOL) and signed[0] == "s" else signed
    return trace.emit(f"arith.cmpi {predicate}, {x.ssa}, {y.ssa} : {dtype.mlir}", bool_, bounds=(0, 1))


def _difference(op: str, a: Any, b: Any, dtype: DType) -> int | None:
    """By how much two integers differ, where that is certain. What wraps may be equal
    for certain, but not smaller."""
    linear = _linear("-", a, b, dtype)
    if linear is None or linear.terms or dtype != index and op not in ("==", "!="):
        return None
    return int(round_to(linear.constant, dtype))


def _known_comparison(op: str, a: Bounds, b: Bounds, difference: int | None) -> bool | None:
    """What a comparison of integers gives for every value, where that is certain."""
    if difference is not None:
        return bool(COMPARISONS[op][0](difference, 0))
    (al, ah), (bl, bh) = a, b
    below = ah is not None and bl is not None and ah < bl
    above = al is not None and bh is not None and al > bh
    at_most = ah is not None and bl is not None and ah <= bl
    at_least = al is not None and bh is not None and al >= bh
    if op == "<":
        return True if below else False if at_least else None
    if op == ">":
        return True if above else False if at_most else None
    if op == "<=":
        return True if at_most else False if above else None
    if op == ">=":
        return True if at_least else False if below else None
    if below or above:
        return op == "!="
    return None


# Floats --------------------------------------------------------------------


def _float_binary(op: str, x: Scalar, y: Scalar, original: Any) -> Any:
    trace, dtype = current(), x.dtype
    if op in FLOAT_OPS:
        return trace.emit(f"arith.{FLOAT_OPS[op]} {x.ssa}, {y.ssa} : {dtype.mlir}", dtype)
    if op in ("//", "%", "ceildiv"):
        quotient = _float_binary("/", x, y, None)
        whole = emit_unary("ceil" if op == "ceildiv" else "floor", quotient)
        return whole if op != "%" else _float_binary("-", x, _float_binary("*", whole, y, None), None)
    if op == "**":
        if isinstance(original, int) and not isinstance(original, bool) and 0 <= original <= 16:
            return power(x, original)
        return trace.emit(f"math.powf {x.ssa}, {y.ssa} : {dtype.mlir}", dtype)
    raise LanguageError(f"'{op}' takes integers, and these are {str(dtype)}")


def power(x: Any, exponent: int) -> Any:
    """A power with a small integer exponent, by multiplications."""
    result: Any = None
    while exponent:
        if exponent & 1:
            result = x if result is None else emit_binary("*", result, x)
        exponent >>= 1
        if exponent:
            x = emit_binary("*", x, x)
    return Const(round_to(1, x.dtype), x.dtype) if result is None else result


def emit_unary(op: str, value: Any) -> Any:
    """A float function of arith or math."""
    trace = current()
    scalar = trace.value(value, None if isinstance(value, Expr) else float32)
    if not scalar.dtype.is_float:
        scalar = emit_cast(scalar, float32)
    dialect = "arith" if op == "negf" else "math"
    return trace.emit(f"{dialect}.{op} {scalar.ssa} : {scalar.dtype.mlir}", scalar.dtype)


# Integers ------------------------------------------------------------------


def _integer_binary(op: str, a: Any, b: Any, dtype: DType) -> Any:
    trace = current()
    bounds = _bounds(op, bounds_of(a), bounds_of(b))
    if dtype.kind in (INT, UINT) and dtype != index:
        bounds = _within(bounds, dtype)
    linear = _linear(op, a, b, dtype)
    if linear is not None and not linear.terms:
        return linear.constant if dtype == index else Const(round_to(linear.constant, dtype), dtype)
    if op in ("//", "%", "ceildiv") and isinstance(b, int):
        if b == 0:
            raise LanguageError("division by zero")
        if b == 1:
            return 0 if op == "%" else trace.value(a, dtype)
    if op == "**":
        if not isinstance(b, int) or b < 0:
            raise LanguageError("an integer's power needs a constant exponent that is not negative")
        return power(trace.value(a, dtype), b)
    x, y = trace.value(a, dtype), trace.value(b, dtype)
    if op in ("//", "%", "ceildiv"):
        return _divide(op, x, y, bounds_of(a), bounds_of(b), bounds)
    unsigned = dtype.kind in (UINT, BOOL)
    if op in INTEGER_OPS:
        name = INTEGER_OPS[op]
    elif op == ">>":
        name = "shrui" if unsigned else "shrsi"
    else:
        name = op + ("ui" if unsigned else "si")
    return trace.emit(f"arith.{name} {x.ssa}, {y.ssa} : {dtype.mlir}", dtype, linear, bounds)


def _divide(op: str, x: Scalar, y: Scalar, a: Bounds, b: Bounds, bounds: Bounds) -> Scalar:
    trace, dtype = current(), x.dtype
    if not (b[0] is not None and b[0] > 0):
        trace.unsafe += 1
    natural = dtype.kind == UINT or (a[0] is not None and a[0] >= 0 and b[0] is not None and b[0] > 0)
    operands = f"{x.ssa}, {y.ssa} : {dtype.mlir}"
    if op == "//":
        return trace.emit(f"arith.{'divui' if natural else 'floordivsi'} {operands}", dtype, None, bounds)
    if op == "ceildiv":
        return trace.emit(f"arith.{'ceildivui' if natural else 'ceildivsi'} {operands}", dtype, None, bounds)
    if natural:
        return trace.emit(f"arith.remui {operands}", dtype, None, bounds)
    # The remainder of the floor has the divisor's sign.
    rest = trace.emit(f"arith.remsi {operands}", dtype)
    zero = trace.constant(0, dtype)
    other_sign = trace.value(emit_binary("<", emit_binary("^", rest, y), zero))
    inexact = trace.value(emit_binary("!=", rest, zero))
    wrong = emit_binary("&", other_sign, inexact)
    fixed = trace.emit(f"arith.addi {rest.ssa}, {y.ssa} : {dtype.mlir}", dtype)
    return trace.emit(f"arith.select {wrong.ssa}, {fixed.ssa}, {rest.ssa} : {dtype.mlir}", dtype, None, bounds)


def _linear(op: str, a: Any, b: Any, dtype: DType) -> Linear | None:
    """The result as a linear form, modulo what the type holds. A form of another type
    is none of this one, where it would not have wrapped."""
    if op not in ("+", "-", "*") or dtype.kind not in (INT, UINT):
        return None
    x, y = (
        Linear(0, {side.ssa: 1}) if isinstance(side, Scalar) and side.dtype != dtype else linear_of(side)
        for side in (a, b)
    )
    if x is None or y is None:
        return None
    if op == "+":
        return x.plus(y, 1)
    if op == "-":
        return x.plus(y, -1)
    if op == "*" and not y.terms:
        return x.times(y.constant)
    if op == "*" and not x.terms:
        return y.times(x.constant)
    return None


def _bounds(op: str, a: Bounds, b: Bounds) -> Bounds:
    (al, ah), (bl, bh) = a, b
    if op == "+":
        return (None if al is None or bl is None else al + bl, None if ah is None or bh is None else ah + bh)
    if op == "-":
        return (None if al is None or bh is None else al - bh, None if ah is None or bl is None else ah - bl)
    if op == "*":
        if None not in (al, ah, bl, bh):
            corners = [x * y for x in (al, ah) for y in (bl, bh)]  # type: ignore[operator]
            return min(corners), max(corners)
        return (al * bl, None) if al is not None and bl is not None and al >= 0 and bl >= 0 else (None, None)
    if op in ("//", "ceildiv") and bl is not None and bl > 0:
        low = None if al is None else integer_op(op, al, bl if al < 0 else (bh if bh is not None else 1 << 62))
        if al is not None and al >= 0 and bh is None:
            low = 0
        return (low, None if ah is None else integer_op(op, ah, bl if ah >= 0 else (bh or 1 << 62)))
    if op == "%" and bl is not None and bl > 0:
        return (0, None if bh is None else bh - 1)
    if op == "min":
        known = [x for x in (ah, bh) if x is not None]
        return (None if al is None or bl is None else min(al, bl), min(known) if known else None)
    if op == "max":
        known = [x for x in (al, bl) if x is not None]
        return (max(known) if known else None, None if ah is None or bh is None else max(ah, bh))
    if op == "&" and (al is not None and al >= 0 or bl is not None and bl >= 0):
        known = [x for x, low in ((ah, al), (bh, bl)) if x is not None and low is not None and low >= 0]
        return (0, min(known) if known else None)
    if op == ">>" and al is not None and al >= 0:
        return (0, ah)
    return (None, None)


def _within(bounds: Bounds, dtype: DType) -> Bounds:
    """Bounds that survive only where the type cannot have wrapped."""
    least = 0 if dtype.kind == UINT else -(1 << (dtype.bits - 1))
    most = (1 << (dtype.bits if dtype.kind == UINT else dtype.bits - 1)) - 1
    low, high = bounds
    if low is None or high is None or low < least or high > most:
        return (0, None) if dtype.kind == UINT else (None, None)
    return bounds


# Conversions and choice ----------------------------------------------------


def emit_cast(value: Any, to: DType) -> Scalar:
    """A value in another element type. 8-bit floats saturate, as the hardware's
    conversions do; floats become integers towards zero."""
    trace = current()
    x = trace.value(value)
    source = x.dtype
    if source == to:
        return x

    def emit(name: str, operand: Scalar, dtype: DType) -> Scalar:
        return trace.emit(f"arith.{name} {operand.ssa} : {operand.dtype.mlir} to {dtype.mlir}", dtype)

    if to.kind == BOOL:
        zero = trace.constant(0, source)
        if source.is_float:
            return trace.emit(f"arith.cmpf une, {x.ssa}, {zero.ssa} : {source.mlir}", bool_)
        return trace.emit(f"arith.cmpi ne, {x.ssa}, {zero.ssa} : {source.mlir}", bool_)
    if source.is_float and to.is_float:
        return _float_to_float(x, to)
    if source.is_float:
        if to == index:
            return emit_cast(emit("fptosi", x, int64), index)
        return emit("fptosi" if to.kind == INT else "fptoui", x, to)
    if to.is_float:
        if source == index:
            low, high = x.bounds
            narrow = low is not None and high is not None and low >= -(1 << 31) and high < 1 << 31
            return emit_cast(emit_cast(x, int32 if narrow else int64), to)
        if to.bits == 8:
            return _float_to_float(emit_cast(x, float32), to)
        return emit("sitofp" if source.kind == INT else "uitofp", x, to)
    bounds = x.bounds if to == index or _within(x.bounds, to) == x.bounds else (None, None)
    if index in (source, to):
        name = "index_castui" if source.kind in (UINT, BOOL) else "index_cast"
        result = emit(name, x, to)
        result.bounds = bounds
        return result
    if source.bits == to.bits:
        return Scalar(x.ssa, to, None, bounds)
    if source.bits > to.bits:
        result = emit("trunci", x, to)
    else:
        result = emit("extsi" if source.kind == INT else "extui", x, to)
    result.bounds = bounds
    return result


def _float_to_float(x: Scalar, to: DType) -> Scalar:
    trace = current()
    if to.mlir == x.dtype.mlir:
        return Scalar(x.ssa, to)
    if to.bits == 8 and x.dtype.bits > 8:
        most, least = (trace.constant(sign * LARGEST[str(to)], x.dtype) for sign in (1, -1))
        upper = trace.emit(f"arith.minimumf {x.ssa}, {most.ssa} : {x.dtype.mlir}", x.dtype)
        x = trace.emit(f"arith.maximumf {upper.ssa}, {least.ssa} : {x.dtype.mlir}", x.dtype)
    if to.bits == x.dtype.bits:
        x = trace.emit(f"arith.extf {x.ssa} : {x.dtype.mlir} to f32", float32)
        return _float_to_float(x, to)
    name = "extf" if to.bits > x.dtype.bits else "truncf"
    return trace.emit(f"arith.{name} {x.ssa} : {x.dtype.mlir} to {to.mlir}", to)


def select(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`; both are evaluated."""
    trace = current()
    if not isinstance(condition, Expr):
        return yes if condition else no
    if isinstance(condition, Const):
        return yes if condition.value else no
    dtype = common_dtype(yes, no)
    test = trace.value(condition, bool_)
    x, y = trace.value(yes, dtype), trace.value(no, dtype)
    (al, ah), (bl, bh) = bounds_of(yes), bounds_of(no)
    bounds = (None if al is None or bl is None else min(al, bl), None if ah is None or bh is None else max(ah, bh))
    return trace.emit(f"arith.select {test.ssa}, {x.ssa}, {y.ssa} : {dtype.mlir}", dtype, None, bounds)


def truth(value: Any) -> Any:
    """A condition: a Python bool where it is known, else an i1 value."""
    if isinstance(value, Const):
        return bool(value.value)
    if not isinstance(value, Expr):
        try:
            return bool(value)
        except TypeError:
            raise LanguageError(f"{describe(value)} is no condition") from None
    return current().value(value, bool_)
