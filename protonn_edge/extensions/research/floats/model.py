"""The float32 build of a ProtoNN, for comparison with integers.

For an input ``q`` of D unsigned bytes, the stage computes the formulas of the integer stages::

    p_k = bias_k + sum_i W_ki q_i      the normalizer, gamma and the bytes' scale are folded in
    r_j = sum_k (p_k - B_jk)^2          "far" beyond `limit`
    e_j = exp(-r_j), or 0 if prototype j is far
    s_l = sum_j Z_lj e_j                then rounded to an integer

The device computes in IEEE 754 binary32. Up to r, so does NumPy, in the same order, so that both
find the same prototypes far. NumPy computes the exponential and the scores in binary64: scores
differ by at most `score_tolerance`, and classes only if two scores are that close. Z is scaled by a
power of two so that scores are 24-bit integers, sent and compared as in an integer build.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from protonn_edge.extensions.research.floats import NAME
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.model.checks import Float32
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import IntArray, IntegerStage, Range
from protonn_edge.model.model import Model
from protonn_edge.model.policy import IntegerPolicy
from protonn_edge.model.quantization import quantize
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import InputError, InvalidValue

_SCORE_BITS = 24


@dataclass(frozen=True, eq=False)
class FloatProtoNN(IntegerStage):
    """Maps bytes to scores in floats; see the module's docstring for the arithmetic."""

    kind: ClassVar[str] = NAME
    score_tolerance: ClassVar[int] = 1 << 8  # 1/65536 of the largest score

    projection: Float32  # (d, D): W, for bytes, in units of 1/gamma
    bias: Float32  # (d,): offset of the projection
    prototypes: Float32  # (d, m): B, in units of 1/gamma
    labels: Float32  # (L, m): Z, in units of the score
    # squared distance, a float32 or infinite, beyond which a prototype is far because its RBF is
    # below the float model's cutoff
    limit: float

    @property
    def n_inputs(self) -> int:
        """D."""
        return int(self.projection.shape[1])

    @property
    def n_projections(self) -> int:
        """d."""
        return len(self.projection)

    @property
    def n_prototypes(self) -> int:
        """m."""
        return int(self.prototypes.shape[1])

    @property
    def output(self) -> Range:
        """The range of the scores, as no RBF is above 1."""
        Z = self.labels.astype(np.float64)
        low, high = (np.rint(pick(Z, 0).sum(axis=1)) for pick in (np.minimum, np.maximum))
        return Range(low.astype(np.int64), high.astype(np.int64), 32)

    def run(self, x: Array) -> IntArray:
        """Return the scores (n, L), rounded, of bytes (n, D)."""
        P = np.tile(self.bias, (len(x), 1))
        for column, q in zip(self.projection.T, x.T.astype(np.float32), strict=True):
            P += column * q[:, None]
        r = np.zeros((len(x), self.n_prototypes), np.float32)
        for coordinates, p in zip(self.prototypes, P.T, strict=True):
            r += np.square(p[:, None] - coordinates)
        values = np.where(r > np.float32(self.limit), 0.0, np.exp(-r.astype(np.float64)))
        scores: IntArray = np.rint(values @ self.labels.T.astype(np.float64)).astype(np.int64)
        return scores

    def parameters(self) -> Iterator[Array]:
        """Yield W, B and Z."""
        yield from (self.projection, self.prototypes, self.labels)


def float_build(model: Model) -> IntegerChain:
    """Return the chain of a model's float build; see `in_floats`."""
    return in_floats(quantize(model), model)


def in_floats(chain: IntegerChain, model: Model) -> IntegerChain:
    """Return the chain of a model's float build, given the one in integers.

    Raises `InputError` if a number does not fit float32, Z is zero, or the model has more than
    W, B and Z.
    """
    head, policy = model.head, model.policy
    if (
        not isinstance(head, ProtoNNHead)
        or head.voters is not None
        or model.features is not None
        or policy.predicts != "class"
        or any(policy.other_answers)
    ):
        raise InputError(
            "there is no float build of this model; train a ProtoNN without features, taught "
            "examples and a rule of rejection"
        )
    inputs, gamma = chain.inputs, head.gamma
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite values are refused below
        per_raw_unit = gamma * head.projection.astype(np.float64) * model.normalizer.scale
        bias = per_raw_unit @ (inputs.zero - model.normalizer.offset)
        labels = head.labels.astype(np.float64)
        largest = float(np.abs(labels).sum(axis=1).max())
        scale = 2.0 ** (math.ceil(math.log2(largest)) - _SCORE_BITS) if largest > 0 else math.nan
        stage = FloatProtoNN(
            projection=(per_raw_unit * inputs.step).astype(np.float32),
            bias=bias.astype(np.float32),
            prototypes=(gamma * head.prototypes.astype(np.float64)).astype(np.float32),
            labels=(labels / scale).astype(np.float32),
            limit=float(np.float32(-math.log(head.cutoff))) if head.cutoff else math.inf,
        )
    for numbers in (stage.projection, stage.bias, stage.prototypes, stage.labels):
        if not np.isfinite(numbers).all():
            raise InvalidValue(
                "the model",
                "numbers beyond 32-bit floats",
                "train the model again with smaller feature values",
            )
    return replace(chain, own_stages=(stage,), score_scale=scale, policy=IntegerPolicy())
