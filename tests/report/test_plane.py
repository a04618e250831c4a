"""The names of classes in the picture of a model's space."""

from __future__ import annotations

import numpy as np

from protonn_edge.report.plane import _class_names

PLACES = np.array([[100.0, 50.0], [110.0, 55.0], [300.0, 52.0], [105.0, 60.0]])


def test_names_do_not_cover_one_another():
    names = _class_names(PLACES, np.arange(4), ("walking", "running", "idle", "climbing stairs"))
    assert {name: (x, y) for x, y, name in names} == {
        "walking": (100, 50),
        "idle": (300, 52),
        "running": (110, 68),
        "climbing stairs": (105, 86),
    }


def test_many_names_are_left_out():
    assert _class_names(np.zeros((7, 2)), np.arange(7), tuple("abcdefg")) == ()
