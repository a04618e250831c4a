"""Laws of single tables: right, warned of by name, or refused in one sentence with a way on.

Tables of noise get a column that gives the label away, one-hot labels, sessions, rising readings or
rows without a label: under names of several languages, at any position, with a header or without
one, and in any notation. What is read is compared with a reading of the same file by `csv`, and
what a message suggests is split as a shell does, and followed.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from laws.fuzz.mutation import pick
from laws.fuzz.sentences import check_refusal

from protonn_edge.data.checks.leaks import leaks
from protonn_edge.data.naming import Notice
from protonn_edge.data.options import READ_NAMES, TableOptions, options_of_texts
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.expected import Expected
from protonn_edge.data.points.preparation import Preparation
from protonn_edge.data.reading import Labels, load_dataset, read_points
from protonn_edge.data.roles.groups import with_own_groups
from protonn_edge.system.errors import InputError

BRIEF_CASES = 40

Generator = np.random.Generator
_NAMES = (
    *("ziel", "sortie", "valor", "wynik", "результат", "測定値", "q7", "x 1", "a-b", "m/s", "Ω"),
    *("50%", "it's", "$HOME", "k`l", "v;w", "(raw)", "zz#3", "größe [mm]", "\\n", "temp (C)"),
    *("état", "&", "*"),
)
_NOTATIONS = ((",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", "."))
_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|[^\s'";,)]|,(?=\S))+""")  # as `shlex.quote` writes it
_ADVICE = re.compile(rf"--((?:{'|'.join(READ_NAMES)}) {_WORD.pattern})")
_QUOTES = ("", "", "", "'", "`", "“”")


@dataclass
class Made:
    """A table that was written: cells of columns, as they mean, and how they are written."""

    rng: Generator
    columns: list[list[str]]  # with decimal points
    names: list[str] = field(default_factory=list)
    header: bool = True
    label: int = -1  # the column of the label, -1 for none

    @classmethod
    def of_noise(cls, rng: Generator, n: int, width: int) -> Made:
        X = rng.normal(rng.normal(0, 10, width), rng.uniform(0.5, 20, width), (n, width))
        digits = int(rng.integers(1, 5))
        columns = [[f"{value:.{digits}f}" for value in column] for column in X.T]
        return cls(rng, columns, header=bool(rng.random() < 0.6))

    def add(self, cells: list[str], place: int | None = None) -> list[str]:
        """Insert a column anywhere; return its cells, by which it is found again."""
        self.columns.insert(
            int(self.rng.integers(len(self.columns) + 1)) if place is None else place, cells
        )
        return cells

    def add_ids(self) -> None:
        """Perhaps insert a column of row numbers or names."""
        if self.rng.random() < 0.5:
            form = pick(self.rng, ("{}", "row{}", "{}00"))
            self.add([form.format(1 + row) for row in range(len(self.columns[0]))])

    def place(self, cells: list[str]) -> int:
        return next(place for place, each in enumerate(self.columns) if each is cells)

    def key(self, cells: list[str]) -> str:
        """The name of a column in notices."""
        place = self.place(cells)
        return self.names[place] if self.header else str(place + 1)

    def write(self, folder: Path) -> Path:
        """Write the table under random names, in a random notation."""
        self.names = self.rng.permutation(_NAMES)[: len(self.columns)].tolist()
        delimiter, mark = pick(self.rng, _NOTATIONS)
        quotes = pick(self.rng, _QUOTES)
        shown = [f"{quotes[:1]}{name}{quotes[-1:]}" for name in self.names]
        if any(delimiter in name for name in shown):
            delimiter, mark = "\t", "."
        path = folder / "table.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            table = csv.writer(stream, delimiter=delimiter)
            if self.header:
                table.writerow(shown)
            for row in zip(*self.columns, strict=True):
                table.writerow(_with_mark(cell, mark) for cell in row)
        return path

    def numbers(self, columns: list[list[str]]) -> Any:
        """Return columns (n, D) as a plain reading has them, in the order of the file."""
        ordered = [each for each in self.columns if any(each is other for other in columns)]
        return np.array([[float(cell) for cell in each] for each in ordered], np.float32).T


def _with_mark(cell: str, mark: str) -> str:
    return cell.replace(".", mark) if re.match(r"[-\d$]", cell) else cell


def run_case(seed: int, folder: Path) -> None:
    """Check one law on one table."""
    rng = np.random.default_rng(seed)
    pick(rng, _LAWS)(rng, folder)


