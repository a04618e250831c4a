"""A sensor's counts in the unit of a model's training data, as a board with this sensor uses them.

A board does not convert counts to the unit: it quantizes them in integers, with the conversion in
the multipliers. So a count that is nearly between two bytes of the model's input may become the
other byte than its value in the unit does, which is then replaced by the middle of the board's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, channel_names
from protonn_edge.data.points.dataset import Float32
from protonn_edge.data.points.instruments import Converter, Instrument, trained_units
from protonn_edge.model.head import channels_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.raw_inputs import RAW_MAXIMUM, RAW_MINIMUM


@dataclass(frozen=True, eq=False)
class CountConversion:
    """How the counts of a sensor become values in the unit of a model's training data."""

    per_unit: NDArray[np.float64]  # how many counts are one unit, by channel
    notices: tuple[Notice, ...]  # that they are converted, unless the unit is the same

    @classmethod
    def of(cls, measured: Instrument | None, trained: Instrument | None) -> Self | None:
        """Return the conversion of what a sensor measured.

        None if `measured` is no sensor that is known by name, or a board with this sensor refuses
        the model: the data is of another sensor or of another quantity, or its unit is not known.
        """
        if measured is None or trained is None or not measured.sensor:
            return None
        if trained.sensor not in ("", measured.sensor):
            return None
        channels = range(max(len(measured.units), len(trained.units)))
        pairs = [(trained.channel(each), measured.channel(each)) for each in channels]
        if any(one.quantity != count.quantity for one, count in pairs):
            return None
        per_unit = np.array([float(one.size / count.size) for one, count in pairs])
        texts = dict.fromkeys(unit.text for unit in trained.units)
        text = f"the counts of {measured} are converted to {', '.join(texts)}, as on a board"
        return cls(per_unit, (Notice("unit", text),) * measured.is_unlike(trained))

    def applied(self, X: Float32, chain: IntegerChain | None = None) -> Float32:
        """Return points X (n, D) of a sensor, its channels repeated, in the unit.

        With the `chain` of a model, `chain.quantize` returns the bytes that a board computes of the
        same counts; values that are no counts, because they have decimals, are only converted.
        """
        converted = (X / np.resize(self.per_unit, X.shape[1])).astype(np.float32)
        whole = (np.rint(X) == X).all() and X.size
        if chain is None or not (whole and RAW_MINIMUM <= X.min() <= X.max() <= RAW_MAXIMUM):
            return converted
        on_board = replace(chain, counts=self.per_unit).raw_inputs.quantize(X.astype(np.int16))
        unlike = chain.quantize(converted) != on_board
        converted[unlike] = chain.quantizer.restore(on_board)[unlike]
        return converted


def converter_for(model: Model, chain: Callable[[], IntegerChain] | None) -> Converter:
    """Return what converts points of another instrument, with notices; see `Expected`.

    `chain` returns the model's integers, if it has some.
    """

    def converted(X: Float32, measured: Instrument) -> tuple[Float32, tuple[Notice, ...]] | None:
        if model.instrument is None:
            decimals = measured.sensor and chain and chain().raw_inputs.exponents.any()
            return None if decimals else (X, ())
        found = CountConversion.of(measured, model.instrument)
        if found is None:
            return None
        return found.applied(X, chain and chain()), found.notices

    return converted


def with_unit(model: Model, declared: str | None) -> Model:
    """Return a model whose training data has a unit that ``--unit`` declares, if it is given.

    The data of a sensor is then that of any sensor: another one's counts may be converted.
    """
    if declared is None:
        return model
    channels = channels_of(model) or model.n_features
    plain = model.feature_names if channels == model.n_features else ()
    names = plain or channel_names(model.feature_names, channels)
    numbered = tuple(f"channel {number}" for number in range(channels))
    units = trained_units(model.instrument, names or numbered, declared)
    return model if units is None else replace(model, instrument=Instrument("", units))
