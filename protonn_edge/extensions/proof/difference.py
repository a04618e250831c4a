"""Points on which a program that could not be proven differs from its model, if they are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.codegen.plan import Plan
from protonn_edge.extensions.proof import stages  # noqa: F401  (states each stage)
from protonn_edge.extensions.proof.answers import Different
from protonn_edge.extensions.proof.equality import PREFIX, PredictionProof, Proof
from protonn_edge.extensions.proof.exploration import MOST_STEPS
from protonn_edge.extensions.proof.forms import Byte, Root, SumForm, Unproven
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.arrays import Array

__all__ = ["PredictionProof", "Unproven", "prove", "suspects"]

_TRIED = 2_048
_LEAST_STEPS = 10_000
_STEPS = 10  # for a cycle, or a byte of code: proofs take up to 2.6
_MOST = 8


def prove(
    program: LinkedProgram,
    model: IntegerChain,
    parts: Sequence[int] = (),
    prefix: str = PREFIX,
    plan: Plan | None = None,
) -> Proof:
    """Prove that a program computes the scores and the class of a model, for every input.

    The names of its functions begin with `prefix`; `parts` as in `PredictionProof`. Raises
    `Unproven` if it does not, or if that is beyond what is provable. With the `plan` of a program
    that computes the model in such a way, a program that takes many more steps is given up early.
    """
    most = MOST_STEPS
    if plan is not None:
        most = _LEAST_STEPS + _STEPS * (round(plan.order) + len(program.code))
    return PredictionProof(program, model, prefix, most, parts).proof()


def suspects(reason: Unproven, model: IntegerChain) -> NDArray[np.uint8]:
    """Return points (n, features) on which two forms differ, of which a proof has failed."""
    if not isinstance(reason, Different):
        return np.zeros((0, model.n_features), np.uint8)
    rng, size = np.random.default_rng(0), (_TRIED, model.n_features)
    points = rng.integers(0, model.quantizer.maximum + 1, size, dtype=np.uint8)
    points[::2] *= rng.random(points[::2].shape) < 2 / model.n_features
    values = _Values(points)
    try:
        found, wanted = values.of_byte(reason.found), values.of_byte(reason.wanted)
    except ValueError:  # they depend on more than inputs
        return points[:0]
    differing: NDArray[np.uint8] = points[found != wanted][:_MOST]
    return differing


class _Values:
    """The values of forms for points."""

    def __init__(self, points: NDArray[np.uint8]) -> None:
        self._points = points.T.astype(np.int64)
        self._indices: dict[Root, Array] = {}

    def of_byte(self, byte: object) -> Any:
        """Return the values of a byte; any, if it is undefined."""
        return self.of(byte.form) >> byte.bit & 255 if isinstance(byte, Byte) else byte or 0

    def of(self, form: SumForm) -> NDArray[np.int64]:
        """Return the values of a form."""
        tables = (table.array[self._index(root)] for root, table in form.tables.items())
        return sum(tables, np.full(self._points.shape[1], form.constant))

    def _index(self, root: Root) -> Array:
        if root not in self._indices:
            if root.low_of is not None:
                self._indices[root] = self.of(root.low_of) & 255
            elif root.part_of is not None:
                choice, bit = root.part_of
                value = np.where(self.of(choice.difference) < 0, *map(self.of, choice[1:])) >> bit
                self._indices[root] = (value - root.values[0]) % 256
            elif root.largest_of:
                parts = (SumForm(number, dict(tables)) for number, tables in root.largest_of)
                largest = np.max([self.of(each) for each in parts], axis=0)
                self._indices[root] = largest - root.values[0]
            elif root.of is None:
                self._indices[root] = self._points[int(root.name.removeprefix("x"))]
            else:
                value = self.of(root.of) >> root.dropped
                self._indices[root] = np.searchsorted(root.values, value).clip(0, root.size - 1)
        return self._indices[root]