def advice_in(text: str) -> list[list[str]]:
    """Return the options for reading in a message as a shell reads them; adjoining ones as one."""
    ways: list[list[str]] = []
    end = -1
    for found in re.finditer(_ADVICE, text):
        if end >= 0 and text[end : found.start()] == " ":
            ways[-1].append("=".join(shlex.split(found[1])))
        else:
            ways.append(["=".join(shlex.split(found[1]))])
        end = found.end()
    return ways


def _read(path: Path, *texts: str, **keywords: Any) -> Dataset:
    return load_dataset(path, options_of_texts(texts), **keywords)


def _refused(path: Path, *texts: str, **keywords: Any) -> str:
    try:
        _read(path, *texts, **keywords)
    except InputError as error:
        check_refusal(error)
        return str(error)
    return ""


def _leaks(dataset: Dataset) -> list[Notice]:
    return list(leaks(dataset))


# --- the laws -------------------------------------------------------------------------------------

_FUNCTIONS: tuple[Callable[[Any, Generator], Any], ...] = (
    lambda y, _: y,
    lambda y, rng: rng.uniform(0.1, 5) * y + rng.normal(0, 100),
    lambda y, rng: -rng.uniform(0.1, 5) * y,
    lambda y, _: np.exp((y - y.mean()) / y.std()),
    lambda y, _: np.log(y - y.min() + 0.1 * y.std()),
    lambda y, _: ((y - y.mean()) / y.std()) ** 3,
    lambda y, _: 1 / (y - y.min() + y.std()),
)


def _target(rng: Generator, n: int, digits: int) -> Any:
    spread = pick(rng, (rng.normal(20, 5, n), rng.uniform(0, 90, n), np.exp(rng.normal(3, 1, n))))
    return spread.round(digits)


def _all_kept(made: Made, *, but: tuple[str, ...] = ()) -> str:
    """Return the option that keeps all columns, except those with these names or numbers."""
    others = (n for n, each in enumerate(made.columns) if made.key(each) not in but)
    return "keep=" + ",".join(str(1 + n) for n in others if n != made.label)


def a_function_of_the_number(rng: Generator, folder: Path) -> None:
    """A column of which the number is a function, or a sum of two columns, is warned of."""
    n, digits = int(rng.integers(30, 300)), int(rng.integers(1, 4))
    made, y = Made.of_noise(rng, n, int(rng.integers(2, 5))), _target(rng, n, digits)
    if rng.random() < 0.7:
        added = [made.add([f"{each:.6g}" for each in pick(rng, _FUNCTIONS)(y, rng)])]
    else:
        part = (rng.uniform(0, 1, n) * y + rng.normal(size=n)).round(digits)
        parts = (part, y - part) if rng.random() < 0.5 else (part, y + part)
        added = [made.add([f"{each:.{digits}f}" for each in cells]) for cells in parts]
    label = made.add([f"{each:.{digits}f}" for each in y])
    made.label = made.place(label)
    path = made.write(folder)
    options = (f"label={made.label + 1}", _all_kept(made))
    dataset = _read(path, *options, target="value")
    others = [each for each in made.columns if each is not label]
    assert np.array_equal(dataset.X_train, made.numbers(others)), "features differ"
    assert np.array_equal(dataset.y_train[:, 0], [float(cell) for cell in label]), "labels differ"
    found = _leaks(dataset)
    assert len(found) == 1, f"{len(found)} warnings of {len(added)} columns"
    assert {*found[0].columns} == {made.key(each) for each in added}, found[0].text
    (way,) = advice_in(found[0].text)
    options = (options[0], _all_kept(made, but=found[0].columns))
    assert not _leaks(_read(path, *options, *way, target="value")), f"{way} does not help"


def a_copy_of_the_class(rng: Generator, folder: Path) -> None:
    """A copy of the label is asked about, or warned of."""
    n, classes = int(rng.integers(60, 300)), int(rng.integers(2, 5))
    made, y = Made.of_noise(rng, n, 3), rng.permutation(np.arange(n) % classes)
    codes = rng.permutation(9)[:classes] * pick(rng, (1, 0.5, 100))
    cells = pick(
        rng,
        ([f"{codes[each]:g}" for each in y], [f"{2 * each + rng.integers(0, 2):g}" for each in y]),
    )
    copy = made.add(cells)
    features = [each for each in made.columns if each is not copy]
    label = made.add([f"class {'abcde'[each]}" for each in y])
    made.add_ids()
    path = made.write(folder)
    option = f"label={made.place(label) + 1}"
    refusal = _refused(path, option)
    if refusal:
        assert made.key(copy) in refusal or f"column {made.place(copy) + 1}" in refusal, refusal
    else:
        (found,) = _leaks(_read(path, option))
        assert found.columns == (made.key(copy),), found.text
        refusal = found.text
    dataset = _read(path, option, *advice_in(refusal)[0])
    assert np.array_equal(dataset.X_train, made.numbers(features)), "features differ"
    assert not _leaks(dataset), "the first advice does not help"


