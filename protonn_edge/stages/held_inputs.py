"""Stages that hold all of their inputs before they compute: what copying those takes."""

from __future__ import annotations

from dataclasses import dataclass

from protonn_edge.stages.kernel import Feed, Push


@dataclass(frozen=True)
class Copying:
    """Cycles of copying inputs that are pushed, on average and at most.

    Attributes
    ----------
    value, call : tuple of int
        Of an input, and of a call besides its inputs.
    """

    value: tuple[int, int]
    call: tuple[int, int]

    def mean(self, feed: Feed | None, n_inputs: int) -> int:
        """Return the mean cycles of copying these inputs, and of the firmware's calls for that."""
        return _copies(feed, n_inputs, self.value[0], self.call[0])

    def worst(self, feed: Feed | None, n_inputs: int) -> int:
        """Return what copying these inputs takes at most."""
        return _copies(feed, n_inputs, self.value[1], self.call[1])

    @property
    def push(self) -> Push:
        """What pushing into the stage takes."""
        value, call = self.value[1], self.call[1]
        return Push(value, value, call, call)


def _copies(feed: Feed | None, n_inputs: int, value: int, call: int) -> int:
    if feed is None:  # the stage before counts its calls
        return value * n_inputs
    if feed.whole:  # the firmware's own array is read
        return 0
    return value * feed.values + call * -(-feed.values // feed.chunk)
