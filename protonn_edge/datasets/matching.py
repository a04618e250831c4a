"""Match columns of data with the features of a model by name, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from protonn_edge.datasets.notices import Notice, listed, quoted
from protonn_edge.errors import InputError


@dataclass(frozen=True)
class Match:
    """The columns that are the model's features.

    Attributes
    ----------
    columns : tuple of int, or None
        The column of each feature, in the model's order; None to use columns in their own order.
    notices : tuple of Notice
        Notices about surplus columns, or about missing names.
    """

    columns: tuple[int, ...] | None
    notices: tuple[Notice, ...] = ()


def match_columns(
    names: Sequence[str], wanted: Sequence[str], source: str, owner: str = "the model"
) -> Match:
    """Match the columns of data with a model's features.

    Parameters
    ----------
    names : sequence of str
        The columns that may be features, or empty if the data has no names.
    wanted : sequence of D str
        The model's feature names, or empty if it has none.
    source : str
        The file, for messages.
    owner : str
        What wants them, for messages: the model, or another file.

    Raises
    ------
    InputError
        If both have names and that of a feature is missing, or is there twice.
    """
    if not names or not wanted:
        if not names and not wanted:
            return Match(None)
        without = source if wanted else owner
        text = f"features are matched by position: {without} has no names of features"
        return Match(None, (Notice("position", text),))
    if tuple(names) == tuple(wanted):
        return Match(None)
    known, used = set(names), set(wanted)
    missing = [name for name in wanted if name not in known]
    if missing:
        count = f"{len(missing):,} columns" if len(missing) > 1 else "the column"
        raise InputError(
            f"{source} lacks {count} {listed(missing)}, which the model was trained with; its "
            f"columns are {listed(names)}; rename or add what is missing"
        )
    for each, what in ((wanted, owner), (names, source)):
        seen: set[str] = set()
        for name in each:
            if name in seen and name in used:
                raise InputError(
                    f"{what} has the name {quoted(name)} twice among its features, so the columns "
                    "cannot be matched by name; give each a name of its own"
                )
            seen.add(name)
    place = {name: index for index, name in enumerate(names)}
    notices: tuple[Notice, ...] = ()
    surplus = [name for name in names if name not in used]
    if surplus:
        text = f"ignored, as {owner} does not use it: {listed(surplus)}"
        notices = (Notice("surplus", text, columns=tuple(surplus)),)
    return Match(tuple(place[name] for name in wanted), notices)
