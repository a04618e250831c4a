"""The counters that a device keeps of its answers in the field, and the answers to expect.

For each answer, the device examines three things: the margin (the largest score minus the second
largest), the sum of all scores, and the runner-up (the class with the second largest score). An
answer is *unusual* if the margin or the sum is outside its class's interval: the class's mean plus
or minus a number of standard deviations, chosen so that a share of `UNUSUAL_SHARE` of points not
used in training exceeds it. Deviations are measured on one half of these points at a time, the
share on the other half. An answer is also unusual if its runner-up occurs for less than this share
of its class's points, provided that the class has at least `FEWEST_POINTS`, or if an input that the
device watches is 0 and never is for its class: if an axis of a sensor is stuck, its deviation is 0,
which is usual only for a sensor at rest. Answers look at every second watched input, by turns.

A one-sided cumulative sum (Page, 1954, "Continuous inspection schemes") watches for unusual
answers: it grows by `STEP` with each unusual answer, or by `STILL_STEP` if a watched input is 0,
falls by 1 with any other, and is never negative. It is the log-likelihood ratio of 30 % against 1 %
of unusual answers; a watched input is 0 more rarely than that. When it reaches `DRIFT`, the device
reports a drift. If 2.5 % of the answers are unusual, this happens on one of 100 days of 67,500
answers; if 30 % are unusual, after some 28 answers.

Counters stop at their maximum. They are in SRAM that is not cleared at a start, behind a tag of the
model and of the expected answers. In this module, a `chain` is an `IntegerChain`; its type is not
named because its module imports this one.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from protonn_edge.model.expected_answers import (
    MOST_CLASSES,
    ExpectedAnswers,
    ranked,
    shifted_bytes,
    statistics,
    why_unobserved,
)
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.watch import DeviceForm, WatchCost
from protonn_edge.system.errors import InputError, InvalidValue
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.model.integer_stage import IntArray

STEP, STILL_STEP, DRIFT, MOST_LEVEL = 10, 20, 62, 100
# bins of the margin's histogram, each with the same expected number of points
BINS = 4
FEWEST_ANSWERS = 50  # before a device has a verdict

_FULL = 0xFFFF
_HEAD = struct.Struct(f"<IIHH{BINS}H")

# For counting an answer and watching inputs (avr-gcc 5.4 at -O2): cycles, and flash with its other
# functions but without the rows of classes; SRAM for watching.
_CYCLES_AND_CODE, _ROW_BYTES, _WATCHING_BYTES = (130, 480), 10, 5

Verdict = Literal["new", "good", "drift"]


@dataclass(frozen=True, eq=False)
class IntegerExpected:
    """The same in 16-bit integers: of scores without their lowest bytes, modulo 2**16."""

    kernel: ClassVar[str] = "largest, observed"
    template: ClassVar[str] = "observation/counters.j2"
    constants: ClassVar[Mapping[str, int]] = {
        "BINS": BINS,
        "STEP": STEP,
        "STILL_STEP": STILL_STEP,
        "DRIFT": DRIFT,
        "MOST_LEVEL": MOST_LEVEL,
        "FEWEST_ANSWERS": FEWEST_ANSWERS,
    }

    low: IntArray  # (L, 2)
    width: IntArray  # (L, 2): of the intervals
    edges: IntArray  # (3,): every second one
    runners_up: NDArray[np.bool_]  # (L, L)
    watched: range
    moving: NDArray[np.bool_]  # (L,)
    shifted_bytes: int  # number of lowest bytes of a score that are left out
    tag: int  # 32 bits of a hash of the model and of these numbers

    @classmethod
    def of(cls, chain: IntegerChain, expected: ExpectedAnswers) -> IntegerExpected:
        """Convert the expected answers to a chain's units."""
        shifted = shifted_bytes(chain)
        units = chain.score_scale * 256.0**shifted
        low, high, edges = (
            np.rint(np.clip(each / units, -(2.0**46), 2.0**46)).astype(np.int64)
            for each in (expected.low, expected.high, expected.edges)
        )
        width, edges = np.minimum(high - low, _FULL), np.clip(edges[1::2], 1, _FULL)
        digest = hashlib.sha256(bytes.fromhex(chain.model_sha256))
        watched = np.array(expected.watched)
        for each in (low, width, edges, expected.runners_up, watched, expected.moving):
            digest.update(each.astype("<i8").tobytes())
        tag = int.from_bytes(digest.digest()[:4], "little")
        usual = expected.runners_up, expected.watched, expected.moving
        return cls(low & _FULL, width, edges, *usual, shifted, tag)

    @property
    def rows(self) -> list[tuple[int, ...]]:
        """For each class, a bit per usual runner-up, and start and width of its two intervals.

        Bit 15 is set if no watched input may be 0.
        """
        bits = self.runners_up @ (1 << np.arange(len(self.low)))
        bits |= self.moving.astype(np.int64) << MOST_CLASSES
        intervals = np.stack([self.low, self.width], axis=2).reshape(len(self.low), -1)
        return [tuple(row) for row in np.column_stack([bits, intervals]).tolist()]

    @property
    def cost(self) -> WatchCost:
        """The cost of counting an answer and watching inputs."""
        cycles, code = _CYCLES_AND_CODE
        state = self.n_bytes + _WATCHING_BYTES * bool(self.watched)
        tables = _ROW_BYTES * len(self.low)
        return WatchCost(cycles, code, tables, state)

    @property
    def n_bytes(self) -> int:
        """The size of the counters."""
        return _HEAD.size + 2 * len(self.low) + 2

    def recognized(self, content: bytes) -> Health | None:
        """Return a device's counters if they are of these expected answers; see `of_bytes`."""
        own = content[:4] == self.tag.to_bytes(4, "little")
        return Health.of_bytes(content, len(self.low)) if own else None

    def observed(self, scores: IntArray, answers: IntArray, x: NDArray[np.uint8]) -> Health:
        """Return a new device's counters after answers (n,) of scores (n, L) of inputs x (n, D)."""
        values = statistics(scores, self.shifted_bytes) & _FULL
        best, runners_up = ranked(scores)
        unusual = ((values - self.low[best]) & _FULL > self.width[best]).any(axis=1)
        unusual |= ~self.runners_up[best, runners_up]
        added = np.where(unusual, STEP, -1)
        zero = x[:, self.watched] == 0
        still = np.where(np.arange(len(x)) % 2, zero[:, 1::2].any(axis=1), zero[:, ::2].any(axis=1))
        added[self.moving[best] & still] = STILL_STEP
        level, alarms = 0, 0
        for each in added.tolist():
            before, level = level, max(0, min(level + each, MOST_LEVEL))
            alarms += before < DRIFT <= level
        classified = answers == best
        bins = np.searchsorted(self.edges, values[:, 0], side="right")
        counts = np.bincount(best[classified], minlength=len(self.low))
        return Health(
            cycles=0,
            unknown=min(int((~classified).sum()), _FULL),
            unusual=min(int((added > 0).sum()), _FULL),
            margins=tuple(np.minimum(np.bincount(bins, minlength=BINS), _FULL).tolist()),
            classes=tuple(np.minimum(counts, _FULL).tolist()),
            level=level,
            alarms=min(alarms, 0xFF),
        )


