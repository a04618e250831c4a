"""What a prediction leaves behind is compared with the model: its scores, and the class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from protonn_edge.extensions.proof.algebra import Algebra
from protonn_edge.extensions.proof.facts import OrderFact
from protonn_edge.extensions.proof.forms import (
    Byte,
    Order,
    Root,
    SumChoice,
    SumForm,
    Unproven,
    Value,
    byte_of,
    congruent,
    constant,
    expanded,
    minus,
    plus,
    same,
    scaled,
    variable,
)
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.policy import IntegerRule

NOTHING = constant(0)
_ANSWER = 24  # the register of a returned byte


class RankedScores(NamedTuple):
    """What rules compare: the two largest scores, and how near the nearest known point is."""

    largest: SumForm
    second: SumForm
    nearest: SumForm


class Different(Unproven):
    """A byte of a program is not proven to be the model's."""

    def __init__(self, sentence: str, found: object, wanted: Value) -> None:
        super().__init__(sentence)
        self.found, self.wanted = found, wanted


class ProvenAnswers:
    """The scores of a model as forms, with which those of a program are compared.

    Only stages that know how near a point is to the `nearest` known one state that, as a form.
    """

    def __init__(
        self,
        algebra: Algebra,
        model: IntegerChain,
        scores: list[SumForm],
        nearest: SumForm = NOTHING,
    ) -> None:
        self._algebra, self._sums, self._scores = algebra, algebra.sums, scores
        self._bits = model.own_stages[-1].output.bits
        self._numbers: dict[tuple[int, int], list[int]] = {}  # of sums, by scores
        self._expanded: dict[int, SumForm] = {}  # sums, by their numbers
        best, largest, second = ranked(algebra, scores, self._bits)
        self._best = byte_of(best, 0)
        statistics = RankedScores(largest, second, nearest)
        judging = (rule for rule in model.policy.rules if rule.other_answers)
        self._judging = [(rule, _conditions(rule, statistics)) for rule in judging]

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
        """Refuse a state that does not return the model's answer.

        That is the first class with the largest score, or the answer of the first condition of a
        rule that holds.
        """
        self._check_answer(state, state.registers[_ANSWER])

    def _check_answer(self, state: ChipState, found: Any) -> None:
        root = found.form.root if isinstance(found, Byte) else None
        if isinstance(found, int) or equal_bytes(found, self._best):
            self._check_known(state, found)
        elif root is not None and root.part_of is not None:
            self._check_choice(state, found, root, *root.part_of)
        elif root is not None:
            mask, array = state.reached(root), found.array()
            for label in np.unique(array[mask]):
                each = state.copy()
                each.narrow(root, array == label)
                self._check_known(each, int(label))
        else:
            raise Unproven(f"the class is {found}")

    def _check_choice(
        self, state: ChipState, found: Byte, root: Root, choice: SumChoice, bit: int
    ) -> None:
        """Refuse an answer between two if one of them is not that of its inputs."""
        ends = [*(form.low for form in choice[1:]), *(form.high for form in choice[1:])]
        if bit or min(ends) < root.values[0] or max(ends) > root.values[-1]:
            raise Unproven("the class is a part of a choice")
        order = Order(choice.difference, constant(0))
        for form, is_less in ((choice.less, True), (choice.other, False)):
            each = state.copy()
            each.facts += self._sums.told(order, sense=is_less)
            self._check_answer(each, _where_it_is(found, root, form))

    def _check_known(self, state: ChipState, found: int | Byte) -> None:
        """Refuse a state that returns another class, or a class instead of a rule's answer."""
        other = self._other_answer(state)
        if other is not None:
            if found != other:
                raise Unproven(f"the answer is {found}, where the model's is {other}")
        elif not equal_bytes(found, self._best):
            assert isinstance(found, int)
            self._check_first_largest(state, found)

    def _other_answer(self, state: ChipState) -> int | None:
        """Return what the model answers in a state that is no class; None if it is a class."""
        algebra = self._algebra
        for rule, forms in self._judging:
            algebra.facts, algebra.masks = state.facts, state.masks
            bounds = [algebra.bounds(form, by_cuts=True) for form in forms]
            algebra.forget()
            if any(high < 0 for _, high in bounds):
                return rule.other_answers[0].code
            if any(low < 0 for low, _ in bounds):
                raise Unproven("the answer may be a class, or that of a rule")
        return None

    def _check_first_largest(self, state: ChipState, label: int) -> None:
        if label >= len(self._scores):
            raise Unproven(f"the class {label} of {len(self._scores)}")
        for other in range(len(self._scores)):
            difference = minus(self._scores[other], self._scores[label])
            limit = 0 if other > label else -1  # of equal ones, the first wins
            if other == label or difference.high <= limit:
                continue
            if any(_at_most(difference, each, own, limit) for each, own in state.masks.items()):
                continue
            if not self._ordered(
                state, self._scores[other], self._scores[label], strict=other < label
            ):
                raise Unproven(f"class {label} may have a lower score than class {other}")

    def _ordered(self, state: ChipState, lower: SumForm, upper: SumForm, *, strict: bool) -> bool:
        """Whether the comparisons on the way here say which of two scores is less."""
        sums, alike = self._sums, [self._numbers_of(each) for each in (lower, upper)]
        return any(
            sums.holds(state.facts, OrderFact(one, other, strict))
            for one in alike[0]
            for other in alike[1]
        )

    def _numbers_of(self, score: SumForm) -> list[int]:
        """Return the numbers of the sums that are a score, of all that were compared so far."""
        own = self._sums.number(score)
        key = own, len(self._sums.forms)
        if key not in self._numbers:
            self._numbers[key] = [n for n in range(key[1]) if self._is_score(n, own)]
        return self._numbers[key]

    def _is_score(self, number: int, score: int) -> bool:
        """Whether a compared sum is a score: congruent, within the range of its integer."""
        half, one, other = 1 << self._bits - 1, *(self._sums.forms[n] for n in (number, score))
        if not all(-half <= each.low and each.high < half for each in (one, other)):
            return False
        return congruent(one, other, 2 * half) or congruent(
            self._expansion(number), self._expansion(score), 2 * half
        )

    def _expansion(self, number: int) -> SumForm:
        if number not in self._expanded:
            self._expanded[number] = expanded(self._sums.forms[number])
        return self._expanded[number]


