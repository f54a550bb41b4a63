"""Integer arithmetic for sizes, by TileLang's names."""

from __future__ import annotations


def next_power_of_2(x: int) -> int:
    """The least power of two that is not below x."""
    return 1 << (x - 1).bit_length() if x > 1 else 1


def cdiv(a: int, b: int) -> int:
    """The quotient, rounded up."""
    return -(-a // b)