def a_column_that_gives_a_label_of_sets(rng: Generator, folder: Path) -> None:
    """A column that determines one of several labels is warned of."""
    n, width = int(rng.integers(80, 400)), int(rng.integers(2, 6))
    X, Y = rng.normal(size=(n, width)), (rng.random((n, int(rng.integers(2, 5)))) < 0.4).astype(int)
    place = int(rng.integers(width))
    X[:, place] = pick(rng, (1, -3.5)) * Y[:, 0] + pick(rng, (0, 0.9)) * rng.random(n)
    np.savez(folder / "sets.npz", X=X, y=Y)
    (found,) = _leaks(load_dataset(folder / "sets.npz"))
    assert found.columns == (str(place + 1),), found.text


def noise_is_not_warned_of(rng: Generator, folder: Path) -> None:
    """Columns that say nothing of the label, or much but not all, are not warned of."""
    n = int(rng.integers(20, 300))
    made = Made.of_noise(rng, n, int(rng.integers(2, 8)))
    X = made.numbers(made.columns)
    if rng.random() < 0.5:
        y = X @ rng.normal(size=X.shape[1]) * rng.integers(0, 2) + rng.normal(0, X.std(), n)
        label, target = [f"{each:.3f}" for each in y], "value"
    else:
        y = X[:, 0] + rng.normal(0, X[:, 0].std(), n) > np.median(X[:, 0])
        label, target = ["left" if each else "right" for each in y], "class"
    made.label = made.place(made.add(label))
    path = made.write(folder)
    found = _leaks(_read(path, f"label={made.label + 1}", _all_kept(made), target=target))
    assert not found, found[0].text


def one_hot_labels(rng: Generator, folder: Path) -> None:
    """Columns of which each row has exactly one are the classes, wherever they are."""
    n, classes = int(rng.integers(40, 200)), int(rng.integers(2, 6))
    made, y = (
        Made.of_noise(rng, n, int(rng.integers(2, 5))),
        rng.permutation(np.arange(n) % classes),
    )
    features, place = list(made.columns), int(rng.integers(len(made.columns) + 1))
    one, zero = pick(rng, (("1", "0"), ("1.0", "0.0"), ("1", "-1"), ("100", "0")))
    added = [
        made.add([one if each == label else zero for each in y], place + label)
        for label in range(classes)
    ]
    made.add_ids()
    path = made.write(folder)
    dataset = _read(path)
    keys = [made.key(each) for each in added]
    keys = keys if made.header else [f"column {key}" for key in keys]
    assert {*dataset.classes} == {*keys}, dataset.classes
    assert [dataset.classes[label] for label in dataset.y_train] == [keys[each] for each in y]
    assert np.array_equal(dataset.X_train, made.numbers(features)), "features differ"


def rows_without_a_label(rng: Generator, folder: Path) -> None:
    """Rows without a label are points of a model, whatever it does with gaps."""
    n, width = int(rng.integers(1, 40)), int(rng.integers(2, 5))
    made = Made.of_noise(rng, n, width)
    made.header = True
    features = list(made.columns)
    empty = pick(rng, ("", "NA", "?"))
    filled = rng.random(n) < pick(rng, (0, 0.5))
    label = made.add([pick(rng, "ab") if each else empty for each in filled])
    path = made.write(folder)
    names = tuple(
        name for name, each in zip(made.names, made.columns, strict=True) if each is not label
    )
    missing = pick(rng, ("", "drop", "median"))
    preparation = Preparation(missing, (0.0,) * width if missing == "median" else ())
    expected = Expected(width, names, ("a", "b"), preparation=preparation if missing else None)
    options = TableOptions(label=made.key(label))
    both: tuple[Labels, Labels] = ("ignorable", "optional")
    for labels in both:
        points = read_points(path, expected, options, labels=labels)
        assert np.array_equal(points.X, made.numbers(features)), f"{labels}: points are missing"
        assert np.array_equal(points.y >= 0, filled), f"{labels}: {points.y}"


