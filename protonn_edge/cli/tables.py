"""The common part of commands that read data: options for columns, points for a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from protonn_edge.cli.command import Declared, Output, option, together
from protonn_edge.data.options import LISTS, MISSING, TableOptions, names_in, options_of, texts_of
from protonn_edge.system.errors import unneeded

if TYPE_CHECKING:
    from protonn_edge.data.points.model_points import ModelPoints
    from protonn_edge.data.reading import Labels
    from protonn_edge.model.model import Model


_OF_LABEL = "The column of labels: its name, its number, 'first' or 'last'."
_MORE = f"{_OF_LABEL}  More for reading DATA: 'data --help'."
READ_HELP = {
    "label": ("COLUMN", f"{_OF_LABEL}  [default: label, class or target, else the last]"),
    "labels": (
        "COLUMNS",
        "Sets of labels: a column of texts such as drama|crime, or a column of 0 and 1 for each.",
    ),
    "drop": ("COLUMNS", "Columns to leave out, separated by commas."),
    "keep": ("COLUMNS", "Columns to use in spite of what they look like."),
    "delimiter": ("MARK", "comma, semicolon, tab, pipe or space.  [default: guessed]"),
    "decimal": ("MARK", "The decimal mark, comma or point.  [default: guessed]"),
    "missing": ("HOW", "For gaps: error (default), drop, median or most-frequent."),
    "rows": ("N", "Use N rows only, evenly spread.  [default: all]"),
    "one-hot": ("COLUMNS", "Columns of text to encode as features."),
    "name": ("PATTERN", "Names in a folder, such as 'train/{class}_{take}'."),
    "size": ("HxW", "Scale the images of a folder, such as to 28x28."),
    "session": (
        "COLUMN",
        (
            "The session, person or recording of each row; no window spans two.  "
            "[default: found by its values]"
        ),
    ),
    "time": (
        "COLUMN",
        "The time of each row; no window spans a gap.  [default: found by its values]",
    ),
    "channels": (
        "COLUMNS",
        (
            "Columns to use as channels of windows; 'ax=Acceleration x' renames one.  "
            "[default: all columns of measurements]"
        ),
    ),
    "files": (
        "FILES",
        (
            "If each take has a folder: the file with its samples, or several, separated by "
            "commas, that are joined by their times."
        ),
    ),
}
"""The options for reading data: a word for their values, and their help."""

_CHOICES = {"missing": click.Choice(MISSING), "decimal": click.Choice(("comma", "point"))}

READ_FLAGS = " ".join(f"--{name}" for name in READ_HELP)
"""The options for reading data, for rules about options."""


def reading(*shown: str) -> Any:
    """Declare the options for reading data, of which the help shows these."""
    parts = {}
    others = {} if len(shown) == len(READ_HELP) else {"label": ("COLUMN", _MORE)}
    for name, (metavar, words) in (READ_HELP | others).items():
        parts[name.replace("-", "_")] = option(
            words,
            flag=f"--{name}",
            kind=_CHOICES.get(name),
            metavar=metavar,
            multiple=name in LISTS,
            hidden=name not in shown,
        )
    return together(_table_options, parts)


def _table_options(**given: Any) -> TableOptions:
    texts = {name.replace("_", "-"): value for name, value in given.items() if value is not None}
    return options_of(
        {name: (value,) if isinstance(value, str) else value for name, value in texts.items()}
    )


# by what the help of a command shows
ALL_READING = reading(*READ_HELP)
TRAINING_TABLE = reading("label", "labels", "rows", "drop", "missing")
RECORDING_TABLE = reading("label", "labels", "drop", "session", "channels", "name")
TABLE = reading("label")


def names_option(text: str) -> Any:
    """Declare names in a list, separated by commas, quoted as in a table's header if need be."""
    listed = option(text, metavar="NAMES")

    def names(name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
        return names_in(given[name], f"--{name} ") if given[name] else ()

    return Declared(listed.parameters, names)


def with_group_column(table: TableOptions, groups: str | None) -> TableOptions:
    """Return the options for a table that may have ``--groups``, unless that is a file's name."""
    return table if groups is None or Path(groups).exists() else replace(table, groups=groups)


def words_of(table: TableOptions) -> list[str]:
    """Return the command-line options for reading a table with these options."""
    pairs = (text.partition("=") for text in texts_of(table))
    return [word for name, _, value in pairs for word in (f"--{name}", value)]


def points_for(
    model: Model,
    data: Path,
    table: TableOptions,
    out: Output,
    *,
    labels: Labels = "needed",
    one_part: bool = False,
    measured: bool = True,
) -> ModelPoints:
    """Return the points of DATA for a model, its columns matched by name; see `read_points`.

    Warnings are printed, also of points that the model was trained on if it is `measured`.
    """
    from protonn_edge.data.reading import read_points
    from protonn_edge.data.takes.images import has_images
    from protonn_edge.learn.evaluation.swapped_labels import about_swapped_labels
    from protonn_edge.model.expected import expected_by, known_image_shape, limits_of_training
    from protonn_edge.model.quantization import quantize, why_floats_alone
    from protonn_edge.model.sensor_counts import converter_for

    if has_images(data) and (size := known_image_shape(model)) is not None:
        if table.size is not None and table.size != size:
            here, there = ("x".join(map(str, each)) for each in (table.size, size))
            raise unneeded(
                "--size", f"is {here}, but the model was trained on images of {there} pixels"
            )
        table = replace(table, size=size)

    integers = why_floats_alone(model) is None
    converted = converter_for(model, (lambda: quantize(model)) if integers else None)
    limits = limits_of_training(model, *quantize(model).quantizer.limits) if integers else None
    expected = replace(expected_by(model), limits=limits, converted=converted)
    points: ModelPoints = read_points(data, expected, table, labels=labels, one_part=one_part)
    out.notice(each for each in points.notices if measured or each.kind != "training_rows")
    if measured:
        out.notice(about_swapped_labels(model, points))
    return points
