"""``protonn-edge split``: divide a table into rows to train with and rows to test with."""

from __future__ import annotations

from collections import Counter
from itertools import compress
from pathlib import Path
from typing import Any

from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.options import FOLDER, POINTS, FiniteRange, seed_option
from protonn_edge.cli.tables import TABLE
from protonn_edge.datasets import Notice, TableOptions
from protonn_edge.datasets.naming import listed
from protonn_edge.datasets.splits import chosen_for_test, read_rows
from protonn_edge.errors import InputError
from protonn_edge.report.terminal import fact_table
from protonn_edge.system.files import write_atomically


@command("split")
def split_command(
    data: Path = POINTS,
    output: Path = option("The folder of train.csv and test.csv.", FOLDER, required=True),
    share: float = option(
        "Share of the rows that becomes the test part.",
        FiniteRange(0, 1, min_open=True, max_open=True),
        flag="--test",
        shown=0.25,
    ),
    groups: str | None = option(
        "A column, by its name or number: rows with the same value stay together.", metavar="COLUMN"
    ),
    stratify: bool = option("Take the same share of each class.", is_flag=True),
    seed: int = seed_option(2**32 - 1),
    table: TableOptions = TABLE,
    out: Output = OUTPUT,
) -> None:
    """Divide the rows of DATA, a table, into train.csv and test.csv.

    Rows stay as they are, in their order, and both files have the header. The same seed gives the
    same parts.
    """
    found = read_rows(data, table, groups)
    labels = found.labels if stratify else None
    chosen = chosen_for_test(len(found.rows), share, seed, labels, found.groups)
    record: dict[str, Any] = {}
    contents: dict[Path, str] = {}
    for part, rows in (("train", ~chosen), ("test", chosen)):
        path = output / f"{part}{data.suffix.lower()}"
        lines = list(compress(found.rows, rows))
        contents[path] = found.head + "".join(lines)
        classes = Counter(compress(found.labels, rows))
        record[part] = {
            "path": str(path),
            "n": len(lines),
            "classes": dict(sorted(classes.items())),
        }
    write_tables(contents)
    alone = sorted(set(found.labels) - set(compress(found.labels, ~chosen)))
    if alone:
        text = f"no row to train with has the class {listed(alone)}; use another --seed or --test"
        out.notice([Notice("split", text, warning=True, columns=tuple(alone))])
    out.say(
        fact_table([(part, _shown(each["n"], each["classes"])) for part, each in record.items()])
    )
    out.say(f"wrote {output}")
    out.finish(record)


def write_tables(contents: dict[Path, str]) -> None:
    """Write tables; raise `InputError`, and write none, if another table has one of these names."""
    for path, content in contents.items():
        if path.exists() and path.read_bytes() != content.encode():
            raise InputError(f"{path} is already there; name another folder")
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content.encode())


def _shown(count: int, classes: dict[str, int]) -> str:
    shown = ", ".join(f"{name} {n:,}" for name, n in list(classes.items())[:20])
    return f"{count:,} rows: {shown}" + (", ..." if len(classes) > 20 else "")
