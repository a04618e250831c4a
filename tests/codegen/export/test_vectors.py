"""Test vectors show what a model does, and are told in few bytes."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from model_factory import random_gradients_model, random_inputs, random_model, random_points

from protonn_edge.codegen.export.self_test import (
    KnownAnswers,
    vectors_from_data,
    vectors_from_model,
)
from protonn_edge.codegen.verification.drawn_points import drawings, signals
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.model.device_model import with_integers
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize


def made(model: Model) -> tuple[IntegerChain, KnownAnswers]:
    device_model = with_integers(model)
    return device_model.chain, vectors_from_model(device_model)


def test_answers_are_the_integer_models(model: Model):
    reference, vectors = made(model)
    assert len(vectors) == 20
    assert np.array_equal(vectors.scores, reference.scores(vectors.inputs))
    assert np.array_equal(vectors.classes, reference.predict(vectors.inputs))


def test_vectors_without_data_reach_prototypes_and_both_ends(model: Model):
    reference, vectors = made(model)
    assert not vectors.inputs[0].any()
    assert vectors.inputs.max() == reference.quantizer.maximum
    answered = np.abs(vectors.scores).max(axis=1) > 0
    assert answered.sum() >= 10
    assert len(set(vectors.classes[answered].tolist())) >= 2


def test_the_same_model_gives_the_same_vectors(model: Model):
    assert np.array_equal(made(model)[1].inputs, made(model)[1].inputs)


@pytest.mark.parametrize(("n", "taken"), [(1, 1), (7, 7), (20, 20), (1000, 20)])
def test_points_of_data_are_spread_evenly(n: int, taken: int):
    reference = quantize(random_model())
    X = random_points(2, n, 12)
    vectors = vectors_from_data(reference, X)
    rows = [i * n // taken for i in range(taken)]
    assert len(vectors) == taken
    assert np.array_equal(vectors.inputs, reference.quantize(X[rows]))


def decoded(encoded: tuple[int, ...]) -> list[int]:
    values: list[int] = []
    places = iter(encoded)
    for value in places:
        values += [value] if value else [0] * next(places)
    return values


def test_runs_of_zeros_are_two_bytes_up_to_255():
    reference = quantize(random_model(features=700))
    Q = random_inputs(3, 6, reference)
    Q[1, 10:600] = 0
    vectors = KnownAnswers(Q, reference.scores(Q), reference.predict(Q), 2)
    assert [decoded(row) for row in vectors.encoded] == Q.tolist()
    assert vectors.encoded[0] == (0, 255, 0, 255, 0, 190)
    assert all(byte <= 255 for row in vectors.encoded for byte in row)


def test_as_many_vectors_are_kept_as_fit_but_at_least_one(model: Model):
    vectors = made(model)[1]
    sizes = [vectors.within(flash_bytes).flash_bytes for flash_bytes in range(0, 20_000, 500)]
    assert all(size <= room for size, room in zip(sizes[5:], range(2500, 20_000, 500), strict=True))
    assert all(before <= after for before, after in pairwise(sizes))
    assert len(vectors.within(0)) == 1


@pytest.mark.parametrize("deskew", [False, True])
def test_images_without_data_are_strokes_that_a_model_of_gradients_answers(deskew: bool):
    stage = gradient_features((12, 10), (12, 10), (4, 3), deskew=deskew)
    reference, vectors = made(random_gradients_model(stage))
    assert len(vectors) == 20
    assert not vectors.inputs[0].any()
    assert (vectors.inputs[1] == 255).all()
    drawn = vectors.inputs[2:]
    assert len(np.unique(drawn, axis=0)) == 18
    assert ((drawn == 0).mean(axis=1) > 0.2).all()
    assert (drawn.max(axis=1) > 200).all()
    assert (np.abs(vectors.scores[2:]).max(axis=1) > 0).all()
    assert len(set(vectors.classes[2:].tolist())) >= 2
    assert np.array_equal(vectors.scores, reference.scores(vectors.inputs))


def test_drawn_images_are_the_same_on_every_machine():
    images = drawings(28, 28, 3)
    assert hashlib.sha256(images.tobytes()).hexdigest()[:16] == "be127916110bbfeb"
    assert drawings(2, 32, 5).shape == (5, 64)


def test_signals_are_the_same_on_every_machine():
    windows = signals(16, 3, 4)
    assert windows.shape == (4, 48)
    assert hashlib.sha256(windows.tobytes()).hexdigest()[:16] == "8ac5899d335e8751"
