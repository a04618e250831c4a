"""The common part of commands that read data: options for columns, points for a model."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.model import Model, expected_by, known_image_shape, why_clamped
from protonn_edge.cli.command import Declared, Output, option, together
from protonn_edge.cli.options import shape
from protonn_edge.datasets.images import has_images
from protonn_edge.datasets.naming import Notice, listed
from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.preparation import MISSING
from protonn_edge.errors import InputError
from protonn_edge.system.lazy import later

if TYPE_CHECKING:
    from protonn_edge.datasets.reading import Labels, ModelPoints

_read_points = later("protonn_edge.datasets", "read_points")
_quantize = later("protonn_edge.quantization", "quantize")
_why_floats_alone = later("protonn_edge.quantization", "why_floats_alone")
_JUDGED_POINTS = 5  # some values of fewer points, though not all, may be out of range by chance


def columns_option(text: str, metavar: str = "COLUMNS") -> Any:
    """Declare columns, in lists separated by commas, quoted as in a table's header if need be."""
    listed = option(text, multiple=True, metavar=metavar)
    return Declared(listed.parameters, lambda name, given: _names_in(given[name], name))


def _names_in(lists: Sequence[str], name: str) -> tuple[str, ...]:
    try:
        return tuple(each for names in csv.reader(lists, skipinitialspace=True) for each in names)
    except csv.Error as error:
        raise InputError(
            f"--{name.replace('_', '-')} {', '.join(lists)} is not a list of names; separate names "
            "by commas, and put names with a comma or a line feed in double quotes"
        ) from error


_COLUMNS = {
    "label": option(
        "The column of labels: its name, its number, 'first' or 'last'.  [default: label, class or "
        "target, else the last]",
        metavar="COLUMN",
    ),
    "drop": columns_option("Columns to leave out, separated by commas."),
    "keep": columns_option("Columns to use in spite of what they look like."),
    "delimiter": option("comma, semicolon, tab, pipe or space.  [default: guessed]"),
    "decimal": option(
        "The decimal mark, comma or point.  [default: guessed]",
        click.Choice(("comma", "point")),
        metavar="MARK",
    ),
    "name": option("Names in a folder, such as 'train/{class}_{take}'.", metavar="PATTERN"),
}
_VALUES = {
    "missing": option(
        "For gaps: error (default), drop, median or most-frequent.",
        click.Choice(MISSING),
        metavar="HOW",
    ),
    "one_hot": columns_option("Columns of text to encode as features."),
    "size": option(
        "Scale the images of a folder, such as to 28x28.",
        shape("HxW", "a height and a width in pixels, such as 28x28"),
    ),
}
_ALL = {**_COLUMNS, **_VALUES}
_UNNAMED = {key: each for key, each in _ALL.items() if key != "name"}
TABLE = together(TableOptions, _ALL)
"""The options for reading a table."""

UNNAMED_TABLE = together(TableOptions, _UNNAMED)
"""Those of a command whose --name is something else."""

COLUMNS = together(TableOptions, _COLUMNS)
"""Those for a table whose values are not turned into features."""

TABLE_FLAGS, UNNAMED_FLAGS = (
    " ".join(f"--{key.replace('_', '-')}" for key in options) for options in (_ALL, _UNNAMED)
)


def with_group_column(table: TableOptions, groups: str | None) -> TableOptions:
    """Return the options for a table that may have ``--groups``, unless that is a file's name."""
    return table if groups is None or Path(groups).exists() else replace(table, groups=groups)


def words_of(table: TableOptions) -> list[str]:
    """Return the command-line options for reading a table with these options."""
    words = [] if table.label is None else ["--label", table.label]
    lists = {"--drop": table.drop, "--keep": table.keep, "--one-hot": table.one_hot}
    for flag, names in lists.items():
        for name in names:
            words += [flag, f'"{name}"' if "," in name else name]
    for name in ("delimiter", "decimal", "name"):
        value = getattr(table, name)
        words += [] if value is None else [f"--{name}", value]
    words += [] if table.size is None else ["--size", "x".join(map(str, table.size))]
    return words if table.missing is None else [*words, "--missing", table.missing]


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
    if has_images(data) and (size := known_image_shape(model)) is not None:
        if table.size is not None and table.size != size:
            here, there = ("x".join(map(str, each)) for each in (table.size, size))
            raise InputError(
                f"--size is {here}, but the model was trained on images of {there} pixels; omit "
                "--size"
            )
        table = replace(table, size=size)
    points: ModelPoints = _read_points(
        data, expected_by(model), table, labels=labels, one_part=one_part
    )
    told = (each for each in points.notices if measured or each.kind != "training_rows")
    out.notice([*told, *clamped_notices(model, points.X)])
    return points


def clamped_notices(model: Model, X: NDArray[np.float32]) -> list[Notice]:
    """Return a warning if most values of a feature of points (n, D) are clamped by mistake."""
    n = len(X)
    if why_clamped(model) or _why_floats_alone(model) is not None:
        return []
    outside = _quantize(model).quantizer.clamped(X)
    if n < _JUDGED_POINTS and (outside < n).any():
        return []
    clamped = np.flatnonzero(2 * outside > n).tolist()
    names = tuple(model.feature_names[i] if model.feature_names else str(i + 1) for i in clamped)
    text = (
        f"most values of {len(names):,} of {model.n_features:,} features are outside the range of "
        f"the training data and are clamped: {listed(names)}; check the units and the order of the "
        "columns"
    )
    return [Notice("clamped", text, warning=True, columns=names)] if names else []
