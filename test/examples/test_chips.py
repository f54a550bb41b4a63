"""Every example compiles for every chip, to machine code where ptxas is installed.

A sample by default; TILE_ALL_CHIPS=1 takes all.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TILE_BUILD", ROOT / "build"))
COMPILER = BUILD / "bin" / "tile-run"
CHIPS = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120"]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.mlir"))
SAMPLE = ["matmul_f32", "quantized_matmul", "softmax"]

pytestmark = pytest.mark.skipif(not COMPILER.exists(), reason=f"{COMPILER} is not built")


@pytest.mark.parametrize("name", EXAMPLES if os.environ.get("TILE_ALL_CHIPS") else SAMPLE)
def test_compiles(name: str, tmp_path: Path) -> None:
    command = [str(COMPILER), str(ROOT / "examples" / f"{name}.mlir"), "--emit=artifact", "--target=cuda"]
    options = [f"--chip={','.join(CHIPS)}", "-o", str(tmp_path / "out.tile")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=600, check=False)
    print(done.stderr)
    assert done.returncode == 0
