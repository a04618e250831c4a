"""A chain of integer stages: the exact arithmetic that every generated program reproduces.

A point consists of the unsigned bytes that the device receives (see `InputQuantizer`). They are the
inputs of the first stage; the last stage outputs a class. Each stage computes its own formula and
proves that nothing overflows. The stages' NumPy code is the reference, and templates and planner
read all shifts and scales from the same objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge.model import integer_stage
from protonn_edge.model.checks import set_checked
from protonn_edge.model.decision import IntegerDecision
from protonn_edge.model.features import Features, feeding
from protonn_edge.model.head import Head, Size, size_facts
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_stage import IntArray, IntegerStage, run_through, stage_names
from protonn_edge.model.model import Model, units_of
from protonn_edge.model.nearness import NearestStage, nearness_of
from protonn_edge.model.policy import IntegerPolicy, Units, in_integers
from protonn_edge.model.raw_inputs import (
    Exponents,
    RawQuantizer,
    raw_quantizer,
)
from protonn_edge.model.stored import digest
from protonn_edge.model.watch import AnswerWatch
from protonn_edge.system.arrays import Array
from protonn_edge.system.checks import check, check_kind, check_range, check_shape
from protonn_edge.system.facts_repr import FactsRepr

_ROWS_AT_ONCE = 512  # keeps (rows, m, d) differences in the cache and bounds memory

MODEL_HASH_BYTES = 8  # bytes of the SHA-256 by which firmware identifies its model

Stage = TypeVar("Stage", bound=IntegerStage)


@dataclass(frozen=True, kw_only=True, eq=False)
class IntegerChain(FactsRepr):
    """The model of a classifier of any kind as a device computes it, from bytes to the class."""

    head: type[Head]  # the class of its float form, which names the kind
    # from raw or computed features to the inputs of the classifier's own stages
    inputs: InputQuantizer
    # the classifier's stages, from the outputs of `inputs` to the scores
    own_stages: tuple[IntegerStage, ...]
    score_scale: float  # the float score that an integer score of 1 stands for
    classes: tuple[str, ...]  # names of the L classes
    sizes: tuple[Size, ...] = ()
    features: Features | None = None  # computes features first, on the device
    policy: IntegerPolicy = field(default_factory=IntegerPolicy)  # gives its answer
    # The power of ten by which a sketch multiplies raw values; see `units_of`. It is not part of
    # the arithmetic, which begins with bytes, nor of the model's hash.
    raw_exponents: Exponents | None = None
    # If raw values are a sensor's counts: the counts per unit of the training data, for each
    # channel or feature. They replace `raw_exponents`, and are not hashed either.
    counts: NDArray[np.float64] | None = None
    feature_names: tuple[str, ...] = ()  # names of the features of a point, or empty
    expected: AnswerWatch | None = None  # for devices that watch their answers; not hashed
    # the stages from the bytes that the device receives to the classifier's inputs
    feature_stages: tuple[IntegerStage, ...] = field(init=False)

    def __post_init__(self) -> None:
        *before, last = self.own_stages
        if isinstance(last, NearestStage):
            needed = any(rule.needs_nearest for rule in self.policy.rules)
            set_checked(self, "own_stages", (*before, last.giving_nearest(needed)))
        set_checked(self, "feature_stages", feeding(self.features, self.inputs))
        maximum = self.inputs.maximum
        fits = 1 <= maximum <= 255
        integer_stage.check_holds(fits, f"a largest input of {maximum:,}", "1 to 255")
        integer_stage.check_counts(features=self.n_features, classes=self.n_classes)
        if self.feature_stages:
            made = self.feature_stages[-1]
            integer_stage.check_holds(
                made.n_outputs == self.n_inputs,
                f"{made.n_outputs:,} features for a classifier of {self.n_inputs:,} inputs",
                "equal numbers",
            )
        for rule in self.policy.rules:
            rule.check(self)

    def facts(self) -> dict[str, str]:
        """Return its sizes and classes, its size in bytes, and its hash."""
        own = {"parameters": f"{self.model_bytes:,} B", "model": self.model_sha256[:16]}
        return {**size_facts(self), **own}

    @property
    def n_inputs(self) -> int:
        """Inputs of the classifier's own stages."""
        return self.own_stages[0].n_inputs

    @property
    def n_features(self) -> int:
        """Number of features of a point, as sent to the device: at least D."""
        return self.n_inputs if self.features is None else self.features.points.n_features

    @property
    def n_classes(self) -> int:
        """L, the number of classes."""
        return self.own_stages[-1].n_outputs

    @cached_property
    def stages(self) -> tuple[IntegerStage, ...]:
        """All stages, from the bytes that the device receives to the class."""
        decision = IntegerDecision(self.own_stages[-1].output, self.policy, self.expected)
        return (*self.feature_stages, *self.own_stages, decision)

    @cached_property
    def quantizer(self) -> InputQuantizer:
        """Converts raw features to the bytes that the device receives."""
        return self.inputs if self.features is None else self.features.points.quantizer

    @cached_property
    def raw_inputs(self) -> RawQuantizer:
        """Converts raw integers to these bytes, on the device."""
        scaled = self.raw_exponents is not None and bool(self.raw_exponents.any())
        scaled = scaled and self.counts is None
        # The same code quantizes computed features, and its cycles are part of the bound.
        stages = (*self.feature_stages, *self.own_stages)
        quantizing = (getattr(stage, "quantizer", None) for stage in stages)
        fine = scaled and not any(quantizing)
        return raw_quantizer(self.quantizer, self.raw_exponents, fine=fine, counts=self.counts)

    def quantize(self, X: ArrayLike) -> NDArray[np.uint8]:
        """Return raw features (n, D) as the bytes (n, D) that the device receives."""
        return self.quantizer.quantize(X)

    @property
    def model_bytes(self) -> int:
        """Bytes of the int8 parameters in flash."""
        learned = (*self.feature_stages, *self.own_stages)
        return sum(int(array.nbytes) for stage in learned for array in stage.parameters())

    @cached_property
    def model_sha256(self) -> str:
        """SHA-256, in hexadecimal, of all numbers in order: equal for equal arithmetic."""
        hashed = (self.inputs, self.features, self.own_stages, self.score_scale, self.classes)
        return digest((*hashed, tuple(rule for rule in self.policy.rules if rule.hashed)))

    @property
    def score_tolerance(self) -> int:
        """The tolerated difference of scores between executions: 0 if they compute in integers."""
        return self.own_stages[-1].score_tolerance

    def answers(self, Q: NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
        """Return classes (n,) and scores (n, L), both int64, of quantized inputs Q.

        Ties go to the lower index. The policy may give an answer that is no class.
        """
        scores, nearest = scores_and_nearest(self, Q)
        return self.policy.answers(scores, nearest), scores

    def predict(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the class index, (n,) int64, of quantized inputs Q; see `answers`."""
        return self.answers(Q)[0]

    def scores(self, Q: NDArray[np.uint8]) -> IntArray:
        """Return the scores, (n, L) int64, of quantized points Q, (n, features) uint8."""
        return self.answers(Q)[1]


def named_stages(chain: IntegerChain) -> dict[str, IntegerStage]:
    """Return all stages, by their names in plans and C."""
    names = stage_names(stage.kind for stage in chain.stages)
    return dict(zip(names, chain.stages, strict=True))


def stage_of(chain: IntegerChain, kind: type[Stage]) -> Stage:
    """Return the first stage of a kind, but for the decision, which is slow to make."""
    return next(s for s in (*chain.feature_stages, *chain.own_stages) if isinstance(s, kind))


def own_inputs(chain: IntegerChain, Q: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the inputs of the classifier's own stages, (n, D), from the device's bytes."""
    return run_through(chain.feature_stages, Q)


def coordinates(chain: IntegerChain, Q: NDArray[np.uint8]) -> Array:
    """Return the inputs (n, d) of the last stage for quantized points Q (n, features) uint8."""
    return run_through((*chain.feature_stages, *chain.own_stages[:-1]), Q)


def scores_and_nearest(chain: IntegerChain, Q: NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
    """Return the scores (n, L) and nearness (n,) of quantized points Q (n, features) uint8.

    The nearness measures how near the nearest known point is, 0 if unknown. Both are int64.
    """
    Q = np.asarray(Q)
    check(Q.dtype == np.uint8, "quantized points", Q.dtype, "uint8")
    check_kind("quantized points", Q, "u", 2)
    check_shape("quantized points", Q.shape[1:], (chain.n_features,))
    check_range("quantized points", int(Q.max(initial=0)), 0, chain.quantizer.maximum)
    last = chain.own_stages[-1]
    scores = np.zeros((len(Q), chain.n_classes), np.int64)
    nearest = np.zeros(len(Q), np.int64)
    for begin in range(0, len(Q), _ROWS_AT_ONCE):
        part = slice(begin, begin + _ROWS_AT_ONCE)
        x = coordinates(chain, Q[part])
        if isinstance(last, NearestStage):
            scores[part], nearest[part] = last.run_with_nearest(x)
        else:
            scores[part] = last.run(x)
    return scores, nearest


def chain_for(
    model: Model,
    inputs: InputQuantizer,
    own_stages: tuple[IntegerStage, ...],
    score_scale: float,
) -> IntegerChain:
    """Return the integer form of a float model, given the classifier's own stages.

    An integer score of 1 stands for a float score of `score_scale`.
    """
    last = own_stages[-1]
    new = last.n_new_classes if isinstance(last, NearestStage) else 0
    units = Units(score_scale, nearness_of(last).unit, model.n_classes, new, last.output.ends)
    return IntegerChain(
        head=type(model.head),
        inputs=inputs,
        own_stages=own_stages,
        score_scale=score_scale,
        classes=model.classes,
        sizes=model.sizes,
        features=model.features,
        policy=in_integers(model.policy, units),
        feature_names=model.feature_names,
        raw_exponents=units_of(model),
    )


Scored = tuple[str, Array]
"""The name of the step, and the scores (n, L) of the model quantized up to it."""


def scores_in_two_steps(
    model: Model, integers: IntegerChain, X: NDArray[np.float32], *, last_step: str = "W"
) -> Iterator[Scored]:
    """Yield the scores of raw points X (n, features) after each step of quantizing a model.

    float        the float model
    inputs       the inputs of its stages as bytes
    `last_step`  all integers, as on the device
    """
    yield "float", model.scores(X)
    fed = integers.quantize(X)
    restored = integers.inputs.restore(own_inputs(integers, fed))
    yield "inputs", model.head.scores(model.normalizer.apply(restored))
    yield last_step, integers.scores(fed)
