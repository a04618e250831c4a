"""The figure that a search maximizes, and limits of memory and cycles.

The planner checks memory with estimates. Time is that of a linked prediction for any input: a trial
links its sketch, and scales the planner's cycles of its other models by what came of it. The linked
program of the chosen model must keep all limits (`choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.export.self_test import link_as_sketch
from protonn_edge.codegen.families import family_of, read_program
from protonn_edge.codegen.plan import DevicePlan, Plan
from protonn_edge.codegen.planner import Limits, device_plans
from protonn_edge.codegen.projects.checks import check_estimate
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.words import WordPlan
from protonn_edge.data.naming import label_text, listed
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.calibration import least_log_loss, with_accuracy_floor
from protonn_edge.learn.evaluation.accuracy import Quality, confusion_matrix
from protonn_edge.learn.evaluation.fidelity import Fidelity, fidelity_of
from protonn_edge.learn.learner import LEARNERS, Learner
from protonn_edge.model.head import Remedies, remedies_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.rule_kinds import rule_kinds
from protonn_edge.system.arrays import Array
from protonn_edge.system.errors import CheckFailed, InputError, shortened
from protonn_edge.system.folders import scratch_folder
from protonn_edge.system.meant import did_you_mean

_FIGURES: dict[str, Callable[[Quality], float]] = {
    "accuracy": lambda quality: quality.accuracy,
    "balanced-accuracy": lambda quality: quality.balanced_accuracy,
    "macro-f1": lambda quality: quality.macro_f1,
}
_RECALL = "recall"


class Judged(NamedTuple):
    """How good a model is on the points of a fold."""

    score: float  # the metric, at most 1
    accuracy: float  # beside it
    loss: float  # of models of equal scores, the one with the least is best


@dataclass(frozen=True)
class Metric:
    """A figure of answers, 0..1."""

    name: str  # as `parse` reads it, such as "macro-f1" or "recall:fault"
    label: int | None = None  # the index of the class for a recall

    unit: ClassVar[str] = " %"  # after `shown`
    # by the names of their kinds
    estimators: ClassVar[Mapping[str, type[Learner]]] = LEARNERS

    @classmethod
    def parse(cls, text: str, classes: Sequence[str]) -> Metric:
        """Return the metric of a text; raises `InputError` if it is none for these classes."""
        kind, _, name = text.partition(":")
        if kind == _RECALL and label_text(name) in classes:
            return cls(text, list(classes).index(label_text(name)))
        if kind == _RECALL and name:
            raise InputError(
                f"--metric {shortened(text)} names none of the data's classes, which are "
                f"{listed(classes)}{did_you_mean(name, classes)}"
            )
        if text not in _FIGURES:
            raise InputError(
                f"{shortened(text)!r} is not a metric; give {', '.join(_FIGURES)} or "
                f"{_RECALL}:CLASS{did_you_mean(text, _FIGURES)}"
            )
        return cls(text)

    def __str__(self) -> str:
        return self.name

    @property
    def is_reported(self) -> bool:
        """Whether it is the figure that training reports after each epoch."""
        return self.name == ACCURACY.name

    def shown(self, score: float) -> str:
        """Return a score as text, without its unit."""
        return f"{100 * score:.2f}"

    def n_scores(self, y: Array) -> int:
        """Return the number of scores of models for labels (n,): one for each class."""
        return len(np.unique(y))

    def strata(self, y: Array) -> NDArray[np.int64]:
        """Return the classes (n,) of labels, of which each fold gets about the same share."""
        return y

    def judged(
        self, integers: IntegerChain, Q: NDArray[np.uint8], actual: Array, known: Array
    ) -> Judged:
        """Return the figures of a model of `known` classes (L,) for quantized points (n, D).

        `actual` (n,) are the points' classes, of which some may be unknown to the model.
        """
        answers, scores = integers.answers(Q)
        compared = known[answers], actual, int(max(actual.max(), known.max())) + 1
        trained = np.isin(actual, known)  # with groups, a class may be in the test points only
        loss = least_log_loss(scores[trained], np.searchsorted(known, actual[trained]))
        return Judged(self.of(*compared), ACCURACY.of(*compared), loss)

    def fidelity(self, model: Model, X: NDArray[np.float32], y: Array) -> Fidelity:
        """Compare a model's integers with its floats; see `fidelity_of`."""
        return fidelity_of(model, X, y)

    def finished(self, model: Model, dataset: Dataset) -> Model:
        """Return a model with the rules that the data set's held-out points give."""
        return with_accuracy_floor(model, dataset.X_test, dataset.y_test)

    def check_folds(self, y: NDArray[np.int64], folds: NDArray[np.int64]) -> None:
        """Refuse folds (n,) of points of classes y (n,) if the figure is undefined in one."""
        if self.label is not None and len(np.unique(folds[y == self.label])) <= folds.max():
            raise InputError(
                f"--metric {self.name} needs points of this class in every fold, but one fold has "
                "none; lower --folds, or choose another metric"
            )

    def of(self, predicted: NDArray[np.int64], actual: NDArray[np.int64], n_classes: int) -> float:
        """Return the figure of the answers for points (n,), n >= 1, of known classes."""
        names = tuple(map(str, range(n_classes)))
        quality = Quality.of(confusion_matrix(predicted, actual, n_classes), names)
        assert quality is not None
        if self.label is None:
            return _FIGURES[self.name](quality)
        return quality.classes[self.label].recall or 0.0


