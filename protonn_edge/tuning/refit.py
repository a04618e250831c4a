"""Train the chosen model on all points, check its limits, and record the search in it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from protonn_edge.avr.program import Sections, read_share
from protonn_edge.build.checks import Usage
from protonn_edge.build.project import BuildOptions, trial_build
from protonn_edge.chain.model import Model
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.quantization import quantize
from protonn_edge.tuning.choice import Candidate
from protonn_edge.tuning.limits import Fit, fit_of
from protonn_edge.tuning.trial import Points

_ACTIVITY_POINTS = 1_000
_ATTEMPTS = 5


@dataclass(frozen=True)
class Linked:
    """Memory of a linked firmware."""

    usage: Usage  # that of the whole firmware
    classifier: Sections  # that of the generated code, constants and variables


@dataclass(frozen=True)
class Refitted:
    """A model trained on all points."""

    model: Model  # with the search in its record
    candidate: Candidate  # its trial in the search
    fit: Fit  # its memory and cycles by the planner
    linked: Linked | None  # its memory by the linker; None without a compiler


def refit(
    points: Points,
    ranked: Sequence[Candidate],
    *,
    seed: int,
    classes: Sequence[str],
    feature_names: Sequence[str],
    search: dict[str, Any],
) -> Refitted:
    """Train the first candidate on all points that then satisfies the limits, also when linked.

    Parameters
    ----------
    points : Points
        The data of the search.
    ranked : sequence of Candidate
        In order of preference.
    seed : int
        Of the training.
    classes, feature_names : sequence of str
        Display names.
    search : dict
        Facts about the search for the model's record.

    Raises
    ------
    CheckFailed
        If none of the first few does so; the sentence has the reason for the last one.
    """
    reason = ""
    for candidate in ranked[:_ATTEMPTS]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            classifier = points.untrained(candidate.record.settings, seed)
            classifier.fit(points.X, points.y, groups=points.groups)
        model = classifier.to_model(classes=classes, feature_names=feature_names)
        integers = quantize(model)
        Q = integers.quantize(points.X[:: -(-len(points.X) // _ACTIVITY_POINTS)])
        fit = fit_of(integers, Q, points.board, points.limits)
        reason = _beyond(points, fit)
        if reason:
            continue
        try:
            linked = _linked(model, points, fit)
        except CheckFailed as failure:
            reason = str(failure)
            continue
        told = {**search, "chosen": candidate.to_json(points.board), "kernel": fit.figures.kernel}
        model = replace(model, record={**model.record, "tuning": told})
        return Refitted(model, candidate, fit, linked)
    raise CheckFailed(
        "none of the chosen models stays within the limits when trained on all points; the last "
        f"one: {reason}"
    )


def _beyond(points: Points, fit: Fit) -> str:
    said = [points.limits.describe(name, fit.figures, points.board) for name in fit.excess]
    return " and ".join(said)


def _linked(model: Model, points: Points, fit: Fit) -> Linked | None:
    """Build the firmware and check the limits; return None without a compiler."""
    try:
        with trial_build(model, points.board, options=BuildOptions(plan=fit.plan)) as trial:
            objects = sorted(trial.elf.parent.rglob("pnn_model*.o"))
            share = read_share(trial.elf, objects[0])
            linked = Linked(trial.usage, share)
    except InputError:
        return None
    limits = points.limits
    for what, taken, limit in (
        ("flash", share.flash_bytes, limits.flash_bytes),
        ("SRAM", share.sram_bytes, limits.sram_bytes),
    ):
        if limit is not None and taken > limit:
            raise CheckFailed(f"once linked, it takes {taken:,} B {what} of {limit:,}")
    return linked
