"""The GPU's code without a GPU: examples, programs op by op and generated ones in
the emulator, which runs the PTX of two chips and looks for races, reads of memory
never written and accesses out of bounds while it does.

Everything has to be right but what LIMITS names, which has to fail.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TILE_BUILD", ROOT / "build"))
TILE_RUN = BUILD / "bin" / "tile-run"
SEED = int(os.environ.get("TILE_TEST_SEED", "1"))
GENERATED = 30
CHIPS = ["sm_80", "sm_90"]

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")

sys.path.insert(0, str(ROOT / "test" / "conformance"))
from generate import generate  # noqa: E402

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


def entries(path: Path) -> list[str]:
    """The functions of a file that tile-run runs: those that name a reference."""
    text = path.read_text()
    parts = re.split(r"^func\.func ", text, flags=re.MULTILINE)[1:]
    return [part.split("(")[0].lstrip("@") for part in parts if "tile.reference" in part.split("{\n")[0]]


PROGRAMS = [
    (path.stem, entry) for path in sorted((ROOT / "test" / "conformance").glob("*.mlir")) for entry in entries(path)
]

# What docs/Status.md lists among the known limits.
LIMITS = {
    ("atomic", "products"): "memref.generic_atomic_rmw has no lowering to the cuda target",
    ("integers", "quotients"): "a division by zero has the machine's result on a GPU",
    ("view_bounds", "reinterpreted"): "memref.reinterpret_cast has no lowering to the cuda target",
    ("view_bounds", "subview"): "a view's bounds on a GPU are those it says it has",
}


def program(name: str, entry: str) -> Any:
    limit = LIMITS.get((name, entry))
    marks = [pytest.mark.xfail(strict=True, reason=limit)] if limit else []
    return pytest.param(name, entry, marks=marks, id=f"{name}-{entry}")


def emulate(command: Sequence[str], chip: str) -> subprocess.CompletedProcess[str]:
    command = [*command, "--target=emulator", f"--chip={chip}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    done.stdout = f"{' '.join(command)}\n{done.stdout}"
    return done


def judge(done: subprocess.CompletedProcess[str]) -> None:
    print(done.stdout, done.stderr, sep="\n")
    assert done.returncode == 0


def run(path: Path, chip: str, options: Sequence[str]) -> None:
    judge(emulate([str(TILE_RUN), str(path), *options], chip))


def test_every_example_is_here() -> None:
    assert set(EXAMPLES) == {path.stem for path in (ROOT / "examples").glob("*.mlir")}


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("name", "shape"), CASES, ids=[shape.split()[0] for _, shape in CASES])
def test_examples(name: str, shape: str, chip: str) -> None:
    entry, *arguments = shape.split()
    options = ["--entry", entry, *(option for value in arguments for option in ("--arg", value))]
    run(ROOT / "examples" / f"{name}.mlir", chip, options)


@pytest.mark.parametrize(("name", "entry"), [program(*names) for names in PROGRAMS])
def test_programs(name: str, entry: str) -> None:
    # Every other one for either chip: their code differs little.
    chip = CHIPS[PROGRAMS.index((name, entry)) % len(CHIPS)]
    run(ROOT / "test" / "conformance" / f"{name}.mlir", chip, ["--entry", entry])


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, subprocess.CompletedProcess[str]]]:
    """Seed and outcome of each generated program; run on all cores."""
    cases = generate(tmp_path_factory.mktemp("generated"), SEED, GENERATED)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda case: emulate(case.command(TILE_RUN), CHIPS[case.kernel.seed % 2]), cases)
        return [(case.kernel.seed, done) for case, done in zip(cases, outcomes, strict=True)]


@pytest.mark.parametrize("number", range(GENERATED))
def test_generated(generated: list[tuple[int, subprocess.CompletedProcess[str]]], number: int) -> None:
    seed, done = generated[number]
    print(f"seed {seed}")
    judge(done)
