"""Limits of the size of a converted model: a budget of bytes, and a board."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from protonn_edge.boards import Board
from protonn_edge.build.budget import check_estimate
from protonn_edge.codegen import Limits, Plan, make_plan
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.quantization import IntegerChain
from protonn_edge.training.budget_rules import ModelSizes, sizes_within

PROJECTIONS = 20
PROTOTYPES_A_CLASS, PROTOTYPES = 10, 40

_SHRINK = 0.85


@dataclass(frozen=True)
class SizeLimit:
    """The size limits of a converted model.

    Attributes
    ----------
    board : Board
        The board that its firmware must fit.
    budget : int or None
        Bytes of int8 parameters.
    n_projections, n_prototypes : int or None
        d and m, if they are given.
    """

    board: Board
    budget: int | None = None
    n_projections: int | None = None
    n_prototypes: int | None = None

    def plan(self, model: IntegerChain) -> Plan:
        """Return the fastest plan that fits the board.

        Raises
        ------
        CheckFailed
            If none does, or the parameters exceed the budget.
        """
        limits = Limits.of(self.board)
        plan = make_plan(model, limits)
        check_estimate(plan, self.board, model.all_remedies)
        if not limits.hold(plan):
            raise CheckFailed(
                f"needs about {plan.flash_bytes:,} B flash and {plan.sram_bytes:,} B SRAM, "
                f"{self.board.name} has {self.board.flash_bytes:,} and {self.board.sram_bytes:,}; "
                "try fewer projections or prototypes"
            )
        if self.budget is not None and model.model_bytes > self.budget:
            raise CheckFailed(
                f"takes {model.model_bytes:,} B of int8 parameters, the budget is {self.budget:,}; "
                "try fewer projections or prototypes"
            )
        return plan

    def sizes(
        self, *, n_features: int, n_classes: int, n_points: int, most_projections: int
    ) -> Iterator[ModelSizes]:
        """Yield sizes to try, the largest first; only one if both are given.

        Sizes whose parameters alone exceed the board's flash are left out.

        Parameters
        ----------
        most_projections : int
            Upper bound of useful dimensions.
        """
        sizes = {"n_features": n_features, "n_classes": n_classes, "n_points": n_points}
        given_d = None if self.n_projections is None else min(self.n_projections, most_projections)
        wanted = ModelSizes(
            given_d or min(PROJECTIONS, most_projections),
            min(self.n_prototypes or max(PROTOTYPES, PROTOTYPES_A_CLASS * n_classes), n_points),
        )
        if self.n_projections is not None and self.n_prototypes is not None:
            yield wanted
            return
        taken = wanted.device_bytes(n_features, n_classes)
        budget = float(taken if self.budget is None else self.budget)
        if self.budget is None and taken <= self.board.flash_bytes:
            yield wanted
            budget *= _SHRINK
        budget = min(budget, self.board.flash_bytes)
        while (found := _within(int(budget), given_d, most_projections, sizes)) is not None:
            m = found.n_prototypes
            yield ModelSizes(found.n_projections, min(self.n_prototypes or m, m))
            budget *= _SHRINK


def _within(
    budget: int, given_d: int | None, most_projections: int, sizes: dict[str, int]
) -> ModelSizes | None:
    """Return the sizes for a budget, None if it is too small for any."""
    try:
        found = sizes_within(budget, n_projections=given_d, **sizes)
        if found.n_projections > most_projections:
            found = sizes_within(budget, n_projections=most_projections, **sizes)
    except InputError:
        return None
    return found
