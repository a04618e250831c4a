"""The option of `export` for the sketch of a power meter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from protonn_edge import __version__
from protonn_edge.cli.command import Output, option
from protonn_edge.cli.firmware_additions import OtherExport
from protonn_edge.cli.options import PATH
from protonn_edge.codegen.projects.folder import sketch_name
from protonn_edge.codegen.renderer import template_environment
from protonn_edge.extensions.lab.meters import ina219
from protonn_edge.system.files import write_atomically


@dataclass(frozen=True)
class MeterOptions(OtherExport):
    """The option as it was given."""

    APART: ClassVar[Mapping[str, str]] = {"--meter": "model_file --arduino --sensor"}

    folder: Path | None = option(
        "Write a sketch that reads an INA219 into this folder, for 'hil --meter ina219:PORT'; "
        "needs no MODEL.",
        PATH,
        flag="--meter",
        metavar="FOLDER",
    )

    @property
    def is_given(self) -> bool:
        """Whether a folder is named."""
        return self.folder is not None

    def write(self, out: Output, *_: object, **__: object) -> None:
        """Write the sketch, and print its path."""
        folder = self.folder
        assert folder is not None
        sketch = folder / f"{sketch_name(folder)}.ino"
        template = template_environment("meters").get_template("ina219.ino.j2")
        write_atomically(sketch, template.render(tool_version=__version__, meter=ina219))
        out.say(f"{sketch}: a sketch for an Arduino with an INA219; wiring: docs/harness.md")
        out.finish({"sketch": str(sketch)})
