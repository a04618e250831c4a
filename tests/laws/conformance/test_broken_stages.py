"""A stage that is broken on purpose fails the check that is there for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pytest
from chains import replace
from extension_parts import needs
from laws.conformance.checks import (
    assert_avr_agrees,
    assert_bytes_are_compiled,
    assert_cycles_are_estimated,
    assert_host_agrees,
    assert_range_holds,
    run_of,
)
from laws.conformance.instances import KINDS, Program, instances_of, programs_of

from protonn_edge.codegen.kernels.kernel import Cost
from protonn_edge.model.integer_stage import IntegerStage, Range

every_kind = pytest.mark.parametrize("kind", KINDS)


def as_broken(broken: type[IntegerStage], stage: Any) -> IntegerStage:
    """Return a stage as another class has it."""
    given = [field.name for field in fields(stage) if field.init]
    return broken(**{name: getattr(stage, name) for name in given})


@every_kind
@pytest.mark.parametrize("end", ["low", "high"])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_range_that_is_one_off_fails(kind: str, end: str, by: int) -> None:
    """Too small it does not hold, too large it is not reached."""
    instance = instances_of(kind)[0]
    true = instance.stage.output

    class Broken(type(instance.stage)):  # type: ignore[misc]
        @property
        def output(self) -> Range:
            moved = getattr(true, end).copy()
            moved[-1] += by
            return replace(true, **{end: moved})

    assert_range_holds(instance, instance.stage)
    with pytest.raises(AssertionError):
        assert_range_holds(instance, as_broken(Broken, instance.stage))


@dataclass(frozen=True, eq=False)
class Changed:
    """A kernel with other costs."""

    kernel: Any
    change_cost: Callable[[Cost], Cost]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def cost(self, *around: Any) -> Cost:
        return self.change_cost(self.kernel.cost(*around))


@dataclass(frozen=True, eq=False)
class Shown:
    """A kernel with other attributes, which its template reads."""

    kernel: Any
    others: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.others[name] if name in self.others else getattr(self.kernel, name)


def shortened(shown: Any, path: Sequence[str]) -> Any:
    """Return what a path of attributes leads from, with the array at its end without an entry."""
    name, *deeper = path
    value = getattr(shown, name)
    return Shown(shown, {name: shortened(value, deeper) if deeper else value[1:]})


def with_cost(program: Program, change: Callable[[Cost], Cost]) -> Program:
    """Return a program whose stage says that it takes something else."""
    return program.with_kernel(lambda kernel: Changed(kernel, change_cost=change))


@every_kind
@pytest.mark.parametrize("times", [0.4, 8.0])
def test_cycles_of_another_order_fail(kind: str, times: float) -> None:
    program = programs_of(kind)[0]
    more = (times - 1) * program.plan.cycles
    plan = with_cost(program, lambda cost: replace(cost, cycles=cost.cycles + more)).plan
    with pytest.raises(AssertionError, match="the plan says"):
        assert_cycles_are_estimated(plan, run_of(program))


@every_kind
@pytest.mark.parametrize("by", [-1, 1])
def test_state_that_is_a_byte_off_fails(kind: str, by: int) -> None:
    program = programs_of(kind)[0]
    broken = with_cost(program, lambda cost: replace(cost, state=cost.state + by))
    with pytest.raises(AssertionError, match="variables take"):
        assert_bytes_are_compiled(broken.plan, run_of(program).compiled)


@every_kind
def test_tables_that_are_a_byte_short_fail(kind: str) -> None:
    program = programs_of(kind)[0]
    spare = program.plan.table_bytes - run_of(program).compiled.constants
    for by, fits in ((spare, True), (spare + 1, False)):
        plan = with_cost(program, lambda cost, by=by: replace(cost, tables=cost.tables - by)).plan
        if fits:
            assert_bytes_are_compiled(plan, run_of(program).compiled)
            continue
        with pytest.raises(AssertionError, match="constants take"):
            assert_bytes_are_compiled(plan, run_of(program).compiled)


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        ("window_features", "scales"),
        ("projection", "stage.offset"),
        ("prototypes", "rows"),
        ("prototypes", "stage.table"),
        ("forest", "lines"),
        pytest.param("bonsai_tree", "stage.flash.lines", marks=needs("research")),
        pytest.param("bonsai_tree", "stage.table", marks=needs("research")),
    ],
)
def test_an_array_that_is_one_too_short_fails(kind: str, array: str) -> None:
    """Its first entry is left out; C fills its end up with 0."""

    def change(kernel: Any) -> Any:
        return shortened(kernel, array.split("."))

    program = programs_of(kind)[0]
    broken = program.with_kernel(change)
    with pytest.raises(AssertionError):
        assert_host_agrees(broken)


def test_an_uno_that_scales_otherwise_fails() -> None:
    program = programs_of("average_pooling")[0]

    def change(kernel: Any) -> Any:
        stage = kernel.stage
        return Shown(kernel, {"stage": Shown(stage, {"multiplier": stage.multiplier * 9 // 10})})

    broken = program.with_kernel(change)
    with pytest.raises(AssertionError, match="other scores"):
        assert_avr_agrees(run_of(broken))
