"""`pio run -t upload` puts a built model on the emulated board; the harness then talks to it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Literal

import pytest
from model_factory import random_inputs, random_model

from protonn_edge.boards import load_board
from protonn_edge.emulator import EmulatedUno
from protonn_edge.errors import CheckFailed
from protonn_edge.project import build
from protonn_edge.quantization import quantize
from protonn_edge.toolchain.platformio import run_pio
from protonn_edge.verification import open_session, verify_device

pytestmark = pytest.mark.skipif(
    shutil.which("avrdude") is None or shutil.which("avr-gcc") is None,
    reason="needs the Debian packages gcc-avr avr-libc avrdude arduino-core-avr libsimavr-dev",
)


@pytest.mark.parametrize("link", ["tcp", "pty"])
def test_uploaded_firmware_answers_with_the_reference_scores(
    tmp_path: Path, link: Literal["tcp", "pty"]
) -> None:
    model = random_model()
    build(model, load_board("uno"), tmp_path)
    integer_model = quantize(model)
    Q = random_inputs(0, 50, integer_model)
    with EmulatedUno(None, bootloader=True, link=link) as uno:
        port = uno.upload_port
        run_pio(tmp_path, "run", "-t", "upload", "--upload-port", port, deadline_s=120)
        agreement, _ = verify_device("uploaded", uno.url, integer_model, Q)
        assert (agreement.mismatches, agreement.lost) == (0, 0)

        another = quantize(random_model(1))
        with pytest.raises(CheckFailed, match="protonn-edge build"):
            open_session(uno.url, another).__enter__()
