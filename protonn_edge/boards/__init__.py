"""What is known of each board, one .toml file per board."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources

from protonn_edge.errors import InputError


@dataclass(frozen=True)
class Board:
    """The limits and the names of one board.

    Attributes
    ----------
    name : str
        What ``--board`` takes.
    mcu : str
        The chip as avr-gcc and simavr call it.
    clock_hz : int
        CPU clock in hertz.
    flash_bytes, sram_bytes : int
        What a program may use: flash without the bootloader, all of the SRAM.
    baud : int
        Baud rate of the serial line.
    power_watts : float
        Power drawn while it computes; energy in joules is this times seconds.
    platformio_board : str
        The board as PlatformIO calls it; also the name of its environment in platformio.ini.
    """

    name: str
    mcu: str
    clock_hz: int
    flash_bytes: int
    sram_bytes: int
    baud: int
    power_watts: float
    platformio_board: str

    def milliseconds(self, cycles: float) -> float:
        """Return the time of `cycles` at the board's clock, in ms."""
        return 1000.0 * cycles / self.clock_hz

    def millijoules(self, cycles: float) -> float:
        """Return the energy of `cycles`, in mJ: power times time (ProtoNN paper, section 5)."""
        return self.power_watts * self.milliseconds(cycles)


def board_names() -> list[str]:
    """Return the names of all boards, sorted."""
    files = resources.files(__name__).iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def load_board(name: str) -> Board:
    """Return the board called `name`.

    Raises
    ------
    InputError
        If there is no such board.
    """
    if name not in board_names():
        raise InputError(f"no board is called {name!r}; choose one of {', '.join(board_names())}")
    text = resources.files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Board(name=name, **tomllib.loads(text))
