"""A board's store is read and written over the serial line, and is whole or empty."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import replace
from chains import replace as with_numbers
from extensions.sensing.lines import live, sent
from model_factory import random_inputs, random_model

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard, EmulatedUno
from protonn_edge.codegen.projects.project import Project, build, trial_build
from protonn_edge.device import protocol
from protonn_edge.device.connection import LONGEST_REPLY_BYTES
from protonn_edge.device.session import Session
from protonn_edge.extensions.sensing.listener import AnswerStream
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching import messages
from protonn_edge.extensions.teaching import session as device
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.extensions.teaching.listener import TaughtStream
from protonn_edge.extensions.teaching.messages import StoreReply
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

FLOATS = with_numbers(random_model(projections=3, features=6, classes=3), teachable=40)
MODEL = quantize(FLOATS)
Q = random_inputs(0, 20, MODEL)
CLASSES = np.array([0, 2, 2, 0, 2, 1], np.uint8)
STORE_BYTES = teaching.store_of(MODEL).size
TAUGHT = Taught(coordinates(MODEL, Q[:6]).astype(np.int8), CLASSES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("project")
    build(FLOATS, "uno", made)
    return made


@pytest.fixture(scope="module")
def uno(folder: Path) -> Iterator[EmulatedUno]:
    with EmulatedUno(Project(folder).compile(load_board("uno"))) as board:
        yield board


def test_a_board_learns_forgets_and_takes_examples_back(uno: EmulatedUno) -> None:
    with Session(uno.url) as session:
        with pytest.raises(CheckFailed, match="no prediction to learn"):
            device.learn(session, 0)
        for count, (features, label) in enumerate(zip(Q[:6], CLASSES.tolist(), strict=True), 1):
            session.predict(features)
            assert device.learn(session, label) == device.learn(session, label) == count
        kept = device.read_store(session)
        assert teaching.recalled(MODEL, kept) == TAUGHT
        assert device.forget(session, 2) == int((CLASSES != 2).sum())
        assert teaching.recalled(MODEL, device.read_store(session)) == TAUGHT.forget(2)
        session.predict(Q[0])
        with pytest.raises(CheckFailed, match="or no class 3"):
            device.learn(session, 3)
        assert device.forget(session) == 0
        assert len(teaching.recalled(MODEL, device.read_store(session))) == 0
        device.write_store(session, kept)
    with Session(uno.url) as session:  # which resets the board
        scores = [session.predict(q, with_scores=True).scores for q in Q]
        assert np.array_equal(scores, teaching.with_taught(MODEL, TAUGHT).scores(Q))


def test_a_class_that_is_not_there_is_not_forgotten(uno: EmulatedUno) -> None:
    with Session(uno.url) as session:
        device.write_store(session, teaching.stored(MODEL, TAUGHT))
        assert [device.forget(session, label) for label in (3, 100, 254)] == [6, 6, 6]
        assert device.forget(session, 255) == 0


class Watched(Session):
    """Notes what is kept, and what an input scores, after each part that is written."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.kept: list[Taught] = []
        self.scores: list[Any] = []

    def ask(self, request: Any, kind: Any, policy: Any = None) -> Any:
        reply = super().ask(request, kind, policy)
        self.kept.append(teaching.recalled(MODEL, reply.content))
        self.scores.append(self.predict(Q[0], with_scores=True).scores)
        return reply


def test_a_store_that_is_partly_written_has_no_examples(uno: EmulatedUno) -> None:
    many = Taught(coordinates(MODEL, Q).astype(np.int8), np.arange(20, dtype=np.uint8) % 3)
    with Watched(uno.url) as session:
        device.write_store(session, teaching.stored(MODEL, TAUGHT))
        session.kept.clear()
        session.scores.clear()
        device.write_store(session, teaching.stored(MODEL, many))
        *between, last = session.kept
        assert len(between) == -(-STORE_BYTES // 16) + 1
        assert [len(each) for each in between] == [0] * len(between)
        assert last == many
        *between_scores, scores = session.scores
        assert set(between_scores) == {tuple(MODEL.scores(Q[:1])[0])}
        assert scores == tuple(teaching.with_taught(MODEL, many).scores(Q[:1])[0])


class ShortStore(protocol.Message, number=messages.STORE):
    """A STORE without a place, or with half of one, or with too many bytes."""

    content: protocol.Bytes = b""


@pytest.mark.parametrize(
    "request_",
    [
        *(
            messages.StoreRequest(place, b"\xaa" * count)
            for place, count in ((STORE_BYTES - 1, 2), (STORE_BYTES, 1), (0xFFFF, 16), (0, 17))
        ),
        *map(ShortStore, (b"", b"0", bytes(19), struct.pack("<H", 60_000) + b"1")),
    ],
    ids=str,
)
def test_nothing_beyond_the_store_is_written(uno: EmulatedUno, request_: protocol.Message) -> None:
    with Session(uno.url) as session:
        device.write_store(session, teaching.stored(MODEL, TAUGHT))
        before = device.read_store(session)
        with pytest.raises(CheckFailed, match=r"error 2 \(wrong length of payload\)"):
            session.ask(request_, messages.StoreReply)
        assert device.read_store(session) == before


def test_the_last_byte_is_written(uno: EmulatedUno) -> None:
    with Session(uno.url) as session:
        for value in (b"\xaa", b"\xff"):
            request = messages.StoreRequest(STORE_BYTES - 1, value)
            assert session.ask(request, messages.StoreReply).content[-1:] == value


MEGA = load_board("mega2560")


@needs_emulated_avr
def test_a_mega_keeps_200_examples() -> None:
    floats = replace(random_model(projections=5, features=6, classes=3), teachable=200)
    model, rng = quantize(floats), np.random.default_rng(0)
    points = rng.integers(-128, 128, (200, 5)).astype(np.int8)
    taught = Taught(points, rng.integers(0, 3, 200).astype(np.uint8))
    assert teaching.store_of(model).size > LONGEST_REPLY_BYTES
    with (
        trial_build(floats, MEGA) as trial,
        EmulatedBoard(trial.elf, board=MEGA) as board,
        Session(board.url, board=MEGA) as session,
    ):
        device.write_store(session, teaching.stored(model, taught))
        assert teaching.recalled(model, device.read_store(session)) == taught


def test_a_listener_reads_it_too() -> None:
    stream, content = AnswerStream(), bytes(range(256)) * 16
    stream.feed(live() + sent(StoreReply(content)))
    examples = stream.parts["teaching"]
    assert isinstance(examples, TaughtStream)
    assert examples.store == content
