"""``protonn-edge meter``: Write the sketch of a power meter for 'hil'."""

from __future__ import annotations

from pathlib import Path

from protonn_edge import __version__
from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.options import FOLDER
from protonn_edge.codegen import template_environment
from protonn_edge.device.instruments import meters
from protonn_edge.projects.folder import sketch_name
from protonn_edge.system.files import write_atomically


@command("meter", examples=("-o meter",))
def meter_command(
    output: Path = option("The folder of the sketch.", FOLDER, shown=Path("meter")),
    out: Output = OUTPUT,
) -> None:
    """Write a sketch that reads an INA219, for 'hil --meter ina219:PORT'."""
    meter = meters().ina219
    sketch = output / f"{sketch_name(output)}.ino"
    template = template_environment("meters").get_template("ina219.ino.j2")
    write_atomically(sketch, template.render(tool_version=__version__, meter=meter))
    out.say(f"{sketch}: a sketch for an Arduino with an INA219; docs/power.md shows the wiring")
    out.finish({"sketch": str(sketch)})
