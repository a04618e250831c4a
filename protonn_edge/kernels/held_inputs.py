"""Stages that hold all inputs in a buffer before they compute, and the cost of copying them."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.kernels.kernel import Feed, Push

COUNTER_BYTES = 2
"""SRAM of the position of the next input."""

INPUTS_AT_ONCE = 32
"""Inputs that the firmware collects before it pushes them into such a stage."""


@dataclass(frozen=True)
class HeldInputs:
    """Inputs in a buffer: of the firmware, which then feeds all at once, or of the library.

    Attributes
    ----------
    n_inputs : int
        Their number.
    value, call : tuple of int
        Cycles of copying an input, and additional ones per call, mean and maximum, for a plain loop
        compiled by avr-gcc 5.4 at -O2.
    """

    n_inputs: int
    value: tuple[int, int] = (8, 10)
    call: tuple[int, int] = (48, 80)

    def mean(self, feed: Feed | None) -> int:
        """Return the mean cycles of copying them, and of the firmware's calls for that."""
        return self._copies(feed, self.value[0], self.call[0])

    def worst(self, feed: Feed | None) -> int:
        """Return the maximum cycles of copying them."""
        return self._copies(feed, self.value[1], self.call[1])

    def _copies(self, feed: Feed | None, value: int, call: int) -> int:
        if feed is None:  # the previous stage counts its calls
            return value * self.n_inputs
        if feed.whole:  # it reads the firmware's own array
            return 0
        return value * feed.values + call * -(-feed.values // feed.chunk)

    @property
    def push(self) -> Push:
        """The cost of pushing into the stage."""
        value, call = self.value[1], self.call[1]
        return Push(value, value, call, call)

    def state(self, feed: Feed | None) -> int:
        """Return the SRAM of the inputs, and, behind another stage, of the next one's position."""
        return self.n_inputs + COUNTER_BYTES * (feed is None)

    def buffer(self, feed: Feed | None) -> int:
        """Return the SRAM of the firmware's buffer, which replaces that of the library."""
        return -self.n_inputs if feed is not None and feed.whole else 0
