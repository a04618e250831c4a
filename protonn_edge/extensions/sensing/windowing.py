"""How a board forms windows of its sensor's samples for a model, and how it reports their classes.

The sensor's counts are converted to the unit of the model's training data, or refused. Overlapping
windows are computed from a ring buffer, which keeps samples as bytes. Otherwise, a window is fed
sample by sample, and the buffer holds the samples that arrive while a window ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.context import as_it_is
from protonn_edge.codegen.export.sensor_windows import SensorWindows
from protonn_edge.codegen.plan import Plan
from protonn_edge.data.naming import Notice, channel_names
from protonn_edge.data.points.instruments import Instrument, trained_units
from protonn_edge.data.units import Unit, units_text
from protonn_edge.device.protocol import frame_bytes
from protonn_edge.extensions.sensing import SAMPLES_LIMIT, VOTES_LIMIT
from protonn_edge.extensions.sensing.load import Load, estimated_load
from protonn_edge.extensions.sensing.sampling import (
    Sampling,
    byte_cycles,
    bytes_carried,
    used_channels,
)
from protonn_edge.extensions.sensing.sensor_board import NAME_LIMIT, sent_name
from protonn_edge.extensions.sensing.sensor_kinds import SensorKind, is_chip
from protonn_edge.model.head import channels_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.raw_inputs import RAW_MAXIMUM, RAW_MINIMUM, in_raw_units
from protonn_edge.model.signals import QUIET
from protonn_edge.system import checks
from protonn_edge.system.checks import check_most
from protonn_edge.system.errors import (
    CheckFailed,
    InputError,
    InvalidValue,
    counted,
    shortened,
    unneeded,
)
from protonn_edge.system.extensions import parts_of

_BEYOND = 0.5  # of the sensor's range: training may widen the range of its data
_SHORT = 0.01  # of the full scale of sound, by which a range may differ
_CLASSES_LIMIT = 250
_NAME_BYTES = NAME_LIMIT + 1
_SAY_S = 1.0
# In cycles, rounded up from measurements on simulated boards.
_EXTREMES_CYCLES = 40
_SENT_BYTE_CYCLES = 600  # in addition to the line's time
_WINDOW_CYCLES = 2_000
_SHARE = 0.9  # of the remaining time, as a safety margin
_HEAD_BYTES = 14
_SAID_BYTES = 48


class Channel(NamedTuple):
    """A channel of a sensor: the sensor, the channel's name, and the unit of its counts."""

    kind: SensorKind
    name: str
    unit: Unit


def counts_for(
    instrument: Instrument | None, channels: Sequence[Channel], declared: str | None
) -> tuple[NDArray[np.float64] | None, tuple[Notice, ...]]:
    """Return the conversion of a sensor's counts, in the model's order, to the model's values.

    Returns the counts per unit of the training data, (channels,), None if these are counts; and
    notices of conversions and assumptions. `instrument` measured the training data; `declared` is
    its unit, as `units_of` reads it: if it is given, data of another sensor is converted.

    Raises `InputError` if the sensor measures another quantity, or is another one than the data's
    and no unit is declared, or another unit.
    """
    name = ", ".join(dict.fromkeys(channel.kind.name for channel in channels))
    own = tuple(channel.unit for channel in channels)
    names = tuple(channel.name for channel in channels)
    given = units_text(names, own)
    trained = trained_units(instrument, names, declared)
    if trained is None:
        text = (
            "the model does not state the unit of its data, so the program assumes that the values "
            f"are counts of {name} ({given}); to declare another unit, use --unit"
        )
        return None, (Notice("unit", text),)
    for channel, unit in zip(channels, trained, strict=True):
        if unit.quantity != channel.unit.quantity:
            raise InputError(
                f"the model was trained on values in {unit.text}, but {channel.kind.name} returns "
                f"channel {channel.name} in {channel.unit.text}, which cannot be converted to "
                f"{unit.text}; train the model on data from this sensor"
            )
    other = _other(instrument, channels)
    if other is not None and declared is None:
        raise InputError(
            f"the model was trained on data from {other}, but --sensor is {name} ({given}); train "
            f"the model on a recording of {name}, or convert the counts with --unit "
            f"{units_text(names, trained)!r}"
        )
    ratios = [one.size / count.size for one, count in zip(trained, own, strict=True)]
    per_unit = np.array([float(ratio) for ratio in ratios])
    return per_unit, tuple(_conversions(name, trained, own, per_unit, other))


