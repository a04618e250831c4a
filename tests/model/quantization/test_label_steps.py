"""How many steps labels have follows from the error of scores, not from a least number of steps."""

from __future__ import annotations

import numpy as np
import pytest
from chains import numbers_of, replace
from model_factory import random_model

from protonn_edge.kinds.protonn.quantize import widths_for
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize

CLASSES, EACH = 3, 80
FAINT = (1.0, *(0.0107,) * 15)


def crowded_model(*votes: float) -> Model:
    """Return a model of three classes, each with 80 prototypes at the same place.

    Prototypes of a class vote for it, in turn, by these votes.
    """
    model = random_model(classes=CLASSES, prototypes=CLASSES * EACH, projections=3)
    class_of = np.arange(CLASSES * EACH) % CLASSES
    own = np.eye(CLASSES, dtype=np.float32)[:, class_of]
    shares = np.resize(np.repeat(np.float32(votes), CLASSES), CLASSES * EACH)
    places = 4 / model.head.gamma * np.eye(CLASSES, dtype=np.float32)
    return replace(model, prototypes=places[:, class_of], labels=own * shares)


def test_few_steps_are_enough_for_labels_that_they_represent() -> None:
    integers = quantize(crowded_model(1.0))
    assert integers.own_stages[-1].output.bits == 16
    assert 3 <= numbers_of(integers)["labels"].max() < 10


def test_few_steps_are_not_enough_for_labels_between_them() -> None:
    """The faint votes would be rounded to 0, but together they are an eighth of a score."""
    integers = quantize(crowded_model(*FAINT))
    assert (integers.own_stages[-1].output.bits, numbers_of(integers)["labels"].max()) == (32, 127)


@pytest.mark.parametrize("votes", [(1.0,), FAINT, (1.0, 0.5, 0.25)])
def test_integer_scores_have_the_proportions_of_the_floats(votes: tuple[float, ...]) -> None:
    model = crowded_model(*votes)
    integers = quantize(model)
    generator = np.random.default_rng(0)
    low, high = model.inputs.lower, model.inputs.upper
    X = (low + (high - low) * generator.random((500, len(low)))).astype(np.float32)
    floats, scores = model.scores(X), integers.scores(integers.quantize(X)) * integers.score_scale
    spread = np.sqrt(floats.var(axis=0).mean())
    assert np.sqrt(np.square(scores - floats).mean()) < 0.1 * spread


def test_labels_of_a_usual_model_have_the_finest_steps_that_fit_16_bits() -> None:
    model = random_model(prototypes=80)
    integers = quantize(model)
    assert integers.own_stages[-1].output.bits == 16
    assert 24 < widths_for(model).label_maximum < 127


def test_coarse_labels_keep_the_steps_of_the_training() -> None:
    """Other steps, even finer ones, would round most labels to other values than were trained."""
    model = random_model(prototypes=80, gamma_numerator=0.4)
    known = np.rint(model.head.labels * (29 / np.abs(model.head.labels).max())) / 29
    trained = quantize(replace(model, labels=known.astype(np.float32)))
    labels = numbers_of(trained)["labels"].astype(np.float64)
    assert np.allclose(labels / labels.max(), known / known.max(), atol=1e-6)
