"""The integers of each kind: what each step of the way there costs, and that there is one way."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds.kind import Kind, kind_of, kinds_with_models
from model_factory import random_points
from refusals import refused_by

from protonn_edge.model.quantization import quantize, stage_losses
from protonn_edge.model.statistics import Normalizer

every_kind = pytest.mark.parametrize("kind", ["protonn", *kinds_with_models()])


@every_kind
def test_the_error_of_each_step_is_told(kind: str) -> None:
    own = kind_of(kind)
    model = own.random_model(3)
    X = random_points(3, 300, 12).astype(np.float32)
    losses = stage_losses(model, X, model.predict(X))
    assert tuple(loss.stage for loss in losses) == tuple(own.steps)
    assert losses[0].accuracy == 1
    assert losses[-1].accuracy > own.agreement


@every_kind
@given(
    seed=st.integers(0, 10_000),
    features=st.integers(2, 150),
    classes=st.integers(2, 12),
    sizes=st.data(),
)
@settings(max_examples=15, deadline=None)
def test_scores_are_near_those_of_the_float_model(
    kind: str, seed: int, features: int, classes: int, sizes: st.DataObject
) -> None:
    own = kind_of(kind)
    model = own.random_model(seed, features=features, classes=classes, **drawn_sizes(own, sizes))
    integers = quantize(model)
    X = np.clip(random_points(seed, 300, features), model.inputs.lower, model.inputs.upper)
    expected = model.scores(X)
    errors = integers.scores(integers.quantize(X)) * integers.score_scale - expected
    spread = np.sqrt(np.mean(np.square(expected - expected.mean(axis=0))))
    if own.has_branches:  # near one, both need not go the same way
        assert np.median(np.abs(errors)) < 0.1 * spread
    else:
        assert np.sqrt(np.mean(np.square(errors))) < 0.15 * spread


def drawn_sizes(kind: Kind, sizes: st.DataObject) -> dict[str, object]:
    """Draw the sizes that random models of a kind have of their own."""
    return {name: sizes.draw(st.sampled_from(values)) for name, values in kind.sizes.items()}


@every_kind
@given(seed=st.integers(0, 10_000), classes=st.integers(2, 12), sizes=st.data())
@settings(max_examples=20, deadline=None)
def test_every_input_is_within_the_proven_range(
    kind: str, seed: int, classes: int, sizes: st.DataObject
) -> None:
    own = kind_of(kind)
    model = own.random_model(seed, classes=classes, **drawn_sizes(own, sizes))
    integers = quantize(model)
    Q = np.random.default_rng(seed).integers(0, 256, (600, 12)).astype(np.uint8)
    Q[:300] = 255 * (Q[:300] & 1)
    scores = integers.scores(np.minimum(Q, integers.inputs.maximum))
    (low, high), bits = integers.own_stages[-1].output.ends, integers.own_stages[-1].output.bits
    assert -(1 << (bits - 1)) <= low <= scores.min()
    assert scores.max() <= high < 1 << (bits - 1)


@every_kind
def test_what_has_no_integers_is_refused(kind: str) -> None:
    own = kind_of(kind)
    model = own.random_model()
    for name, more in own.without_integers.items():
        given = getattr(model.head, name)
        arrays = given if isinstance(given, tuple) else (given,)
        changed = (*arrays[:-1], arrays[-1] + more if more else np.zeros_like(arrays[-1]))
        with refused_by(
            f"kinds.{own.folder or kind}.quantize",
            f"extensions.research.kinds.{own.folder or kind}.quantize",
        ):
            quantize(replace(model, **{name: changed if given is arrays else changed[0]}))
    with refused_by("model.quantization"):
        quantize(replace(model, normalizer=Normalizer("l2", np.zeros(12), np.ones(12))))