def check_range(model: IntegerChain, kinds: Sequence[SensorKind], *, full_scale: bool) -> None:
    """Refuse a model that was trained on values that its channels cannot have.

    `kinds` has the sensor of each interleaved channel. With `full_scale`, the model's range covers
    all possible samples instead of the data's.
    """
    for kind, (low, high) in zip(kinds, trained_ranges(model, len(kinds)), strict=True):
        extent = kind.high - kind.low
        beyond = max(kind.low - low, high - kind.high)
        missing = max(low - kind.low, kind.high - high)
        if beyond > _BEYOND * extent or (full_scale and missing > _SHORT * extent):
            raise InputError(
                f"the model was trained on values from {low:,.0f} to {high:,.0f}, but {kind.name} "
                f"gives values from {kind.low:,} to {kind.high:,}; train the model on a recording "
                "made with 'protonn-edge record'"
            )


def trained_ranges(model: IntegerChain, channels: int) -> list[tuple[float, float]]:
    """Return the range of each of a number of interleaved channels in training, in raw units."""
    raw, features = model.raw_inputs, model.quantizer
    both = np.stack([features.zero, features.end])
    ends = in_raw_units(both, raw.exponents, raw.counts).reshape(2, -1, channels)
    return list(zip(ends.min(axis=(0, 1)).tolist(), ends.max(axis=(0, 1)).tolist(), strict=True))


def _other(instrument: Instrument | None, channels: Sequence[Channel]) -> Instrument | None:
    """Return the sensor of the training data if it is known to be another one."""
    if instrument is None or not instrument.sensor:
        return None
    same = all(is_chip(instrument.sensor, channel.kind) for channel in channels)
    return None if same else instrument


def _conversions(
    name: str,
    trained: Sequence[Unit],
    own: Sequence[Unit],
    per_unit: NDArray[np.float64],
    other: Instrument | None,
) -> list[Notice]:
    """Return one notice of conversions; none if the data are the sensor's own counts."""
    steps = {
        f"{one.text} to counts of {count.text} (times {ratio:.6g})": None
        for one, count, ratio in zip(trained, own, per_unit.tolist(), strict=True)
        if ratio != 1
    }
    if not steps and other is None:
        return []
    text = f"the training data is converted for {name}: {', '.join(steps)}"
    if not steps:
        text = f"the training data has the same unit as {name}"
    if other is not None:
        text += f"; it was recorded from {other}, whose mounting and bandwidth may differ"
    return [Notice("unit", text)]


