"""Cycle the power of a hung board with a command of the user's, such as one for a USB hub."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from protonn_edge.errors import CheckFailed, DeviceError, InputError, shortened
from protonn_edge.toolchain.process import relevant_lines, run_within

_DEADLINE_S = 60.0
_PORTS_DEADLINE_S = 10.0  # for a computer to find the board again on USB
_ASK_AGAIN_S = 0.2
_REASON_CHARACTERS = 300


@dataclass(frozen=True)
class PowerCycle:
    """A command that switches a board off and on again; it runs without a shell."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the command in a text, quoted as for a shell; `InputError` if there is none."""
        try:
            command = shlex.split(text)
        except ValueError:  # a quote that does not end
            command = []
        if not command or shutil.which(command[0]) is None:
            raise InputError(
                f"the command to cycle the power is {shortened(text)!r}, which has an unclosed "
                "quote or does not begin with an installed program; give a command such as "
                "'uhubctl -a cycle -p 2'"
            )
        return cls(tuple(command))

    def after(self, fault: DeviceError, ports: Sequence[str]) -> str:
        """Cycle the power after a fault, and wait for the ports; return a sentence about both.

        Raises `DeviceError` if the command fails or takes more than a minute.
        """
        name = shortened(shlex.join(self.words))
        try:
            done = run_within(
                _DEADLINE_S,
                self.words,
                name=name,
                remedy="check the switch",
                output=subprocess.DEVNULL,  # it may print endlessly
            )
        except (CheckFailed, OSError) as error:
            raise DeviceError(f"{fault}; cycling the power failed: {error}") from fault
        if done.returncode != 0:
            words = shortened(relevant_lines(done.stderr), _REASON_CHARACTERS)
            reason = words or f"exit code {done.returncode}"
            raise DeviceError(
                f"{fault}; cycling the power with {name!r} failed: {reason}"
            ) from fault
        end = time.monotonic() + _PORTS_DEADLINE_S
        devices = [Path(port) for port in ports if port.startswith("/")]
        while not all(map(Path.exists, devices)) and time.monotonic() < end:
            time.sleep(_ASK_AGAIN_S)
        return f"{fault}; the board's power was cycled by {name!r}"
