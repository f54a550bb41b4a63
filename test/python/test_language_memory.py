# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Buffers, copies, fills and views of the language, on the cpu."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tile
import tile.language as T
from compare import close
from diagnostics import refused


def run(function, *arguments, **options):
    """Compiles a prim_func for the cpu and calls it."""
    return tile.compile(T.prim_func(function), target="cpu", **options)(*arguments)


def numbers(rng, shape, dtype="float32"):
    return rng.standard_normal(shape).astype(dtype)


def test_copy_of_buffers_slices_and_start_points(rng):
    def kernel(
        A: T.Tensor((2, 64, 3, 32), "float32"), B: T.Tensor((64, 32), "float32"), C: T.Tensor((64, 32), "float32")
    ):
        with T.Kernel(2) as b:
            whole = T.alloc_shared((32, 32), "float32")
            T.copy(A[1, b * 32 : (b + 1) * 32, 2, :], whole)
            T.copy(whole, B[b * 32, 0])
            part = T.alloc_shared((8, 16), "float32")
            for i, j in T.grid(4, 2):
                T.copy(whole[i * 8 : i * 8 + 8, j * 16 : j * 16 + 16], part)
                T.copy(part, C[b * 32 + i * 8 : b * 32 + (i + 1) * 8, j * 16 : (j + 1) * 16])

    a = numbers(rng, (2, 64, 3, 32))
    b, c = np.zeros((64, 32), np.float32), np.zeros((64, 32), np.float32)
    run(kernel, a, b, c)
    np.testing.assert_array_equal(b, a[1, :, 2])
    np.testing.assert_array_equal(c, a[1, :, 2])


@pytest.mark.parametrize("target", ["cpu", "emulator"])
def test_slices_from_offsets_in_memory(rng, target):
    """Both ends of a slice read the offset; it is one value, so the length is known."""

    def kernel(
        A: T.Tensor((20, 8), "float32"),
        at: T.Tensor((3,), "int32"),
        B: T.Tensor((3, 4, 8), "float32"),
        C: T.Tensor((3, 4, 8), "float32"),
    ):
        with T.Kernel(3, threads=32) as b:
            rows = T.alloc_shared((4, 8), "float32")
            first = T.alloc_var("int32")
            first = at[b]
            T.copy(A[first : first + 4, :], rows)
            T.copy(rows, B[b, 0, 0])
            first += 1
            T.copy(A[at[b] + 1 : at[b] + 5, :], rows)
            T.copy(rows, C[b, 0, 0])
            C[b, 0, 0] += first

    a, at = numbers(rng, (20, 8)), np.array([3, 0, 18], np.int32)
    b, c = np.zeros((3, 4, 8), np.float32), np.zeros((3, 4, 8), np.float32)
    tile.compile(T.prim_func(kernel), target=target)(a, at, b, c)
    padded = np.pad(a, ((0, 5), (0, 0)))
    np.testing.assert_array_equal(b, np.stack([padded[i : i + 4] for i in at]))
    wanted = np.stack([padded[i + 1 : i + 5] for i in at])
    wanted[:, 0, 0] += at + 1
    np.testing.assert_array_equal(c, wanted)


def test_an_element_is_read_again_after_writes():
    """What was read holds only until something is written, or a branch or loop ends."""

    def kernel(A: T.Tensor((4,), "int32"), B: T.Tensor((6,), "int32")):
        with T.Kernel(1):
            v = T.alloc_var("int32", 1)
            B[0] = v + v
            v += 1
            B[1] = v
            for _ in T.serial(3):
                v += v
            B[2] = v
            if A[0] > 0:
                v = A[0]
            B[3] = v
            old = T.atomic_add(A[0], 5, return_prev=True)
            B[4] = A[0] - old
            T.fill(v, 9)
            B[5] = v

    a, b = np.array([7, 0, 0, 0], np.int32), np.zeros(6, np.int32)
    run(kernel, a, b)
    assert b.tolist() == [2, 2, 16, 7, 5, 9]


def test_copy_outside_a_buffer(rng):
    def kernel(A: T.Tensor((5, 6), "float32"), B: T.Tensor((8, 8), "float32"), C: T.Tensor((5, 6), "float32")):
        with T.Kernel(1):
            t = T.alloc_shared((8, 8), "float32")
            T.copy(A, t[0:5, 0:6])
            T.copy(A[0, 0], t)
            T.copy(t, B)
            T.copy(t, C[0, 0])

    a = numbers(rng, (5, 6))
    b, c = np.ones((8, 8), np.float32), np.ones((5, 6), np.float32)
    run(kernel, a, b, c)
    np.testing.assert_array_equal(b, np.pad(a, ((0, 3), (0, 2))))
    np.testing.assert_array_equal(c, a)


