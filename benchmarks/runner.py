"""The runner of all benchmarks: which cases are measured, and how their rows are printed and kept.

`stored.json` has printed rows, by the command that printed them. A row that is run again is
compared with the stored one; `tests/laws/docs/test_benchmarks.py` compares the pages with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import click
from columns import Columns, Record, table_row
from trained import DATA, Row, Trained

STORED = Path(__file__).with_name("stored.json")
_VARYING = ("s", "training s", "MB")  # headings of what no second run repeats


@dataclass(frozen=True)
class Case:
    """What is measured under a name, if it is no `Row`; and the file that it needs, if any."""

    name: str
    given: Any = None
    file: str = ""


@dataclass(frozen=True)
class Benchmark:
    """A table.

    Attributes
    ----------
    about : str
        What it shows, for ``--help``.
    cases : sequence
        What has a name, which ``--only`` takes. Of a `Row`, the data set is read first.
    columns : sequence of columns
        Without any, figures are printed under their names.
    measure : callable
        Takes a case, the data set of a row, and the options by their names. It returns or yields
        finished rows: what is `Trained`, or records. One whose "holds" is false is marked with
        SHORT, and the exit code is 1.
    draw : callable, optional
        Draws records into a folder, with ``--draw``: those that were measured, or those that
        ``--json`` printed into a file, ``--of``, so that a figure can be run in parts.
    seeds : int
        How many are trained by default; with 0, there is no such option.
    options : sequence of decorators
        What else the command takes.
    """

    about: str
    cases: Sequence[Any]
    columns: Columns = ()
    measure: Callable[..., Any] = Trained
    draw: Callable[[list[Record], Path], None] | None = None
    seeds: int = 0
    options: Sequence[Callable[..., Any]] = field(default=())

    def command(self, name: str) -> click.Command:
        """Return the command that runs it."""

        def run(
            only: str | None,
            as_json: bool,
            store: bool = False,
            folder: Path | None = None,
            of: TextIO | None = None,
            **options: Any,
        ) -> bool:
            if of is not None and folder is None:
                raise click.UsageError("--of works only with --draw; give --draw FOLDER, too")
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            if of is not None:
                records, holds = [json.loads(line) for line in of], True
            else:
                records, holds = self._run(name, only, as_json, store, options)
            if folder is not None and self.draw is not None:
                self.draw(records, folder)
            return holds

        names = [case.name for case in self.cases]
        every = [
            click.option("--only", type=click.Choice(names), help="One row."),
            *self.options,
            click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row."),
        ]
        if self.columns:
            every.append(
                click.option("--store", is_flag=True, help=f"Keep the rows in {STORED.name}.")
            )
        if self.seeds:
            every.insert(1, _seeds_option(self.seeds))
        if self.draw is not None:
            every += _DRAWING
        for option in reversed(every):
            run = option(run)
        return click.command(name, help=self.about)(run)

    def _run(
        self, name: str, only: str | None, as_json: bool, store: bool, given: Record
    ) -> tuple[list[Record], bool]:
        """Print the rows; return their records, and whether all hold."""
        stored, new = _stored(), Record()
        options = {key: range(value) if key == "seeds" else value for key, value in given.items()}
        if self.columns and not as_json:
            click.echo(table_row([each.heading for each in self.columns]))
            click.echo("|" + "---|" * len(self.columns))
        records, changes = list[Record](), list[str]()
        for case in self._chosen(only):
            words, shown = command_line(name, case.name, given), list[Record]()
            for row in self._rows(case, options, only):
                values = {each.heading: each.value(row) for each in self.columns}
                cells = {each.heading: each.show(values[each.heading]) for each in self.columns}
                record = row.record(values) if isinstance(row, Trained) else row
                records.append(record)
                shown.append(cells)
                holds = record.get("holds", True)
                line = table_row([*cells.values()]) if cells else _sentence(case.name, row)
                click.echo(json.dumps(record) if as_json else line + ("" if holds else "  SHORT"))
            if not self.columns or not shown:
                continue
            kept = [{key: row[key] for key in row if key not in _VARYING} for row in shown]
            changes += differences(words, stored.get(words, kept), kept)
            new[words] = kept
        trained_on = records[-1].get("trained_on", "") if records else ""
        if not as_json:
            click.echo("".join(f"\n{each}" for each in changes), nl=bool(changes))
            click.echo(f"\nTrained on {trained_on}." if trained_on else "", nl=bool(trained_on))
        if store:
            stored = _stored() | new
            STORED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", "utf-8")
        return records, all(each.get("holds", True) for each in records)

    def _chosen(self, only: str | None) -> Iterator[Any]:
        """Yield the cases, or one of them."""
        return (case for case in self.cases if only in (None, case.name))

    def _rows(self, case: Any, options: Record, only: str | None) -> Iterable[Any]:
        """Return the finished rows of a case; say which data are missing."""
        if case.file and not (DATA / case.file).exists():
            missing = f"{case.name}: no {case.file} in {DATA}; set PROTONN_EDGE_DATA"
            if only is not None:
                raise click.UsageError(missing)
            click.echo(missing, err=True)
            return ()
        given = [case, case.dataset()] if isinstance(case, Row) else [case]
        found = self.measure(*given, **options)
        return found if isinstance(found, Iterator) else [found]


def _sentence(name: str, figures: Record) -> str:
    shown = (f"{key.replace('_', ' ')} {figures[key]}" for key in figures if key != "holds")
    return f"{name}: {', '.join(shown)}"


_DRAWING = (
    click.option("--draw", "folder", type=click.Path(path_type=Path), help="Draw into FOLDER."),
    click.option("--of", type=click.File(), help="What --json printed, in place of new rows."),
)


def _seeds_option(count: int) -> Callable[..., Any]:
    return click.option(
        "--seeds",
        type=click.IntRange(1),
        default=count,
        show_default=True,
        metavar="N",
        help="Train with N seeds, from 0 on.",
    )


def command_line(benchmark: str, case: str, options: Record) -> str:
    """Return the words of a command, without its options that are not given."""
    words = [benchmark, "--only", f"'{case}'" if " " in case else case]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value not in (None, False):
            words += [flag] if value is True else [flag, str(value)]
    return " ".join(words)


def _stored() -> Record:
    found: Record = json.loads(STORED.read_text("utf-8"))
    return found


def differences(words: str, before: list[Record], now: list[Record]) -> Iterator[str]:
    """Yield a sentence for each cell that is not as it is stored, and for other numbers of rows."""
    if len(before) != len(now):
        yield f"{words}: {len(now)} rows, stored {len(before)}"
    for old, new in zip(before, now, strict=False):
        for heading in new:
            if old.get(heading, new[heading]) != new[heading]:
                yield f"{words}: {heading} is {new[heading]}, stored {old[heading]}"
