"""The result of a conversion, and the agreement with the estimator after each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from numpy.typing import ArrayLike

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.plan import Plan
from protonn_edge.extensions.conversion.answered import Answered, Answers
from protonn_edge.extensions.conversion.search import FittedEstimator
from protonn_edge.learn.deployment import Deployable
from protonn_edge.learn.points import Float32
from protonn_edge.model.head import features_title, kind_title
from protonn_edge.model.model import Model
from protonn_edge.system.figures import percent
from protonn_edge.system.schema import JsonObject


@dataclass(frozen=True)
class ConversionStep:
    """The agreement with the estimator after a step.

    Of numbers, both figures are R2, which is at most 1.
    """

    name: str
    agreement: float  # share of points with the estimator's answer, 0..1
    accuracy: float | None  # share of correctly classified points, 0..1; None without labels


@dataclass(frozen=True, eq=False)
class Conversion(Deployable):
    """A converted model, and the agreement after each step.

    It has the methods `save`, `export`, `build` and `measure` of this package's estimators.
    """

    # fits the board according to the planner; `build` prints the linker's exact figures
    model: Model
    estimator: str  # the estimator's name, such as "SVC"
    landmarks: int | None  # number of the estimator's support vectors or training points
    steps: tuple[ConversionStep, ...]  # from the estimator itself to the integers of the device
    n: int  # number of points that the steps were measured on
    held_out: bool  # whether these points differ from the conversion's points
    model_bytes: int  # size of the int8 parameters, or of trees
    plan: Plan  # the planner's figures
    board: Board  # the board that these figures are for
    warning: str | None  # why answers may differ, with a remedy
    source: FittedEstimator = field(repr=False)  # the estimator, which accepts the same points

    def to_model(self) -> Model:
        """Return the converted model."""
        return self.model

    def _labelled(self, X: ArrayLike, y: ArrayLike) -> tuple[Float32, Answers]:
        points = self.source.features.taken(X, "X")
        return points, self.source.answered.of_labels(self.source, y, len(points))

    @property
    def flash_bytes(self) -> int:
        """Flash of the whole firmware, as the planner estimates it."""
        return self.plan.flash_bytes

    @property
    def agreement(self) -> float:
        """Share of points to which the integers give the estimator's answer; R2 of numbers."""
        return self.steps[-1].agreement

    @property
    def accuracy(self) -> float | None:
        """Share of points that the integers classify correctly, or R2; None without labels."""
        return self.steps[-1].accuracy

    @property
    def lost(self) -> float | None:
        """The estimator's accuracy minus the integers'; negative if these are better."""
        first, last = self.steps[0].accuracy, self.steps[-1].accuracy
        return None if first is None or last is None else first - last

    def to_json(self) -> JsonObject:
        """Return the figures, with the names that all JSON output of this package uses."""
        return {
            "estimator": self.estimator,
            "landmarks": self.landmarks,
            **{size.name: size.number for size in self.model.sizes},
            "steps": [asdict(step) for step in self.steps],
            "n": self.n,
            "held_out": self.held_out,
            "agreement": self.agreement,
            "accuracy": self.accuracy,
            "lost": self.lost,
            "fine_tuning": self.model.record.get("fine_tuning"),
            "warning": self.warning,
            "model_bytes": self.model_bytes,
            "flash_bytes": self.flash_bytes,
            "sram_bytes": self.plan.sram_bytes,
        }

    def __str__(self) -> str:
        compared = f" of {self.landmarks:,} points" if self.landmarks is not None else ""
        sizes = ", ".join(f"{size.symbol} = {size.number:,}" for size in self.model.sizes)
        features = self.model.features
        named = f"a {kind_title(self.model.head.kind)} model" + " that computes features" * bool(
            features
        )
        sizes = features_title(features) or sizes or named
        points = "held-out points" if self.held_out else "points that the conversion used"
        of = f"with {self.model_bytes:,} B of int8 parameters"
        lines = [f"{self.estimator}{compared}, converted to {sizes}, {of}"]
        lines.append(f"measured on {self.n:,} {points}:")
        for step in self.steps:
            figures = self.source.answered.line(step.agreement, step.accuracy)
            lines.append(f"  {step.name:<9} {figures}")
        if tuned := self.model.record.get("fine_tuning"):
            lines.append(
                f"  fine-tuned on {tuned['points']:,} points: accuracy {100 * tuned['before']:.2f} "
                f"% before and {percent(tuned['after'])} after, on {tuned['tested']:,} other "
                "points"
            )
            if reason := tuned["too_large"]:
                reason = reason.removeprefix("the model ")
                lines.append(f"  dropped the fine-tuned network, which {reason}")
        if self.lost is not None:
            lines.append(f"  {self.source.answered.change(self.lost)}")
        lines.append(
            f"  needs about {self.plan.flash_bytes:,} B of flash and {self.plan.sram_bytes:,} B of "
            f"SRAM on the {self.board.name}"
        )
        lines += [f"  warning: {self.warning}"] if self.warning else []
        return "\n".join(lines)


def warning_of_gaps(agreement: float) -> str | None:
    """Return a warning if an estimator has other answers once gaps are filled."""
    if agreement == 1.0:
        return None
    return (
        f"the estimator answers {percent(1 - agreement)} of the points differently if their "
        "missing values are filled, as for the device; fill the missing values before the "
        "training, too, or leave these points out"
    )


def measured_steps(
    answered: Answered, answers: Mapping[str, Answers], y: Answers | None
) -> tuple[ConversionStep, ...]:
    """Return each step's agreement with the answers of the first one, and its accuracy."""
    first, quality = next(iter(answers.values())), answered.quality
    return tuple(
        ConversionStep(name, quality(each, first), None if y is None else quality(each, y))
        for name, each in answers.items()
    )
