"""A tree of gated sums in flash: read from front to back, except for jumps to the right.

Nodes are in preorder. Each has, for each of its scores, the row of the gate and then that of the
weights. In an inner node, the row of its branch follows, and the size of its left subtree in bytes,
as two bytes in little endian.

A row is the initial value of its sum, three bytes in little endian, and its weights. These are all
weights, or, if that takes fewer bytes, their count in a byte and each weight after its distance
from the previous one in inputs. Weights of 0 bridge distances that do not fit a byte.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.integer_stage import IntArray
from protonn_edge.errors import InputError
from protonn_edge.kinds.bonsai.sums import Sums

BIAS_BYTES = 3
SKIP_BYTES = 2
_BYTE, _WORD = 0xFF, 0xFFFF  # the largest numbers of one byte, and of two


@dataclass(frozen=True, eq=False)
class TreeTable:
    """The bytes of a tree; see the module's text.

    Attributes
    ----------
    weights, gates, branches : Sums
        As in `IntegerBonsaiTree`.
    sparse : bool
        Whether rows have only weights that are not 0.
    """

    weights: Sums
    gates: Sums
    branches: Sums
    sparse: bool

    @classmethod
    def smaller(cls, weights: Sums, gates: Sums, branches: Sums) -> TreeTable:
        """Return the smaller form of the table."""
        dense, sparse = (cls(weights, gates, branches, each) for each in (False, True))
        rows = (row for sums in (weights, gates, branches) for row in sums.weights)
        counted = all(_entries(row)[0].size <= _BYTE for row in rows)
        return sparse if counted and len(sparse.content) < len(dense.content) else dense

    @cached_property
    def content(self) -> bytes:
        """The bytes.

        Raises
        ------
        InputError
            If a subtree is too large.
        """
        return self._subtree(0)

    @cached_property
    def lines(self) -> tuple[bytes, ...]:
        """The same, row by row, with the sizes of left subtrees in between."""
        lines: list[bytes] = []
        self._subtree(0, lines.append)
        return tuple(lines)

    def entries(self, sums: Sums) -> IntArray:
        """Return how many weights each row has in flash, (r,)."""
        counts = [_entries(row)[0].size if self.sparse else row.size for row in sums.weights]
        return np.array(counts, np.int64)

    def _subtree(self, node: int, keep: Callable[[bytes], object] = lambda _: None) -> bytes:
        """Return the bytes of a subtree; `keep` is called with each part."""
        inner = len(self.branches.bias)
        n_rows = len(self.weights.bias) // (2 * inner + 1)
        places = range(node * n_rows, (node + 1) * n_rows)
        own = [self._row(sums, place) for place in places for sums in (self.gates, self.weights)]
        if node < inner:
            size = len(self._subtree(2 * node + 1))
            if size > _WORD:
                raise InputError(
                    f"the model has {size:,} bytes in a subtree, generated code counts up to "
                    f"{_WORD:,}; train it with smaller shares of weights that are not 0"
                )
            own += [self._row(self.branches, node), size.to_bytes(SKIP_BYTES, "little")]
        for part in own:
            keep(part)
        below = (2 * node + 1, 2 * node + 2) if node < inner else ()
        return b"".join([*own, *(self._subtree(child, keep) for child in below)])

    def _row(self, sums: Sums, place: int) -> bytes:
        weights, bias = sums.weights[place], int(sums.bias[place])
        begin = bias.to_bytes(BIAS_BYTES, "little", signed=True)
        if not self.sparse:
            dense: bytes = weights.tobytes()
            return begin + dense
        gaps, values = _entries(weights)
        pairs = np.stack([gaps, values.astype(np.uint8)], axis=1).astype(np.uint8)
        entries: bytes = pairs.tobytes()
        return begin + bytes([len(gaps)]) + entries


def _entries(weights: NDArray[np.int8]) -> tuple[IntArray, NDArray[np.int8]]:
    """Return gaps and weights of a row, at least one."""
    places = np.flatnonzero(weights)
    gaps: list[int] = []
    values: list[int] = []
    at = 0
    for place in places.tolist() if len(places) else [0]:
        far, rest = divmod(place - at, _BYTE)
        gaps += [_BYTE] * far + [rest]
        values += [0] * far + [int(weights[place])]
        at = place
    return np.array(gaps, np.int64), np.array(values, np.int8)
