# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Arithmetic, types, reductions and control of the language, on the cpu."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tile
import tile.language as T
from compare import close
from diagnostics import refused


def run(function, *arguments, **options):
    """Compiles a prim_func for the cpu and calls it."""
    return tile.compile(T.prim_func(function), target="cpu", **options)(*arguments)


FUNCTIONS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": np.vectorize(math.erf),
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "trunc": np.trunc,
    "exp10": lambda x: 10.0**x,
    "expm1": np.expm1,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "atan": np.arctan,
    "asinh": np.arcsinh,
}


@pytest.mark.parametrize("target", ["cpu", "emulator"])
def test_functions(rng, target):
    names = list(FUNCTIONS)

    def kernel(A: T.Tensor((64,), "float32"), B: T.Tensor((len(names), 64), "float32")):
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                for at, name in enumerate(names):
                    B[at, i] = getattr(T, name)(A[i])

    a = rng.uniform(0.1, 3, 64).astype(np.float32)
    b = np.zeros((len(names), 64), np.float32)
    tile.compile(T.prim_func(kernel), target=target)(a, b)
    for at, name in enumerate(names):
        # Near its poles the tangent divides by a cosine that is all but zero.
        bound = 1e-5 if name == "tan" else 2e-6
        close(b[at], FUNCTIONS[name](a.astype(np.float64)), rtol=bound, atol=bound, norm=bound / 2)