ACCURACY: Metric = Metric("accuracy")


def metric_of(dataset: Dataset, asked: str) -> Metric:
    """Return the metric that is asked for; rules have others for labels that are no classes."""
    for kind in rule_kinds():
        if (metric := kind.metric_for(dataset, asked)) is not None:
            found: Metric = metric
            return found
    return Metric.parse(asked, dataset.classes)


# The minimum flash of a plan for the firmware around the classifier: the flash of plans minus that
# of the generated code and constants in linked programs.
FIRMWARE_FLASH_BYTES = 3_200


def check_predicted(option: str, given: str, board: Board, remedy: str) -> None:
    """Refuse an option about time where cycles are not predicted."""
    if board.cpu.in_words:
        raise InputError(
            f"{option} is {given}, but a search does not predict cycles on {board.name}; {remedy}"
        )


# A program that predicts, to read its time from.
_MAIN = """
#include "pnn_model.h"
static pnn_input_t x[PNN_FEATURES];
static volatile uint8_t answer;
int main(void) { x[0] = answer; return answer = pnn_predict(x); }
"""
BOARD = "board"
"""The name of the board's limit for the whole firmware, used if no other limit is exceeded."""


@dataclass(frozen=True)
class Figures:
    """Memory and cycles of the classifier: its generated code, constants and variables."""

    kernel: str  # columns, unrolled, packed, words: the one that names the plan
    # by the planner, without the firmware around it (serial protocol, buffers, stack)
    flash_bytes: int
    sram_bytes: int
    # of a prediction, where they are known: without an input of 0, or for any if time is limited
    cycles: float | None

    @property
    def known_cycles(self) -> float:
        """The cycles to compare models by; 0 where they are not estimated."""
        return self.cycles or 0.0


@dataclass(frozen=True)
class TuningLimits:
    """Limits of the classifier alone; in any case, the whole firmware must fit the board.

    The latency and the energy are limited for any input, by machine code.
    """

    flash_bytes: int | None = None
    sram_bytes: int | None = None
    latency_ms: float | None = None
    energy_mj: float | None = None

    def used(self, figures: Figures, board: Board) -> dict[str, float]:
        """Return the used share of each limit by its option's name; above 1 exceeds it."""
        limits = {name: getattr(self, each.field) for name, each in _LIMITS.items()}
        return {
            name: _LIMITS[name].value(figures, board) / limit
            for name, limit in limits.items()
            if limit is not None
        }

    def check(self, board: Board) -> None:
        """Refuse limits of time where cycles are not predicted."""
        timed = {"--max-latency-ms": self.latency_ms, "--max-energy-mj": self.energy_mj}
        for name, limit in timed.items():
            if limit is not None:
                remedy = f"omit {name}, and measure the model with 'hil'"
                check_predicted(name, f"{limit:g}", board, remedy)

    @property
    def timed(self) -> bool:
        """Whether time is limited."""
        return self.latency_ms is not None or self.energy_mj is not None

    def describe(self, name: str, figures: Figures, board: Board) -> str:
        """Return how much of one limit a model uses, for display."""
        if name == BOARD:
            return f"more memory than {board.name} has"
        each = _LIMITS[name]
        text = f"{each.value(figures, board):{each.form}} {each.unit}"
        limit = getattr(self, each.field)
        return text if limit is None else f"{text} ({name} is {limit:,})"


