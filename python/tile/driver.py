"""Facts of the GPU that programs size their grids by."""

from __future__ import annotations

import json
from typing import Any

from . import _native

# Multiprocessors of the chips that are sold with a fixed number.
_MULTIPROCESSORS = {"H200": 132, "H100": 132, "H800": 132, "A100": 108, "B200": 148, "L40S": 142, "4090": 128}


def get_num_sms(device_id: int = 0) -> int:
    """Multiprocessors of the GPU, by torch where it is there, else by the GPU's name;
    without a GPU the cores of this machine."""
    facts: dict[str, Any] = json.loads(_native.environment())
    devices = facts["devices"]
    if not devices:
        return int(facts["cpu"]["cores"])
    try:
        import torch

        return int(torch.cuda.get_device_properties(device_id).multi_processor_count)
    except (ImportError, RuntimeError, AssertionError):
        name = str(devices[device_id]["name"])
        return next((count for key, count in _MULTIPROCESSORS.items() if key in name), 132)
