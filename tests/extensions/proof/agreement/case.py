"""A call of a function with assembly, and what is known of the stage that it belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from extensions.proof.agreement.call import Call
from extensions.proof.agreement.linked import Forms


@dataclass(frozen=True)
class Stage:
    """A stage of a program: its names and kernel."""

    name: str
    kernel: Any
    forms: Forms
    previous: str
    inputs: np.ndarray | None  # some of its inputs, (n, inputs)

    def size(self, variable: str) -> int:
        """Return the bytes of a variable."""
        return self.forms.assembly.variables[f"{self.name}{variable}"].size

    def table(self, name: str) -> int:
        """Return the bytes of a table."""
        return self.forms.assembly.tables[f"{self.name}{name}"].size


@dataclass(frozen=True)
class Case:
    """A call, and whether it can be proven; else it is tried on many values."""

    call: Call
    proven: bool = True
    long: bool = False  # whether that takes more than a moment


def ends_of(feed: Any, count: int) -> list[tuple[int, int]]:
    """Return the least and the largest of each input."""
    both = (np.broadcast_to(each, count).tolist() for each in (feed.low, feed.high))
    return list(zip(*both, strict=True))
