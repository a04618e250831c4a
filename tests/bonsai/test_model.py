"""The float models: their scores, what they refuse, and their files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from bonsai_factory import random_bonsai_model, random_kernel_model
from chains import replace
from kinds.bonsai import scores_of_tree
from model_factory import random_points

from protonn_edge.chain.head import matrices_of
from protonn_edge.chain.model import Model
from protonn_edge.errors import InputError

Make = Callable[..., Model]
both = pytest.mark.parametrize("make", [random_bonsai_model, random_kernel_model])


@both
@pytest.mark.parametrize(("classes", "depth"), [(2, 0), (2, 3), (5, 2)])
def test_scores_are_those_of_the_formula(make: Make, classes: int, depth: int) -> None:
    model = make(1, classes=classes, depth=depth)
    X = random_points(1, 50, 12)
    normalized = (X - model.normalizer.offset) * model.normalizer.scale
    expected = scores_of_tree(model, normalized)
    np.testing.assert_allclose(model.scores(X), expected, rtol=1e-9, atol=1e-12)
    assert (model.predict(X) == expected.argmax(axis=1)).all()
    assert (model.head.depth, model.n_classes) == (depth, classes)


def test_a_kernel_has_no_projection() -> None:
    model = random_kernel_model(features=12)
    assert set(matrices_of(model.head)) == {"W", "V", "T"}
    with pytest.raises(InputError, match="normalizer_scale: 11 features, expected 12"):
        replace(model, normalizer=random_kernel_model(features=11).normalizer)
