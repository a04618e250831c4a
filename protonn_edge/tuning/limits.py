"""What a model takes on the board, by the planner, and what it may take."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import Board
from protonn_edge.build.budget import check_estimate
from protonn_edge.codegen import Limits, Plan, plans
from protonn_edge.errors import CheckFailed
from protonn_edge.model.remedies import Remedies
from protonn_edge.quantization import IntegerChain, measure_activity

# What a plan counts of flash for the firmware around the classifier, at least: plans less what
# linked programs take for the generated code and constants.
FIRMWARE_FLASH_BYTES = 2_300


@dataclass(frozen=True)
class Figures:
    """What the classifier takes: the generated code, constants and variables.

    Attributes
    ----------
    kernel : {"columns", "masked", "unrolled", "packed"}
        Of the projection, in the plan that these are the figures of.
    flash_bytes, sram_bytes : int
        By the planner, without the firmware around it (serial protocol, buffers, stack).
    worst_cycles : int
        Cycles that no prediction exceeds.
    mean_cycles : float
        Cycles of a prediction on the points that were given.
    """

    kernel: str
    flash_bytes: int
    sram_bytes: int
    worst_cycles: int
    mean_cycles: float

    def to_json(self) -> dict[str, Any]:
        """Return the figures under their names."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Figures:
        """Return the figures that `to_json` gave."""
        return cls(**record)


@dataclass(frozen=True)
class TuningLimits:
    """What the classifier may take; the firmware as a whole must fit the board anyway.

    Attributes
    ----------
    flash_bytes, sram_bytes : int, optional
        Of the classifier alone.
    latency_ms : float, optional
        That no prediction may exceed, whatever it is fed.
    energy_mj : float, optional
        Of a prediction, on average.
    """

    flash_bytes: int | None = None
    sram_bytes: int | None = None
    latency_ms: float | None = None
    energy_mj: float | None = None

    def used(self, figures: Figures, board: Board) -> dict[str, float]:
        """Return which share of each limit is used, by its option's name; above 1 is too much."""
        pairs = {
            "--max-flash": (figures.flash_bytes, self.flash_bytes),
            "--max-sram": (figures.sram_bytes, self.sram_bytes),
            "--max-latency-ms": (board.milliseconds(figures.worst_cycles), self.latency_ms),
            "--max-energy-mj": (board.millijoules(figures.mean_cycles), self.energy_mj),
        }
        return {name: value / limit for name, (value, limit) in pairs.items() if limit is not None}

    def describe(self, name: str, figures: Figures, board: Board) -> str:
        """Return what a model takes of one limit, for people."""
        if name == BOARD:
            return f"more than {board.name} has"
        value, limit, unit = {
            "--max-flash": (f"{figures.flash_bytes:,}", self.flash_bytes, "B flash"),
            "--max-sram": (f"{figures.sram_bytes:,}", self.sram_bytes, "B SRAM"),
            "--max-latency-ms": (
                f"{board.milliseconds(figures.worst_cycles):.2f}",
                self.latency_ms,
                "ms at most",
            ),
            "--max-energy-mj": (
                f"{board.millijoules(figures.mean_cycles):.3f}",
                self.energy_mj,
                "mJ on average",
            ),
        }[name]
        return f"{value} {unit}" if limit is None else f"{value} {unit}, {name} is {limit:,}"

    def to_json(self) -> dict[str, Any]:
        """Return the limits under their names."""
        return asdict(self)


BOARD = "board"
"""The limit that a firmware as a whole does not fit, where no other is exceeded."""

LIMIT_NAMES = frozenset({"--max-flash", "--max-sram", "--max-latency-ms", "--max-energy-mj", BOARD})
"""What limits are called where one is exceeded."""


@dataclass(frozen=True)
class Fit:
    """The figures of a model's best plan, and how far it is beyond each limit.

    Attributes
    ----------
    figures : Figures
    excess : dict of str to float
        By the name of the limit, above 1; empty if all is well.
    plan : Plan
        The plan.
    """

    figures: Figures
    excess: dict[str, float]
    plan: Plan

    @property
    def worst(self) -> float:
        """The largest share of a limit that is used, or 0 if none is exceeded."""
        return max(self.excess.values(), default=0.0)


def fit_of(model: IntegerChain, Q: NDArray[np.uint8], board: Board, limits: TuningLimits) -> Fit:
    """Return the fastest plan that is within all limits, or the one that is nearest to them.

    Parameters
    ----------
    model : IntegerChain
        The model to plan for.
    Q : ndarray of shape (n, features), uint8
        Quantized points, for the mean.
    board : Board
        The board that it must fit with its firmware.
    limits : TuningLimits
        What else it must keep to.
    """
    flash = board.flash_bytes
    if limits.flash_bytes is not None:
        flash = min(flash, limits.flash_bytes + FIRMWARE_FLASH_BYTES)
    # The fastest first; the last one is the smallest.
    allowed = Limits(flash, board.sram_bytes, board.cpu)
    activity = measure_activity(model, Q)
    chosen = plans(model, allowed, activity=activity)
    fits = [_fit(plan, board, limits, model.remedies) for plan in chosen]
    return min(fits, key=lambda fit: fit.worst)


def _fit(plan: Plan, board: Board, limits: TuningLimits, remedies: Remedies) -> Fit:
    figures = Figures(
        kernel=plan.kernel,
        flash_bytes=plan.flash_bytes - FIRMWARE_FLASH_BYTES,
        sram_bytes=plan.state_bytes,
        worst_cycles=plan.worst_cycles,
        mean_cycles=float(plan.mean_cycles or 0.0),
    )
    excess = {name: used for name, used in limits.used(figures, board).items() if used > 1}
    beyond = max(plan.flash_bytes / board.flash_bytes, plan.sram_bytes / board.sram_bytes)
    try:
        check_estimate(plan, board, remedies)
    except CheckFailed:
        beyond = max(beyond, 1.0 + 1e-9)
    if beyond > 1:
        excess[BOARD] = beyond
    return Fit(figures, excess, plan)