def a_rising_reading(rng: Generator, folder: Path) -> None:
    """A sweep that looks like a counter is named, with the options that use it."""
    n = int(rng.integers(12, 80))
    step, jitter = pick(rng, (1, 50, 0.5)), pick(rng, (0, 0.05))
    sweep = (np.arange(n) + jitter * rng.uniform(-1, 1, n)) * rng.uniform(2, 900)
    made = Made(rng, [[f"{each:.2f}" for each in sweep]], header=bool(rng.random() < 0.6))
    label = made.add([f"{step * each:g}" for each in range(n)])
    path = made.write(folder)
    text = _refused(path, target="value")
    assert text, "the sweep was read in silence"
    reading = next(each for each in made.columns if each is not label)
    title = repr(made.key(reading)) if made.header else f"column {made.key(reading)}"
    assert title in text, text
    followed = [f"label={made.place(label) + 1}", f"keep={made.place(reading) + 1}"]
    if len(way := advice_in(text)[0]) == 2:  # which is the label is open
        assert _read(path, *way, target="value").n_features == 1
    else:
        followed = [followed[0], *advice_in(_refused(path, followed[0], target="value"))[0]]
    dataset = _read(path, *followed, target="value")
    assert np.array_equal(dataset.X_train, made.numbers([reading])), "features differ"
    assert np.array_equal(dataset.y_train[:, 0], [float(cell) for cell in label]), "labels differ"


def units_of_numbers(rng: Generator, folder: Path) -> None:
    """A column that changes as a session does is offered as one, and held out whole."""
    n, units = int(rng.integers(120, 400)), int(rng.integers(3, 7))
    made = Made.of_noise(rng, n, 3)
    of_row = np.arange(n) * units // n
    ids = pick(rng, ([str(each + 1) for each in of_row], [str(each * 7 + 3) for each in of_row]))
    unit = made.add(ids)
    label = made.add([f"{each:.2f}" for each in rng.normal(50, 20, n)])
    path = made.write(folder)
    option = f"label={made.place(label) + 1}"
    text = _refused(path, option)
    assert text, "the unit became a feature"
    (way, *_) = advice_in(text)
    assert way[0].startswith("session="), text
    dataset, _ = with_own_groups(_read(path, option, *way), path)
    assert dataset.groups is not None, "the units are no groups"
    assert len(np.unique(dataset.groups)) == units, "the units are other groups"
    assert dataset.n_features == 3, "the unit is a feature, too"
    assert made.key(unit) not in dataset.feature_names or not made.header


def labels_with_a_unit(rng: Generator, folder: Path) -> None:
    """Numbers with a unit are numbers."""
    n = int(rng.integers(30, 200))
    made = Made.of_noise(rng, n, 3)
    features, y = list(made.columns), _target(rng, n, 2)
    form = pick(rng, ("{:.2f} °C", "{:.2f}V", "{:.2f} kg", "${:.2f}"))
    label = made.add([form.format(each) for each in y])
    dataset = _read(made.write(folder), f"label={made.place(label) + 1}")
    assert dataset.predicts == "value", "the labels are classes"
    assert np.array_equal(dataset.y_train[:, 0], y), "labels differ"
    assert np.array_equal(dataset.X_train, made.numbers(features)), "features differ"


def facts_above_a_table(rng: Generator, folder: Path) -> None:
    """Lines of an instrument above the names are skipped."""
    made = Made.of_noise(rng, int(rng.integers(20, 100)), 3)
    made.header = True
    features = list(made.columns)
    label = made.add([pick(rng, "ab") for _ in features[0]], len(features))
    path = made.write(folder)
    text = path.read_text("utf-8")
    mark = next(each for each in "\t;|," if text.partition("\n")[0].count(each) == len(features))
    facts = [
        ["Version", "2"],
        ["Channels", "3", "3"],
        ["Start", "2013/10/25", "", ""],
        ["Gain", "1", "2", ""],
    ]
    above = [mark.join(pick(rng, facts)) for _ in range(int(rng.integers(1, 9)))]
    path.write_text("\n".join([*above, text]), "utf-8")
    dataset = _read(path, "label=last")
    assert np.array_equal(dataset.X_train, made.numbers(features)), "features differ"
    assert {*dataset.classes} == {*label}, "classes differ"


_LAWS: tuple[Callable[[Generator, Path], None], ...] = (
    a_function_of_the_number,
    a_copy_of_the_class,
    a_column_that_gives_a_label_of_sets,
    noise_is_not_warned_of,
    one_hot_labels,
    rows_without_a_label,
    a_rising_reading,
    units_of_numbers,
    labels_with_a_unit,
    facts_above_a_table,
)
