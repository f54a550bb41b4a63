# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""Layer normalisation over the last dimension of a 4-d tensor, seen as a matrix.

`T.view` flattens the leading dimensions without moving anything.
"""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit
def layernorm(X, gamma, beta, eps=1e-5, rows=4, dtype="float16"):
    B, S, H, D = T.const("B, S, H, D")
    X: T.Tensor((B, S, H, D), dtype)
    gamma: T.Tensor((D,), dtype)
    beta: T.Tensor((D,), dtype)
    Y = T.empty((B, S, H, D), dtype)
    N = B * S * H

    with T.Kernel(T.ceildiv(N, rows), threads=128) as b:
        x_flat = T.view(X, (N, D))
        y_flat = T.view(Y, (N, D))
        x = T.alloc_fragment((rows, D), "float")
        square = T.alloc_fragment((rows, D), "float")
        mean = T.alloc_fragment((rows,), "float")
        var = T.alloc_fragment((rows,), "float")
        T.copy(x_flat[b * rows, 0], x)
        T.reduce_sum(x, mean, dim=1)
        for i in T.Parallel(rows):
            mean[i] = mean[i] / D
        for i, j in T.Parallel(rows, D):
            x[i, j] = x[i, j] - mean[i]
            square[i, j] = x[i, j] * x[i, j]
        T.reduce_sum(square, var, dim=1)
        for i in T.Parallel(rows):
            var[i] = T.rsqrt(var[i] / D + eps)
        for i, j in T.Parallel(rows, D):
            x[i, j] = x[i, j] * var[i] * gamma[j] + beta[j]
        T.copy(x, y_flat[b * rows, 0])
    return Y


def main() -> None:
    shape = (8, 512, 16, 1024) if LARGE else (2, 5, 7, 96)
    x, gamma, beta = randn(shape), randn(shape[-1:]), randn(shape[-1:])
    y = layernorm(x, gamma, beta)
    wide = f64(x)
    centred = wide - wide.mean(-1, keepdims=True)
    reference = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * f64(gamma) + f64(beta)
    check("layernorm", y, reference)
    time("layernorm", lambda: layernorm(x, gamma, beta), size=4 * wide.size)


if __name__ == "__main__":
    main()
