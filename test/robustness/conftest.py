"""What the tests of this folder are given."""

from __future__ import annotations

import os
import random

import pytest
from tool import Tool


@pytest.fixture
def tile_opt() -> Tool:
    return Tool("tile-opt")


@pytest.fixture
def tile_run() -> Tool:
    return Tool("tile-run")


@pytest.fixture
def chance() -> random.Random:
    """Seeded alike each time, so that a run can be repeated; TILE_TEST_SEED looks
    elsewhere."""
    seed = int(os.environ.get("TILE_TEST_SEED", "1"))
    print(f"TILE_TEST_SEED={seed}")
    return random.Random(seed)
