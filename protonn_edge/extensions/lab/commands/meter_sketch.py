"""The option of `export` for the sketch of a power meter."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from protonn_edge import __version__
from protonn_edge.cli.command import Output, option, options_of
from protonn_edge.cli.options import PATH
from protonn_edge.codegen import template_environment
from protonn_edge.codegen.projects.folder import sketch_name
from protonn_edge.device.instruments import meters
from protonn_edge.system.files import write_atomically


@dataclass(frozen=True)
class MeterOptions:
    """The option as it was given."""

    folder: Path | None = option(
        "Write a sketch that reads an INA219 into this folder, for 'hil --meter ina219:PORT'; "
        "needs no MODEL.",
        PATH,
        flag="--meter",
        metavar="FOLDER",
    )

    def write(self, out: Output, folder: Path) -> None:
        """Write the sketch, and print its path."""
        meter = meters().ina219
        sketch = folder / f"{sketch_name(folder)}.ino"
        template = template_environment("meters").get_template("ina219.ino.j2")
        write_atomically(sketch, template.render(tool_version=__version__, meter=meter))
        out.say(f"{sketch}: a sketch for an Arduino with an INA219; docs/power.md shows the wiring")
        out.finish({"sketch": str(sketch)})


METER_OPTIONS = options_of(MeterOptions)
