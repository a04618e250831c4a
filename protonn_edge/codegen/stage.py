"""One stage of a prediction in a plan: a name, and what it takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One stage of a prediction.

    Attributes
    ----------
    name, kernel : str
        What it does, and how.
    flash_bytes : int
        Its constants and, about, its code.
    mean : float or None
        Cycles on points of the activity that the plan was made for; None if that is not known.
    worst : int
        Cycles that no input exceeds.
    least : int
        Cycles that no input goes below.
    """

    name: str
    kernel: str
    flash_bytes: int
    mean: float | None
    worst: int
    least: int
