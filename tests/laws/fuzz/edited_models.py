"""Edits of the JSON in model files: of the fields of heads and features, and of their stages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from laws.fuzz.mutation import mutated_json, pick

Arrays = dict[str, np.ndarray]

_GARBLED, _OF_STAGES = 0.1, 0.25
_STAGES = "features.stages."
_KINDS = (
    *("deskew", "average_pooling", "gradients", "window_features", "audio", "convolution"),
    *("pooling", "int8_layer", "linear", "protonn", "forest", "kernels"),
)


def edited(rng: np.random.Generator, arrays: Arrays) -> Arrays:
    """Return the arrays of a model file with another number, name or stage in their JSON."""
    name = "features" if "features" in arrays and rng.random() < 0.8 else "head"
    given = json.loads(arrays[name].tobytes())
    if rng.random() < _GARBLED:
        given = mutated_json(rng, given)
    elif name == "features" and rng.random() < _OF_STAGES:
        arrays = _with_other_stages(rng, given, arrays)
    else:
        for _ in range(int(rng.choice([1, 1, 2]))):
            pick(rng, [*_edits(rng, given)])()
    return arrays | {name: np.frombuffer(json.dumps(given).encode(), np.uint8)}


def _edits(rng: np.random.Generator, given: Any) -> Iterator[Callable[[], None]]:
    """Yield an edit of each number, name and list in JSON."""
    for key, value in given.items() if isinstance(given, dict) else enumerate(given):
        if isinstance(value, dict | list):
            yield from _edits(rng, value)
        if isinstance(value, list) and len(value) > 1:
            yield lambda value=value: value.reverse()
        if not isinstance(value, dict | list) and value is not None:
            yield lambda key=key, value=value: _put(rng, given, key, value)


def _put(rng: np.random.Generator, given: Any, key: Any, value: Any) -> None:
    """Put another value of the same type."""
    if isinstance(value, bool):
        given[key] = not value
    elif isinstance(value, int):
        given[key] = int(pick(rng, (value - 1, value + 1, 2 * value, value // 2, 0, 1, 255)))
    elif isinstance(value, float):
        given[key] = float(pick(rng, (value / 2, 2 * value, -value, 0.0, 1e30)))
    else:
        given[key] = pick(rng, _KINDS)


def _with_other_stages(rng: np.random.Generator, given: Any, arrays: Arrays) -> Arrays:
    """Repeat, leave out or exchange stages in the JSON of features; return the arrays with it."""
    stages: list[tuple[Any, Arrays]] = []
    for number, stage in enumerate(given["stages"]):
        begin = f"{_STAGES}{number}."
        own = {name.removeprefix(begin): arrays[name] for name in arrays if name.startswith(begin)}
        stages.append((stage, own))
    place, other = (int(rng.integers(len(stages))) for _ in range(2))
    if rng.random() < 0.4:
        stages.insert(other, stages[place])
    elif rng.random() < 0.5:
        del stages[place]
    else:
        stages[place], stages[other] = stages[other], stages[place]
    given["stages"] = [stage for stage, _ in stages]
    kept = {name: array for name, array in arrays.items() if not name.startswith(_STAGES)}
    return kept | {
        f"{_STAGES}{number}.{name}": array
        for number, (_, own) in enumerate(stages)
        for name, array in own.items()
    }