def ranked(
    algebra: Algebra, scores: Sequence[SumForm], bits: int
) -> tuple[SumForm, SumForm, SumForm]:
    """Return the first class with the largest score, this score, and the second largest one.

    As programs compute them: class by class, from no second score, which is the least number.
    """
    best, largest, second = constant(0), scores[0], constant(-1 << bits - 1)
    for label, score in enumerate(scores[1:], 1):
        difference = minus(largest, score)
        not_larger = algebra.maximum(second, score)
        second = algebra.chosen(difference, largest, not_larger)
        best = algebra.chosen(difference, constant(label), best)
        largest = algebra.maximum(largest, score)
    return best, largest, second


def _conditions(rule: IntegerRule, statistics: RankedScores) -> list[SumForm]:
    """Return forms of which one is negative where a rule has its own answer."""
    if len(rule.other_answers) > 1:
        raise _without_sums(rule)
    return negative(rule, statistics)


@singledispatch
def negative(rule: IntegerRule, _statistics: RankedScores) -> list[SumForm]:
    """Return forms of which one is negative where a rule has its own answer.

    Raises `Unproven` if no module of `stages` states this kind of rule.
    """
    raise _without_sums(rule)


def _without_sums(rule: IntegerRule) -> Unproven:
    return Unproven(f"the answer may be {rule.other_answers[0].name}, which has no sums")


def _where_it_is(found: Byte, root: Root, form: SumForm) -> int | Byte:
    """Return a byte, which is a function of a root, where the root has the value of a form."""
    if not form.tables:
        return int(found.array()[form.constant - int(root.values[0])])
    moved = minus(found.form, variable(root))
    if moved.tables:
        raise Unproven(f"the class is {found}")
    return Byte(plus(form, moved), found.bit)


def equal_bytes(found: object, wanted: Value) -> bool:
    """Whether two bytes are proven equal for every input."""
    if same(found, wanted):
        return True
    if not isinstance(found, Byte):
        return isinstance(found, int) and _is_always(wanted, found)
    if not isinstance(wanted, Byte):
        return isinstance(wanted, int) and _is_always(found, wanted)
    x, y, modulus = found.form, wanted.form, 256 << wanted.bit
    if x.root is not None and x.root is y.root:
        return bool((found.array() == wanted.array()).all())
    return found.is_at(wanted.bit) and (
        congruent(x, y, modulus) or congruent(expanded(x), expanded(y), modulus)
    )


def _is_always(byte: object, number: int) -> bool:
    if not isinstance(byte, Byte):
        return False
    low, high = (end >> byte.bit for end in (byte.form.low, byte.form.high))
    return bool(low == high and low & 255 == number)


def _at_most(difference: SumForm, root: Root, mask: Any, limit: int) -> bool:
    """Whether a difference is at most that, where a root is within a mask."""
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
