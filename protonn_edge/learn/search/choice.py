"""Choose a candidate, train it on all points, and record the search in the model."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from protonn_edge.chips.avr.program import Sections
from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.checks import Usage
from protonn_edge.codegen.projects.project import BuildOptions, trial_build
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.learn.evaluation.fidelity import Fidelity
from protonn_edge.learn.search import BEST, FASTEST, SMALLEST
from protonn_edge.learn.search.limits import Fit, check_predicted, fit_of
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.searched import KIND
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed, InputError
from protonn_edge.system.schema import JsonObject

_NEARLY = 0.005  # below the best, a share of points, or of R2
_ATTEMPTS = 5


def candidates(records: Iterable[Record]) -> list[Record]:
    """Return the complete trials, by their numbers."""
    complete = (record for record in records if record.outcome == "complete" and record.figures)
    return sorted(complete, key=lambda record: record.number)


def best_of_kinds(ranked: Iterable[Record]) -> dict[str, Record]:
    """Return the first of the candidates, best first, of each kind; empty if one was searched."""
    best: dict[str, Record] = {}
    for candidate in ranked:
        if KIND in candidate.settings:
            best.setdefault(candidate.settings[KIND], candidate)
    return best


def flash_of(candidate: Record) -> float:
    """Return the flash of a candidate."""
    return candidate.measured.flash_bytes


def cycles_of(candidate: Record) -> float:
    """Return the estimated cycles of a candidate."""
    return candidate.measured.known_cycles


_COSTS: dict[str, Callable[[Record], float]] = {SMALLEST: flash_of, FASTEST: cycles_of}


def check_choice(choice: str, board: Board) -> None:
    """Refuse to choose by time where cycles are not predicted."""
    if choice == FASTEST:
        check_predicted("--choose", choice, board, f"choose '{SMALLEST}' or '{BEST}'")


def ranked(candidates: Sequence[Record], choice: str = BEST) -> list[Record]:
    """Return candidates in order of preference.

    The best has the highest score, and of equals the least log loss and the least flash. The
    smallest has the least flash and the fastest the fewest cycles of those at most half a
    percentage point (or 0.005 of R2) below the best.
    """
    least = max((each.score for each in candidates), default=0.0) - _NEARLY - 1e-12
    cost = _COSTS.get(choice)

    def order(each: Record) -> tuple[float, ...]:
        is_near = cost is not None and each.score >= least
        first = cost(each) if cost is not None and is_near else 0.0
        return (not is_near, first, -round(each.score, 12), each.loss, flash_of(each), each.number)

    return sorted(candidates, key=order)


def front(candidates: Sequence[Record]) -> list[Record]:
    """Return the candidates better than all that are no larger, or than all no slower, best first.

    Of equal ones, the first is kept.
    """
    kept: dict[int, Record] = {}
    for cost in (flash_of, cycles_of):
        best = -math.inf
        for each in sorted(candidates, key=lambda each: (cost(each), -each.score, each.number)):
            if each.score > best:
                best, kept[each.number] = each.score, each
    return sorted(kept.values(), key=lambda each: -each.score)


@dataclass(frozen=True)
class Linked:
    """Memory and cycles of a linked firmware."""

    usage: Usage  # of the whole firmware
    classifier: Sections  # of the generated code, constants and variables
    possible: PossibleCycles  # of a prediction


@dataclass(frozen=True)
class Refitted:
    """A model trained on all points."""

    model: Model  # with the search in its record
    candidate: Record  # its trial in the search
    fit: Fit  # its memory and cycles by the planner
    linked: Linked | None  # the same of the linked firmware; None without a compiler
    fidelity: Fidelity  # of its integers to its floats, and to its accuracy in the search
    # the numbers of preferred trials that were not taken, each with the reason
    passed_over: Mapping[int, str] = field(default_factory=dict)
    seed: int = 0  # of the training


def refit(
    points: TrialPoints,
    ordered: Sequence[Record],
    *,
    seed: int,
    classes: Sequence[str],
    feature_names: Sequence[str],
    search: JsonObject,
) -> Refitted:
    """Train candidates on all points until one is within the limits and as good as promised.

    The limits hold for the linked firmware, too, for any input. If the integers of all that are
    within the limits are worse than their floats, or than in cross-validation, the one with the
    least shortfall is returned.

    - `ordered`: in order of preference.
    - `search`: facts about the search for the model's record.

    Raises `CheckFailed` if none of the first few is within the limits; the sentence gives the last
    one's reason.
    """
    reasons: dict[int, str] = {}
    within = []
    for candidate in ordered:
        if len(reasons) == _ATTEMPTS:
            break
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of remarks
            classifier = points.untrained(candidate.settings, seed)
            classifier.fit(points.X, points.y, groups=points.groups)
        model = classifier.to_model(classes=classes, feature_names=feature_names)
        try:
            refitted = checked(model, candidate, points, search)
        except CheckFailed as failure:
            reasons[candidate.number] = str(failure)
            continue
        within.append(refitted)
        if not refitted.fidelity.shortfall:
            break
        reasons[candidate.number] = refitted.fidelity.reason
    if not within:
        raise CheckFailed(
            "none of the chosen models stays within the limits once it is trained on all points; "
            f"raise a limit (the last model: {[*reasons.values()][-1]})"
        )
    taken = min(within, key=lambda each: each.fidelity.shortfall)
    reasons.pop(taken.candidate.number, None)
    return replace(taken, passed_over=reasons, seed=seed)


def checked(model: Model, candidate: Record, points: TrialPoints, search: JsonObject) -> Refitted:
    """Return a trained model with its figures; raise `CheckFailed` if it exceeds a limit."""
    integers = quantize(model)
    fit = fit_of(integers, points.board, points.limits)
    if fit.excess:
        raise CheckFailed(_beyond(points, fit))
    linked = _linked(model, points, fit)
    record = {**search, "chosen": candidate.to_json(points.board), "kernel": fit.figures.kernel}
    model = replace(model, record={**model.record, "tuning": record})
    return Refitted(
        model, candidate, fit, linked, points.metric.fidelity(model, points.X, points.y)
    )


def _beyond(points: TrialPoints, fit: Fit) -> str:
    said = [points.limits.describe(name, fit.figures, points.board) for name in fit.excess]
    return " and ".join(said)


def _linked(model: Model, points: TrialPoints, fit: Fit) -> Linked | None:
    """Build the firmware and check the limits; return None without a compiler."""
    try:
        with trial_build(model, points.board, options=BuildOptions(plan=fit.plan)) as trial:
            share = family_of(points.board).share(trial.elf)
            linked = Linked(trial.usage, share, trial.possible)
    except InputError:
        return None
    limits, possible = points.limits, linked.possible
    longest = points.board.milliseconds(possible.most if possible.proven else 0)
    for what, taken, limit in (
        ("B flash", share.flash_bytes, limits.flash_bytes),
        ("B SRAM", share.sram_bytes, limits.sram_bytes),
        ("ms at most", longest, limits.latency_ms),
        ("mJ at most", points.board.power_watts * longest, limits.energy_mj),
    ):
        if limit is not None and taken > limit:
            raise CheckFailed(
                f"the linked model takes {taken:,g} {what}, but the limit is {limit:,g}"
            )
    return linked
