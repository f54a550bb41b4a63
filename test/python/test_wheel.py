"""The wheel: built, installed in an empty environment, and used there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from conftest import BUILD, ROOT

PROGRAM = '''
import ctypes, sys
import tile, tile.language as T

assert "numpy" not in sys.modules and "torch" not in sys.modules

@tile.jit
def add(A, B):
    n = T.const("n")
    A: T.Tensor((n,), "float32")
    B: T.Tensor((n,), "float32")
    with T.Kernel(T.ceildiv(n, 32), threads=32) as b:
        for i in T.Parallel(32):
            B[b * 32 + i] = A[b * 32 + i] + 1.0

class Array:
    """What has nothing but the array interface."""
    def __init__(self, values):
        self.memory = (ctypes.c_float * len(values))(*values)
        self.shape = (len(values),)
        self.__array_interface__ = dict(
            shape=self.shape, typestr="<f4", data=(ctypes.addressof(self.memory), False), version=3)

a, b = Array([1.0, 2.0, 3.0]), Array([0.0] * 3)
add(a, b)
print(list(b.memory), tile.__file__)
tile.env.show()
'''


def test_wheel_in_an_empty_environment(tmp_path: Path) -> None:
    """Needs no NumPy and no torch, and nothing of the source tree."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["TILE_ROOT"] = str(tmp_path / "root")
    (tmp_path / "root" / "lib").mkdir(parents=True)
    (tmp_path / "root" / "lib" / "libtile.so").symlink_to(BUILD / "lib" / "libtile.so")
    (tmp_path / "root" / "include").symlink_to(ROOT / "include")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "-w", str(tmp_path), str(ROOT / "python")], check=True, env=environment, timeout=300)
    (wheel,) = tmp_path.glob("tile-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("tile/libtile.so", "tile/py.typed", "tile/_tile.pyi", "tile/language/__init__.py"):
        assert wanted in names
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, env=environment)
    python = str(tmp_path / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, env=environment)
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    environment.pop("TILE_ROOT")
    done = subprocess.run([python, str(script)], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "[2.0, 3.0, 4.0]" in done.stdout
    assert str(tmp_path / "venv") in done.stdout
