"""Scalar functions: on numbers at compile time, on device values in the kernel."""

from __future__ import annotations

import builtins
import math as python_math
from collections.abc import Callable
from typing import Any

from ..errors import LanguageError
from . import arithmetic
from .arithmetic import emit_binary, emit_unary
from .buffers import bitcast
from .dtypes import LARGEST, DType, bfloat16, float16, float32, float64, index, int32
from .dtypes import bool as bool_
from .dtypes import dtype as to_dtype
from .expr import Const, Expr, Scalar, binary, common_dtype, describe, dtype_of, plain, round_to
from .expr import cast as expr_cast
from .trace import current


def _function(name: str, op: str, fold: Callable[[float], float], doc: str) -> Callable[[Any], Any]:
    """A float function of one argument. Integers become float32 first."""

    def apply(x: Any, *_: Any) -> Any:
        x = plain(x)
        if isinstance(x, (int, float, Const)):
            number = float(x.value if isinstance(x, Const) else x)
            try:
                result = fold(number)
            except (ValueError, OverflowError):
                result = float("nan") if number != number or name not in ("exp", "exp2", "exp10") else float("inf")
            if isinstance(x, Const):
                dtype = x.dtype if x.dtype.is_float else float32
                return Const(round_to(result, dtype), dtype)
            return result
        if not isinstance(x, Expr):
            raise LanguageError(f"T.{name} takes a number, not {describe(x)}")
        return emit_unary(op, x)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = doc
    return apply


def _log(x: float) -> float:
    return python_math.log(x) if x > 0 else float("-inf") if x == 0 else float("nan")


exp = _function("exp", "exp", python_math.exp, "e to the power of x.")
exp2 = _function("exp2", "exp2", lambda x: 2.0**x, "2 to the power of x.")
log = _function("log", "log", _log, "The natural logarithm.")
log2 = _function("log2", "log2", lambda x: python_math.log2(x) if x > 0 else _log(x), "The logarithm to base 2.")
log10 = _function("log10", "log10", lambda x: python_math.log10(x) if x > 0 else _log(x), "The logarithm to base 10.")
log1p = _function("log1p", "log1p", python_math.log1p, "log(1 + x), exact near 0.")
expm1 = _function("expm1", "expm1", python_math.expm1, "exp(x) - 1, exact near 0.")
sqrt = _function("sqrt", "sqrt", python_math.sqrt, "The square root.")
rsqrt = _function("rsqrt", "rsqrt", lambda x: 1 / python_math.sqrt(x), "1 / sqrt(x).")
sin = _function("sin", "sin", python_math.sin, "The sine.")
cos = _function("cos", "cos", python_math.cos, "The cosine.")
tan = _function("tan", "tan", python_math.tan, "The tangent.")
sinh = _function("sinh", "sinh", python_math.sinh, "The hyperbolic sine.")
cosh = _function("cosh", "cosh", python_math.cosh, "The hyperbolic cosine.")
tanh = _function("tanh", "tanh", python_math.tanh, "The hyperbolic tangent.")
asin = _function("asin", "asin", python_math.asin, "The inverse of the sine.")
acos = _function("acos", "acos", python_math.acos, "The inverse of the cosine.")
atan = _function("atan", "atan", python_math.atan, "The inverse of the tangent.")
asinh = _function("asinh", "asinh", python_math.asinh, "The inverse of the hyperbolic sine.")
acosh = _function("acosh", "acosh", python_math.acosh, "The inverse of the hyperbolic cosine.")
atanh = _function("atanh", "atanh", python_math.atanh, "The inverse of the hyperbolic tangent.")
erf = _function("erf", "erf", python_math.erf, "The error function.")
_floor = _function("floor", "floor", python_math.floor, "The largest integer that is not above x.")
_ceil = _function("ceil", "ceil", python_math.ceil, "The smallest integer that is not below x.")
_trunc = _function("trunc", "trunc", python_math.trunc, "x without its fraction.")
_round = _function("round", "roundeven", builtins.round, "The nearest integer, ties to even.")
_nearbyint = _round


