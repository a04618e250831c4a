"""Generated C makes features of windows as the reference does, on the host and on the Uno."""

from __future__ import annotations

from avr_tools import needs_emulated_avr
from chains import replace
from model_factory import (
    random_window_model,
    random_windows,
    scaled,
    tiny_windows_model,
    window_features_of,
    with_points,
)
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.planner import make_plan
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.model.quantization import quantize

EVERY = "mean,deviation,min,max,change,crossings,bands"


@needs_emulated_avr
def test_a_chip_with_longer_calls_makes_the_reference_features() -> None:
    window_features, board = window_features_of(EVERY, 40, 2), load_board("mega2560")
    model = random_window_model(window_features, projections=4, prototypes=6, classes=3)
    integer_model = quantize(model)
    Q = random_windows(3, 12, window_features)
    with trial_build(model, board) as trial, EmulatedUno(trial.elf, board=board) as chip:
        agreement, results = verify_device(board.name, chip.url, integer_model, Q)
    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
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
