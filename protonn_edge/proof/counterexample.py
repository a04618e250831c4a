"""A point on which a linked program differs from its model, found by executing it on points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.program import LinkedProgram
from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.errors import CheckFailed
from protonn_edge.proof.equality import PREFIX, PredictionProof, prove
from protonn_edge.proof.forms import Unproven

__all__ = ["Counterexample", "Unproven", "answer", "counterexample", "prove"]

_CLASS = 24  # the register of a returned byte


@dataclass(frozen=True)
class Counterexample:
    """A point, and the answers to it; those of the program are None if it does not end well."""

    point: NDArray[np.uint8]
    expected: tuple[int, ...]  # the class, and the scores
    found: tuple[int, ...] | None


def counterexample(
    program: LinkedProgram,
    model: IntegerChain,
    points: NDArray[np.uint8],
    prefix: str = PREFIX,
    most_steps: int = 1_000_000,
) -> Counterexample | None:
    """Return the first point on which a program's class or scores differ, if there is one."""
    classes, scores = model.answers(points)
    for point, label, own in zip(points, classes, scores, strict=True):
        expected = (int(label), *own.tolist())
        found = answer(program, model, point, prefix, most_steps)
        if found != expected:
            return Counterexample(point, expected, found)
    return None


def answer(
    program: LinkedProgram,
    model: IntegerChain,
    point: NDArray[np.uint8],
    prefix: str = PREFIX,
    most_steps: int = 1_000_000,
) -> tuple[int, ...] | None:
    """Return a program's class and scores of a point; None if it does not end well."""
    try:
        proof = PredictionProof(program, model, prefix, most_steps)
        start = proof.start()
        for number, place in enumerate(sorted(start.memory)[: len(point)]):
            start.memory[place] = int(point[number])
        (end,) = proof.explorer.run(start)
        label = end.registers[_CLASS]
        place, end = proof.asked_for_scores(end)
    except (Unproven, CheckFailed, ValueError):
        return None
    size, numbers = model.own_stages[-1].output_bits // 8, [label]
    for label in range(model.n_classes):
        values = [end.memory.get(place + size * label + k) for k in range(size)]
        numbers.append(sum(each << 8 * k for k, each in enumerate(values) if isinstance(each, int)))
        if not all(isinstance(each, int) for each in values):
            return None
        numbers[-1] -= (numbers[-1] >> 8 * size - 1) << 8 * size
    return tuple(numbers)
