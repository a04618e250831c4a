"""Programs that were compiled with other flags than those that figures are for.

The generated C followed the flags of its project. With those of the Arduino IDE, or of a changed
platformio.ini, it took more cycles than its bound, and more stack than `build` had printed.
"""

from __future__ import annotations

from pathlib import Path

from avr_tools import needs_avr_gcc
from model_factory import random_window_model, window_features_of

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack
from protonn_edge.chips.boards import load_board
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.planner import make_plan
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.sampling import Sampling
from protonn_edge.extensions.sensing.sensor_projects import live_files
from protonn_edge.extensions.sensing.windowing import windowing_of
from protonn_edge.model.quantization import quantize
from protonn_edge.system.files import write_atomically

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
