"""Configuration of the lit suite: one folder a room, FileCheck from LLVM 22.

`ninja check-tile` runs it; `lit -v build/test --filter=IR/ops` runs a part.
`config` and `lit_config` are put here by lit itself.
"""

# ruff: noqa: F821
import os
import shutil

import lit.formats
import lit.util

source = config.tile_source_dir
build = config.tile_build_dir

config.name = "tile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit", "install", "conformance", "python", "fuzz", "fake-cuda"]
config.test_source_root = os.path.join(source, "test")
config.test_exec_root = os.path.join(build, "test", "lit")

# A test that hangs is a failure of that test. lit needs psutil for it; the
# scripts bound the whole suite in any case.
supported, _ = lit.util.killProcessAndChildrenIsSupported()
if supported:
    lit_config.maxIndividualTestTime = 300

# Substitutions -------------------------------------------------------------

tools = os.path.join(build, "bin")
path = os.pathsep.join([tools, config.llvm_tools_dir, config.environment.get("PATH", "")])
config.environment["PATH"] = path
config.substitutions += [
    ("%python", config.python),
    ("%examples", os.path.join(source, "examples")),
    ("%source", source),
    ("%llvm", os.path.dirname(config.llvm_tools_dir)),
    ("%build", build),
    ("%fake-cuda", f"env LD_LIBRARY_PATH={os.path.join(build, 'test', 'fake-cuda')} FAKE_CUDA_DEVICES"),
    ("%plugin", os.path.join(build, "lib", "TilePlugin.so")),
]

# Features ------------------------------------------------------------------


def add_feature(name: str, holds: object) -> None:
    if holds:
        config.available_features.add(name)


for tool in ("tile-opt", "tile-run", "tile-reduce", "tile-lsp-server"):
    add_feature(tool, os.access(os.path.join(tools, tool), os.X_OK))
add_feature("plugin", os.path.exists(os.path.join(build, "lib", "TilePlugin.so")))
add_feature("asan", "address" in config.tile_sanitizers)
add_feature("cuda-device", os.path.exists("/dev/nvidiactl"))
add_feature("ptxas", shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas"))

# Tests are of the compiler, not of what it did yesterday.
config.environment["TILE_CACHE_DIR"] = ""
config.environment["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "2")
