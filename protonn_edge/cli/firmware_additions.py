"""What extensions may add to commands that build, export or verify firmware."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from protonn_edge.chips.boards import Board
from protonn_edge.cli.command import Output
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.model import Model
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from protonn_edge.codegen.export.sensor_windows import SensorWindows
    from protonn_edge.model.integer_chain import IntegerChain

_Kind = TypeVar("_Kind")


class SensorFirmware(AddedOptions):
    """The options of `build` and `export` for firmware that samples a sensor."""

    @property
    def is_given(self) -> bool:
        """Whether a sensor is named."""
        raise NotImplementedError

    def windowing(self, model: Model, board: Board) -> SensorWindows | None:
        """Return the windows of the sensor's samples that a model classifies; None without one."""
        raise NotImplementedError

    def write_logger(
        self, out: Output, board_name: str, folder: Path | None, *, as_sketch: bool
    ) -> tuple[JsonObject, Path]:
        """Write firmware that only samples, print how to use it, and return facts and its folder.

        By default, it has a folder of its own.
        """
        raise NotImplementedError

    def build(
        self,
        out: Output,
        model: DeviceModel,
        board: Board,
        folder: Path | None,
        *,
        tries: bool,
    ) -> tuple[JsonObject, Path, str]:
        """Build firmware that classifies the samples, and print its facts.

        Returns facts, the folder, which has a default, and the command that emulates the board.
        """
        raise NotImplementedError


class OtherExport(AddedOptions):
    """The option of `export` for something that is no library in C."""

    OF_MODEL: ClassVar[str] = ""  # how to give the option, if it exports a model

    @property
    def is_given(self) -> bool:
        """Whether it is asked for."""
        raise NotImplementedError

    def write(
        self, out: Output, model: DeviceModel | None, points: ArrayLike | None, *, tries: bool
    ) -> None:
        """Write it, and print its path.

        - `model`, `points`: the model and raw points (n, features), if the command has them
        - `tries`: whether it runs first, compared with NumPy
        """
        raise NotImplementedError


class BuildChecks(AddedOptions):
    """The options of `verify` for builds, and what is claimed of points."""

    def certify(self, out: Output, path: Path, board_name: str) -> None:
        """Print what is proven and measured of a build; `CheckFailed` if a claim is false."""
        raise NotImplementedError

    def certify_sketch(self, out: Output, elf: Path, model: Path, board_name: str) -> None:
        """Print what is proven of a linked program that calls the library of a model."""
        raise NotImplementedError

    def point_claims(self, model: IntegerChain, X: ArrayLike, Q: NDArray[np.uint8]) -> list[Any]:
        """Return claims about raw points X (n, D) and quantized points Q (n, D)."""
        raise NotImplementedError


def extensions_of(added: Iterable[AddedOptions]) -> list[str]:
    """Return the names of the extensions that firmware has because of options."""
    return [name for each in added for name in each.extensions]


def the_one(added: Sequence[AddedOptions], kind: type[_Kind]) -> _Kind | None:
    """Return the options of a kind; None if no extension adds them."""
    return next((each for each in added if isinstance(each, kind)), None)
