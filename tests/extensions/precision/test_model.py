"""The float build's numbers: the float model's, but for bytes as inputs."""

from __future__ import annotations

import numpy as np
import pytest
from chains import replace
from model_factory import random_model, random_points, random_pooling_model
from refusals import refused_by

from protonn_edge.extensions.precision.model import float_build, in_floats
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.model.quantization import quantize


def test_scores_are_those_of_the_float_model_at_what_the_bytes_stand_for():
    model = random_model(1, features=20)
    floats = float_build(model)
    Q = floats.quantize(random_points(1, 50, 20))
    expected = model.scores(floats.inputs.restore(Q))
    assert np.allclose(floats.scores(Q) * floats.score_scale, expected, atol=1e-5)
    assert (floats.predict(Q) == expected.argmax(axis=1)).all()


def test_prototypes_beyond_the_cutoff_count_as_little_as_in_the_float_model():
    model = replace(random_model(1, features=20), cutoff=1 / 128)
    floats = float_build(model)
    Q = floats.quantize(random_points(1, 200, 20))
    expected = model.scores(floats.inputs.restore(Q))
    assert floats.own_stages[0].limit == pytest.approx(np.log(128))
    assert np.allclose(floats.scores(Q) * floats.score_scale, expected, atol=1e-4)


def test_it_takes_the_bytes_of_the_integer_model_and_has_another_hash():
    model = random_model(2)
    floats, integers = float_build(model), quantize(model)
    X = random_points(2, 30, 12)
    assert (floats.quantize(X) == integers.quantize(X)).all()
    assert floats.model_sha256 != integers.model_sha256
    assert floats.model_bytes == 4 * integers.model_bytes


def test_scores_use_24_bits_whatever_the_labels_are():
    for factor in (1e-6, 1.0, 1e6):
        model = random_model(3)
        model = replace(model, labels=model.head.labels * np.float32(factor))
        floats = float_build(model)
        assert 1 << 23 <= np.abs(floats.own_stages[0].labels).sum(axis=1).max() <= 1 << 24


def test_average_pooling_is_refused():
    model = random_pooling_model(average_pooling((8, 8), (8, 8), (4, 4)))
    with refused_by("extensions.precision.model"):
        float_build(model)


def test_numbers_beyond_a_float_are_refused():
    model = random_model(4)
    integer_model = quantize(model)
    far = model.head.prototypes * np.float32(1e30)
    distant = replace(model, prototypes=far, gamma=1e15)
    with refused_by("extensions.precision.model"):
        in_floats(integer_model, distant)


def test_the_hash_depends_on_every_number():
    floats = float_build(random_model())
    (stage,) = floats.own_stages
    changed = [
        replace(stage, **{name: getattr(stage, name) + np.float32(1)})
        for name in ("projection", "bias", "prototypes", "labels", "limit")
    ]
    zero = replace(floats.inputs, zero=floats.inputs.zero + 1)
    others = [replace(floats, own_stages=(each,)) for each in changed]
    others.append(replace(floats, score_scale=2 * floats.score_scale))
    others.append(replace(floats, inputs=zero))
    others.append(replace(floats, classes=floats.classes[::-1]))
    assert len({each.model_sha256 for each in (floats, *others)}) == 9
