"""Upload by copying a UF2 file to the drive that an RP2040 becomes while BOOTSEL is held."""

from __future__ import annotations

import getpass
import os
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from protonn_edge.system.errors import CheckFailed, InputError

_FACTS = "INFO_UF2.TXT"  # on the drive
_BOARD = "RPI-RP2"
_HOLD = "hold the button BOOTSEL while you plug in the board"


@dataclass(frozen=True)
class DriveUpload:
    """An upload that is about to begin."""

    environment: str
    drive: Path
    why: str
    product: Callable[[], bytes]  # compiles the project, and returns its UF2 file

    @property
    def where(self) -> str:
        """The drive."""
        return str(self.drive)

    @property
    def shown(self) -> str:
        """The drive, for people."""
        return self.where

    def run(self) -> None:
        """Compile the project, and copy its program to the drive, which then disappears."""
        contents = self.product()
        try:
            with (self.drive / "firmware.uf2").open("wb") as file:
                file.write(contents)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise CheckFailed(
                f"cannot write to {self.drive}: {error.strerror}; {_HOLD}, and try again"
            ) from error


def find_drive(given: str | None) -> tuple[Path, str]:
    """Return the drive of a board that waits for a program, and why it was chosen."""
    if given is not None:
        if not _is_drive(Path(given)):
            raise InputError(
                f"--port {given} is not the drive {_BOARD}; {_HOLD}, and name the folder where the "
                "drive is mounted, or omit --port"
            )
        return Path(given), "given by --port"
    found = [each for each in _places() if _is_drive(each)]
    if len(found) != 1:
        what = "several drives" if found else "no drive"
        raise InputError(f"{what} {_BOARD} found; {_HOLD}, or name the drive's folder with --port")
    return found[0], "the only drive of a board that waits for a program"


def _is_drive(place: Path) -> bool:
    try:
        return _BOARD in (place / _FACTS).read_text("ascii", "replace")
    except OSError:
        return False


def _places() -> Iterator[Path]:
    """Yield where operating systems put drives."""
    user = getpass.getuser()
    for parent in ("/media", f"/media/{user}", f"/run/media/{user}", "/mnt", "/Volumes"):
        yield Path(parent, _BOARD)
    if os.name == "nt":
        yield from (Path(f"{letter}:\\") for letter in string.ascii_uppercase[3:])
