"""The base of all classifiers for devices: from `fit` to a model with its record.

A kind of classifier is a subclass in its own folder, which the registry finds. It declares its
parameters as fields, with constraints and command-line names, from which scikit-learn's constraints
and docstrings are generated. Its `learn` returns the head of a model for prepared points.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import joblib
import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions

import protonn_edge
from protonn_edge.data.naming import Notice, label_text
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.roles.groups import group_numbers
from protonn_edge.learn import parameters as declared
from protonn_edge.learn.answers import Answers
from protonn_edge.learn.clipping import AUTO, ClipChoice, chosen_clip
from protonn_edge.learn.features import AutoRequest
from protonn_edge.learn.given_points import labels_are_classes
from protonn_edge.learn.points import Float32, Targets
from protonn_edge.learn.progress import EpochReport, Learned, Restart, was_stopped
from protonn_edge.learn.refusals import check_compatible
from protonn_edge.learn.searched import FEATURES_BEGUN, FEATURES_SEARCHED, SearchSpec, SearchTask
from protonn_edge.learn.training_request import TrainingRequest
from protonn_edge.learn.training_set import TrainingSet
from protonn_edge.model import stored
from protonn_edge.model.features import Features
from protonn_edge.model.file import model_bytes
from protonn_edge.model.model import Model
from protonn_edge.model.policy import with_rules
from protonn_edge.model.registry import ESTIMATORS
from protonn_edge.model.rule_kinds import fitted_rules
from protonn_edge.system.rounding import one_thread
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.scikit import checking_parameters

if TYPE_CHECKING:
    from protonn_edge.learn.found_features import FoundFeatures


class _Number(Interval):
    def is_satisfied_by(self, val: object) -> bool:  # True, which counts as 1, is none
        return not isinstance(val, bool | np.bool_) and super().is_satisfied_by(val)


class _Some(Options):
    """A constraint: a sequence of some of these words."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        super().__init__(tuple, set())

    def is_satisfied_by(self, val: object) -> bool:
        """Return whether a value is one."""
        return (
            isinstance(val, tuple | list)
            and 0 < len(val) == len(set(map(str, val)))
            and all(word in self.words for word in val)
        )

    def __str__(self) -> str:
        return f"a tuple of one or more of {', '.join(map(repr, self.words))}"


def constraints(parameters: Mapping[str, declared.Parameter]) -> dict[str, list[Any]]:
    """Return the value of ``_parameter_constraints``."""
    return {name: list(map(_constraint, each.values)) for name, each in parameters.items()}


def _constraint(values: Any) -> Any:
    if isinstance(values, declared.Number):
        number = Integral if values.type is int else Real
        return _Number(number, values.low, values.high, closed=values.closed)
    if isinstance(values, declared.Choices):
        are_texts = all(isinstance(each, str) for each in values.values)
        return (
            StrOptions(set(values.values)) if are_texts else Options(Integral, set(values.values))
        )
    if isinstance(values, declared.Subset):
        return _Some(values.words)
    if isinstance(values, declared.Sides):
        return tuple  # whose length depends on the points
    return {declared.MODEL: Model, declared.FEATURES: Features}.get(values, values)


_PARAMETERS = "Parameters\n----------\n"
_NEXT_SECTION = re.compile(r"^[A-Z]\w+\n-+\n", re.MULTILINE)


def with_parameters_of_bases(cls: type) -> str | None:
    """Return a class's docstring, with the parameters that the docstrings of its bases describe."""
    if not cls.__doc__ or "__doc__" not in vars(cls):
        return cls.__doc__
    before, _, after = _sections(cls.__doc__)
    described: dict[str, str] = {}
    for base in cls.__mro__:
        for entry in filter(None, re.split(r"\n(?=\S)", _sections(vars(base).get("__doc__"))[1])):
            name = entry.partition(" : ")[0]
            described.setdefault(name, _with_default(entry, getattr(cls, name, None)))
    return f"{before}\n\n{_PARAMETERS}" + "\n".join(described.values()) + f"\n\n{after}"


