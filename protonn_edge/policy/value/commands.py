"""The options that numbers bring to commands; imports little, so that help is fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import click

from protonn_edge.cli.command import option
from protonn_edge.cli.options import FiniteRange
from protonn_edge.cli.train_additions import TrainAddition
from protonn_edge.learn.search import BEST
from protonn_edge.system.errors import InputError, unneeded
from protonn_edge.system.extensions import AddedOptions

if TYPE_CHECKING:
    from protonn_edge.data.points.dataset import Dataset
    from protonn_edge.learn.targets import Target


_TARGET = option(
    "What labels are: classes, or values of a quantity.  [default: values if they have decimals]",
    click.Choice(("class", "value")),
    flag="--target",
)


def _ask_about_quantities(dataset: Dataset, *, is_given: bool) -> None:
    """Refuse whole numbers that look like a quantity, unless the target is given."""
    asked = [each.text for each in dataset.notices if each.kind == "quantity"]
    if asked and not is_given:
        raise InputError(f"{asked[0]}; say which with --target value or --target class")


@dataclass(frozen=True)
class WindowsOptions(AddedOptions):
    """The option of `windows`."""

    target: Literal["class", "value"] | None = _TARGET

    def check(self, dataset: Dataset) -> None:
        """Ask what whole numbers are if they look like a quantity."""
        _ask_about_quantities(dataset, is_given=self.target is not None)


@dataclass(frozen=True)
class ValueOptions(TrainAddition):
    """The options as they were given."""

    predicted: str | None = _TARGET

    def completed(self, target: Target) -> Target:
        """Return the target that is asked for."""
        if self.predicted is None:
            return target
        from protonn_edge.policy.value.train import NamedClasses, ValueTarget

        if target.least_classes < 2:
            raise click.UsageError("--one-class learns no labels; omit --target")
        asked: Target = ValueTarget() if self.predicted == "value" else NamedClasses()
        return asked

    def check(self, dataset: Dataset) -> None:
        """Ask what whole numbers are if they look like a quantity."""
        _ask_about_quantities(dataset, is_given=self.predicted is not None)


@dataclass(frozen=True)
class TrainingOptions(ValueOptions):
    """The options of `train`."""

    APART: ClassVar[Mapping[str, str]] = {"--within": f"--classifier={BEST}"}

    within: float | None = option(
        "Also print the share of numbers whose error is at most this; with the model's figures in "
        "other commands, too.",
        FiniteRange(0, 1e9, min_open=True),
    )

    def check(self, dataset: Dataset) -> None:
        """Refuse a tolerance of labels that are no numbers, too."""
        super().check(dataset)
        if self.within is not None and dataset.predicts != "value":
            raise unneeded("--within", "is for numbers, but the labels are classes")

    def step(self, target: Target | None) -> Any:
        """Return the interval after a training on numbers."""
        if target is None or target.labels.are_classes:
            return None
        from protonn_edge.policy.value.steps import ValueStep

        return ValueStep(self.within)


"""What this rule adds to commands."""
