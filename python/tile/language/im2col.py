"""The window of a convolution as a matrix."""

from __future__ import annotations

from typing import Any

from ..errors import LanguageError
from .arithmetic import emit_binary, select
from .buffers import Buffer
from .expr import binary, static_int
from .memory import _elementwise, _shape
from .trace import current


def im2col(
    img: Buffer,
    col: Buffer,
    nhw_step: Any,
    c_step: Any,
    kernel: int,
    stride: int,
    dilation: int,
    pad: int,
    eviction_policy: Any = None,
) -> None:
    """Gathers a tile of the matrix whose rows are the pixels of a convolution's result
    and whose columns run over its window (rows, columns, channels).

    `img` is (N, H, W, C) in global memory, `col` a tile on the chip, of which this one
    is number `nhw_step` along the rows and `c_step` along the columns. The window is
    `kernel` x `kernel`; what lies outside the image is zero.
    """
    current().need_tile_level("T.im2col")
    numbers = [static_int(value) for value in (kernel, stride, dilation, pad)]
    if any(value is None for value in numbers):
        raise LanguageError("kernel, stride, dilation and pad of T.im2col are integers known at compile time")
    size, step, spread, margin = (value or 0 for value in numbers)
    if img.ndim != 4 or img.space or col.ndim != 2 or not col.space:
        raise LanguageError("T.im2col takes an image (N, H, W, C) in global memory and a matrix on the chip")
    rows, columns = _shape(col.shape, "T.im2col")
    count, height, width, channels = img.shape

    def out(extent: Any) -> Any:
        return binary("+", binary("//", extent + 2 * margin - spread * (size - 1) - 1, step), 1)

    out_height, out_width = out(height), out(width)

    def body(at: list[Any]) -> None:
        depth = c_step * columns + at[1]
        pixel = nhw_step * rows + at[0]
        image = binary("*", out_height, out_width)
        h = pixel % image // out_width * step + depth // (channels * size) * spread - margin
        w = pixel % out_width * step + depth // channels % size * spread - margin
        inside: Any = True
        tests = [(">=", h, 0), (">=", w, 0), ("<", h, height), ("<", w, width), ("<", depth, channels * size * size)]
        for op, value, limit in tests:
            test = emit_binary(op, value, limit)
            inside = test if inside is True else emit_binary("&", inside, test)
        value = img[pixel // image, h, w, depth % channels].load()
        zero = 0.0 if img.dtype.is_float else 0
        col[at[0], at[1]].store(select(inside, value, zero))

    _elementwise((rows, columns), body)


c2d_im2col = im2col
