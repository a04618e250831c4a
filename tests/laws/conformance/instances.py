"""What the checks of a stage run on, and where each kind's instances come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Any, Protocol, cast

import numpy as np
from extension_parts import modules

from protonn_edge.chips.cores import UNO_CORE
from protonn_edge.codegen.kernels.kernel import KERNELS, kernels_of
from protonn_edge.codegen.plan import Plan, plan_with
from protonn_edge.codegen.planner import plan_of
from protonn_edge.model.integer_chain import IntegerChain, named_stages
from protonn_edge.model.integer_stage import IntegerStage

KINDS = tuple(KERNELS)


def sums_of(stage: Any, point: list[int]) -> list[int]:
    """Return the sums of a matrix's products with inputs."""
    sums = []
    for k, weights in enumerate(stage.weights.tolist()):
        a = int(stage.bias[k])
        for weight, q in zip(weights, point, strict=True):
            a += weight * q
        sums.append(a)
    return sums


def extremes_of(stage: Any) -> np.ndarray:
    """Return inputs at which each sum of a matrix's products is least, and largest."""
    ends = [(sign * stage.weights.astype(int) > 0) * stage.input_maximum for sign in (-1, 1)]
    return np.concatenate(ends)


@dataclass(frozen=True, eq=False)
class Instance:
    """A small model that has the stage.

    Attributes
    ----------
    name : str
        What is special about it.
    model : IntegerChain
        The smallest chain with the stage in it.
    stage : IntegerStage
        One of its stages.
    points : ndarray of shape (n, features), uint8
        What the device is fed.
    extremes : ndarray of shape (e, n_inputs)
        Inputs of the stage at the ends of its range, and at corners of its arithmetic.
    reached : bool
        Whether every end of the range is reached at them; else it is a bound.
    limited : bool
        Whether values beyond the range are to the next stage what the end of the range is.
    estimated : float
        The least share of the most cycles of a point that a plan may state.
    """

    name: str
    model: IntegerChain
    stage: IntegerStage
    points: np.ndarray
    extremes: np.ndarray
    reached: bool = True
    limited: bool = False
    estimated: float = 0.6

    @property
    def place(self) -> int:
        """Where the stage is in the chain."""
        return self.model.stages.index(self.stage)

    @property
    def stage_name(self) -> str:
        """What the chain calls it."""
        return list(named_stages(self.model))[self.place]

    @property
    def inputs(self) -> np.ndarray:
        """What the stage is given: for the points, and the extremes."""
        x: np.ndarray = self.points
        for stage in self.model.stages[: self.place]:
            x = stage.run(x)
        return np.concatenate([x, self.extremes.astype(x.dtype)])


class Maker(Protocol):
    """The module ``conformance.KIND``; one of an extension may add instances to the core's."""

    def instances(self) -> Iterator[Instance]:
        """Yield instances, the first one with a range that is reached."""

    def reference(self, stage: Any, point: list[int]) -> list[int]:
        """Return what the stage makes of a point, in plain loops from the formula's text."""


@dataclass(frozen=True, eq=False)
class Program:
    """An instance, and one way to compute it on an Uno."""

    instance: Instance
    plan: Plan

    def with_kernel(self, change: Callable[[Any], Any]) -> Program:
        """Return the program with another kernel of the stage, and the costs that follow."""
        kernels = list(self.plan.kernels)
        kernels[self.instance.place] = change(kernels[self.instance.place])
        plan = plan_with(kernels)
        return replace(self, plan=plan)


def modules_of(kind: str) -> list[ModuleType]:
    """Return the modules ``conformance.KIND`` of the core and of extensions."""
    found = modules("conformance", kind)
    assert found, (
        f"the kind {kind!r} of the registry has no instances to check; write "
        f"tests/laws/conformance/{kind}.py with instances() and reference()"
    )
    return found


def maker_of(kind: str) -> Maker:
    """Return what makes instances of a kind, and computes them."""
    return cast(Maker, modules_of(kind)[0])


@cache
def instances_of(kind: str) -> tuple[Instance, ...]:
    """Return the instances of a kind."""
    return tuple(each for module in modules_of(kind) for each in _instances_in(module))


@cache
def _instances_in(module: ModuleType) -> tuple[Instance, ...]:
    return tuple(module.instances())


def programs_of(kind: str) -> tuple[Program, ...]:
    """Return programs with every kernel and instance of a kind."""
    return tuple(each for module in modules_of(kind) for each in programs_in(module))


@cache
def programs_in(module: ModuleType) -> tuple[Program, ...]:
    """Return programs with every kernel and instance of a module.

    Compiling is what takes time, so instances take turns.
    """
    instances = _instances_in(module)
    able = {
        instance: [kernel.name for kernel in kernels_of(instance.stage, UNO_CORE)]
        for instance in instances
    }
    left = list(instances)
    programs = []
    for kernel in dict.fromkeys(each for some in able.values() for each in some):
        candidates = [instance for instance in instances if kernel in able[instance]]
        instance = next((each for each in candidates if each in left), candidates[0])
        left = [each for each in left if each is not instance]
        programs.append(_program(instance, kernel))
    return (*programs, *(_program(instance, able[instance][0]) for instance in left))


def _program(instance: Instance, kernel: str) -> Program:
    return Program(instance, plan_of(instance.model, {instance.stage_name: kernel}))
