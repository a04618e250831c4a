"""What a prediction leaves behind is compared with the model: its scores, and the class."""

from __future__ import annotations

from typing import Any

import numpy as np

from protonn_edge.chain.integer_chain import IntegerChain
from protonn_edge.proof.facts import ComparedSums, OrderFact
from protonn_edge.proof.forms import (
    Byte,
    Root,
    SumForm,
    Unproven,
    Value,
    byte_of,
    congruent,
    expanded,
    minus,
    same,
    scaled,
)
from protonn_edge.proof.state import ChipState

_ANSWER = 24  # the register of a returned byte


class Different(Unproven):
    """A byte of a program is not proven to be the model's."""

    def __init__(self, sentence: str, found: Any, wanted: Value) -> None:
        super().__init__(sentence)
        self.found, self.wanted = found, wanted


class ProvenAnswers:
    """The scores of a model as forms, with which those of a program are compared."""

    def __init__(self, sums: ComparedSums, model: IntegerChain, scores: list[SumForm]) -> None:
        self._sums, self._scores = sums, scores
        self._bits = model.own_stages[-1].output.bits

    def check_scores(self, state: ChipState, place: int) -> None:
        """Refuse a state whose scores, at a place, are not the model's."""
        size = self._bits // 8
        for label, score in enumerate(self._scores):
            for k in range(size):
                found = state.memory.get(place + size * label + k)
                wanted = byte_of(score, k)
                if not equal_bytes(found, wanted):
                    sentence = f"byte {k} of score {label} is {found}, not that of {score}"
                    raise Different(sentence, found, wanted)

    def check_class(self, state: ChipState) -> None:
        """Refuse a state that does not return the first class with the largest score."""
        found = state.registers[_ANSWER]
        if isinstance(found, int):
            self._check_first_largest(state, found, None, None)
        elif isinstance(found, Byte) and found.form.root is not None:
            root, array = found.form.root, found.array()
            mask = state.masks.get(root, np.ones(root.size, bool))
            for label in np.unique(array[mask]):
                self._check_first_largest(state, int(label), root, mask & (array == label))
        else:
            raise Unproven(f"the class is {found}")

    def _check_first_largest(
        self, state: ChipState, label: int, root: Root | None, mask: Any
    ) -> None:
        if label >= len(self._scores):
            raise Unproven(f"the class {label} of {len(self._scores)}")
        for other in range(len(self._scores)):
            difference = minus(self._scores[other], self._scores[label])
            limit = 0 if other > label else -1  # of equal ones, the first wins
            if other == label or _at_most(difference, root, mask, limit):
                continue
            if any(_at_most(difference, each, own, limit) for each, own in state.masks.items()):
                continue
            if not self._ordered(
                state, self._scores[other], self._scores[label], strict=other < label
            ):
                raise Unproven(f"class {label} may have a lower score than class {other}")

    def _ordered(self, state: ChipState, lower: SumForm, upper: SumForm, *, strict: bool) -> bool:
        """Whether the comparisons on the way here say which of two scores is less."""
        sums, modulus = self._sums, 1 << self._bits
        numbers = [*range(len(sums.forms)), *(sums.number(each) for each in (lower, upper))]
        alike = [
            [n for n in dict.fromkeys(numbers) if _is_score(sums.forms[n], each, modulus)]
            for each in (lower, upper)
        ]
        return any(
            sums.holds(state.facts, OrderFact(one, other, strict))
            for one in alike[0]
            for other in alike[1]
        )


def equal_bytes(found: Any, wanted: Value) -> bool:
    """Whether two bytes are proven equal for every input."""
    if same(found, wanted):
        return True
    if not isinstance(found, Byte):
        return isinstance(found, int) and _is_always(wanted, found)
    if not isinstance(wanted, Byte):
        return isinstance(wanted, int) and _is_always(found, wanted)
    return found.is_at(wanted.bit) and _congruent(found.form, wanted.form, 256 << wanted.bit)


def _congruent(x: SumForm, y: SumForm, modulus: int) -> bool:
    return congruent(x, y, modulus) or congruent(expanded(x), expanded(y), modulus)


def _is_always(byte: Any, number: int) -> bool:
    if not isinstance(byte, Byte):
        return False
    low, high = (end >> byte.bit for end in (byte.form.low, byte.form.high))
    return bool(low == high and low & 255 == number)


def _is_score(form: SumForm, score: SumForm, modulus: int) -> bool:
    """Whether a form that was compared is a score: congruent, within the range of its integer."""
    half = modulus >> 1
    fits = all(-half <= each.low and each.high < half for each in (form, score))
    return fits and _congruent(form, score, modulus)


def _at_most(difference: SumForm, root: Root | None, mask: Any, limit: int) -> bool:
    """Whether a difference is at most that, where a root is within a mask."""
    if difference.high <= limit:
        return True
    if root is None:
        return False
    if difference.root is root:
        return bool((difference.array()[mask] <= limit).all())
    if root.of is None:
        return False
    for factor in (-2, -1, 1, 2):  # of the sum that the root stands for
        rest = minus(difference, scaled(root.of, factor))
        if not rest.tables:
            low = root.values[mask] << root.dropped
            high = low + (1 << root.dropped) - 1
            largest = factor * (high if factor > 0 else low) + rest.constant
            return bool((largest <= limit).all())
    return False
