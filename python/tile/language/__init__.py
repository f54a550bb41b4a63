"""The kernel language: TileLang's, for the Tile compiler.

    import tile
    import tile.language as T

    @tile.jit(out_idx=[2])
    def add(n, block=256):
        @T.prim_func
        def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32"), C: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, block), threads=128) as b:
                for i in T.Parallel(block):
                    C[b * block + i] = A[b * block + i] + B[b * block + i]
        return main

docs/Python.md says what each name means and how it compares with TileLang.
"""

# ruff: noqa: F401 - names are imported to be used as T.name
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..layout import Fragment, Layout
from .atomics import atomic_add, atomic_addx2, atomic_addx4, atomic_max, atomic_min, atomic_or
from .bindings import thread_binding
from .compute import (
    GemmWarpPolicy,
    cummax,
    cumsum,
    gemm,
    reduce,
    reduce_absmax,
    reduce_abssum,
    reduce_bitand,
    reduce_bitor,
    reduce_bitxor,
    reduce_max,
    reduce_min,
    reduce_sum,
)
from .debug import device_assert
from .dtypes import (
    DType,
    bfloat16,
    bool,
    dtype,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int4,
    int8,
    int16,
    int32,
    int64,
    tfloat32,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .functions import macro
from .hints import (
    annotate_consumer_reg_alloc,
    annotate_l2_hit_ratio,
    annotate_layout,
    annotate_min_blocks_per_sm,
    annotate_producer_reg_dealloc,
    annotate_restrict_buffers,
    annotate_safe_value,
    assume,
    dec_max_nreg,
    disable_warp_group_reg_alloc,
    inc_max_nreg,
    no_set_max_nreg,
    set_max_nreg,
    use_swizzle,
)
from .im2col import c2d_im2col, im2col
from .kernel import (
    ClusterKernel,
    Kernel,
    get_block_binding,
    get_block_bindings,
    get_block_extent,
    get_block_extents,
    get_thread_binding,
    get_thread_bindings,
    get_thread_extent,
    get_thread_extents,
)
from .loops import grid, parallel, serial, unroll, vectorized
from .loops import parallel as Parallel
from .loops import pipelined as Pipelined
from .loops import serial as Serial
from .loops import unroll as Unroll
from .loops import vectorized as Vectorized
from .math import (
    And,
    Cast,
    Not,
    Or,
    Select,
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    cast,
    ceil,
    ceildiv,
    clamp,
    clz,
    const_value,
    copysign,
    cos,
    cosh,
    erf,
    exp,
    exp2,
    exp10,
    expm1,
    floor,
    floordiv,
    floormod,
    fma,
    fmod,
    if_then_else,
    infinity,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    max,
    max_value,
    min,
    min_value,
    nearbyint,
    popcount,
    pow,
    reinterpret,
    round,
    rsqrt,
    shift_left,
    shift_right,
    sigmoid,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
    truncdiv,
    truncmod,
)
from .memory import (
    alloc_fragment,
    alloc_global,
    alloc_local,
    alloc_shared,
    alloc_var,
    clear,
    copy,
    fill,
    reshape,
    transpose,
    view,
)
from .persistent import Persistent
from .pieces import access_ptr, cp_async_barrier_noinc, ptx_commit_group, ptx_cp_async, ptx_wait_group
from .program import PrimFunc, prim_func
from .reducers import alloc_reducer, finalize_reducer, reducer_init, reducer_update
from .roles import (
    WarpSpecialize,
    alloc_barrier,
    barrier_arrive,
    barrier_wait,
    fence_proxy_async,
    mbarrier_arrive,
    mbarrier_wait_parity,
    tma_copy,
    tma_store_arrive,
    tma_store_wait,
    wait_wgmma,
    wgmma_gemm,
    ws,
)
from .tensor import StridedTensor, Tensor, const, dynamic, empty, symbolic
from .threads import (
    all_sync,
    any_sync,
    ballot,
    ballot_sync,
    get_lane_idx,
    get_warp_group_idx,
    get_warp_idx,
    get_warp_idx_sync,
    shfl_down,
    shfl_down_sync,
    shfl_sync,
    shfl_up,
    shfl_up_sync,
    shfl_xor,
    shfl_xor_sync,
    sync_threads,
    sync_warp,
    warp_reduce_bitand,
    warp_reduce_bitor,
    warp_reduce_max,
    warp_reduce_min,
    warp_reduce_sum,
)

cdiv = ceildiv
Buffer = Tensor
# Types of a macro's parameters: they are not checked.
SharedBuffer = FragmentBuffer = LocalBuffer = Tensor
float = float32
double = float64
half = float16
int = int32
long = int64
short = int16
uint = uint32
float8_e4m3 = float8_e4m3fn


def func_attr(attributes: Any) -> None:
    """Attributes of TVM's functions; they mean nothing here."""


if not TYPE_CHECKING:
    # `print` would hide Python's own from the rest of this module.
    from .debug import device_print as print


def __getattr__(name: str) -> Any:
    from .unsupported import message

    raise AttributeError(message(name))


__all__ = [name for name in dir() if not name.startswith("_") and name not in ("annotations", "Any", "TYPE_CHECKING")]
