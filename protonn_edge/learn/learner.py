"""What learns: from parameters and points to a model with its record, without scikit-learn.

A kind of classifier is a subclass in its own folder, which the registry finds. It declares its
parameters as fields, with constraints and command-line names. Its `learn` returns the head of a
model for prepared points. The command line, searches and the page train learners; an estimator for
Python, `learn.base.DeviceClassifier`, is a learner with the methods of scikit-learn.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

import protonn_edge
from protonn_edge.data.naming import NO_CLASS, Notice, label_text
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.roles.groups import group_numbers
from protonn_edge.learn import parameters as declared
from protonn_edge.learn.clipping import AUTO, ClipChoice, chosen_clip
from protonn_edge.learn.constraints import check_parameters
from protonn_edge.learn.features import AutoRequest
from protonn_edge.learn.given_points import class_indices, labels_are_classes
from protonn_edge.learn.points import Float32, Indices
from protonn_edge.learn.progress import EpochReport, Learned, Restart, was_stopped
from protonn_edge.learn.refusals import check_compatible
from protonn_edge.learn.searched import FEATURES_BEGUN, FEATURES_SEARCHED, SearchSpec, SearchTask
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.learn.training_set import TrainingSet, with_new_names
from protonn_edge.model import registry, stored
from protonn_edge.model.features import Features
from protonn_edge.model.file import model_bytes
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.rule_kinds import fitted_rules
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError
from protonn_edge.system.rounding import one_thread
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.learn.found_features import FoundFeatures

_CALIBRATION_POINTS = 10_000
_RECORDED_REPORTS = 5_000  # maximum reports in a model file, which limits the record's size
CHOSEN = ("clip", "features")
"""The parameters that a training can choose, if they are ``"auto"``."""

_UNRECORDED = ("callback", "network_callback", "random_state")
_OF_A_TRAINING = ("model_", "on_device_")  # what the next one forgets at once


@dataclass(kw_only=True, eq=False, repr=False)
class Learner(declared.SharedParameters, ABC):
    """Base of all kinds of classifiers; `DeviceClassifier` describes what a training leaves."""

    history_: tuple[EpochReport, ...] = field(init=False)
    restarts_: tuple[Restart, ...] = field(init=False)
    remarks_: tuple[str, ...] = field(init=False)
    n_iter_: int = field(init=False)
    n_features_in_: int = field(init=False)
    clip_: ClipChoice | None = field(init=False)
    features_: FoundFeatures = field(init=False)
    model_: Model = field(init=False)
    classes_: Array = field(init=False)

    is_slow: ClassVar[bool] = False  # whether a few minutes are too short for trials of a search
    starts_from: ClassVar[str] = ""  # the kind of models that training can continue

    @classmethod
    def searched(cls, _task: SearchTask, /) -> SearchSpec:
        """Return the search space of this kind, with its first trials; kinds extend it."""
        return SearchSpec(FEATURES_SEARCHED, (FEATURES_BEGUN,))

    @abstractmethod
    def learn(self, data: TrainingSet) -> Learned:
        """Learn from normalized points; return the head with a record of the training.

        It is called on frozen settings, a copy of the learner; their callback is called after each
        epoch.
        """

    def check_sizes(self, _dataset: Dataset, _given: Collection[str], /) -> Sequence[Notice]:
        """Refuse sizes that would fail only after the training; return what to notice before it.

        - `dataset`: the points to train on.
        - `given`: the names of the parameters that the caller chose.
        """
        return ()

    @property
    def planned_epochs(self) -> int:
        """Number of epochs by the last report: the parameter, if there is one."""
        return int(getattr(self, "epochs", 1))

    @property
    def learns_strangers(self) -> bool:
        """Whether training uses `strangers`: synthetic points without a class."""
        return False

    @property
    def scores_are_logits(self) -> bool:
        """Whether training makes the scores logits, which calibration may only reduce."""
        return False

    def stand_in_for(self, model: Model) -> Self:
        """Return a learner of some of a model's points, without reports."""
        settings = model.record.get("settings", {})
        found = {name: settings.get(name) for name in CHOSEN if getattr(self, name) == AUTO}
        state = deepcopy(self.random_state)  # that each training has the same random numbers
        return replace(self, callback=None, network_callback=None, random_state=state, **found)

    def matrix_of(self, X: ArrayLike, *, reset: bool) -> Float32:
        """Return points as a matrix (n, D), of as many features as in training unless `reset`.

        An estimator accepts all that scikit-learn does.
        """
        points = np.asarray(X, dtype=np.float32)
        if reset:
            self.n_features_in_ = points.shape[1]
        if points.shape[1] != self.n_features_in_:
            raise InputError(
                f"the points have {points.shape[1]:,} features, but training had "
                f"{self.n_features_in_:,}; give points with the same features"
            )
        return points

    def column_of(self, y: ArrayLike | None, n: int) -> Array:
        """Return the targets (n,) of as many points."""
        column = np.asarray(y)
        if column.shape != (n,):
            raise InputError(
                f"there are {n:,} points, but targets of the shape {column.shape}; give one for "
                "each point"
            )
        return column

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        evaluate_on: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Refuse settings that contradict each other or the points, and train; see `base`."""
        check_parameters(self, self.parameters)
        if y is None and self.target.assumed_label:
            y = np.full(np.shape(X)[:1], self.target.assumed_label)
        labels = self.target.labels.of(y)
        request = TrainingRequest(
            settings=self.frozen(), predicts=labels.predicts, in_groups=groups is not None
        )
        check_compatible(request)
        return self.fit_accepted(X, y, sample_weight, groups=groups, evaluate_on=evaluate_on)

    def fit_accepted(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        evaluate_on: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Train as `fit` does, with settings and points that `check_compatible` accepts."""
        check_parameters(self, self.parameters)
        chooses_clip, target = self.clip == AUTO, self.target
        settings = self.frozen(clip=0.0) if chooses_clip else self.frozen()
        for name in _OF_A_TRAINING:  # if training is stopped, the old ones have other classes
            vars(self).pop(name, None)
        labels = target.labels.of(y)
        given, self.classes_, labels = labels.given(self, X, y, sample_weight)
        numbers = None if groups is None else group_numbers(groups, len(given))
        target.check(self.classes_)
        state = self.random_state
        chance = np.random.RandomState(state) if isinstance(state, int | np.integer) else state
        seed = int((np.random if chance is None else chance).randint(2**31 - 1))
        with labels_are_classes(), one_thread():  # faster for small products, and reproducible
            if isinstance(settings.asked, AutoRequest):
                from protonn_edge.learn.found_features import found_features

                in_groups = replace(given, group=numbers)
                self.features_ = found_features(settings, in_groups, labels, seed)
                settings = settings.frozen(features=self.features_.text)
            if settings.group_shift > 0 and labels.are_classes:
                given = replace(given, group=numbers)
            test = None
            if evaluate_on is not None:
                test = labels.reported(self, *evaluate_on, self.classes_)
            n_classes = len(self.classes_)
            data = TrainingSet.of(settings, given, labels, n_classes, seed=seed, test=test)
            self.clip_ = chosen_clip(settings, data) if chooses_clip else None
            if self.clip_ is not None and self.clip_.share:
                settings = settings.frozen(clip=self.clip_.share)
                data = TrainingSet.of(settings, given, labels, n_classes, seed=seed, test=test)
            learned = settings.learn(data)
        self._keep(learned, data, settings, n_train=len(given))
        if labels.are_classes:
            some = data.given.some(_CALIBRATION_POINTS)
            self.model_ = with_rules(self.model_, *fitted_rules(self, some.X, some.y))
        return self

    def _keep(self, learned: Learned, data: TrainingSet, settings: Self, *, n_train: int) -> None:
        """Store the results, with a record of the training."""
        self.history_, self.restarts_ = learned.history, learned.restarts
        self.n_iter_ = learned.history[-1].epoch
        self.remarks_ = (*map(str, learned.restarts), *learned.remarks)
        record = training_record(
            {name: getattr(settings, name) for name in sorted(self.parameters)},
            learned,
            seed=data.seed,
            n_train=n_train,
            data_sha256=data.data_sha256,
        )
        classes = tuple(label_text(str(label)) for label in self.classes_)
        model = data.model_of(learned, classes, getattr(self, "feature_names_in_", ()))
        self.model_ = replace(model, record=record)

    def to_model(
        self, *, classes: Sequence[str] | None = None, feature_names: Sequence[str] | None = None
    ) -> Model:
        """Return the trained model, with other display names if given."""
        model, given = self.model_, dict[str, Any]()
        if classes is not None:
            given["classes"] = with_new_names(classes, model.n_classes - len(self.classes_))
        if feature_names is not None:
            given["feature_names"] = tuple(feature_names)
        return replace(model, **given)

    def indices_of(self, y: ArrayLike, n: int) -> Indices:
        """Return the class indices of the labels y (n,); `NO_CLASS` is unknown to one class."""
        labels = self.column_of(y, n)
        if len(self.classes_) == 1:
            return np.where(labels == self.classes_[0], 0, NO_CLASS)
        return class_indices(labels, self.classes_, "y")


