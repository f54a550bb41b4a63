"""What programs of TileLang use to check themselves, by its names."""

from __future__ import annotations

import random
from typing import Any

from . import arrays
from .profiler import compare


def set_random_seed(seed: int = 42) -> None:
    """The same random numbers from now on, in Python, NumPy and torch."""
    random.seed(seed)
    import numpy

    numpy.random.seed(seed)
    if arrays.has_torch():
        import torch

        torch.manual_seed(seed)


def torch_assert_close(
    tensor_a: Any,
    tensor_b: Any,
    rtol: float = 1e-2,
    atol: float = 1e-3,
    max_mismatched_ratio: float = 0.001,
    verbose: bool = False,
    base_name: str = "LHS",
    ref_name: str = "RHS",
) -> bool:
    """Raises AssertionError where more elements than the ratio allows differ by more
    than `atol + rtol * |tensor_b|`. NaN equals NaN."""
    compare(tensor_a, tensor_b, rtol, atol, max_mismatched_ratio, f"{base_name} against {ref_name}")
    if verbose:
        print(f"{base_name} and {ref_name} agree")
    return True


def main() -> None:
    """Runs the tests of the calling file with pytest."""
    import inspect
    import sys

    import pytest

    sys.exit(pytest.main([inspect.getsourcefile(sys._getframe(1)) or "."]))