def _whole(function: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        return x if isinstance(x, (int, Expr)) and not dtype_of(x).is_float else function(x)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = function.__doc__
    return apply


floor = _whole(_floor, "floor")
ceil = _whole(_ceil, "ceil")
trunc = _whole(_trunc, "trunc")
round = _whole(_round, "round")
nearbyint = round


def exp10(x: Any) -> Any:
    """10 to the power of x."""
    return exp2(binary("*", x, python_math.log2(10))) if isinstance(plain(x), Expr) else 10.0**x


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    if not isinstance(plain(x), Expr):
        return 1 / (1 + python_math.exp(-x))
    return 1.0 / (1.0 + exp(-expr_cast(x, x.dtype if x.dtype.is_float else float32)))


def abs(x: Any) -> Any:
    """The absolute value."""
    x = plain(x)
    if not isinstance(x, Expr):
        return builtins.abs(x)
    if isinstance(x, Const):
        return Const(builtins.abs(x.value), x.dtype)
    if x.dtype.is_float:
        return emit_unary("absf", x)
    if x.dtype.kind != "int":
        return x
    scalar = current().value(x)
    return current().emit(f"math.absi {scalar.ssa} : {scalar.dtype.mlir}", scalar.dtype, None, (0, None))


def min(*values: Any) -> Any:
    """The least of the values. A NaN loses against a number."""
    return _fold_many("min", values)


def max(*values: Any) -> Any:
    """The greatest of the values. A NaN loses against a number."""
    return _fold_many("max", values)


def _fold_many(op: str, values: tuple[Any, ...]) -> Any:
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values = tuple(values[0])
    if not values:
        raise LanguageError(f"T.{op} needs a value")
    result = values[0]
    for value in values[1:]:
        from .expr import Symbol, fold_symbol

        sides = (plain(result), plain(value))
        if any(isinstance(x, Symbol) for x in sides) and all(isinstance(x, (Symbol, int)) for x in sides):
            result = fold_symbol(op, *sides)
        else:
            result = emit_binary(op, *sides)
    return result


def ceildiv(a: Any, b: Any) -> Any:
    """a / b rounded up."""
    return binary("ceildiv", a, b)


def floordiv(a: Any, b: Any) -> Any:
    """a / b rounded down."""
    return binary("//", a, b)


def floormod(a: Any, b: Any) -> Any:
    """What floordiv leaves; it has the sign of b."""
    return binary("%", a, b)


def _truncated(op: str, a: Any, b: Any) -> Any:
    a, b = plain(a), plain(b)
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        quotient = int(a / b) if isinstance(a, float) or isinstance(b, float) else builtins.abs(a) // builtins.abs(b)
        quotient = quotient if (a < 0) == (b < 0) or isinstance(a, float) else -quotient
        return quotient if op == "div" else a - quotient * b
    trace = current()
    dtype = common_dtype(a, b)
    x, y = trace.value(a, dtype), trace.value(b, dtype)
    if dtype.is_float:
        if op == "rem":
            return trace.emit(f"arith.remf {x.ssa}, {y.ssa} : {dtype.mlir}", dtype)
        return trunc(binary("/", x, y))
    trace.unsafe += 1
    sign = "u" if dtype.kind == "uint" else "s"
    return trace.emit(f"arith.{op}{sign}i {x.ssa}, {y.ssa} : {dtype.mlir}", dtype)


def truncdiv(a: Any, b: Any) -> Any:
    """a / b rounded towards zero, as in C."""
    return _truncated("div", a, b)


def truncmod(a: Any, b: Any) -> Any:
    """What truncdiv leaves, as in C."""
    return _truncated("rem", a, b)


fmod = truncmod


def pow(x: Any, y: Any) -> Any:
    """x to the power of y."""
    return binary("**", x, y)


def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    if not any(isinstance(plain(x), Expr) for x in (a, b, c)):
        return a * b + c
    trace = current()
    dtype = common_dtype(expr_cast(a, common_dtype(a, b)), c) if isinstance(a, Expr) else common_dtype(b, c)
    if not dtype.is_float:
        return binary("+", binary("*", a, b), c)
    x, y, z = (trace.value(v, dtype) for v in (a, b, c))
    return trace.emit(f"math.fma {x.ssa}, {y.ssa}, {z.ssa} : {dtype.mlir}", dtype)


def clamp(value: Any, low: Any, high: Any) -> Any:
    """The value, held between `low` and `high`."""
    return max(min(value, high), low)


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y)."""
    return _two("atan2", python_math.atan2, y, x)


def copysign(x: Any, y: Any) -> Any:
    """x with the sign of y."""
    return _two("copysign", python_math.copysign, x, y)


def _two(op: str, fold: Callable[[float, float], float], a: Any, b: Any) -> Any:
    a, b = plain(a), plain(b)
    if not isinstance(a, Expr) and not isinstance(b, Expr):
        return fold(a, b)
    trace = current()
    dtype = common_dtype(a, b)
    dtype = dtype if dtype.is_float else float32
    x, y = trace.value(a, dtype), trace.value(b, dtype)
    return trace.emit(f"math.{op} {x.ssa}, {y.ssa} : {dtype.mlir}", dtype)


# Choice and predicates -----------------------------------------------------


def if_then_else(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`. In a kernel's own text only the
    side that is chosen is evaluated."""
    return arithmetic.select(_test(condition), yes, no)


