"""The loop over prototypes, proven with an invariant: what is listed, voted or still to come.

In front of each prototype, the scores plus the votes of those in the list are the votes of all
prototypes before it. The proof is in four parts: the invariant holds at the start; a prototype is
listed, with the RBF of its distance, if and only if it is near; a full list, or the last one, is
added to the scores, whatever is in it; and the decision is right for any scores. If the largest RBF
is an answer, too, it is kept in the same way: that of the list and the largest one before it are
the largest of all. Where each prototype is instructions of its own, the list has room for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from protonn_edge.extensions.proof.additions import voters_proof
from protonn_edge.extensions.proof.answers import equal_bytes
from protonn_edge.extensions.proof.equality import Executed, PredictionProof, executed
from protonn_edge.extensions.proof.forms import (
    Byte,
    Root,
    SumForm,
    Unproven,
    byte_of,
    constant,
    factor_of,
    minus,
    plus,
    restricted,
    same,
    scaled,
    single,
    variable,
)
from protonn_edge.extensions.proof.stages.prototype_loop import (
    ENTRY,
    LARGEST,
    LIST,
    NEXT,
    POINTER,
    ROW,
    PrototypeLoop,
    VotersProof,
    check_unchanged,
)
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes


@executed.register(IntegerPrototypes)
def _(
    stage: IntegerPrototypes,
    proof: PredictionProof,
    start: ChipState,
    inputs: Callable[[], list[SumForm]],
) -> Executed:
    """Return the endings of a prediction, with its scores, which may be any numbers."""
    voters: VotersProof | None = None
    if stage.voters is not None:
        voters = voters_proof(stage.voters.extension, stage, proof)
        voters.open(start)
    loop = _Invariant(stage, proof, start)
    loop.check_coordinates(inputs(), exactly=voters is not None)
    for number in range(stage.n_prototypes):
        loop.check_prototype(number)
    for count in range(1, loop.places + 1):
        loop.check_votes(count)
    return loop.endings(voters)


class _Invariant(PrototypeLoop):
    """What holds in front of each prototype, and what keeps it so."""

    def check_coordinates(self, wanted: list[SumForm], *, exactly: bool) -> None:
        """Refuse coordinates that are not as far from all prototypes as the model's.

        Other voters may be anywhere, so that they need the model's coordinates.
        """
        limit = self.stage.distance_limit
        for k, form in enumerate(wanted):
            root, own = _expanded(self.first.memory[self.point + k])
            other, expected = _expanded(Byte(form, 0), signed=False, whole=form)
            if root is not other:
                raise Unproven(f"coordinate {k} is not a function of its sum")
            if exactly and (own != expected).any():
                raise Unproven(f"coordinate {k} differs from the model's")
            for value in np.unique(self.stage.prototypes[k].astype(np.int64)):
                squares = [np.minimum((value - each) ** 2, limit) for each in (own, expected)]
                if (squares[0] != squares[1]).any():
                    raise Unproven(f"coordinate {k} differs from the model's")

    def check_prototype(self, number: int) -> None:
        """Refuse a prototype that is not listed if and only if it is near."""
        state, place = self.first.copy(), self.rows + number * self.stride
        state.place = self._head(number)
        if self.heads:
            state.masks[self.counts] = np.arange(self.places) <= number
        else:
            for pair in (ROW, POINTER):
                state.registers[pair : pair + 2] = place & 255, place >> 8
        state.registers[LIST : LIST + 2] = (byte_of(variable(self.counts), k) for k in range(2))
        distances = self._distances(number)
        for each in self.ends(state):
            near = same(each.registers[LIST], byte_of(self._listed(1), 0))
            self.check_pair(each, LIST, self._listed(int(near)))
            own = range(self.entry, self.entry + ENTRY * near)
            check_unchanged(each, self.first.memory, own)
            if near:
                self._check_near(each, distances[-1], place, number)
            else:
                self._check_far(each, distances, number)
            self._check_next(each, number + 1, near)

    def _listed(self, more: int) -> SumForm:
        return plus(variable(self.counts), constant(ENTRY * more))

    def _distances(self, number: int) -> list[SumForm]:
        """Return the squared distances of the first coordinates, less the limit."""
        distances, total = [], constant(-self.stage.distance_limit)
        for byte, value in zip(self.coordinates, self.stage.prototypes[:, number], strict=True):
            root, array = self.machine.algebra.array(byte)
            difference = (int(value) - array + 128) % 256 - 128
            total = plus(total, single(root, difference**2))
            distances.append(total)
        return distances

    def _check_near(self, state: ChipState, distance: SumForm, place: int, number: int) -> None:
        limit, stage = self.stage.distance_limit, self.stage
        mask = state.masks.get(distance.root) if distance.root else None
        if not self.is_negative(state, distance) and (
            mask is None or (distance.array()[mask] >= 0).any()
        ):
            raise Unproven("a prototype is listed without all of its coordinates")
        for byte, value in zip(self.coordinates, stage.prototypes[:, number], strict=True):
            root, array = self.machine.algebra.array(byte)
            signed = (array + 128) % 256 - 128
            wrapped = (int(value) - signed + 128) % 256 - 128
            differs = (wrapped**2 < limit) & (wrapped != int(value) - signed)
            if (differs & state.masks.get(root, True)).any():
                raise Unproven("a far prototype is listed")
        self._check_rbf(state, distance)
        labels = place + stage.n_inputs
        for k in range(2):
            if state.memory[self.entry + 1 + k] != labels >> 8 * k & 255:
                raise Unproven("the labels of another prototype are listed")

    def _check_rbf(self, state: ChipState, distance: SumForm) -> None:
        limit, stage = self.stage.distance_limit, self.stage
        rbf = state.memory[self.entry]
        if not isinstance(rbf, Byte):
            raise Unproven("an RBF is no function of the distance")
        root, found = self.machine.algebra.array(rbf)
        of = root.of
        if of is None or root.dropped:
            raise Unproven("an RBF is no function of the distance")
        factor = factor_of(distance, of)
        rest = minus(distance, scaled(of, factor))
        for each, mask in state.masks.items():
            rest = restricted(rest, each, mask)
        if rest.tables or factor < 1:
            raise Unproven("an RBF is no function of the distance")
        below = factor * root.values + rest.constant
        reached = (below >= -limit) & (below < 0)
        expected = stage.table[(below[reached] + limit) >> stage.distance_shift]
        if below[0] > max(-limit, distance.low) or (found[reached] != expected).any():
            raise Unproven("an RBF differs from the model's")

    def _check_far(self, state: ChipState, distances: list[SumForm], number: int) -> None:
        if self.is_not_negative(state, distances[-1]):
            return
        limit = self.stage.distance_limit
        for byte, value in zip(self.coordinates, self.stage.prototypes[:, number], strict=True):
            root, array = self.machine.algebra.array(byte)
            mask, signed = state.masks.get(root), (array + 128) % 256 - 128
            if mask is not None and ((int(value) - signed)[mask] ** 2 >= limit).all():
                return
        raise Unproven("a prototype is left out that may be near")

    def _check_next(self, state: ChipState, number: int, near: bool) -> None:
        """Refuse a loop that goes on, or adds votes, where the invariant does not."""
        last, place = number == self.stage.n_prototypes, self.rows + number * self.stride
        counts = state.reached(self.counts)
        full = near and not counts[:-1].any()
        self._check_kept(state)
        room = not near or not counts[-1]
        if state.place in (self.head, *self.heads):
            self._check_front(state, constant(place))
            fits = room and not last and state.place == self._head(number)
        elif state.place == self.some:
            if not self.heads:
                self.check_pair(state, NEXT, place)
            fits = last or full
            fits &= near or not counts[0]
        else:
            fits = last and not near and not counts[1:].any()
        if not fits:
            raise Unproven("votes are added at another time")

    def check_votes(self, count: int) -> None:
        """Refuse votes that are not those of the list, whatever is in it."""
        stage, state = self.stage, self._with_untouched(self.some)
        rows = self.rows + self.stride * np.arange(stage.n_prototypes)
        before = rows[-1:] if self.heads else rows  # the prototypes after which there are votes
        end, after = self.list.address + ENTRY * count, Root("next", before + self.stride)
        state.registers[LIST : LIST + 2] = end & 255, end >> 8
        state.registers[NEXT : NEXT + 2] = (byte_of(variable(after), k) for k in range(2))
        sums, values = self.any_scores(state), np.arange(int(stage.table.max()) + 1)
        nearest = self.nearest
        for entry in range(count):
            rbf, row = Root(f"e{entry}", values), Root(f"a{entry}", rows + stage.n_inputs)
            place = self.list.address + ENTRY * entry
            state.memory[place] = byte_of(variable(rbf), 0)
            nearest = self.machine.algebra.maximum(nearest, variable(rbf))
            for k in range(2):
                state.memory[place + 1 + k] = byte_of(variable(row), k)
            for label, votes in enumerate(stage.labels.astype(np.int64)):
                product = self.machine.algebra.product(variable(rbf), single(row, votes))
                sums[label] = plus(sums[label], product)
        known = dict(state.memory)
        for each in self.ends(state):
            self.check_sums(each, sums)
            place = self.scores.address
            check_unchanged(each, known, range(place, place + self.scores.size))
            is_last = before == rows[-1]
            mask = each.reached(after)
            if each.place == self.head:
                self.check_pair(each, LIST, self.list.address)
                self._check_front(each, variable(after))
            if stage.gives_nearest:
                if not equal_bytes(each.registers[LARGEST], byte_of(nearest, 0)):
                    raise Unproven("the largest RBF differs from the model's")
                each.registers[LARGEST] = self.first.registers[LARGEST]
            self._check_kept(each)
            ends = mask & is_last if each.place == self.head else mask & ~is_last
            if each.place == self.some or ends.any():
                raise Unproven("the loop over prototypes ends elsewhere")


def _expanded(byte: object, *, signed: bool = True, whole: SumForm | None = None) -> Any:
    """Return a coordinate's sum, as a root, and its values there."""
    if not isinstance(byte, Byte) or byte.form.root is None:
        raise Unproven("a coordinate is no function of a sum")
    form: SumForm = byte.form if whole is None else whole
    root, values = byte.form.root, (byte.array() + 128) % 256 - 128 if signed else form.array()
    if root.of is not None and root.of.root is not None:
        values = values[np.searchsorted(root.values, root.of.array())]
        root = root.of.root
    return root, values
