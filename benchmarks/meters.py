"""The energy of a prediction by each power meter: its error, and the stated uncertainty.

A board with a known current is played, and the meters are emulated
(tests/extensions/lab/emulated_meters.py): with noise, a prediction of two phases, and errors of
gain and offset, drawn within the limits that protonn-edge states for the meter, at most 0.8 % of
the power. 1 % of the samples is lost. No real meter takes part.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from columns import Record, figure
from extensions.lab import emulated_meters as emulated
from runner import Benchmark, Case

from protonn_edge.extensions.lab.meters import meter_of
from protonn_edge.extensions.lab.meters.energy import metered

_ONE_RANGE = emulated.Profile(phases=(0.0470, 0.0455), idle=0.0411, noise=0.0001)
_PROFILE = emulated.Profile()
_MOST_GAIN = 0.008

_PPK2, _INA219 = ("ppk2", emulated.EmulatedPpk2), ("ina219", emulated.EmulatedIna219)
CASES = (
    Case("PPK2, one range", (*_PPK2, _ONE_RANGE)),
    Case("PPK2, two ranges", (*_PPK2, _PROFILE)),
    Case("INA219", (*_INA219, _PROFILE)),
)


def run_once(name: str, kind: Any, profile: Any, seed: int) -> Any:
    """Return the power by a meter, whose errors are as large as it states."""
    draw = np.random.default_rng(seed)
    known: Any = type(meter_of(f"{name}:x", emulated.VOLTS))
    gain = draw.uniform(-1, 1) * min(_MOST_GAIN, known.GAIN)
    offset = draw.uniform(-1, 1) * known.OFFSET_AMPERES
    with ExitStack() as stack:
        meter = kind(seed=seed, gain=gain, offset=offset, loss=0.01)
        stack.enter_context(emulated.closed_after(meter))
        board: Any = emulated.PlayedBoard(meter, profile)
        opened: Any = meter_of(f"{name}:{meter.url}", emulated.VOLTS)
        power, _ = metered(stack.enter_context(opened), board, (), emulated.UNO, host=board)
    if power.dropped != meter.lost:
        raise SystemExit(f"{name} lost {meter.lost} samples, but reports {power.dropped}")
    return power


def measure(case: Case, seeds: Sequence[int]) -> Record:
    """Return the largest error of all runs, and how many are within what the meter states."""
    name, kind, profile = case.given
    truth = (profile.busy - profile.idle) * emulated.VOLTS
    powers = [run_once(name, kind, profile, seed) for seed in seeds]
    errors = [abs(power.net_watts / truth - 1) for power in powers]
    stated = [power.net_uncertainty_watts / truth for power in powers]
    within = sum(error <= limit for error, limit in zip(errors, stated, strict=True))
    return {
        "meter": case.name,
        "rate": powers[0].rate_hz,
        "lost": 100 * powers[0].dropped / powers[0].samples,
        "energy_mj": profile.net_mj,
        "error": 100 * max(errors),
        "stated": 100 * float(np.mean(stated)),
        "within": f"{within} of {len(seeds)}",
    }


BENCHMARKS = {
    "meters": Benchmark(
        "The errors of emulated power meters, and the uncertainty that is stated.",
        CASES,
        (
            *(figure("meter", "meter"), figure("samples a second", "rate", ",.0f")),
            *(figure("lost %", "lost", ".1f"), figure("energy, mJ", "energy_mj", ".4f")),
            *(figure("largest error %", "error", ".2f"), figure("stated %", "stated", ".1f")),
            figure("within", "within"),
        ),
        measure,
        seeds=20,
    ),
}
