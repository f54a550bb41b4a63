"""The parts around kernels: builder, cache, tuning, profiling, plots, environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tile
import tile.language as T
from conftest import BUILD, ROOT
from tile import ir
from tile.language import Tensor


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """An empty disk cache."""
    before = tile.cache.location()
    tile.cache.set_location(tmp_path)
    yield tmp_path
    tile.cache.set_location(before)


def test_builder_makes_any_op() -> None:
    b = ir.Builder()
    x, y = ir.memref((None, 4), "f32"), ir.memref((4,), "f32", strides=(2,), offset=None)
    assert (x, y) == ("memref<?x4xf32>", "memref<4xf32, strided<[2], offset: ?>>")
    with b.function("f", [("x", x), ("n", "index")]) as (buffer, n):
        b.location = tile.errors.Location("file.py", 3, 7)
        (c,) = b.op("arith.constant", [], ["index"], properties={"value": ir.types.Raw("2 : index")})
        product = b.assign(f"arith.muli {n}, {c} : index", "index", "twice")
        with b.block(f"tile.launch blocks(%b) in ({product})"):
            with b.block("tile.parallel (%i) in (4)"):
                (v,) = b.op("memref.load", [buffer, ir.Value("%b", "index"), ir.Value("%i", "index")], ["f32"])
                b.op(
                    "memref.store",
                    [v, buffer, ir.Value("%b", "index"), ir.Value("%i", "index")],
                    attributes={"note": [1, 'a"b', None]},
                )
    text = b.module()
    assert 'loc("file.py":3:7)' in text
    kernel = tile.compile(text, target="cpu")
    assert [p.name for p in kernel.parameters] == ["x", "n"]
    kernel(np.ones((3, 4), np.float32), 1)


def test_compile_of_mlir_files() -> None:
    kernel = tile.compile(ROOT / "examples" / "vector_add.mlir", out_idx=None, target="cpu")
    x, y, z = np.ones((3, 5), np.float32), np.full((3, 5), 2, np.float32), np.zeros((3, 5), np.float32)
    kernel(x, y, z)
    np.testing.assert_array_equal(z, 3)
    with pytest.raises(tile.TileError, match="there is no file nowhere.mlir"):
        tile.compile("nowhere.mlir")
    with pytest.raises(tile.CompileError, match="error: "):
        tile.compile("func.func @f() {\n  tile.nonsense\n}\n", target="cpu")
    with pytest.raises(tile.TileError, match="target is one of"):
        tile.compile(ROOT / "examples" / "vector_add.mlir", target="tpu")


@tile.jit(out_idx=[1], target="cpu")
def doubled(n, block=32, spin=False, wrong=False):  # type: ignore[no-untyped-def]
    @T.prim_func
    def main(A: Tensor((n,), "float32"), B: Tensor((n,), "float32")):  # type: ignore
        with T.Kernel(T.ceildiv(n, block)) as b:
            if spin:
                going = T.alloc_var("int32", 1)
                while going > 0:
                    going += 1
                    if going > 100:
                        going = 1
            for i in T.Parallel(block):
                B[b * block + i] = A[b * block + i] * (3 if wrong else 2)

    return main


def test_stages_and_resources() -> None:
    kernel = doubled(64)
    assert "tile.launch" in kernel.mlir() and "tile.launch" not in kernel.mlir("mlir")
    assert "define" in kernel.mlir("llvm") and "convert-tile-to-cpu" in kernel.stages()
    with pytest.raises(tile.TileError, match="no-such-stage"):
        kernel.mlir("no-such-stage")
    with pytest.raises(tile.TileError, match="no PTX"):
        kernel.ptx()
    assert kernel.times and kernel.get_kernel_source()


def test_tuning_drops_what_hangs_and_what_is_wrong(cache: Path) -> None:
    configs = [{"block": 32}, {"block": 16, "spin": True}, {"block": 64, "wrong": True}, {"block": -1}]
    tuned = tile.autotune(configs=configs, warmup=1, rep=3, timeout=10, ref_prog=lambda a: a * 2)(doubled)
    kernel = tuned(64)
    assert kernel.config == {"block": 32} and kernel.latency > 0 and kernel.ref_latency > 0
    a = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(kernel(a), a * 2)
    kept = list(cache.rglob("autotune/*.json"))
    assert len(kept) == 1 and json.loads(kept[0].read_text())["config"] == "{'block': 32}"
    again = tile.autotune(configs=configs, warmup=1, rep=3, timeout=10, ref_prog=lambda a: a * 2)(doubled)
    started = time.perf_counter()
    assert again(64).config == {"block": 32}
    assert time.perf_counter() - started < 5, "the second search should come from the disk"
    with pytest.raises(tile.TileError, match="none of 1 configurations.*\n.*wrong"):
        tile.autotune(configs=[{"wrong": True}], warmup=1, rep=3, ref_prog=lambda a: a * 2)(doubled)(128)
    assert tuned(64, block=8, spin=False, wrong=False).config is None


def test_profiler() -> None:
    profiler = doubled(64).get_profiler()
    profiler.assert_allclose(lambda a: a * 2, rtol=0, atol=0)
    profiler.assert_consistent(3)
    with pytest.raises(AssertionError, match="64 of 64 elements are off"):
        profiler.assert_allclose(lambda a: a * 2 + 1)
    low, middle, high = profiler.do_bench(warmup=1, rep=3, quantiles=[0.1, 0.5, 0.9])
    assert 0 < low <= middle <= high
    assert tile.profiler.tflops(2e12, 1000) == pytest.approx(2.0)
    assert tile.profiler.bandwidth(1e9, 1) == pytest.approx(1000.0)
    line = tile.profiler.roofline(1e12, 1e9, 2.0, peak_tflops=1000, peak_bandwidth=1000)
    assert (line.bound, line.limit) == ("compute", pytest.approx(1.0)) and line.fraction == pytest.approx(0.5)


def test_plots(tmp_path: Path) -> None:
    layout = tile.plot.parse_fragment("16x8 threads 32 (4,8):(2@1,1@0) registers (2,2):(1@1,8@0)")
    assert layout.owners[(0, 0)] == [(0, 0)] and layout.owners[(9, 3)] == [(5, 3)]
    assert len(layout.owners) == 128 and all(len(held) == 1 for held in layout.owners.values())
    replicated = tile.plot.parse_fragment("64 threads 128 (4,8,4):(0,1@0,16@0) registers (2):(8@0)")
    assert [thread for thread, _ in replicated.owners[(1,)]] == [4, 5, 6, 7]
    tile.plot_layout(layout, "mma", str(tmp_path), "svg,png")
    assert (tmp_path / "mma.svg").stat().st_size > 1000 and (tmp_path / "mma.png").exists()
    with pytest.raises(tile.TileError, match="is not a fragment's layout"):
        tile.plot.parse_fragment("nonsense")

    @T.prim_func
    def gemm(A: Tensor((64, 64), "float16"), C: Tensor((64, 64), "float32")):  # type: ignore
        with T.Kernel(1):
            a = T.alloc_shared((64, 32), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(2, num_stages=2):
                T.copy(A[0, k * 32], a)
                T.gemm(a, a, c, transpose_B=True)
            T.copy(c, C)

    text = tile.plot_pipeline(tile.compile(gemm, target="cpu"), iterations=3)
    assert text.splitlines()[2].split()[-4:] == ["0", "1", "2", "."]
    assert text.splitlines()[3].split()[-4:] == [".", "0", "1", "2"]


def test_names_that_programs_import() -> None:
    assert tile.driver.get_num_sms() >= 1
    assert tile.layout.make_swizzled_layout(None).shape == ()
    made = tile.get_tensor_supply(tile.TensorSupplyType.One)(doubled(64).parameters[0])
    np.testing.assert_array_equal(np.asarray(made), np.ones(64, np.float32))


def test_environment(capsys: pytest.CaptureFixture[str]) -> None:
    found = tile.env.report()
    assert found["versions"]["tile"] == tile.__version__ and "cpu" in found["targets"]
    tile.env.show()
    assert "default target" in capsys.readouterr().out


def test_the_time_of_a_call_that_takes_none() -> None:
    """The caches are overwritten before each call, which is not repeated for minutes."""
    started = time.perf_counter()
    assert 0 <= tile.do_bench(lambda: None, warmup=1, rep=10, target="cpu") < 1
    assert time.perf_counter() - started < 30


def test_options_that_mean_nothing_are_errors() -> None:
    with pytest.raises(tile.TileError, match="pass_configs has no key 'tl.frobnicate'"):
        tile.jit(pass_configs={"tl.frobnicate": True})
    with pytest.raises(tile.TileError, match="nvcc takes no part"):
        tile.jit(compile_flags="-lcublas")
    with pytest.raises(tile.TileError, match="no option frobnicate"):
        tile.jit(frobnicate=1)
    with pytest.raises(tile.TileError, match="out_idx=7 names no parameter"):
        tile.compile(doubled.function(64), out_idx=7, target="cpu")


# Two GPUs of a driver whose kernels only say where they run (test/fake-cuda), and arrays that say they are on one.
DEVICES = """
import ctypes, numpy as np, tile, tile.language as T

