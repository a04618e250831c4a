"""That the first example erases those of another model is said before."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chains import replace
from extensions.teaching.serving import on_host
from extensions.teaching.test_teacher import BEGIN, Line, live, named, sent, window
from model_factory import random_inputs, random_model

from protonn_edge.device.protocol import decode_frame, encode_message
from protonn_edge.extensions.teaching.board import stored
from protonn_edge.extensions.teaching.examples import ERASED, Taught
from protonn_edge.extensions.teaching.listener import TeachingListener
from protonn_edge.extensions.teaching.messages import StoreReply, StoreRequest, TaughtMessage
from protonn_edge.extensions.teaching.monitor import Labels
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.quantization import quantize

MODEL, OTHER = (
    replace(random_model(seed, projections=3, features=6, classes=3), teachable=4)
    for seed in (0, 1)
)


def store_of(floats: object) -> bytes:
    model = quantize(floats)  # type: ignore[arg-type]
    point = coordinates(model, random_inputs(0, 1, model)).astype(np.int8)
    return stored(model, Taught(point, np.array([1], np.uint8)))


def test_generated_c_knows_whose_examples_it_has(tmp_path: Path) -> None:
    with on_host(quantize(MODEL), tmp_path) as program:
        assert not program.has_others
        for content, others in ((store_of(OTHER), 1), (store_of(MODEL), 0)):
            program.store = content
            for changed, expected in ((content, others), (b"\xff" + content[1:], 0)):
                program.store = changed
                program.start()
                assert program.has_others == expected


@pytest.mark.parametrize(
    ("content", "warned"),
    [(b"\x01" + bytes(9), True), (b"\x01" + bytes(range(8)), False), (b"\xff" * 40, False)],
)
def test_who_teaches_is_warned(content: bytes, warned: bool) -> None:
    none = sent(live(), TaughtMessage(9, (0, 0)), *named("rest", "wave"))
    line = Line(none, sent(window(1)), sent(StoreReply(content)), sent(window(5)))
    teacher, told = TeachingListener(line, "there"), list[str]()  # type: ignore[arg-type]
    teacher.wait()
    assert line.requests == [decode_frame(encode_message(StoreRequest(), 0)[:-1])]
    Labels(teacher, told.append)
    assert told == [f"warning: {ERASED}"] * warned
    assert [answer.number for answer in teacher.receive(0.0)] == [1, 5]  # type: ignore[union-attr]


def test_a_board_with_examples_is_not_asked_for_its_store() -> None:
    line = Line(BEGIN)
    TeachingListener(line, "there").wait()  # type: ignore[arg-type]
    assert line.requests == []
