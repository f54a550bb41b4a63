"""Device expressions: what a kernel computes with, beside plain Python values.

A `Scalar` is a value of the program being built, a `Const` a number with a type,
a `Symbol` an extent known at launch (or, while arguments are matched, later).
`Element` in memory.py, an element of a buffer, is the fourth. Their operators
emit ops into the current trace; types meet by the rules of dtypes.py.

Integer scalars remember two facts: a linear form over other scalars, so that the
length of a slice such as `(b + 1) * 64 - b * 64` is a number, and bounds, so that
divisions of what cannot be negative stay simple.
"""

from __future__ import annotations

import math
import struct
from typing import Any, Optional

from ..errors import LanguageError
from .dtypes import (
    BOOL,
    FLOAT,
    INT,
    UINT,
    DType,
    Number,
    float32,
    index,
    promote,
    promote_number,
)
from .dtypes import (
    bool as bool_,
)
from .dtypes import (
    dtype as to_dtype,
)

Bounds = tuple[Optional[int], Optional[int]]
UNBOUNDED: Bounds = (None, None)


class Expr:
    """Anything with an element type that is not a plain Python value."""

    dtype: DType

    def astype(self, dtype: Any) -> Any:
        """The value converted to another element type."""
        return cast(self, to_dtype(dtype))

    def __bool__(self) -> bool:
        raise LanguageError(
            "a device value has no truth at compile time; write the condition in the kernel's own text "
            "(or in a T.macro), where `if`, `and`, `or`, `not` and comparisons become device code"
        )

    def __index__(self) -> int:
        raise LanguageError(
            "a device value is not a Python integer; loops over range() run on the device, so iterate over a "
            "list or tuple, or use T.unroll, where the loop variable must be known at compile time"
        )

    __int__ = __float__ = __index__  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __add__(self, other: Any) -> Any:
        return binary("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return binary("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return binary("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return binary("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return binary("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return binary("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return binary("/", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return binary("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return binary("//", other, self)

    def __mod__(self, other: Any) -> Any:
        return binary("%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return binary("%", other, self)

    def __pow__(self, other: Any) -> Any:
        return binary("**", self, other)

    def __rpow__(self, other: Any) -> Any:
        return binary("**", other, self)

    def __lshift__(self, other: Any) -> Any:
        return binary("<<", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return binary("<<", other, self)

    def __rshift__(self, other: Any) -> Any:
        return binary(">>", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return binary(">>", other, self)

    def __and__(self, other: Any) -> Any:
        return binary("&", self, other)

    def __rand__(self, other: Any) -> Any:
        return binary("&", other, self)

    def __or__(self, other: Any) -> Any:
        return binary("|", self, other)

    def __ror__(self, other: Any) -> Any:
        return binary("|", other, self)

    def __xor__(self, other: Any) -> Any:
        return binary("^", self, other)

    def __rxor__(self, other: Any) -> Any:
        return binary("^", other, self)

    def __neg__(self) -> Any:
        return binary("-", 0, self) if not self.dtype.is_float else unary("negf", self)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return binary("^", self, True if self.dtype.kind == BOOL else -1)

    def __abs__(self) -> Any:
        from .math import abs as absolute

        return absolute(self)

    def __eq__(self, other: Any) -> Any:  # type: ignore[override]
        return binary("==", self, other)

    def __ne__(self, other: Any) -> Any:  # type: ignore[override]
        return binary("!=", self, other)

    def __lt__(self, other: Any) -> Any:
        return binary("<", self, other)

    def __le__(self, other: Any) -> Any:
        return binary("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return binary(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return binary(">=", self, other)


class Linear:
    """constant + sum of coefficient * scalar."""

    __slots__ = ("constant", "terms")

    def __init__(self, constant: int, terms: dict[str, int]) -> None:
        self.constant = constant
        self.terms = terms

    def plus(self, other: Linear, sign: int) -> Linear:
        terms = dict(self.terms)
        for name, factor in other.terms.items():
            terms[name] = terms.get(name, 0) + sign * factor
        return Linear(self.constant + sign * other.constant, {n: f for n, f in terms.items() if f})

    def times(self, factor: int) -> Linear:
        if factor == 0:
            return Linear(0, {})
        return Linear(self.constant * factor, {n: f * factor for n, f in self.terms.items()})


class Scalar(Expr):
    """A value of the program being built: `ssa` is its name there."""

    __slots__ = ("ssa", "dtype", "linear", "bounds")

    def __init__(self, ssa: str, dtype: DType, linear: Linear | None = None, bounds: Bounds = UNBOUNDED) -> None:
        self.ssa = ssa
        self.dtype = dtype
        self.linear = linear or Linear(0, {ssa: 1})
        self.bounds = bounds

    def __repr__(self) -> str:
        return f"<{self.dtype} value {self.ssa}>"


class Const(Expr):
    """A number with a type."""

    __slots__ = ("value", "dtype")

    def __init__(self, value: Number, dtype: DType) -> None:
        self.value = value
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"T.{str(self.dtype)}({self.value})"


class Symbol(Expr):
    """An integer that a launch, or the matching of arguments, makes known.

    Either a name (`T.dynamic`), or an operation on symbols and integers.
    """

    def __init__(
        self, name: str = "", op: str = "", operands: tuple[Symbol | int, ...] = (), dtype: Any = index
    ) -> None:
        self.name = name
        self.op = op
        self.operands = operands
        self.dtype = index if to_dtype(dtype).bits != 64 else to_dtype(dtype)

    def __repr__(self) -> str:
        if not self.op:
            return self.name
        return f"({f' {self.op} '.join(map(repr, self.operands))})"

    def names(self) -> set[str]:
        """The names in it."""
        if not self.op:
            return {self.name}
        return set().union(*(item.names() for item in self.operands if isinstance(item, Symbol)))

    def evaluate(self, values: dict[str, int]) -> int:
        """Its value where the names have these. A name without one is a KeyError."""
        if not self.op:
            return values[self.name]
        a, b = (item if isinstance(item, int) else item.evaluate(values) for item in self.operands)
        return integer_op(self.op, a, b)


def integer_op(op: str, a: int, b: int) -> int:
    """The operations that extents may be made of."""
    if op in ("//", "%", "ceildiv") and b == 0:
        raise LanguageError("division by zero in an extent")
    table: dict[str, int] = {
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "min": min(a, b),
        "max": max(a, b),
    }
    if op in table:
        return table[op]
    return {"//": lambda: a // b, "%": lambda: a % b, "ceildiv": lambda: -(-a // b)}[op]()


SYMBOLIC = ("+", "-", "*", "//", "%", "min", "max", "ceildiv")


def is_number(value: Any) -> bool:
    """Whether it is a plain Python number, or one of NumPy."""
    return isinstance(value, (int, float)) or (hasattr(value, "item") and getattr(value, "ndim", 1) == 0)


def plain(value: Any) -> Any:
    """NumPy's scalars as Python's."""
    return value.item() if hasattr(value, "item") and not isinstance(value, Expr) and is_number(value) else value


def round_to(value: Number, dtype: DType) -> Number:
    """A number as an element type holds it. An integer that does not fit wraps."""
    if dtype.kind == FLOAT:
        value = float(value)
        if dtype.bits == 32 and math.isfinite(value):
            try:
                return struct.unpack("f", struct.pack("f", value))[0]
            except OverflowError:
                return math.copysign(math.inf, value)
        return value
    if dtype.kind == BOOL:
        return bool(value)
    whole = int(value)
    if dtype == index:
        return whole
    whole &= (1 << dtype.bits) - 1
    return whole - (1 << dtype.bits) if dtype.kind == INT and whole >> (dtype.bits - 1) else whole


def bounds_of(value: Any) -> Bounds:
    """Between what an integer lies, as far as is known."""
    if isinstance(value, (bool, int)):
        return int(value), int(value)
    if isinstance(value, Const) and not value.dtype.is_float:
        return int(value.value), int(value.value)
    if isinstance(value, Symbol):
        return (0, None) if not value.op or value.op in ("+", "*", "ceildiv", "max", "//", "%") else UNBOUNDED
    if isinstance(value, Scalar):
        return value.bounds
    dtype = getattr(value, "dtype", None)
    return (0, None) if isinstance(dtype, DType) and dtype.kind == UINT else UNBOUNDED


def linear_of(value: Any) -> Linear | None:
    if isinstance(value, int):
        return Linear(int(value), {})
    if isinstance(value, Const) and isinstance(value.value, int):
        return Linear(int(value.value), {})
    return value.linear if isinstance(value, Scalar) else None


def static_int(value: Any) -> int | None:
    """The integer that a value is known to be, or None."""
    value = plain(value)
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    linear = linear_of(value)
    if linear is not None and not linear.terms and (isinstance(value, Expr) and not value.dtype.is_float):
        return linear.constant
    return None


def binary(op: str, a: Any, b: Any) -> Any:
    """An operator on device values, numbers or a mix."""
    from .arithmetic import emit_binary

    a, b = plain(a), plain(b)
    for side in (a, b):
        if not isinstance(side, Expr) and not is_number(side):
            if op in ("==", "!="):
                return op == "!="
            raise LanguageError(f"'{op}' takes numbers and device values, not {describe(side)}")
    symbols = [isinstance(side, Symbol) for side in (a, b)]
    if any(symbols) and op in SYMBOLIC and all(s or isinstance(x, int) for s, x in zip(symbols, (a, b))):
        return fold_symbol(op, a, b)
    return emit_binary(op, a, b)


def fold_symbol(op: str, a: Symbol | int, b: Symbol | int) -> Any:
    if op in ("+", "-") and isinstance(b, int) and b == 0:
        return a
    if op == "+" and isinstance(a, int) and a == 0:
        return b
    if op in ("*", "//", "ceildiv") and isinstance(b, int) and b == 1:
        return a
    if op == "*" and isinstance(a, int) and a == 1:
        return b
    wide = [side.dtype for side in (a, b) if isinstance(side, Symbol) and side.dtype != index]
    return Symbol(op=op, operands=(a, b), dtype=wide[0] if wide else index)


def unary(op: str, value: Any) -> Any:
    """A unary op of arith or math on floats, by its name there."""
    from .arithmetic import emit_unary

    return emit_unary(op, value)


def cast(value: Any, dtype: Any) -> Any:
    """`value` in another element type."""
    from .arithmetic import emit_cast

    value, to = plain(value), to_dtype(dtype)
    if isinstance(value, (int, float)):
        return Const(round_to(value, to), to)
    if isinstance(value, Const):
        return Const(round_to(value.value, to), to)
    if not isinstance(value, Expr):
        raise LanguageError(f"cannot convert {describe(value)} to {str(to)}")
    return emit_cast(value, to)


def dtype_of(value: Any) -> DType:
    """The element type of a value; a Python number has that of a literal."""
    if isinstance(value, Expr):
        return value.dtype
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return index
    if isinstance(value, float):
        return float32
    raise LanguageError(f"expected a number or a device value, not {describe(value)}")


def common_dtype(a: Any, b: Any) -> DType:
    """The type in which two values meet."""
    if isinstance(a, Expr) and isinstance(b, Expr):
        return promote(a.dtype, b.dtype)
    if isinstance(a, Expr):
        return promote_number(a.dtype, b)
    if isinstance(b, Expr):
        return promote_number(b.dtype, a)
    return promote(dtype_of(a), dtype_of(b))


def describe(value: Any) -> str:
    """What a value is, for messages."""
    if isinstance(value, (Scalar, Const, Symbol)):
        name = f"{str(value.dtype)} value"
    else:
        name = type(value).__name__
    article = "an" if name[:1].lower() in "aeio" else "a"
    return f"{article} {name}" + (f" ({value!r})" if isinstance(value, (str, int, float, tuple, type(None))) else "")
