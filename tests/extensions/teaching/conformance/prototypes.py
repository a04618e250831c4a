"""Prototypes with room for examples that a device is taught."""

from __future__ import annotations

from collections.abc import Iterator

from chains import replace
from laws.conformance.instances import Instance
from laws.conformance.prototypes import instance_of
from model_factory import random_inputs, random_model, rejecting_some, with_large_labels

from protonn_edge.model.quantization import quantize


def instances() -> Iterator[Instance]:
    """Yield prototypes."""
    own = random_model(5, features=20, projections=4, prototypes=8, classes=3)
    yield instance_of("may be taught, 16 bits", quantize(replace(own, teachable=4)))
    new = random_model(6, features=20, projections=7, prototypes=8, classes=3)
    new = quantize(replace(new, teachable=5, new_classes=1))
    yield instance_of("may be taught a new class", new)
    wide = random_model(3, features=30, projections=4, prototypes=60, gamma_numerator=0.3)
    room = with_large_labels(quantize(replace(wide, teachable=20)))
    room = rejecting_some(room, random_inputs(1, 40, room), 2)
    yield instance_of("may be taught, 32 bits, gives the nearest", room)
