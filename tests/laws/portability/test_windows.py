"""Serial names, command lines and programs of Windows, without Windows."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import serial
from avr_tools import needs
from command_line import assert_one_sentence, run
from generated_programs import write_c
from model_factory import random_model
from refusals import refused_by

from protonn_edge.chips.avr.stack import _read_stack_usage
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain import __main__ as toolchain_main
from protonn_edge.cli.upload import upload_line
from protonn_edge.codegen import host as host_c
from protonn_edge.codegen.export.folder import _is_inside
from protonn_edge.device.connection import Link, LinkError
from protonn_edge.model.file import save_model
from protonn_edge.model.quantization import quantize
from protonn_edge.system import shell

NAMES = ["COM3", "com12", r"\\.\COM12"]


COLUMNS = ",".join("abcdefghijkl")


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """Return a model's file and a file of one point, as words of a command."""
    model, points = tmp_path / "model.npz", tmp_path / "test.csv"
    save_model(random_model(), model)
    points.write_text(f"label,{COLUMNS}\nclass 0{',1' * 12}\n")
    return [str(model), str(points)]


@pytest.fixture
def on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have command lines made for PowerShell, and no emulator: neither simavr nor Node.js."""
    monkeypatch.setattr(shell, "WINDOWS", True)
    monkeypatch.setattr(shell, "LINUX", False)
    found = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, **more: None if name == "node" else found(name, **more)
    )


# --- serial ports --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_ports_name_reaches_pyserial_as_it_was_given(name: str, monkeypatch: pytest.MonkeyPatch):
    asked = []

    def opened(url: str, **_: object) -> serial.Serial:
        asked.append(url)
        raise serial.SerialException(f"could not open port {url!r}: PermissionError(13)")

    monkeypatch.setattr(serial, "serial_for_url", opened)
    with pytest.raises(LinkError, match=re.escape(name)) as error:
        Link(name, 115_200)
    assert asked == [name]
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_port_that_cannot_be_opened_is_one_sentence(name: str, given: list[str]):
    assert_one_sentence(run("verify", *given, "--port", name), name)


class PortWithoutNumber:
    """As pyserial's ports on Windows: nothing that `select` could wait for."""

    def __init__(self) -> None:
        self.arriving = [b"", b"", b"\x01\x02"]

    @property
    def in_waiting(self) -> int:
        return len(self.arriving[0]) if len(self.arriving) == 1 else len(self.arriving.pop(0))

    def open(self) -> None:
        pass

    def fileno(self) -> int:
        raise OSError("fileno")

    def read(self, _: int) -> bytes:
        return self.arriving[0]

    def close(self) -> None:
        pass


def test_a_port_that_cannot_be_selected_is_asked_again_and_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(serial, "serial_for_url", lambda *_, **__: PortWithoutNumber())
    assert Link("COM3", 115_200).read(1.0) == b"\x01\x02"


# --- what people are told to type ----------------------------------------------------------------


def test_a_command_line_is_quoted_as_powershell_reads_it(on_windows: None):
    words = ["protonn-edge", "report", r"C:\My Data\results.csv", "--data", "it's.csv"]
    line = shell.command_line(words)
    assert line == r"""protonn-edge report "C:\My Data\results.csv" --data it's.csv"""


def test_settings_are_said_in_powershell(
    on_windows: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    folder = r"C:\Users\O'Neill\core"
    monkeypatch.setattr(toolchain_main, "pio_variables", lambda: {"PLATFORMIO_CORE_DIR": folder})
    assert toolchain_main.main() == 0
    assert capsys.readouterr().out == "$env:PLATFORMIO_CORE_DIR = 'C:\\Users\\O''Neill\\core'\n"


def test_the_upload_is_a_command_without_variables(on_windows: None):
    line = upload_line(Path("My Data"), "uno")
    assert line == 'protonn-edge upload "My Data"'


# --- the emulator, which Windows has only with Node.js -------------------------------------------


def test_the_emulator_says_what_to_do_instead(on_windows: None):
    with refused_by("chips.emulator.programs"):
        EmulatedUno(None, bootloader=True)


def test_emulate_is_one_sentence(on_windows: None):
    assert_one_sentence(run("emulate", "--bootloader"))


@needs("gcc")
def test_verify_does_without(on_windows: None, given: list[str]):
    done = run("verify", *given)
    assert done.exit_code == 0, done.output
    assert "on 1 point: NumPy = host C" in done.output
    assert "no board is emulated: simavr: it needs Linux" in done.output


# --- programs and files --------------------------------------------------------------------------


@needs("gcc")
def test_the_host_program_takes_bytes_as_bytes(tmp_path: Path):
    """On Windows a byte 26 would end the input, and a byte 10 become two."""
    write_c(quantize(random_model()), tmp_path)
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "fcntl.h").write_text("#define _O_BINARY 0x8000\n")
    (fake / "io.h").write_text(
        "#include <stdio.h>\n#define _fileno fileno\nextern int fileno(FILE *);\n"
        "static void _setmode(int file, int mode)\n"
        '{\n    fprintf(stderr, "%d %x\\n", file, (unsigned)mode);\n}\n'
    )
    program = tmp_path / "program"
    sources = [host_c.host_main(), tmp_path / "pnn_model.c"]
    command = ["gcc", "-D_WIN32", f"-I{fake}", f"-I{tmp_path}", *sources, "-o", program]
    subprocess.run(command, check=True, timeout=60)
    done = subprocess.run([program], input=b"", capture_output=True, timeout=60, check=True)
    assert done.stderr.split() == [b"0", b"8000", b"1", b"8000"]


def test_stack_usage_is_read_where_paths_have_drives(tmp_path: Path):
    path = tmp_path / "main.su"
    path.write_bytes(b"C:\\My Data\\firmware\\main.c:12:5:main\t24\tstatic\r\n")
    assert _read_stack_usage([path])["main"].bytes == 24


@pytest.mark.parametrize("name", [r"src\pnn_model.c", r"C:\x", "C:x", r"\\host\share\x", "../x"])
def test_a_name_in_an_exports_list_cannot_lead_out_on_windows(name: str):
    assert not _is_inside(name)
