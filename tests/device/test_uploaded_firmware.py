"""`pio run -t upload` puts a built model on the emulated board; the harness then talks to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest
from avr_tools import needs_uploads
from extension_parts import needs
from model_factory import random_inputs, random_model
from refusals import refused_by
from uploads import UPLOAD_DEADLINE_S, upload_patiently

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.platformio import run_pio
from protonn_edge.codegen.projects.project import build
from protonn_edge.codegen.verification.agreement import open_session, verify_device
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed

pytestmark = needs_uploads


@pytest.mark.parametrize("link", ["tcp", pytest.param("pty", marks=pytest.mark.nightly)])
def test_uploaded_firmware_answers_with_the_reference_scores(
    tmp_path: Path, link: Literal["tcp", "pty"]
) -> None:
    model = random_model()
    build(model, load_board("uno"), tmp_path)
    integer_model = quantize(model)
    Q = random_inputs(0, 50, integer_model)
    with EmulatedUno(None, bootloader=True, link=link) as uno:
        upload = ("run", "-t", "upload", "--upload-port", uno.upload_port)
        upload_patiently(lambda: run_pio(tmp_path, *upload, deadline_s=UPLOAD_DEADLINE_S))
        agreement, _ = verify_device("uploaded", uno.url, integer_model, Q)
        assert (agreement.mismatches, agreement.lost) == (0, 0)

        another = quantize(random_model(1))
        with pytest.raises(CheckFailed, match="protonn-edge build"):
            open_session(uno.url, another).__enter__()
    if link == "tcp":  # nobody listens there any more
        with refused_by("chips.toolchain.platformio", kind=CheckFailed):
            run_pio(tmp_path, *upload, deadline_s=UPLOAD_DEADLINE_S)


@needs("lab")
def test_pio_test_uploads_and_tests_and_passes_on_the_figures(tmp_path: Path) -> None:
    build(random_model(), load_board("uno"), tmp_path)
    report = tmp_path / "report.json"
    with EmulatedUno(None, bootloader=True) as uno:
        ports = ["--upload-port", uno.upload_port, "--test-port", uno.url]
        chosen = "-khello_says or board or repetitions or floor"
        test = ("test", *ports, "-a", chosen, "--json-output-path", str(report))
        upload_patiently(lambda: run_pio(tmp_path, *test, deadline_s=120))
    suite, *others = json.loads(report.read_text())["test_suites"]
    assert suite["env_name"] == "uno"  # by default; the other boards' are left out
    assert {each["status"] for each in others} == {"SKIPPED"}
    cases = {case["name"]: case for case in suite["test_cases"]}
    assert cases["test_hello_says_which_model_the_device_has"]["status"] == "PASSED"
    assert "flash_bytes=" in cases["test_flash_and_sram_stay_within_the_board"]["stdout"]
    assert cases["test_the_accuracy_does_not_fall_below_the_floor"]["status"] == "SKIPPED"
