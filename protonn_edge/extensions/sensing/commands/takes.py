"""``protonn-edge takes``: List, cut, relabel and delete the takes of a recording."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from protonn_edge.cli.command import OUTPUT, Output, argument, command, option
from protonn_edge.cli.options import PATH
from protonn_edge.extensions.sensing.editing.edits import TakeEditor
from protonn_edge.extensions.sensing.editing.takes import EditableRecording, read_takes
from protonn_edge.learn.evaluation.terminal import fact_table
from protonn_edge.system.errors import counted


class SamplesPart(click.ParamType[tuple[int, int]]):
    """A part of a take: FIRST:END, from 0; the end is not in it, and either may be omitted."""

    name = "A:B"

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> tuple[int, int]:
        """Return both numbers; the end may be beyond the take's."""
        if isinstance(value, tuple):
            return value
        first, colon, end = str(value).partition(":")
        if not colon or not all(_NUMBER.fullmatch(each) for each in (first, end)):
            self.fail(
                f"{value!r} is no part of a take; give two numbers, such as 50:200", param, ctx
            )
        return int(first or 0), int(end or 1 << 60)


_NUMBER = re.compile(r"[0-9]{0,18}")
_EDITS = "--keep --cut --label --session --delete"
_PART = SamplesPart()


@command(
    "takes",
    needs={"--take": _EDITS, _EDITS: "--take"},
    apart={
        "--undo": _EDITS,
        "--keep": "--cut --delete --label --session",
        "--cut": "--delete --label --session",
        "--delete": "--label --session",
    },
    examples=(
        "recording.csv",
        "recording.csv --take 3 --keep 50:200",
        "recording.csv --take 2 --label wave",
        "recording.csv --undo",
    ),
)
def takes_command(
    recording: Path = argument(PATH),
    number: int | None = option("Edit the take of this number.", click.IntRange(1), flag="--take"),
    keep: tuple[int, int] | None = option(
        "Keep only the samples A to before B of the take, which are counted from 0.", _PART
    ),
    cut: tuple[int, int] | None = option(
        "Remove the samples A to before B of the take, which are counted from 0.", _PART
    ),
    label: str | None = option("Give the take this class.", metavar="NAME"),
    session: str | None = option("Move the take to this session.", metavar="NAME"),
    delete: bool = option("Remove the take.", is_flag=True),
    undo: bool = option("Undo the last edit; repeatable.", is_flag=True),
    out: Output = OUTPUT,
) -> None:
    """List the takes of RECORDING, or edit one; all other takes keep their bytes.

    RECORDING is a file that 'record' wrote, or a folder with a file per take. The last 100 edits
    can be undone, also when takes were recorded since.
    """
    editor, words = TakeEditor(recording), ""
    if undo:
        words = editor.undo()
    elif number is not None:
        if keep is not None:
            words = editor.keep(number, *keep)
        elif cut is not None:
            words = editor.cut(number, *cut)
        elif delete:
            words = editor.delete(number)
        else:
            words = editor.rename(number, label, session)
    takes = read_takes(recording)
    out.say(f"{recording}: {words}" if words else _table(takes))
    record = [
        {"take": at, "label": each.label, "session": each.session, "samples": each.n}
        for at, each in enumerate(takes.takes, 1)
    ]
    out.finish({"edit": words or None, "takes": record})


def _table(takes: EditableRecording) -> Any:
    rows = []
    for at, each in enumerate(takes.takes, 1):
        seconds = f" ({each.n / takes.rate:.3g} s)" if takes.rate else ""
        session = f", {each.session}" if each.session else ""
        rows.append((f"take {at}", f"{each.label}: {counted(each.n, 'sample')}{seconds}{session}"))
    return fact_table(rows or [("takes", "none")])
