# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Schedules and groups of warps by hand: what TileLang's programs say of them, the
emulator runs, and what cannot be right is an error at the user's line."""

from __future__ import annotations

import numpy as np
import pytest
import tile
import tile.language as T
from diagnostics import refused


def product(rng, body, threads=256, target="emulator"):
    """A product of 64 x 96 and 96 x 64 in blocks of 64 x 32, checked."""
    a = rng.integers(-3, 4, (64, 96)).astype(np.float16)
    b = rng.integers(-3, 4, (96, 64)).astype(np.float16)
    kernel = tile.compile(body, out_idx=2, target=target)
    np.testing.assert_array_equal(kernel(a, b), a.astype(np.float32) @ b.astype(np.float32))
    return kernel


def test_producer_and_consumer_meet_on_barriers(rng) -> None:
    stages = 2

    @T.prim_func
    def main(A: T.Tensor((64, 96), "float16"), B: T.Tensor((96, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=256):
            As = T.alloc_shared((stages, 64, 32), "float16")
            Bs = T.alloc_shared((stages, 32, 64), "float16")
            acc = T.alloc_fragment((64, 64), "float32")
            full = T.alloc_barrier([128] * stages)
            free = T.alloc_barrier(arrive_count=[128] * stages)
            with T.ws(1):
                T.clear(acc)
            for k in T.Pipelined(3, num_stages=2):
                slot = k % stages
                with T.ws(0):
                    T.set_max_nreg(24, 0)
                    T.mbarrier_wait_parity(free[slot], (k // stages) % 2 ^ 1)
                    T.tma_copy(A[0, k * 32], As[slot, :, :], barrier=full[slot])
                    T.tma_copy(B[k * 32, 0], Bs[slot, :, :], barrier=full[slot])
                    T.mbarrier_arrive(full[slot])
                with T.ws(1):
                    T.barrier_wait(full[slot], (k // stages) % 2)
                    T.wgmma_gemm(As[slot, :, :], Bs[slot, :, :], acc)
                    T.wait_wgmma(0)
                    T.barrier_arrive(free[slot])
            with T.ws(1):
                T.copy(acc, C)

    kernel = product(rng, main)
    text = kernel.source
    assert text.count("tile.copy_async") == 2 and text.count("tile.barrier_expect") == 1
    assert "tile.role producer warps(4) registers(24)" in text and "tile.role consumer warps(4)" in text


def test_what_stands_outside_of_groups_is_done_once(rng) -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 96), "float16"), B: T.Tensor((96, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=256):
            As = T.alloc_shared((64, 32), "float16")
            Bs = T.alloc_shared((2, 32, 32), "float16")
            acc = T.alloc_fragment((64, 32), "float32")
            T.clear(acc)
            for k in T.serial(3):
                T.copy(A[0, k * 32], As)
                T.sync_threads()
                with T.ws(0):
                    T.copy(B[k * 32, 0], Bs[0, :, :])
                    T.gemm(As, Bs[0, :, :], acc)
                with T.ws(1):
                    T.copy(B[k * 32, 32], Bs[1, :, :])
                    T.gemm(As, Bs[1, :, :], acc)
            with T.ws(0):
                T.copy(acc, C[0, 0])
            with T.ws(1):
                T.copy(acc, C[0, 32])

    assert product(rng, main).source.count("tile.copy %A") == 1


def test_thread_numbers_pick_groups_too(rng) -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 96), "float16"), B: T.Tensor((96, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=256):
            As = T.alloc_shared((64, 96), "float16")
            Bs = T.alloc_shared((96, 64), "float16")
            full = T.alloc_barrier(256)
            half = T.alloc_barrier(128)
            tx = T.get_thread_binding()
            T.tma_copy(A, As, barrier=full)
            T.barrier_arrive(full)
            T.barrier_wait(full, 0)
            if tx < 128:
                T.copy(B, Bs)
                T.barrier_arrive(half)
            else:
                acc = T.alloc_fragment((64, 64), "float32")
                T.barrier_wait(half, 0)
                T.gemm(As, Bs, acc, clear_accum=True)
                T.copy(acc, C)

    product(rng, main)


def test_an_elementwise_loop_outside_of_groups_is_one_statement() -> None:
    @T.prim_func
    def main(A: T.Tensor((40,), "int32"), B: T.Tensor((2, 64), "int32")):
        with T.Kernel(1, threads=256):
            kept = T.alloc_shared((64,), "int32")
            ready = T.alloc_barrier(128)
            for i in T.Parallel(64):
                if i < 40:
                    kept[i] = A[i]
                else:
                    kept[i] = -1
            if T.get_thread_binding() < 128:
                for i in T.Parallel(64):
                    B[0, i] = kept[i]
                T.barrier_arrive(ready)
            else:
                T.barrier_wait(ready, 0)
                for i in T.Parallel(64):
                    B[1, i] = kept[i] + 1

    a, b = np.arange(40, dtype=np.int32), np.zeros((2, 64), np.int32)
    tile.compile(main, target="emulator:sm_90")(a, b)
    wanted = np.concatenate([a, np.full(24, -1, np.int32)])
    np.testing.assert_array_equal(b, np.stack([wanted, wanted + 1]))


def test_the_cpu_has_no_groups() -> None:
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=256):
            with T.ws(0):  # here
                T.fill(A, 1.0)

    refused(kernel, "no meaning on the cpu target")


def test_barrier_that_does_not_count_whole_groups() -> None:
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=256):
            T.alloc_barrier(1)  # here

    refused(kernel, "waits for whole groups of 128 threads, and 1 is no multiple")


def test_group_that_does_not_exist() -> None:
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=256):
            with T.ws(2):  # here
                T.fill(A, 1.0)

    refused(kernel, "no group 2: T.Kernel has 256 threads, which are 2 groups")


def test_fragment_of_a_group_that_all_use() -> None:
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=256):
            f = T.alloc_fragment((64,), "float32")
            with T.ws(1):
                for i in T.Parallel(64):
                    f[i] = 1.0
            T.copy(f, A)  # here

    refused(kernel, "the fragment f is used here by all threads and in T.ws by some")


