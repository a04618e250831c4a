"""What holds for the options and arguments of every command: numbers have ends, data points."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from command_line import every_command

from protonn_edge.cli import main
from protonn_edge.cli.options import FiniteRange
from protonn_edge.cli.paths import PointsFile, shown_name


def beyond(numbers: click.IntRange | click.FloatRange) -> Iterator[float | str]:
    """Yield numbers that are not in a range, and what is no number."""
    step = 1 if isinstance(numbers, click.IntRange) else 1e-9
    if numbers.min is not None:
        yield numbers.min if numbers.min_open else numbers.min - step * max(1, abs(numbers.min))
    if numbers.max is not None:
        yield numbers.max if numbers.max_open else numbers.max + step * max(1, abs(numbers.max))
    yield from ("nan", "inf", "-inf", "1e999", "9" * 400, "many", "")


@pytest.mark.parametrize("name", every_command())
def test_a_number_beyond_its_ends_is_refused_with_its_option(name: str) -> None:
    command = every_command()[name]
    for param in command.params:
        numbers = getattr(param.type, "_numbers", param.type)  # of numbers, or of a word instead
        is_float = isinstance(numbers, click.types.FloatParamType)
        assert isinstance(numbers, FiniteRange) or not is_float, "nan is a number"
        if not isinstance(numbers, click.IntRange | FiniteRange):
            continue
        for value in beyond(numbers):
            if isinstance(value, str) and value.startswith("9") and numbers.max is None:
                continue
            with pytest.raises(click.UsageError) as refused:
                command.make_context(name, [f"{param.opts[0]}={value}"], parent=click.Context(main))
            assert f"'{param.opts[0]}'" in str(refused.value)


def test_every_command_declares_what_has_points() -> None:
    params = [param for command in every_command().values() for param in command.params]
    named = [param for param in params if shown_name(param) == "DATA"]
    assert len(named) > 2
    assert all(isinstance(param.type, PointsFile) for param in named)
