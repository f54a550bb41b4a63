# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""The k largest elements of each row and where they are, by k rounds of maximum and
erasure. Of equal elements the last one wins."""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit
def topk(logits, k, block_M=32, threads=128):
    M, N = T.const("M, N")
    logits: T.Tensor([M, N], T.float32)
    values = T.empty([M, k], T.float32)
    indices = T.empty([M, k], T.int32)

    with T.Kernel(T.ceildiv(M, block_M), threads=threads) as bx:
        rows = T.alloc_fragment([block_M, N], T.float32)
        largest = T.alloc_fragment([block_M], T.float32)
        places = T.alloc_fragment([block_M, N], T.int32)
        place = T.alloc_fragment([block_M], T.int32)
        T.copy(logits[bx * block_M, 0], rows)
        for step in T.serial(k):
            T.reduce_max(rows, largest, dim=1)
            for i, j in T.Parallel(block_M, N):
                places[i, j] = T.if_then_else(rows[i, j] == largest[i], j, -1)
            T.reduce_max(places, place, dim=1)
            for i, j in T.Parallel(block_M, N):
                rows[i, j] = T.if_then_else(j == place[i], -T.infinity(T.float32), rows[i, j])
            for i in T.Parallel(block_M):
                values[bx * block_M + i, step] = largest[i]
                indices[bx * block_M + i, step] = place[i]
    return values, indices


def main() -> None:
    M, N, k = (16384, 128, 8) if LARGE else (70, 64, 6)
    logits = randn((M, N), "float32")
    values, indices = topk(logits, k)
    order = np.argsort(-f64(logits), axis=1, kind="stable")[:, :k]
    check("top-k", values, np.take_along_axis(f64(logits), order, 1), rtol=0, atol=0)
    check("its indices", indices, order, rtol=0, atol=0)
    time("top-k", lambda: topk(logits, k), size=4 * M * N)


if __name__ == "__main__":
    main()
