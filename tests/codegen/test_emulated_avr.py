"""The generated C on the emulated AVR, inside of the real firmware: the same integers again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from model_factory import (
    random_images,
    random_inputs,
    random_model,
    random_pooling_model,
)

from protonn_edge.boards import load_board
from protonn_edge.chain.features import Features
from protonn_edge.chain.model import Model
from protonn_edge.codegen import Plan
from protonn_edge.device import Result
from protonn_edge.device.protocol import PredictRequest, encode_message
from protonn_edge.emulator import EmulatedUno
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.projects.project import BuildOptions, trial_build
from protonn_edge.quantization import quantize
from protonn_edge.verification.agreement import open_session, verify_device

pytestmark = needs_emulated_avr


@pytest.mark.parametrize(
    ("seed", "features", "projections", "prototypes", "classes", "gamma_numerator"),
    [
        (0, 1, 1, 1, 2, 2.5),
        (1, 300, 10, 40, 10, 2.5),
        (2, 33, 21, 60, 26, 1.0),
        (3, 200, 9, 30, 3, 16.0),
        (4, 12, 3, 2, 2, 0.2),
    ],
)
def test_whole_firmware_gives_the_reference_scores(
    seed: int,
    features: int,
    projections: int,
    prototypes: int,
    classes: int,
    gamma_numerator: float,
) -> None:
    model = random_model(
        seed,
        features=features,
        projections=projections,
        prototypes=prototypes,
        classes=classes,
        gamma_numerator=gamma_numerator,
    )
    assert_firmware_agrees(model, random_inputs(seed, 40, quantize(model)))


def assert_firmware_agrees(
    model: Model, Q: np.ndarray, options: BuildOptions | None = None
) -> Plan:
    """Compare the scores with the reference's, cycles and stack with the emulator's."""
    board, integer_model = load_board("uno"), quantize(model)
    with (
        trial_build(model, board, options=options) as trial,
        EmulatedUno(trial.elf, board=board) as uno,
    ):
        agreement, results = verify_device("emulated uno", uno.url, integer_model, Q)
        before = uno.stats().marked_cycles
        with open_session(uno.url, integer_model) as session:
            alone = [session.predict(row).cycles for row in Q]
        stats = uno.stats()
        marked = stats.marked_cycles - before
    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
    sent = sum(len(encode_message(PredictRequest(bytes(row)), 0)) for row in Q)
    assert_cycles_are_the_emulators(alone, marked, results, sent)
    assert stats.stack_bytes <= trial.usage.stack_bytes
    assert (stats.faults, stats.overruns) == ((), 0)
    assert isinstance(trial.plan, Plan)
    return trial.plan


def assert_cycles_are_the_emulators(
    alone: list[int], marked: int, results: Sequence[Result], sent: int
) -> None:
    """Compare what the firmware says with the emulator's marks, one request in flight or more.

    Those of the `sent` bytes that arrive while features are pushed, and overflows of the timer, are
    interrupts.
    """
    assert [result.cycles for result in results] == alone
    interrupted = marked - sum(alone)
    most = marked // 65_536
    assert any(
        interrupted == overflows * OVERFLOW_CYCLES + received * RECEIVING_CYCLES
        for overflows in range(most + 1)
        for received in range(sent + 1)
    )


OVERFLOW_CYCLES = 35  # of the timer's interrupt
RECEIVING_CYCLES = 57  # of a byte's
# All others are in `conformance`, without the firmware around them.
POOLINGS = [
    average_pooling((28, 28), (24, 24), (12, 12)),
    average_pooling((3, 300), (2, 280), (1, 200)),
    average_pooling((28, 28), (24, 24), (12, 12), deskew=True),
]


@pytest.mark.parametrize("pooling", POOLINGS, ids=str)
def test_whole_firmware_pools_as_the_reference_does(pooling: Features) -> None:
    model = random_pooling_model(pooling, projections=12)
    Q = random_images(0, 12, pooling)
    Q[0], Q[1] = 0, 255
    assert_firmware_agrees(model, Q, BuildOptions())
