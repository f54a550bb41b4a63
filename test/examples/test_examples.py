"""Every example as it is, at odd shapes and at larger ones, against its reference."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TILE_BUILD", ROOT / "build"))
TILE_RUN = BUILD / "bin" / "tile-run"
TARGET = os.environ.get("TILE_TARGET", "cpu")

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")

# Entry and the arguments that make the others follow: odd shapes first, then
# large ones.
SHAPES = {
    "activations": [
        "gelu X=randn:1x1xf32",
        "gelu X=randn:2049x1023xf32",
        "silu_mul X=randn:3x513xbf16",
        "silu_mul X=randn:1024x2048xbf16",
    ],
    "argmax": ["argmax X=randn:33x129xf32", "argmax X=randn:1x20000xf32", "argmax X=full(-inf):5x300xf32"],
    "batched_matmul": [
        "batched_matmul A=randn:3x65x33xbf16 B=randn:3x33x1xbf16",
        "batched_matmul A=randn:16x128x256xbf16 B=randn:16x256x128xbf16",
    ],
    "depthwise_conv": ["depthwise_conv X=randn:1x1x1x1xf32", "depthwise_conv X=randn:2x64x64x128xf32"],
    "embedding": ["embedding tokens=randint(-5,2000):77xi32", "embedding tokens=randint(0,1000):5000xi32"],
    "flash_attention": [
        "flash_attention Q=randn:2x3x77x64xf32 K=randn:2x3x130x64xf32",
        "flash_attention Q=randn(0,5):1x1x1x64xf32 K=randn(0,5):1x1x1x64xf32",
        "flash_attention Q=randn:1x1x70x64xf32 K=zeros:1x1x0x64xf32",
        "flash_attention_causal Q=randn:2x2x65x64xf32 K=randn:2x2x127x64xf32",
        "flash_attention_causal Q=randn:1x2x300x64xf32 K=randn:1x2x33x64xf32",
        "flash_attention_causal Q=randn:1x8x1024x64xf32 K=randn:1x8x1024x64xf32",
        "attention_map Q=randn:2x3x33x64xf32 K=randn:2x3x65x64xf32",
    ],
    "flash_attention_varlen": [
        "flash_attention_varlen Q=randn:300x2x64xf16 K=randn:300x2x64xf16 "
        "cu_q=values(0,1,64,129,300):5xi32 cu_k=values(0,65,66,200,300):5xi32 longest=171",
    ],
    "gemv": ["gemv A=randn:129x33xf16", "gemv A=randn:1x1xf16", "gemv A=randn:4096x2048xf16"],
    "grouped_query_attention": [
        "grouped_query_attention Q=randn:1x33x6x128xbf16 K=randn:1x65x3x128xbf16",
        "grouped_query_attention Q=randn:1x70x4x128xbf16 K=randn:1x30x1x128xbf16",
        "grouped_query_attention Q=randn:1x512x8x128xbf16 K=randn:1x512x2x128xbf16",
    ],
    "layernorm": [
        "layernorm X=randn:1x1x1x1xf32",
        "layernorm X=randn:3x7x5x27xf32",
        "layernorm X=randn:4x256x16x64xf32",
    ],
    "matmul": [
        "matmul A=randn:1x1xf16 B=randn:1x1xf16",
        "matmul A=randn:129x33xf16 B=randn:33x257xf16",
        "matmul A=randn:512x512xf16 B=randn:512x512xf16",
        "matmul_nt A=randn:65x31xf16 B=randn:7x31xf16",
        "matmul_tn A=randn:31x65xf16 B=randn:31x7xf16",
        "matmul_tt A=randn:31x65xf16 B=randn:7x31xf16",
    ],
    "matmul_bias_relu": [
        "matmul_bias_relu X=randn:67x35xbf16 W=randn:35x129xbf16",
        "matmul_bias_relu X=randn:512x512xbf16 W=randn:512x512xbf16",
    ],
    "matmul_f32": [
        "matmul_f32 A=randn:65x17xf32 B=randn:17x63xf32",
        "matmul_f32 A=randn:8x0xf32 B=randn:0x8xf32",
        "matmul_f32 A=randn:512x512xf32 B=randn:512x512xf32",
    ],
    "prefix_sum": ["prefix_sum X=randint(-9,9):3x257xi32", "prefix_sum X=randint(-9,9):1000x3000xi32"],
    "rmsnorm": ["rmsnorm X=randn:17x257xf16", "rmsnorm X=randn:2048x2048xf16"],
    "rotary_embedding": ["rotary_embedding X=randn:9x9x66xf16", "rotary_embedding X=randn:512x16x128xf16"],
    "softmax": [
        "softmax X=randn(0,30):33x129xf32",
        "softmax X=full(-inf):3x300xf32",
        "softmax X=values(-inf,1,inf,nan,-inf,-inf):2x3xf32",
        "softmax X=randn:1024x4096xf32",
    ],
    "stencil": ["stencil U=randn:1xf32", "stencil U=randn:241xf32", "stencil U=randn:1000000xf32"],
    "transpose": ["transpose X=randn:65x3xbf16", "transpose X=randn:2048x1024xbf16"],
    "attention_backward": [
        "attention_backward Q=randn:1x1x64xf32 K=randn:1x1x64xf32",
        "attention_backward Q=randn:2x65x64xf32 K=randn:2x33x64xf32",
        "attention_backward Q=randn(0,4):1x64x64xf32 K=randn(0,4):1x300x64xf32",
    ],
    "block_sparse_matmul": [
        "block_sparse_matmul A=randn:1x1xf16 mask=ones:1x1xi8 B=randn:1x1xf16",
        "block_sparse_matmul A=randn:129x97xf16 mask=zeros:3x4xi8",
    ],
    "conv2d": ["conv2d X=randn:1x1x1x1xf16 W=randn:3x3x1x1xf16", "conv2d X=randn:3x8x65x3xf16 W=randn:3x3x3x129xf16"],
    "cumulative_sum": [
        "cumulative_sum X=randn:1x1xf32",
        "cumulative_sum X=randn:33x129xf32",
        "sum_to_come X=randn:1x128xf32",
        "sum_to_come X=randn:65x257xf32",
    ],
    "flash_decoding": [
        "flash_decoding q=randn:1x64xf16 K=randn:1x1x64xf16",
        "flash_decoding q=randn(0,5):3x64xf16 K=randn(0,5):3x65x64xf16",
        "flash_decoding K=randn:12x1025x64xf16",
    ],
    "histogram": ["histogram X=randint(7,8):5000xi32", "histogram X=randint(0,256):1xi32", "histogram X=zeros:0xi32"],
    "linear_attention": ["linear_attention Q=randn:1x1x64xf16", "linear_attention Q=randn(0,0.3):2x129x64xf16"],
    "persistent_matmul": [
        "persistent_matmul A=randn:1x1xf16 B=randn:1x1xf16",
        "persistent_matmul A=randn:513x33xf16 B=randn:33x65xf16 workers=1",
        "persistent_matmul A=randn:65x64xf16 B=randn:64x129xf16 workers=100",
    ],
    "quantized_matmul": [
        "int8_matmul A=full(-128):65x1000xi8 B=full(-128):1x1000xi8",
        "fp8_matmul A=randn:1x1xf8E4M3FN B=randn:65x1xf8E5M2",
        "int4_weight_matmul A=randn:1x33xf16 W=randint(-8,8):33x1xi4",
        "int4_weight_matmul A=randn:65x64xf16 W=randint(-8,8):64x65xi4",
    ],
    "split_k_matmul": [
        "split_k_matmul A=randn:1x1xf16 B=randn:1x1xf16",
        "split_k_matmul A=randn:65x257xf16 B=randn:257x63xf16",
    ],
    "top_k": ["top_k X=randn:1x1xf32", "top_k X=randn:17x121xf32", "top_k X=randint(0,3):33x240xf32"],
    "vector_add": ["vector_add X=randn:65x63xf32", "vector_add X=randn:2048x2048xf32"],
}
CASES = [(name, shape) for name, shapes in SHAPES.items() for shape in shapes]
TILES = ["block_m=32 block_n=64 block_k=16 stages=1", "block_m=64 block_n=32 block_k=64", "block_m=256 stages=2"]


def run(name: str, options: Sequence[str] = ()) -> None:
    command = [str(TILE_RUN), str(ROOT / "examples" / f"{name}.mlir"), f"--target={TARGET}", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    print(" ".join(command), done.stdout, done.stderr, sep="\n")
    assert done.returncode == 0


def names() -> list[str]:
    return sorted(path.stem for path in (ROOT / "examples").glob("*.mlir"))


@pytest.mark.parametrize("name", names())
def test_as_it_is(name: str) -> None:
    assert name in SHAPES, "an example needs shapes here"
    run(name)


@pytest.mark.parametrize(("name", "shape"), CASES, ids=[shape for _, shape in CASES])
def test_shapes(name: str, shape: str) -> None:
    entry, *arguments = shape.split()
    run(name, ["--entry", entry, "--seed=2", *(option for value in arguments for option in ("--arg", value))])


@pytest.mark.parametrize("values", TILES)
def test_tunables(values: str) -> None:
    run("matmul", ["--entry", "matmul", *(option for value in values.split() for option in ("--set", value))])


@pytest.mark.parametrize("splits", ["2", "16"])
@pytest.mark.parametrize("name", ["flash_decoding", "split_k_matmul"])
def test_splits(name: str, splits: str) -> None:
    run(name, ["--set", f"splits={splits}"])


def test_attention_on_text(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    script = ROOT / "examples" / "attention_on_text" / "attention.py"
    command = [sys.executable, str(script), "--tile-run", str(TILE_RUN), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    assert (tmp_path / "attention.png").read_bytes().startswith(b"\x89PNG")
