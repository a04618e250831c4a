"""The same firmware under avr8js, which shares no code with simavr: the same scores and cycles."""

from __future__ import annotations

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from convolution_factory import random_images_of, random_layers
from convolution_factory import random_model as random_convolutional_model
from extension_parts import needs
from model_factory import (
    forms_in_place_of,
    random_images,
    random_inputs,
    random_model,
    random_points,
    random_pooling_model,
)

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.data.splits import load_digits_dataset
from protonn_edge.device import protocol
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.extensions import DeviceForm

OVERFLOW_CYCLES = 35

pytestmark = [needs_emulated_avr, needs("page")]


def assert_both_emulators_agree(
    avr8js, model: Model, Q: np.ndarray, form: DeviceForm | None = None
) -> list[int]:
    """Compare class, scores and cycles of every point; return the cycles."""
    board = load_board("uno")
    reference = quantize(model)
    if form is not None:
        reference = form.of(reference, model)
    with (
        trial_build(DeviceModel(model, reference), board) as trial,
        EmulatedUno(trial.elf, board=board) as uno,
    ):
        agreement, on_simavr = verify_device("simavr", uno.url, reference, Q)
        answers = avr8js(
            trial.elf.with_suffix(".hex"),
            [protocol.ScoresRequest(q.tobytes()) for q in Q],
        )
    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
    assert len(answers) == len(Q)
    for result, answer in zip(on_simavr, answers, strict=True):
        reply = answer.content
        assert isinstance(reply, protocol.ScoresReply)
        assert reply.scores == result.scores
        assert reply.label == result.predicted
        # The firmware's timer under one emulator and the other, and the marks, which have in them
        # what the timer's overflows take.
        assert reply.cycles == result.cycles
        overflows = (answer.cycles - reply.cycles) // OVERFLOW_CYCLES
        assert answer.cycles == reply.cycles + overflows * OVERFLOW_CYCLES
        assert 0 <= answer.cycles // 65_536 - overflows <= 1
    assert answers[-1].lost == 0
    return [answer.cycles for answer in answers]


def test_digits_take_the_same_cycles_to_the_same_scores(avr8js):
    dataset = load_digits_dataset()
    classifier = ProtoNNClassifier(n_projections=10, n_prototypes=40, epochs=5, random_state=0)
    classifier.fit(dataset.X_train, dataset.y_train)
    model = classifier.to_model(classes=dataset.classes)
    Q = quantize(model).quantize(dataset.X_test[:50])
    assert_both_emulators_agree(avr8js, model, Q)


def test_a_prediction_longer_than_the_timer_takes_the_same_cycles(avr8js):
    """Timer1 overflows on the way, so that interrupts and their response count too."""
    model = random_model(
        3, features=300, projections=21, prototypes=400, classes=9, gamma_numerator=0.4
    )
    Q = random_inputs(3, 5, quantize(model))
    assert min(assert_both_emulators_agree(avr8js, model, Q)) > 2 * 65_536


def test_images_that_are_pooled_take_the_same_cycles(avr8js):
    pooling = average_pooling((16, 15), (12, 14), (5, 6))
    model = random_pooling_model(pooling, projections=12)
    images = random_images(4, 20, pooling)
    assert_both_emulators_agree(avr8js, model, quantize(model).quantize(images))


def test_layers_of_convolutions_take_the_same_cycles(avr8js):
    stage = random_layers()
    model = random_convolutional_model(stage)
    images = random_images_of(4, 20, stage)
    assert_both_emulators_agree(avr8js, model, quantize(model).quantize(images))


@pytest.mark.parametrize("form", forms_in_place_of(random_model()), ids=lambda form: form.choice)
def test_another_form_takes_the_same_cycles(avr8js, form):
    """In floats, it runs through the library's routines, and many overflows of the timer."""
    model = random_model(5, features=30, projections=8, prototypes=20)
    Q = quantize(model).quantize(random_points(5, 10, 30))
    assert_both_emulators_agree(avr8js, model, Q, form)


def test_it_introduces_itself_by_the_model(avr8js):
    model = random_model()
    with trial_build(model, load_board("uno")) as trial:
        (answer,) = avr8js(trial.elf.with_suffix(".hex"), [protocol.HelloRequest()])
    assert isinstance(answer.content, protocol.HelloReply)
    assert answer.content.model_hash.hex() == quantize(model).model_sha256[:16]
    assert answer.spans == 0
