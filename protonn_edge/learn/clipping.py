"""Which share of outliers to clip, chosen by held-out training points where it matters.

An integer has 255 steps from the smallest to the largest value of a feature. If few of them are
left for most values, clipping the rest often helps, but not where rare, large values decide, or
where another device has a wider range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from protonn_edge.learn.choices import Choice
from protonn_edge.learn.folds import fold_numbers
from protonn_edge.learn.points import Float32, Points, sample_with_all_classes
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model.input_quantizer import BYTE_MAXIMUM
from protonn_edge.model.quantization import quantize
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.figures import percent

AUTO = "auto"

CHOICE = Choice(by_chance=0.01, lead=0.02)  # as of the kind that `train` takes
_SHARES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1)
_PARTS = 4  # of the points: as many as are needed for this many held-out points are in turn
_ENOUGH_POINTS = 1_000
_SHORTER = {"epochs": 60, "max_iterations": 30}  # at most, of a trial
_MOST_POINTS = 10_000  # the same

_TAIL = 0.05  # of the values at either end
_FEW_STEPS = 64  # for the values between
_JUDGED_POINTS = 2_000


@dataclass(frozen=True)
class ClipChoice:
    """The share of outliers that was chosen, and the accuracy on held-out training points."""

    share: float  # 0 unless another one is significantly better
    accuracy: float  # of the integers with it, 0..1
    without: float  # the same without clipping
    n: int  # points that were held out, some in each of one to four trainings

    def __str__(self) -> str:
        where = f"{self.n:,} held-out points of the training part"
        if not self.share:
            return (
                f"clip 'auto' chose 0: most values of some features share few of 255 steps, but on "
                f"{where}, no larger share is clearly better"
            )
        return (
            f"clip 'auto' chose {self.share:g}: on {where}, the integers then classify "
            f"{percent(self.accuracy)} correctly, and {percent(self.without)} without clipping"
        )


def chosen_clip(settings: Any, data: TrainingSet) -> ClipChoice | None:
    """Return which share to clip in a training; None if there is nothing to choose.

    - `settings`: those of the training, without clipping, and `data` its points.
    """
    asked = settings.asked
    can_be_clipped = settings.initial_model is None and (asked is None or asked.can_be_clipped)
    if not (can_be_clipped and data.labels.are_classes and data.for_device):
        return None
    if data.n_classes < 2 or not have_few_steps(data.points.X):
        return None
    given = data.given
    some = sample_with_all_classes(given.y, _MOST_POINTS, np.random.default_rng(data.seed))
    given = given.part(some)
    try:
        parts = _held_out_parts(fold_numbers(given.y, _PARTS, data.seed, given.group))
        wrong = {
            share: np.concatenate([_wrong(settings, share, given, each, data) for each in parts])
            for share in _SHARES
        }
    except InputError:  # too few points to hold some out
        return None
    rows = np.concatenate([np.flatnonzero(each) for each in parts])
    weights = given.weights(rows)
    share = CHOICE.taken(wrong.items(), weights)
    right, without = (1 - float(np.average(wrong[each], weights=weights)) for each in (share, 0.0))
    return ClipChoice(share, right, without, len(rows))


def _held_out_parts(part_of: Array) -> list[Array]:
    """Return masks of points (n,) in parts 0, 1, ...: enough to judge by, or all of them."""
    parts = [part_of == part for part in range(part_of.max() + 1)]
    enough = np.searchsorted(np.cumsum([each.sum() for each in parts]), _ENOUGH_POINTS) + 1
    return parts[:enough]


def have_few_steps(X: Float32) -> bool:
    """Return whether the middle 90 % of a feature's values share few of 255 steps, some a step.

    Features X (n, D) may be raw or normalized.
    """
    values = np.sort(X[:: -(-len(X) // _JUDGED_POINTS)], axis=0).astype(np.float64)
    cut = int(_TAIL * len(values))
    middle = values[cut : len(values) - cut]
    extent = X.max(axis=0).astype(np.float64) - X.min(axis=0)
    steps = BYTE_MAXIMUM * np.ptp(middle, axis=0) / np.where(extent > 0, extent, 1.0)
    different = np.count_nonzero(np.diff(middle, axis=0), axis=0)
    return bool(((steps < _FEW_STEPS) & (steps < different)).any())


def _wrong(settings: Any, share: float, given: Points, held_out: Any, data: TrainingSet) -> Array:
    """Return which held-out points (n,) integers misclassify that learned from the others."""
    shorter = {
        name: min(most, getattr(settings, name))
        for name, most in _SHORTER.items()
        if name in settings.parameters
    }
    trial = settings.frozen(clip=share, callback=None, **shorter)
    kept = TrainingSet.of(trial, given.part(~held_out), data.labels, data.n_classes, seed=data.seed)
    model = kept.model_of(trial.learn(kept), map(str, range(data.n_classes)))
    integers, tested = quantize(model), given.part(held_out)
    wrong: Array = integers.predict(integers.quantize(tested.X)) != tested.y
    return wrong
