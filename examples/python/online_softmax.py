# mypy: disable-error-code="valid-type,no-untyped-def,name-defined,misc"
"""The softmax of attention, tile of keys by tile of keys.

What a kernel with more than one part shares is a class of macros: a macro's body is
built into the kernel at each call, and what the object holds are the kernel's buffers.
"""

from __future__ import annotations

import tile.language as T


class OnlineSoftmax:
    """The running maximum and sum of each row of a tile of scores.

    Powers are of two: `scale` is that of the scores times log2(e).
    """

    def __init__(self, rows, scale, accum_dtype="float"):
        self.rows, self.scale = rows, scale
        self.largest, self.before, self.rescale, self.part, self.total = (
            T.alloc_fragment([rows], accum_dtype) for _ in range(5)
        )
        T.clear(self.total)
        T.fill(self.largest, -T.infinity(accum_dtype))

    @T.macro
    def update(self, scores, weights):
        """Turns the next tile of scores into weights. What was weighted before is off by
        `rescale` from then on."""
        T.copy(self.largest, self.before)
        T.reduce_max(scores, self.largest, dim=1, clear=False)
        for i in T.Parallel(self.rows):
            # A row that has seen nothing yet stays at zero instead of NaN.
            self.largest[i] = T.max(self.largest[i], -1e30)
            self.rescale[i] = T.exp2(self.before[i] * self.scale - self.largest[i] * self.scale)
        for i, j in T.Parallel(*scores.shape):
            scores[i, j] = T.exp2(scores[i, j] * self.scale - self.largest[i] * self.scale)
        T.reduce_sum(scores, self.part, dim=1)
        for i in T.Parallel(self.rows):
            self.total[i] = self.total[i] * self.rescale[i] + self.part[i]
        T.copy(scores, weights)

    @T.macro
    def correct(self, out):
        """Brings what was summed with the weights before up to date."""
        for i, j in T.Parallel(*out.shape):
            out[i, j] *= self.rescale[i]

    @T.macro
    def finish(self, out):
        """Divides by the sums; a row that has seen nothing is zero."""
        for i, j in T.Parallel(*out.shape):
            out[i, j] = T.if_then_else(self.total[i] > 0, out[i, j] / self.total[i], 0)
