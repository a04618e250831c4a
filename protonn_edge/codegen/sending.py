"""The raw values that a sketch sends: for the header, an export's README, and `inspect`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from protonn_edge.chain.input_quantizer.raw_units import unit_words
from protonn_edge.features.window_features import channel_names
from protonn_edge.quantization import DeviceModel

_LISTED_FEATURES = 64
_SENSORS_COUNTS = "the sensor's counts"


@dataclass(frozen=True)
class Sending:
    """The raw values that a sketch sends for some neighbouring features."""

    features: str  # which: "3", "0..63", "all", or, of windows, "channel 2"
    name: str  # the name of the one feature, or channel, as the training data has it, or ""
    # "hundredths"; "the sensor's counts"; "the training data's unit" if raw values are sent
    # unchanged
    unit: str
    factor: str  # factor on values in the training data's unit: "100", "0.001"
    # the range of raw integers in which inputs are distinguished
    low: int
    high: int


def sendings(model: DeviceModel) -> tuple[Sending, ...]:
    """Return the lines: one per feature, or one for similar neighbours if there are many."""
    inputs, exponents = model.features, model.raw_inputs.exponents
    both = np.stack([inputs.zero, inputs.zero + inputs.step * inputs.maximum])
    ends = model.raw_inputs.integers(both).astype(np.int64)
    low, high = ends.min(axis=0), ends.max(axis=0)
    counts = model.raw_inputs.counts
    factors = exponents if counts is None else counts
    alike = all(np.ptp(each) == 0 for each in (factors, *both))
    n = 1 if alike else len(exponents)
    names, prefix = [""] * n, ""
    if model.n_channels is not None:
        n, prefix = min(n, model.n_channels), "channel "
        if not alike:
            names = [*channel_names(model.feature_names, model.n_channels)] or names
    elif model.feature_names and not alike:
        names = list(model.feature_names)
    starts = np.arange(n)
    if n > _LISTED_FEATURES:
        starts = np.flatnonzero(np.diff(factors[:n], prepend=factors[0] + 1))
    stops = np.append(starts[1:], n)
    found = []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        exponent, several = int(exponents[start]), stop - start > 1
        found.append(
            Sending(
                features="all"
                if alike
                else f"{start}..{stop - 1}"
                if several
                else f"{prefix}{start}",
                name="" if several else names[start],
                unit=_SENSORS_COUNTS
                if counts is not None
                else unit_words(exponent) or "the training data's unit",
                factor=factor_text(exponent) if counts is None else f"{counts[start]:.10g}",
                low=int(low[start:stop].min()),
                high=int(high[start:stop].max()),
            )
        )
    return tuple(found)


def factor_text(exponent: int) -> str:
    """Return 10**exponent as text: "100", "0.001", "1e-07" where that is long."""
    return f"{float(f'1e{exponent}'):.10g}"


def as_it_is(model: DeviceModel) -> bool:
    """Return whether all raw values are sent in the training data's unit."""
    raw = model.raw_inputs
    return raw.counts is None and not raw.exponents.any()
