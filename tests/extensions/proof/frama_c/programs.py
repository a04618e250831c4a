"""The programs that are proven: every kernel of each kind, in chains of `laws.conformance`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from chains import replace
from extensions.observation.conformance.decision import observing
from extensions.research.bonsai_factory import random_bonsai_model
from forest_factory import random_forest_model
from laws.conformance.instances import KINDS, programs_of
from linear_factory import random_linear_model
from model_factory import (
    random_inputs,
    random_model,
    random_window_model,
    sharp,
    window_features_of,
)
from policy.value.numbers import fitted

from protonn_edge.codegen.plan import Plan
from protonn_edge.extensions.research.floats.model import float_build
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.policy import with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.label_sets.rule import IntegerLabelSets


class Program(NamedTuple):
    """A model, how it is computed, and a name for both."""

    name: str
    model: IntegerChain
    plan: Plan | None


def programs() -> Iterator[Program]:
    """Yield the programs of all kinds, and what no kind has."""
    for kind in KINDS:
        for program in programs_of(kind):
            instance, plan = program.instance, program.plan
            kernels = " ".join(kernel.name for kernel in plan.kernels)
            feeding = "held" if plan.buffered else "streamed"
            name = f"{kind}: {instance.name}; {kernels}; {feeding}"
            yield Program(name, instance.model, plan)
    yield from _watching()
    small = quantize(random_linear_model(features=5, classes=3))
    yield Program("confidence", sharp(small, 8.0), None)
    yield Program("label sets", with_rules(small, IntegerLabelSets(7)), None)
    yield Program("number", quantize(fitted("linear").model_), None)
    yield Program("floats", float_build(random_model()), None)


def _watching() -> Iterator[Program]:
    """Yield models of which some inputs are watched, as they come or once all are there."""
    models = {
        "pushed": quantize(random_model(1, features=12, prototypes=20)),
        "pushed in groups": quantize(random_linear_model(features=12)),
        "forest": quantize(random_forest_model()),
        "bonsai": quantize(random_bonsai_model()),
        "windows": quantize(random_window_model(window_features_of("mean,deviation,change", 8, 2))),
    }
    for name, model in models.items():
        expected = observing(model, random_inputs(3, 200, model)).expected
        step = model.n_inputs // 6 or 1
        watched = range(model.n_inputs)[::step][:8]
        moving = np.arange(model.n_classes) % 4 != 3
        chain = replace(
            model, expected=dataclasses.replace(expected, watched=watched, moving=moving)
        )
        yield Program(f"watched inputs: {name}", chain, None)
