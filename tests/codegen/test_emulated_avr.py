"""The generated C on the emulated AVR, inside of the real firmware: the same integers again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import numbers_of, replace
from generated_programs import (
    compile_with,
)
from model_factory import (
    random_images,
    random_inputs,
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
)

from protonn_edge.avr.program import read_program
from protonn_edge.boards import load_board
from protonn_edge.chain.features import Features
from protonn_edge.chain.integer_chain import named_stages
from protonn_edge.chain.model import Model
from protonn_edge.codegen import Plan, make_plan
from protonn_edge.device import Result
from protonn_edge.device.protocol import PredictRequest, encode_message
from protonn_edge.emulator import EmulatedUno
from protonn_edge.features.average_pooling.making import average_pooling
from protonn_edge.projects.folder import Project
from protonn_edge.projects.project import BuildOptions, build, trial_build
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
POOLINGS = [
    average_pooling((28, 28), (28, 28), (16, 16)),
    average_pooling((28, 28), (24, 24), (12, 12)),
    average_pooling((9, 11), (7, 8), (7, 3)),
    average_pooling((13, 14), (12, 12), (3, 4)),
    average_pooling((1, 140), (1, 140), (1, 35)),
    average_pooling((3, 300), (2, 280), (1, 200)),
]
DESKEWED = [
    average_pooling((28, 28), (24, 24), (12, 12), deskew=True),
    average_pooling((9, 11), (7, 8), (7, 3), deskew=True),
    average_pooling((32, 5), (30, 4), (10, 2), deskew=True),
]


@pytest.mark.parametrize("pooling", [*POOLINGS, *DESKEWED], ids=str)
def test_whole_firmware_pools_as_the_reference_does(pooling: Features) -> None:
    model = random_pooling_model(pooling, projections=12)
    Q = random_images(0, 12, pooling)
    Q[0], Q[1] = 0, 255
    assert_firmware_agrees(model, Q, BuildOptions())


@pytest.mark.parametrize("pooling", [None, *POOLINGS, *DESKEWED], ids=str)
def test_variables_take_the_bytes_that_the_plan_says(
    tmp_path: Path, pooling: Features | None
) -> None:
    model = quantize(random_model() if pooling is None else random_pooling_model(pooling))
    plan = make_plan(model)
    program = '#include "pnn_model.h"\nint main(void) { return 0; }\n'
    sections = read_program(compile_with(model, program, tmp_path, plan=plan)).sections
    assert sections.sram_bytes == plan.state_bytes


@pytest.mark.parametrize(
    "model",
    [
        random_model(6, features=40, projections=12, prototypes=20, classes=5),
        random_pooling_model(POOLINGS[2], projections=12),
        random_window_model(
            window_features_of("mean,deviation,min,max,change,crossings,bands", 40)
        ),
    ],
)
def test_portable_kernels_give_the_reference_scores_on_the_avr_too(
    tmp_path: Path, model: Model
) -> None:
    """What a chip without a multiplier runs, here with one, where the emulator knows the chip."""
    board = load_board("uno")
    build(model, board, tmp_path)
    integer_model = quantize(model)
    source = tmp_path / "firmware" / "generated" / "pnn_model.c"
    text = source.read_text()  # avr-libc defines the chip's macros again, so -U would do nothing
    assert text.count("#define PNN_ASSEMBLY\n") == 1
    source.write_text(text.replace("#define PNN_ASSEMBLY\n", ""))
    Q = random_inputs(6, 40, integer_model)
    with EmulatedUno(Project(tmp_path).compile(board), board=board) as uno:
        agreement, _ = verify_device("portable", uno.url, integer_model, Q)
    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first


def test_projections_that_leave_8_bits_are_clamped_and_agree() -> None:
    model = random_model(7, features=40, projections=4, prototypes=5, gamma_numerator=100.0)
    model = replace(model, prototypes=model.head.prototypes * np.float32(0.02))
    integer_model = quantize(model)
    assert named_stages(integer_model)["projection"].clamps
    board = load_board("uno")
    Q = random_inputs(7, 30, integer_model)
    Q[1:9] = np.where(
        numbers_of(integer_model)["projection"][[0, 1, 2, 3] * 2] > 0,
        integer_model.inputs.maximum,
        0,
    )
    with trial_build(model, board) as trial, EmulatedUno(trial.elf) as uno:
        agreement, _ = verify_device("emulated uno", uno.url, integer_model, Q)
    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
