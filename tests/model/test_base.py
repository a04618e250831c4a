"""What the base of models does for another kind of classifier, which only scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chains import replace
from numpy.typing import NDArray
from refusals import refused_by

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.kinds.protonn.head import protonn_head
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.head import Head, matrices_of, member, paper_bytes
from protonn_edge.model.model import Model, units_of, with_units_of
from protonn_edge.model.policy import with_rules
from protonn_edge.model.registry import HEADS
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.policy.label_sets.rule import LabelSets
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.system.errors import InputError

X = np.random.default_rng(0).normal(size=(30, 5)).round(1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Plane(Head):
    """Scores are W x."""

    kind = "plane"
    title = "plane"

    weights: NDArray[Any] = member("W", "L", "D")

    @property
    def values_a_point(self) -> int:
        return 1

    def scores(self, X: NDArray[Any]) -> NDArray[Any]:
        return X @ self.weights.T


def plane(**changes: Any) -> Model:
    fields: dict[str, Any] = {
        "head": Plane(weights=np.random.default_rng(1).normal(size=(3, 5))),
        "normalizer": Normalizer("standard", X.mean(axis=0), 1 / X.std(axis=0)),
        "inputs": InputStatistics.of(X),
        "classes": ("a", "b", "c"),
    }
    return Model(**(fields | changes))


def test_normalized_points_are_scored() -> None:
    model = plane()
    normalized = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(model.scores(X), normalized @ model.head.weights.T, atol=1e-12)
    assert np.array_equal(model.predict(X), model.scores(X).argmax(axis=1))


def test_without_prototypes_no_point_is_too_far() -> None:
    assert NO_CLASS not in with_rules(plane(), Rejection(rbf=0.9)).predict(X)
    assert set(with_rules(plane(), Rejection(score=1e9)).predict(X)) == {NO_CLASS}


def test_label_sets_are_those_above_the_threshold() -> None:
    model = with_rules(plane(), LabelSets(0.5))
    assert np.array_equal(model.predict(X), model.scores(X) >= 0.5)


def test_units_are_those_of_the_points() -> None:
    model = with_units_of(plane(), X)
    assert isinstance(model.head, Plane)
    assert units_of(model).tolist() == [1] * 5


@pytest.mark.parametrize(
    "changes",
    [
        {"classes": ("a", "b")},
        {"normalizer": Normalizer.identity(6)},
        {"raw_exponents": np.zeros(4, np.int64)},
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any]) -> None:
    with refused_by("model.model", "classes"):
        replace(plane(), **changes)


def test_the_base_alone_scores_nothing() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Head()


def test_another_kind_goes_through_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HEADS, "plane", Plane)
    model = plane()
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert isinstance(loaded.head, Plane)
    assert np.array_equal(loaded.scores(X), model.scores(X))
    assert paper_bytes(matrices_of(loaded.head).values()) == 4 * 15
    with pytest.raises(
        InputError,
        match="needs a model of the kind 'protonn', but the kind is 'plane'",
    ):
        protonn_head(loaded, "the converter")
