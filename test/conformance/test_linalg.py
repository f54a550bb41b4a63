"""Programs in linalg, by way of `linalg-to-tile` to numbers, at odd shapes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("TILE_BUILD", HERE.parent.parent / "build"))
TILE_RUN, TILE_OPT = BUILD / "bin" / "tile-run", BUILD / "bin" / "tile-opt"
SEED = int(os.environ.get("TILE_TEST_SEED", "1"))

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")

Arrays = list[np.ndarray]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The tile programs that the pipeline makes, and no linalg left in them."""
    made = {}
    for source in sorted((HERE / "linalg").glob("*.mlir")):
        target = tmp_path_factory.mktemp("linalg") / source.name
        command = [str(TILE_OPT), "--pass-pipeline=builtin.module(linalg-to-tile)", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert "linalg." not in target.read_text()
        made[source.stem] = target
    return made


def run(
    program: Path, entry: str, arguments: list[np.ndarray | float], expected: dict[int, np.ndarray], rtol: float
) -> None:
    """Runs with `arguments`; those of `expected` are compared afterwards, all
    elements, with `rtol` of the result's size."""
    print(f"seed {SEED}")
    folder = program.parent
    options: list[str] = []
    for number, value in enumerate(arguments):
        if isinstance(value, float):
            options += ["--arg", f"{number}={value}"]
            continue
        path = folder / f"{entry}_{number}.npy"
        np.save(path, value)
        options += ["--arg", f"{number}={path}"]
    for number in expected:
        options += ["--save", f"{number}={folder / f'{entry}_{number}_out.npy'}"]
    command = [str(TILE_RUN), str(program), "--entry", entry, "--no-reference", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    for number, wanted in expected.items():
        got = np.load(folder / f"{entry}_{number}_out.npy").astype(np.float64)
        scale = float(np.abs(wanted).max()) if wanted.size else 0.0
        np.testing.assert_allclose(got, wanted.astype(np.float64), rtol=rtol, atol=rtol * scale)


def normal(*shape: int, dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng([SEED, *shape]).standard_normal(shape).astype(dtype)


def integers(low: int, high: int, *shape: int, dtype: type = np.int32) -> np.ndarray:
    return np.random.default_rng([SEED, *shape]).integers(low, high, shape).astype(dtype)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (37, 65, 130, 11), (64, 64, 64, 64), (129, 3, 7, 200)])
def test_mlp(programs: dict[str, Path], shape: tuple[int, int, int, int]) -> None:
    rows, depth, hidden, columns = shape
    x, w1, b1 = normal(rows, depth), normal(depth, hidden), normal(hidden)
    w2, b2 = normal(hidden, columns), normal(columns)
    wide = [array.astype(np.float64) for array in (x, w1, b1, w2, b2)]
    y = np.maximum(wide[0] @ wide[1] + wide[2], 0) @ wide[3] + wide[4]
    out = np.full((rows, columns), np.nan, np.float32)
    run(programs["mlp"], "mlp", [x, w1, b1, w2, b2, out], {5: y}, 1e-5)


@pytest.mark.parametrize("shape", [(1, 1, 1, 1, 8), (2, 3, 33, 70, 40), (1, 2, 64, 64, 64), (2, 1, 5, 257, 17)])
def test_attention(programs: dict[str, Path], shape: tuple[int, int, int, int, int]) -> None:
    b, h, m, n, d = shape
    q, k, v = normal(b, h, m, d), normal(b, h, n, d), 2 * normal(b, h, n, d)
    scale = float(np.float32(d**-0.5))
    wide_q, wide_k, wide_v = (array.astype(np.float64) for array in (q, k, v))
    scores = np.einsum("bhid,bhjd->bhij", wide_q, wide_k) * scale
    out = np.einsum("bhij,bhjd->bhid", softmax(scores, 3), wide_v)
    poison = np.full((b, h, m, d), np.nan, np.float32)
    run(programs["attention"], "attention", [q, k, v, scale, poison], {4: out}, 1e-5)


def test_products(programs: dict[str, Path]) -> None:
    ops = programs["ops"]
    a, b, c = normal(3, 33, 70, dtype=np.float16), normal(3, 70, 65, dtype=np.float16), normal(3, 33, 65)
    run(ops, "batch_matmul", [a, b, c], {2: c + np.matmul(a.astype(float), b.astype(float))}, 1e-5)
    a, b, c = normal(45, 3, 19), normal(66, 3, 45), normal(66, 19, 3)
    wanted = c + np.einsum("kbm,nbk->nmb", a.astype(float), b.astype(float))
    run(ops, "contraction", [a, b, c], {2: wanted}, 1e-5)
    a, b, c = (integers(-128, 128, *shape, dtype=np.int8) for shape in ((20, 77), (77, 33), (20, 33)))
    c = c.astype(np.int32)
    run(ops, "matmul_i8", [a, b, c], {2: c + a.astype(int) @ b.astype(int)}, 0)
    a, b, c = (integers(-1000, 1000, *shape) for shape in ((20, 77), (77, 33), (20, 33)))
    run(ops, "matmul_i32", [a, b, c], {2: c + a @ b}, 0)


def test_elementwise(programs: dict[str, Path]) -> None:
    ops = programs["ops"]
    a = normal(7, 33, 300)
    run(ops, "transpose", [a, np.zeros((300, 7, 33), np.float32)], {1: a.transpose(2, 0, 1)}, 0)
    x, y = integers(-1000, 1000, 19, 300), integers(1, 50, 300)
    run(ops, "remainder", [x, y, np.zeros_like(x)], {2: np.fmod(x, y)}, 0)
    image, kernel = normal(40, 70), normal(3, 5)
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(float), (3, 5))
    wanted = np.einsum("ijkl,kl->ij", windows, kernel.astype(float))
    run(ops, "convolution", [image, kernel, np.zeros((38, 66), np.float32)], {2: wanted}, 1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (17, 300), (300, 17), (64, 256), (130, 1)])
def test_reductions(programs: dict[str, Path], shape: tuple[int, int]) -> None:
    ops, a = programs["ops"], normal(*shape)
    ones = np.ones(shape[0], np.float32)
    run(ops, "reduce_last", [a, ones], {1: 1 + a.astype(float).sum(1)}, 1e-5)
    lowest = np.full(shape[1], -np.inf, np.float32)
    run(ops, "reduce_first", [a, lowest], {1: a.max(0)}, 0)
    cube = normal(3, *shape, dtype=np.float64)
    run(ops, "sum_of_squares", [cube, np.array(2.0)], {1: np.array(2 + (cube**2).sum())}, 1e-12)
    lowest = np.full(shape[0], -np.inf, np.float32)
    where = np.full(shape[0], -1, np.int32)
    run(ops, "argmax", [a, lowest, where], {1: a.max(1), 2: a.argmax(1)}, 0)
    half = a.astype(np.float16)
    run(ops, "softmax_first", [half, np.zeros_like(half)], {1: softmax(half.astype(float), 0)}, 2e-3)