def test_safe_value(rng):
    def kernel(A: T.Tensor((20,), "float32"), B: T.Tensor((32,), "float32"), C: T.Tensor((32,), "float32")):
        with T.Kernel(1):
            T.annotate_safe_value({A: 7.0})
            t = T.alloc_shared((32,), "float32")
            T.copy(A[4], t)
            T.copy(t, B)
            for i in T.Parallel(32):
                C[i] = A[i - 4]

    a = numbers(rng, (20,))
    b, c = np.zeros(32, np.float32), np.zeros(32, np.float32)
    run(kernel, a, b, c)
    np.testing.assert_array_equal(b, np.concatenate([a[4:], np.full(16, 7, np.float32)]))
    np.testing.assert_array_equal(c, np.concatenate([np.full(4, 7), a, np.full(8, 7)]).astype(np.float32))


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float64", "float8_e4m3fn", "float8_e5m2", "int32", "int8", "uint8"]
)
def test_copy_converts(rng, dtype):
    def kernel(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), dtype), C: T.Tensor((64,), dtype)):
        with T.Kernel(1):
            t = T.alloc_fragment((64,), "float32")
            T.copy(A, t)
            T.copy(t, B)
            for i in T.Parallel(64):
                C[i] = t[i].astype(dtype)

    a = rng.uniform(0, 100, 64).astype(np.float32)
    if dtype.startswith("float8"):
        a[:2] = 1e6, 300.0
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    b, c = np.zeros(64, kind), np.zeros(64, kind)
    run(kernel, a, b, c)
    most = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}.get(dtype, np.inf)
    np.testing.assert_array_equal(b, np.clip(a, -most, most).astype(kind))
    np.testing.assert_array_equal(c, b)


def test_fill_and_clear_of_parts():
    def kernel(A: T.Tensor((8, 8), "float32"), B: T.Tensor((4,), "int32")):
        with T.Kernel(1):
            t = T.alloc_shared((8, 8), "float32")
            T.fill(t, 3)
            T.clear(t[2:4, :])
            T.fill(t[6:8, 0:4], T.infinity("float32"))
            T.copy(t, A)
            own = T.alloc_local((4,), "int32")
            T.fill(own, 5)
            v = T.alloc_var("int32", 1)
            T.clear(v)
            for i in T.serial(4):
                B[i] = own[i] + v

    a, b = np.zeros((8, 8), np.float32), np.zeros(4, np.int32)
    run(kernel, a, b)
    want = np.full((8, 8), 3.0)
    want[2:4], want[6:8, 0:4] = 0, np.inf
    np.testing.assert_array_equal(a, want)
    np.testing.assert_array_equal(b, [5] * 4)


def test_views_and_transpose(rng):
    def kernel(
        A: T.Tensor((4, 16), "float32"),
        B: T.Tensor((64,), "float32"),
        C: T.Tensor((16, 4), "float32"),
        D: T.Tensor((8, 8), "int32"),
    ):
        with T.Kernel(1):
            flat = T.reshape(A, [64])
            t = T.alloc_shared((64,), "float32")
            T.copy(flat, t)
            square = T.view(t, (8, 8))
            for i, j in T.Parallel(8, 8):
                square[i, j] = square[i, j] + 1
            T.copy(t, B)
            s = T.alloc_shared((4, 16), "float32")
            u = T.alloc_shared((16, 4), "float32")
            T.copy(A, s)
            T.transpose(s, u)
            T.copy(u, C)
            bits = T.view(t, (8, 8), "int32")
            for i, j in T.Parallel(8, 8):
                D[i, j] = bits[i, j]

    a = numbers(rng, (4, 16))
    b, c, d = np.zeros(64, np.float32), np.zeros((16, 4), np.float32), np.zeros((8, 8), np.int32)
    run(kernel, a, b, c, d)
    np.testing.assert_array_equal(b, a.reshape(-1) + 1)
    np.testing.assert_array_equal(c, a.T)
    np.testing.assert_array_equal(d, (a + 1).reshape(8, 8).view(np.int32))


def test_strided_tensor_and_workspace(rng):
    n = T.dynamic("n")

    def kernel(A: T.StridedTensor((n, 8), (16, 1), "float32"), B: T.Tensor((n, 8), "float32")):
        work = T.alloc_global((n, 8), "float32")
        with T.Kernel(T.ceildiv(n, 4)) as b:
            for i, j in T.Parallel(4, 8):
                work[b * 4 + i, j] = A[b * 4 + i, j] * 2
        with T.Kernel(T.ceildiv(n, 4)) as b:
            for i, j in T.Parallel(4, 8):
                B[b * 4 + i, j] = work[n - 1 - (b * 4 + i), j]

    a = numbers(rng, (10, 16))
    b = np.zeros((10, 8), np.float32)
    run(kernel, a[:, :8], b)
    np.testing.assert_array_equal(b, 2 * a[::-1, :8])


