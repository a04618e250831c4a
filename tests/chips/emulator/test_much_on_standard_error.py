"""A program that writes more errors than a pipe holds was blocked: they were read at its end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from refusals import refused_by

from protonn_edge.chips.emulator import EmulatedUno, EmulatorError, uno
from protonn_edge.chips.emulator.programs import Program

TALKATIVE = """
import sys

def write_errors():
    sys.stderr.write("why\\n" + 20000 * "the bus is in a state that is not known\\n")
    sys.stderr.flush()

length = int(sys.argv[sys.argv.index("--image-bytes") + 1])
sys.stdin.buffer.read(length)
write_errors()
print('{"url": "socket://127.0.0.1:9"}', flush=True)
for command in sys.stdin:
    write_errors()
    if END:
        sys.exit(1)
    print("{}", flush=True)
"""


@pytest.fixture
def firmware(tmp_path: Path) -> Path:
    path = tmp_path / "firmware.hex"
    path.write_text(":02000000cfcf60\n:00000001FF\n")
    return path


def talk(monkeypatch: pytest.MonkeyPatch, *, to_the_end: bool = False) -> None:
    """Have boards emulated by a program that writes 800 kB of errors at each command."""
    text = TALKATIVE.replace("END", str(to_the_end))
    program = Program("simavr", (sys.executable, "-c", text), "nothing")
    monkeypatch.setattr(uno.programs, "find_program", lambda *_: program)


def test_a_program_that_writes_many_errors_answers(
    firmware: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(monkeypatch)
    with EmulatedUno(firmware) as board:
        assert board.url == "socket://127.0.0.1:9"
        board.reset()


def test_its_first_words_are_the_reason(firmware: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(monkeypatch, to_the_end=True)
    with (
        EmulatedUno(firmware) as board,
        refused_by("chips.emulator.board", kind=EmulatorError, naming="why the bus"),
    ):
        board.reset()