def _with_default(entry: str, value: object) -> str:
    """Return the entry of a parameter with the default of a class, which may not be its base's."""
    given = re.search("default=(.*)", entry)
    if not isinstance(value, str | int | float) or given is None:
        return entry
    if ast.literal_eval(given[1]) == value:
        return entry
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return entry.replace(given[0], f"default={text}", 1)


def _sections(text: str | None) -> tuple[str, str, str]:
    """Return the parts of a docstring before, in and after its section of parameters."""
    before, heading, rest = inspect.cleandoc(text or "").partition(_PARAMETERS)
    if not heading:
        rest, before = before, ""
    following = _NEXT_SECTION.search(rest)
    place = len(rest) if following is None else following.start()
    inside, after = rest[:place].strip(), rest[place:]
    return (before.strip(), inside, after) if heading else (inside, "", after)


_CALIBRATION_POINTS = 10_000
_RECORDED_REPORTS = 5_000  # maximum reports in a model file, which limits the record's size
CHOSEN = ("clip", "features")
"""The parameters that a training can choose, if they are ``"auto"``."""

_UNRECORDED = ("callback", "network_callback", "random_state")


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
            "scikit-learn": sklearn.__version__,
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
    own = stored.digest(value) if isinstance(value, Features) else joblib.hash(value)
    return f"{type(value).__name__} {own}"