def test_int4_tensors(rng):
    def kernel(A: T.Tensor((8, 16), "int4"), B: T.Tensor((8, 16), "int8")):
        with T.Kernel(1):
            t = T.alloc_shared((8, 16), "int8")
            T.copy(A, t)
            T.copy(t, B)

    packed = rng.integers(-128, 128, (8, 8)).astype(np.int8)
    b = np.zeros((8, 16), np.int8)
    run(kernel, packed, b)
    low, high = (packed.astype(np.int16) & 15), (packed.astype(np.int16) >> 4) & 15
    want = np.stack([low, high], -1).reshape(8, 16)
    np.testing.assert_array_equal(b, np.where(want > 7, want - 16, want))


def test_atomics(rng):
    def kernel(
        A: T.Tensor((32,), "float32"),
        total: T.Tensor((1,), "float32"),
        most: T.Tensor((4,), "int32"),
        tiles: T.Tensor((8, 8), "float32"),
        olds: T.Tensor((4, 4), "int32"),
        bits: T.Tensor((1,), "int32"),
    ):
        with T.Kernel(4) as b:
            t = T.alloc_fragment((8, 8), "float32")
            T.fill(t, 1.5)
            T.atomic_add(tiles, t)
            for i in T.Parallel(8):
                T.atomic_add(total[0], A[b * 8 + i], memory_order="relaxed")
            for i in T.Parallel(4):
                T.atomic_max(most[i], b * 10 + i)
                olds[b, i] = T.atomic_add(most[3], 0, return_prev=True)
            T.atomic_min(tiles[0:1, 0:8], t[0:1, :])
            T.atomic_or(bits[0], 1 << b)

    a = rng.integers(0, 10, 32).astype(np.float32)
    total, most, tiles = np.zeros(1, np.float32), np.zeros(4, np.int32), np.zeros((8, 8), np.float32)
    bits = np.zeros(1, np.int32)
    run(kernel, a, total, most, tiles, np.zeros((4, 4), np.int32), bits)
    assert total[0] == a.sum()
    np.testing.assert_array_equal(most, [30, 31, 32, 33])
    np.testing.assert_array_equal(tiles[1:], 6.0)
    assert bits[0] == 15


def test_gemm_of_slices_and_policies(rng):
    def kernel(A: T.Tensor((2, 32, 64), "float16"), B: T.Tensor((64, 32), "float16"), C: T.Tensor((32, 32), "float32")):
        with T.Kernel(1):
            a = T.alloc_shared((2, 32, 64), "float16")
            b = T.alloc_shared((64, 32), "float16")
            c = T.alloc_fragment((32, 32), "float32")
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a[1, :, 0:32], b[0:32, :], c, clear_accum=True, policy=T.GemmWarpPolicy.FullCol, k_pack=1)
            T.gemm(a[1, :, 32:64], b[32:64, :], c, policy=T.GemmWarpPolicy.Square)
            T.copy(c, C)

    a, b = numbers(rng, (2, 32, 64), "float16"), numbers(rng, (64, 32), "float16")
    c = np.zeros((32, 32), np.float32)
    run(kernel, a, b, c)
    close(c, a[1].astype(np.float64) @ b.astype(np.float64), atol=1e-4, norm=1e-6)


