"""A firmware on avr8js, an emulator that shares no code with simavr, beside the integer model."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray
from printing import Record

from protonn_edge.build.project import Trial
from protonn_edge.hil import framing, protocol
from protonn_edge.quantization import DeviceModel, IntegerChain
from protonn_edge.report.script import INSTALL
from protonn_edge.system.cache import built_once

_HERE = Path(__file__).parents[1] / "tests" / "avr8js"
_FILES = ("package.json", "package-lock.json")
_SECONDS = 600, 2  # at most, and for each point: a convolutional network takes 0.1 of these


def on_avr8js(trial: Trial, reference: DeviceModel, Q: NDArray[np.uint8]) -> Record:
    """Return on how many points (n, features) there are mismatches, for `run_on_uno`."""
    assert isinstance(reference, IntegerChain)
    found = mismatches_of(trial.elf.with_suffix(".hex"), reference, Q)
    return {"avr8js_points": 0 if found is None else len(Q), "avr8js_mismatches": found or 0}


def mismatches_of(firmware: Path, model: IntegerChain, Q: NDArray[np.uint8]) -> int | None:
    """Return on how many points avr8js gives other scores; None where there is no Node.js.

    Parameters
    ----------
    firmware : Path
        A .hex file.
    model : IntegerChain
        The reference.
    Q : ndarray of shape (n, features), uint8
        What the device is fed.
    """
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    requests = [protocol.ScoresRequest(q.tobytes()) for q in Q]
    frames = (protocol.encode_message(each, n % 255 + 1).hex() for n, each in enumerate(requests))
    with TemporaryFile("w+") as sent:  # Node.js reads no pipe that is empty for a moment
        sent.write("\n".join(frames))
        sent.seek(0)
        timeout = max(_SECONDS[0], _SECONDS[1] * len(Q))
        command = [node, _HERE / "run.mjs", _packages(), firmware]
        done = subprocess.run(
            command, stdin=sent, capture_output=True, text=True, timeout=timeout, check=True
        )
    answers = [_scores(json.loads(line)["reply"]) for line in done.stdout.splitlines()]
    expected = [tuple(scores) for scores in model.scores(Q).tolist()]
    same = sum(one == other for one, other in zip(answers, expected, strict=False))
    return len(expected) - same


def _packages() -> Path:
    contents = [(_HERE / file).read_bytes() for file in _FILES]

    def install(folder: Path) -> None:
        folder.mkdir()
        for file, content in zip(_FILES, contents, strict=True):
            (folder / file).write_bytes(content)
        subprocess.run(INSTALL, cwd=folder, capture_output=True, timeout=120, check=True)

    return built_once("avr8js", contents, install)


def _scores(reply: str) -> tuple[int, ...]:
    (frame,) = bytes.fromhex(reply).strip(b"\x00").split(b"\x00")
    content = protocol.decode_message(framing.decode_frame(frame))
    assert isinstance(content, protocol.ScoresReply)
    return tuple(content.scores)
