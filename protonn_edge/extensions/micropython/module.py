"""A model as a module of Python: its text, and the test vectors in it.

Everything is whole numbers, so that MicroPython, CircuitPython and CPython give the same scores.
Floats are taken apart into whole numbers as well: the floats of an interpreter may have 64, 32 or
30 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from protonn_edge import __version__
from protonn_edge.codegen.context import Sending, c_comment, sendings
from protonn_edge.codegen.export.self_test import vectors_from_data, vectors_from_model
from protonn_edge.codegen.renderer import template_environment
from protonn_edge.extensions.micropython.literals import (
    array_literal,
    bytes_literal,
    names_literal,
)
from protonn_edge.extensions.micropython.stages import (
    PythonStage,
    Row,
    chosen,
    python_stage,
    scale_rows,
    unsupported,
)
from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.features.window_features.windows import Windows
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.head import channels_of, kind_title
from protonn_edge.model.integer_chain import MODEL_HASH_BYTES, IntegerChain
from protonn_edge.model.raw_inputs import float_quantizer
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.policy.rejection.rule import UNKNOWN, IntegerRejection
from protonn_edge.policy.value.rule import IntegerValue
from protonn_edge.system.extensions import parts_of

MARK = "# Made by protonn-edge"
"""How a module begins."""

_INPUTS = "_inputs"
_IDLE_S = 60  # until the program that measures ends
_VECTOR_BYTES = 4096  # of all vectors, which a board keeps in its memory
_FORMATS = {"B": (0, 255), "h": (-(1 << 15), (1 << 15) - 1)}  # of raw whole numbers
_RULES = (Confidence, IntegerRejection, IntegerValue)


@dataclass(frozen=True, eq=False)
class Vectors:
    """Raw points, as whole numbers, and what the model in NumPy answers."""

    points: NDArray[np.int64]  # (n, features)
    # (n, L + 1): the scores, then the answer, or the number in units of its last decimal
    expected: NDArray[np.int64]

    @property
    def code(self) -> str:
        """The smallest format of a raw number, as in the module struct."""
        least, most = int(self.points.min()), int(self.points.max())
        return next(c for c, (low, high) in _FORMATS.items() if low <= least and most <= high)


@dataclass(frozen=True, eq=False)
class PythonModule:
    """A model as a module.

    Attributes
    ----------
    name : str
        By which a program imports the module.
    model : DeviceModel
        The model, and its integers.
    data : array of shape (n, features), optional
        Raw points for test vectors; by default, points are made from the model.

    Raises
    ------
    InputError
        From `text`, if a part of the model has no form in Python.
    """

    name: str
    model: DeviceModel
    data: ArrayLike | None = None

    @cached_property
    def text(self) -> str:
        """The module: the same text on every machine."""
        template = template_environment("micropython").get_template("module.py.j2")
        return template.render(self._context())

    @cached_property
    def measure(self) -> str:
        """The program that lets `hil` measure the module on a board."""
        template = template_environment("micropython").get_template("measure.py.j2")
        return template.render(self._context())

    @cached_property
    def vectors(self) -> Vectors:
        """Up to 20 test vectors, as many as a board can be expected to keep."""
        chain, data = self.model.chain, self.data
        known = vectors_from_model(self.model) if data is None else vectors_from_data(chain, data)
        raw = chain.raw_inputs
        points = raw.integers(chain.quantizer.restore(known.inputs)).astype(np.int64)
        each = 2 * chain.n_features + 4 * (chain.n_classes + 1)
        points = points[: max(1, _VECTOR_BYTES // each)]
        answers, scores = chain.answers(raw.quantize(points))
        value = chain.policy.find(IntegerValue)
        last = answers if value is None else value.in_units(scores)
        return Vectors(points, np.column_stack([scores, last]))

    @cached_property
    def stages(self) -> tuple[PythonStage, ...]:
        """The model's stages in Python; raises `InputError` if that is impossible."""
        chain = self.model.chain
        for part in parts_of(chain):
            raise unsupported(f"the part '{part.name}'")
        for rule in chain.policy.rules:
            if rule.hashed and not isinstance(rule, _RULES):
                raise unsupported(f"the rule '{rule.name.replace('_', ' ')}'")
        stages, inputs = list[PythonStage](), _INPUTS
        for number, stage in enumerate((*chain.feature_stages, *chain.own_stages)):
            stages.append(python_stage(stage, number, inputs))
            inputs = stages[-1].output
        return tuple(stages)

    def _context(self) -> dict[str, object]:
        """Return the variables of the template."""
        stages, chain, vectors = self.stages, self.model.chain, self.vectors
        first = chain.feature_stages[0] if chain.feature_stages else None
        window = first.window if isinstance(first, IntegerWindowFeatures) else None
        ints, floats, choice = _conversion(chain)
        n_classes, policy = chain.n_classes, chain.policy
        kernels = {name: needs for stage in stages for name, needs in stage.kernels.items()}
        return {
            "mark": MARK,
            "tool_version": __version__,
            "name": self.name,
            "title": _title(chain, window),
            "model": chain,
            "hash": ascii(bytes.fromhex(chain.model_sha256)[:MODEL_HASH_BYTES]),
            "n_classes": n_classes,
            "idle_s": _IDLE_S,
            "kernels": kernels,
            "tables": {name: text for stage in stages for name, text in stage.tables.items()},
            "calls": [call for stage in stages for call in stage.calls],
            "output": stages[-1].output,
            "scales": array_literal("i", ints),
            "floats": array_literal("i", floats),
            "choice": array_literal("H", choice),
            "period": len(choice),
            "units": _table(chain),
            "window": window,
            "classes": names_literal(chain.classes),
            "unknown": UNKNOWN,
            "rejection": policy.find(IntegerRejection),
            "value": policy.find(IntegerValue),
            "confidence": policy.find(Confidence),
            "exponential": bytes_literal([*Confidence.table, 0]),
            "code": vectors.code,
            "points": bytes_literal(_packed(vectors.points, vectors.code)),
            "expected": bytes_literal(_packed(vectors.expected, "i")),
            "point_bytes": chain.n_features * (1 if vectors.code == "B" else 2),
            "answer_bytes": 4 * (n_classes + 1),
            "n_vectors": len(vectors.points),
        }


