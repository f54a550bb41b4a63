"""Comparison of results with a float64 reference, in the norm and elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np

EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52, "float8_e4m3fn": 2.0**-3}


def close(result: Any, reference: Any, rtol: float = 0.0, atol: float = 0.0, norm: float = 0.0) -> None:
    """Fails unless every element is within `atol + rtol * |reference|` and the
    relative error in the Frobenius norm within `norm`; without bounds those of the
    result's type."""
    result = np.asarray(result)
    name = result.dtype.name
    found, wanted = result.astype(np.float64), np.asarray(reference).astype(np.float64)
    assert found.shape == wanted.shape, f"shape {found.shape}, expected {wanted.shape}"
    if np.issubdtype(result.dtype, np.integer) or name == "bool":
        np.testing.assert_array_equal(found, wanted)
        return
    eps = EPS[name]
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(found[~finite], wanted[~finite])
    found, wanted = found[finite], wanted[finite]
    rms = float(np.sqrt(np.mean(wanted**2))) if wanted.size else 0.0
    bound = atol + rtol * np.abs(wanted) if rtol or atol else 8 * eps * (np.abs(wanted) + rms)
    off = np.abs(found - wanted)
    worst = int(np.argmax(off - bound)) if off.size else 0
    assert (off <= bound).all(), f"element {worst}: {found.flat[worst]}, expected {wanted.flat[worst]}"
    if wanted.size and rms:
        error = float(np.linalg.norm(off) / np.linalg.norm(wanted))
        assert error <= (norm or 4 * eps), f"relative error {error}"
