"""Programs that were compiled with other flags than those that figures are for.

The generated C followed the flags of its project. With those of the Arduino IDE, or of a changed
platformio.ini, it took more cycles than its bound, and more stack than `build` had printed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc, needs_emulated_avr
from convolution_factory import random_images_of, random_model
from linear_factory import random_chain
from measured_predictions import bounds_of, build_program, measure
from model_factory import random_window_model, random_windows, window_features_of

from protonn_edge.avr.program import read_program
from protonn_edge.avr.stack import worst_case_stack
from protonn_edge.boards import load_board
from protonn_edge.codegen import make_plan
from protonn_edge.codegen.planner import plan_of
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.quantization import IntegerChain, quantize
from protonn_edge.sensors import sensor_kind
from protonn_edge.sensors.sampling import Sampling
from protonn_edge.sensors.sensor_projects import live_files
from protonn_edge.sensors.windowing import windowing_of
from protonn_edge.system.files import write_atomically
from protonn_edge.toolchain.platformio import build_firmware

UNO = load_board("uno")


def stack_at(level: str, files: dict[str, str], folder: Path) -> int:
    """Return the bytes of stack of a project with this level in its platformio.ini."""
    settings = files["platformio.ini"]
    assert "    -O2\n" in settings
    for name, text in (files | {"platformio.ini": settings.replace("-O2\n", f"{level}\n")}).items():
        write_atomically(folder / name, text)
    return worst_case_stack(read_program(build_firmware(folder, UNO.environment))).bytes


@needs_avr_gcc
def test_live_firmware_has_the_same_stack_at_another_level(tmp_path: Path) -> None:
    model = random_window_model(window_features_of("mean,min,max,bands:3", 32, 6))
    sampling = Sampling.of([sensor_kind("mpu6050")], 100.0, UNO)
    windowing = windowing_of(quantize(model), model.feature_names, sampling)
    files = live_files(windowing, make_plan(windowing.model))
    stacks = {level: stack_at(level, files, tmp_path / level) for level in ("-O2", "-O1")}
    assert stacks["-O1"] == stacks["-O2"]


def bands_before_linear_scores() -> tuple[IntegerChain, np.ndarray, dict[str, str]]:
    windows = window_features_of("bands:3", 16, 3)
    chain = random_chain(0, rows=3, features=windows.n_outputs, bits=24)
    plan = {"feeding": "streamed", "linear": "unrolled"}
    return replace(chain, features=windows), random_windows(0, 4, windows), plan


def averages_of_averages() -> tuple[IntegerChain, np.ndarray, dict[str, str]]:
    layers = (
        IntegerPooling((9, 10, 8), (3, 2), "average", 255),
        IntegerPooling((3, 5, 8), (3, 5), "average", 255),
    )
    stage = layered(layers)
    return quantize(random_model(stage)), random_images_of(9, 4, stage), {"linear": "columns"}


@needs_emulated_avr
@pytest.mark.parametrize(
    ("level", "made"),
    [("-O1", bands_before_linear_scores), ("-Os -flto", averages_of_averages)],
)
def test_cycles_keep_their_bound_at_another_level(
    tmp_path: Path, level: str, made: Callable[[], tuple[IntegerChain, np.ndarray, dict[str, str]]]
) -> None:
    chain, Q, choices = made()
    plan = plan_of(chain, choices)
    elf = build_program(chain, plan, tmp_path, level)
    measured = measure(elf, chain, Q)
    assert (measured.scores == chain.scores(Q)).all()
    assert measured.cycles.max() <= bounds_of(elf, plan).longest.cycles
