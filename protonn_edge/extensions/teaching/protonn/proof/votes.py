"""What the list of the nearest examples adds to the scores."""

from __future__ import annotations

from functools import reduce
from itertools import product

import numpy as np

from protonn_edge.extensions.proof.answers import equal_bytes
from protonn_edge.extensions.proof.forms import (
    Integers,
    Root,
    SumForm,
    Unproven,
    byte_of,
    constant,
    minus,
    plus,
    scaled,
    single,
    variable,
)
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.extensions.teaching.protonn.proof.loop import (
    ENTRY,
    FACTOR,
    NO_CLASS,
    NOWHERE,
    TaughtLoop,
)
from protonn_edge.extensions.teaching.protonn.votes import SHARPNESS


class Votes:
    """The votes of any list."""

    def __init__(self, loop: TaughtLoop) -> None:
        self.loop, self.code, self.stage = loop, loop.code, loop.stage
        self.prototypes = loop.prototypes

    def check_agreement(self) -> None:
        """Refuse votes that are doubled at another time than if all voters have one class."""
        code, state = self.code, self.loop.at(self.code.vote)
        every, classes = _combined(self.loop.classes)
        some = classes != NO_CLASS
        # those without a class are the last ones
        state.masks = {every: ~(~some[:-1] & some[1:]).any(axis=0)}
        for number, labels in zip(code.entries, classes, strict=True):
            state.memory[code.place_of(number)] = byte_of(single(every, labels), 0)
        agree = (~some | (classes == classes[0])).all(axis=0)
        votes = single(every, code.voters.vote << agree.astype(np.int64))
        for each in self.loop.ends(state, code.voter):
            self.loop.check_kept(each, state, NOWHERE)
            self.prototypes.check_pair(each, ENTRY, constant(code.place_of(1)))
            factor = code.machine.algebra.number(each.registers[FACTOR])
            wrong = np.atleast_1d(minus(factor, votes).array() != 0)
            if (wrong & each.reached(every)).any():
                raise Unproven("votes are doubled at another time")

    def check_voters(self) -> None:
        """Refuse an entry of the list that does not add its votes."""
        vote, labels = self.code.voters.vote, [*range(self.stage.n_outputs), NO_CLASS]
        for each in product(self.code.entries, labels, (vote, 2 * vote)):
            self._check_voter(*each)

    def _check_voter(self, entry: int, label: int, factor: int) -> None:
        code, state, is_one = self.code, self.loop.at(self.code.voter), label != NO_CLASS
        place, scores = code.place_of(entry), self.prototypes.scores
        state.registers[ENTRY : ENTRY + 2] = place & 255, place >> 8
        state.registers[FACTOR], state.memory[place] = factor, label
        sums, rbf = self.prototypes.any_scores(state), self._rbf(self.loop.distances[entry - 1])
        nearest = self.prototypes.nearest
        if is_one:
            sums[label] = plus(sums[label], scaled(rbf, factor))
            nearest = code.machine.algebra.maximum(nearest, rbf)
        behind = code.voter if is_one and entry != code.entries[-1] else code.done
        for each in self.loop.ends(state, code.voter, code.done):
            if each.place != behind:
                raise Unproven("the loop over voters ends elsewhere")
            self.prototypes.check_sums(each, sums)
            for number in self.loop.largest:
                if not equal_bytes(each.registers[number], byte_of(nearest, 0)):
                    raise Unproven("the largest RBF differs from the model's")
                each.registers[number] = state.registers[number]
            self.loop.check_kept(each, state, range(scores.address, scores.address + scores.size))
            if each.place == code.voter:
                self.prototypes.check_pair(each, ENTRY, constant(code.place_of(entry + 1)))
                if each.registers[FACTOR] != factor:
                    raise Unproven("the votes of one entry change those of others")

    def _rbf(self, distance: Root) -> SumForm:
        """Return a voter's RBF by its distance."""
        shift = self.code.voters.shift(self.stage.distance_shift)
        return single(distance, self.stage.table[SHARPNESS * distance.values >> shift])

    def end(self) -> tuple[ChipState, SumForm]:
        """Return a state behind the votes, with any list, and the largest RBF there."""
        state = self.loop.at(self.code.done)
        for number in self.loop.changed:
            state.registers[number] = None
        state.memory |= dict.fromkeys(self.code.changing)
        values = np.arange(int(self.stage.table.max()) + 1)
        nearest = variable(Root("nearest", values))
        for number in self.loop.largest:
            state.registers[number] = byte_of(nearest, 0)
        return state, nearest


def _combined(roots: list[Root]) -> tuple[Root, Integers]:
    """Return a root of all combinations of values, and the values of each root there."""
    indices = np.indices([each.size for each in roots]).reshape(len(roots), -1)
    values = np.stack([each.values[at] for each, at in zip(roots, indices, strict=True)])
    join = lambda x, y: Root(f"{x}*{y}", np.arange(x.size * y.size), factors=(x, y))  # noqa: E731
    return reduce(join, roots), values
