"""The Python package from the source tree, with the extension of the build tree.

Random inputs come from a seed that is printed; TILE_TEST_SEED takes another.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TILE_BUILD", ROOT / "build"))
SEED = int(os.environ.get("TILE_TEST_SEED", "20260101"))
sys.path[:0] = [str(ROOT / "python"), str(BUILD / "python")]
os.environ["TILE_CACHE_DIR"] = str(BUILD / "test-cache-python")


def pytest_report_header() -> str:
    return f"TILE_TEST_SEED={SEED}"


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same for every test."""
    return np.random.default_rng(SEED)