@dataclass(frozen=True)
class Windowing(SensorWindows):
    """Windows of a sensor's samples for a model, validated on construction.

    Raises `InputError` if the model does not take the sensor's values, or a number is out of range.
    """

    sampling: Sampling  # the sensor, and its rate
    used: tuple[int, ...]  # the channels of the sensor that the model uses, in its order
    # samples from the start of a window to the start of the next; the minimum, if windows begin at
    # an event
    hop: int
    votes: int = 1  # windows of the mean that decides on the word, 1 to 15
    refractory_s: float = 0.0  # seconds for which a reported class remains, at least
    marks: tuple[int, ...] = ()  # least share of each class to be the word, in per cent, or none

    def __post_init__(self) -> None:
        fits, remedy = self.model.policy.predicts != "labels", "call pnn_top() in your own sketch"
        checks.check(fits, "the model", "sets of labels", "one class or number", remedy)
        asked = {"--votes": self.votes > 1 or self.refractory_s, "--mark": self.marks}
        for option in (name for name, is_given in asked.items() if is_given):
            if self.model.policy.predicts == "value":
                raise unneeded(option, "is given, but the model predicts a number of each window")
        if self.model.counts is None and not as_it_is(self.model):
            raise InputError(
                "the model was trained on decimal numbers in an unknown unit, but a sensor returns "
                "integer counts; declare the unit of the training data, for example --unit g if a "
                "sensor at rest measures 1, or --unit m/s^2 if it measures 9.8, or train the model "
                "on a recording made with 'protonn-edge record'"
            )
        if self.model.n_features % len(self.used):
            raise InvalidValue(
                "the model",
                f"{self.model.n_features} values, not a multiple of "
                f"{counted(len(self.used), 'channel')}",
                "train the model on windows recorded from this sensor",
            )
        check_most(
            "the model", self.model.n_classes, _CLASSES_LIMIT, "classes", "train with fewer classes"
        )
        kinds = [channel.kind for channel in _channels(self.sampling, self.used)]
        check_range(self.model, kinds, full_scale=self.triggered)
        _check_names(self.model.classes)
        checks.check_range("--votes", self.votes, 1, VOTES_LIMIT)
        if self.triggered and self.overlapping:
            raise InputError(
                f"--hop is {self.hop}, but a window of sound has {self.window} samples, and "
                f"begins with a sound; give --hop {self.window} or more, or omit --hop"
            )
        checks.check_range("--hop", self.hop, 1, SAMPLES_LIMIT)
        checks.check_range("the model's window", self.window, 1, SAMPLES_LIMIT)

    @property
    def window(self) -> int:
        """Samples per window."""
        return self.model.n_features // len(self.used)

    @property
    def on_any_chip(self) -> bool:
        """Whether the sketch polls the sensor, instead of reading it in interrupts of an AVR."""
        return self.sampling.polled

    @property
    def leaves_pins(self) -> bool:
        """Whether the sensor leaves pins for LED and buttons; SPI takes them."""
        return self.sampling.kinds[0].bus != "spi"

    @property
    def overlapping(self) -> bool:
        """Whether a window begins before the end of the previous one."""
        return self.hop < self.window

    @property
    def refractory(self) -> int:
        """Samples for which a reported class remains."""
        return round(self.refractory_s * self.sampling.actual_rate)

    @cached_property
    def trained(self) -> tuple[tuple[int, int], ...]:
        """The range of each channel in training, in counts; none of sound: it is the sensor's."""
        if self.triggered:
            return ()
        limits = (RAW_MINIMUM, RAW_MAXIMUM)
        ranges = np.clip(trained_ranges(self.model, len(self.used)), *limits)
        return tuple((math.floor(low), math.ceil(high)) for low, high in ranges.tolist())

    @property
    def words(self) -> str:
        """A description for display."""
        rate = self.sampling.actual_rate
        votes = (
            f"; the class of the largest mean share in {self.votes} windows is reported"
            if self.votes > 1
            else ""
        )
        rest = (
            f"; after a report, no other class is reported for {self.refractory_s:g} s"
            if self.refractory
            else ""
        )
        every = f"one every {counted(self.hop, 'sample')} ({self.hop / rate:.3g} s)"
        if self.triggered:
            every = f"one for each sound, at least {self.hop / rate:.3g} s apart"
        return f"windows of {counted(self.window, 'sample')} at {rate:.6g} Hz, {every}{votes}{rest}"

    def ring_samples(self, load: Load | Plan) -> int:
        """Return the samples that the buffer must hold; `CheckFailed` if it cannot keep up.

        The load of a plan is estimated.
        """
        board = self.sampling.board
        if isinstance(load, Plan):
            interrupts = self.sampling.interrupt_cycles + _EXTREMES_CYCLES * len(self.trained)
            shape = self.window, len(self.used)
            load = estimated_load(load, *shape, interrupts, overlapping=self.overlapping)
        period = self.sampling.period_cycles
        free = 1 - load.interrupt_cycles / period
        whole = load.window_cycles + self.sending_cycles
        said = self._said_bytes * _sent_byte_cycles(board)
        if free <= 0 or whole > _SHARE * free * self.hop * period:
            raise CheckFailed(
                f"a window takes up to {board.time(whole, 1)} to compute and "
                "send, but a window begins every "
                f"{board.time(self.hop * period, 1)}; try a larger --hop, or a "
                "lower --rate"
            )
        if self.overlapping:
            return self.window + self._meanwhile(whole + said, free)
        # Samples that take more than a window's others wait in the buffer.
        mean = min(load.sample_cycles, load.window_cycles / self.window)
        if mean > _SHARE * free * period:
            raise CheckFailed(
                f"a sample takes {mean:,.0f} cycles and its interrupts take "
                f"{load.interrupt_cycles:,.0f}, but a sample arrives every {period:,} cycles; try "
                "a lower --rate"
            )
        return self._meanwhile(load.ending_cycles + self.sending_cycles + said, free)

    @property
    def sending_cycles(self) -> float:
        """The most cycles from a window's class until it is sent, by the line's rate."""
        sent = self._window_bytes * _sent_byte_cycles(self.sampling.board)
        return sent + _WINDOW_CYCLES

    def _meanwhile(self, cycles: float, free: float) -> int:
        """Return the number of samples that arrive during a computation."""
        return 2 + math.ceil(cycles / free / self.sampling.period_cycles)

    @property
    def _window_bytes(self) -> int:
        """The maximum bytes sent per window."""
        return frame_bytes(_HEAD_BYTES + 5 * self.model.n_classes)

    @property
    def _said_bytes(self) -> int:
        """The maximum bytes sent once a second."""
        ranges = frame_bytes(8 * len(self.trained)) if self.trained else 0
        added = sum(frame_bytes(part.status_bytes) for part in parts_of(self.model))
        decimals = frame_bytes(1) if self.model.policy.predicts == "value" else 0
        return _SAID_BYTES + len(self.used) + ranges + added + decimals + _NAME_BYTES

    def check_line(self) -> None:
        """Raise `InputError` if the serial line is too slow for the answers."""
        baud = self.sampling.board.baud
        needed = self.sampling.actual_rate / self.hop * self._window_bytes + self._said_bytes
        if needed > bytes_carried(baud):
            raise InputError(
                f"an answer every {self.hop} samples needs {needed:,.0f} bytes a second, but "
                f"{baud:,} baud can carry only {bytes_carried(baud):,.0f}; give a larger --hop"
            )

    def context(self, ring_samples: int) -> dict[str, object]:
        """Return all that the templates of live firmware need."""
        rule = self.model.policy.answering
        longest = max(len(name.encode()) for name in self.model.classes)
        return self.sampling.context(
            self.sampling.board.baud,
            reader="monitor",
            page="live",
            windowing=self,
            hop=self.hop,
            model=self.model,
            votes=self.votes,
            refractory=self.refractory,
            marks=self.marks,
            limited=not self.on_any_chip,
            period_us=round(1e6 / self.sampling.actual_rate),
            live_sound="sensors/onset.j2",
            live_answer="sensors/answer.j2" if rule is None else f"sensors/policy/{rule}.j2",
            parts=parts_of(self.model),
            receives=any(part.receives for part in parts_of(self.model)),
            trained=self.trained,
            quiet=QUIET,
            ring_samples=ring_samples,
            said_every=max(1, round(_SAY_S * self.sampling.actual_rate)),
            name_size=min(longest + 1, _NAME_BYTES),
        )


