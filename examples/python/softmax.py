# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Softmax of rows of any length, in one pass over the row that keeps a running
maximum and sum ("online"), and a second one that writes."""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit(out_idx=[1], pass_configs={tile.PassConfigKey.TL_ENABLE_FAST_MATH: True})
def softmax(M, N, block_M=8, block_N=128, dtype="float16"):
    scale = 1.44269504  # log2(e)

    @T.prim_func
    def main(X: T.Tensor((M, N), dtype), Y: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(M, block_M), threads=128) as b:
            x = T.alloc_fragment((block_M, block_N), "float")
            e = T.alloc_fragment((block_M, block_N), "float")
            largest = T.alloc_fragment((block_M,), "float")
            before = T.alloc_fragment((block_M,), "float")
            total = T.alloc_fragment((block_M,), "float")
            part = T.alloc_fragment((block_M,), "float")
            T.fill(largest, -T.infinity("float"))
            T.clear(total)
            for t in T.serial(T.ceildiv(N, block_N)):
                T.copy(X[b * block_M, t * block_N], x)
                for i, j in T.Parallel(block_M, block_N):
                    x[i, j] = T.if_then_else(t * block_N + j < N, x[i, j], -T.infinity("float"))
                T.copy(largest, before)
                T.reduce_max(x, largest, dim=1, clear=False)
                for i, j in T.Parallel(block_M, block_N):
                    e[i, j] = T.exp2((x[i, j] - largest[i]) * scale)
                T.reduce_sum(e, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * T.exp2((before[i] - largest[i]) * scale) + part[i]
            for t in T.serial(T.ceildiv(N, block_N)):
                T.copy(X[b * block_M, t * block_N], x)
                for i, j in T.Parallel(block_M, block_N):
                    x[i, j] = T.exp2((x[i, j] - largest[i]) * scale) / total[i]
                T.copy(x, Y[b * block_M, t * block_N])

    return main


def main() -> None:
    M, N = (8192, 4096) if LARGE else (70, 300)
    kernel = softmax(M, N)
    x = randn((M, N))
    wide = np.exp(f64(x) - f64(x).max(-1, keepdims=True))
    check("softmax", kernel(x), wide / wide.sum(-1, keepdims=True), rtol=2e-3, atol=1e-6)
    time("softmax", lambda: kernel(x), size=4 * M * N)


if __name__ == "__main__":
    main()
