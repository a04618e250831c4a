"""The defaults suit small tables: prototypes spread no further than integers cover.

A classifier of one ordinary feature was refused when its training was done: of 32 prototypes in one
dimension, each close to its neighbours, the first and the last were 33 RBF widths apart.
"""

from __future__ import annotations

import extension_parts
import numpy as np
import pytest

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.rejection.held_out import calibrate_rejection

GENERATOR = np.random.default_rng(1)
NOISE = GENERATOR.normal(0, 1, 300)
TABLES = {
    "temperatures": 21 + NOISE,
    "uniform": GENERATOR.random(300),
    "few whole numbers": np.rint(2 * NOISE),
    "steps": 100 * np.rint(NOISE) + GENERATOR.normal(0, 1e-3, 300),
    "two values": (NOISE > 0).astype(float),
    "far outliers": np.where(np.arange(300) % 100 == 3, 1e4, NOISE),
}


@extension_parts.needs("one_class")
@pytest.mark.parametrize("table", TABLES)
def test_one_class_of_one_feature_has_integers(table: str) -> None:
    X = TABLES[table][:, None].astype(np.float32)
    classifier = ProtoNNClassifier(one_class=True, random_state=0).fit(X)
    calibrate_rejection(classifier, X, np.zeros(len(X)), rate=0.05, by=["distance"])
    integers = quantize(classifier.to_model())
    rejected = integers.predict(integers.quantize(X)) == NO_CLASS
    assert rejected.mean() < 0.2


@extension_parts.needs("one_class")
def test_temperatures_unlike_the_usual_ones_are_unknown() -> None:
    X = TABLES["temperatures"][:, None].astype(np.float32)
    classifier = ProtoNNClassifier(one_class=True, random_state=0).fit(X)
    calibrate_rejection(classifier, X, np.zeros(len(X)), rate=0.05, by=["distance"])
    integers = quantize(classifier.to_model())
    strange = np.array([[14.0], [16.0], [26.0], [28.0]], np.float32)
    assert (integers.predict(integers.quantize(strange)) == NO_CLASS).all()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("n", [10, 300])
def test_two_classes_of_one_feature_have_integers(table: str, n: int) -> None:
    X = TABLES[table][:n, None].astype(np.float32)
    classifier = ProtoNNClassifier(epochs=10, random_state=0).fit(X, np.arange(n) % 2)
    quantize(classifier.to_model())
