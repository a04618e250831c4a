"""A table as people have it: what an operator exports from the log of a line of machines.

It has 40 columns: a time stamp, two of text, 36 sensors with units in their names, and the state.
Semicolons separate them, numbers have decimal commas, 40 % of the rows have gaps, and 13 % have one
of three faults, which change a few sensors by about as much as the load and the weather do.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

STATES = ("OK", "worn bearing", "leak", "slipping belt")
SHARES = (0.87, 0.06, 0.04, 0.03)
ROWS_WITH_GAPS = 0.4

_KINDS = (  # name, unit, mean, spread, decimals
    ("temperature", "°C", 48, 9, 1),
    ("vibration", "mm/s", 2.8, 0.7, 2),
    ("pressure", "bar", 6.1, 0.5, 2),
    ("current", "A", 11, 2.5, 1),
    ("speed", "1/min", 1450, 60, 1),
    ("flow", "l/min", 32, 5, 1),
)
_OF_EACH = 6
_GAPS = ("", "NA", "n/a", "-")


def write_table(path: Path, rows: int, seed: int) -> Path:
    """Write rows of a table; other seeds give other rows of the same machines."""
    generator = np.random.default_rng(seed)
    states = generator.choice(len(STATES), rows, p=SHARES)
    values = _sensors(states, generator)
    cells = [[_text(x, _KINDS[i // _OF_EACH][4]) for i, x in enumerate(row)] for row in values]
    for row in np.flatnonzero(generator.random(rows) < ROWS_WITH_GAPS).tolist():
        for column in generator.choice(len(cells[row]), generator.integers(1, 5), replace=False):
            cells[row][column] = str(generator.choice(_GAPS))
    names = [f"{kind} {i + 1} ({unit})" for kind, unit, *_ in _KINDS for i in range(_OF_EACH)]
    lines = [";".join(["time stamp", "machine", *names, "shift", "state"])]
    begin = datetime(2025, 3, 1, 6, tzinfo=UTC)
    for row, sensors in enumerate(cells):
        when = begin + timedelta(minutes=row)
        machine, shift = f"M{generator.integers(1, 5)}", ("early", "late", "night")[row // 480 % 3]
        cell = [f"{when:%d.%m.%Y %H:%M}", machine, *sensors, shift, STATES[states[row]]]
        lines.append(";".join(cell))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    return path


def _sensors(states: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Return the values (n, 36) of the sensors, by load, weather, noise and the fault's degree."""
    n, width = len(states), len(_KINDS) * _OF_EACH
    plant = np.random.default_rng(7)  # the same machines for every seed
    of_load, of_weather = plant.normal(0.6, 0.2, width), plant.normal(0, 0.3, width)
    effects = np.zeros((len(STATES), width))
    for state, changed in ((1, {0: 1.0, 1: 1.4}), (2, {2: -1.3, 5: -1.2}), (3, {3: -1.0, 4: 1.5})):
        for kind, change in changed.items():
            some = kind * _OF_EACH + plant.permutation(_OF_EACH)[:3]
            effects[state, some] = change * plant.uniform(0.8, 1.2, 3)
    load, weather = generator.normal(size=(2, n, 1))
    degree = generator.uniform(0.3, 1.1, (n, 1))
    noise = generator.normal(0, 0.6, (n, width))
    standard = of_load * load + of_weather * weather + degree * effects[states] + noise
    mean, spread = np.repeat([kind[2:4] for kind in _KINDS], _OF_EACH, axis=0).T
    values: np.ndarray = mean + spread * standard
    return values


def _text(value: float, decimals: int) -> str:
    """Return a number with a decimal comma, and points between thousands."""
    return f"{value:,.{decimals}f}".translate(str.maketrans(",.", ".,"))
