"""A Pico learns over its serial line, in memory."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from extensions.pico.conftest import BOARD
from model_factory import random_inputs, random_model

from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.device.session import Session
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching import session as device
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

FLOATS = replace(random_model(projections=3, features=6, classes=3), teachable=4)


def test_it_learns_and_gives_its_examples_back() -> None:
    model = quantize(FLOATS)
    Q, taught = random_inputs(0, 20, model), Taught.nothing(3)
    points = coordinates(model, Q)
    with (
        trial_build(FLOATS, BOARD) as trial,
        family_of(BOARD).emulated(trial.elf, BOARD) as board,
        Session(board.url) as session,
    ):
        with pytest.raises(CheckFailed, match="no prediction to learn"):
            device.learn(session, 0)
        for row, label in enumerate((0, 1, 2, 1, 1)):
            session.predict(Q[row])
            taught = taught.learn(points[row], label, room=4)
            assert device.learn(session, label) == len(taught)
        assert teaching.recalled(model, device.read_store(session)) == taught
        expected = teaching.with_taught(model, taught).scores(Q)
        found = [session.predict(q, with_scores=True).scores for q in Q]
        assert np.array_equal(found, expected)
        assert device.forget(session, 1) == int((taught.classes != 1).sum())
        assert board.stats().faults == ()
