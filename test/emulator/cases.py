"""The examples and the hand-built kernels as the emulator's tests run them: small, and
odd where that matters."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TILE_BUILD", ROOT / "build"))
TILE_RUN = BUILD / "bin" / "tile-run"
SEED = int(os.environ.get("TILE_TEST_SEED", "1"))
CHIPS = ["sm_80", "sm_90"]

# Entry and arguments that make the others follow: more than one block, and an
# edge in each dimension that is tiled.
EXAMPLES = {
    "activations": ["gelu X=randn(0,2):5x300xf32", "silu_mul X=randn(0,3):3x270xbf16"],
    "argmax": ["argmax X=randn:5x300xf32"],
    "attention_backward": ["attention_backward Q=randn:1x33x64xf32 K=randn:1x40x64xf32"],
    "batched_matmul": ["batched_matmul A=randn:2x70x40xbf16 B=randn:2x40x33xbf16"],
    "block_sparse_matmul": ["block_sparse_matmul A=randn:70x70xf16 B=randn:70x33xf16"],
    "conv2d": ["conv2d X=randn:1x5x9x17xf16 W=randn:3x3x17x20xf16"],
    "cumulative_sum": ["cumulative_sum X=randn:9x130xf32", "sum_to_come X=randn:9x130xf32"],
    "depthwise_conv": ["depthwise_conv X=randn:1x6x7x40xf32"],
    "embedding": ["embedding tokens=randint(-1,12):9xi32 table=randn:10x200xbf16"],
    "flash_attention": [
        "flash_attention Q=randn:1x2x70x64xf32 K=randn:1x2x90x64xf32",
        "flash_attention_causal Q=randn:1x1x70x64xf32 K=randn:1x1x40x64xf32",
        "attention_map Q=randn:1x1x40x64xf32 K=randn:1x1x70x64xf32",
    ],
    "flash_attention_varlen": [
        "flash_attention_varlen Q=randn:50x1x64xf16 K=randn:60x1x64xf16 "
        "cu_q=values(0,20,20,21,50):5xi32 cu_k=values(0,25,30,30,60):5xi32 longest=29"
    ],
    "flash_decoding": ["flash_decoding q=randn:2x64xf16 K=randn:2x70x64xf16"],
    "gemv": ["gemv A=randn:70x130xf16"],
    "grouped_query_attention": ["grouped_query_attention Q=randn:1x33x2x128xbf16 K=randn:1x70x1x128xbf16"],
    "histogram": ["histogram X=randint(0,256):2000xi32"],
    "layernorm": ["layernorm X=randn(1,2):1x5x6x50xf32"],
    "linear_attention": ["linear_attention Q=randn(0,0.3):1x70x64xf16"],
    "matmul": [
        "matmul A=randn:130x70xf16 B=randn:70x140xf16",
        "matmul A=randn:128x128xf16 B=randn:128x128xf16",
        "matmul_nt A=randn:130x40xf16 B=randn:33xA[1]xf16",
        "matmul_tn A=randn:40x130xf16 B=randn:40x33xf16",
        "matmul_tt A=randn:40x130xf16 B=randn:33x40xf16",
    ],
    "matmul_bias_relu": ["matmul_bias_relu X=randn:70x40xbf16 W=randn:40x140xbf16"],
    "matmul_f32": ["matmul_f32 A=randn:70x40xf32 B=randn:40x70xf32"],
    "persistent_matmul": ["persistent_matmul A=randn:130x40xf16 B=randn:40x130xf16 workers=2"],
    "prefix_sum": ["prefix_sum X=randint(-9,9):9x300xi32"],
    "quantized_matmul": [
        "int8_matmul A=randint(-128,128):70x70xi8 B=randint(-128,128):40x70xi8",
        "fp8_matmul A=randn:70x70xf8E4M3FN B=randn:40x70xf8E5M2",
        "int4_weight_matmul A=randn:40x64xf16 W=randint(-8,8):64x70xi4",
    ],
    "rmsnorm": ["rmsnorm X=randn:5x300xf16"],
    "rotary_embedding": ["rotary_embedding X=randn:9x3x80xf16"],
    "softmax": ["softmax X=randn(0,3):5x300xf32", "softmax X=values(-inf,1,inf,nan,-inf,-inf):2x3xf32"],
    "split_k_matmul": ["split_k_matmul A=randn:70x200xf16 B=randn:200x40xf16"],
    "stencil": ["stencil U=randn:700xf32"],
    "top_k": ["top_k X=randn:5x300xf32"],
    "transpose": ["transpose X=randn:70x40xbf16"],
    "vector_add": ["vector_add X=randn:70x130xf32"],
}
CASES = [(name, shape) for name, shapes in EXAMPLES.items() for shape in shapes]


# More steps than a pipeline has stages, and more than one tile of a loop, in rows
# that are aligned and in rows (or addresses) that are not: every kernel runs, every
# wait has something to wait for.
LONGER = {
    "attention_backward": [
        "attention_backward Q=randn:1x200x64xf32 K=randn:1x200x64xf32",
        "attention_backward Q=randn:1x201x64xf32 K=randn:1x201x64xf32",
    ],
    "batched_matmul": [
        "batched_matmul A=randn:1x64x256xbf16 B=randn:1x256x64xbf16",
        "batched_matmul A=randn:1x64x250xbf16 B=randn:1x250x66xbf16",
    ],
    "block_sparse_matmul": [
        "block_sparse_matmul A=randn:64x512xf16 B=randn:512x64xf16",
        "block_sparse_matmul A=randn:64x510xf16 B=randn:510x66xf16",
    ],
    "cumulative_sum": ["cumulative_sum X=randn:8x1024xf32", "sum_to_come X=randn:8x1024xf32"],
    "depthwise_conv": ["depthwise_conv X=randn:1x6x7x41xf32"],
    "flash_attention": [
        "flash_attention Q=randn:1x1x64x64xf32 K=randn:1x1x330x64xf32",
        "flash_attention_causal Q=randn:1x1x200x64xf32 K=randn:1x1x200x64xf32",
        "flash_attention_causal Q=randn:1x1x201x64xf32 K=randn:1x1x201x64xf32",
        "attention_map Q=randn:1x1x64x64xf32 K=randn:1x1x200x64xf32",
        "attention_map Q=randn:1x1x64x64xf32 K=randn:1x1x201x64xf32",
    ],
    "flash_attention_varlen": [
        "flash_attention_varlen Q=randn:60x1x64xf16 K=randn:420x1x64xf16 "
        "cu_q=values(0,20,60):3xi32 cu_k=values(0,200,420):3xi32 longest=40",
        "flash_attention_varlen Q=randn:60x1x64xf16:offset=1 K=randn:420x1x64xf16 "
        "cu_q=values(0,20,60):3xi32 cu_k=values(0,200,420):3xi32 longest=40",
    ],
    "flash_decoding": [
        "flash_decoding q=randn:1x64xf16 K=randn:1x700x64xf16",
        "flash_decoding q=randn:1x64xf16:offset=1 K=randn:1x700x64xf16",
    ],
    "gemv": ["gemv A=randn:64x1024xf16"],
    "grouped_query_attention": [
        "grouped_query_attention Q=randn:1x64x2x128xbf16 K=randn:1x330x1x128xbf16",
        "grouped_query_attention Q=randn:1x64x2x128xbf16:offset=1 K=randn:1x330x1x128xbf16",
    ],
    "histogram": ["histogram X=randint(0,256):2001xi32 counts=zeros:256xi32:offset=1"],
    "layernorm": ["layernorm X=randn(1,2):1x5x6x64xf32", "layernorm X=randn(1,2):1x5x5x51xf32"],
    "linear_attention": [
        "linear_attention Q=randn(0,0.3):1x330x64xf16",
        "linear_attention Q=randn(0,0.3):1x330x64xf16:offset=1",
    ],
    "matmul": [
        "matmul A=randn:64x256xf16 B=randn:256x64xf16",
        "matmul A=randn:64x250xf16 B=randn:250x66xf16",
        "matmul_nt A=randn:64x256xf16 B=randn:64xA[1]xf16",
        "matmul_nt A=randn:64x250xf16 B=randn:66xA[1]xf16",
        "matmul_tn A=randn:256x64xf16 B=randn:256x64xf16",
        "matmul_tn A=randn:250x66xf16 B=randn:250x66xf16",
        "matmul_tt A=randn:256x64xf16 B=randn:64x256xf16",
        "matmul_tt A=randn:250x66xf16 B=randn:66x250xf16",
    ],
    "matmul_bias_relu": [
        "matmul_bias_relu X=randn:64x256xbf16 W=randn:256x64xbf16",
        "matmul_bias_relu X=randn:64x250xbf16 W=randn:250x66xbf16",
    ],
    "matmul_f32": [
        "matmul_f32 A=randn:64x256xf32 B=randn:256x64xf32",
        "matmul_f32 A=randn:64x251xf32 B=randn:251x66xf32",
    ],
    "persistent_matmul": [
        "persistent_matmul A=randn:256x160xf16 B=randn:160x256xf16 workers=1",
        "persistent_matmul A=randn:250x150xf16 B=randn:150x250xf16 workers=1",
    ],
    "prefix_sum": ["prefix_sum X=randint(-9,9):8x2048xi32", "prefix_sum X=randint(-9,9):8x2047xi32"],
    "quantized_matmul": [
        "int8_matmul A=randint(-128,128):64x512xi8 B=randint(-128,128):64x512xi8",
        "int8_matmul A=randint(-128,128):64x510xi8 B=randint(-128,128):66x510xi8",
        "fp8_matmul A=randn:64x512xf8E4M3FN B=randn:64x512xf8E5M2",
        "fp8_matmul A=randn:64x510xf8E4M3FN B=randn:66x510xf8E5M2",
        "int4_weight_matmul A=randn:64x512xf16 W=randint(-8,8):64x512xi4",
        "int4_weight_matmul A=randn:64x510xf16 W=randint(-8,8):66x510xi4",
    ],
    "rmsnorm": ["rmsnorm X=randn:4x1024xf16"],
    "softmax": ["softmax X=randn:4x1024xf32"],
    "split_k_matmul": [
        "split_k_matmul A=randn:64x1024xf16 B=randn:1024x64xf16",
        "split_k_matmul A=randn:64x1000xf16 B=randn:1000x66xf16",
    ],
    "stencil": ["stencil U=randn:1024xf32", "stencil U=randn:1023xf32"],
    "top_k": ["top_k X=randn:4x1024xf32", "top_k X=randn:4x1023xf32"],
    "transpose": ["transpose X=randn:64x64xbf16"],
}


def make_options(case: str) -> list[str]:
    """What tile-run is told of a case: its entry and arguments."""
    entry, *arguments = case.split()
    return ["--entry", entry, *(option for value in arguments for option in ("--arg", value))]


def gemm_options(
    shape: tuple[int, int, int], tile: tuple[int, int], launch: str, box: int, more: str = ""
) -> list[str]:
    """Of a hand-built product: maps of A, B and C, and how many tiles there are."""
    m, n, k = shape
    buffers = f"--buffer A=randn:{m}x{k}xf16 --buffer B=randn:{k}x{n}xf16 --buffer C=empty:{m}x{n}xf16"
    maps = " ".join(f"--arg map:{name},box={rows}x64,swizzle=128" for name, rows in (("A", box), ("B", 64), ("C", 64)))
    counts = f"--arg i32:{-(-m // tile[0])} --arg i32:{-(-n // tile[1])} --arg i32:{-(-k // 64)}"
    return f"{launch} {buffers} {maps} {counts} {more}".split()


def attention_options(heads: int, length: int) -> list[str]:
    """Of hand-built attention with 64 elements a head, scaled by log2(e) / 8."""
    shape, blocks = f"{heads}x1x{length}x64xf16", -(-length // 192)
    words = ["--grid=1", "--block=512", "--shared=114840"]
    for name, kind in (("Q", "randn"), ("K", "randn"), ("V", "randn"), ("O", "empty")):
        words += ["--buffer", f"{name}={kind}:{shape}"]
    for name, rows in (("Q", 64), ("K", 128), ("V", 128), ("O", 64)):
        words += ["--arg", f"map:{name},box=1x1x{rows}x64,swizzle=128"]
    words += ["--arg", f"lse=empty:{heads * length}xf32", "--arg", "counter=zeros:2xi32", "--arg", "f32:0.18033688"]
    for size in (length, length, heads, blocks, 1):
        words += ["--arg", f"i32:{size}"]
    return words


# More steps than a ring has stages, and more tiles than blocks.
KERNELS = {
    "golden_gemm_small": gemm_options((128, 128, 640), (64, 128), "--grid=1 --block=256 --shared=213136", 64),
    "golden_gemm_pingpong": gemm_options((256, 256, 576), (128, 128), "--grid=1 --block=384 --shared=229488", 128),
    "golden_gemm_cluster2": gemm_options((512, 256, 384), (256, 256), "--grid=2 --block=384 --shared=229456", 128),
    "golden_gemm_split": gemm_options(
        (256, 128, 1792),
        (256, 128),
        "--grid=4 --block=384 --shared=229488",
        128,
        "--arg workspace=empty:65536xf32 --arg flags=zeros:16xi32",
    ),
    "golden_attention_d64": attention_options(1, 520),
}