def Select(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`; both are evaluated."""
    return arithmetic.select(_test(condition), yes, no)


def _test(condition: Any) -> Any:
    return arithmetic.truth(condition)


def isnan(x: Any) -> Any:
    """Whether x is not a number."""
    if not isinstance(plain(x), Expr):
        return python_math.isnan(x)
    scalar = _float(x)
    return current().emit(f"arith.cmpf uno, {scalar.ssa}, {scalar.ssa} : {scalar.dtype.mlir}", bool_)


def isinf(x: Any) -> Any:
    """Whether x is an infinity."""
    if not isinstance(plain(x), Expr):
        return python_math.isinf(x)
    scalar = _float(x)
    return binary("==", abs(scalar), Const(float("inf"), scalar.dtype))


def isfinite(x: Any) -> Any:
    """Whether x is a finite number."""
    if not isinstance(plain(x), Expr):
        return python_math.isfinite(x)
    scalar = _float(x)
    return binary("<", abs(scalar), Const(float("inf"), scalar.dtype))


def _float(x: Any) -> Scalar:
    scalar = current().value(x)
    return scalar if scalar.dtype.is_float and scalar.dtype.bits > 8 else arithmetic.emit_cast(scalar, float32)


def And(*values: Any) -> Any:
    """Whether all hold."""
    return _logic("&", values, True)


def Or(*values: Any) -> Any:
    """Whether one holds."""
    return _logic("|", values, False)


def Not(value: Any) -> Any:
    """Whether it does not hold."""
    test = _test(value)
    return binary("^", test, True) if isinstance(test, Expr) else not test


def _logic(op: str, values: tuple[Any, ...], start: bool) -> Any:
    result: Any = start
    for value in values:
        test = _test(value)
        if isinstance(result, Expr) or isinstance(test, Expr):
            result = binary(op, result, test)
        else:
            result = (result and test) if start else (result or test)
    return result


# Bits ----------------------------------------------------------------------


def bitwise_and(a: Any, b: Any) -> Any:
    """a & b."""
    return binary("&", a, b)


def bitwise_or(a: Any, b: Any) -> Any:
    """a | b."""
    return binary("|", a, b)


def bitwise_xor(a: Any, b: Any) -> Any:
    """a ^ b."""
    return binary("^", a, b)


def bitwise_not(a: Any) -> Any:
    """~a."""
    return ~a


def shift_left(a: Any, b: Any) -> Any:
    """a << b."""
    return binary("<<", a, b)


def shift_right(a: Any, b: Any) -> Any:
    """a >> b: arithmetic for signed integers."""
    return binary(">>", a, b)


def popcount(x: Any) -> Any:
    """How many bits are set."""
    return _bits("ctpop", x)


def clz(x: Any) -> Any:
    """How many leading bits are zero."""
    return _bits("ctlz", x)


def _bits(op: str, x: Any) -> Any:
    trace = current()
    scalar = trace.value(x, int32 if dtype_of(x) == index else dtype_of(x))
    if scalar.dtype.is_float:
        raise LanguageError("bits are counted in integers, and this is a float")
    return trace.emit(f"math.{op} {scalar.ssa} : {scalar.dtype.mlir}", scalar.dtype, None, (0, scalar.dtype.bits))


# Types ---------------------------------------------------------------------


def cast(value: Any, dtype: Any, *_: Any) -> Any:
    """`value` in another element type. (`T.Cast` has its arguments the other way.)"""
    return expr_cast(value, dtype)


def Cast(dtype: Any, value: Any) -> Any:
    """`value` in another element type, which comes first."""
    return expr_cast(value, dtype)


def reinterpret(first: Any, second: Any = None, dtype: Any = None) -> Any:
    """The bits of a value read as another type of the same width, which may come
    first or second."""
    if dtype is not None:
        return _reinterpret(first, to_dtype(dtype))
    if isinstance(first, (str, DType)):
        return _reinterpret(second, to_dtype(first))
    return _reinterpret(first, to_dtype(second))


def _reinterpret(value: Any, dtype: DType) -> Any:
    if not isinstance(plain(value), Expr):
        raise LanguageError("T.reinterpret takes a device value; a number has no bits before it has a type")
    if dtype_of(value) == index:
        value = expr_cast(value, int32)
    return bitcast(value, dtype)


def infinity(dtype: Any) -> Const:
    """Plus infinity of a float type."""
    to = to_dtype(dtype)
    if not to.is_float or str(to) == "float8_e4m3fn":
        raise LanguageError(f"{str(to)} has no infinity; T.max_value gives its largest number")
    return Const(float("inf"), to)


def max_value(dtype: Any) -> Const:
    """The largest finite value of a type."""
    to = to_dtype(dtype)
    if to.is_float:
        return Const(LARGEST[str(to)], to)
    if to.kind == "bool":
        return Const(True, to)
    return Const((1 << (to.bits - (to.kind == "int"))) - 1, to)


def min_value(dtype: Any) -> Const:
    """The least finite value of a type."""
    to = to_dtype(dtype)
    if to.is_float:
        return Const(-LARGEST[str(to)], to)
    return Const(-(1 << (to.bits - 1)) if to.kind == "int" else 0, to)


def const_value(value: Any, dtype: Any) -> Const:
    """A number with a type."""
    to = to_dtype(dtype)
    return Const(round_to(value, to), to)


HALF_TYPES = (float16, bfloat16, float32, float64)
