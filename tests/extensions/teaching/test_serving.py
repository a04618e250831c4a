"""The store and the votes of generated C, on the host and on an emulated Uno, against NumPy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from chains import replace
from chains import replace as with_numbers
from extensions.teaching.histories import STEPS, History
from extensions.teaching.serving import Serving, on_host, on_uno
from model_factory import random_inputs, random_model, with_large_labels

from protonn_edge.chips.avr.paths import paths_through
from protonn_edge.chips.avr.program import read_program
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import IntegerChain, coordinates
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.rule import IntegerRejection

# The full numbers take some minutes: PROTONN_EDGE_HISTORIES=1000.
HISTORIES = int(os.environ.get("PROTONN_EDGE_HISTORIES", "6"))
DAMAGES = CUTS = 5 * HISTORIES if HISTORIES < 1000 else HISTORIES
CYCLES = {"L": 6_000, "F": 3_000, "A": 1_500}  # about what each takes: simavr writes at once
MOST_WRITES = 30  # of any of these: a header, a record, a class of each slot, and what is hidden


def teachable(room: int, *, new_classes: int = 0, **sizes: int) -> IntegerChain:
    model = random_model(**sizes)
    return quantize(with_numbers(model, teachable=room, new_classes=new_classes))


SMALL = teachable(5, projections=3, prototypes=6, classes=3, features=6)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with on_host(SMALL, tmp_path_factory.mktemp("host")) as program:
        yield program


@pytest.fixture(scope="module")
def uno(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with on_uno(SMALL, tmp_path_factory.mktemp("uno")) as program:
        yield program


def test_histories_agree(host: Serving, uno: Serving) -> None:
    rng = np.random.default_rng(0)
    history = History(SMALL, (host, uno), random_inputs(0, 60, SMALL))
    for _ in range(HISTORIES):
        history.begin()
        for _ in range(STEPS):
            history.step(rng)
            history.check()
        assert len(history.taught) <= 5


def rejecting(room: int) -> IntegerChain:
    """Return a model whose decision needs the RBF of the nearest prototype or example."""
    model = teachable(room)
    return with_rules(model, IntegerRejection(rbf=40))


MODELS = {
    "fewer examples than voters": teachable(2),
    "one coordinate": teachable(6, projections=1, classes=2),
    "32 bits": with_large_labels(teachable(6, projections=4, classes=5)),
    "new classes": teachable(12, projections=7, classes=5, new_classes=2),
    "rejecting": rejecting(4),
    "39 examples": teachable(39, projections=12, features=14, classes=6),
    "25 coordinates": teachable(9, projections=25, features=30, prototypes=20, classes=12),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@each_model
def test_models_of_other_sizes(model: IntegerChain, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    with ExitStack() as stack:
        programs = [stack.enter_context(run(model, tmp_path)) for run in (on_host, on_uno)]
        History(model, programs, random_inputs(1, 200, model)).run(rng, 60)


def test_without_a_multiplier(tmp_path: Path) -> None:
    header = tmp_path / "no_multiplier.h"
    header.write_text("#include <avr/io.h>\n#undef __AVR_HAVE_MUL__\n")
    with on_uno(SMALL, tmp_path, "-include", str(header)) as uno:
        history = History(SMALL, (uno,), random_inputs(2, 60, SMALL))
        history.run(np.random.default_rng(2), 40)


def test_the_bound_holds_with_a_full_store(tmp_path: Path) -> None:
    model = teachable(39, projections=12, prototypes=40, features=20)
    Q = random_inputs(3, 200, model)
    with on_uno(model, tmp_path) as uno:
        history = History(model, (uno,), Q)
        history.begin()
        empty = uno.predicting_cycles(Q[0])
        history.predict(0)
        for turn in range(39):
            history.learn(turn % 4)
        full = uno.predicting_cycles(Q[0])  # all are near
        learning = uno.cycles(lambda: uno.learn(0))
    paths = paths_through(read_program(tmp_path / "serving.elf"), "pnn_predict")
    assert full <= paths.longest.cycles
    assert full - empty > 39 * 12 * 23  # each byte of the EEPROM stops the CPU
    assert paths.shortest.cycles <= empty
    assert learning < 80_000  # 5 ms, without writing: simavr writes at once


def prepared(programs: Sequence[Serving], seed: int, steps: int) -> History:
    """Return a history of so many steps, and then a prediction."""
    rng = np.random.default_rng(seed)
    history = History(SMALL, programs, random_inputs(seed, 60, SMALL))
    history.run(rng, steps)
    history.predict(int(rng.integers(60)))
    return history


def after(history: History, letter: str, label: int) -> Taught:
    """Return what is known after an operation."""
    if letter == "L":
        assert history.point is not None
        return history.taught.learn(history.point, label, history.room)
    return history.taught.forget(label) if letter == "F" else Taught.nothing(3)


@pytest.mark.parametrize("steps", [0, 4, 14, 30])
def test_a_cut_after_any_write_leaves_the_old_or_the_new_examples(
    host: Serving, steps: int
) -> None:
    history = prepared([host], steps, steps)
    before, old = host.store, history.taught
    for letter, label in [*product("LF", range(SMALL.n_classes)), ("A", 0)]:
        asked = bytes([label]) if letter != "A" else b""
        new = after(history, letter, label)
        reset(host, before)
        host.ask(letter, asked)
        assert host.stored == new
        for writes in range(MOST_WRITES + 1):
            reset(host, before)
            host.cut_after(writes)
            host.ask(letter, asked)
            cut = host.store
            known = teaching.recalled(SMALL, cut)
            assert known in ((old, new) if writes else (old,))
            check_cut_starts(host, cut, known)
        assert known == new


def reset(host: Serving, store: bytes) -> None:
    host.store = store
    host.start()


def check_cut_starts(host: Serving, cut: bytes, known: Taught) -> None:
    """Start where the power was cut, also if it is cut once more, and learn."""
    for writes in range(8):
        host.store = cut
        host.cut_after(writes)
        host.start()
        assert host.stored == known
    assert host.start() == len(known)
    assert host.counts() == [len(known), *known.counts(SMALL.n_classes)]
    assert host.learn(1) == 1
    assert host.counts() == [min(5, len(known) + 1), *host.stored.counts(SMALL.n_classes)]


def test_a_cut_at_any_cycle_leaves_the_old_or_the_new_examples(uno: Serving) -> None:
    rng, olds, news = np.random.default_rng(0), 0, 0
    history = prepared([uno], 0, 0)
    for _ in range(CUTS):
        letter = str(rng.choice(list("LLLLFA"), p=[0.23, 0.23, 0.22, 0.22, 0.08, 0.02]))
        label = int(rng.integers(SMALL.n_classes))
        history.predict(int(rng.integers(60)))
        new = after(history, letter, label)
        uno.cut_after(int(rng.integers(1, CYCLES[letter])))
        answered = uno.ask_until_cut(letter, bytes([label]) if letter != "A" else b"")
        found = uno.stored
        assert found in ((new,) if answered else (history.taught, new))
        olds, news = olds + (found == history.taught), news + (found == new)
        history.taught = found
        assert uno.start() == len(found)
        history.check()
    assert min(olds, news) > CUTS // 10


@pytest.mark.parametrize("which", ["host", "uno"])
def test_a_damaged_store_starts(which: str, request: pytest.FixtureRequest) -> None:
    program: Serving = request.getfixturevalue(which)
    history, rng = prepared([program], 5, 14), np.random.default_rng(5)
    whole, damaged = program.store, 0
    for turn in range(DAMAGES):
        store = bytearray(whole if turn % 4 else rng.bytes(len(whole)))
        for place in rng.integers(0, len(whole), int(rng.integers(0, 6))):
            store[place] = int(rng.integers(256))
        known = teaching.recalled(SMALL, bytes(store))
        damaged += known != history.taught
        program.store = bytes(store)
        assert program.start() == len(known)
        assert program.stored == known
        history.taught = known
        history.predict(turn % 60)
        history.learn(turn % 3)
        history.check()
        history.taught = teaching.recalled(SMALL, whole)
    assert damaged > DAMAGES // 3


def test_of_examples_in_all_slots_the_hidden_one_or_the_first_does_not_count(
    tmp_path: Path,
) -> None:
    layout, rng = teaching.store_of(SMALL), np.random.default_rng(6)
    points = rng.integers(-128, 128, (6, 3)).astype(np.int8)
    five, sixth = (
        teaching.stored(SMALL, Taught(points[rows], np.arange(6, dtype=np.uint8)[rows] % 3))
        for rows in (slice(0, 5), slice(5, 6))
    )
    crowded = bytearray(five)
    crowded[-layout.record :] = sixth[layout.header :][: layout.record]
    with on_host(SMALL, tmp_path) as fresh:  # whose free slot is still the first
        for hidden in (255, *range(6)):
            crowded[layout.hidden] = hidden
            known = teaching.recalled(SMALL, bytes(crowded))
            fresh.store = bytes(crowded)
            assert fresh.start() == len(known) == 5
            assert fresh.stored == known


def test_wear_is_spread_over_the_store(host: Serving) -> None:
    history = prepared([host], 0, 0)
    written: dict[int, int] = {}
    record = teaching.store_of(SMALL).record
    header = teaching.store_of(SMALL).header
    for turn in range(120):
        before = host.store
        history.predict(turn % 60)
        history.learn(0)
        if turn % 3 == 0:
            host.forget(0)
            history.taught = history.taught.forget(0)
        if turn % 10 == 0:
            host.start()
        pairs = enumerate(zip(before, host.store, strict=True))
        for slot in {(i - header) // record for i, (a, b) in pairs if a != b and i >= header}:
            written[slot] = written.get(slot, 0) + 1
    assert set(written) == set(range(6))
    assert max(written.values()) < 2.5 * min(written.values())


def test_what_cannot_be_learned(host: Serving, tmp_path: Path) -> None:
    with on_host(SMALL, tmp_path) as fresh:
        features = random_inputs(0, 1, SMALL)[0]
        assert fresh.learn(0) == 0  # before a prediction
        fresh.predict(features)
        assert fresh.learn(SMALL.n_classes) == 0
        assert fresh.learn(0) == 1
        for label in (SMALL.n_classes, 254, 255):
            fresh.forget(label)
        assert fresh.counts() == [1, 1, 0, 0]


def test_who_learns_before_starting_keeps_what_was_taught(host: Serving, tmp_path: Path) -> None:
    history = prepared([host], 7, 8)
    assert len(history.taught) > 1
    with on_host(SMALL, tmp_path) as fresh:
        fresh.store = host.store
        history.programs = (fresh,)
        fresh.predict(random_inputs(7, 60, SMALL)[0])
        history.point = coordinates(SMALL, random_inputs(7, 60, SMALL)[:1])[0]
        history.learn(1)
        history.check()


def test_another_models_store_stays_until_something_is_taught(host: Serving) -> None:
    history = prepared([host], 3, 8)
    foreign = bytearray(host.store)
    foreign[3] ^= 1
    host.store = bytes(foreign)
    assert host.start() == 0
    host.forget(0)
    host.forget_all()
    assert host.store == bytes(foreign)
    history.taught = Taught.nothing(3)
    history.predict(0)
    history.learn(1)
    history.check()


TWO = quantize(replace(random_model(projections=2, features=4, classes=4), teachable=3))


def test_the_first_class_is_replaced_on_the_host_and_in_c(tmp_path: Path) -> None:
    Q = random_inputs(0, 1, TWO)
    point = coordinates(TWO, Q)[0].astype(np.int8)
    with on_host(TWO, tmp_path) as program:
        for classes in permutations((0, 2, 3)):
            program.forget_all()
            program.start()
            known = Taught.nothing(2)
            for label in (*classes, 1):
                program.predict(Q[0])
                assert program.learn(label) == 1
                known = known.learn(point, label, room=3)
            assert sorted(known.classes.tolist()) == [1, 2, 3]
            assert program.stored == known
            assert program.counts() == [3, 0, 1, 1, 1]


def test_points_are_in_the_order_of_their_bytes() -> None:
    known = Taught(np.array([[-1, 0], [1, 0]], np.int8), np.zeros(2, np.uint8))
    assert known.learn([0, 0], 0, room=2).points[:, 0].tolist() == [-1, 0]
