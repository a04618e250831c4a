"""Libraries for chips with more than 64 kB of flash hold no more tables than the code can read.

On computers, plain C reads tables of any size; its indices of 16 bits wrapped around.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from avr_tools import EMULATED_AVR, skip_without
from generated_programs import assert_equal_to_reference
from linear_factory import random_linear_model
from model_factory import random_inputs, random_model

from protonn_edge.codegen.export.exporting import export
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import make_plan
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed


def test_a_self_test_has_room_beside_large_tables(tmp_path: Path) -> None:
    skip_without(*EMULATED_AVR)
    model = random_linear_model(features=500, classes=100)
    exported = export(model, "arduino", tmp_path / "large", "mega2560")
    assert exported.plan.table_bytes >= 50_000
    assert exported.tried.n == exported.vectors
    assert 1 <= exported.vectors < 20


def test_tables_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    model = random_linear_model(features=700, classes=100)
    with pytest.raises(
        CheckFailed, match=r"need 70,\d{3} B of flash, but .* can read only \d{2},\d{3} B"
    ):
        export(model, "platformio", tmp_path / "far", "mega2560", tries=False)
    assert not (tmp_path / "far").exists()
    export(model, "c", tmp_path / "c", tries=False)


def many_prototypes() -> Model:
    """Return a model in which each prototype is near enough to count for every point."""
    sizes = {"features": 30, "prototypes": 640, "classes": 100, "projections": 20}
    return random_model(1, **sizes, gamma_numerator=1.0)


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (many_prototypes, None),
        (lambda: random_linear_model(features=28_000, classes=3), "columns"),
    ],
)
def test_plain_c_reads_larger_tables(make: Callable[[], Model], kernel: str | None) -> None:
    model = quantize(make())
    plan = make_plan(model, kernel=kernel)
    assert plan.table_bytes > 1 << 16
    with host_program(model, plan, sanitize=True) as program:
        assert_equal_to_reference(program, model, random_inputs(9, 40, model))
