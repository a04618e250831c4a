"""What is searched: sizes and settings of the estimator, and the places to begin at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)

from protonn_edge.errors import InputError
from protonn_edge.training import ProtoNNClassifier
from protonn_edge.training.budget_rules import sizes_within
from protonn_edge.training.compatibility import refusal_of
from protonn_edge.training.feature_stages import count_inputs
from protonn_edge.training.objective import LOSSES
from protonn_edge.training.refusals import Case
from protonn_edge.tuning.limits import FIRMWARE_FLASH_BYTES
from protonn_edge.tuning.trial import Points

_MOST_PROJECTIONS = 40
_MOST_PROTOTYPES = 800
_CODE_BYTES = 1_600  # of the classifier, beside its parameters, about

# Trials before the sampler trusts what it has seen; the first of them are the places to begin at.
_STARTUP_TRIALS = 10

_DEFAULTS: dict[str, Any] = {
    "sparsity_projection": 1.0,
    "normalization": "standard",
    "loss": "cross_entropy",
    "init_projection": "lda",
    "gamma_numerator": 1.5,
    "input_noise": "auto",
    "learning_rate": 0.01,
    "epochs": 120,
    "dead_zone": 0.0,
    "clip": 0.0,
    "augment": False,
    "group_shift": 1.5,
}

# Shares of the bytes that there are for parameters, and what differs from the defaults there: the
# sizes are those of the paper's rules, with the number of projections where it is given. The
# variations are for points of other people, days or sensors than those in training.
_STARTS: tuple[tuple[float, dict[str, Any]], ...] = (
    (0.5, {"n_projections": 20, "augment": True}),
    (0.25, {}),
    (0.5, {}),
    (0.12, {}),
    (0.25, {"input_noise": 0.5, "gamma_numerator": 0.5}),
    (0.5, {"init_projection": "nca", "input_noise": 0.2}),
    (0.9, {"init_projection": "nca", "input_noise": 0.2, "epochs": 200}),
    (0.06, {}),
)


@dataclass(frozen=True)
class SearchSpace:
    """The settings that trials may have.

    Attributes
    ----------
    n_points, n_inputs, n_classes : int
        Of the training points of a fold; inputs of the projection.
    parameter_bytes : int
        About what there is room for.
    fixed : mapping
        Settings of `ProtoNNClassifier` that all trials share.
    in_groups : bool
        Whether the points come in groups, which they can be moved between.
    at_random : bool
        Draw at random, with nowhere to begin at: for comparison.
    """

    n_points: int
    n_inputs: int
    n_classes: int
    parameter_bytes: int
    fixed: Mapping[str, Any] = field(default_factory=dict)
    in_groups: bool = False
    at_random: bool = False

    @classmethod
    def of(cls, points: Points, *, at_random: bool = False) -> SearchSpace:
        """Return the space for these points, their board and their limits."""
        fixed = points.fixed
        flash = points.board.flash_bytes - FIRMWARE_FLASH_BYTES
        if points.limits.flash_bytes is not None:
            flash = min(flash, points.limits.flash_bytes)
        return cls(
            n_points=int(min((points.folds != fold).sum() for fold in range(points.n_folds))),
            n_inputs=count_inputs(ProtoNNClassifier(**fixed).training_settings(), points.X),
            n_classes=len(np.unique(points.y)),
            parameter_bytes=max(flash - _CODE_BYTES, 1),
            fixed=fixed,
            in_groups=points.groups is not None,
            at_random=at_random,
        )

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        """What is drawn from, by the estimator's parameters; fixed ones are not among them.

        Sparse B and Z are not: on the device they take as much as dense ones.
        """
        most = max(self.n_classes, min(self.n_points, _MOST_PROTOTYPES, self._most_prototypes()))
        every: dict[str, BaseDistribution] = {
            "n_projections": IntDistribution(1, min(self.n_inputs, _MOST_PROJECTIONS), log=True),
            "n_prototypes": IntDistribution(self.n_classes, most, log=True),
            "sparsity_projection": CategoricalDistribution((1.0, 0.5, 0.25)),
            "normalization": CategoricalDistribution(("standard", "minmax")),
            "loss": CategoricalDistribution(tuple(LOSSES)),
            "init_projection": CategoricalDistribution(("lda", "pca", "nca")),
            "gamma_numerator": FloatDistribution(0.3, 3.0, log=True),
            "input_noise": CategoricalDistribution(("auto", 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)),
            "learning_rate": FloatDistribution(0.003, 0.03, log=True),
            "epochs": CategoricalDistribution((60, 120, 200)),
            "dead_zone": CategoricalDistribution((0.0, 0.15)),
            "clip": CategoricalDistribution((0.0, 0.02)),
        }
        if self._allows(augment=True):
            every["augment"] = CategoricalDistribution((False, True))
        if self.in_groups:
            every["group_shift"] = CategoricalDistribution((0.0, 1.5))
        return {name: each for name, each in every.items() if name not in self.fixed}

    def _allows(self, **drawn: Any) -> bool:
        """Return whether settings go together with the fixed ones."""
        classifier = ProtoNNClassifier(**{**self.fixed, **drawn})
        return refusal_of(Case(settings=classifier.training_settings())) is None

    def _most_prototypes(self) -> int:
        return self.parameter_bytes // (1 + self.n_classes)

    def starts(self) -> list[dict[str, Any]]:
        """Return the settings of the first trials: defaults at several sizes, and variations."""
        found: list[dict[str, Any]] = []
        if self.at_random:
            return found
        distributions = self.distributions
        for share, differing in _STARTS:
            try:
                sizes = sizes_within(
                    int(share * self.parameter_bytes),
                    n_features=self.n_inputs,
                    n_classes=self.n_classes,
                    n_points=self.n_points,
                    n_projections=_at_most(differing.get("n_projections"), self.n_inputs),
                )
            except InputError:  # not even the smallest model
                continue
            wanted = _DEFAULTS | differing
            wanted |= {"n_projections": sizes.n_projections, "n_prototypes": sizes.n_prototypes}
            start = {
                name: _nearest(distribution, wanted[name])
                for name, distribution in distributions.items()
            }
            if start not in found:
                found.append(start)
        return found

    def suggest(
        self, number: int, seed: int, seen: list[optuna.trial.FrozenTrial]
    ) -> dict[str, Any]:
        """Return the settings of a trial: a function of its number, the seed and earlier trials.

        Parameters
        ----------
        number : int
            Of the trial, from 0.
        seed : int
            Of the search.
        seen : list of FrozenTrial
            The trials to learn from, in the order of their numbers.
        """
        starts = self.starts()
        if number < len(starts):
            return dict(starts[number])
        optuna.logging.set_verbosity(optuna.logging.ERROR)  # it tells of each study
        own_seed = (seed * 1_000_003 + number) % 2**32
        sampler: optuna.samplers.BaseSampler = optuna.samplers.RandomSampler(own_seed)
        if not self.at_random:
            sampler = optuna.samplers.TPESampler(seed=own_seed, n_startup_trials=_STARTUP_TRIALS)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        study.add_trials(seen)
        return dict(study.ask(self.distributions).params)

    def to_json(self) -> dict[str, Any]:
        """Return what tells this space from another one."""
        return {
            "distributions": {
                name: json.loads(distribution_to_json(each))
                for name, each in self.distributions.items()
            },
            "starts": self.starts(),
            "at random": self.at_random,
            "fixed": {name: str(value) for name, value in sorted(self.fixed.items())},
        }


def _at_most(wanted: int | None, most: int) -> int | None:
    return None if wanted is None else min(wanted, most)


def _nearest(distribution: BaseDistribution, value: Any) -> Any:
    if isinstance(distribution, IntDistribution | FloatDistribution):
        return min(max(value, distribution.low), distribution.high)
    return value
