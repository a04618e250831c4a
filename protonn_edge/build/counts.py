"""A sensor's counts for a model: converted to the unit of its training data, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer.raw_units import in_raw_units
from protonn_edge.datasets import Notice
from protonn_edge.errors import InputError, shortened
from protonn_edge.quantization import IntegerChain
from protonn_edge.sensors import Instrument, SensorKind
from protonn_edge.sensors.kinds import Unit, is_chip, units_of, units_text

_BEYOND = 0.5  # of the sensor's range: training may widen the range of its data
_SHORT = 0.01  # of the full scale of sound, by which a range may differ


class Channel(NamedTuple):
    """A channel of a sensor: the sensor, the channel's name, and the unit of its counts."""

    kind: SensorKind
    name: str
    unit: Unit


@dataclass(frozen=True, eq=False)
class Counts:
    """How a sensor's counts become values of a model."""

    # (channels,): counts per unit of the training data; None if these are counts
    per_unit: NDArray[np.float64] | None
    notices: tuple[Notice, ...] = ()  # what was converted, or assumed


def counts_for(
    instrument: Instrument | None, channels: Sequence[Channel], declared: str | None
) -> Counts:
    """Return how the counts of a sensor's channels become a model's values.

    - `instrument`: what measured the training data.
    - `channels`: the sensor's channels, in the model's order.
    - `declared`: the unit of the training data, as `units_of` reads it. If it is given, data of
      another sensor is converted.

    Raises `InputError` if the sensor measures another quantity, or is another one than the data's
    and no unit is declared, or another unit.
    """
    name = ", ".join(dict.fromkeys(channel.kind.name for channel in channels))
    own = tuple(channel.unit for channel in channels)
    given = units_text(tuple(channel.name for channel in channels), own)
    trained = _trained(instrument, channels, declared)
    if trained is None:
        text = (
            f"the model does not state the unit of its data, which is taken for counts of {name} "
            f"({given}); --unit declares another"
        )
        return Counts(None, (Notice("unit", text),))
    for channel, unit in zip(channels, trained, strict=True):
        if unit.quantity != channel.unit.quantity:
            raise InputError(
                f"the model was trained on {unit.text}, a unit of {unit.quantity}, but "
                f"{channel.name} of {channel.kind.name} gives {channel.unit.text}, of "
                f"{channel.unit.quantity}; train it on data of this sensor"
            )
    other = _other(instrument, channels)
    if other is not None and declared is None:
        raise InputError(
            f"the model was trained on {other}, but --sensor is {name} ({given}); train it on "
            f"a recording of {name}, or convert the counts with --unit "
            f"{units_text(tuple(channel.name for channel in channels), trained)!r}"
        )
    ratios = [one.size / count.size for one, count in zip(trained, own, strict=True)]
    per_unit = np.array([float(ratio) for ratio in ratios])
    return Counts(per_unit, tuple(_conversions(name, trained, own, per_unit, other)))


def check_range(model: IntegerChain, kinds: Sequence[SensorKind], *, full_scale: bool) -> None:
    """Refuse a model that was trained on other values than those of the channels that it uses.

    - `model`: its features are samples of the channels, interleaved.
    - `kinds`: the sensor of each channel.
    - `full_scale`: whether the model's range is that of all possible samples instead of the data's.
    """
    for kind, (low, high) in zip(kinds, trained_ranges(model, len(kinds)), strict=True):
        extent = kind.high - kind.low
        beyond = max(kind.low - low, high - kind.high)
        missing = max(low - kind.low, kind.high - high)
        if beyond > _BEYOND * extent or (full_scale and missing > _SHORT * extent):
            raise InputError(
                f"the model was trained on values from {low:,.0f} to {high:,.0f}, but {kind.name} "
                f"gives {kind.low:,} to {kind.high:,}; train it on what 'protonn-edge record' "
                "wrote"
            )


def trained_ranges(model: IntegerChain, channels: int) -> list[tuple[float, float]]:
    """Return the range of each of a number of interleaved channels in training, in raw units."""
    raw, features = model.raw_inputs, model.features
    both = np.stack([features.zero, features.end])
    ends = in_raw_units(both, raw.exponents, raw.counts).reshape(2, -1, channels)
    return list(zip(ends.min(axis=(0, 1)).tolist(), ends.max(axis=(0, 1)).tolist(), strict=True))


def _trained(
    instrument: Instrument | None, channels: Sequence[Channel], declared: str | None
) -> tuple[Unit, ...] | None:
    """Return the unit of each channel in the training data, if that is known."""
    known = None
    if instrument is not None:
        known = tuple(instrument.channel(number) for number in range(len(channels)))
    if declared is None:
        return known
    names = tuple(channel.name for channel in channels)
    found = units_of(declared, names)
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(
            f"--unit is {shortened(declared)!r}, without a unit of {missing[0]}; give one for all "
            "channels, or name each channel before its unit"
        )
    units = tuple(found[name] for name in names)
    if known is not None and not all(map(Unit.is_same, known, units)):
        raise InputError(
            f"--unit is {shortened(declared)!r}, but the model was trained on {instrument}; leave "
            "it out, or give the unit of the data"
        )
    return units


def _other(instrument: Instrument | None, channels: Sequence[Channel]) -> Instrument | None:
    """Return what measured the training data if it is known to be another sensor."""
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
    """Return one notice of what is converted; none if the data are the sensor's own counts."""
    steps = {
        f"{one.text} to counts of {count.text} (times {ratio:.6g})": None
        for one, count, ratio in zip(trained, own, per_unit.tolist(), strict=True)
        if ratio != 1
    }
    if not steps and other is None:
        return []
    text = f"the training data is converted for {name}: {', '.join(steps) or 'unchanged'}"
    if other is not None:
        text += f"; it is of {other}, whose mounting and bandwidth may differ"
    return [Notice("unit", text)]
