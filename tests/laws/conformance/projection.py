"""The projection: sums of 16 and 24 bits, coordinates that are limited, inputs without weights."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from chains import numbers_of, replace
from laws.conformance.instances import Instance, extremes_of, sums_of
from model_factory import random_inputs, random_model

from protonn_edge.kinds.projection.integers import IntegerProjection
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield projections."""
    model = quantize(random_model(1, features=100, projections=10, prototypes=20))
    yield _instance("within a byte", _reaching(model, 120))
    sparse = numbers_of(model)["projection"].copy()
    sparse[:, 7:30], sparse[3:, 40:] = 0, 0
    yield _instance("sparse", replace(model, projection=sparse))
    many = random_model(7, features=40, projections=21, prototypes=5, gamma_numerator=100.0)
    many = replace(many, prototypes=many.head.prototypes * np.float32(0.02))
    yield _instance("21 coordinates", quantize(many))
    yield _instance("24 bits", _with_large_weights(model))
    few = random_model(2, features=60, projections=6, prototypes=20)
    yield _instance("4 bits in sums of 24", _with_weights_of_4_bits(quantize(few)))
    odd = random_model(3, features=100, projections=9, prototypes=20)
    yield _instance("4 bits", quantize(replace(odd, projection_bits=4)))


def _instance(name: str, model: IntegerChain) -> Instance:
    stage = named_stages(model)["projection"]
    points, extremes = random_inputs(6, 20, model), extremes_of(stage)
    clamps = stage.clamps
    return Instance(name, model, stage, points, extremes, reached=not clamps, limited=clamps)


def _with_large_weights(model: IntegerChain) -> IntegerChain:
    weights = np.random.default_rng(0).integers(
        -128, 128, numbers_of(model)["projection"].shape, np.int8
    )
    return _in_24_bits(model, weights, 400)


def _with_weights_of_4_bits(model: IntegerChain) -> IntegerChain:
    weights = np.random.default_rng(1).integers(
        -7, 8, numbers_of(model)["projection"].shape, np.int8
    )
    return _in_24_bits(model, weights, 20)


def _in_24_bits(model: IntegerChain, weights: np.ndarray, largest: int) -> IntegerChain:
    centre = -model.inputs.maximum * weights.sum(axis=1, dtype=np.int64) // 2
    wide = replace(model, projection=weights, bias=centre, accumulator_bits=24)
    return _reaching(wide, largest)


def _reaching(model: IntegerChain, largest: int) -> IntegerChain:
    """Return the model whose coordinates are as large at most, with prototypes at some points."""
    upper = max(map(abs, named_stages(model)["projection"].accumulators.ends)) >> (
        numbers_of(model)["accumulator_bits"] - 16
    )
    offset = np.full(named_stages(model)["projection"].n_outputs, 1 << 15)
    scaled = replace(model, multiplier=65_536 * largest // upper, offset=offset)
    coordinates = named_stages(scaled)["projection"].run(
        random_inputs(6, named_stages(model)["prototypes"].n_prototypes, model)
    )
    return replace(scaled, prototypes=coordinates.T.astype(np.int8))


def reference(stage: IntegerProjection, point: list[int]) -> list[int]:
    """Return the coordinates of inputs."""
    coordinates = []
    for k, a in enumerate(sums_of(stage, point)):
        h = a if stage.accumulator_bits == 16 else a >> 8
        p = (h * stage.multiplier + int(stage.offset[k])) >> 16
        coordinates.append(min(max(p, -128), 127))
    return coordinates