@pytest.mark.parametrize("target", ["cpu", "emulator"])
@pytest.mark.parametrize(
    ("order", "stage", "group"),
    [([1, 2, 0], [0, 0, 2], None), ([0, 1, 2], [0, 0, 1], [[0, 1], [2]]), ([3, 1, 2, 0], [0, 0, 0, 1], None)],
)
def test_schedule_by_hand(rng, target, order, stage, group) -> None:
    @T.prim_func
    def main(A: T.Tensor((64, 96), "float16"), B: T.Tensor((96, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            As = T.alloc_shared((64, 32), "float16")
            Bs = T.alloc_shared((32, 64), "float16")
            acc = T.alloc_fragment((64, 64), "float32")
            T.clear(acc)
            for k in T.Pipelined(3, order=order, stage=stage, group=group):
                at = k * 32
                T.copy(A[0, at], As)
                T.copy(B[at, 0], Bs)
                T.gemm(As, Bs, acc)
            T.copy(acc, C)

    kernel = product(rng, main, target=target)
    assert kernel.source.count("tile.step") == (2 if group else 3)


def test_schedule_that_would_change_the_loop() -> None:
    def kernel(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1):
            s = T.alloc_shared((16, 64), "float32")
            for k in T.Pipelined(4, order=[0, 1], stage=[1, 0]):
                T.copy(A[k * 16, 0], s)
                T.copy(s, B[k * 16, 0])  # here

    refused(kernel, "would run before the step of stage 1")


def test_schedule_with_too_few_entries() -> None:
    def kernel(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1):
            s = T.alloc_shared((16, 64), "float32")
            for k in T.Pipelined(4, order=[0], stage=[0]):  # here
                T.copy(A[k * 16, 0], s)
                T.copy(s, B[k * 16, 0])

    refused(kernel, "order and stage have 1 entries, and the loop has 2 statements that touch memory")


def test_name_that_would_carry_memory_through_a_schedule() -> None:
    def kernel(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32")):
        with T.Kernel(1):
            s = T.alloc_shared((16, 64), "float32")
            for k in T.Pipelined(4, order=[0, 1], stage=[0, 1]):
                T.copy(A[k * 16, 0], s)
                x = s[0, 0]  # here
                B[k, 0] = x

    refused(kernel, "a name cannot carry what was read from memory")


def test_synchronisation_by_hand_in_a_loop() -> None:
    def kernel(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            for k in T.Pipelined(4, order=[0], stage=[0], sync=[[0, 0]]):  # here
                A[k] = 1.0

    refused(kernel, r"sync=\.\.\.\) is not supported")