@dataclass(kw_only=True, eq=False, repr=False)
class DeviceClassifier(Answers, declared.SharedParameters, ABC):
    """Base of classifiers with models that run on devices.

    Targets are classes, or sets of labels (multi-label): a matrix of zeros and ones, or a sequence
    of collections of labels. The parameters of images and of each kind of
    feature are in its folder of `protonn_edge.features`.

    Attributes
    ----------
    classes_ : ndarray of shape (L,)
        The labels, in the order of the scores; the column numbers for a matrix of labels.
    n_features_in_ : int
        Number of features D.
    feature_names_in_ : ndarray of shape (D,)
        Names of the features, if X had names.
    model_ : Model
        The trained model, with classes and features named as in `fit`; see `to_model`.
    n_iter_ : int
        Epochs of training.
    clip_ : ClipChoice or None
        The share that ``clip="auto"`` chose; None if there was nothing to choose.
    features_ : FoundFeatures
        The features that ``features="auto"`` found.
    history_ : tuple of EpochReport
        The reports passed to the callback, without abandoned attempts.
    restarts_ : tuple of Restart
        Attempts that diverged and were abandoned.
    remarks_ : tuple of str
        Remarks on the training, such as restarts, which were also issued as `ConvergenceWarning`.
    """

    history_: tuple[EpochReport, ...] = field(init=False)
    restarts_: tuple[Restart, ...] = field(init=False)
    remarks_: tuple[str, ...] = field(init=False)
    n_iter_: int = field(init=False)
    clip_: ClipChoice | None = field(init=False)
    features_: FoundFeatures = field(init=False)

    is_slow: ClassVar[bool] = False  # whether a few minutes are too short for trials of a search
    starts_from: ClassVar[str] = ""  # the kind of models that training can continue
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls._parameter_constraints = constraints(cls.parameters)
        cls.__doc__ = with_parameters_of_bases(cls)

    @classmethod
    def searched(cls, task: SearchTask) -> SearchSpec:  # noqa: ARG003 (other kinds use it)
        """Return the search space of this kind, with its first trials; kinds extend it."""
        return SearchSpec(FEATURES_SEARCHED, (FEATURES_BEGUN,))

    @abstractmethod
    def learn(self, data: TrainingSet) -> Learned:
        """Learn from normalized points; return the head with a record of the training.

        It is called on frozen settings, a copy of the estimator; their callback is called after
        each epoch.
        """

    def check_sizes(self, dataset: Dataset, given: Collection[str]) -> Sequence[Notice]:  # noqa: ARG002
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

    def stand_in_for(self, model: Model) -> Self:
        """Return a classifier that learns from some of a model's points, without reports."""
        settings = model.record.get("settings", {})
        found = {name: settings.get(name) for name in CHOSEN if getattr(self, name) == AUTO}
        stand_in: Self = clone(self).set_params(callback=None, network_callback=None, **found)
        return stand_in

    @checking_parameters
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        evaluate_on: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Train on points X of shape (n, D) with labels y of shape (n,).

        Parameters
        ----------
        X : array of shape (n, D)
            Raw features; they are normalized here.
        y : array of shape (n,), matrix of shape (n, L) or sequence of n collections
            Labels of any type, at least two different ones, or sets of labels: a dense or sparse
            matrix of zeros and ones, or a set, list or tuple of labels for each point. May be
            omitted if all points are normal, for classifiers that learn one class.
        sample_weight : array of shape (n,), optional
            Weight of each point, not negative. A point of weight 2 counts as two points.
        groups : array of shape (n,), optional
            The group of each point, such as the person, day or sensor it came from; see
            `group_shift`. scikit-learn's searches pass on groups only with metadata routing.
        evaluate_on : tuple of X (n', D) and y (n',) or (n', L), optional
            Points for the test accuracy in reports; training does not depend on them.

        Returns
        -------
        DeviceClassifier
            This estimator, fitted.

        Raises
        ------
        ValueError
            If X or y are unusable, a parameter is out of range or conflicts with another one, or
            training diverges.
        """
        if y is None and self.target.assumed_label:
            y = np.full(np.shape(X)[:1], self.target.assumed_label)
        labels = self.target.labels.of(y)
        request = TrainingRequest(
            settings=self.frozen(), predicts=labels.predicts, in_groups=groups is not None
        )
        check_compatible(request)
        return self.fit_accepted(X, y, sample_weight, groups=groups, evaluate_on=evaluate_on)

    @checking_parameters
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
        chooses_clip, target = self.clip == AUTO, self.target
        settings = self.frozen(clip=0.0) if chooses_clip else self.frozen()
        self.__dict__.pop("model_", None)  # if training is stopped, the old one has other classes
        labels = target.labels.of(y)
        given, self.classes_, labels = labels.given(self, X, y, sample_weight)
        numbers = None if groups is None else group_numbers(groups, len(given))
        target.check(self.classes_)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
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
            self._fit_rules(some.X, some.y)
        return self

    def _fit_rules(self, points: Float32, targets: Targets) -> None:
        """Add the rules that every training fits; see `protonn_edge.policy`."""
        self.model_ = with_rules(self.model_, *fitted_rules(self, points, targets))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _keep(self, learned: Learned, data: TrainingSet, settings: Self, *, n_train: int) -> None:
        """Store the results, and warn about the remarks."""
        self.history_, self.restarts_ = learned.history, learned.restarts
        self.n_iter_ = learned.history[-1].epoch
        self.remarks_ = (*map(str, learned.restarts), *learned.remarks)
        for remark in self.remarks_:
            warnings.warn(remark, ConvergenceWarning, stacklevel=4)
        record = training_record(
            {name: getattr(settings, name, value) for name, value in self.get_params().items()},
            learned,
            seed=data.seed,
            n_train=n_train,
            data_sha256=data.data_sha256,
        )
        classes = tuple(label_text(str(label)) for label in self.classes_)
        model = data.model_of(learned, classes, getattr(self, "feature_names_in_", ()))
        self.model_ = replace(model, record=record)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = "labels" in self.takes
        return tags


CLASSIFIERS: MutableMapping[str, type[DeviceClassifier]] = ESTIMATORS
"""The kinds of classifiers, by their names on the command line; the first one is the default."""
