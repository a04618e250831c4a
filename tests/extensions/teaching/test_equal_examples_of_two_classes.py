"""Which of two equal examples of different classes is replaced does not depend on their slots."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
from chains import replace
from extensions.teaching.serving import on_host
from model_factory import random_inputs, random_model

from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import coordinates
from protonn_edge.model.quantization import quantize

MODEL = quantize(replace(random_model(projections=2, features=4, classes=4), teachable=3))


def test_the_first_class_is_replaced_on_the_host_and_in_c(tmp_path: Path) -> None:
    Q = random_inputs(0, 1, MODEL)
    point = coordinates(MODEL, Q)[0].astype(np.int8)
    with on_host(MODEL, tmp_path) as program:
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