def _sent_byte_cycles(board: Board) -> float:
    return byte_cycles(board, board.baud) + _SENT_BYTE_CYCLES


def _check_names(classes: tuple[str, ...]) -> None:
    """Refuse classes with names that are equal in the part that a board sends."""
    sent: dict[str, str] = {}
    for name in classes:
        other = sent.setdefault(sent_name(name), name)
        if other != name:
            raise InputError(
                f"a board sends only the first {NAME_LIMIT} bytes of a class's name, and these are "
                f"the same for {shortened(repr(other))} and {shortened(repr(name))}; rename one of "
                "these classes, and train again"
            )


def windowing_of(
    model: IntegerChain,
    feature_names: tuple[str, ...],
    sampling: Sampling,
    *,
    hop: int | None = None,
    votes: int = 1,
    refractory_s: float = 0.0,
    marks: tuple[int, ...] = (),
    instrument: Instrument | None = None,
    unit: str | None = None,
) -> Windowing:
    """Return the windows of a sensor for a model, whose channels are found by `feature_names`.

    By default, windows do not overlap and have no gaps. See `Windowing`, and `counts_for` about the
    instrument and the unit. Raises `InputError` if the model is for other channels, or for another
    sensor.
    """
    channels = sampling.channels
    n = channels_of(model) or len(channels)
    plain = feature_names if channels_of(model) is None else ()  # one sample is one point
    named = channel_names(feature_names, n) or plain
    used, by_place = used_channels(sampling, named, n)
    per_unit, notices = counts_for(instrument, _channels(sampling, used), unit)
    if per_unit is not None and not (as_it_is(model) and (per_unit == 1).all()):
        model = replace(model, counts=per_unit)
    windowing = Windowing(
        model,
        sampling,
        used,
        hop or model.n_features // n,
        votes,
        refractory_s,
        marks,
        notices=(*by_place, *notices),
    )
    windowing.check_line()
    return windowing


def _channels(sampling: Sampling, used: tuple[int, ...]) -> list[Channel]:
    """Return the channels of the sensors that a model uses."""
    every = [
        Channel(kind, name, unit)
        for kind in sampling.kinds
        for name, unit in zip(kind.channels, kind.channel_units, strict=True)
    ]
    return [every[number] for number in used]
