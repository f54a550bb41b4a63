# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""A two-dimensional convolution (NHWC by HWCF) as a product of matrices: rows are
pixels of the result, columns its channels, and the depth runs over the window.

The image is gathered element by element; what lies outside it reads as zero, which
is the padding.
"""

from __future__ import annotations

import numpy as np
import tile
import tile.language as T
from common import LARGE, check, f64, randn, time


@tile.jit
def convolution(data, kernel, S, D, P, block_M, block_N, block_K, num_stages=2, dtype=T.float16, accum_dtype=T.float32):
    N, H, W, C, KH, KW, F = T.const("N, H, W, C, KH, KW, F")
    data: T.Tensor((N, H, W, C), dtype)
    kernel: T.Tensor((KH, KW, C, F), dtype)
    OH = (H + 2 * P - D * (KH - 1) - 1) // S + 1
    OW = (W + 2 * P - D * (KW - 1) - 1) // S + 1
    out = T.empty((N, OH, OW, F), dtype)

    with T.Kernel(T.ceildiv(F, block_N), T.ceildiv(N * OH * OW, block_M), threads=128) as (bx, by):
        data_shared = T.alloc_shared((block_M, block_K), dtype)
        kernel_shared = T.alloc_shared((block_K, block_N), dtype)
        out_local = T.alloc_fragment((block_M, block_N), accum_dtype)
        kernel_flat = T.Tensor((KH * KW * C, F), dtype, kernel.data)
        out_flat = T.Tensor((N * OH * OW, F), dtype, out.data)

        T.clear(out_local)
        for k in T.Pipelined(T.ceildiv(KH * KW * C, block_K), num_stages=num_stages):
            for i, j in T.Parallel(block_M, block_K):
                depth = k * block_K + j
                pixel = by * block_M + i
                h = pixel % (OH * OW) // OW * S + depth // (KW * C) * D - P
                w = pixel % OW * S + depth // C % KW * D - P
                inside = h >= 0 and w >= 0 and h < H and w < W and depth < KH * KW * C
                data_shared[i, j] = T.if_then_else(inside, data[pixel // (OH * OW), h, w, depth % C], 0)
            T.copy(kernel_flat[k * block_K, bx * block_N], kernel_shared)
            T.gemm(data_shared, kernel_shared, out_local)
        T.copy(out_local, out_flat[by * block_M, bx * block_N])
    return out


def reference(data, kernel, stride, dilation, padding):
    data, kernel = f64(data), f64(kernel)
    data = np.pad(data, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    KH, KW, _, F = kernel.shape
    OH = (data.shape[1] - dilation * (KH - 1) - 1) // stride + 1
    OW = (data.shape[2] - dilation * (KW - 1) - 1) // stride + 1
    out = np.zeros((data.shape[0], OH, OW, F))
    for r in range(KH):
        for s in range(KW):
            window = data[:, r * dilation :, s * dilation :, :][:, : OH * stride : stride, : OW * stride : stride]
            out += window @ kernel[r, s]
    return out


def main() -> None:
    N, H, W, C, F = (16, 64, 64, 128, 128) if LARGE else (2, 9, 11, 20, 40)
    for stride, dilation, padding in ((1, 1, 1), (2, 1, 0), (1, 2, 2)):
        data, kernel = randn((N, H, W, C)), randn((3, 3, C, F))
        name = f"convolution stride {stride}, dilation {dilation}, padding {padding}"
        arguments = (data, kernel, stride, dilation, padding, 64, 64, 32)
        check(name, convolution(*arguments), reference(data, kernel, stride, dilation, padding))
        time(name, lambda arguments=arguments: convolution(*arguments), flops=18 * N * H * W * C * F / stride**2)


if __name__ == "__main__":
    main()
