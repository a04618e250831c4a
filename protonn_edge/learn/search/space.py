"""The search space: sizes and settings of the classifier, and the first trials."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import joblib
import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from protonn_edge.learn import searched as declared
from protonn_edge.learn.input_space import count_inputs
from protonn_edge.learn.search.limits import FIRMWARE_FLASH_BYTES
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.system.schema import JsonObject

_CODE_BYTES = 1_600  # approximate code of the classifier, in addition to its parameters


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """The settings that trials may have."""

    points: TrialPoints  # the data, the board, the limits and the fixed settings

    @cached_property
    def searched(self) -> declared.SearchSpec:
        """The search space that the kind of classifier declares, with the alternatives."""
        points = self.points
        if points.classifier == declared.ANY:
            own = {kind: SearchSpace(points.of_kind(kind))._drawn for kind in points.kinds}
            return declared.among_kinds(own)
        kind, task = points.estimators[points.classifier], self._task()
        of_features = {
            name: kind.searched(
                replace(task, n_inputs=each.n_inputs, fixed={**points.fixed, **each.settings})
            )
            for name, each in points.alternatives.items()
        }
        spec = declared.among_features(of_features) if of_features else kind.searched(task)
        is_weighted = not points.metric.is_reported and "class_weight" not in points.fixed
        return declared.with_class_weights(spec) if is_weighted else spec

    def _task(self) -> declared.SearchTask:
        """Return the constraints of a search for one kind of classifier."""
        points = self.points
        flash = points.board.flash_bytes - FIRMWARE_FLASH_BYTES
        if points.limits.flash_bytes is not None:
            flash = min(flash, points.limits.flash_bytes)
        return declared.SearchTask(
            n_points=int(min((~points.tested_in(fold)).sum() for fold in range(points.n_folds))),
            n_inputs=count_inputs(points.untrained({}).frozen(), points.X),
            n_classes=points.metric.n_scores(points.y),
            parameter_bytes=max(flash - _CODE_BYTES, 1),
            fixed=points.fixed,
            in_groups=points.groups is not None,
        )

    @property
    def _drawn(self) -> declared.SearchSpec:
        """The settings to draw, without the fixed ones."""
        every = self.searched.parameters.items()
        drawn = {name: each for name, each in every if name not in self.points.fixed}
        return replace(self.searched, parameters=drawn)

    @cached_property
    def distributions(self) -> dict[str, BaseDistribution]:
        """Distributions by the classifier's parameters, without fixed ones."""
        return {name: _distribution(each) for name, each in self._drawn.parameters.items()}

    @cached_property
    def starts(self) -> list[dict[str, object]]:
        """The settings of the first trials."""
        starts: list[dict[str, object]] = []
        for wanted in self.searched.starts:
            start = {
                name: _nearest(distribution, wanted[name])
                for name, distribution in self.distributions.items()
            }
            if start not in starts:
                starts.append(start)
        return starts

    def to_json(self) -> JsonObject:
        """Return what identifies the space."""
        return {
            "distributions": {name: repr(each) for name, each in self.distributions.items()},
            "starts": self.starts,
            "fixed": {
                name: joblib.hash(value) if isinstance(value, np.ndarray) else str(value)
                for name, value in sorted(self.points.fixed.items())
            },
        }


def _distribution(drawn: declared.Among | declared.Between) -> BaseDistribution:
    if isinstance(drawn, declared.Among):
        return CategoricalDistribution(drawn.values)
    whole = isinstance(drawn.low, int) and isinstance(drawn.high, int)
    if whole:
        return IntDistribution(int(drawn.low), int(drawn.high), log=True)
    return FloatDistribution(drawn.low, drawn.high, log=True)


def _nearest(distribution: BaseDistribution, value: Any) -> Any:
    if isinstance(distribution, IntDistribution | FloatDistribution):
        return min(max(value, distribution.low), distribution.high)
    return value
