"""What is wrong in the generated code is seen on the emulated board, and nothing is written.

Each case spoils the C of a small model as a mistake in a template, a table or a register would.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from avr_tools import needs_emulated_avr
from command_line import assert_one_sentence, run, run_json, succeed
from dense_factory import random_dense_model
from extension_parts import additions
from forest_factory import random_forest_model
from linear_factory import random_linear_model
from model_factory import (
    random_model,
    random_pooling_model,
    random_window_model,
    window_features_of,
    with_points,
)

from protonn_edge.codegen.export import rendering
from protonn_edge.codegen.families.avr import family
from protonn_edge.codegen.projects import folder as project_folder
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.verification import tryout
from protonn_edge.device.connection import NoReplyError
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import resource, write_atomically

pytestmark = needs_emulated_avr


def small_pooling_model() -> Model:
    return random_pooling_model(average_pooling((12, 12), (12, 12), (4, 4)))


@dataclass(frozen=True)
class Fault:
    """What is wrong in a model's C: every `found`, a regular expression, becomes `put`."""

    model: Callable[[], Model]
    found: str
    put: str
    times: int = 0  # 0: wherever it is

    def in_text(self, text: str) -> str:
        spoilt, times = re.subn(self.found, self.put, text, count=self.times)
        assert times > 0, f"{self.found} is not in the code"
        assert spoilt != text
        return spoilt


FAULTS = {
    "bytes at another place": Fault(
        random_dense_model, r"lo8\(%\[values\]\)", "lo8(%[values] + 1)"
    ),
    "values that are not clipped": Fault(random_dense_model, r'"    ldi   r22, 255\\n"', '""'),
    "another entry of the exponential's table": Fault(random_model, r"\b60,   59,", "60,   60,"),
    "a distance shifted by one bit more": Fault(
        random_model, r'("    andi  r20, 0x0f\\n")', r'"    lsr   r20\\n" \1'
    ),
    "another weight": Fault(
        random_linear_model, r"(/\* input 0 \*/(?:\n.*){3}ldi   r22, \d+)", r"\1 + 1", 1
    ),
    "another bias": Fault(
        random_linear_model,
        r"(_add_0\(.*\n\{(?:\n.*sums\[0\];|.*\n.*\()\n.*(?:ldi   r22, |-)\d+)",
        r"\1 + 1",
    ),
    "comparisons the other way round": Fault(
        random_forest_model, r"brcs  (\.L(?:leaf|node)_)", r"brcc  \1"
    ),
    "leaves without a sign": Fault(random_forest_model, r"sub   (r\d), r25", r"add   \1, r25"),
    "sums that are not rounded": Fault(
        small_pooling_model, r'"    ldi   r22, 128\\n"', r'"    ldi   r22, 0\\n"'
    ),
    "one class too few": Fault(random_model, r"l < PNN_CLASSES;", "l < PNN_CLASSES - 1;"),
    "a register of zero that is not": Fault(random_model, "clr   __zero_reg__", "nop"),
    **{name: Fault(*fault) for name, fault in additions("faults").items()},
}


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fault], None]:
    """Return what spoils the C of all later builds and exports."""

    def spoil_with(fault: Fault) -> None:
        def spoilt(*arguments: Any) -> dict[str, str]:
            texts = render_c(*arguments)
            return {
                name: fault.in_text(text) if name.endswith("_model.c") else text
                for name, text in texts.items()
            }

        for module in (project_folder, rendering):
            monkeypatch.setattr(module, "render_c", spoilt)

    return spoil_with


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", FAULTS)
def test_build_refuses_wrong_code(
    name: str, tmp_path: Path, spoil: Callable[[Fault], None]
) -> None:
    save_model(FAULTS[name].model(), tmp_path / "model.npz")
    spoil(FAULTS[name])
    done = run("build", tmp_path / "model.npz", "-o", tmp_path / "project")
    assert_one_sentence(
        done, "emulated uno differs from the NumPy model at ", "expected", "got", exit_code=1
    )
    assert files_in(tmp_path / "project") == {}


