"""Show that a linked program computes sums of functions of one input each: runs then decide it.

If each score is ``c + f_0(x_0) + f_1(x_1) + ...`` in the program, and in the model, then they are
equal for every input if they are equal where no more than one input is not 0 (`deciding_points`).
This module executes the machine code once to show the first; the emulated board runs the points.
Nothing is shared with `proof` but the decoder of instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.avr.program import LinkedProgram
from protonn_edge.extensions.proof.checker.chip import (
    INTERRUPTS,
    CheckedChip,
    Execution,
    NotSeparable,
)
from protonn_edge.extensions.proof.checker.sums import SumNode, Terms
from protonn_edge.extensions.proof.checker.ways import Ways, closed
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import CheckFailed

_KEPT = (*range(2, 18), 28, 29)


def deciding_points(model: IntegerChain) -> NDArray[np.uint8]:
    """Return the points where no more than one input is not 0, (1 + n_features * maximum, n)."""
    n, maximum = model.n_features, model.quantizer.maximum
    points = np.zeros((n, maximum, n), np.uint8)
    points[range(n), :, range(n)] = np.arange(1, maximum + 1)
    return np.concatenate([np.zeros((1, n), np.uint8), points.reshape(-1, n)])


def check_separable(program: LinkedProgram, model: IntegerChain, parts: Sequence[int] = ()) -> int:
    """Return how many instructions were executed; `NotSeparable` if a score may be no such sum.

    The class is the first largest score. A prediction is one call of ``pnn_predict``; or, with
    `parts`, of ``pnn_begin``, of ``pnn_push_many`` for each number of features, and ``pnn_finish``.
    """
    if [each.kind for each in model.stages[:-1]] != ["linear"] or model.policy.other_answers:
        raise NotSeparable("the model is no sum of functions of one input each")
    check = _Check(program, model)
    try:
        check.check(parts)
    except (CheckFailed, LookupError, ValueError) as failure:
        raise NotSeparable(f"the code is not that of functions: {failure}") from failure
    return check.ways.steps


class _Check:
    def __init__(self, program: LinkedProgram, model: IntegerChain) -> None:
        own = (v for v in program.variables if v.source == "pnn_model.c")
        writable = frozenset(p for v in own for p in range(v.address, v.address + v.size))
        self.ways = Ways(Execution(program, writable))
        self._execution = self.ways.execution
        self._sums, self._program, self._model = self._execution.sums, program, model
        self._size = model.own_stages[-1].output.bits // 8

    def check(self, parts: Sequence[int]) -> None:
        ends = np.cumsum(parts).tolist()
        pushes = [("push_many", end - n, n) for n, end in zip(parts, ends, strict=True)]
        kept = {number: self._sums.one(f"r{number}") for number in _KEPT} | {1: 0}
        chips = [CheckedChip()]
        chips[0].flags[INTERRUPTS] = interrupts = self._sums.one("interrupts")
        calls = [("begin", 0, 0), *pushes, ("finish", 0, 0)]
        if not parts:
            calls = [("predict", 0, self._model.n_features)]
        for function, first, count in calls:
            chips = self.ways.run(
                [self._calling(chip, function, kept, first, count) for chip in chips]
            )
            for chip in chips:
                if any(chip.registers[number] != value for number, value in kept.items()):
                    raise NotSeparable("a register is not restored")
                if chip.top != 0 or chip.flags[INTERRUPTS] != interrupts:
                    raise NotSeparable("the stack or the interrupts are not as before")
        for chip in chips:
            (asked,) = self.ways.run([self._calling(chip, "scores", {1: 0})])
            self._check_answers(chip, asked)

    def _calling(
        self,
        chip: CheckedChip,
        function: str,
        known: dict[int, Any],
        first: int = 0,
        count: int = 0,
    ) -> CheckedChip:
        """Return a chip at the start of a function."""
        address = self._program.names.address_of(f"pnn_{function}")
        if address is None:
            raise NotSeparable(f"there is no function pnn_{function}")
        caller = chip.copy()
        if function == "push_many":
            known = {22: count & 255, 23: count >> 8, **known}
        caller.registers = [known.get(number) for number in range(32)]
        caller.flags[:INTERRUPTS] = [None] * INTERRUPTS
        self._execution.give(caller, first, count)
        self._execution.enter(caller, address)
        return caller

    def _check_answers(self, chip: CheckedChip, asked: CheckedChip) -> None:
        low, high = asked.registers[24:26]
        if not isinstance(low, int) or not isinstance(high, int):
            raise NotSeparable("the place of the scores is not known")
        places = (low | high << 8) + np.arange(self._model.n_classes * self._size)
        rows = places.reshape(-1, self._size).tolist()
        scores = [tuple(asked.memory.get((None, place)) for place in row) for row in rows]
        for label, score in enumerate(scores):
            total = self._sums.total(score)
            if total is None or not self._is_separable(*total):
                raise NotSeparable(f"score {label} is no sum of functions of one input each")
        label, facts = chip.registers[24], closed(chip.facts)
        if not isinstance(label, int) or label >= len(scores):
            raise NotSeparable("the class is no number")
        for other, score in enumerate(scores):
            if other != label and (score, scores[label], other < label) not in facts:
                raise NotSeparable(f"class {label} may have a lower score than class {other}")

    def _is_separable(self, number: int, terms: Terms) -> bool:
        """Whether it is a sum of functions of inputs, or a shorter one, extended, or its negative.

        The shorter one is equal to the model's if it is so modulo its bytes: the model's fits.
        """
        root, functions = next(iter(terms.items()), (0, ()))
        if isinstance(root, SumNode) and len(terms) == 1 and number == 0:
            half = 1 << 8 * root.size - 1
            low, high = self._model.own_stages[-1].output.ends
            whole = [((self._sums.one(root).token, sign % 256**self._size),) for sign in (1, -1)]
            fits = -half < low and high < half and functions in whole
            return fits and self._is_separable(1, root.terms)
        return all(isinstance(root, int) for root in terms)