def test_operators(rng):
    def kernel(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32"), C: T.Tensor((16, 64), "float32")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                a = A[i]
                b = B[i]
                C[0, i] = a + b * 2 - 1 / a
                C[1, i] = a**3 + b**0.5
                C[2, i] = T.pow(b, a)
                C[3, i] = -a if a > b else +b
                C[4, i] = T.max(a, b, 0.5) - T.min(a, b)
                C[5, i] = T.fma(a, b, 1.0)
                C[6, i] = T.clamp(a, -1, 1)
                C[7, i] = a // b
                C[8, i] = a % b
                C[9, i] = T.Select(a < 0, a, b)
                C[10, i] = T.atan2(a, b)
                C[11, i] = abs(a) + max(a, b) + min(a, 0)
                C[12, i] = T.if_then_else(T.isnan(a / 0 * 0), 1, 2)
                C[13, i] = (a > 0) + (b > 0) * 2
                C[14, i] = 1 if 0 < a < 1 else 0
                C[15, i] = 1 if not (a > 0 or b > 1) else 0

    a = rng.uniform(-2, 2, 64).astype(np.float32)
    b = rng.uniform(0.2, 2, 64).astype(np.float32)
    c = np.zeros((16, 64), np.float32)
    run(kernel, a, b, c)
    x, y = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        want = [
            x + y * 2 - 1 / x,
            x**3 + y**0.5,
            y**x,
            np.where(x > y, -x, y),
            np.maximum(np.maximum(x, y), 0.5) - np.minimum(x, y),
            x * y + 1,
            np.clip(x, -1, 1),
            np.floor(x / y),
            x - np.floor(x / y) * y,
            np.where(x < 0, x, y),
            np.arctan2(x, y),
            np.abs(x) + np.maximum(x, y) + np.minimum(x, 0),
            np.ones(64),
            (x > 0) + (y > 0) * 2.0,
            (0 < x) & (x < 1),
            ~((x > 0) | (y > 1)),
        ]
    for row, expected in zip(c, want):
        close(row, expected, rtol=1e-5, atol=2e-6, norm=1e-5)


def test_integers(rng):
    def kernel(A: T.Tensor((64,), "int32"), U: T.Tensor((64,), "uint8"), C: T.Tensor((14, 64), "int32")):
        with T.Kernel(1):
            for i in T.Parallel(64):
                a = A[i]
                C[0, i] = a // 7
                C[1, i] = a % 7
                C[2, i] = a // -7
                C[3, i] = a % -7
                C[4, i] = T.truncdiv(a, 7)
                C[5, i] = T.truncmod(a, 7)
                C[6, i] = (a << 2) ^ (a >> 1) | (a & 12)
                C[7, i] = ~a
                C[8, i] = T.ceildiv(a, 7)
                C[9, i] = T.popcount(a) + T.clz(a)
                C[10, i] = U[i] + 1
                C[11, i] = U[i].astype("int8")
                C[12, i] = T.reinterpret("int32", T.float32(1.5)) if i % 2 == 0 else T.max_value("int32")
                C[13, i] = abs(a) + (i - 3) // 2 * 1000

    a = rng.integers(-1000, 1000, 64).astype(np.int32)
    u = rng.integers(0, 256, 64).astype(np.uint8)
    c = np.zeros((14, 64), np.int32)
    run(kernel, a, u, c)
    i = np.arange(64)
    trunc = (np.abs(a) // 7 * np.sign(a)).astype(np.int32)
    bits = np.array([bin(v & 0xFFFFFFFF)[2:].zfill(32) for v in a.tolist()])
    want = [
        a // 7,
        a % 7,
        a // -7,
        a % -7,
        trunc,
        a - trunc * 7,
        (a << 2) ^ (a >> 1) | (a & 12),
        ~a,
        -(-a // 7),
        [s.count("1") + len(s) - len(s.lstrip("0")) for s in bits],
        (u + np.uint8(1)),
        u.view(np.int8),
        np.where(i % 2 == 0, np.float32(1.5).view(np.int32), 2**31 - 1),
        np.abs(a) + (i - 3) // 2 * 1000,
    ]
    for row, (found, expected) in enumerate(zip(c, want)):
        np.testing.assert_array_equal(found, expected, err_msg=f"row {row}")


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_reductions(rng, dtype):
    def kernel(
        A: T.Tensor((16, 32), dtype),
        R: T.Tensor((8, 16), dtype),
        S: T.Tensor((32,), dtype),
        B: T.Tensor((3, 16), "int32"),
    ):
        with T.Kernel(1):
            a = T.alloc_fragment((16, 32), dtype)
            r = T.alloc_fragment((16,), dtype)
            T.copy(A, a)
            for at, reduce in enumerate((T.reduce_sum, T.reduce_max, T.reduce_min, T.reduce_abssum, T.reduce_absmax)):
                reduce(a, r, dim=1)
                T.copy(r, R[at, :])
            T.fill(r, 100)
            T.reduce_sum(a, r, dim=-1, clear=False)
            T.copy(r, R[5, 0:16])
            kept = T.alloc_fragment((16, 1), dtype)
            T.reduce_max(a, kept, dim=1)
            for i in T.Parallel(16):
                R[6, i] = kept[i, 0]
                R[7, i] = 0
            column = T.alloc_fragment((32,), dtype)
            T.reduce_sum(a, column, dim=0)
            T.copy(column, S)
            if dtype == "int32":
                for at, reduce in enumerate((T.reduce_bitand, T.reduce_bitor, T.reduce_bitxor)):
                    reduce(a, r, dim=1)
                    T.copy(r, B[at, :])

    a = rng.integers(-100, 100, (16, 32)).astype(dtype)
    r, s, b = np.zeros((8, 16), dtype), np.zeros(32, dtype), np.zeros((3, 16), np.int32)
    run(kernel, a, r, s, b)
    want = [a.sum(1), a.max(1), a.min(1), np.abs(a).sum(1), np.abs(a).max(1), a.sum(1) + 100, a.max(1), np.zeros(16)]
    np.testing.assert_array_equal(r, np.array(want))
    np.testing.assert_array_equal(s, a.sum(0))
    if dtype == "int32":
        np.testing.assert_array_equal(b, [f.reduce(a, axis=1) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)])


def test_scans(rng):
    def kernel(A: T.Tensor((8, 16), "float32"), B: T.Tensor((4, 8, 16), "float32")):
        with T.Kernel(1):
            a = T.alloc_shared((8, 16), "float32")
            b = T.alloc_shared((8, 16), "float32")
            T.copy(A, a)
            T.cumsum(a, b, dim=1)
            T.copy(b, B[0, :, :])
            T.cumsum(a, b, dim=0, reverse=True)
            T.copy(b, B[1, :, :])
            T.cummax(a, b, dim=1)
            T.copy(b, B[2, :, :])
            T.cumsum(a, dim=1)
            T.copy(a, B[3, :, :])

    a = rng.integers(-9, 9, (8, 16)).astype(np.float32)
    b = np.zeros((4, 8, 16), np.float32)
    run(kernel, a, b)
    want = [a.cumsum(1), a[::-1].cumsum(0)[::-1], np.maximum.accumulate(a, 1), a.cumsum(1)]
    np.testing.assert_array_equal(b, want)


def test_short_circuit_keeps_accesses_inside(rng):
    def kernel(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            t = T.alloc_shared((8,), "float32")
            T.copy(A[0], t)
            for i in T.Parallel(64):
                # t[i] must not be read where i is past its end.
                B[i] = t[i] if i < 8 and t[i] > 0 else -1

    a = rng.standard_normal(64).astype(np.float32)
    b = np.zeros(64, np.float32)
    kernel_mlir = T.prim_func(kernel).script()
    assert "scf.if" in kernel_mlir
    run(kernel, a, b)
    want = np.full(64, -1, np.float32)
    want[:8] = np.where(a[:8] > 0, a[:8], -1)
    np.testing.assert_array_equal(b, want)


def test_meta_programming(rng):
    """Plain Python is run at compile time: closures, classes, lists, lambdas, f-strings."""

    class Activation:
        def __init__(self, slope):
            self.slope = slope

        @T.macro
        def apply(self, buffer, i):
            buffer[i] = T.if_then_else(buffer[i] > 0, buffer[i], buffer[i] * self.slope)

    activations = [Activation(0.5), Activation(0.25)]
    weights = {f"w{k}": k + 1.0 for k in range(3)}

    def polynomial(x):
        """An ordinary function of device values."""
        result = 0.0
        for name in sorted(weights):
            result = result * x + weights[name]
        return result

    def kernel(A: T.Tensor((32,), "float32"), B: T.Tensor((4, 32), "float32"), n: T.int32):
        with T.Kernel(1):
            parts = [T.alloc_shared((32,), "float32") for _ in range(2)]
            double = lambda x: x * 2  # noqa: E731

            def shifted(x, by=1.0, *, times=1):
                return (x + by) * times

            for part, activation in zip(parts, activations):
                T.copy(A, part)
                for i in T.Parallel(32):
                    activation.apply(part, i)
            for i in T.Parallel(32):
                B[0, i], B[1, i] = parts[0][i], parts[1][i]
                B[2, i] = polynomial(A[i])
                B[3, i] = double(shifted(A[i], times=3)) + len(parts) + n

    a = rng.standard_normal(32).astype(np.float32)
    b = np.zeros((4, 32), np.float32)
    run(kernel, a, b, 5)
    np.testing.assert_allclose(b[0], np.where(a > 0, a, a * 0.5), rtol=1e-6)
    np.testing.assert_allclose(b[1], np.where(a > 0, a, a * 0.25), rtol=1e-6)
    np.testing.assert_allclose(b[2], (a + 2) * a + 3, rtol=1e-5)
    np.testing.assert_allclose(b[3], (a + 1) * 6 + 7, rtol=1e-5)


def test_loops_of_all_kinds():
    def kernel(A: T.Tensor((64,), "int32"), B: T.Tensor((2, 3, 4, 2, 2), "int32")):
        with T.Kernel(1, 1, 1) as (x, y, z):
            total = T.alloc_var("int32", 0)
            for i in T.serial(2, 10, 3):
                total += i
            A[0] = total + x + y + z
            for i, j in T.grid(2, 3):
                A[1 + i * 3 + j] = i * 10 + j
            for i in T.vectorized(4):
                A[8 + i] = i
            for i in T.Pipelined(0, 3, num_stages=2, order=[0], stage=[0]):
                A[12 + i] = i * i
            for a, b, c, d, e in T.Parallel(2, 3, 4, 2, 2):
                B[a, b, c, d, e] = a * 10000 + b * 1000 + c * 100 + d * 10 + e
            for i in T.Parallel(4):
                for j in T.Parallel(2):
                    A[16 + i * 2 + j] = i - j
            for i in T.serial(4):
                if i == 2:
                    continue
                A[32 + i] = 7
            step = T.alloc_var("int32", 1)
            while step < 100:
                step *= 3
                if step == 27:
                    break
            A[40] = step

    a, b = np.zeros(64, np.int32), np.zeros((2, 3, 4, 2, 2), np.int32)
    run(kernel, a, b)
    want = np.zeros(64, np.int32)
    want[0] = 2 + 5 + 8
    want[1:7] = [0, 1, 2, 10, 11, 12]
    want[8:12], want[12:15] = range(4), [0, 1, 4]
    want[16:24] = [i - j for i in range(4) for j in range(2)]
    want[32:36] = [7, 7, 0, 7]
    want[40] = 27
    np.testing.assert_array_equal(a, want)
    index = np.indices(b.shape)
    np.testing.assert_array_equal(b, sum(index[k] * 10 ** (4 - k if k else 4) for k in range(5)))


@pytest.mark.parametrize("target", ["cpu", "emulator"])
def test_print_and_assert(target):
    def kernel(A: T.Tensor((4,), "float32")):
        with T.Kernel(1):
            t = T.alloc_shared((4,), "float32")
            T.copy(A, t)
            T.print(t, msg="values")
            T.print(A[1] * 2)
            T.assume(A[0] >= 0)
            T.device_assert(A[0] > 0, "A[0] must be positive")

    compiled = tile.compile(T.prim_func(kernel), target=target)
    compiled(np.array([1, 2, 3, 4], np.float32))
    printed = compiled.output()
    assert "values" in printed and "[1, 2, 3, 4]" in printed and "4" in printed
    assert "test_language_compute.py" in printed
    with pytest.raises(tile.LaunchError, match=r"A\[0\] must be positive"):
        compiled(np.zeros(4, np.float32))


def test_types_by_every_name():
    import numpy

    assert T.float16 == "float16" and T.float == "float32" and T.dtype("half") == T.float16
    assert T.dtype(numpy.float32) == T.float32 and T.dtype(numpy.dtype("int8")) == T.int8
    assert T.infinity("float16").dtype == "float16"
    assert T.float32(1).value == 1.0 and T.int8(200).value == -56 and T.uint8(-1).value == 255
    with pytest.raises(tile.LanguageError, match="no element type 'float7'; there are float64"):
        T.dtype("float7")


def test_persistent_of_other_workers():
    def kernel(A: T.Tensor((6, 5), "int32")):
        with T.Kernel(4) as b:
            for i, j in T.Persistent([6, 5], 4, b):
                A[i, j] = i * 10 + j
        with T.Kernel(2, 2) as (x, y):
            for i, j in T.Persistent([6, 5], 4, x + y * 2):
                A[i, j] = A[i, j] + 1

    a = np.zeros((6, 5), np.int32)
    run(kernel, a)
    np.testing.assert_array_equal(a, np.add.outer(np.arange(6) * 10, np.arange(5)) + 1)


def test_scopes_and_lists_of_variables():
    """A comprehension's variable hides nothing, and variables in a list are variables."""

    def kernel(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            totals = [T.alloc_var("int32", k) for k in range(2)]
            named = {"last": T.alloc_var("int32", 0)}
            for i in T.serial(8):
                values = [A[i] * i for i in (1, 2)]
                values = [A[i], *values]
                totals[0] += values[0]
                totals[1] = totals[1] + 1
                named["last"] = i
            add = lambda x, by=totals[0]: x + by  # noqa: E731
            B[0] = totals[0]
            B[1] = totals[1]
            B[2] = named["last"]
            B[3] = add(1)

    a = np.arange(8, dtype=np.int32)
    b = np.zeros(8, np.int32)
    run(kernel, a, b)
    np.testing.assert_array_equal(b[:4], [28, 9, 7, 29])


def test_reducers(rng):
    def kernel(A: T.Tensor((24, 40), "float32"), B: T.Tensor((24,), "float32"), C: T.Tensor((3,), "float32")):
        with T.Kernel(1, threads=64):
            rows = T.alloc_reducer(24, "float32", replication="all")
            most = T.alloc_reducer((1,), "float32", op="max")
            least = T.alloc_reducer((1,), "float32", op="min")
            every = T.alloc_reducer((1,), "float32")
            T.clear(rows)
            T.reducer_init(most)
            T.reducer_init(least)
            T.fill(every, 1.0)
            for k in T.serial(2):
                for j, i in T.Parallel(20, 24):
                    rows[i] += A[i, k * 20 + j]
                    most[0] = T.max(most[0], A[i, k * 20 + j])
                    if j < 10:
                        T.reducer_update(least[0], A[i, k * 20 + j])
                    every[0] += A[i, k * 20 + j]
                    every[0] += 1.0
            T.finalize_reducer(rows, B)
            C[0] = most[0]
            C[1] = least[0]
            C[2] = every[0]

    a = rng.integers(-50, 50, (24, 40)).astype(np.float32)
    b, c = np.zeros(24, np.float32), np.zeros(3, np.float32)
    run(kernel, a, b, c)
    np.testing.assert_array_equal(b, a.sum(1))
    assert c.tolist() == [a.max(), min(a[:, :10].min(), a[:, 20:30].min()), 1 + a.sum() + a.size]


def test_reducer_that_is_assigned():
    def kernel(A: T.Tensor((24,), "float32")):
        with T.Kernel(1):
            r = T.alloc_reducer((1,), "float32")
            T.clear(r)
            for i in T.Parallel(24):
                r[0] = A[i]  # here

    refused(kernel, "r is a reducer of sum")


def test_index_arithmetic_of_32_bits_that_cancels():
    def kernel(A: T.Tensor((64, 8), "float32"), at: T.Tensor((4,), "int32"), B: T.Tensor((4, 16, 8), "float32")):
        with T.Kernel(4) as b:
            t = T.alloc_shared((16, 8), "float32")
            i = at[b]
            T.copy(A[i * 16 : (i + 1) * 16, :], t)
            T.copy(t, B[b, :, :])
            if i + 1 > i:  # wraps, so it may not be taken to hold
                B[b, 0, 0] = -1

    a, at = np.arange(512, dtype=np.float32).reshape(64, 8), np.array([3, 0, 2, 1], np.int32)
    b = np.zeros((4, 16, 8), np.float32)
    run(kernel, a, at, b)
    want = a.reshape(4, 16, 8)[at]
    want[:, 0, 0] = -1
    np.testing.assert_array_equal(b, want)
    text = tile.compile(T.prim_func(kernel), target="cpu").source
    assert "arith.cmpi sgt" in text
