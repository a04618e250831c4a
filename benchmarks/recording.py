"""Ten minutes of an MPU-6050 at 100 Hz, recorded over a line that drops bytes, and killed.

The emulated Uno logs a sensor whose samples are all different. `protonn-edge record` is killed
three times, and a fourth run continues to the end. The file is then compared, sample by sample,
with the played samples.

python benchmarks/recording.py
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from printing import Record, print_table

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from failing_link import FailingLink, Faults

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor
from protonn_edge.extensions.sensing.sensor_projects import logger_of
from protonn_edge.system.files import write_atomically

_RATE = 100
_DROP = 0.001
_KILLS = 3
_ROWS_BEFORE_KILL = 2000
_DEADLINE_S = 300.0
_COLUMNS = (
    ("run", lambda row: row["run"]),
    ("samples", lambda row: f"{row['samples']:,}"),
    ("in the file", lambda row: f"{row['kept']:,}"),
    ("known to be lost", lambda row: f"{row['lost']:,}"),
    ("wrong", lambda row: f"{row['wrong']:,}"),
    ("bytes dropped", lambda row: f"{row['dropped']:,}"),
    ("rows lost by the kill", lambda row: "" if row["after"] is None else f"{row['after']:,}"),
)


def runs(seconds: float) -> Iterator[Record]:
    """Yield a row for each run."""
    samples = round(seconds * _RATE) + 1000
    played = np.random.default_rng(0).integers(-32768, 32768, (samples, 6)).astype(np.int16)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "recording.csv")
        elf = _logger(Path(scratch, "logger"))
        sensor = PlayedSensor(sensor_kind("mpu6050"), played, _RATE)
        with EmulatedUno(elf, sensors=[sensor]) as uno:
            killed: Record | None = None
            before = b""
            for run in range(_KILLS + 1):
                whole = run == _KILLS
                with FailingLink(uno.port, Faults(drop=_DROP), seed=run) as link:
                    (_to_its_end if whole else _until_killed)(path, link.url, seconds)
                    dropped = link.done.dropped
                content = path.read_bytes()
                if killed is not None:
                    # A row that was torn by the kill was none yet; all that were whole are there.
                    stood = before[: before.rfind(b"\n") + 1]
                    killed["after"] = 0 if content.startswith(stood) else stood.count(b"\n")
                    yield killed
                new = content[before.rfind(b"\n") + 1 :]
                row = _held_against(new, played) | {
                    "run": "whole" if whole else f"killed {run + 1}"
                }
                killed, before = row | {"dropped": dropped, "after": None}, content
            assert killed is not None
            yield killed


def _logger(folder: Path) -> Path:
    for name, text in (
        logger_of([sensor_kind("mpu6050")], _RATE, load_board("uno")).firmware().items()
    ):
        write_atomically(folder / name, text)
    return build_firmware(folder)


def _command(path: Path, url: str, seconds: float) -> list[str]:
    program = "from protonn_edge.cli import main; main()"
    words = ["record", "-o", str(path), "--port", url, "--label", "wave", "--takes", "1"]
    words += ["--seconds", str(seconds), "--pause", "0", "--json"]
    return [sys.executable, "-c", program, *words]


def _to_its_end(path: Path, url: str, seconds: float) -> None:
    done = subprocess.run(
        _command(path, url, seconds), check=True, capture_output=True, timeout=_DEADLINE_S
    )
    (take,) = json.loads(done.stdout)["takes"]
    assert take["samples"] + take["lost"] == round(seconds * _RATE), take


def _until_killed(path: Path, url: str, seconds: float) -> None:
    before = _lines(path)
    end = time.monotonic() + _DEADLINE_S
    with subprocess.Popen(_command(path, url, seconds), stdout=subprocess.DEVNULL) as process:
        while _lines(path) < before + _ROWS_BEFORE_KILL and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)


def _lines(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes().count(b"\n")
    return 0


def _held_against(content: bytes, played: NDArray[np.int16]) -> Record:
    """Compare rows with what was played at their times, which count from the first row."""
    lines = [line for line in content.splitlines() if line.startswith(b"wave,")]
    lines = lines[:-1] if not content.endswith(b"\n") else lines
    rows = np.array([line.split(b",")[2:] for line in lines], dtype=float)
    numbers = np.rint((rows[:, 0] - rows[0, 0]) * _RATE).astype(int)
    numbers += int(np.flatnonzero((played == rows[0, 1:]).all(axis=1))[0])
    wrong = int(np.count_nonzero((played[numbers] != rows[:, 1:]).any(axis=1)))
    samples = int(numbers[-1] - numbers[0]) + 1
    return {"samples": samples, "kept": len(rows), "lost": samples - len(rows), "wrong": wrong}


@click.command()
@click.option("--seconds", default=600.0, show_default=True, help="Of virtual time, at the end.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(seconds: float, as_json: bool) -> None:
    """Print a row for each run."""
    print_table(runs(seconds), _COLUMNS, as_json)


if __name__ == "__main__":
    main()
