"""Hidden layers: sums of 16 and 24 bits, one layer and two, numbers that are equal."""

from __future__ import annotations

from collections.abc import Iterator

from dense_factory import random_chain
from laws.conformance.instances import Instance, extremes_of, sums_of
from model_factory import random_inputs

from protonn_edge.kinds.dense.integers import IntegerDense
from protonn_edge.model.integer_chain import IntegerChain


def instances() -> Iterator[Instance]:
    """Yield hidden layers."""
    yield _instance("16 bits", random_chain(0, features=120))
    wide = random_chain(1, features=130, hidden=(11,), bits=(24, 24), largest=(127, 60))
    yield _instance("24 bits, far above the limit", wide)
    sparse = random_chain(2, features=300, hidden=(20,), rows=1, density=0.1, multipliers=(2,))
    yield _instance("sparse, two classes, below the limit", sparse)
    four = random_chain(3, features=80, hidden=(12,), bits=(24, 16), largest=(7, 3), maximum=255)
    yield _instance("4 bits in sums of 24", four)
    two = random_chain(
        4,
        hidden=(30, 11),
        bits=(16, 24, 24),
        largest=(12, 40, 60),
        multipliers=(7, 120),
    )
    yield _instance("the second of two layers", two, place=1)
    units = random_chain(5, features=24, hidden=(24,), multipliers=(24,))
    yield _instance("as many units as its multiplier", units)
    equal = {"hidden": (11, 11), "rows": 11, "multipliers": (11, 11)}
    all_equal = random_chain(6, features=11, bits=(24,) * 3, largest=(90, 60, 60), **equal)
    yield _instance("all numbers equal, 24 bits", all_equal, place=1)


def _instance(name: str, model: IntegerChain, place: int = 0) -> Instance:
    stage = model.own_stages[place]
    assert isinstance(stage, IntegerDense)
    return Instance(name, model, stage, random_inputs(8, 20, model), extremes_of(stage))


def reference(stage: IntegerDense, point: list[int]) -> list[int]:
    """Return the values of inputs."""
    values = []
    for a in sums_of(stage, point):
        h = a if stage.accumulator_bits == 16 else a >> 8
        values.append(min(max(h, 0) * stage.multiplier >> 8, 255))
    return values