def _packed(numbers: NDArray[np.int64], code: str) -> NDArray[np.uint8]:
    """Return numbers as the module struct packs them, in little-endian order."""
    types = {"B": "u1", "h": "<i2", "i": "<i4"}
    return np.frombuffer(numbers.astype(types[code]).tobytes(), np.uint8)


def _conversion(chain: IntegerChain) -> tuple[list[Row], list[Row], list[int]]:
    """Return the rows of the scales of whole numbers and floats, and which a feature has.

    Of samples, the channels have them.
    """
    of_floats = float_quantizer(chain.quantizer)
    pairs = [_edge(scale.edge) + _slope(scale.slope) for scale in of_floats.scales]
    each = channels_of(chain) or chain.n_features
    ints, raw = scale_rows(chain.raw_inputs), chain.raw_inputs
    both = zip(raw.choice[:each].tolist(), of_floats.choice[:each].tolist(), strict=True)
    rows, choice = chosen([ints[place] + pairs[other] for place, other in both])
    split = len(ints[0])
    return [row[:split] for row in rows], [row[split:] for row in rows], choice


def _edge(number: float) -> Row:
    """Return minus a float of 32 bits: twice its digits, plus 1 if it is negative; its exponent."""
    bits = int(np.float32(-number).view(np.uint32))
    exponent, digits = bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent:
        digits |= 1 << 23
    return digits << 1 | bits >> 31, max(exponent, 1)


def _slope(number: float) -> Row:
    """Return a float of 32 bits in the same form, always of 24 digits, and 300 for 2**0."""
    digits, exponent = math.frexp(abs(number))
    return int(digits * (1 << 24)) << 1 | int(number < 0), exponent - 24 + 300


def _title(chain: IntegerChain, window: Windows | None) -> str:
    """Return what the module is, in one line."""
    value = chain.policy.find(IntegerValue)
    made = "numbers" if value is not None else f"{chain.n_classes} classes"
    points = f"{chain.n_features} features"
    if window is not None:
        points = f"windows of {window.window} samples of {window.channels} channels"
    return f"a {kind_title(chain.head.kind)} model of {points} and {made}"


def _table(chain: IntegerChain) -> list[str]:
    """Return a table of the units of whole numbers, with names that are safe in a comment."""
    head = ("feature", "name", "whole numbers are", "the value times", "from", "to")
    rows = [head, *(_row(each) for each in sendings(chain))]
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns]
    lines = zip(*columns, strict=True)
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def _row(sent: Sending) -> tuple[str, ...]:
    numbers = (sent.factor, f"{sent.low}", f"{sent.high}")
    return (sent.features, c_comment(sent.name), sent.unit, *numbers)
