"""The options of commands that measure what teaching a board is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click
import numpy as np

from protonn_edge.cli.command import Output, option
from protonn_edge.cli.options import GROUPS
from protonn_edge.cli.tables import READ_FLAGS, with_group_column
from protonn_edge.data.options import TableOptions
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.extensions import AddedOptions
from protonn_edge.system.schema import JsonObject

if TYPE_CHECKING:
    from protonn_edge.data.points.model_points import ModelPoints

_TEACH_GROUPS = option(
    "With --groups: teach up to N examples of each class from each group, and report the "
    "accuracy on other points of the same group.",
    click.IntRange(1, 50),
    metavar="N",
)


@dataclass(frozen=True)
class InspectOptions(AddedOptions):
    """The options of `inspect` for people who teach a board."""

    NEEDS: ClassVar[Mapping[str, str]] = {
        f"{READ_FLAGS} --teach": "--data",
        "--groups": "--teach",
        "--teach": "--groups",
    }

    groups: str | None = GROUPS
    teach: int | None = _TEACH_GROUPS

    def columns(self, table: TableOptions) -> TableOptions:
        """Return the options for reading data with a column of groups."""
        return with_group_column(table, self.groups)

    def measured(self, model: Model, points: ModelPoints, data: Path, out: Output) -> JsonObject:
        """Print what examples of each group are worth; return it for the JSON object."""
        if self.teach is None or self.groups is None:
            return {}
        return {
            "teaching": _taught(model, points, (self.groups, data, points.options), out, self.teach)
        }


def _taught(
    model: Model,
    points: ModelPoints,
    groups: tuple[str, Path, TableOptions],
    out: Output,
    most: int,
) -> JsonObject:
    """Print what examples of each group are worth; return it for the JSON object."""
    from protonn_edge.data.roles.groups import group_names, group_numbers  # as below
    from protonn_edge.extensions.teaching.people import teach_people  # few need it

    names, (X, y) = group_names(*groups), points.labelled
    if len(points.rows) < len(names) and points.rows[-1] < len(names):
        names = names[points.rows]
    group_numbers(names, len(y))  # which refuses missing names
    integers = quantize(model)
    people = teach_people(integers, integers.quantize(X), y, names.astype(np.str_), most)
    accuracies = np.array([person.accuracies for person in people])
    mean, worst = accuracies.mean(axis=0).tolist(), accuracies.min(axis=0).tolist()
    rows = [
        *((person.name, person.accuracies) for person in people),
        ("mean", mean),
        ("worst", worst),
    ]
    facts = [("examples", "".join(f"{count:7}" for count in range(most + 1)))]
    facts += [(name, "".join(f"{100 * each:7.2f}" for each in row)) for name, row in rows]
    out.say("accuracy in %, by the number of taught examples per class:", fact_table(facts))
    return {"people": [asdict(person) for person in people], "mean": mean, "worst": worst}
