"""The section about the next step: the model in the user's own sketch."""

from __future__ import annotations

from protonn_edge.evaluation.evidence import Evidence
from protonn_edge.export.own_sketch import NAME, own_sketch
from protonn_edge.quantization import IntegerChain
from protonn_edge.report.content import Listing, Panel, Table


def sketch_panels(one: Evidence, salt: str) -> list[Panel]:  # noqa: ARG001  (as all of these)
    """Return the command for exporting a model, a sketch with it, and its classes' constants."""
    if not isinstance(one.reference, IntegerChain):
        return []
    sketch = own_sketch(one.reference, one.board)
    return [
        Panel(
            caption=(
                f"Export the library, in the project's folder. Then put the folder {NAME} into the "
                "folder “libraries” of your sketchbook. For PlatformIO, export with --platformio "
                "into the folder “lib” of your project."
            ),
            listing=Listing("The command", sketch.command),
            table=Table(("constant", "class"), sketch.constants, texts=frozenset({1})),
            table_name="What pnn_finish() returns",
        ),
        Panel(
            caption=(
                f"Read your sensor where the sketch says so. Feature i is {sketch.feature}, and "
                f"raw a whole number: {sketch.raw}."
            ),
            listing=Listing("The sketch", sketch.code),
        ),
    ]