class _Limit(NamedTuple):
    """A field of `TuningLimits`, the value that it limits, and the display of that."""

    field: str
    value: Callable[[Figures, Board], float]
    form: str
    unit: str


_LIMITS = {
    "--max-flash": _Limit("flash_bytes", lambda own, _: own.flash_bytes, ",", "B flash"),
    "--max-sram": _Limit("sram_bytes", lambda own, _: own.sram_bytes, ",", "B SRAM"),
    "--max-latency-ms": _Limit(
        "latency_ms",
        lambda own, board: board.milliseconds(own.known_cycles),
        ".2f",
        "ms, estimated",
    ),
    "--max-energy-mj": _Limit(
        "energy_mj", lambda own, board: board.millijoules(own.known_cycles), ".3f", "mJ, estimated"
    ),
}


@dataclass(frozen=True)
class Fit:
    """The figures of a model's best plan, and by how much it exceeds each limit."""

    figures: Figures
    # the used share by the limit's name, above 1; empty if no limit is exceeded
    excess: dict[str, float]
    plan: DevicePlan
    scale: float = 1.0  # from the planner's cycles to those in `figures`

    @property
    def worst(self) -> float:
        """The largest share of a limit that is used, or 0 if none is exceeded."""
        return max(self.excess.values(), default=0.0)


def fit_of(model: IntegerChain, board: Board, limits: TuningLimits, like: Fit | None = None) -> Fit:
    """Return the fastest plan within all limits, or the one nearest to them.

    If time is limited, a plan that fits the board is linked, or else has the scale of a fit `like`
    it.
    """
    flash = board.flash_bytes
    if limits.flash_bytes is not None:
        flash = min(flash, limits.flash_bytes + FIRMWARE_FLASH_BYTES)
    # The fastest first; the last one is the smallest.
    allowed = Limits(flash, board.sram_bytes, board.cpu)
    plans = [each for each in device_plans(model, allowed) if isinstance(each, Plan | WordPlan)]

    def nearest(scale: float) -> Fit:
        fits = (_fit(plan, board, limits, remedies_of(model), scale) for plan in plans)
        return min(fits, key=lambda fit: fit.worst)

    if like is not None:
        return nearest(like.scale)
    fit = nearest(1.0)
    if limits.timed and fit.figures.cycles and BOARD not in fit.excess:
        return nearest(_linked_scale(model, fit.plan, board))
    return fit


def _linked_scale(model: IntegerChain, plan: DevicePlan, board: Board) -> float:
    """Return the bound of a linked prediction in units of the plan's cycles; 1 without a bound."""
    assert isinstance(plan, Plan)
    with scratch_folder() as folder, suppress(InputError, CheckFailed):
        elf = link_as_sketch({**render_c(model, plan), "main.c": _MAIN}, board, folder)
        paths = family_of(board).follow(read_program(elf, board)).paths("pnn_predict")
        return paths.longest.cycles / plan.order
    return 1.0


def _fit(
    plan: Plan | WordPlan, board: Board, limits: TuningLimits, remedies: Remedies, scale: float
) -> Fit:
    firmware_bytes = FIRMWARE_FLASH_BYTES if isinstance(plan, Plan) else 0
    figures = Figures(
        kernel=plan.kernel,
        flash_bytes=plan.flash_bytes - firmware_bytes,
        sram_bytes=plan.predicting_bytes if isinstance(plan, Plan) else plan.state_bytes,
        cycles=plan.cycles and plan.cycles * scale,
    )
    excess = {name: used for name, used in limits.used(figures, board).items() if used > 1}
    sram_bytes = plan.sram_bytes if isinstance(plan, Plan) else plan.state_bytes
    beyond = max(plan.flash_bytes / board.flash_bytes, sram_bytes / board.sram_bytes)
    try:
        check_estimate(plan, board, remedies)
    except CheckFailed:
        beyond = max(beyond, 1.0 + 1e-9)
    if beyond > 1:
        excess[BOARD] = beyond
    return Fit(figures, excess, plan, scale)
