"""The option of 'report' for the result of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from protonn_edge.cli.command import option, options_of
from protonn_edge.cli.options import PATH

if TYPE_CHECKING:
    from protonn_edge.report.content import Section


@dataclass(frozen=True)
class FrontOptions:
    """The option as it was given."""

    path: Path | None = option(
        "The JSON file that 'tune --front' wrote, to plot the front.", PATH, flag="--front"
    )

    def sections(self) -> Sequence[Section]:
        """Return the section about the search, if it is asked for."""
        from protonn_edge.report.front import front_section, read_front  # noqa: PLC0415 - few do

        return () if self.path is None else (front_section(read_front(self.path)),)


FRONT_OPTIONS = options_of(FrontOptions)