def test_what_was_built_before_stays(tmp_path: Path, spoil: Callable[[Fault], None]) -> None:
    save_model(random_linear_model(), tmp_path / "model.npz")
    command = ("build", tmp_path / "model.npz", "-o", tmp_path / "project", "--json")
    tried = json.loads(run(*command).stdout)["tried"]
    assert tried == {"execution": "emulated uno", "n": 128, "mismatches": 0, "left_out": None}
    before = files_in(tmp_path / "project" / "firmware")
    spoil(FAULTS["another bias"])
    done = run(*command)
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["tried"]["mismatches"] == told["tried"]["n"] == 128
    assert "so nothing was written" in told["error"]
    assert files_in(tmp_path / "project" / "firmware") == before
    assert run(*command, "--no-try").exit_code == 0
    assert files_in(tmp_path / "project" / "firmware") != before


@pytest.mark.parametrize(
    ("kind", "execution"),
    [("arduino", "emulated uno"), ("platformio", "emulated uno"), ("c", "host C")],
)
def test_export_refuses_wrong_code(
    tmp_path: Path, spoil: Callable[[Fault], None], kind: str, execution: str
) -> None:
    save_model(random_linear_model(), tmp_path / "model.npz")
    command = ("export", tmp_path / "model.npz", f"--{kind}", tmp_path / "library")
    assert run_json(*command)["tried"] == {
        "execution": execution, "n": 20, "mismatches": 0, "left_out": None
    }  # fmt: skip
    before = files_in(tmp_path / "library")
    spoil(FAULTS["another bias"])
    told = f"({execution}) differs from the NumPy model at 20 of 20 test vectors (first vector"
    assert_one_sentence(run(*command), told, exit_code=1)
    assert files_in(tmp_path / "library") == before


def test_firmware_with_a_sensor_is_refused_if_its_classifier_is_wrong(
    tmp_path: Path, spoil: Callable[[Fault], None]
) -> None:
    window = with_points(window_features_of("mean,deviation", 20, 3), rate=50.0)
    save_model(random_window_model(window), tmp_path / "model.npz")
    command = ("build", tmp_path / "model.npz", "--sensor", "adxl345", "-o", tmp_path / "live")
    assert run_json(*command)["tried"]["mismatches"] == 0
    before = files_in(tmp_path / "live")
    spoil(FAULTS["a register of zero that is not"])
    done = run(*command)
    assert done.exit_code == 1
    assert "error: emulated uno differs from the NumPy model at " in done.stderr
    assert files_in(tmp_path / "live") == before
    assert run_json(*command, "--no-try")["tried"]["left_out"] == "--no-try is given"


def test_a_self_test_that_crashes_is_refused(
    tmp_path: Path, spoil: Callable[[Fault], None]
) -> None:
    save_model(random_linear_model(), tmp_path / "model.npz")
    begin = r"(void pnn_begin\(void\)\n\{)"
    spoil(Fault(random_linear_model, begin, r'\1\n    __asm__(".word 0xffff");'))
    done = run("export", tmp_path / "model.npz", "--arduino", tmp_path / "library")
    assert_one_sentence(done, "the library's self-test (emulated uno) stopped", exit_code=1)


def test_a_build_says_where_no_board_is_emulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise InputError("gcc is missing; install gcc")

    monkeypatch.setattr(family, "EmulatedBoard", missing)
    save_model(random_linear_model(), tmp_path / "model.npz")
    done = succeed("build", tmp_path / "model.npz", "-o", tmp_path / "project", "--json")
    assert "not tried: gcc is missing; install gcc" in done.stderr
    assert json.loads(done.stdout)["tried"] == {
        "execution": None, "n": 0, "mismatches": 0, "left_out": "gcc is missing; install gcc"
    }  # fmt: skip


def test_firmware_of_ones_own_need_not_have_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: object) -> None:
        raise NoReplyError("no device answered; is the firmware on the board?")

    monkeypatch.setattr(tryout, "open_session", silent)
    save_model(random_linear_model(), tmp_path / "model.npz")
    command = ("build", tmp_path / "model.npz", "-o", tmp_path / "project")
    assert_one_sentence(run(*command), "failed (no device answered) on emulated uno", exit_code=1)
    own = resource("firmware") / "main.c"
    text = f"{own.read_text('utf-8')}\n/* mine */\n"
    write_atomically(tmp_path / "project" / "firmware" / "main.c", text)
    assert "not tried: no device answered on emulated uno" in succeed(*command).output
