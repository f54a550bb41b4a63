"""Threads and warps by hand, as ops of gpu and nvvm. The emulator and a GPU run
them; the cpu target refuses them at the user's line."""

from __future__ import annotations

from typing import Any, Callable

from ..errors import LanguageError
from ..ir.builder import Value
from ..ir.types import Raw
from .arithmetic import emit_binary, truth
from .dtypes import DType, float32, index, int32, uint32
from .dtypes import bool as bool_
from .expr import Scalar, dtype_of, static_int
from .kernel import _thread_id
from .trace import current

FULL_MASK = 0xFFFFFFFF


def _thread_level(what: str) -> None:
    trace = current()
    trace.need_launch(what)
    if trace.inside("parallel"):
        raise LanguageError(
            f"{what} is for code by threads; T.Parallel's iterations are given to threads by the compiler"
        )


def sync_threads(barrier_id: int | None = None, arrive_count: int | None = None) -> None:
    """Waits for all threads of the block; or, at a barrier numbered 1 to 15, for the
    `arrive_count` of them (whole warps) that come there."""
    _thread_level("T.sync_threads")
    trace = current()
    roles = trace.need_launch("T.sync_threads").roles
    if roles is not None:
        if roles.inside or barrier_id is not None:
            raise LanguageError(
                "groups of T.ws meet on barriers of T.alloc_barrier; T.sync_threads stands outside of it"
            )
        roles.handled += 1
        roles.meet()
        return
    if barrier_id is None and arrive_count is None:
        trace.builder.line("gpu.barrier")
        return
    number, count = static_int(barrier_id), static_int(arrive_count)
    if number is None or not 1 <= number <= 15:
        raise LanguageError("the barrier of T.sync_threads has a number from 1 to 15")
    if count is None or count % 32 or not 32 <= count <= 1024:
        raise LanguageError("T.sync_threads(number, count) waits for whole warps: count is a multiple of 32")
    which, threads = trace.constant(number, int32), trace.constant(count, int32)
    # In its own assembly an optional attribute at the end would take the location for itself.
    trace.builder.op(
        "nvvm.barrier",
        [Value(which.ssa, "i32"), Value(threads.ssa, "i32")],
        properties={"operandSegmentSizes": Raw("array<i32: 1, 1, 0>")},
    )


def sync_warp(mask: int = FULL_MASK) -> None:
    """Waits for the threads of the warp that are in the mask."""
    _thread_level("T.sync_warp")
    trace = current()
    scalar = trace.constant(mask, uint32)
    trace.builder.line(f"nvvm.bar.warp.sync {scalar.ssa} : i32")


def get_lane_idx(warp_size: int = 32) -> Any:
    """The thread's number within its warp."""
    return _thread_id("T.get_lane_idx") % _warp(warp_size)


def get_warp_idx(warp_size: int = 32) -> Any:
    """The number of the thread's warp in the block."""
    return _thread_id("T.get_warp_idx") // _warp(warp_size)


get_warp_idx_sync = get_warp_idx


def get_warp_group_idx(warp_size: int = 32, warps_per_group: int = 4) -> Any:
    """The number of the thread's group of warps in the block."""
    return _thread_id("T.get_warp_group_idx") // (_warp(warp_size) * warps_per_group)


def _warp(size: int) -> int:
    if static_int(size) != 32:
        raise LanguageError("a warp has 32 threads")
    return 32


# Shuffles ------------------------------------------------------------------


def _shuffle(mode: str, value: Any, offset: Any, width: int, mask: Any) -> Scalar:
    what = f"T.shfl_{mode}"
    _thread_level(what)
    trace = current()
    if mask is not None and static_int(mask) not in (FULL_MASK, -1, None):
        raise LanguageError(f"{what} needs all threads of the warp: a mask other than 0xFFFFFFFF is not supported")
    if static_int(width) not in (1, 2, 4, 8, 16, 32):
        raise LanguageError("the width of a shuffle is a power of two up to 32")
    dtype = dtype_of(value)
    scalar = trace.value(value, int32 if dtype == index else dtype)
    if scalar.dtype.bits not in (32, 64):
        wide = float32 if scalar.dtype.is_float else int32
        return trace.value(_shuffle(mode, scalar.astype(wide), offset, width, mask), scalar.dtype)
    delta, lanes = trace.value(offset, int32), trace.constant(static_int(width), int32)
    name, valid = trace.builder.name(), trace.builder.name()
    trace.builder.line(
        f"{name}, {valid} = gpu.shuffle {mode} {scalar.ssa}, {delta.ssa}, {lanes.ssa} : {scalar.dtype.mlir}"
    )
    return Scalar(name, scalar.dtype)


def shfl_sync(value: Any, src_lane: Any, width: int = 32, mask: Any = None) -> Scalar:
    """The value of the thread numbered `src_lane`."""
    return _shuffle("idx", value, src_lane, width, mask)


def shfl_xor(value: Any, delta: Any, width: int = 32, mask: Any = None) -> Scalar:
    """The value of the thread whose number differs in the bits of `delta`."""
    return _shuffle("xor", value, delta, width, mask)


def shfl_up(value: Any, delta: Any, width: int = 32, mask: Any = None) -> Scalar:
    """The value of the thread `delta` before this one."""
    return _shuffle("up", value, delta, width, mask)


def shfl_down(value: Any, delta: Any, width: int = 32, mask: Any = None) -> Scalar:
    """The value of the thread `delta` after this one."""
    return _shuffle("down", value, delta, width, mask)


shfl_xor_sync, shfl_up_sync, shfl_down_sync = shfl_xor, shfl_up, shfl_down


def _warp_reduce(name: str, combine: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    def reduce(value: Any) -> Any:
        result = current().value(value, int32 if dtype_of(value) == index else None)
        for delta in (16, 8, 4, 2, 1):
            result = current().value(combine(result, shfl_xor(result, delta)))
        return result

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = "Combines a value of each of the 32 threads of a warp; all get the result."
    return reduce


warp_reduce_sum = _warp_reduce("warp_reduce_sum", lambda a, b: emit_binary("+", a, b))
warp_reduce_max = _warp_reduce("warp_reduce_max", lambda a, b: emit_binary("max", a, b))
warp_reduce_min = _warp_reduce("warp_reduce_min", lambda a, b: emit_binary("min", a, b))
warp_reduce_bitand = _warp_reduce("warp_reduce_bitand", lambda a, b: emit_binary("&", a, b))
warp_reduce_bitor = _warp_reduce("warp_reduce_bitor", lambda a, b: emit_binary("|", a, b))


# Votes ---------------------------------------------------------------------


def _vote(kind: str, condition: Any, dtype: DType) -> Scalar:
    _thread_level(f"T.{kind}_sync")
    trace = current()
    mask, test = trace.constant(FULL_MASK, uint32), trace.value(truth(condition), bool_)
    return trace.emit(f"nvvm.vote.sync {kind} {mask.ssa}, {test.ssa} -> {dtype.mlir}", dtype)


def any_sync(condition: Any) -> Scalar:
    """Whether it holds for a thread of the warp."""
    return _vote("any", condition, bool_)


def all_sync(condition: Any) -> Scalar:
    """Whether it holds for all threads of the warp."""
    return _vote("all", condition, bool_)


def ballot_sync(condition: Any) -> Scalar:
    """A bit for each thread of the warp: whether it holds there."""
    return _vote("ballot", condition, uint32)


ballot = ballot_sync
