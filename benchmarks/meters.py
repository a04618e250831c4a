"""The energy of a prediction by each power meter: its error, and the stated uncertainty.

    python benchmarks/meters.py [--seeds N] [--json]

prints one row a meter and rate. A board with a known current is played, and the meters are
emulated (tests/extensions/lab/emulated_meters.py): with noise, a prediction of two phases, and
errors of gain and offset, drawn within the limits that protonn-edge states for the meter, at most
0.8 % of the power. 1 % of the samples is lost. No real meter takes part.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import Columns, print_table

from protonn_edge.extensions.lab.meters import meter_of
from protonn_edge.extensions.lab.meters.energy import metered

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from extensions.lab import emulated_meters as emulated

_ONE_RANGE = emulated.Profile(phases=(0.0470, 0.0455), idle=0.0411, noise=0.0001)
_PROFILE = emulated.Profile()
_MOST_GAIN = 0.008

ROWS: list[tuple[str, str, Any, dict[str, Any], emulated.Profile]] = [
    ("PPK2, one range", "ppk2", emulated.EmulatedPpk2, {"loss": 0.01}, _ONE_RANGE),
    ("PPK2, two ranges", "ppk2", emulated.EmulatedPpk2, {"loss": 0.01}, _PROFILE),
    ("INA219", "ina219", emulated.EmulatedIna219, {"loss": 0.01}, _PROFILE),
]

COLUMNS: Columns = [
    ("meter", lambda r: r["meter"]),
    ("samples a second", lambda r: f"{r['rate']:,.0f}"),
    ("lost", lambda r: f"{100 * r['lost']:.1f} %"),
    ("energy, mJ", lambda r: f"{r['energy_mj']:.4f}"),
    ("largest error", lambda r: f"{100 * r['error']:.2f} %"),
    ("stated", lambda r: f"{100 * r['stated']:.1f} %"),
    ("within", lambda r: f"{r['within']} of {r['runs']}"),
    ("exact meter: largest error", lambda r: f"{100 * r['exact_error']:.2f} %"),
    ("stated", lambda r: f"{100 * r['exact_stated']:.2f} %"),
    ("within", lambda r: f"{r['exact_within']} of {r['runs']}"),
]


def run_once(name: str, kind: Any, settings: dict[str, Any], profile: Any, seed: int) -> Any:
    """Return the power by a meter, whose errors are as large as it states."""
    draw = np.random.default_rng(seed)
    known: Any = type(meter_of(f"{name}:x", emulated.VOLTS))
    gain = draw.uniform(-1, 1) * min(_MOST_GAIN, known.GAIN)
    offset = draw.uniform(-1, 1) * known.OFFSET_AMPERES
    with ExitStack() as stack:
        meter = kind(seed=seed, gain=gain, offset=offset, **settings)
        stack.enter_context(emulated.closed_after(meter))
        board: Any = emulated.PlayedBoard(meter, profile)
        opened: Any = meter_of(f"{name}:{meter.url}", emulated.VOLTS)
        power, _ = metered(stack.enter_context(opened), board, (), emulated.UNO, host=board)
    if power.dropped != meter.lost:
        raise SystemExit(f"{name} lost {meter.lost} samples, but reports {power.dropped}")
    return power


def measure_row(title: str, name: str, kind: Any, settings: Any, profile: Any, seeds: int) -> Any:
    """Return a row: with errors of the meter, and with a meter that has and states none."""
    truth = (profile.busy - profile.idle) * emulated.VOLTS
    row: dict[str, Any] = {"meter": title, "energy_mj": profile.net_mj, "runs": seeds}
    known: Any = type(meter_of(f"{name}:x", emulated.VOLTS))
    limits = known.GAIN, known.OFFSET_AMPERES
    for prefix, (gain, offset) in ("", limits), ("exact_", (0.0, 0.0)):
        with patch.multiple(known, GAIN=gain, OFFSET_AMPERES=offset):
            powers = [run_once(name, kind, settings, profile, seed) for seed in range(seeds)]
        errors = [abs(power.net_watts / truth - 1) for power in powers]
        stated = [power.net_uncertainty_watts / truth for power in powers]
        row |= {
            f"{prefix}error": max(errors),
            f"{prefix}stated": float(np.mean(stated)),
            f"{prefix}within": sum(e <= limit for e, limit in zip(errors, stated, strict=True)),
        }
    first = powers[0]
    return row | {"rate": first.rate_hz, "lost": first.dropped / first.samples}


@click.command()
@click.option("--seeds", default=20, show_default=True, help="Runs of each row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(seeds: int, as_json: bool) -> None:
    """Print the errors of the emulated meters."""
    print_table(_rows(seeds), COLUMNS, as_json)


def _rows(seeds: int) -> Iterator[Any]:
    for title, name, kind, settings, profile in ROWS:
        yield measure_row(title, name, kind, settings, profile, seeds)


if __name__ == "__main__":
    main()
