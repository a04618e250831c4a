"""Stages that take an image row by row: how the first of them gets its rows, and what that takes.

Each writes the rows of its output to where the next one wants them. The first one holds all of its
inputs before it computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from protonn_edge.boards.cores import Core
from protonn_edge.stages.held_inputs import HeldInputs
from protonn_edge.stages.image_stage import ImageStage
from protonn_edge.stages.kernel import Feed, Push

# Of an input that is copied to where its row is taken, on average and at most, and of a row. By the
# compiler (avr-gcc 5.4 at -O2).
_VALUE_CYCLES, _ROW_CYCLES = (8, 9), 32


@dataclass(frozen=True)
class ImageRows:
    """Rows of so many values, which a stage before hands over or the stage takes by itself.

    Attributes
    ----------
    rows, row_values, outputs, output_values : int
        Rows of the image and of the output, with the values of each.
    by_rows, to_rows : bool
        Whether the stage before it hands over rows, and the one behind takes them.
    """

    rows: int
    row_values: int
    outputs: int
    output_values: int
    by_rows: bool
    to_rows: bool

    @classmethod
    def of(cls, stage: ImageStage) -> Self:
        """Return those of a stage."""
        height, width, channels = stage.shape
        outputs, places, out = stage.output_shape
        own, given = (height, width * channels), (outputs, places * out)
        return cls(*own, *given, stage.by_rows, stage.to_rows)

    @property
    def _held(self) -> HeldInputs:
        return HeldInputs(self.rows * self.row_values)

    def mean(self, feed: Feed | None, following: Push | None) -> float:
        """Return the mean cycles of getting rows, and of calls that push rows of the output."""
        pushes = 0.0
        if following is not None:
            pushes = self.outputs * min(following.whole_mean or following.call, following.call)
        if self.by_rows:
            return pushes
        return pushes + self._taken(0) + self._held.mean(feed)

    def worst(self, feed: Feed | None, following: Push | None, core: Core) -> int:
        """Return the most cycles of that."""
        pushes = 0 if following is None else self.outputs * following.call
        if self.by_rows:
            return pushes
        calls = core.call_cycles * self.rows
        return pushes + self._taken(1) + calls + self._held.worst(feed)

    def _taken(self, most: int) -> int:
        return self.rows * (_ROW_CYCLES + _VALUE_CYCLES[most] * self.row_values)

    @property
    def state(self) -> int:
        """SRAM of values that are held, and of a row of the output."""
        held = 0 if self.by_rows else self._held.state
        return held + (0 if self.to_rows else self.output_values)

    def buffer(self, feed: Feed | None) -> int:
        """Return what the firmware takes more; see `HeldInputs.buffer`."""
        return self._held.buffer(feed)

    @property
    def push(self) -> Push | None:
        """What pushing into the stage takes; None where rows are written in place."""
        return None if self.by_rows else self._held.push
