"""Measure what each ingredient of the trainer contributes: small models with and without it.

    python benchmarks/ablations.py [--only NAME] [--json]

prints one row per data set and ingredient: the accuracy of the integers on validation points, mean
and standard deviation over five seeds, and the difference from the default trainer. The validation
points are a fifth of the training part, held out with seed 0; test parts are never looked at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from printing import accuracy_cell
from rows import SEEDS, Row, chosen, integer_accuracy, over_seeds

from protonn_edge.data.dataset import Dataset
from protonn_edge.data.splits import holdout
from protonn_edge.learn import objective
from protonn_edge.learn.objective import Loss
from protonn_edge.system.errors import ProtoNNEdgeError

VALIDATION_SHARE = 0.2


@dataclass(frozen=True)
class Subject(Row):
    """A data set with a small model; `image_shape` where its features are pixels."""

    image_shape: tuple[int, int] | None = None


@dataclass(frozen=True)
class Ingredient:
    """A change of the default; what needs images is left out elsewhere."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    fixed_temperature: bool = False
    needs_images: bool = False


SUBJECTS = [
    Subject("digits", None, {"n_projections": 8, "n_prototypes": 20, "epochs": 100}, (8, 8)),
    Subject(
        "usps10",
        "usps10_libsvm.npz",
        {"n_projections": 10, "n_prototypes": 40, "epochs": 60},
        (16, 16),
    ),
    Subject("har", "har_hapt.npz", {"n_projections": 10, "n_prototypes": 30, "epochs": 60}),
    Subject("letter26", "letter26.npz", {"n_projections": 10, "n_prototypes": 104, "epochs": 40}),
]
INGREDIENTS = [
    Ingredient("the default"),
    Ingredient(
        "in turn, not jointly",
        {"optimizer": "alternating", "iterations": 10, "pass_epochs": 10},
    ),
    Ingredient("squared error", {"loss": "squared_error"}),
    Ingredient("fixed temperature", fixed_temperature=True),
    Ingredient("no input noise", {"input_noise": 0.0}),
    Ingredient("not aware of quantization", {"quantization_aware": False}),
    Ingredient("Gaussian start", {"init_projection": "gaussian"}),
    Ingredient("PCA start", {"init_projection": "pca"}),
    Ingredient("neighbourhood components start", {"init_projection": "nca"}),
    Ingredient("augmentation", {"augment": True}, needs_images=True),
]


def measure(subject: Subject, ingredient: Ingredient, dataset: Dataset) -> dict[str, Any]:
    """Return the accuracies of the integers on the test part of `dataset`, one a seed."""
    settings = {**subject.settings, **ingredient.settings}
    if ingredient.needs_images:
        settings["image_shape"] = subject.image_shape
    row = Row(subject.name, subject.file, settings)
    with _temperature(fixed=ingredient.fixed_temperature):
        trained = [row.train(dataset, seed) for seed in SEEDS]
    return {
        "name": subject.name,
        "ingredient": ingredient.name,
        "n": len(dataset.y_test),
        **over_seeds([integer_accuracy(model, dataset) for model, _ in trained]),
        "seconds": float(np.mean([seconds for _, seconds in trained])),
    }


@contextmanager
def _temperature(*, fixed: bool) -> Iterator[None]:
    """Keep the sharpness of the softmax where it starts, if `fixed`."""
    learned = objective.cross_entropy
    if fixed:
        objective.cross_entropy = _without_sharpness(learned)  # type: ignore[assignment]
    try:
        yield
    finally:
        objective.cross_entropy = learned


def _without_sharpness(loss: Loss) -> Loss:
    def fixed(*arguments: Any) -> Any:
        value, by_scores, by_sharpness = loss(*arguments)
        return value, by_scores, np.zeros_like(by_sharpness)

    return fixed


def records(subject: Subject, dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Yield a record an ingredient; the first is the default, which the others are held against."""
    held_out = holdout(dataset, VALIDATION_SHARE, seed=0)
    default = 0.0
    for ingredient in INGREDIENTS:
        if ingredient.needs_images and subject.image_shape is None:
            continue
        record = measure(subject, ingredient, held_out)
        default = default or record["accuracy"]
        yield {**record, "difference": record["accuracy"] - default}


@click.command()
@click.option("--only", type=click.Choice([subject.name for subject in SUBJECTS]), help="One set.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, as_json: bool) -> None:
    """Print what each ingredient is worth on each data set."""
    if not as_json:
        click.echo("| data | change | integers % on validation points | difference | s |")
        click.echo("|---|---|---|---|---|")
    for subject, dataset in chosen(SUBJECTS, only):
        for record in records(subject, dataset):
            click.echo(json.dumps(record) if as_json else _table_row(record))


def _table_row(record: dict[str, Any]) -> str:
    return (
        f"| {record['name']} | {record['ingredient']} | {accuracy_cell(record)} "
        f"| {100 * record['difference']:+.2f} | {record['seconds']:.0f} |"
    )


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
