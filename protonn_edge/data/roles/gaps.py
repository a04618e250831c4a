"""How the gaps of a table are treated, and how messages state them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from protonn_edge.data.options import MISSING, SHOWN
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.preparation import FILLINGS
from protonn_edge.data.tables.columns import Column
from protonn_edge.system.checks import check_choice
from protonn_edge.system.errors import InputError, counted

_NAMED = 6  # maximum columns in a sentence
REMEDY = (
    "use --missing drop to omit rows with gaps, or fill the gaps with --missing median or "
    "--missing most-frequent"
)
REMEDY_OF_MODEL = "the model has no values for gaps; fill them, or use --missing drop"


def checked_missing(missing: str | None, path: Path, expected: Expected | None) -> str:
    """Return how gaps in a table are treated; refuse treatments that a model cannot repeat."""
    recorded = None if expected is None else expected.preparation
    if missing is None:
        return (recorded and recorded.missing) or "error"
    if missing != SHOWN:
        check_choice("--missing", missing, MISSING)
    if missing not in FILLINGS or expected is None:
        return missing
    if recorded is None or not recorded.values:
        raise InputError(f"{path} cannot be read with --missing {missing}: {REMEDY_OF_MODEL}")
    return recorded.missing  # what fills them in any case


def counts_in(places: Mapping[Column, int]) -> str:
    """Return the numbers of such cells in the columns with the most of them, for a message."""
    ranked = sorted(places.items(), key=lambda each: -each[1])
    shown = [f"{count:,} in {column.title}" for column, count in ranked[:_NAMED]]
    more = len(ranked) - len(shown)
    return ", ".join(shown) + (f" and others in {counted(more, 'more column')}" if more else "")
