"""What the Python package costs: compiling, starting warm, launching.

    python3 benchmarks/python_package.py [--target=cuda] [--json FILE]

For a GEMM and flash attention: seconds from the call in Python to a ready kernel
(the least of several), split into front end, passes, code generation and ptxas; the
same from the disk cache; and the time of a launch. Beside it Triton, where it is
installed, for the same vector add.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "python"))

parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
parser.add_argument("--target", default="cuda")
parser.add_argument("--json", help="write the figures here")
options = parser.parse_args()
os.environ["TILE_TARGET"] = options.target
sys.argv = sys.argv[:1]

import flash_attention  # noqa: E402
import gemm  # noqa: E402
import tile  # noqa: E402
import tile.language as T  # noqa: E402
from tile.language.trace import Options  # noqa: E402

CODE_GENERATION = ("emit-ptx", "translate-to-llvm-ir", "llvm-optimize", "llvm-codegen", "link")


def compilation(function: Any, *arguments: Any, repeats: int = 4) -> dict[str, float]:
    """Seconds to compile, in parts; milliseconds to start from the disk cache."""
    tile.cache.disable()
    cold: list[tuple[float, Any]] = []
    for _ in range(repeats):
        function.kernels.clear()
        started = time.perf_counter()
        kernel = function(*arguments)
        cold.append((time.perf_counter() - started, kernel.times))
    total, times = min(cold, key=lambda item: item[0])
    program = function.function(*arguments)
    started = time.perf_counter()
    program.trace(Options())
    front = time.perf_counter() - started
    tile.cache.enable()
    warm = []
    for _ in range(repeats + 1):
        function.kernels.clear()
        started = time.perf_counter()
        kernel = function(*arguments)
        warm.append(time.perf_counter() - started)
    generated = sum(times.get(name, 0.0) for name in CODE_GENERATION)
    ptxas = times.get("ptxas", 0.0)
    return {
        "cold_s": total,
        "front_end_s": front,
        "passes_s": sum(times.values()) - generated - ptxas,
        "code_generation_s": generated,
        "ptxas_s": ptxas,
        "warm_ms": min(warm) * 1e3,
        "from_cache": float(kernel.from_cache),
    }


def least(call: Callable[[], Any], synchronize: Callable[[], None], calls: int = 2000) -> float:
    """Microseconds that the host takes for a call; the least of ten rounds."""
    best = 1.0
    for _ in range(10):
        synchronize()
        started = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - started) / calls)
    synchronize()
    return best * 1e6


@T.prim_func
def add(A: T.Tensor((1024,), "float32"), B: T.Tensor((1024,), "float32"), C: T.Tensor((1024,), "float32")):  # type: ignore
    with T.Kernel(4, threads=128) as b:
        for i in T.Parallel(256):
            C[b * 256 + i] = A[b * 256 + i] + B[b * 256 + i]


def launches() -> dict[str, float]:
    """Microseconds of a launch with three tensors of 1024 elements."""
    kernel = tile.compile(add, target=options.target)
    if options.target != "cuda":
        import numpy

        a, b, c = (numpy.ones(1024, numpy.float32) for _ in range(3))
        return {"tile_us": least(lambda: kernel(a, b, c), lambda: None)}
    import torch

    x, y, z = (torch.randn(1024, device="cuda") for _ in range(3))
    wait = torch.cuda.synchronize
    return {
        "tile_us": least(lambda: kernel(x, y, z), wait),
        "torch_add_us": least(lambda: torch.add(x, y, out=z), wait),
        **triton_launches(x, y, z, wait),
    }


def triton_launches(x: Any, y: Any, z: Any, wait: Callable[[], None]) -> dict[str, float]:
    """The same by Triton."""
    try:
        import triton_kernels
    except ImportError:
        return {}
    started = time.perf_counter()
    triton_kernels.add[(4,)](x, y, z, 1024, S=256)
    wait()
    first = time.perf_counter() - started
    return {
        "triton_us": least(lambda: triton_kernels.add[(4,)](x, y, z, 1024, S=256), wait),
        "triton_first_call_s": first,
    }


def speeds() -> dict[str, dict[str, float]]:
    """Milliseconds on the GPU of the same work by the examples, torch and Triton, each
    compared with torch first."""
    import softmax
    import torch

    peers: Any = None
    with contextlib.suppress(ImportError):
        peers = __import__("triton_kernels")
    n = 4096
    a, b, c = (torch.randn(n, n, device="cuda", dtype=torch.float16) for _ in range(3))
    x, y = torch.randn(8192, n, device="cuda", dtype=torch.float16), torch.empty(8192, n, device="cuda").half()
    q, k, v, o = (torch.randn(4, 16, n, 128, device="cuda", dtype=torch.float16) for _ in range(4))
    attend = torch.nn.functional.scaled_dot_product_attention
    product, rows = gemm.matmul(n, n, n), softmax.softmax(8192, n)
    flash = flash_attention.flash_attention(4, 16, n, n, 128)
    work: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any] | None, Any]] = {
        "gemm 4096x4096x4096 f16": (lambda: product(a, b), lambda: a @ b, peers and (lambda: peers.gemm(a, b, c)), c),
        "softmax 8192x4096 f16": (
            lambda: rows(x),
            lambda: torch.softmax(x, -1),
            peers and (lambda: peers.softmax(x, y)),
            y,
        ),
        "attention 4x16x4096x128 f16": (
            lambda: flash(q, k, v),
            lambda: attend(q, k, v),
            peers and (lambda: peers.attention(q, k, v, o)),
            o,
        ),
    }
    result: dict[str, dict[str, float]] = {}
    for name, (ours, theirs, peer, out) in work.items():
        reference = theirs().float()
        found = ours().float()
        ms = {"difference": float((found - reference).norm() / reference.norm())}
        for who, call in (("tile_ms", ours), ("torch_ms", theirs), ("triton_ms", peer)):
            if call is not None:
                ms[who] = tile.do_bench(call, warmup=25, rep=100, target="cuda")
        if peer is not None:
            ms["triton_difference"] = float((out.float() - reference).norm() / reference.norm())
        result[name] = ms
    return result


def main() -> None:
    figures = {
        "gemm 4096x4096x4096 f16": compilation(gemm.matmul, 4096, 4096, 4096),
        "flash attention 4x16x4096x128 f16": compilation(flash_attention.flash_attention, 4, 16, 4096, 4096, 128),
        "launch": launches(),
    }
    if options.target == "cuda":
        figures.update({f"time of {name}": parts for name, parts in speeds().items()})
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    facts = tile.env.report()
    record = {
        "commit": commit,
        "target": options.target,
        "python": platform.python_version(),
        "environment": facts,
        "figures": figures,
    }
    for name, parts in figures.items():
        print(name + ": " + ", ".join(f"{part} {value:.4g}" for part, value in parts.items()))
    if options.json:
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
