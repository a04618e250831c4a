"""`taught` keeps, restores and clears what a board was taught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chains import replace as with_numbers
from command_line import refusal, run, run_json
from model_factory import random_inputs, random_model

from protonn_edge.boards import load_board
from protonn_edge.chain.file import load_model, save_model
from protonn_edge.datasets.archive import packed
from protonn_edge.device import protocol
from protonn_edge.device import teaching as device
from protonn_edge.device.session import Session
from protonn_edge.emulator import EmulatedUno
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.kinds.protonn import teaching
from protonn_edge.kinds.protonn.prototypes.teaching import Taught
from protonn_edge.projects.project import Project, build
from protonn_edge.quantization import quantize

FLOATS = with_numbers(random_model(projections=3, features=6, classes=3), teachable=40)
MODEL = quantize(FLOATS)
Q = random_inputs(0, 20, MODEL)
CLASSES = np.array([0, 2, 2, 0, 2, 1], np.uint8)
STORE_BYTES = teaching.store_of(MODEL).size
TAUGHT = Taught(MODEL.coordinates(Q[:6]).astype(np.int8), CLASSES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("project")
    build(FLOATS, "uno", made)
    return made


@pytest.fixture(scope="module")
def uno(folder: Path) -> Iterator[EmulatedUno]:
    with EmulatedUno(Project(folder).compile(load_board("uno"))) as board:
        yield board


def refused(*arguments: object) -> str:
    return refusal(run("taught", *arguments))


def test_a_board_keeps_restores_and_clears(uno: EmulatedUno, folder: Path, tmp_path: Path) -> None:
    there, kept = ["--port", uno.url, "--project", folder], tmp_path / "taught.npz"
    with Session(uno.url) as session:
        for features, label in zip(Q[:6], CLASSES, strict=True):
            session.predict(features)
            device.learn(session, int(label))
    found = run_json("taught", *there, "-o", kept, "--clear")
    nothing = dict.fromkeys(MODEL.classes, 0)
    assert found == {"port": uno.url, "examples": 0, "room": 40, "classes": nothing}
    assert teaching.load_taught(kept, MODEL) == TAUGHT
    counts = dict(zip(MODEL.classes, [2, 1, 3], strict=True))
    assert run_json("taught", *there, "--restore", kept)["classes"] == counts
    again = tmp_path / "again.npz"
    assert run_json("taught", *there, "-o", again)["examples"] == 6
    assert teaching.load_taught(again, MODEL) == TAUGHT
    with Session(uno.url) as session:  # which resets the board
        scores = [session.predict(q, with_scores=True).scores for q in Q]
        assert np.array_equal(scores, teaching.with_taught(MODEL, TAUGHT).scores(Q))


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


def test_the_emulated_board_has_its_eeprom_in_a_file(folder: Path, tmp_path: Path) -> None:
    teaching.save_taught(tmp_path / "taught.npz", MODEL, TAUGHT)
    emulated = ["taught", "--project", folder, "--eeprom", tmp_path / "chip.eep"]
    assert "chip.eep does not exist" in refused(*emulated[1:])
    assert not (tmp_path / "chip.eep").exists()
    assert run_json(*emulated, "--restore", tmp_path / "taught.npz")["examples"] == 6
    content = (tmp_path / "chip.eep").read_bytes()
    assert content[:STORE_BYTES] == teaching.stored(MODEL, TAUGHT)
    assert run_json(*emulated, "-o", tmp_path / "again.npz", "--clear")["examples"] == 0
    nothing = run(*emulated, "-o", tmp_path / "again.npz")  # which the clear board has
    assert nothing.exit_code == 1
    assert "the board has no examples, so " in nothing.stderr
    assert teaching.load_taught(tmp_path / "again.npz", MODEL) == TAUGHT
    assert "--port and --eeprom cannot be used together" in run(*emulated, "--port", "none").stderr


def test_the_model_may_be_named(uno: EmulatedUno, tmp_path: Path) -> None:
    save_model(FLOATS, tmp_path / "model.npz")
    words = ["taught", tmp_path / "model.npz", "--port", uno.url, "--project", tmp_path]
    assert run_json(*words)["room"] == 40
    (tmp_path / "chip.eep").write_bytes(b"\xff" * 1024)
    elsewhere = refused(*words[1:2], "--project", tmp_path, "--eeprom", tmp_path / "chip.eep")
    assert "platformio.ini" in elsewhere


def test_a_store_that_is_partly_written_has_no_examples(uno: EmulatedUno) -> None:
    many = Taught(MODEL.coordinates(Q).astype(np.int8), np.arange(20, dtype=np.uint8) % 3)
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


@pytest.mark.parametrize(
    ("place", "count"), [(STORE_BYTES - 1, 2), (STORE_BYTES, 1), (0xFFFF, 16), (0, 17)]
)
def test_nothing_beyond_the_store_is_written(uno: EmulatedUno, place: int, count: int) -> None:
    with Session(uno.url) as session:
        before = device.read_store(session)
        with pytest.raises(CheckFailed, match=r"error 2 \(wrong length of payload\)"):
            session.ask(protocol.StoreRequest(place, b"\xaa" * count), protocol.StoreReply)
        assert device.read_store(session) == before


def test_the_last_byte_is_written(uno: EmulatedUno) -> None:
    with Session(uno.url) as session:
        for value in (b"\xaa", b"\xff"):
            request = protocol.StoreRequest(STORE_BYTES - 1, value)
            assert session.ask(request, protocol.StoreReply).content[-1:] == value


def test_a_file_of_another_model_is_refused(folder: Path, tmp_path: Path) -> None:
    other = quantize(with_numbers(random_model(projections=3, features=6, classes=3), teachable=3))
    teaching.save_taught(tmp_path / "taught.npz", other, Taught.nothing(3))
    words = ["--project", folder, "--port", "none", "--restore", tmp_path / "taught.npz"]
    assert "taught.npz has examples of a model other than the given one, " in refused(*words)


WRONG = {
    "points": TAUGHT.points.astype(float),
    "classes": TAUGHT.classes + np.uint8(9),
    "taught_model": np.array("another"),
    "more": np.array(1),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_is_none_is_refused(name: str, tmp_path: Path) -> None:
    contents = {"taught_model": np.array(MODEL.model_sha256)}
    contents |= {"points": TAUGHT.points, "classes": TAUGHT.classes, name: WRONG[name]}
    (tmp_path / "taught.npz").write_bytes(packed(contents))
    with pytest.raises(InputError, match="taught"):
        teaching.load_taught(tmp_path / "taught.npz", MODEL)


def test_pickled_examples_are_refused(tmp_path: Path) -> None:
    contents = {"taught_model": np.array(MODEL.model_sha256)}
    contents |= {"points": np.array([{}]), "classes": TAUGHT.classes}
    np.savez(tmp_path / "taught.npz", allow_pickle=True, **contents)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        teaching.load_taught(tmp_path / "taught.npz", MODEL)


def test_more_examples_than_the_room_are_refused(tmp_path: Path) -> None:
    many = Taught(np.zeros((41, 3), np.int8), np.zeros(41, np.uint8))
    teaching.save_taught(tmp_path / "taught.npz", MODEL, many)
    with pytest.raises(
        InputError, match="there are 41 taught examples, but the model has room for 40"
    ):
        teaching.load_taught(tmp_path / "taught.npz", MODEL)


def test_no_file_of_another_kind_is_overwritten(folder: Path, tmp_path: Path) -> None:
    save_model(FLOATS, tmp_path / "model.npz")
    words = ["--port", "none", "--project", folder, "-o", tmp_path / "model.npz"]
    assert "model.npz" in refused(*words)
    assert load_model(tmp_path / "model.npz").head.kind == "protonn"


def test_what_cannot_be_is_refused_in_a_sentence(folder: Path, tmp_path: Path) -> None:
    assert "no model was built in" in refused("--project", tmp_path, "--port", "none")
    there = ["--project", folder, "--port", "none"]
    assert "none" in refused(*there)
    both = run("taught", *there, "--clear", "--restore", "x.npz")
    assert both.exit_code == 2
    assert "--clear and --restore cannot be used together" in both.stderr


def test_a_model_without_room_is_refused(tmp_path: Path) -> None:
    build(random_model(projections=3, features=6, classes=3), "uno", tmp_path)
    words = ["--project", tmp_path, "--port", "none"]
    assert "train one with --classifier protonn and --teachable" in refused(*words)


def test_a_board_with_another_model_is_refused(uno: EmulatedUno, tmp_path: Path) -> None:
    build(with_numbers(FLOATS, teachable=3), "uno", tmp_path)
    said = refusal(run("taught", "--project", tmp_path, "--port", uno.url), exit_code=1)
    assert f"the device on {uno.url} runs model" in said
