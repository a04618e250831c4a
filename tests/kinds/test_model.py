"""The float model of each kind: its scores, what it rejects, its file, and what that refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kinds.kind import kind_of, kinds_with_models, pairs_of
from model_factory import random_points

from protonn_edge.model.file import load_model, save_model
from protonn_edge.system.errors import InputError

every_kind = pytest.mark.parametrize("kind", ["protonn", *kinds_with_models()])


def test_a_kind_without_a_part_fails() -> None:
    with pytest.raises(AssertionError, match=r"tests/kinds/brand_new\.py"):
        kind_of("brand_new")


@every_kind
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_scores_are_those_of_the_formula(kind: str, classes: int) -> None:
    own = kind_of(kind)
    model = own.random_model(1, classes=classes)
    X = random_points(1, 50, 12)
    normalized = (X - model.normalizer.offset) * model.normalizer.scale
    expected = own.scores_of(model, normalized)
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-10, atol=1e-12)
    assert (model.predict(X) == expected.argmax(axis=1)).all()
    assert model.n_classes == classes


@pytest.mark.parametrize(("kind", "number"), pairs_of("damages", kinds_with_models()))
def test_a_damaged_array_is_one_sentence(kind: str, number: int, tmp_path: Path) -> None:
    own, path = kind_of(kind), tmp_path / "model.npz"
    name, array = own.damages[number]
    save_model(own.random_model(), path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays[name] = array
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value).startswith(str(path))
