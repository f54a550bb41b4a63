"""Products, reductions and scans of whole tiles."""

from __future__ import annotations

import enum
from typing import Any, Union

from ..errors import LanguageError
from .buffers import Access, Buffer, as_tile, same_extent
from .dtypes import tfloat32
from .expr import static_int
from .trace import current

Tile = Union[Buffer, Access]


class GemmWarpPolicy(enum.IntEnum):
    """How a block's warps divide the result of a product."""

    Square = 0
    FullRow = 1
    FullCol = 2

    def is_square(self) -> bool:
        return self is GemmWarpPolicy.Square


POLICIES = {GemmWarpPolicy.Square: "square", GemmWarpPolicy.FullRow: "full_row", GemmWarpPolicy.FullCol: "full_col"}


def gemm(
    A: Tile,
    B: Tile,
    C: Tile,
    transpose_A: bool = False,
    transpose_B: bool = False,
    policy: GemmWarpPolicy | None = None,
    clear_accum: bool = False,
    k_pack: int = 1,
    mbar: Any = None,
    annotations: Any = None,
    precision: str = "ieee",
    *,
    op: str = "gemm",
) -> None:
    """C += A * B, or C = A * B with `clear_accum`.

    A is (M, K) or, transposed, (K, M); B is (K, N) or (N, K); C, a fragment, is
    (M, N). `precision` is "ieee" or "tf32", for float32 operands. `k_pack` has no
    meaning on the targets there are.
    """
    trace = current()
    trace.need_tile_level("T.gemm")
    if mbar is not None:
        raise LanguageError(
            "T.gemm(mbar=...) is not supported: products are synchronous, and the compiler overlaps them"
        )
    if static_int(k_pack) not in (1, 2):
        raise LanguageError("k_pack is 1 or 2")
    if precision not in ("ieee", "tf32"):
        raise LanguageError(f"precision is ieee or tf32, not {precision!r}")
    a, b, c = (_matrix(side, name) for side, name in ((A, "A"), (B, "B"), (C, "C")))
    m, k = (a.shape[1], a.shape[0]) if transpose_A else (a.shape[0], a.shape[1])
    k2, n = (b.shape[1], b.shape[0]) if transpose_B else (b.shape[0], b.shape[1])
    if not same_extent(k, k2) or not same_extent(m, c.shape[0]) or not same_extent(n, c.shape[1]):
        raise LanguageError(
            f"T.gemm needs A (M, K), B (K, N) and C (M, N); here A is ({m}, {k}){' transposed' * transpose_A}, B is "
            f"({k2}, {n}){' transposed' * transpose_B} and C is ({c.shape[0]}, {c.shape[1]})"
        )
    text = f"tile.{op} {a.ssa}, {b.ssa}, {c.ssa}"
    text += " transpose_a" * bool(transpose_A) + " transpose_b" * bool(transpose_B)
    text += " unsigned_a" * (a.dtype.kind == "uint") + " unsigned_b" * (b.dtype.kind == "uint")
    text += " clear" * bool(clear_accum)
    if policy is not None and GemmWarpPolicy(policy) != GemmWarpPolicy.Square:
        text += f" policy({POLICIES[GemmWarpPolicy(policy)]})"
    if precision == "tf32" or a.dtype == tfloat32 and b.dtype == tfloat32:
        text += " precision(tf32)"
    trace.builder.line(f"{text} : {a.type}, {b.type}, {c.type}")


def _matrix(value: Tile, name: str) -> Buffer:
    """An operand as a buffer of two dimensions; leading ones are dropped."""
    if isinstance(value, Access) and not value.is_element:
        sizes = [static_int(size) for size in value.sizes()]
        kept = [size is None or size != 1 for size in sizes]
        sliced = [isinstance(item, slice) for item in value.items]
        if sum(sliced) > 2:
            from .buffers import subview

            ranks = len(kept)
            keep = [k or position >= ranks - 2 for position, k in enumerate(kept)]
            result = subview(value, keep=keep)
        else:
            result = as_tile(value, "T.gemm")
    else:
        result = as_tile(value, "T.gemm")
    if result.ndim != 2:
        raise LanguageError(f"T.gemm needs matrices; {name} ({result.name}) has {result.ndim} dimensions")
    if not result.space:
        raise LanguageError(f"T.gemm works on chip; copy {result.name} to a shared buffer first")
    return result


# Reductions ----------------------------------------------------------------