@dataclass(frozen=True)
class Health:
    """A device's counters; each stops at its maximum: 65,535, or 255 for alarms."""

    cycles: int  # of the longest prediction; 0 without a timer
    unknown: int  # answers "unknown"
    unusual: int  # answers
    margins: tuple[int, ...]  # number of answers in each bin of the margin
    classes: tuple[int, ...]  # number of answers of each class
    level: int  # the cumulative sum, 0..`MOST_LEVEL`
    alarms: int  # how often it reached `DRIFT`

    @classmethod
    def of_bytes(cls, content: bytes, n_classes: int) -> Health | None:
        """Parse the counters that a device sends; None if no device can have them."""
        if len(content) != _HEAD.size + 2 * n_classes + 2 or content[-2] > MOST_LEVEL:
            return None
        _, cycles, unknown, unusual, *margins = _HEAD.unpack_from(content)
        classes = struct.unpack_from(f"<{n_classes}H", content, _HEAD.size)
        return cls(cycles, unknown, unusual, tuple(margins), classes, *content[-2:])

    @cached_property
    def answers(self) -> int:
        """The number of answers, unless a counter is full."""
        return sum(self.margins)

    @property
    def is_full(self) -> bool:
        """Whether a counter has stopped, so that shares of the answers are unknown."""
        return _FULL in (self.unknown, self.unusual, *self.margins, *self.classes)

    @property
    def verdict(self) -> Verdict:
        """The verdict of ``pnn_health``."""
        if self.level >= DRIFT:
            return "drift"
        return "good" if self.answers >= FEWEST_ANSWERS else "new"

    def __str__(self) -> str:
        share = 100 * self.unusual / max(1, self.answers)
        expected = (
            f"{share:.3g} % of {self.answers:,} answers were unusual, compared with 1 to 2 % "
            "expected"
        )
        if self.is_full:
            expected = (
                f"a counter has stopped at {_FULL:,}, so the shares of the answers are unknown"
            )
        return {
            "new": f"fewer than {FEWEST_ANSWERS} answers, too few for a verdict: {expected}",
            "good": f"no drift so far: {expected}; the shares of the classes are not judged",
            "drift": (
                f"drift: the latest answers differ from the expected ones ({expected}); "
                "check the sensor and its mounting, or include recent data in the training"
            ),
        }[self.verdict]

    def shares(self, counts: tuple[int, ...]) -> list[float]:
        """Return counters as shares of all answers."""
        return [count / max(1, self.answers) for count in counts]

    def to_json(self) -> JsonObject:
        """Return the verdict and the counters."""
        return {"verdict": self.verdict, **asdict(self)}


def observed(chain: IntegerChain, model: Any) -> Any:
    """Return the chain of a model for a device that observes its answers.

    Raises `InputError` if this model cannot be observed, or does not contain expected answers.
    """
    if reason := why_unobserved(chain):
        raise InvalidValue("--observe", f"no counters of {reason}", "omit --observe")
    if model.expected is None:
        raise InputError(
            "the model has no statistics of its answers, by which a device judges them; measure "
            "them on at least 100 points that training did not use, with 'protonn-edge train DATA "
            "--calibrate MODEL -o OUTPUT'"
        )
    return replace(chain, expected=IntegerExpected.of(chain, model.expected))


OBSERVED = DeviceForm(IntegerExpected.kernel, observed)
"""How a plan shows that a model is observed, and what makes it so."""
