"""avr8js under Node: fetched by npm once, kept in the user's cache."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from npm_packages import npm_packages

from protonn_edge.device import protocol

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Answer:
    """A reply and what avr8js counted.

    `cycles` and `spans` are between the marks, for this request; `lost` are bytes and `masked` the
    longest time with interrupts off, up to now.
    """

    content: protocol.Message
    cycles: int
    spans: int
    lost: int
    masked: int


COUNTS = ("cycles", "spans", "lost", "masked")
Ask = Callable[[Path, Sequence[protocol.Message]], list[Answer]]


@pytest.fixture(scope="session")
def avr8js() -> Ask:
    """Return a function that runs a .hex file under avr8js and asks it several requests."""
    packages = npm_packages("avr8js", HERE)

    def ask(firmware: Path, requests: Sequence[protocol.Message]) -> list[Answer]:
        frames = [
            protocol.encode_message(request, number % 255 + 1).hex()
            for number, request in enumerate(requests)
        ]
        done = subprocess.run(
            ["node", HERE / "run.mjs", packages, firmware],
            input="\n".join(frames),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [_answer(json.loads(line)) for line in done.stdout.splitlines()]

    return ask


def _answer(record: dict[str, object]) -> Answer:
    (frame,) = bytes.fromhex(str(record["reply"])).strip(b"\x00").split(b"\x00")
    content = protocol.decode_message(protocol.decode_frame(frame))
    return Answer(content, *(int(str(record[key])) for key in COUNTS))
