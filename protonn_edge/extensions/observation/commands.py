"""The option of `build` and `export` for firmware that observes its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from protonn_edge.cli.command import option
from protonn_edge.system.extensions import AddedOptions

_OBSERVE = option(
    "Make the device count its answers and compare the counts with the expected ones; 'monitor "
    "--health' reads the counters.",
    is_flag=True,
)


@dataclass(frozen=True)
class ObserveOptions(AddedOptions):
    """Whether the firmware observes its answers."""

    NEEDS: ClassVar[Mapping[str, str]] = {"--observe": "model_file"}

    observe: bool = _OBSERVE

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions that the firmware has."""
        return ("observation",) if self.observe else ()
