"""Training goes on where a model is."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from chains import replace
from refusals import refused_by
from trainings import DIGITS, LOSSES, OPTIMIZERS, fit

from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.kinds.protonn.train.fitting import parameters_of
from protonn_edge.learn.objective import scores_of
from protonn_edge.model.file import model_bytes


@pytest.mark.parametrize("scores_are_logits", [False, True])
def test_parameters_give_the_models_scores(scores_are_logits: bool) -> None:
    model = fit(epochs=20, quantization_aware=False).to_model()
    parameters = parameters_of(model, scores_are_logits=scores_are_logits)
    X = model.normalizer.apply(DIGITS.X_test).astype(np.float32)
    scores = scores_of(parameters, X) * np.exp(parameters.sharpness)
    expected = model.scores(DIGITS.X_test)
    if scores_are_logits:
        np.testing.assert_allclose(scores, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    else:
        assert np.array_equal(scores.argmax(axis=1), expected.argmax(axis=1))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_it_begins_as_good_as_the_model(optimizer: str) -> None:
    loss = LOSSES.get("squared_error", {})
    model = fit(epochs=20, **loss).to_model()
    settings = {**OPTIMIZERS[optimizer], **loss, "epochs": 1}
    classifier = fit(**settings, initial_model=model)
    before = np.mean(model.predict(DIGITS.X_train) == DIGITS.y_train)
    assert classifier.history_[0].accuracy >= before - 0.01
    assert classifier.model_.normalizer is model.normalizer
    assert classifier.model_.head.n_prototypes == 30


def test_the_record_names_the_model() -> None:
    model = fit(epochs=1).to_model()
    record = fit(epochs=1, initial_model=model).to_model().record
    digest = hashlib.sha256(model_bytes(model)).hexdigest()
    assert record["settings"]["initial_model"] == f"model {digest}"


def test_a_model_of_other_data_is_refused() -> None:
    model = fit(epochs=1).to_model()
    with refused_by("learn.training_set"):
        ProtoNNClassifier(initial_model=model).fit(DIGITS.X_train, DIGITS.y_train > 4)
    with refused_by("learn.training_set"):
        ProtoNNClassifier(initial_model=model).fit(DIGITS.X_train[:, :32], DIGITS.y_train)


def test_labels_of_zeros_are_taken_as_they_are() -> None:
    model = replace(fit(epochs=1).to_model(), labels=np.zeros((10, 30)))
    assert parameters_of(model, scores_are_logits=True).sharpness == 0
