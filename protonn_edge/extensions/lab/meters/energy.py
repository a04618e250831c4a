"""The power that a board draws for predictions beyond its power while waiting, with uncertainty.

Predictions are repeated in batches, between which the board waits. A batch is a pulse of the
board's busy pin. Only the middle of each batch and of each pause counts: meters lag behind the
pin, and the serial line is busy around a batch. docs/harness.md explains the model.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.device.connection import Host
from protonn_edge.device.protocol import MOST_REPETITIONS
from protonn_edge.device.session import Prediction, Session
from protonn_edge.extensions.lab.meters.meter import LONGEST_S, Meter, MeterSamples
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InstrumentError
from protonn_edge.system.schema import JsonObject

_BATCHES, _BATCH_S = 10, 0.25
_LONGEST_BATCH_S = LONGEST_S / (2.5 * _BATCHES)
_BEGIN_S, _LEAST_PAUSE_S = 1.0, 0.1
_BETWEEN_CYCLES = 130  # two repetitions
_STUDENT = 2.262  # 95 %, two-sided, for this number of batches
_BATCH_SHARE = 0.8
_IN_PAUSE, _IN_TRACE = (0.25, 0.75), (-0.25, 1.75)
_LEAST_SAMPLES, _TRACE_POINTS = 8, 120
_DURATION_ERROR = 0.05  # of a batch: the clocks of the board and of the meter, lost samples
_MOST = 1e4  # plausible volts and amperes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MeteredPower:
    """A board's power in watts, by a meter, with 95 % uncertainties."""

    meter: str
    busy_watts: float  # while it predicts
    busy_uncertainty_watts: float
    idle_watts: float  # between predictions
    net_watts: float  # the difference
    net_uncertainty_watts: float
    volts: float
    repetitions: int  # of the prediction in each of ten batches
    samples: int
    dropped: int  # samples that the meter lost
    rate_hz: float
    trace_ms: tuple[float, ...]  # around the first batch, from its beginning
    trace_mw: tuple[float, ...]

    @property
    def title(self) -> str:
        """The heading of a table of the facts."""
        return "By the meter"

    @property
    def caption(self) -> str:
        """A sentence below the trace."""
        return (
            f"The board's power, measured by the {self.meter} before, during and after a batch of "
            f"{self.repetitions:,} predictions (maximum: {max(self.trace_mw):.4g} mW)."
        )

    def facts(self, latency_ms: float) -> list[tuple[str, str]]:
        """Return the rows of a table, for a prediction of this latency."""

        def energy(watts: float, error: float) -> str:
            ms = latency_ms
            return f"{ms * watts:.4f} +- {ms * error:.4f} mJ, at {watts:.4f} +- {error:.4f} W"

        lost = f", {self.dropped:,} more lost" if self.dropped else ""
        return [
            (f"energy by {self.meter}", energy(self.busy_watts, self.busy_uncertainty_watts)),
            ("above idle", energy(self.net_watts, self.net_uncertainty_watts)),
            ("the meter's samples", f"{self.samples:,} at {self.rate_hz:,.6g} Hz{lost}"),
        ]

    def to_json(self, latency_ms: float) -> JsonObject:
        """Return it with the energies of a prediction of this latency."""
        facts = asdict(self)
        powers = [name for name in facts if name.endswith("_watts")]
        return facts | {name.replace("watts", "mj"): latency_ms * facts[name] for name in powers}


@dataclass(frozen=True)
class Work:
    """A board's work while a meter samples: batches with pauses of at least the same length."""

    board: Board
    repetitions: int
    batch_s: float

    @property
    def pause_s(self) -> float:
        """Seconds behind a batch without anything on the line."""
        return max(_LEAST_PAUSE_S, self.batch_s)


def metered(
    meter: Meter,
    session: Session,
    features: ArrayLike,
    board: Board,
    repetitions: int | None = None,
    host: Host | None = None,
) -> tuple[MeteredPower, Prediction]:
    """Measure the power of a board that repeats a prediction.

    - `features`: one quantized input, as for `Session.predict`.
    - `repetitions`: predictions per batch; by default as many as take 0.25 s.

    Returns the power, and the prediction with the cycles of a batch. Raises the errors of
    `Session.repeat`, `InputError` if batches are too long, `InstrumentError` if the meter is at
    fault.
    """
    host = host or Host()
    each_s = (session.predict(features).cycles + _BETWEEN_CYCLES) / board.clock_hz
    n = repetitions or min(MOST_REPETITIONS, math.ceil(_BATCH_S / each_s))
    work = Work(board, n, n * each_s)
    check(
        work.batch_s <= _LONGEST_BATCH_S,
        f"{n:,} repetitions",
        f"{work.batch_s:.3g} s",
        f"at most {_LONGEST_BATCH_S:g} s",
        f"give --repeat {int(_LONGEST_BATCH_S / each_s)} or less",
    )
    meter.start()
    host.sleep(_BEGIN_S)
    for _ in range(_BATCHES):
        prediction = session.repeat(features, n)
        host.sleep(work.pause_s)
    return power_of(meter.stop(), meter, work), prediction


