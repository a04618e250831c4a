"""The option of `inspect` that counts close answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import click
import numpy as np

from protonn_edge import Model, quantize
from protonn_edge.cli.command import Output, option
from protonn_edge.data.options import TableOptions
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.schema import JsonObject


@dataclass(frozen=True)
class MarginOptions(AddedOptions):
    """The option as it was given."""

    NEEDS: ClassVar[Mapping[str, str]] = {"--close": "--data"}

    close: float | None = option(
        "Count the answers of which the second largest score is nearer to the largest than this "
        "share, in per cent, of the range of scores.",
        click.FloatRange(0, 100),
        metavar="PERCENT",
    )

    def columns(self, table: TableOptions) -> TableOptions:
        """Return the options for reading the data, unchanged."""
        return table

    def measured(self, model: Model, points: Any, data: Path, out: Output) -> JsonObject:
        """Print the number of close answers; return it for the JSON object."""
        if self.close is None:
            return {}
        integers = quantize(model)
        scores = np.sort(integers.scores(integers.quantize(points.labelled[0])), axis=1)
        margins, span = scores[:, -1] - scores[:, -2], scores.max() - scores.min()
        count = int((margins < self.close / 100 * span).sum())
        out.say(f"{count:,} of {len(margins):,} points of {data.name} have close answers")
        return {"close": count}