class Array:
    def __init__(self, device):
        self.values, self.device = np.zeros(64, np.float32), device
        self.shape, self.dtype = self.values.shape, self.values.dtype
    def __dlpack_device__(self):
        return (2, self.device)
    def __dlpack__(self, **options):
        capsule = self.values.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        (ctypes.c_int32 * 4).from_address(pointer(capsule, b"dltensor"))[2:4] = 2, self.device
        return capsule

@T.prim_func
def ones(A: T.Tensor((64,), "float32")):
    with T.Kernel(1) as b:
        for i in T.Parallel(64):
            A[i] = 1.0

@tile.jit
def eager(A: T.Tensor((64,), "float32")):
    with T.Kernel(1) as b:
        for i in T.Parallel(64):
            A[i] = 1.0

def attempt(run):
    try:
        print(run())
    except (ValueError, tile.TileError) as error:
        print(error)

kernel = tile.compile(ones, target="cuda:1")
print(kernel.device, ".target sm_90" in kernel.ptx(), flush=True)
kernel(Array(1))
eager(Array(0))
eager(Array(1))
attempt(lambda: kernel(Array(0)))
attempt(lambda: tile.compile(ones, target="cuda", device=2))
attempt(lambda: tile.compile(ones, target="emulator:1"))
"""


def test_choosing_a_device(tmp_path: Path) -> None:
    script = tmp_path / "devices.py"
    script.write_text(DEVICES)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "FAKE_CUDA_DEVICES": "80,90"}
    environment["LD_LIBRARY_PATH"] = str(BUILD / "test" / "fake-cuda")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment)
    assert done.stderr.splitlines() == [f"a launch on device {device}" for device in (1, 0, 1)]
    assert done.stdout.splitlines() == [
        "1 True",
        "argument 'A' is on GPU 0, and the kernel was compiled for GPU 1; compile it with device=0",
        "there is no device 2: this machine has 2, numbered from 0 to 1",
        "device 1 is a choice among GPUs; expected the target cuda, got emulator",
    ]


LAUNCHES = """
import time, numpy as np, tile, tile.language as T

@T.prim_func
def nothing(A: T.Tensor((1,), "float32"), B: T.Tensor((1,), "float32"), C: T.Tensor((1,), "float32"), n: T.int32):
    with T.Kernel(n) as b:
        A[b] = B[b] + C[b]

kernel = tile.compile(nothing, target="cpu")
arrays = [np.zeros(1, np.float32) for _ in range(3)]
best = 1.0
for _ in range(20):
    started = time.thread_time()
    for _ in range(200):
        kernel(*arrays, 0)
    best = min(best, (time.thread_time() - started) / 200)
print(best * 1e6)
"""


def test_launch_is_cheap(tmp_path: Path) -> None:
    """A launch of no blocks, with three arrays: what Python, the extension and the
    library's checks take. One thread, so that no other is waited for."""
    script = tmp_path / "launches.py"
    script.write_text(LAUNCHES)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    print(f"a launch from Python takes {float(done.stdout):.1f} us")
    assert float(done.stdout) < 50
