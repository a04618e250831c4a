"""The error for a program whose stack, cycles or time without interrupts have no bound."""

from __future__ import annotations

from protonn_edge.system.errors import CheckFailed

AGAIN = "build the program again"
BY_POINTER = "calls or jumps through a pointer"


class NoBound(CheckFailed):
    """A function because of which nothing limits, for example, the stack of a program.

    Attributes
    ----------
    what, function, reason : str
        What has no bound, the name of the function, and what this function does.
    """

    def __init__(self, what: str, function: str, reason: str, remedy: str) -> None:
        super().__init__(f"no bound of the {what}: {function} {reason}; {remedy}")
        self.what = what
        self.function = function
        self.reason = reason
