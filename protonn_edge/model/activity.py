"""The activity of a model on given points, on which its mean cycles depend.

Training measures it on its own points and stores it in the model file, so that mean cycles of a
plan are known without points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.integer_stage import IntegerStage, stage_names
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check_range, check_shape

Shares = NDArray[np.float64]
Sizes = Mapping[str, tuple[int, ...]]  # the number of shares in each vector of a stage, by its name


@dataclass(frozen=True, eq=False)
class Activity:
    """How many of the points have a property that costs cycles, as shares 0..1."""

    # (D,): for each input of the classifier's own stages, the share of points where it is not 0
    inputs: Shares
    # the activity that each stage reports, by the stage's name; see `IntegerStage.activity`
    stages: Mapping[str, tuple[Shares, ...]] = field(default_factory=dict)

    def to_array(self) -> Shares:
        """Return all shares in one vector, as a model file stores them."""
        own = (vector for vectors in self.stages.values() for vector in vectors)
        return np.concatenate([self.inputs, *own])

    @classmethod
    def of_array(cls, array: Shares, n_inputs: int, sizes: Sizes) -> Activity:
        """Return the activity of all shares; `InputError` if they have another length or range."""
        every = [n_inputs, *(size for each in sizes.values() for size in each)]
        check_shape("activity", array.shape, (sum(every),))
        for end in (array.min(initial=0), array.max(initial=0)):
            check_range("activity", float(end), 0, 1)
        inputs, *vectors = np.split(array, np.cumsum(every)[:-1])
        left = iter(vectors)
        return cls(inputs, {name: tuple(next(left) for _ in each) for name, each in sizes.items()})

    def of_each(self, stages: Sequence[IntegerStage]) -> Iterator[Activity]:
        """Yield, for each stage of a chain, the activity of its inputs and of the stage itself.

        The activity that a stage reports for its values is that of the next stage's inputs. For a
        feature stage, it is that of the values it passes on: of the inputs of the next stage that
        reports it, or else of the classifier's.
        """
        inputs = self.inputs
        names = stage_names(each.kind for each in stages)
        for place, (stage, name) in enumerate(zip(stages, names, strict=True), start=1):
            measured = self.stages.get(name)
            passed = self._reported(stages[place:], names[place:])
            own = {} if measured is None else {stage.kind: measured}
            yield Activity(inputs if passed is None else passed, own)
            if measured is not None and stage.reports_nonzero == "values":
                inputs = measured[0]

    def _reported(self, stages: Sequence[IntegerStage], names: Sequence[str]) -> Shares | None:
        """Return the activity of the inputs of the first stage that reports it, if there is one."""
        for stage, name in zip(stages, names, strict=True):
            if stage.reports_nonzero == "inputs" and name in self.stages:
                return self.stages[name][0]
        return None


def activity_sums(
    stages: Sequence[IntegerStage], n_before: int, values: Array
) -> tuple[Shares, dict[str, tuple[Shares, ...]]]:
    """Return what an activity sums up over inputs (n, features) of a chain of stages.

    These are the numbers of inputs that are not 0 of the stage behind `n_before` others, and what
    each stage reports, by its name.
    """
    inputs, reported = np.zeros(stages[n_before].n_inputs), dict[str, tuple[Shares, ...]]()
    names = stage_names(stage.kind for stage in stages)
    for place, (name, stage) in enumerate(zip(names, stages, strict=True)):
        if place == n_before:
            inputs = (values != 0).sum(axis=0).astype(np.float64)
        if activity := stage.activity(values):
            reported[name] = activity
        if stage is not stages[-1]:
            values = stage.run(values)
    return inputs, reported
