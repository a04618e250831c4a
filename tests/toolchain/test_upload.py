"""`pio run -t upload` without a registry, through the bootloader of the emulated Uno."""

from __future__ import annotations

import shutil

import pytest
import serial
from avr_tools import needs_uploads
from refusals import refused_by
from uploads import UPLOAD_DEADLINE_S, upload_patiently

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.platformio import run_pio
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.files import resource

pytestmark = needs_uploads

SAYS_HELLO = """
#include <avr/io.h>
int main(void) {
    UBRR0L = 16;
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(TXEN0);
    for (const char *text = "hello";; text = *text ? text + 1 : "hello") {
        while (!(UCSR0A & _BV(UDRE0))) {}
        UDR0 = *text;
    }
}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a project whose firmware says hello for ever."""
    monkeypatch.setenv("PROTONN_EDGE_PLATFORMIO", "offline")
    (tmp_path / "firmware").mkdir()
    shutil.copy(resource("platformio.ini"), tmp_path)
    (tmp_path / "firmware" / "main.c").write_text(SAYS_HELLO)
    return tmp_path


def upload(project, port):
    return run_pio(
        project, "run", "-t", "upload", "--upload-port", port, deadline_s=UPLOAD_DEADLINE_S
    )


@pytest.mark.parametrize("link", ["tcp", "pty"])
def test_an_uploaded_firmware_runs(project, link):
    with EmulatedUno(None, bootloader=True, link=link) as uno:
        upload_patiently(lambda: upload(project, uno.upload_port))
        with serial.serial_for_url(uno.url, timeout=20) as line:
            assert b"hello" in line.read(20)


def test_an_upload_to_nobody_is_said(project):
    with EmulatedUno(None, bootloader=True) as uno:
        port = uno.upload_port
    with refused_by("chips.toolchain.platformio", kind=CheckFailed):
        upload(project, port)
