"""avr8js under Node: fetched by npm once, kept in the user's cache."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from protonn_edge.cache import built_once
from protonn_edge.hil import protocol

HERE = Path(__file__).parent
PACKAGE_FILES = ("package.json", "package-lock.json")
INSTALL = (
    *("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"),
    *("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=20000"),
)


@dataclass(frozen=True)
class Answer:
    """A reply and what avr8js counted.

    `cycles` and `spans` are between the marks, for this request; `lost` are bytes and `masked` the
    longest time with interrupts off, up to now.
    """

    content: protocol.Content
    cycles: int
    spans: int
    lost: int
    masked: int


COUNTS = ("cycles", "spans", "lost", "masked")
Ask = Callable[[Path, Sequence[protocol.Content]], list[Answer]]


@pytest.fixture(scope="session")
def avr8js() -> Ask:
    """Return a function that runs a .hex file under avr8js and asks it several requests."""
    packages = _packages()

    def ask(firmware: Path, requests: Sequence[protocol.Content]) -> list[Answer]:
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


def _packages() -> Path:
    """Return a folder with avr8js in its node_modules/; skip where there can be none."""
    missing = [tool for tool in ("node", "npm") if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not on PATH; to run: install Node.js 18 or newer")
    contents = [(HERE / name).read_bytes() for name in PACKAGE_FILES]

    def install(folder: Path) -> None:
        folder.mkdir()
        for name, content in zip(PACKAGE_FILES, contents, strict=True):
            (folder / name).write_bytes(content)
        done = subprocess.run(
            INSTALL, cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
            pytest.skip(f"npm cannot fetch avr8js ({reason}); to run: connect to npm's registry")

    return built_once("avr8js", contents, install)
