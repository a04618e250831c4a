"""The loop over prototypes, proven with an invariant: what is listed, voted or still to come.

In front of each prototype, the scores plus the votes of those in the list are the votes of all
prototypes before it. The proof is in four parts: the invariant holds at the start; a prototype is
listed, with the RBF of its distance, if and only if it is near; a full list, or the last one, is
added to the scores, whatever is in it; and the decision is right for any scores. If the largest RBF
is an answer, too, it is kept in the same way: that of the list and the largest one before it are
the largest of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from protonn_edge.chips.avr.instructions import written_by
from protonn_edge.chips.avr.semantics import INTERRUPTS
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
from protonn_edge.extensions.proof.state import ChipState
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes

_LIST, _NEXT, _ROW, _POINTER = 26, 24, 22, 30  # pairs of registers
_LARGEST = 29  # the register of the largest RBF, if that is an answer, too
_ENTRY = 3  # bytes of an entry: an RBF, and the address of labels


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


class VotersProof(Protocol):
    """The proof of what votes beside the prototypes, whose code is behind theirs."""

    def open(self, start: ChipState) -> None:
        """Let what a device keeps of voters be anything."""

    def behind(self, loop: PrototypeLoop, state: ChipState) -> tuple[ChipState, SumForm]:
        """Return a state behind the votes, from one in front of them, and the largest RBF there.

        Refuse votes that are not the model's, for any scores and any largest RBF.
        """

    def check_kept(self, endings: list[ChipState]) -> None:
        """Refuse endings that change what a device keeps of voters."""


class PrototypeLoop:
    """The loop in a linked program, in front of the first prototype."""

    def __init__(self, stage: IntegerPrototypes, proof: PredictionProof, start: ChipState) -> None:
        self.stage, self.proof = stage, proof
        self.machine, self.explorer = proof.machine, proof.explorer
        variables = {each.name: each for each in proof.variables}
        self.list, self.scores = (variables[f"prototypes_{n}"] for n in ("list", "scores"))
        self.point = variables["projection"].address
        self.places = self.list.size // _ENTRY
        self.stride = stage.n_inputs + stage.n_outputs
        self.head, self.some = proof.mark("prototypes_step0"), proof.mark("prototypes_some")
        self.done = self._done(proof.mark("prototypes_again"))
        self.explorer.stops = frozenset({self.head})
        if proof.run(start) or len(self.explorer.stopped) != 1:
            raise Unproven("the loop over prototypes does not begin in one state")
        self.explorer.stops = frozenset({self.head, self.some, self.done})
        self.first = self.explorer.stopped[0]
        low, high = self.first.registers[_ROW : _ROW + 2]
        if not isinstance(low, int) or not isinstance(high, int):
            raise Unproven("the place of the first prototype depends on inputs")
        self.rows = low | high << 8  # the first prototype, which the program has in its code
        self._check_start()
        first, machine = self.first, self.machine
        self._forget_changing(first)
        self.coordinates = [machine.read(first, self.point + k) for k in range(stage.n_inputs)]
        held = [any(same(v, each) for each in self.coordinates) for v in first.registers]
        changed = self._changed_by_votes()
        # registers that are as they were in front of the call, and do not change in the loop
        self.untouched = [
            number
            for number, value in enumerate(first.registers)
            if not held[number] and number not in changed and same(value, start.registers[number])
        ]
        for number in range(32):
            if not held[number] and number not in self.untouched:
                first.registers[number] = None
        # of the prototypes that have voted: anything, as scores are
        self.nearest = variable(Root("nearest", np.arange(int(stage.table.max()) + 1)))
        if stage.gives_nearest:
            first.registers[_LARGEST] = byte_of(self.nearest, 0)
        addresses = self.list.address + _ENTRY * np.arange(self.places)
        self.counts, self.entry = machine.pointer("list", addresses, range(_ENTRY))
        if self.entry != self.list.address:  # a step knows no other address of this entry
            for place in range(self.list.address, self.list.address + self.list.size):
                del first.memory[place], machine.initial[place]

    def _forget_changing(self, state: ChipState) -> None:
        """Let scores and the list be anything, as behind other prototypes."""
        for each in (self.list, self.scores):
            for k in range(each.size):
                root = Root(f"{each.name}{k}", np.arange(256))
                state.memory[each.address + k] = byte_of(variable(root), 0)
        state.masks, state.facts, state.flags[:INTERRUPTS] = {}, (), [None] * INTERRUPTS

    def _changed_by_votes(self) -> set[int]:
        """Return the registers that code behind the comparison of prototypes writes."""
        changed, place = set(), self.some
        while place < self.done:
            here = self.proof.program.reached(place)
            changed |= written_by(here)
            place = here.end
        return changed

    def _done(self, again: int) -> int:
        """Return what is behind the jump to the next list."""
        here = self.proof.program.reached(self.some)
        while here.name not in {"jmp", "rjmp"} or here.operands["k"] != again:
            here = self.proof.program.reached(here.end)
        return here.end

    def _check_start(self) -> None:
        """Refuse a list that is not empty, or scores or a largest RBF that are not 0."""
        if self.stage.gives_nearest and self.first.registers[_LARGEST] != 0:
            raise Unproven("the largest RBF does not begin with 0")
        self.check_pair(self.first, _LIST, self.list.address)
        for pair in (_ROW, _POINTER):
            self.check_pair(self.first, pair, self.rows)
        places = range(self.scores.address, self.scores.address + self.scores.size)
        if any(self.first.memory.get(each) != 0 for each in places):
            raise Unproven("the scores do not begin with 0")

    def _check_kept(self, state: ChipState) -> None:
        # The next list loads the coordinates again.
        nearest = [_LARGEST] * self.stage.gives_nearest
        for number in range(32) if state.place == self.head else [*self.untouched, *nearest]:
            value = self.first.registers[number]
            if value is not None and not same(state.registers[number], value):
                raise Unproven(f"r{number} is not kept in the loop over prototypes")
        check_frame(state, self.first)

    def any_scores(self, state: ChipState) -> list[SumForm]:
        """Let scores be any numbers, and return these."""
        size, scores = self.scores.size // self.stage.n_outputs, []
        for label in range(self.stage.n_outputs):
            total = constant(0)
            for k in range(size):
                signed = 128 * (k == size - 1)
                root = Root(f"score{label}.{k}", np.arange(256) - signed)
                total = plus(total, scaled(variable(root), 1 << 8 * k))
            for k in range(size):
                state.memory[self.scores.address + size * label + k] = byte_of(total, k)
            scores.append(total)
        return scores

    def check_sums(self, state: ChipState, sums: list[SumForm]) -> None:
        """Refuse other scores than some sums."""
        size = self.scores.size // self.stage.n_outputs
        for label, total in enumerate(sums):
            for k in range(size):
                place = self.scores.address + size * label + k
                if not equal_bytes(state.memory[place], byte_of(total, k)):
                    raise Unproven(f"the votes for class {label} differ from the model's")

    def is_negative(self, state: ChipState, form: SumForm) -> bool:
        """Whether a comparison on the way to a state shows that a sum is negative."""
        forms = self.machine.algebra.sums.forms
        return form.high < 0 or any(
            minus(form, minus(forms[fact.lower], forms[fact.upper])).high - fact.strict < 0
            for fact in state.facts
        )

    def is_not_negative(self, state: ChipState, form: SumForm) -> bool:
        """Whether comparisons, or the values of roots, on the way to a state show the opposite."""
        algebra, forms = self.machine.algebra, self.machine.algebra.sums.forms
        reasons = [constant(0)]  # sums that are not negative
        reasons += [minus(forms[fact.upper], forms[fact.lower]) for fact in state.facts]
        algebra.facts, algebra.masks = state.facts, state.masks
        found = any(algebra.bounds(minus(form, each))[0] >= 0 for each in reasons)
        algebra.forget()
        return found

    def endings(self, voters: VotersProof | None) -> Executed:
        """Return the endings of the decision, for any scores and any largest RBF."""
        state, nearest = self._with_untouched(self.done), self.nearest
        if voters is not None:
            state, nearest = voters.behind(self, state)
        scores = self.any_scores(state)
        self.explorer.stops, self.machine.algebra.orders_sums = frozenset(), False
        endings = self.explorer.go_on([state])
        if voters is not None:
            voters.check_kept(endings)
        return Executed(endings, scores, nearest)

    def _with_untouched(self, place: int) -> ChipState:
        """Return a state behind the comparison of prototypes, which leaves other registers."""
        state = self.first.copy()
        state.place = place
        for number in set(range(32)).difference(self.untouched):
            state.registers[number] = None
        if self.stage.gives_nearest:
            state.registers[_LARGEST] = byte_of(self.nearest, 0)
        return state

    def ends(self, state: ChipState) -> list[ChipState]:
        """Return the states at the next places of the loop."""
        self.explorer.stopped, self.machine.algebra.orders_sums = [], True
        if self.explorer.go_on([state]):
            raise Unproven("a part of the loop returns")
        return self.explorer.stopped

    def check_pair(self, state: ChipState, pair: int, wanted: int | SumForm) -> None:
        """Refuse two registers that are not the lowest bytes of a sum."""
        form = constant(wanted) if isinstance(wanted, int) else wanted
        for k in range(2):
            if not equal_bytes(state.registers[pair + k], byte_of(form, k)):
                raise Unproven(f"r{pair + k} differs from the loop's")


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
        for pair in (_ROW, _POINTER):
            state.registers[pair : pair + 2] = place & 255, place >> 8
        state.registers[_LIST : _LIST + 2] = (byte_of(variable(self.counts), k) for k in range(2))
        distances = self._distances(number)
        for each in self.ends(state):
            near = same(each.registers[_LIST], byte_of(self._listed(1), 0))
            self.check_pair(each, _LIST, self._listed(int(near)))
            own = range(self.entry, self.entry + _ENTRY * near)
            check_unchanged(each, self.first.memory, own)
            if near:
                self._check_near(each, distances[-1], place, number)
            else:
                self._check_far(each, distances, number)
            self._check_next(each, number + 1, near)

    def _listed(self, more: int) -> SumForm:
        return plus(variable(self.counts), constant(_ENTRY * more))

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
        if state.place == self.head:
            for pair in (_ROW, _POINTER):
                self.check_pair(state, pair, place)
            fits = room and not last
        elif state.place == self.some:
            self.check_pair(state, _NEXT, place)
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
        end, after = self.list.address + _ENTRY * count, Root("next", rows + self.stride)
        state.registers[_LIST : _LIST + 2] = end & 255, end >> 8
        state.registers[_NEXT : _NEXT + 2] = (byte_of(variable(after), k) for k in range(2))
        sums, values = self.any_scores(state), np.arange(int(stage.table.max()) + 1)
        nearest = self.nearest
        for entry in range(count):
            rbf, row = Root(f"e{entry}", values), Root(f"a{entry}", rows + stage.n_inputs)
            place = self.list.address + _ENTRY * entry
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
            is_last = np.arange(len(rows)) == len(rows) - 1
            mask = each.reached(after)
            if each.place == self.head:
                self.check_pair(each, _LIST, self.list.address)
                for pair in (_ROW, _POINTER):
                    self.check_pair(each, pair, variable(after))
            if stage.gives_nearest:
                if not equal_bytes(each.registers[_LARGEST], byte_of(nearest, 0)):
                    raise Unproven("the largest RBF differs from the model's")
                each.registers[_LARGEST] = self.first.registers[_LARGEST]
            self._check_kept(each)
            ends = mask & is_last if each.place == self.head else mask & ~is_last
            if each.place == self.some or ends.any():
                raise Unproven("the loop over prototypes ends elsewhere")


def check_frame(state: ChipState, before: ChipState) -> None:
    """Refuse a part of the loop that changes the stack's place, or interrupts."""
    pairs = zip(state.stack, before.stack, strict=True)
    if not all(same(*each) for each in pairs) or state.calls != before.calls:
        raise Unproven("the stack is not kept in the loop over prototypes")
    if state.flags[INTERRUPTS] is not before.flags[INTERRUPTS]:
        raise Unproven("the interrupts are not kept in the loop over prototypes")


def check_unchanged(state: ChipState, before: dict[int, Any], own: range) -> None:
    """Refuse a part of the loop that changes, or takes off the stack, anything but its own."""
    for place in state.memory.keys() | before.keys():
        if place not in own and state.memory.get(place) is not before.get(place):
            raise Unproven("the loop over prototypes changes another variable")


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
