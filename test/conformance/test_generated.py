"""A hundred random programs against their direct evaluation.

TILE_TEST_SEED takes other programs; a failure names the seed of its own.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from generate import generate, run

BUILD = Path(os.environ.get("TILE_BUILD", Path(__file__).resolve().parent.parent.parent / "build"))
TILE_RUN = BUILD / "bin" / "tile-run"
SEED = int(os.environ.get("TILE_TEST_SEED", "1"))
COUNT = 100

pytestmark = pytest.mark.skipif(not TILE_RUN.exists(), reason=f"{TILE_RUN} is not built")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, bool, str]]:
    """Seed, verdict and what to read, for each program; run on all cores."""
    cases = generate(tmp_path_factory.mktemp("generated"), SEED, COUNT)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = pool.map(lambda case: run(case, TILE_RUN), cases)
        return [(case.kernel.seed, good, text) for case, (good, text) in zip(cases, verdicts, strict=True)]


@pytest.mark.parametrize("number", range(COUNT))
def test_program(results: list[tuple[int, bool, str]], number: int) -> None:
    seed, good, text = results[number]
    print(f"seed {seed}")
    assert good, text
