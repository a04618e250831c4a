"""Every check for every kind of stage in the registry; a new kind must bring its instances."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from laws.conformance.checks import AT_NIGHT, CHECKS
from laws.conformance.instances import KINDS, instances_of, maker_of, programs_of

from protonn_edge.chips.cores import UNO_CORE
from protonn_edge.codegen.kernels.kernel import kernels_of


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "check",
    [*CHECKS, *(pytest.param(each, marks=pytest.mark.nightly) for each in AT_NIGHT)],
    ids=lambda check: check.__name__,
)
def test_stage(kind: str, check: Callable[[str], None]) -> None:
    check(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kernel_and_instance_is_in_a_program(kind: str) -> None:
    instances, programs = instances_of(kind), programs_of(kind)
    assert {program.instance for program in programs} == set(instances)
    seen = {program.plan.kernels[program.instance.place].name for program in programs}
    stages = (instance.stage for instance in instances)
    assert seen == {kernel.name for stage in stages for kernel in kernels_of(stage, UNO_CORE)}
    assert all(instance.stage.kind == kind for instance in instances)


def test_a_kind_without_instances_fails() -> None:
    with pytest.raises(AssertionError, match=r"tests/laws/conformance/brand_new\.py"):
        maker_of("brand_new")
