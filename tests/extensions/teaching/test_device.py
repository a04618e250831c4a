"""Teaching the firmware of a project over its serial line."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from chains import replace as with_numbers
from model_factory import random_inputs, random_model

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.device.session import Session
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching import session as device
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

FLOATS = with_numbers(random_model(projections=3, features=6, classes=3), teachable=4)
MODEL = quantize(FLOATS)
Q = random_inputs(0, 20, MODEL)


@pytest.fixture(scope="module")
def uno() -> Iterator[EmulatedUno]:
    with trial_build(FLOATS, load_board("uno")) as trial, EmulatedUno(trial.elf) as board:
        yield board


def test_it_learns_once_for_each_prediction_and_keeps_it(uno: EmulatedUno) -> None:
    taught = Taught.nothing(3)
    with Session(uno.url) as session:
        with pytest.raises(CheckFailed, match="no prediction to learn"):
            device.learn(session, 0)
        for row, label in enumerate((0, 1, 2, 1, 1)):
            session.predict(Q[row])
            point = coordinates(MODEL, Q[row : row + 1])[0]
            taught = taught.learn(point, label, room=4)
            assert device.learn(session, label) == device.learn(session, label) == len(taught)
        assert teaching.recalled(MODEL, device.read_store(session)) == taught
    with Session(uno.url) as session:  # which resets the board
        expected = teaching.with_taught(MODEL, taught).scores(Q)
        found = [session.predict(q, with_scores=True).scores for q in Q]
        assert np.array_equal(found, expected)
        assert device.forget(session, 1) == int((taught.classes != 1).sum())
        assert teaching.recalled(MODEL, device.read_store(session)) == taught.forget(1)
        session.predict(Q[0])
        with pytest.raises(CheckFailed, match="or no class 3"):
            device.learn(session, 3)
        assert device.forget(session) == 0
        assert len(teaching.recalled(MODEL, device.read_store(session))) == 0
