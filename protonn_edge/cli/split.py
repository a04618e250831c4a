"""``protonn-edge split``: divide a table into rows to train with and rows to test with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, compress
from pathlib import Path
from typing import Any

from protonn_edge.cli.command import OUTPUT, Output, command, option
from protonn_edge.cli.options import FOLDER, POINTS, SHARE, seed_option
from protonn_edge.cli.tables import COLUMNS
from protonn_edge.datasets import Notice, TableOptions
from protonn_edge.datasets.images import IMAGES, ImageFiles, has_images, image_files
from protonn_edge.datasets.naming import listed
from protonn_edge.datasets.splits import TextRows, chosen_for_test, held_out_groups, read_rows
from protonn_edge.datasets.takes import unread
from protonn_edge.errors import InputError
from protonn_edge.report.terminal import fact_table
from protonn_edge.system.files import resolved, write_together


@command("split")
def split_command(
    data: Path = POINTS,
    output: Path = option("The folder to write both parts to.", FOLDER, required=True),
    share: float = option(
        "Share of the rows to put into the test part.", SHARE, flag="--test", shown=0.25
    ),
    groups: str | None = option(
        "A column, by its name or number: rows with the same value stay together.", metavar="COLUMN"
    ),
    stratify: bool = option("Put the same share of each class into the test part.", is_flag=True),
    seed: int = seed_option(2**32 - 1),
    table: TableOptions = COLUMNS,
    out: Output = OUTPUT,
) -> None:
    """Divide the rows of DATA, a table, into train.csv and test.csv (or .tsv).

    Rows are copied unchanged and in order, and both files have the header. The files of a folder of
    images are copied to train/ and test/. The same seed gives the same parts.
    """
    source: TextRows | ImageFiles = (
        image_files(data, groups) if has_images(data) else read_rows(data, table, groups)
    )
    labels = source.labels if stratify else None
    chosen = chosen_for_test(len(source.labels), share, seed, labels, source.groups)
    record: dict[str, Any] = {}
    parts = {"train": ~chosen, "test": chosen}
    if isinstance(source, ImageFiles):
        if resolved(output).is_relative_to(data.resolve()):
            raise InputError(
                f"{output} is inside {data}, the folder to divide; choose a folder outside it"
            )
        out.notice(unread(data, source.takes, IMAGES))
    write_new(output, dict(chain(*map(source.files, parts, parts.values()))), parts)
    for part, rows in parts.items():
        classes = Counter(compress(source.labels, rows))
        record[part] = {
            "path": str(output / f"{part}{source.suffix}"),
            "n": int(rows.sum()),
            "classes": dict(sorted(classes.items())),
        }
    remedy = "change --seed or --test"
    if source.groups is not None:
        out.notice([held_out_groups(sorted(set(compress(source.groups, chosen))))])
        remedy = "add groups with rows of these classes" if stratify else "use --stratify"
    for part, rows in zip(("training", "test"), parts.values(), strict=True):
        if alone := sorted(set(source.labels) - set(compress(source.labels, rows))):
            text = f"classes without {part} rows: {listed(alone)}; {remedy}"
            out.notice([Notice("split", text, warning=True, columns=tuple(alone))])
    if isinstance(source, TextRows):
        known = set(compress(source.rows, ~chosen))
        if equal := sum(row in known for row in compress(source.rows, chosen)):
            text = (
                f"test rows that are identical to a training row: {equal:,}; remove duplicate rows"
            )
            out.notice([Notice("repeated", text, warning=True)])
    out.say(
        fact_table([(part, _shown(each["n"], each["classes"])) for part, each in record.items()])
    )
    out.say(f"wrote {output}")
    out.finish(record)


def write_new(
    folder: Path, files: Mapping[str, Callable[[], bytes]], parts: Iterable[str] = ()
) -> None:
    """Write files; raise `InputError`, and write none, if another file has one of these names.

    Nor may there be other files in the folders of parts, such as those of another division.
    """
    others = {path for part in parts for path in (folder / part).rglob("*") if path.is_file()}
    missing = {}
    for name, content in files.items():
        path = folder / name
        if not path.exists():
            missing[name] = content
        elif path.read_bytes() != content():
            raise InputError(f"{path} already exists; choose another folder with -o")
        others.discard(path)
    for path in sorted(others)[:1]:
        raise InputError(f"{path} already exists; choose another folder with -o")
    write_together(folder, missing)


def _shown(count: int, classes: dict[str, int]) -> str:
    shown = ", ".join(f"{name} {n:,}" for name, n in list(classes.items())[:20])
    return f"{count:,} rows: {shown}" + (", ..." if len(classes) > 20 else "")
