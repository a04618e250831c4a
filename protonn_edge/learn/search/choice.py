"""Choose a candidate, train it on all points, and record the search in the model."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from protonn_edge.chips.avr.program import Sections
from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.projects.checks import Usage
from protonn_edge.codegen.projects.project import BuildOptions, trial_build
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.learn.evaluation.fidelity import Fidelity
from protonn_edge.learn.search.limits import Fit, check_predicted, fit_of
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.store import Record
from protonn_edge.learn.searched import KIND
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed, InputError

_OF_NORMAL = 1.4826  # of a normal distribution, in medians of absolute values
_BEST, _DEFAULT = "best", "default-within"
_CHANCE = "chance"
_FEW_POINTS = 0.5


def candidates(records: Iterable[Record]) -> list[Record]:
    """Return the complete trials, by their numbers."""
    complete = (record for record in records if record.outcome == "complete" and record.figures)
    return sorted(complete, key=lambda record: record.number)


def best_of_kinds(candidates: Iterable[Record]) -> dict[str, Record]:
    """Return the best candidate of each kind, best first; empty if only one was searched."""
    best: dict[str, Record] = {}
    for candidate in Choice().ranked(list(candidates)):
        if KIND in candidate.settings:
            best.setdefault(candidate.settings[KIND], candidate)
    return best


def flash_of(candidate: Record) -> float:
    """Return the flash of a candidate."""
    return candidate.measured.flash_bytes


def cycles_of(candidate: Record) -> float:
    """Return the mean cycles of a candidate."""
    return candidate.measured.known_cycles


def front(candidates: Sequence[Record], cost: Callable[[Record], float]) -> list[Record]:
    """Return the candidates that are better than all that cost no more, cheapest first."""
    ordered = sorted(candidates, key=lambda each: (cost(each), -each.score, each.number))
    kept: list[Record] = []
    for each in ordered:
        if not kept or each.score > kept[-1].score:
            kept.append(each)
    return kept


def front_json(candidates: Sequence[Record], board: Board) -> dict[str, Any]:
    """Return both fronts under the names of their costs."""
    return {
        "accuracy_by_flash": [each.to_json(board) for each in front(candidates, flash_of)],
        "accuracy_by_cycles": [each.to_json(board) for each in front(candidates, cycles_of)],
    }


def _robust_deviation(values: NDArray[np.float64]) -> float:
    """Return the deviation of `values`, of any shape, from 0."""
    return _OF_NORMAL * float(np.median(np.abs(values)))


_COSTS = {"smallest-within": flash_of, "fastest-within": cycles_of}


@dataclass(frozen=True)
class Choice:
    """How to choose a candidate."""

    # best: the most accurate candidate, of equals that of least log loss. Among those nearly as
    # accurate, default-within: the most accurate of the first trials (or the best if there is
    # none), unless another one is smaller, no slower and more accurate; smallest-within: the one
    # with the least flash; fastest-within: with the fewest cycles
    kind: str = _BEST
    # percentage points below the best that count as nearly; None means `lead_by_chance`
    points: float | None = 0.0

    @classmethod
    def usual(cls, in_groups: bool) -> Choice:
        """Return the default choice.

        With folds of a few people, the best of many trials may suit just these people by chance.
        The first trials are not fitted to any folds.
        """
        return cls(_DEFAULT, None) if in_groups else cls()

    @classmethod
    def parse(cls, text: str) -> Choice:
        """Return the choice of a text such as ``smallest-within 0.5``, or refuse it."""
        amount = rf"\d{{1,3}}(?:\.\d{{1,6}})?|{_CHANCE}"
        match = re.fullmatch(rf"\s*([a-z-]+)(?:[\s=]+({amount}))?\s*", text)
        if match and match[1] == _BEST and not match[2]:
            return cls()
        if not match or match[1] not in (_DEFAULT, *_COSTS):
            raise InputError(
                f"{text!r} is not a choice; give 'best', 'smallest-within 0.5', 'fastest-within "
                f"0.5' (percentage points) or 'default-within {_CHANCE}'"
            )
        if match[2] == _CHANCE:
            return cls(match[1], None)
        return cls(match[1], _FEW_POINTS if match[2] is None else float(match[2]))

    def __str__(self) -> str:
        if self.kind == _BEST:
            return self.kind
        return f"{self.kind} {_CHANCE if self.points is None else format(self.points, 'g')}"

    @property
    def is_of_speed(self) -> bool:
        """Whether it prefers a fast candidate."""
        return _COSTS.get(self.kind) is cycles_of

    def check(self, board: Board) -> None:
        """Refuse to choose by time where cycles are not predicted."""
        if self.is_of_speed:
            check_predicted("--choose", str(self), board, "choose 'smallest-within' or 'best'")

    def ranked(self, candidates: Sequence[Record]) -> list[Record]:
        """Return the candidates in order of preference."""
        below = lead_by_chance(candidates) if self.points is None else self.points / 100
        least = max((each.score for each in candidates), default=0.0) - below - 1e-12
        cost = _COSTS.get(self.kind)

        def order(each: Record) -> tuple[float, ...]:
            near = each.score >= least
            if self.kind == _DEFAULT:
                near &= each.is_default
            first = cost(each) if near and cost else 0.0
            return (not near, first, -round(each.score, 12), each.loss, flash_of(each), each.number)

        ordered = sorted(candidates, key=order)
        return _dominating_first(ordered) if self.kind == _DEFAULT else ordered


def _dominating_first(ordered: list[Record]) -> list[Record]:
    """Return candidates with those first that beat the first one in accuracy, size and time."""
    dominating = [
        each
        for each in ordered
        if round(each.score - ordered[0].score, 12) > 0
        and flash_of(each) < flash_of(ordered[0])
        and cycles_of(each) <= cycles_of(ordered[0])
    ]
    return [*dominating, *(each for each in ordered if each not in dominating)]


def lead_by_chance(candidates: Sequence[Record]) -> float:
    """Return the lead, 0..1, that the best candidate would have if all were equally good.

    The mean of a trial over K folds has an error of s / sqrt(K), where s is the deviation of the
    residuals of a two-way layout, by trial and fold. On average, the largest of n such means
    exceeds their common value by at most sqrt(2 ln n) errors. The median limits the influence of a
    trial that failed in one fold.
    """
    scores = np.array([each.scores for each in candidates])
    n, folds = scores.shape
    if n < 2:
        return 0.0
    of_fold, of_trial = scores.mean(axis=0), scores.mean(axis=1, keepdims=True)
    residuals = scores - of_fold - of_trial + scores.mean()
    freedom = (n - 1) * (folds - 1) / residuals.size
    deviation = _robust_deviation(residuals) / np.sqrt(freedom)
    return float(deviation * np.sqrt(2 * np.log(n) / folds))


_ACTIVITY_POINTS = 1_000
_ATTEMPTS = 5


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


def refit(
    points: TrialPoints,
    ranked: Sequence[Record],
    *,
    seed: int,
    classes: Sequence[str],
    feature_names: Sequence[str],
    search: dict[str, Any],
) -> Refitted:
    """Train candidates on all points until one is within the limits and as good as promised.

    The limits hold for the linked firmware, too, for any input; candidates are left out that take
    as long on average as one that exceeds the latency. If the integers of all that are within the
    limits are worse than their floats, or than in cross-validation, the one with the least
    shortfall is returned.

    - `ranked`: in order of preference.
    - `search`: facts about the search for the model's record.

    Raises `CheckFailed` if none of the first few is within the limits; the sentence gives the last
    one's reason.
    """
    reasons: dict[int, str] = {}
    within, too_slow = [], math.inf
    for candidate in ranked:
        if len(reasons) == _ATTEMPTS:
            break
        if cycles_of(candidate) >= too_slow:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            classifier = points.untrained(candidate.settings, seed)
            classifier.fit(points.X, points.y, groups=points.groups)
        model = classifier.to_model(classes=classes, feature_names=feature_names)
        try:
            refitted = checked(model, candidate, points, search)
        except CheckFailed as failure:
            reasons[candidate.number] = str(failure)
            if isinstance(failure, _TooSlow):
                too_slow = cycles_of(candidate)
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
    return replace(taken, passed_over=reasons)


class _TooSlow(CheckFailed):
    """The bound of the linked program exceeds the limit of the latency."""


def checked(
    model: Model, candidate: Record, points: TrialPoints, search: dict[str, Any]
) -> Refitted:
    """Return a trained model with its figures; raise `CheckFailed` if it exceeds a limit."""
    integers = quantize(model)
    Q = integers.quantize(points.X[:: -(-len(points.X) // _ACTIVITY_POINTS)])
    fit = fit_of(integers, Q, points.board, points.limits)
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
    for what, taken, limit, failure in (
        ("B flash", share.flash_bytes, limits.flash_bytes, CheckFailed),
        ("B SRAM", share.sram_bytes, limits.sram_bytes, CheckFailed),
        ("ms at most", longest, limits.latency_ms, _TooSlow),
    ):
        if limit is not None and taken > limit:
            raise failure(f"the linked model takes {taken:,g} {what}, but the limit is {limit:,g}")
    return linked