def power_of(samples: MeterSamples, meter: Meter, work: Work) -> MeteredPower:
    """Return a board's power; `InstrumentError` if the samples do not show its batches."""
    seconds, volts, power = samples.seconds, samples.volts, samples.volts * samples.amperes
    if len(power) < 2 or not (np.abs([volts, samples.amperes]) < _MOST).all():
        raise InstrumentError(f"the {meter.NAME} sends impossible values; plug the meter in again")
    spans = _batches(samples, meter, work)
    pauses = spans[:, 1:] + [0.0, work.pause_s]
    # Whole predictions: their phases differ.
    margin = 0.5 - 0.5 * max(1, int(_BATCH_SHARE * work.repetitions)) / work.repetitions
    busy = [_places(seconds, span, (margin, 1 - margin), meter) for span in spans]
    idle = [_places(seconds, pause, _IN_PAUSE, meter) for pause in pauses]
    held_s = np.diff(seconds, append=seconds[-1])
    busy_w, idle_w = (
        np.array([np.average(power[each], weights=held_s[each]) for each in parts])
        for parts in (busy, idle)
    )
    total, rest, offset = busy_w.mean(), idle_w.mean(), meter.OFFSET_AMPERES * volts.mean()
    if total <= 0:
        raise InstrumentError(
            f"the {meter.NAME} measured {total:.3g} W, but a board that predicts draws more than 0 "
            "W; connect the meter between the supply and the board, in the right direction"
        )
    clock = abs((spans[:, 1] - spans[:, 0]).mean() / work.batch_s - 1)
    # Within one range, offsets cancel, and the error of the gain is that of the difference.
    net_error = meter.GAIN * abs(total - rest)
    if len(np.unique(samples.ranges[np.concatenate(busy + idle)])) > 1:
        net_error = meter.GAIN * (abs(total) + abs(rest)) + 2 * offset
    net_error += clock * abs(total - rest) + _spread(busy_w - idle_w)
    around = _places(seconds, spans[0], _IN_TRACE, meter)
    trace = [part for part in np.array_split(around, _TRACE_POINTS) if len(part)]
    return MeteredPower(
        meter=meter.NAME,
        busy_watts=float(total),
        busy_uncertainty_watts=float(_spread(busy_w) + (meter.GAIN + clock) * abs(total) + offset),
        idle_watts=float(rest),
        net_watts=float(total - rest),
        net_uncertainty_watts=float(net_error),
        volts=float(volts.mean()),
        repetitions=work.repetitions,
        samples=len(power),
        dropped=samples.dropped,
        rate_hz=1 / float(np.median(np.diff(seconds))),
        trace_ms=tuple(1000 * float(seconds[part].mean() - spans[0, 0]) for part in trace),
        trace_mw=tuple(1000 * float(power[part].mean()) for part in trace),
    )


def _batches(samples: MeterSamples, meter: Meter, work: Work) -> Floats:
    """Return the beginnings and ends (batches, 2) of the trigger's pulses that are batches."""
    edges = np.flatnonzero(np.diff(samples.trigger.astype(np.int8))) + 1
    edges = edges[int(samples.trigger[0]) :]
    pulses = samples.seconds[edges[: len(edges) // 2 * 2]].reshape(-1, 2)
    slack_s = _DURATION_ERROR * work.batch_s + 2 * np.median(np.diff(samples.seconds))
    marked = pulses[np.abs(pulses[:, 1] - pulses[:, 0] - work.batch_s) <= slack_s]
    if len(marked) != _BATCHES or (marked[1:, 0] - marked[:-1, 1] < 0.9 * work.pause_s).any():
        raise InstrumentError(
            f"the {meter.NAME} detected {len(marked)} of {_BATCHES} expected pulses of "
            f"{1000 * work.batch_s:.4g} ms, and {len(pulses) - len(marked)} other pulses; connect "
            f"{work.board.busy_pin} of {work.board.name} to the meter's {meter.TRIGGER}, and "
            "connect the grounds"
        )
    return marked


def _places(
    seconds: Floats, span: Floats, shares: tuple[float, float], meter: Meter
) -> NDArray[np.int64]:
    """Return the places of the samples in a part of a span."""
    part = span[0] + np.array(shares) * (span[1] - span[0])
    places = np.arange(*np.searchsorted(seconds, part))
    if len(places) < _LEAST_SAMPLES:
        raise InstrumentError(
            f"the {meter.NAME} took {len(places)} samples in {1000 * (part[1] - part[0]):.3g} ms, "
            f"but at least {_LEAST_SAMPLES} are needed; give a larger --repeat"
        )
    return places


def _spread(values: Floats) -> float:
    """Return the 95 % uncertainty of the mean of batches, by their own spread."""
    return float(_STUDENT * values.std(ddof=1) / math.sqrt(_BATCHES))
