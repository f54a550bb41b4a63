# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""y = x / sqrt(mean(x^2) + eps) * weight, row by row, in bfloat16."""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit(out_idx=-1)
def rmsnorm(M, N, block_M=4, eps=1e-6, dtype=T.bfloat16):
    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), weight: T.Tensor((N,), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=128) as b:
            x = T.alloc_fragment((block_M, N), "float")
            squares = T.alloc_fragment((block_M, N), "float")
            scale = T.alloc_fragment((block_M,), "float")
            T.copy(X[b * block_M : (b + 1) * block_M, :], x)
            for i, j in T.Parallel(block_M, N):
                squares[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(squares, scale, dim=1)
            for i in T.Parallel(block_M):
                scale[i] = T.rsqrt(scale[i] / N + eps)
            for i, j in T.Parallel(block_M, N):
                x[i, j] = x[i, j] * scale[i] * weight[j]
            T.copy(x, Y[b * block_M : (b + 1) * block_M, :])

    return main


def main() -> None:
    M, N = (8192, 4096) if LARGE else (50, 200)
    kernel = rmsnorm(M, N)
    x, weight = randn((M, N), "bfloat16"), randn((N,), "bfloat16")
    wide = f64(x)
    check("rmsnorm", kernel(x, weight), wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-6) * f64(weight))
    time("rmsnorm", lambda: kernel(x, weight), size=4 * M * N)


if __name__ == "__main__":
    main()
