"""The programs that are proven: every kernel of every kind, in chains of `tests/conformance`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chains import replace
from conformance.instances import KINDS, programs_of
from model_factory import random_model, tiny_integer_model

from protonn_edge.codegen import Plan
from protonn_edge.quantization import DeviceModel, device_model


class Program(NamedTuple):
    """A model, how it is computed, and a name for both."""

    name: str
    model: DeviceModel
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
    yield Program("confidence", replace(tiny_integer_model(), sharpness=8.0), None)
    yield Program("floats", device_model(random_model(), "float32"), None)
