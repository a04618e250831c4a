"""A point far from all prototypes is far on the device, too, where its coordinates have no limits.

Squares of differences were taken for those within an RBF's radius of the prototypes, as if the
coordinates had been limited to that. Without a check in between, their sum left 16 bits and looked
near.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from avr_tools import needs_emulated_avr
from chains import numbers_of, protonn_chain
from measured_predictions import build_program, measure
from plans import plan_with

from protonn_edge.kinds.protonn.prototypes.integers import exponential_table
from protonn_edge.kinds.protonn.prototypes.kernels import checked_coordinates, coordinates_of
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain, named_stages

D = 9


def far_model() -> IntegerChain:
    """Return a model whose coordinates are 25 for the input 0, and whose prototypes are at -40."""
    return protonn_chain(
        inputs=InputQuantizer(np.zeros(1), np.ones(1), 1),
        projection=np.full((D, 1), -100, np.int8),
        bias=np.full(D, 60, np.int64),
        accumulator_bits=16,
        multiplier=30_000,
        offset=np.full(D, -2 << 16, np.int64),
        prototypes=np.full((D, 2), -40, np.int8),
        distance_shift=3,
        table=exponential_table(),
        labels=np.array([[3, 4], [5, -6]], np.int8),
        score_scale=1.0,
        classes=("one", "other"),
    )


def test_squares_are_those_of_all_inputs() -> None:
    model = far_model()
    assert not named_stages(model)["projection"].clamps
    places = named_stages(model)["projection"].run(np.array([[0], [1]], np.uint8))
    feed = named_stages(model)["prototypes"].feed
    for k, place in enumerate(coordinates_of(named_stages(model)["prototypes"])):
        differences = places[:, k, None] - numbers_of(model)["prototypes"][k]
        assert np.square(differences.astype(np.int64)).max() <= place.largest_square
        assert feed.low[k] <= places[:, k].min()
        assert places[:, k].max() <= feed.high[k]
    assert sum(checked_coordinates(named_stages(model)["prototypes"])) > 1


@needs_emulated_avr
def test_far_points_have_no_score(tmp_path: Path) -> None:
    model = far_model()
    Q = np.array([[0], [1]], np.uint8)
    assert not model.scores(Q[:1]).any()
    measured = measure(build_program(model, plan_with(model, "columns"), tmp_path), model, Q)
    assert (measured.scores == model.scores(Q)).all()
