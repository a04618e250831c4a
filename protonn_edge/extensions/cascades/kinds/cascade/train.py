"""Join two trained models to a cascade: the margin is chosen on points that neither has learned.

The smallest share of points is passed on with which at most one point in 2,000, or one point, less
is right than with the best share. Scores are added if that is better by more than a standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.extensions.cascades.kinds.cascade.head import (
    CascadeHead,
    CascadePart,
    margins,
)
from protonn_edge.extensions.cascades.kinds.cascade.quantize import quantized_parts
from protonn_edge.learn.base import DeviceClassifier
from protonn_edge.learn.calibration import fitted_sharpness, with_accuracy_floor
from protonn_edge.model import stored
from protonn_edge.model.checks import Float64
from protonn_edge.model.features import Features, feeding
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.policy import FloatPolicy, with_rules
from protonn_edge.model.quantization import quantize
from protonn_edge.model.rule_kinds import fitted_rules
from protonn_edge.model.statistics import InputStatistics, Normalizer
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.extensions import parts_of
from protonn_edge.system.schema import JsonObject

_LEAST_POINTS = 20
_MOST_SHARES = 200  # that are compared
_ONE_IN = 2_000  # points may be wrong, of those that are right with the best share
_ROWS_AT_ONCE = 500


def joined(
    first: Model | DeviceClassifier,
    second: Model | DeviceClassifier,
    X: Array,
    y: Array,
    *,
    share: float | None = None,
    adds: bool | None = None,
) -> Model:
    """Return the cascade of two models, with a margin chosen on points.

    Parameters
    ----------
    first : Model or DeviceClassifier
        A small model of classes, or a fitted estimator of one, which answers most points.
    second : Model or DeviceClassifier
        A larger model of the same data, which answers where the two best scores of the first are
        near.
    X : ndarray of shape (n, features)
        Raw points that neither model has learned.
    y : ndarray of shape (n,)
        Their classes: numbers from 0 or, if `first` is an estimator, labels as in its `fit`.
    share : float, optional
        The share of the points that is passed on; by default, it is chosen.
    adds : bool, optional
        Whether the scores of both models are added for them; by default, if that is clearly more
        accurate.

    Returns
    -------
    Model
        The cascade, with probabilities that are fitted to the points, and the share passed on.

    Raises
    ------
    InputError
        If the models do not belong together, there are too few points, or none is passed on.
    """
    models = _model_of(first), _model_of(second)
    _check(*models)
    if isinstance(first, DeviceClassifier):
        X, y = np.asarray(X, np.float32), first.indices_of(y, len(X))
    check(len(y) >= _LEAST_POINTS, "the points", f"{len(y):,} points", f"at least {_LEAST_POINTS}")
    model = _with_parts(*models)
    points = _Scored.of(model, X, y)
    cascade = points.chosen(share, adds)
    if cascade.margin == 0:
        raise InputError(
            f"the second model would answer none of the {len(y):,} points: the first one is as "
            "accurate without it, or the share is too small; use the first model alone, or pass on "
            "a larger share with --pass-on (in Python, share)"
        )
    model = _fitted(replace(model, head=cascade), X, y)
    passed_on = float(np.mean(margins(points.first) * points.units[0] < cascade.margin))
    model = replace(model, record={**model.record, "passed_on_share": passed_on})
    return with_accuracy_floor(model, X, y)


def _model_of(given: Model | DeviceClassifier) -> Model:
    return given if isinstance(given, Model) else given.to_model()


def _check(first: Model, second: Model) -> None:
    """Refuse models that do not belong together."""
    again = "join two models of the same data"
    for name, one, other in (
        ("classes", first.classes, second.classes),
        ("features", first.n_features, second.n_features),
        ("names of features", first.feature_names, second.feature_names),
    ):
        if one != other:
            raise InvalidValue(f"the second model's {name}", "not those of the first", again)
    for name, each in (("first", first), ("second", second)):
        check(each.policy.predicts == "class", f"the {name} model", each.policy.predicts, "classes")
        for part in parts_of(quantize(each)):
            raise InvalidValue(
                f"the {name} model",
                f"a device needs the part '{part.name}' for it, which no cascade has",
                "train it without",
            )


def _with_parts(first: Model, second: Model) -> Model:
    """Return a cascade that passes no points on."""
    one, other = CascadePart.of(first), CascadePart.of(second)
    base, features, inputs = first, first.features, first.inputs
    if first.features is not None and first.features == second.features:
        one, other = (replace(part, features=None) for part in (one, other))
    elif first.features is not None or second.features is not None:
        base = second if first.features is None else first
        features, inputs = _of_bytes(first, second)
        given = features.points.quantizer
        one, other = (
            part if part.features is not None else part.in_bytes(given) for part in (one, other)
        )
    head = CascadeHead(one, other, 0.0, 1.0)
    zeros = np.zeros(head.n_inputs)
    return replace(
        base,
        head=head,
        normalizer=Normalizer("none", zeros, zeros + 1),
        inputs=inputs,
        features=features,
        clipped=False,
        policy=FloatPolicy(),
        expected=None,
        record=_record(first, second),
    )


def _of_bytes(first: Model, second: Model) -> tuple[Features, InputStatistics]:
    """Return what makes bytes of raw points for both models."""
    formats = [each.features.points for each in (first, second) if each.features is not None]
    if not all(stored.same(formats[0], each) for each in formats):
        raise InputError(
            "the two models read points in different forms; train both with the same --window or "
            "--image-shape, and the same kind of features"
        )
    features = Features(formats[0], ())
    zeros = np.zeros(features.n_outputs)
    return features, features.ranged(InputStatistics(zeros, zeros, zeros, zeros, zeros))


def _record(first: Model, second: Model) -> JsonObject:
    """Return the record: the first model's, and what is known of the second's training."""
    known = {"settings": dict(second.record.get("settings", {}))}
    return {**first.record, "second": known | {"kind": second.head.kind}}


@dataclass(frozen=True, eq=False)
class _Scored:
    """The scores of both models for points of known classes."""

    model: Model
    first: NDArray[np.int64]  # (n, L)
    second: NDArray[np.int64]
    units: tuple[float, float]  # what a score of 1 stands for
    y: NDArray[np.int64]

    @classmethod
    def of(cls, model: Model, X: Array, y: NDArray[np.int64]) -> _Scored:
        """Return the scores of raw points (n, features)."""
        inputs, first, second = quantized_parts(model)
        scores = [_scores(model, inputs, chain, X) for chain in (first, second)]
        return cls(model, scores[0], scores[1], (first.score_scale, second.score_scale), y)

    def chosen(self, share: float | None, adds: bool | None) -> CascadeHead:
        """Return the cascade with the margin for a share of the points, or for the best one."""
        factors = [
            fitted_sharpness(scores.astype(np.float64) * unit, self.y, certain=False)
            for scores, unit in zip((self.first, self.second), self.units, strict=True)
        ]
        scale = factors[1] / factors[0]
        both = self.first * self.units[0] + self.second * self.units[1] * scale
        leads = margins(self.first)
        replaced = self._limit(leads, self.second.argmax(axis=1), share)
        added = self._limit(leads, both.argmax(axis=1), share)
        adds = _better(added[1], replaced[1]) if adds is None else adds
        limit = added[0] if adds else replaced[0]
        margin = max(0.0, (limit - 0.5) * self.units[0])  # not on a score
        head = self.model.head
        assert isinstance(head, CascadeHead)
        return replace(head, margin=margin, scale=scale, adds=adds)

    def _limit(
        self, leads: NDArray[np.int64], others: NDArray[np.int64], share: float | None
    ) -> tuple[int, NDArray[np.bool_]]:
        """Return the integer margin, and which points are then right."""
        own, passed = self.first.argmax(axis=1) == self.y, others == self.y

        def right(limit: int) -> NDArray[np.bool_]:
            answers: NDArray[np.bool_] = np.where(leads < limit, passed, own)
            return answers

        limits = np.unique(np.quantile(leads, np.linspace(0, 1, _MOST_SHARES), method="higher"))
        candidates = [0, *(limits.astype(int) + 1).tolist()]
        if share is not None:
            asked = float(share)
            limit = min(candidates, key=lambda each: abs(float(np.mean(leads < each)) - asked))
            return limit, right(limit)
        counts = [int(right(limit).sum()) for limit in candidates]
        enough = max(counts) - max(1, len(self.y) // _ONE_IN)
        limit = next(at for at, count in zip(candidates, counts, strict=True) if count >= enough)
        return limit, right(limit)


def _better(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    """Return whether one is right at more points than another, by over a standard error."""
    gained, lost = int((one & ~other).sum()), int((other & ~one).sum())
    return bool(gained - lost > np.sqrt(gained + lost))


def _scores(
    model: Model, inputs: InputQuantizer, chain: IntegerChain, X: Array
) -> NDArray[np.int64]:
    """Return the scores (n, L) of one of the models for raw points."""
    found = []
    for start in range(0, len(X), _ROWS_AT_ONCE):
        rows = X[start : start + _ROWS_AT_ONCE]
        if model.features is not None:
            stages, given = feeding(model.features, inputs), model.features.points.quantizer
            values = given.quantize(rows)
            for stage in stages:
                values = stage.run(values)
        else:
            values = inputs.quantize(rows)
        found.append(chain.scores(values))
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class _Untrained:
    """What the rules that every training fits read of a classifier."""

    model_: Model
    scores_are_logits: ClassVar[bool] = False

    @property
    def classes_(self) -> tuple[str, ...]:
        return self.model_.classes


def _fitted(model: Model, X: Float64, y: NDArray[np.int64]) -> Model:
    """Return the model with the rules that every training fits."""
    complete: Model = with_rules(model, *fitted_rules(_Untrained(model), X, y))
    return complete
