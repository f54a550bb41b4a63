# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Threads and warps by hand: what is built verifies, the cpu refuses it at the user's
line, and the emulator runs it."""

from __future__ import annotations

import numpy as np
import pytest
import tile
import tile.language as T
from diagnostics import refused


def emulate(function, *arguments):
    tile.compile(T.prim_func(function), target="emulator")(*arguments)


def shuffles(A: T.Tensor((64,), "float32"), B: T.Tensor((6, 64), "float32")):
    with T.Kernel(1, threads=64):
        tx = T.get_thread_binding(0)
        lane = T.get_lane_idx()
        v = A[tx]
        B[0, tx] = T.shfl_xor(v, 1)
        B[1, tx] = T.shfl_sync(v, 0)
        B[2, tx] = T.warp_reduce_sum(v)
        B[3, tx] = T.warp_reduce_max(v)
        B[4, tx] = T.get_warp_idx() * 100 + lane
        shared = T.alloc_shared((64,), "float32")
        shared[tx] = v
        T.sync_threads()
        B[5, tx] = shared[63 - tx]


def votes(A: T.Tensor((32,), "int32"), B: T.Tensor((3, 32), "int32")):
    with T.Kernel(1, threads=(8, 4)):
        tx, ty = T.get_thread_bindings()
        at = ty * T.get_thread_extent(0) + tx
        B[0, at] = T.any_sync(A[at] > 30)
        B[1, at] = T.all_sync(A[at] > 0)
        B[2, at] = T.ballot_sync(A[at] % 2 == 0)
        T.sync_warp()


def halves(A: T.Tensor((64,), "int32")):
    with T.Kernel(1, threads=128):
        tx = T.get_thread_binding()
        shared = T.alloc_shared((64,), "int32")
        if tx < 64:
            shared[tx] = tx
            T.sync_threads(3, 64)
            A[tx] = shared[63 - tx]


def test_a_barrier_of_some_threads():
    a = np.zeros(64, np.int32)
    emulate(halves, a)
    assert a.tolist() == list(range(63, -1, -1))


def pieces(A: T.Tensor((32, 64), "float16"), B: T.Tensor((32, 64), "float16")):
    with T.Kernel(1, threads=256):
        tx = T.get_thread_binding()
        shared = T.alloc_shared((32, 64), "float16")
        row, column = tx // 8, tx % 8 * 8
        T.ptx_cp_async(
            T.access_ptr(shared[row, column], "w", 8), T.access_ptr(A[row, column], "r", 8), 8, predicate=row < 20
        )
        T.ptx_commit_group()
        T.ptx_wait_group(0)
        T.sync_threads()
        for i, j in T.Parallel(32, 64):
            B[i, j] = shared[31 - i, j]


def test_pieces_that_threads_copy(rng):
    a, b = rng.standard_normal((32, 64)).astype(np.float16), np.ones((32, 64), np.float16)
    emulate(pieces, a, b)
    wanted = a[::-1].copy()
    wanted[:12] = 0
    np.testing.assert_array_equal(b, wanted)


def test_pieces_of_other_widths_are_errors():
    def kernel(A: T.Tensor((64,), "float16")):
        with T.Kernel(1, threads=32):
            shared = T.alloc_shared((64,), "float16")
            T.ptx_cp_async(T.access_ptr(shared[0], "w", 3), T.access_ptr(A[0], "r", 3), 3)  # here

    refused(kernel, "copies 4, 8 or 16 bytes")


def gemv(A: T.Tensor((32, 64), "float32"), x: T.Tensor((64,), "float32"), y: T.Tensor((32,), "float32")):
    with T.Kernel(4, threads=(8, 4)) as bn:
        tn = T.get_thread_binding(0)
        tk = T.get_thread_binding(1)
        total = T.alloc_local((1,), "float32")
        sums = T.alloc_shared((8,), "float32")
        if tk == 0:
            sums[tn] = 0
        T.clear(total)
        for k in T.serial(16):
            total[0] += A[bn * 8 + tn, tk * 16 + k] * x[tk * 16 + k]
        T.sync_threads()
        T.atomic_add(sums[tn], total[0])
        T.sync_threads()
        if tk == 0:
            y[bn * 8 + tn] = sums[tn]


def bound(A: T.Tensor((64,), "float32")):
    with T.Kernel(1, threads=64):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            A[tx] = tx * 2
        for tx in T.thread_binding(10, thread="threadIdx.x"):
            A[tx] += 1


@pytest.mark.parametrize("kernel", [shuffles, votes, gemv, bound], ids=lambda kernel: kernel.__name__)
def test_what_is_built_verifies(kernel) -> None:
    text = T.prim_func(kernel).script()
    assert "gpu.thread_id" in text
    tile._native.session().load(text, kernel.__name__)


@pytest.mark.parametrize("kernel", [shuffles, votes, gemv, bound], ids=lambda kernel: kernel.__name__)
def test_the_cpu_refuses(kernel) -> None:
    first = kernel.__code__.co_firstlineno
    with pytest.raises(tile.CompileError, match="emulator") as caught:
        tile.compile(T.prim_func(kernel), target="cpu")
    assert f"{__file__}:{first + 2}:" in str(caught.value)


def test_shuffles_in_the_emulator() -> None:
    a, b = np.arange(64, dtype=np.float32), np.zeros((6, 64), np.float32)
    emulate(shuffles, a, b)
    warps = a.reshape(2, 32)
    want = [
        warps[:, np.arange(32) ^ 1].ravel(),
        np.repeat(warps[:, 0], 32),
        np.repeat(warps.sum(1), 32),
        np.repeat(warps.max(1), 32),
        np.arange(64) // 32 * 100 + np.arange(64) % 32,
        a[::-1],
    ]
    np.testing.assert_array_equal(b, want)


def test_votes_in_the_emulator() -> None:
    a, b = np.arange(32, dtype=np.int32), np.zeros((3, 32), np.int32)
    emulate(votes, a, b)
    np.testing.assert_array_equal(b, np.array([[1] * 32, [0] * 32, [0x55555555] * 32]))


def test_thread_level_gemv_in_the_emulator(rng) -> None:
    a, x = rng.integers(-4, 5, (32, 64)).astype(np.float32), rng.integers(-4, 5, 64).astype(np.float32)
    y = np.zeros(32, np.float32)
    emulate(gemv, a, x, y)
    np.testing.assert_array_equal(y, a @ x)


def test_thread_bindings_in_the_emulator() -> None:
    a = np.zeros(64, np.float32)
    emulate(bound, a)
    np.testing.assert_array_equal(a, np.arange(64) * 2 + (np.arange(64) < 10))
