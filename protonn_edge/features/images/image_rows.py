"""Stages that take an image row by row: how the first of them gets its rows, and what that takes.

Each writes the rows of its output to where the next one wants them. The first one holds all of its
inputs before it computes, and has the memory of all their rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.avr.cores import Core
from protonn_edge.features.images.image_stage import ImageStage
from protonn_edge.features.images.row_memory import RowMemory, row_memory
from protonn_edge.kernels.held_inputs import COUNTER_BYTES, HeldInputs
from protonn_edge.kernels.kernel import Feed, Push

# Of an input that is copied to where its row is taken, on average and at most, and of a row. By the
# compiler (avr-gcc 5.4 at -O2).
_VALUE_CYCLES, _ROW_CYCLES = (8, 9), 32


@dataclass(frozen=True)
class ImageRows:
    """Rows of a stage, which the one before it hands over or the stage takes by itself."""

    stage: ImageStage

    @property
    def rows(self) -> int:
        """Rows of the image."""
        return self.stage.shape[0]

    @property
    def row_values(self) -> int:
        """Values of one of them."""
        _, width, channels = self.stage.shape
        return width * channels

    @property
    def outputs(self) -> int:
        """Rows of the output."""
        return self.stage.output_shape[0]

    @property
    def output_values(self) -> int:
        """Values of one of them."""
        _, places, channels = self.stage.output_shape
        return places * channels

    @property
    def by_rows(self) -> bool:
        """Whether the stage before it hands over rows."""
        return self.stage.by_rows

    @property
    def to_rows(self) -> bool:
        """Whether the stage behind it takes them."""
        return self.stage.to_rows

    @property
    def memory(self) -> RowMemory:
        """That of all rows and of the image, where the inputs of the first stage are pushed."""
        return self._memory(holds_image=True)

    @property
    def memory_beside(self) -> RowMemory:
        """That of all rows alone, where the firmware holds the image."""
        return self._memory(holds_image=False)

    def _memory(self, *, holds_image: bool) -> RowMemory:
        return row_memory((self.stage, *self.stage.behind), holds_image=holds_image)

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

    def state(self, feed: Feed | None) -> int:
        """Return the SRAM of the rows of all stages and the image, and of a row of the output."""
        own = 0 if self.to_rows else self.output_values
        if self.by_rows:
            return own
        if feed is None:
            return own + COUNTER_BYTES + self.memory.size
        if not feed.whole:
            return own + self.memory.size
        return own + self._held.state(feed) + self.memory_beside.size

    def buffer(self, feed: Feed | None) -> int:
        """Return what the firmware takes more; see `HeldInputs.buffer`."""
        return self._held.buffer(feed)

    @property
    def push(self) -> Push | None:
        """What pushing into the stage takes; None where rows are written in place."""
        return None if self.by_rows else self._held.push
