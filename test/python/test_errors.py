"""Mistakes are errors at the user's line, and say what would be right."""

# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
from __future__ import annotations

from typing import Any

import pytest
import tile
import tile.language as T
from diagnostics import refused
from tile.language import Tensor


def test_unknown_name() -> None:
    def kernel(A: Tensor((4,), "float32")) -> None:
        with T.Kernel(1):
            T.frobnicate(A)  # here

    refused(kernel, "the language has no T.frobnicate")


def test_name_of_tilelang_that_is_not_supported() -> None:
    def kernel(A: Tensor((4,), "float32")) -> None:
        with T.Kernel(1):
            T.alloc_tmem((64, 64), "float32")  # here

    refused(kernel, "T.alloc_tmem is not supported: tensor memory")


def test_value_that_would_be_carried_by_a_loop() -> None:
    def kernel(A: Tensor((4,), "float32")) -> None:
        with T.Kernel(1):
            total = 0.0
            for i in T.serial(4):
                total = total + A[i]  # here
            A[0] = total

    refused(kernel, "total is read in this loop and assigned here.*T.alloc_var")


def test_name_that_ended_with_its_branch() -> None:
    def kernel(A: Tensor((4,), "float32")) -> None:
        with T.Kernel(1):
            x = 1.0
            if A[0] > 0:
                x = 2.0
            A[1] = x  # here

    refused(kernel, "x was assigned inside the `if` on a device value at line .* T.alloc_var")


def test_gemm_of_matrices_that_do_not_fit() -> None:
    def kernel(A: Tensor((64, 64), "float16")) -> None:
        with T.Kernel(1):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.gemm(a, b, c)  # here

    refused(kernel, r"A is \(64, 32\)")


def test_copy_of_tiles_that_differ() -> None:
    def kernel(A: Tensor((64, 64), "float16")) -> None:
        with T.Kernel(1):
            a = T.alloc_shared((64, 32), "float16")
            T.copy(A[0:64, 0:64], a)  # here

    refused(kernel, r"the sides of this copy differ: A has \(64, 64\) and a \(64, 32\)")


def test_parallel_of_an_unknown_extent() -> None:
    def kernel(n: T.int32, A: Tensor((64,), "float32")) -> None:
        with T.Kernel(1):
            for i in T.Parallel(n):  # here
                A[i] = 0

    refused(kernel, "known at compile time")


def test_whole_buffer_in_an_expression() -> None:
    def kernel(A: Tensor((64,), "float32")) -> None:
        with T.Kernel(1):
            a = T.alloc_fragment((64,), "float32")
            b = a * 2  # here  # noqa: F841

    refused(kernel, "a is a whole buffer")


def test_integer_division() -> None:
    def kernel(A: Tensor((64,), "int32")) -> None:
        with T.Kernel(1):
            for i in T.Parallel(64):
                A[i] = A[i] / 2  # here

    refused(kernel, "use // for the floor")


def test_compiler_diagnostic_has_the_users_line() -> None:
    def kernel(A: Tensor((64, 64), "float16")) -> None:
        with T.Kernel(1):
            a = T.alloc_shared((64, 64), "int16")
            b = T.alloc_shared((64, 64), "int16")
            c = T.alloc_fragment((64, 64), "int32")
            T.gemm(a, b, c)  # here

    refused(kernel, "'tile.gemm' op")


def test_thread_level_code_is_refused_by_the_cpu() -> None:
    def kernel(A: Tensor((64,), "float32")) -> None:
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()  # here
            A[tx] = 1.0

    refused(kernel, "emulator")


def test_argument_that_does_not_fit() -> None:
    import numpy as np

    @T.prim_func
    def kernel(A: Tensor((4,), "float32"), n: T.int32) -> None:
        with T.Kernel(1):
            A[0] = n

    compiled = tile.compile(kernel, target="cpu")
    with pytest.raises(ValueError, match="argument 'A': expected elements of float32, got float64"):
        compiled(np.zeros(4), 1)
    with pytest.raises(tile.LaunchError, match="'A'"):
        compiled(np.zeros(5, np.float32), 1)
    with pytest.raises(ValueError, match="argument 'n': expected an integer"):
        compiled(np.zeros(4, np.float32), 1.5)
    for number in (2**31, -(2**31) - 1, 2**40):
        with pytest.raises(ValueError, match="argument 'n': does not fit int32, which goes from -2147483648"):
            compiled(np.zeros(4, np.float32), number)
    for other in (">f4", "O", "S4", "M8[s]", np.longdouble, "c8"):
        with pytest.raises(ValueError, match="argument 'A': .*kernels do not have"):
            compiled(np.zeros(4, other), 1)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        compiled(np.zeros(4, np.float32))
    readonly = np.zeros(4, np.float32)
    readonly.flags.writeable = False
    with pytest.raises(ValueError, match="'A' is read-only|argument 'A'"):
        compiled(readonly, 1)