def reduce(
    buffer: Tile,
    out: Tile,
    reduce_type: str,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    nan_propagate: bool = False,
) -> None:
    """Combines elements along `dim` into `out`, whose shape is without that dimension
    or has a one there. Without `clear` the result is combined with what `out` held.

    `reduce_type` is sum, max, min, abssum, absmax, bitand, bitor or bitxor. Maxima and
    minima are NaN where an element is, whether or not `nan_propagate` asks for it.
    `batch` is a hint.
    """
    kinds = {
        "sum": "sum",
        "max": "max",
        "min": "min",
        "abssum": "abs_sum",
        "absmax": "abs_max",
        "bitand": "and",
        "bitor": "or",
        "bitxor": "xor",
    }
    if reduce_type not in kinds:
        raise LanguageError(f"reduce_type is one of {', '.join(kinds)}, not {reduce_type!r}")
    trace = current()
    trace.need_tile_level(f"T.reduce_{reduce_type}")
    source, target = as_tile(buffer, "a reduction"), as_tile(out, "a reduction")
    axis = _axis(dim, source, "a reduction")
    without = [*source.shape[:axis], *source.shape[axis + 1 :]]
    kept = [*source.shape[:axis], 1, *source.shape[axis + 1 :]]
    if not any(len(s) == target.ndim and all(map(same_extent, s, target.shape)) for s in (without or [1], kept)):
        raise LanguageError(
            f"a reduction of ({', '.join(map(str, source.shape))}) along {axis} needs a result of "
            f"({', '.join(map(str, without))}) or ({', '.join(map(str, kept))}), "
            f"not ({', '.join(map(str, target.shape))})"
        )
    text = f"tile.reduce {kinds[reduce_type]} {source.ssa} along {axis} into {target.ssa}"
    text += "" if clear else " accumulate"
    text += " unsigned" * (source.dtype.kind == "uint")
    trace.builder.line(f"{text} : {source.type} into {target.type}")


def _axis(dim: int, source: Buffer, what: str) -> int:
    static = static_int(dim)
    if static is None or not -source.ndim <= static < source.ndim:
        raise LanguageError(
            f"{what} of {source.name} goes along a dimension from {-source.ndim} to {source.ndim - 1}, not {dim}"
        )
    return static % source.ndim


def reduce_sum(
    buffer: Tile, out: Tile, dim: int = -1, clear: bool = True, batch: int = 1, annotations: Any = None
) -> None:
    """The sum along a dimension."""
    reduce(buffer, out, "sum", dim, clear, batch)


def reduce_max(
    buffer: Tile,
    out: Tile,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    nan_propagate: bool = False,
    annotations: Any = None,
) -> None:
    """The maximum along a dimension."""
    reduce(buffer, out, "max", dim, clear, batch, nan_propagate)


def reduce_min(
    buffer: Tile,
    out: Tile,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    nan_propagate: bool = False,
    annotations: Any = None,
) -> None:
    """The minimum along a dimension."""
    reduce(buffer, out, "min", dim, clear, batch, nan_propagate)


def reduce_abssum(buffer: Tile, out: Tile, dim: int = -1, clear: bool = True, batch: int = 1) -> None:
    """The sum of absolute values along a dimension."""
    reduce(buffer, out, "abssum", dim, clear, batch)


def reduce_absmax(
    buffer: Tile,
    out: Tile,
    dim: int = -1,
    clear: bool = True,
    batch: int = 1,
    nan_propagate: bool = False,
    annotations: Any = None,
) -> None:
    """The largest absolute value along a dimension."""
    reduce(buffer, out, "absmax", dim, clear, batch, nan_propagate)


def reduce_bitand(buffer: Tile, out: Tile, dim: int = -1, clear: bool = True, batch: int = 1) -> None:
    """Bitwise and along a dimension."""
    reduce(buffer, out, "bitand", dim, clear, batch)


def reduce_bitor(buffer: Tile, out: Tile, dim: int = -1, clear: bool = True, batch: int = 1) -> None:
    """Bitwise or along a dimension."""
    reduce(buffer, out, "bitor", dim, clear, batch)


def reduce_bitxor(buffer: Tile, out: Tile, dim: int = -1, clear: bool = True, batch: int = 1) -> None:
    """Bitwise exclusive or along a dimension."""
    reduce(buffer, out, "bitxor", dim, clear, batch)


def _scan(kind: str, src: Tile, dst: Tile | None, dim: int, reverse: bool) -> None:
    trace = current()
    trace.need_tile_level(f"T.cum{kind}")
    target = as_tile(src if dst is None else dst, f"T.cum{kind}")
    source = as_tile(src, f"T.cum{kind}") if dst is not None else target
    if not source.space or not target.space:
        raise LanguageError(f"T.cum{kind} works on chip; copy to a shared buffer or a fragment first")
    axis = _axis(dim, source, f"T.cum{kind}")
    if source.ndim != target.ndim or not all(map(same_extent, source.shape, target.shape)):
        raise LanguageError(f"T.cum{kind} needs a result of its source's shape")
    text = f"tile.scan {kind} {source.ssa} along {axis} into {target.ssa}" + " reverse" * bool(reverse)
    text += " unsigned" * (source.dtype.kind == "uint")
    trace.builder.line(f"{text} : {source.type} into {target.type}")


def cumsum(src: Tile, dst: Tile | None = None, dim: int = 0, reverse: bool = False) -> None:
    """Running sums along a dimension, in place without `dst`."""
    _scan("sum", src, dst, dim, reverse)


def cummax(src: Tile, dst: Tile | None = None, dim: int = 0, reverse: bool = False) -> None:
    """Running maxima along a dimension, in place without `dst`."""
    _scan("max", src, dst, dim, reverse)
