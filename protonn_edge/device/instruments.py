"""Instruments beside a board, such as power meters; extensions have them.

An instrument watches the first board of a run while this board repeats a prediction, and returns a
reading.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from protonn_edge.chips.boards import Board
from protonn_edge.device.connection import Host
from protonn_edge.device.session import Prediction, Session
from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import modules_in_packages
from protonn_edge.system.schema import JsonObject

NONE = "none"
"""The name of no instrument."""

WRITTEN_BY = "'hil --meter METER --json'"
"""The command that writes a reading."""


class BenchReading(Protocol):
    """What an instrument measured: a frozen dataclass of numbers, texts and tuples of numbers."""

    @property
    def repetitions(self) -> int:
        """Predictions in the batch that was watched."""

    @property
    def trace_ms(self) -> tuple[float, ...]:
        """Times around the batch, from its beginning, in milliseconds."""

    @property
    def trace_mw(self) -> tuple[float, ...]:
        """The power at these times, in milliwatts."""

    @property
    def caption(self) -> str:
        """A sentence below the trace."""

    @property
    def title(self) -> str:
        """The heading of a table of the facts."""

    def facts(self, latency_ms: float) -> list[tuple[str, str]]:
        """Return names and texts of what was measured, for a prediction of this latency."""

    def to_json(self, latency_ms: float) -> JsonObject:
        """Return the fields, and figures for a prediction of this latency."""


@dataclass(frozen=True)
class BenchInstrument:
    """An instrument for one run.

    `watch` takes a session, quantized features, the board, the number of repetitions or None, and
    the host or None; it returns the reading, and the prediction with the cycles of all repetitions.
    Both members raise `InstrumentError` if the instrument is at fault.
    """

    opened: AbstractContextManager[object]  # has to be entered before `watch`
    watch: Callable[
        [Session, ArrayLike, Board, int | None, Host | None], tuple[BenchReading, Prediction]
    ]


def instrument_of(text: str, volts: float | None = None) -> BenchInstrument | None:
    """Return the instrument that a text such as ``ppk2:/dev/ttyACM1`` names; None for ``none``.

    `volts` is the board's supply, for an instrument that does not measure it. Raises `InputError`
    if there is no such instrument, or its port or the voltage is missing.
    """
    if text == NONE:
        return None
    for each in modules_in_packages("meters"):
        instrument: BenchInstrument = each.instrument_of(text, volts)
        return instrument
    raise InputError(f"--meter is {text[:40]!r}, but no extension with instruments is installed")
