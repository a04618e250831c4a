"""Generated C makes features of windows as the reference does, on the host and on the Uno."""

from __future__ import annotations

import numpy as np
import pytest
from avr_tools import needs_emulated_avr
from chains import replace
from generated_programs import (
    assert_equal_to_reference,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model_factory import (
    random_window_model,
    random_windows,
    scaled,
    tiny_windows_model,
    window_features_of,
    with_points,
)
from plans import plan_with
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.kernels.matvec.kernels import KernelName
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.features.window_features.windows import KINDS
from protonn_edge.model.features import Features
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

EVERY = "mean,deviation,min,max,change,crossings,bands"


def assert_host_c_equals_reference(
    model: IntegerChain, Q: np.ndarray, kernel: KernelName = "columns"
) -> None:
    with host_program(model, plan_with(model, kernel), sanitize=True) as program:
        assert_equal_to_reference(program, model, Q)


def test_features_and_not_only_scores_depend_on_every_sample() -> None:
    window_features = window_features_of(EVERY, 119, 2)
    Q = random_windows(1, 60, window_features)
    assert len(np.unique(quantize(random_window_model(window_features)).scores(Q), axis=0)) > 40


@st.composite
def window_stages(draw: st.DrawFn) -> Features:
    """Draw any features of windows of any length, and the scales of samples that are no bytes."""
    window = draw(st.integers(1, 256))
    channels = draw(st.integers(1, 4))
    kinds = draw(st.sets(st.sampled_from(KINDS), min_size=1))
    levels = window.bit_length() - 1
    kinds -= {"bands"} if levels == 0 else set()
    numbers = {
        "bands": f":{draw(st.integers(1, min(8, max(1, levels))))}",
        "crossings": f":{draw(st.integers(0, 127))}",
    }
    text = ",".join(kind + numbers.get(kind, "") for kind in sorted(kinds)) or "mean"
    return window_features_of(text, window, channels)


@given(window_stages(), st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_any_window_features_give_the_reference_scores(
    window_features: Features, seed: int
) -> None:
    try:
        model = quantize(random_window_model(window_features, seed))
    except InputError as error:  # too few features to tell the prototypes apart
        assume("the prototypes: a spread" not in str(error))
        assume("the weights of the projection: no integer scale" not in str(error))
        raise
    assert_host_c_equals_reference(model, random_windows(seed, 30, window_features))


@needs_emulated_avr
@pytest.mark.parametrize(
    ("name", "text"), [("attiny85", "mean,deviation,bands:2"), ("mega2560", EVERY)]
)
def test_other_chips_make_the_reference_features(name: str, text: str) -> None:
    """Without a multiplier, where the firmware holds all samples; and with longer calls."""
    window_features, board = window_features_of(text, 40, 2), load_board(name)
    model = random_window_model(window_features, projections=4, prototypes=6, classes=3)
    integer_model = quantize(model)
    Q = random_windows(3, 12, window_features)
    with trial_build(model, board) as trial, EmulatedUno(trial.elf, board=board) as chip:
        agreement, results = verify_device(name, chip.url, integer_model, Q)
    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
    assert (trial.plan.cycles is None) == (name == "attiny85")
    assert trial.possible.outside(results) == []


def test_a_plan_keeps_no_samples() -> None:
    for window in (8, 200):
        model = quantize(random_window_model(window_features_of("mean,max", window, 2)))
        plan = make_plan(model)
        assert plan.chunk_features == min(32, 2 * window)
        assert plan.buffered == (window == 8)  # so few fit what the firmware pushes at once


def test_the_hash_covers_the_features_and_not_the_rate() -> None:
    model = tiny_windows_model()
    window_features = model.features
    assert window_features is not None
    others = (
        window_features,
        with_points(window_features, rate=10.0),
        scaled(window_features, 1.0, 1.0),
        window_features_of("mean,deviation,max,change,bands:2", 9, 1),
    )
    hashes = [replace(model, features=each).model_sha256 for each in others]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_window_features_that_do_not_fit_are_refused() -> None:
    with refused_by("model.integer_stage"):
        replace(tiny_windows_model(), features=window_features_of("mean", 8, 5))
