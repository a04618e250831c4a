"""`upload` finds what to upload and where; PlatformIO does it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import refusal, run, run_json

from protonn_edge.chips.toolchain.ports import FoundPort
from protonn_edge.cli.upload import upload_line
from protonn_edge.codegen.families.avr import upload

SETTINGS = "[env:uno]\nboard = uno\n\n[env:mega2560] ; another board\nboard = mega2560\n"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return what PlatformIO was asked for."""
    asked: list[tuple[str, ...]] = []

    def run_pio(_: Path, *words: str, deadline_s: float, remedy: str) -> None:
        assert "reset it" in remedy
        asked.append((*words, str(deadline_s)))

    monkeypatch.setattr(upload, "run_pio", run_pio)
    found = FoundPort("/dev/ttyACM3", "an Uno")
    monkeypatch.setattr(upload, "find_port", lambda _: found)
    return asked


def project(folder: Path, text: str = SETTINGS) -> Path:
    (folder / "platformio.ini").write_text(text)
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "main.c").touch()
    return folder


def test_the_port_is_found_and_told(tmp_path: Path, ran: list[tuple[str, ...]]) -> None:
    done = run_json("upload", project(tmp_path))
    assert (done["port"], done["why"], done["environment"]) == ("/dev/ttyACM3", "an Uno", "uno")
    assert ran[0][1:-1] == ("--environment", "uno", "-t", "upload", "--upload-port", "/dev/ttyACM3")


@pytest.mark.parametrize(
    ("port", "as_avrdude_has_it"),
    [("COM3", "COM3"), ("socket://127.0.0.1:5000", "net:127.0.0.1:5000")],
)
def test_a_port_is_named_as_avrdude_has_it(
    tmp_path: Path, ran: list[tuple[str, ...]], port: str, as_avrdude_has_it: str
) -> None:
    assert run_json("upload", project(tmp_path), "--port", port)["port"] == port
    assert as_avrdude_has_it in ran[0]


def test_the_default_environment_is_taken(tmp_path: Path, ran: list[tuple[str, ...]]) -> None:
    text = f"[platformio]\ndefault_envs = mega2560 ; of two\n\n{SETTINGS}"
    assert run_json("upload", project(tmp_path, text))["environment"] == "mega2560"


MINE = """
title = "Mine"
mcu = "atmega328p"
core = "avr5"
clock_hz = 16_000_000
flash_bytes = 30_720
sram_bytes = 2_048
baud = 115_200
power_watts = 0.1
"""


def logged_by(board: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a logger for a board of one's own; return its folder."""
    monkeypatch.chdir(folder)
    Path("mine.toml").write_text(MINE + board)
    run_json("build", "--sensor", "a0", "--rate", 10, "--board", "mine.toml")
    return folder / "logger"


@pytest.mark.parametrize(
    ("board", "port", "settings"),
    [
        ('upload_baud = 57_600\nplatformio_board = "nanoatmega328"', "/dev/ttyACM3", "57600"),
        ('upload_protocol = "usbtiny"', None, "usbtiny"),
    ],
)
def test_a_board_of_ones_own_is_uploaded_as_its_file_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ran: list[tuple[str, ...]],
    board: str,
    port: str | None,
    settings: str,
) -> None:
    folder = logged_by(board, tmp_path, monkeypatch)
    done = run_json("upload", folder)
    assert (done["port"], done["environment"]) == (port, "mine")
    assert f" = {settings}\n" in (folder / "platformio.ini").read_text()
    assert (folder / "boards" / "mine.json").is_file() == ("platformio_board" not in board)
    assert ("--upload-port" in ran[0]) == (port is not None)


def test_a_board_without_a_rate_for_uploads_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: list[tuple[str, ...]]
) -> None:
    folder = logged_by("", tmp_path, monkeypatch)
    assert "is unknown; add a line such as upload_baud = 115_200 to the board's" in refusal(
        run("upload", folder)
    )
    assert ran == []


def test_a_port_is_found_by_the_identity_of_ones_own_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = logged_by('upload_baud = 57_600\nusb_ids = ["1A86:7523"]', tmp_path, monkeypatch)
    asked = []
    monkeypatch.setattr(upload, "run_pio", lambda *_, **__: None)
    monkeypatch.setattr(
        upload, "find_port", lambda board: asked.append(board) or FoundPort("/dev/x", "it")
    )
    run_json("upload", folder)
    assert [(board.title, board.usb_ids) for board in asked] == [("mine", ("1A86:7523",))]


@pytest.mark.parametrize("rate", ["", "upload_protocol = x\nupload_speed = " + 5000 * "9"])
def test_an_environment_of_someones_own_needs_a_port(
    tmp_path: Path, ran: list[tuple[str, ...]], rate: str
) -> None:
    folder = project(tmp_path, f"[env:theirs]\nboard = uno\n{rate}\n")
    assert "does not state how to upload to theirs; name the board's port with" in refusal(
        run("upload", folder)
    )
    assert "has no section [env:other]; name one of theirs with --environment" in refusal(
        run("upload", folder, "--environment", "other")
    )
    if not rate:
        assert run_json("upload", folder, "--port", "COM3")["port"] == "COM3"
        assert len(ran) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "has no project; name a folder that"),
        ("[platformio]\n", "has no section [env:NAME]"),
        ("no settings", "cannot be read"),
    ],
)
def test_what_is_no_project_is_refused(tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        project(tmp_path, text)
    assert words in refusal(run("upload", tmp_path))


def test_a_folder_is_called_as_it_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refusal(run("upload", "nowhere")).startswith("error: nowhere has no project")
    assert refusal(run("upload")).startswith(f"error: {tmp_path} has no project")


def test_missing_sources_are_told_before_an_upload(
    tmp_path: Path, ran: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(tmp_path)
    (folder / "src" / "main.c").unlink()
    assert "src contains no sources to compile; write the project again" in refusal(
        run("upload", folder)
    )
    (folder / "src").rmdir()
    assert "src contains no sources to compile" in refusal(run("upload", folder))
    assert ran == []
    (folder / "code").mkdir()
    (folder / "code" / "main.c").touch()
    for where in ("code", "${platformio.other}"):
        run_json("upload", project(folder, f"[platformio]\nsrc_dir = {where}\n{SETTINGS}"))
    project(folder)
    (folder / "src" / "main.c").unlink()
    monkeypatch.setenv("PLATFORMIO_SRC_DIR", str(folder / "code"))  # which is not passed on
    assert "src contains no sources to compile" in refusal(run("upload", folder))


def test_the_next_step_is_a_command_for_every_shell(tmp_path: Path) -> None:
    assert upload_line(Path(), "uno") == "protonn-edge upload"
    folder = project(tmp_path)
    assert upload_line(folder, "uno") == f"protonn-edge upload {folder}"
    line = upload_line(folder, "mega2560")
    assert line == f"protonn-edge upload {folder} --environment mega2560"


def test_a_logger_is_uploaded_at_once(tmp_path: Path, ran: list[tuple[str, ...]]) -> None:
    words = ["--sensor", "a0", "--rate", 10, "-o", tmp_path / "logger"]
    assert run_json("build", *words, "--upload")["upload"]["port"] == "/dev/ttyACM3"
    assert len(ran) == 1
    assert "upload" not in run_json("build", *words)
