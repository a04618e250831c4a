"""From the columns of tables to labelled points: labels, features, and cells without a number.

`Preparation` decides what fills the gaps of training points; a model records these values, which
also fill tables for the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.data.naming import Notice, listed, quoted
from protonn_edge.data.options import SHOWN, TableOptions
from protonn_edge.data.points.dataset import (
    OF_FILES,
    Float32,
    RowTimes,
    Table,
    TableLayout,
    check_has_points,
)
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.points.preparation import DROP, FILLED, FILLINGS, Preparation, values_of
from protonn_edge.data.roles.gaps import REMEDY, REMEDY_OF_MODEL, checked_missing, counts_in
from protonn_edge.data.roles.label_column import FilesOfRows
from protonn_edge.data.roles.roles import Judge, Roles
from protonn_edge.data.roles.row_labels import RowLabels
from protonn_edge.data.roles.row_times import interpolated, refuse_slower, times_of, usual_row
from protonn_edge.data.roles.text_columns import about_new_texts
from protonn_edge.data.tables.cells import is_label, loses_differences
from protonn_edge.data.tables.columns import Column
from protonn_edge.data.tables.delimiters import DELIMITERS
from protonn_edge.data.tables.moments import may_be_date
from protonn_edge.data.tables.table_file import TableFile
from protonn_edge.data.tables.tables import RawTable
from protonn_edge.data.tables.text import recording_head
from protonn_edge.system.errors import InputError, counted, unneeded

_SHOWN = 6  # maximum columns in a sentence


def read_table(
    paths: Path | Sequence[Path],
    options: TableOptions | None = None,
    *,
    expected: Expected | None = None,
    label_first: bool = False,
    labels: Sequence[str] | None = None,
    recorded: bool = False,
) -> Table:
    """Read tables in UTF-8 as one.

    - `expected`: what a model requires; its features are found by name if both have names.
    - `label_first`: whether the label may be in the first column, without a header.
    - `labels`: the label of each file, unless a column is called ``label``.
    - `recorded`: whether rows are consecutive samples, which rows with gaps divide.
    """
    options = options or TableOptions()
    if recorded and options.rows:
        raise unneeded("--rows", "is for tables with an example in each row, not for samples")
    paths = [paths] if isinstance(paths, Path) else paths
    alone = options if labels is None and not paths[1:] else replace(options, labelled="any")
    files = [TableFile.opened(path, alone) for path in paths]
    first = files[0]
    raw = RawTable.read(files, options)
    if labels is None or expected is not None:
        check_has_points(first.path, raw.n)
    of_classes = None
    if labels is not None:
        file_of = raw.file_of
        of_classes = FilesOfRows(file_of, np.unique(labels, return_inverse=True)[1][file_of])
    begins = raw.breaks.copy()
    begins[[row for row in raw.begins if row < raw.n]] = True
    if expected is not None and expected.preparation is not None:
        wanted = expected.preparation.columns_of(expected.feature_names)
        expected = replace(
            expected, n_features=len(wanted) or expected.n_features, feature_names=wanted
        )
    header = bool(first.header)
    judge = Judge(raw.columns, first.path, options, expected, header, begins, recorded, of_classes)
    roles = judge.roles(label_first=label_first)
    roles.in_sets = judge.named.in_sets
    if not roles.features:
        beside = "" if roles.label is None else f" besides {roles.label.title}, the label"
        raise InputError(f"{first.path} has no column of features{beside}; {_use_of(roles)}")
    return _Points(raw, roles, options, expected, labels, begins, recorded).table()


def _use_of(roles: Roles) -> str:
    """Return how to have features after all: by columns that seem to count, if there are some."""
    why = roles.evidence
    numbers = [each for each in roles.left_out if each.kind == "number" and why.get(each.index)]
    if not numbers:
        return "add one, or change --label, --drop or --keep"
    which = " and ".join(f"{each.title} ({why[each.index]})" for each in numbers[:_SHOWN])
    kept = ",".join(each.flag_value for each in numbers)
    return f"if {which} has measurements, use --keep {kept}; otherwise, add a column"


@dataclass
class _Points:
    raw: RawTable
    roles: Roles
    options: TableOptions
    expected: Expected | None
    labels_of_files: Sequence[str] | None
    begins: NDArray[np.bool_]
    recorded: bool

    def __post_init__(self) -> None:
        self.path = self.raw.files[0].path
        files = self.labels_of_files
        self.labels = RowLabels(self.raw, self.roles, self.options, files)
        self.missing = checked_missing(self.options.missing, self.path, self.expected)
        own = len(self.raw.files[0].names)
        self.surplus = [column for column in self.roles.features if column.index >= own]
        self.roles.features = [each for each in self.roles.features if each.index < own]

    @property
    def gaps(self) -> dict[Column, int]:
        """The number of gaps of each feature's column that has some."""
        return {column: column.gaps for column in self.roles.features if column.gaps}

    def table(self) -> Table:
        raw, roles = self.raw, self.roles
        self.refuse_cells()
        labels = self.labels.texts()
        notices = [*raw.notices(), *roles.notices, *self.labels.notices()]
        alone = self.options.background
        if self.recorded and alone in labels.used and not self.labels.missing().any():
            text = f"--background is {quoted(str(alone))}, but all samples have a label"
            notices.append(Notice("background", text, warning=True))
        if self.surplus:
            names = tuple(column.name for column in self.surplus)
            text = f"columns that {self.path} does not have were ignored: {listed(names)}"
            notices.append(Notice("surplus", text, columns=names))
        time = times_of(raw, roles, self.options, recorded=self.recorded)
        if self.recorded and self.missing in FILLED and time is not None:
            time, said = interpolated(time, self.begins)
            notices += said
        found = self.prepared(time)
        rows = slice(None) if found.kept is None else found.kept
        sessions = [column.names() for column in roles.of("session") if column.texts is not None]
        seams = self.begins.copy()
        for each in sessions:
            seams[1:] |= each.codes[1:] != each.codes[:-1]
        seams[:1] = False
        if found.kept is not None:
            seams = _seams_of_kept(seams, found.kept)
        time = time and time._replace(values=time.values[rows])
        names = found.names if raw.files[0].header or any(found.names) else ()
        rate, instrument = of_recording(self.path, [each.first_name for each in roles.features])
        return Table(
            str(self.path),
            found.X,
            labels[rows],
            feature_names=names,
            notices=(*notices, *found.notices),
            columns=roles.given_to(raw.columns, found.kept),
            preparation=found.preparation,
            gaps=found.gaps,
            layout=self.layout(time),
            sessions=sessions[0][rows].merged() if sessions else None,
            times=time,
            seams=seams if sessions or self.recorded or seams.any() else None,
            kept=found.kept,
            file_of=raw.file_of[rows],
            sample_rate=rate,
            instrument=instrument,
        )

    # --- cells without a number -------------------------------------------------------------------

    def refuse_cells(self) -> None:
        """Refuse cells that are no numbers and, unless they are filled, gaps and empty labels."""
        self.refuse_unreadable()
        if self.missing == SHOWN:
            return
        self.refuse_absent()
        if self.gaps and self.missing not in (DROP, *FILLED) and not self.recorded:
            self.refuse_gaps()
        if not self.options.background:
            self.labels.refuse_missing(dropped=self.missing == DROP, recorded=self.recorded)

    def refuse_absent(self) -> None:
        """Refuse files that lack features of the first one."""
        what, remedy = "columns", "leave these out with --drop NAMES"
        if self.recorded:
            what, remedy = "channels", "choose common ones with --channels NAMES"
        names = [self.raw.files[0].names[each.index] for each in self.roles.features]
        for file, present in ((each, set(each.names)) for each in self.raw.files):
            absent = [name for name in names if name not in present]
            if file.header and absent:
                raise InputError(
                    f"{file.path} lacks some {what} of {self.path} ({listed(absent)}); give all "
                    f"files the same {what}, or {remedy}"
                )

    def refuse_unreadable(self) -> None:
        """Refuse cells of features that are neither numbers nor gaps; of shown ones, all texts."""
        roles, n, wrong = self.roles, self.raw.n, dict[Column, tuple[int, tuple[int, str]]]()
        for each in roles.features:
            count, first = each.unreadable, each.first_unreadable
            if each.values is None and each not in roles.one_hot:
                count, first = n, (0, each.names()[0] if n else "")
            if count:
                wrong[each] = count, first
        if not wrong or (self.missing == SHOWN and all(each.unreadable for each in wrong)):
            return
        column = min(wrong, key=lambda each: wrong[each][1][0])
        count, (row, cell) = wrong[column]
        counts = counts_in({each: some for each, (some, _) in wrong.items()})
        such = f" (such cells: {counts})" if len(wrong) > 1 else ""
        such = such or self.raw.places(column.unreadable_rows, count)
        problem = column.problem or "this cell must be a finite number"
        left_out = f"leave the column out with --drop {column.flag_value}"
        remedy = f"correct it, delete its row, or {left_out}"
        if may_be_date(cell) and column.unreadable:
            problem = "Excel made a date of a number"
        elif self.raw.notation.is_mixed:
            problem = "the file has both decimal points and decimal commas"
            remedy = "use only one of the two"
        elif not row and not self.raw.files[0].header:
            remedy += " (if line 1 has the names of columns, none may be a number)"
        raise InputError(
            f"{self.raw.place(row)} has {quoted(cell)} in {column.title}{such}, but {problem}; "
            f"{remedy}"
        )

    def refuse_gaps(self) -> None:
        preparation = None if self.expected is None else self.expected.preparation
        fillable = self.expected is None or (preparation is not None and preparation.values)
        column = min(self.gaps, key=lambda each: each.first_gap[0])
        row, cell = column.first_gap
        raise InputError(
            f"{self.raw.place(row)} has {quoted(cell)} in {column.title} (this is a gap; all "
            f"gaps: {counts_in(self.gaps)}); {REMEDY if fillable else REMEDY_OF_MODEL}"
        )

    # --- features ---------------------------------------------------------------------------------

    def prepared(self, time: RowTimes | None) -> Prepared:
        """Return the features, with gaps filled by the expected preparation or from the rows."""
        given = None if self.expected is None else self.expected.preparation
        missing, roles = self.missing, self.roles
        preparation = given or Preparation(
            missing if missing in (DROP, *FILLINGS) else "",
            one_hot={each.name: values_of(each.name, each.names()) for each in roles.one_hot},
        )
        if given is None:
            preparation = replace(preparation, offsets=self.offsets())
        notices = list(about_new_texts(roles.one_hot, preparation))
        X, names = self.features(preparation)
        empty, kept = np.isnan(X), None
        left_out = self.dividing(empty, time) if self.recorded else empty
        if missing in (DROP, SHOWN) or (self.recorded and left_out.any()):
            kept = np.ones(len(X), np.bool_)
            if roles.label is not None and missing in (DROP, SHOWN) and not self.options.background:
                texts = roles.label.names()
                codes = [code for code, text in enumerate(texts.texts) if is_label(text)]
                kept = np.isin(texts.codes, codes)
            kept &= (missing == SHOWN and not self.recorded) | ~left_out.any(axis=1)
            X, empty = X[kept], empty[kept]
        notices += self.about_gaps(kept)
        if missing in FILLED:
            if given is None and len(X):
                preparation = preparation.learned(X, names)
            X = preparation.fill(X) if empty.any() else X
            if (left := np.flatnonzero(np.isnan(X).any(axis=0))).size:
                raise InputError(
                    f"{self.path} has gaps in {listed(names[i] or str(i + 1) for i in left)}, for "
                    "which the model learned no values; use --missing drop to leave out rows "
                    "with gaps"
                )
        is_plain = preparation == Preparation()
        return Prepared(
            X,
            names,
            None if is_plain else preparation,
            empty if empty.any() and not self.recorded else None,
            None if kept is None or kept.all() else kept,
            notices,
        )

    def dividing(self, empty: NDArray[np.bool_], time: RowTimes | None) -> NDArray[np.bool_]:
        """Return the cells of a recording, (n, D) or (n, 1), whose rows are left out."""
        untimed = np.zeros((len(empty), 1), np.bool_)
        if time is not None:
            untimed[:, 0] = np.isnan(time.values)
        both = np.asarray(empty | untimed)
        if both.any():
            refuse_slower(self.path, self.roles.features, both)
        whole = np.asarray(~both.any(axis=1))
        return untimed if self.missing in FILLED and usual_row(whole) == 1 else both

    def features(self, preparation: Preparation) -> tuple[Float32, tuple[str, ...]]:
        """Return the features (n, D), including those from columns of text, and their names.

        Columns of numbers lose their values here, which take more memory than the features.
        """
        roles, encoded = self.roles, {each.index for each in self.roles.one_hot}
        named = self.raw.files[0].header or any(column.name for column in roles.features)
        titles = [each.feature_name if named else each.name for each in roles.features]
        names = [preparation.names_of(title) for title in titles]
        X = np.empty((self.raw.n, sum(map(len, names))), np.float32)
        place = 0
        for number, (title, made) in enumerate(zip(titles, names, strict=True)):
            column, facts = roles.features[number], dict[str, Any](name=title)
            if column.index in encoded:
                X[:, place : place + len(made)] = preparation.indicators(title, column.names())
            else:
                assert column.values is not None
                offset = preparation.offsets.get(title, 0.0)
                X[:, place] = column.values - offset
                facts |= {"values": None, "texts": None, "feature": place, "offset": offset}
            roles.features[number] = self.raw.columns[column.index] = replace(column, **facts)
            place += len(made)
        return X, tuple(name for each in names for name in each)

    def offsets(self) -> dict[str, float]:
        """Return what to subtract from columns of large numbers with small differences."""
        offsets = {}
        for column in self.roles.features:
            values = column.values
            if values is None or column in self.roles.one_hot or np.isnan(values).all():
                continue
            low, high = float(np.nanmin(values)), float(np.nanmax(values))
            if not loses_differences(low, high):
                continue
            if self.recorded or not column.name:
                raise InputError(
                    f"{column.title} of {self.path} has values from {low:.15g} to {high:.15g}, but "
                    "32-bit floats lose their differences; subtract an offset from them"
                )
            offsets[column.name] = float(np.floor(low))
        return offsets

    def about_gaps(self, kept: NDArray[np.bool_] | None) -> Iterator[Notice]:
        """Yield a notice for each treatment of cells that are not numbers."""
        gaps = self.gaps
        for column in self.roles.features:
            if column.unreadable:
                row, cell = column.first_unreadable
                text = (
                    f"{column.title} has {counted(column.unreadable, 'cell')} without a number, "
                    f"such as {quoted(cell)} on line {self.raw.lines[row]:,}"
                    + (f"; {column.problem}" if column.problem else "")
                )
                yield Notice("unreadable", text, warning=True, columns=(column.name,))
        names = tuple(column.key for column in gaps)
        if kept is not None and not kept.all():
            count = int((~kept).sum())
            text = f"left out: {count:,} of {len(kept):,} rows, because they have gaps or no label"
            if self.recorded and (usual := usual_row(kept)) > 1:
                text = f"only one in {usual} rows has values; the others are left out"
            elif self.recorded:
                text += "; no window spans them"
            yield Notice("missing", text, warning=self.recorded, columns=names)
        if gaps and self.missing != DROP and (not self.recorded or self.missing in FILLED):
            text = f"gaps filled with the {self.missing.replace('-', ' ')} value: {counts_in(gaps)}"
            if self.missing == SHOWN:
                text = f"gaps: {counts_in(gaps)}; {REMEDY}"
            yield Notice("missing", text, warning=self.missing == SHOWN, columns=names)

    # --- how it was read --------------------------------------------------------------------------

    def layout(self, time: RowTimes | None) -> TableLayout:
        """Return how the table was read, with the decision of each rule."""
        first, roles, notation = self.raw.files[0], self.roles, self.raw.notation
        label = OF_FILES if roles.label is None else roles.label.title
        if roles.label is None and self.labels_of_files is None and self.options.normal:
            label = f"all rows are {self.options.normal!r}"
        if len(several := [*roles.indicators, *roles.in_sets]) > 1:
            label = f"columns {listed(column.feature_name for column in several)}"
        used = {roles.label, *roles.features, *roles.indicators}
        others = [f"{column.title} ({reason})" for column, reason in roles.left_out.items()]
        empty = [column.title for column in roles.of("empty")]
        missing = [f"all of {', '.join(empty)}"] if empty else []
        missing += [f"gaps: {counts_in(self.gaps)}"] if self.gaps else []
        comma = notation.decimal == ","
        decided = {
            "delimiter": f"{DELIMITERS[first.delimiter]}, {first.delimiter_found}",
            "header": f"the first row, because {first.header}" if first.header else "none",
            "label": f"{label}, {roles.label_found}",
            "features": counted(len(roles.features), "column")
            + (f"; left out: {', '.join(others)}" if others else ""),
            "missing": ("; ".join(missing) or "nothing") + ("; decimal commas" if comma else ""),
        }
        sessions = roles.of("session")
        return TableLayout(
            delimiter=first.delimiter,
            header=bool(first.header),
            decimal_comma=comma,
            label=label,
            label_found=roles.label_found,
            left_out=tuple(each.title for each in self.raw.columns if each not in used),
            session=sessions[0].key if sessions else "",
            time="" if time is None else time.name,
            rules=decided,
        )


@dataclass(frozen=True, eq=False)
class Prepared:
    """The features of a table (n, D), their preparation, and the rows kept, None for all."""

    X: Float32
    names: tuple[str, ...]
    preparation: Preparation | None
    gaps: NDArray[np.bool_] | None
    kept: NDArray[np.bool_] | None
    notices: list[Notice]


def _seams_of_kept(seams: NDArray[np.bool_], kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where consecutive rows begin among those that are kept, such as every fourth one."""
    part, steps = np.cumsum(seams)[kept], np.diff(np.flatnonzero(kept))
    apart = np.diff(part) + (steps > 1.5 * usual_row(kept))
    return np.concatenate([[False], apart != 0])[: len(part)]


def of_recording(path: Path, names: Sequence[str]) -> tuple[float | None, Instrument | None]:
    """Return the rate and the instrument that a recording's first line gives, or None."""
    head = recording_head(path)
    if head is None:
        return None, None
    try:
        instrument = Instrument.named(head.sensor, head.units, names) if head.units else None
    except InputError as error:
        raise InputError(f"{path}, in its first line: {error}") from error
    return head.rate, instrument
