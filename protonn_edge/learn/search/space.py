"""The search space: which settings Optuna draws for a trial, and those of the first trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import joblib
import numpy as np
import optuna

from protonn_edge.learn.input_space import count_inputs
from protonn_edge.learn.search import ANY
from protonn_edge.learn.search.limits import FIRMWARE_FLASH_BYTES
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.searched import FEATURES, KIND, Among, Between, SearchSpec, SearchTask
from protonn_edge.system.schema import JsonObject

_CODE_BYTES = 1_600  # approximate code of the classifier, in addition to its parameters
_CLASS_WEIGHTS: Mapping[str, Among] = {"class_weight": Among(("balanced", None))}

BEGUN = "begun"
"""The attribute of a first trial with the names of its settings; the others are not drawn."""


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """The settings that trials may have."""

    points: TrialPoints  # the data, the board, the limits and the fixed settings

    @cached_property
    def specs(self) -> Mapping[str, Mapping[str | None, SearchSpec]]:
        """What each kind declares for each choice of features; without these, for None."""
        return {
            kind: {name: _declared(points, name) for name in points.alternatives or (None,)}
            for kind in self.points.kinds
            for points in (self.points.of_kind(kind),)
        }

    @property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """Headings for tables of trials with the parameters of each column, sizes first."""
        if self.points.classifier == ANY:
            return {KIND: (KIND,)}
        (choices,) = self.specs.values()
        spec = next(iter(choices.values()))
        return spec.columns if None in choices else {**spec.columns, "features": (FEATURES,)}

    def draw(self, trial: optuna.Trial) -> dict[str, Any]:
        """Return the settings that Optuna draws for a trial: a kind, features, and what they have.

        Among several kinds, the names of other settings begin with their kind's and a dot. First
        trials have the settings that they begin with, and the defaults of all others.
        """
        kind, *others = self.specs
        if self.points.classifier == ANY:
            kind = trial.suggest_categorical(KIND, [kind, *others])
        before, choices = self._before(kind), self.specs[kind]
        features = None
        if None not in choices:
            features = trial.suggest_categorical(before + FEATURES, [*map(str, choices)])
        begun = trial.user_attrs.get(BEGUN)
        for name, drawn in choices[features].parameters.items():
            if begun is None or before + name in begun:
                _draw(trial, before + name, drawn)
        return trial.params

    def begin(self, study: optuna.Study) -> None:
        """Let the first trials wait in a study, but not twice."""
        for start in self.starts:
            study.enqueue_trial(dict(start), {BEGUN: list(start)}, skip_if_exists=True)

    @cached_property
    def starts(self) -> list[dict[str, object]]:
        """The settings of the first trials: those of each kind in turn, its defaults first."""
        begun: list[list[dict[str, object]]] = []
        for kind, choices in self.specs.items():
            of_kind = {KIND: kind} if self.points.classifier == ANY else {}
            before = self._before(kind)
            own = [{before + name: start[name] for name in start} for start in _first_of(choices)]
            begun.append([{**of_kind, **start} for start in own])
        in_turn = [start for some in zip_longest(*begun) for start in some if start is not None]
        return [start for number, start in enumerate(in_turn) if start not in in_turn[:number]]

    def _before(self, kind: str) -> str:
        """Return what the names of a kind's settings begin with."""
        return f"{kind}." if self.points.classifier == ANY else ""

    def to_json(self) -> JsonObject:
        """Return what identifies the space."""
        return {
            "parameters": {
                kind: {str(name): repr(spec.parameters) for name, spec in choices.items()}
                for kind, choices in self.specs.items()
            },
            "starts": self.starts,
            "fixed": {
                name: joblib.hash(value) if isinstance(value, np.ndarray) else str(value)
                for name, value in sorted(self.points.fixed.items())
            },
        }


def _declared(points: TrialPoints, features: str | None) -> SearchSpec:
    """Return what the kind of some points declares with these features, without fixed settings.

    Metrics that training does not report begin with balanced classes.
    """
    flash = points.board.flash_bytes - FIRMWARE_FLASH_BYTES
    if points.limits.flash_bytes is not None:
        flash = min(flash, points.limits.flash_bytes)
    fixed = {**points.fixed, **({} if features is None else points.alternatives[features].settings)}
    task = SearchTask(
        n_points=int(min((~points.tested_in(fold)).sum() for fold in range(points.n_folds))),
        n_inputs=count_inputs(points.untrained({}).frozen(), points.X)
        if features is None
        else points.alternatives[features].n_inputs,
        n_classes=points.metric.n_scores(points.y),
        parameter_bytes=max(flash - _CODE_BYTES, 1),
        fixed=fixed,
        in_groups=points.groups is not None,
    )
    spec = points.estimator(points.fixed).searched(task)
    weights = {} if points.metric.is_reported else _CLASS_WEIGHTS
    parameters = {
        name: drawn
        for name, drawn in {**spec.parameters, **weights}.items()
        if name not in points.fixed
    }
    balanced = {name: weight.values[0] for name, weight in weights.items()}
    starts = [
        {name: _nearest(drawn, {**start, **balanced}[name]) for name, drawn in parameters.items()}
        for start in spec.starts
    ]
    return replace(spec, parameters=parameters, starts=(balanced, *starts))


def _first_of(choices: Mapping[str | None, SearchSpec]) -> Sequence[Mapping[str, object]]:
    """Return the first trials of a kind: one with each choice of features, then others in turn."""
    begun = [
        [start if name is None else {FEATURES: name, **start} for start in spec.starts]
        for name, spec in choices.items()
    ]
    others = enumerate(zip_longest(*(starts[1:] for starts in begun)))
    in_turn = (some[number % len(some)] for number, some in others)
    return [*(starts[0] for starts in begun if starts), *filter(None, in_turn)]


def _draw(trial: optuna.Trial, name: str, drawn: Among | Between) -> None:
    if isinstance(drawn, Among):
        trial.suggest_categorical(name, drawn.values)
    elif isinstance(drawn.low, int) and isinstance(drawn.high, int):
        trial.suggest_int(name, drawn.low, drawn.high, log=True)
    else:
        trial.suggest_float(name, drawn.low, drawn.high, log=True)


def _nearest(drawn: Among | Between, value: Any) -> Any:
    return value if isinstance(drawn, Among) else min(max(value, drawn.low), drawn.high)
