"""The kernel of deskew: it pushes the shifted rows of an image in a buffer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from protonn_edge.avr.cores import Core
from protonn_edge.chain.activity import Activity
from protonn_edge.features.deskew.deskew import CENTRE_BITS, MOMENT_BITS, SLOPE_BITS
from protonn_edge.features.deskew.integers import IntegerDeskew
from protonn_edge.features.deskew.slants import most_deskewed
from protonn_edge.features.images.cropped_image import CroppedImage
from protonn_edge.kernels.held_inputs import INPUTS_AT_ONCE, HeldInputs
from protonn_edge.kernels.kernel import Cost, Feed, Kernel, Push, Step

# Cycles: once, for a row's moments, for a shifted row, and for a pixel in it.
_CODE_BYTES = 900
_MOMENT_CYCLES = 1_820
_MOMENT_ROW_CYCLES = 94
_MOMENT_PIXEL_CYCLES = 14
_MOMENT_ZERO_CYCLES = 9
_MOMENT_PIXEL_LEAST = 8
_MOVED_ROW_CYCLES = 80
_MOVED_PIXEL_CYCLES = 7
_MOVED_ROWS_SHARE = 0.15  # of digits; for the mean
_CALLS = 6  # per row, at most

# A push copies pixels.
_COPIED_PIXEL_CYCLES, _COPYING_CALL_CYCLES = (8, 12), (54, 40)

# Time of the compiler's loops relative to assembly, on a chip without a multiplier.
_PORTABLE = 8.2


@dataclass(frozen=True, eq=False)
class DeskewKernel(Kernel):
    """Reads the image in place, from a buffer of the firmware or the library."""

    template: ClassVar[str] = "deskew/deskew.j2"
    chunk: ClassVar[int] = INPUTS_AT_ONCE
    centre_bits: ClassVar[int] = CENTRE_BITS
    moment_bits: ClassVar[int] = MOMENT_BITS
    slope_bits: ClassVar[int] = SLOPE_BITS

    stage: IntegerDeskew
    core: Core
    name: str = "held"

    def cost(
        self,
        feed: Feed | None,
        following: Push | None,
        activity: Activity | None,  # noqa: ARG002  (nobody knows how images are slanted)
    ) -> Cost:
        """Return its cost."""
        assert feed is not None
        assert following is not None
        rows, pixels = self.stage.image.rows, self.stage.n_inputs
        held = HeldInputs(pixels, _COPIED_PIXEL_CYCLES, _COPYING_CALL_CYCLES)
        calls = self.core.call_cycles * _CALLS
        moments = _MOMENT_CYCLES + 2 * calls + (_MOMENT_ROW_CYCLES + calls) * rows.side
        row = moved_row_cycles(self.stage.image)
        moved = rows.pixels * (row + calls)
        mean = moments + _MOMENT_ZERO_CYCLES * pixels + _MOVED_ROWS_SHARE * moved + held.mean(feed)
        worst = moments + _MOMENT_PIXEL_CYCLES * pixels + moved + held.worst(feed)
        least = _MOMENT_PIXEL_LEAST * pixels
        step = Step(self.kind, self.name, _CODE_BYTES, mean, worst, least)
        exclusive = rows.pixels * row - most_deskewed(self.stage.image, row, following.more)
        return Cost(
            steps=(step.on(self.core, _PORTABLE),),
            tables=0,
            code=_CODE_BYTES,
            state=held.state(feed) + self.stage.image.columns.pixels,
            buffer=held.buffer(feed),
            push=replace(held.push, more=following.more),
            exclusive=exclusive,
        )


def moved_row_cycles(image: CroppedImage) -> int:
    """Return the cycles of a row that is shifted too far to be read in place."""
    return _MOVED_ROW_CYCLES + _MOVED_PIXEL_CYCLES * image.columns.pixels


def kernels(stage: IntegerDeskew, core: Core) -> tuple[Kernel, ...]:
    """Return its only kernel."""
    return (DeskewKernel(stage, core),)
