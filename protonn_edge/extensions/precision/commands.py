"""The option of `build` and `verify` for float builds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import click

from protonn_edge.cli.command import option
from protonn_edge.extensions.precision import NAME
from protonn_edge.system.extensions import AddedOptions

_INTEGERS = "int8"

_PRECISION = option(
    f"Number format of the parameters on the device; {NAME} is only for comparison, and its scores "
    "are compared within rounding errors.",
    click.Choice((_INTEGERS, NAME)),
    shown=_INTEGERS,
    group="Limits",
)


@dataclass(frozen=True)
class PrecisionOptions(AddedOptions):
    """Whether the device computes in floats."""

    precision: str = _PRECISION

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions that the firmware has."""
        return ("precision",) if self.precision == NAME else ()


class BuildPrecisionOptions(PrecisionOptions):
    """The same, for `build`, some options of which are for integers only."""

    APART: ClassVar[Mapping[str, str]] = {f"--precision={NAME}": "--sensor --observe"}
