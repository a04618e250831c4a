"""The float32 build of a model, for comparison with integers.

For an input ``q`` of D unsigned bytes, the float32 model computes the formulas of the integer
model::

    p_k = bias_k + sum_i W_ki q_i      the normalizer, gamma and the bytes' scale are folded in
    r_j = sum_k (p_k - B_jk)^2          "far" beyond `limit`
    e_j = exp(-r_j), or 0 if prototype j is far
    s_l = sum_j Z_lj e_j                then rounded to an integer
    class = the first l with the largest s_l, before it is rounded

The device computes in IEEE 754 binary32. Up to r, so does NumPy, in the same order, so that both
find the same prototypes far. NumPy computes the exponential and the scores in binary64: scores
differ by at most `score_tolerance`, and classes only if two scores are that close. Z is scaled by a
power of two so that scores are 24-bit integers, sent and compared as in an integer build.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.checks import Float32, little_endian
from protonn_edge.chain.head import Size
from protonn_edge.chain.input_quantizer import InputQuantizer
from protonn_edge.chain.integer_chain import IntegerChain, QuantizedInput
from protonn_edge.chain.integer_stage import hashed_name
from protonn_edge.chain.model import Model
from protonn_edge.chain.policy import IntegerPolicy
from protonn_edge.chain.raw_inputs import Exponents
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.head import ProtoNNHead

_ROWS_AT_ONCE = 1024
_SCORE_BITS = 24
_FLOAT_BYTES = 4
_UNHASHED = ("raw_exponents", "feature_names", "sizes")  # because they do not affect scores


@dataclass(frozen=True, eq=False)
class Float32Model(QuantizedInput):
    """All numbers of a float build; see the module's docstring for the arithmetic."""

    precision = "float32"
    policy = IntegerPolicy()  # no rule is computed in floats
    head = ProtoNNHead
    score_tolerance: ClassVar[int] = 1 << 8
    """Tolerated difference of scores between executions, in units: 1/65536 of the largest score."""

    inputs: InputQuantizer  # as in the integer model
    projection: Float32  # (d, D): W, for bytes, in units of 1/gamma
    bias: Float32  # (d,): offset of the projection
    prototypes: Float32  # (d, m): B, in units of 1/gamma
    labels: Float32  # (L, m): Z, in units of `score_scale`
    # squared distance, a float32 or infinite, beyond which a prototype is far because its RBF is
    # below the float model's cutoff
    limit: float
    score_scale: float  # the float score that a score of 1 stands for, a power of two
    classes: tuple[str, ...]  # names of the L classes
    raw_exponents: Exponents | None = None
    feature_names: tuple[str, ...] = ()  # names of the features of a point, or empty
    sizes: tuple[Size, ...] = ()  # the numbers of projections and prototypes

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
    def n_classes(self) -> int:
        """L."""
        return len(self.labels)

    @property
    def model_bytes(self) -> int:
        """Bytes of the parameters W, B and Z in flash."""
        return _FLOAT_BYTES * (self.projection.size + self.prototypes.size + self.labels.size)

    @cached_property
    def model_sha256(self) -> str:
        """SHA-256 of the numbers, in hexadecimal; never equal to an integer model's."""
        digest = hashlib.sha256(b"float32:")
        for part in (self.inputs, self):
            for field in fields(part):
                value = getattr(part, field.name)
                if field.name in _UNHASHED:
                    continue
                name = hashed_name(field.name)
                if isinstance(value, np.ndarray):
                    little = little_endian(value)
                    digest.update(f"{name}{little.dtype.str}{little.shape}:".encode())
                    digest.update(little.tobytes())
                elif not isinstance(value, InputQuantizer):
                    digest.update(f"{name}:{value!r}".encode())
        return digest.hexdigest()

    def answers(self, Q: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return class indices (n,) and scores (n, L) of quantized inputs Q, (n, D) uint8."""
        sums = self._sums(Q)
        return sums.argmax(axis=1).astype(np.int64), np.rint(sums).astype(np.int64)

    def _sums(self, Q: NDArray[np.uint8]) -> NDArray[np.float64]:
        parts = [self._part(Q[i : i + _ROWS_AT_ONCE]) for i in range(0, len(Q), _ROWS_AT_ONCE)]
        return np.concatenate(parts) if parts else np.zeros((0, self.n_classes))

    def _part(self, Q: NDArray[np.uint8]) -> NDArray[np.float64]:
        P = np.tile(self.bias, (len(Q), 1))
        for column, x in zip(self.projection.T, Q.T.astype(np.float32), strict=True):
            P += column * x[:, None]
        r = np.zeros((len(Q), self.n_prototypes), np.float32)
        for coordinates, p in zip(self.prototypes, P.T, strict=True):
            r += np.square(p[:, None] - coordinates)
        values = np.where(r > np.float32(self.limit), 0.0, np.exp(-r.astype(np.float64)))
        return values @ self.labels.T.astype(np.float64)


def float32_model(model: Model, integer_model: IntegerChain) -> Float32Model:
    """Return the numbers of a model's float build, given its integer model.

    Raises `InputError` if a number does not fit float32, Z is zero, or the model computes features
    or gives answers that are no class.
    """
    if model.feature_stage is not None:
        raise InputError(
            f"the model {model.feature_stage.does}, which float builds do not support; build in "
            "int8, or train without these features"
        )
    for other in model.policy.other_answers:
        raise InputError(
            f'float builds do not support the answer "{other.name}", which the model gives; build '
            "in int8"
        )
    head = model.head
    assert isinstance(head, ProtoNNHead)
    inputs, gamma = integer_model.inputs, head.gamma
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite values are refused below
        per_raw_unit = gamma * head.projection.astype(np.float64) * model.normalizer.scale
        bias = per_raw_unit @ (inputs.zero - model.normalizer.offset)
        labels = head.labels.astype(np.float64)
        largest = float(np.abs(labels).sum(axis=1).max())
        scale = 2.0 ** (math.ceil(math.log2(largest)) - _SCORE_BITS) if largest > 0 else math.nan
        made = Float32Model(
            inputs=inputs,
            projection=(per_raw_unit * inputs.step).astype(np.float32),
            bias=bias.astype(np.float32),
            prototypes=(gamma * head.prototypes.astype(np.float64)).astype(np.float32),
            labels=(labels / scale).astype(np.float32),
            limit=float(np.float32(-math.log(head.cutoff))) if head.cutoff else math.inf,
            score_scale=scale,
            classes=model.classes,
            raw_exponents=integer_model.raw_exponents,
            feature_names=integer_model.feature_names,
            sizes=model.sizes,
        )
    for numbers in (made.projection, made.bias, made.prototypes, made.labels):
        if not np.isfinite(numbers).all():
            raise InputError(
                "some numbers of the model exceed the range of 32-bit floats; train the model "
                "again with smaller feature values"
            )
    return made


PRECISIONS = ("int8", "float32")

DeviceModel = IntegerChain | Float32Model


def precisions_of(model: Model) -> tuple[str, ...]:
    """Return the possible precisions; float builds neither compute features nor judge answers."""
    plain = model.feature_stage is None and not model.policy.other_answers
    return PRECISIONS if plain and isinstance(model.head, ProtoNNHead) else PRECISIONS[:1]