def test_scalars_of_every_width() -> None:
    import numpy as np

    @T.prim_func
    def kernel(A: Tensor((4,), "int64"), a: T.int8, b: T.uint16, c: T.uint64, d: T.bool) -> None:
        with T.Kernel(1):
            A[0] = a
            A[1] = b
            A[2] = c >> 1
            A[3] = T.if_then_else(d, 1, 0)

    compiled, out = tile.compile(kernel, target="cpu"), np.zeros(4, np.int64)
    compiled(out, -128, 65535, 2**64 - 1, True)
    assert out.tolist() == [-128, 65535, 2**63 - 1, 1]
    wrong = [(128, 0, 0, 0), (-129, 0, 0, 0), (0, 65536, 0, 0), (0, -1, 0, 0), (0, 0, -1, 0), (0, 0, 2**64, 0)]
    for numbers in [*wrong, (0, 0, 0, 2)]:
        with pytest.raises(ValueError, match="does not fit"):
            compiled(out, *numbers)


def test_output_whose_extent_the_wrong_argument_should_give() -> None:
    n = T.dynamic("n")

    @T.prim_func
    def kernel(A: Tensor((n,), "float32"), B: Tensor((n,), "float32")) -> None:
        with T.Kernel(1):
            B[0] = A[0]

    with pytest.raises(tile.LaunchError, match="argument 'A': expected an array, got int"):
        tile.compile(kernel, out_idx=[1], target="cpu")(5)


def test_text_of_several_lines_in_an_indented_kernel() -> None:
    def kernel(A: Tensor((4,), "float32")) -> None:
        """A text whose
        next line stands further left."""
        with T.Kernel(1):
            A.nothing()  # here

    refused(kernel, "Buffer has no nothing")


def test_recursion_without_an_end() -> None:
    @T.macro
    def again(a: Any) -> None:
        again(a)

    def kernel(A: Tensor((4,), "float32")) -> None:
        with T.Kernel(1):
            again(A)  # here

    with pytest.raises(tile.LanguageError, match="recursion needs an end"):
        tile.compile(T.prim_func(kernel), target="cpu")


def test_loop_that_runs_at_compile_time_cannot_break_on_a_device_value() -> None:
    def kernel(A: Tensor((4,), "float32")) -> None:
        with T.Kernel(1):
            for scale in (1.0, 2.0):
                if A[0] > scale:
                    break  # here

    refused(kernel, "`break` depends on a device value")


def test_allocation_of_an_unknown_extent() -> None:
    n = T.dynamic("n")

    def kernel(A: Tensor((n,), "float32")) -> None:
        with T.Kernel(1):
            a = T.alloc_shared((n,), "float32")  # here  # noqa: F841

    refused(kernel, "needs extents that are known at compile time")


def test_python_functions_of_numbers_on_device_values() -> None:
    import math

    def kernel(A: Tensor((4,), "float32")) -> None:
        with T.Kernel(1):
            A[0] = math.sqrt(A[1])  # here

    refused(kernel, "use T.sqrt")


def test_slices_out_of_place() -> None:
    def kernel(A: Tensor((4, 4), "float32")) -> None:
        with T.Kernel(1):
            A[0, 0] = A[0, 0:2] + 1  # here

    refused(kernel, "A is sliced here, where one element is needed")


def test_thread_ids_inside_a_parallel_loop() -> None:
    def kernel(A: Tensor((64,), "float32")) -> None:
        with T.Kernel(1, threads=64):
            for i in T.Parallel(64):
                A[i] = T.get_lane_idx()  # here

    refused(kernel, "no meaning inside T.Parallel")


def test_hints_and_options_that_are_wrong() -> None:
    def kernel(A: Tensor((64,), "float32")) -> None:
        with T.Kernel(1):
            a = T.alloc_shared((64,), "float32")
            T.copy(A, a, eviction_policy="evict_never")  # here

    refused(kernel, "eviction_policy is one of evict_normal, evict_first, evict_last")


def test_list_that_would_carry_a_value() -> None:
    def kernel(A: Tensor((4,), "float32")) -> None:
        with T.Kernel(1):
            total = [0.0]
            for i in T.serial(4):
                total[0] = total[0] + A[i]  # here
                A[i] = total[0]

    refused(kernel, "would happen once, when the kernel is built; use T.alloc_var")


def test_index_that_leaves_a_buffer_on_the_chip() -> None:
    def kernel(A: Tensor((64,), "float32")) -> None:
        with T.Kernel(1):
            s = T.alloc_fragment((4,), "float32")
            for i in T.Parallel(64):
                if i < 4:
                    s[i] = A[i]
            for i in T.Parallel(64):
                s[i] = A[i]  # here

    refused(kernel, "s has 4 elements along dimension 0 and is indexed with 0 to 63")