LEARNERS: MutableMapping[str, type[Learner]] = registry.LEARNERS
"""The kinds of classifiers, by their names on the command line; the first one is the default."""

VALUE_LEARNERS: MutableMapping[str, type[Learner]] = registry.VALUE_LEARNERS
"""What predicts a number, of the kinds that can."""


def training_record(
    parameters: Mapping[str, Any], learned: Learned, *, seed: int, n_train: int, data_sha256: str
) -> JsonObject:
    """Return the record of a model: the estimator's parameters, and facts about the training."""
    settings = {name: value for name, value in parameters.items() if name not in _UNRECORDED}
    step = -(-len(learned.history) // _RECORDED_REPORTS)
    history = learned.history[::-step][::-1]  # always including the last one
    return {
        "versions": {
            "protonn-edge": protonn_edge.__version__,
            "numpy": np.__version__,
            "scikit-learn": version("scikit-learn"),
        },
        "settings": json.loads(json.dumps(settings, default=_plain)),
        "seed": seed,
        "restarts": [str(restart) for restart in learned.restarts],
        **({"remarks": list(learned.remarks)} if learned.remarks else {}),
        **({"stopped": learned.history[-1].place} if was_stopped(learned.history) else {}),
        "n_train": n_train,
        "data_sha256": data_sha256,
        "history": {
            "objective": [round(report.objective, 6) for report in history],
            "accuracy": [round(report.accuracy, 6) for report in history],
        },
        **learned.facts,
    }


def _plain(value: object) -> Any:
    """Return a JSON form of a value: a number, or a description with a digest."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Model):
        return f"model {hashlib.sha256(model_bytes(value)).hexdigest()}"
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array {value.shape} {digest}"
    if isinstance(value, Features):
        return f"{type(value).__name__} {stored.digest(value)}"
    from joblib import hash as digest_of  # of a teacher of another library

    return f"{type(value).__name__} {digest_of(value)}"