def test_im2col_and_layout_hints(rng):
    from tile import layout

    def kernel(img: T.Tensor((2, 5, 6, 3), "float16"), B: T.Tensor((64, 32), "float16")):
        with T.Kernel(2) as b:
            t = T.alloc_shared((32, 32), "float16")
            T.annotate_layout(
                {t: layout.make_swizzled_layout(t), img: T.Layout(img.shape, lambda n, h, w, c: [n, h, w, c])}
            )
            T.im2col(img, t, b, 0, 3, 1, 1, 1)
            T.copy(t, B[b * 32, 0])

    img = numbers(rng, (2, 5, 6, 3), "float16")
    b = np.zeros((64, 32), np.float16)
    run(kernel, img, b)
    padded = np.pad(img, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = [padded[:, r : r + 5, s : s + 6, :] for r in range(3) for s in range(3)]
    want = np.concatenate(windows, axis=-1).reshape(60, 27)
    np.testing.assert_array_equal(b[:60, :27], want)
    np.testing.assert_array_equal(b[:, 27:], 0)


def test_views_of_another_width(rng):
    def kernel(A: T.Tensor((8, 16), "uint8"), B: T.Tensor((8, 4), "int32"), C: T.Tensor((8, 8), "float16")):
        with T.Kernel(1):
            words = T.view(A, dtype="int32")
            halves = T.view(B, (8, 8), "float16")
            T.copy(words, B)
            T.copy(halves, C)
            bytes_ = T.alloc_shared((8, 16), "uint8")
            floats = T.view(bytes_, (32,), "float32")
            for i in T.Parallel(32):
                floats[i] = T.cast(i, "float32") + 0.5
            T.copy(bytes_, A)

    a = rng.integers(0, 120, (8, 16), dtype=np.uint8)
    given = a.copy()
    b, c = np.zeros((8, 4), np.int32), np.zeros((8, 8), np.float16)
    run(kernel, a, b, c)
    np.testing.assert_array_equal(b, given.view(np.int32))
    np.testing.assert_array_equal(c.view(np.uint16), b.view(np.uint16))
    np.testing.assert_array_equal(a.view(np.float32).ravel(), np.arange(32) + 0.5)


def test_write_through_a_view_with_narrower_elements():
    def kernel(A: T.Tensor((8, 16), "int32")):
        with T.Kernel(1):
            halves = T.view(A, dtype="int16")
            halves[0, 0] = 1  # here

    refused(kernel, "a view with elements of 16 bits of a buffer with elements of 32.*threads")


def test_layout_in_global_memory(rng):
    """Gradients are summed in an order that suits the adding, and put right after it."""

    def place(x):
        return T.Layout(x.shape, lambda r, c: [r // 8, c // 8, r % 8, c % 8])

    def sums(A: T.Tensor((32, 32), "float32"), S: T.Tensor((32, 32), "float32")):
        with T.Kernel(2, threads=32) as b:
            T.annotate_layout({S: place(S)})
            t = T.alloc_fragment((20, 32), "float32")
            T.copy(A[b * 20, 0], t)
            T.atomic_add(S[b * 20, 0], t)
            S[33, 0] = 5.0
            S[0, 0] += S[40, 0]

    def back(S: T.Tensor((32, 32), "float32"), B: T.Tensor((32, 32), "float32")):
        with T.Kernel(1, threads=32):
            T.annotate_layout({S: place(S)})
            T.copy(S, B)

    a = numbers(rng, (32, 32), "float32")
    s, b = np.zeros((32, 32), np.float32), np.zeros((32, 32), np.float32)
    run(sums, a, s)
    tiles = a.reshape(4, 8, 4, 8).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(s.ravel(), tiles.ravel())
    run(back, s, b)
    np.testing.assert_array_equal(b, a)


def test_layouts_that_cannot_be_kept_to():
    def on_chip(A: T.Tensor((8, 8), "float32")):
        with T.Kernel(1):
            t = T.alloc_shared((8, 8), "float32")
            T.annotate_layout({t: T.Layout(t.shape, lambda i, j: [j, i])})  # here
            T.copy(A, t)

    refused(on_chip, "a layout of t on the chip cannot be pinned")

    def overlapping(A: T.Tensor((8, 8), "float32")):
        with T.Kernel(1):
            T.annotate_layout({A: T.Layout(A.shape, lambda i, j: [i, j // 2])})  # here

    refused(overlapping, "has 8 x 4 places, and the buffer 64 elements")


def test_fragment_of_each_thread():
    def kernel(A: T.Tensor((2,), "int32")):
        with T.Kernel(2) as b:
            start = T.alloc_fragment((1,), "int32", "local")
            start[0] = b * 2
            while start[0] < 5:
                start[0] += 2
            A[b] = start[0]

    a = np.zeros(2, np.int32)
    run(kernel, a)
    assert a.tolist() == [6, 6]


def test_types_of_a_macros_parameters():
    """They may say shape and element type, or be bare."""

    @T.macro
    def double(x: T.SharedBuffer((8, 8), "float32"), y: T.FragmentBuffer, z: T.LocalBuffer([1], "float32")):
        z[0] = 2
        for i, j in T.Parallel(8, 8):
            y[i, j] = x[i, j] * z[0]

    def kernel(A: T.Buffer((8, 8), "float32")):
        with T.Kernel(1):
            x, y, z = T.alloc_shared((8, 8)), T.alloc_fragment((8, 8)), T.alloc_local((1,))
            T.copy(A, x)
            double(x, y, z)
            T.copy(y, A)

    a = np.ones((8, 8), np.float32)
    run(kernel, a)
    assert (a == 2).all()
