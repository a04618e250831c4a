"""Stages that hold all of their inputs before they compute: what copying those takes."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.stages.kernel import Feed, Push

COUNTER_BYTES = 2
"""SRAM of where the next input goes."""

INPUTS_AT_ONCE = 32
"""Inputs that the firmware collects before it pushes them into such a stage."""


@dataclass(frozen=True)
class HeldInputs:
    """Inputs that are held: by the firmware, which then feeds all at once, or by the library.

    Attributes
    ----------
    n_inputs : int
        How many.
    value, call : tuple of int
        Cycles of copying one that is pushed, and of a call besides, on average and at most; those
        that the compiler makes of a plain loop (avr-gcc 5.4 at -O2).
    """

    n_inputs: int
    value: tuple[int, int] = (8, 10)
    call: tuple[int, int] = (48, 80)

    def mean(self, feed: Feed | None) -> int:
        """Return the mean cycles of copying them, and of the firmware's calls for that."""
        return self._copies(feed, self.value[0], self.call[0])

    def worst(self, feed: Feed | None) -> int:
        """Return what copying them takes at most."""
        return self._copies(feed, self.value[1], self.call[1])

    def _copies(self, feed: Feed | None, value: int, call: int) -> int:
        if feed is None:  # the stage before counts its calls
            return value * self.n_inputs
        if feed.whole:  # the firmware's own array is read
            return 0
        return value * feed.values + call * -(-feed.values // feed.chunk)

    @property
    def push(self) -> Push:
        """What pushing into the stage takes."""
        value, call = self.value[1], self.call[1]
        return Push(value, value, call, call)

    @property
    def state(self) -> int:
        """SRAM of them, and of where the next one goes."""
        return COUNTER_BYTES + self.n_inputs

    def buffer(self, feed: Feed | None) -> int:
        """Return what the firmware takes more: one that holds them leaves out the library's own."""
        return -self.n_inputs if feed is not None and feed.whole else 0
