"""A FORGET of a class that the model does not have leaves the examples of the others."""

from __future__ import annotations

import numpy as np
from chains import replace
from model_factory import random_inputs, random_model

from protonn_edge.boards import load_board
from protonn_edge.build.project import trial_build
from protonn_edge.device import teaching
from protonn_edge.device.session import Session
from protonn_edge.emulator import EmulatedUno
from protonn_edge.quantization import quantize

FLOATS = replace(random_model(projections=3, features=6, classes=3), teachable=4)


def test_it_forgets_nothing() -> None:
    Q = random_inputs(0, 2, quantize(FLOATS))
    with (
        trial_build(FLOATS, load_board("uno")) as trial,
        EmulatedUno(trial.elf) as uno,
        Session(uno.url) as session,
    ):
        for label, features in enumerate(np.asarray(Q)):
            session.predict(features)
            teaching.learn(session, label)
        assert [teaching.forget(session, label) for label in (3, 100, 254)] == [2, 2, 2]
        assert [teaching.forget(session, label) for label in (1, 255)] == [1, 0]
