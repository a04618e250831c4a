"""Cases of the corpus: what is in a file, and what it means.

A case is a few lines of a text file of this folder::

    ## A delimiter after each row is no column
    ~ header = ["x,y,label", "x,y,label,"]
    1* {header}
    40* {x},{y},{ab},
    > table: noise | features x, y
    > refused recording time=x: datasets.named

``##`` begins a case with its title, and ``~`` gives a name to each of several values in turn, or
several names: the case is read once for each of them. Lines behind ``@ name.csv`` are those of
another file; the first file is ``data.csv``. Several files may have the same lines: ``@ one.csv &
two.csv``. What is read is the only file, or its folder, or the file that a reading names first.
Lines are taken as they are; ``40*`` repeats a line, which is a Python f-string, for n from 0 to
39. It knows:

- ``x`` and ``y``: noise of two decimals, another in each row, as in `NOISE`
- ``ab`` and ``half``: the label 'a' or 'b', in turns or first all a
- ``flower``, ``kind`` and ``code``: the measurements of an iris, separated by commas, its species,
  and the number of that
- ``comma(value)``: a number with a decimal comma
- ``stamp(form, seconds)``: a time as `datetime.strftime` writes it, with ``%L`` for milliseconds
  and ``%s`` for seconds since 1970
- ``file``: the number of the file among those with the same lines
- the names of the case, and ``np``

The lines of an ``.npz`` file are its arrays, ``NAME = EXPRESSION``, where None leaves an array of
an earlier line out. The line of an image is an expression of its pixels.

Extensions have writers of other files: the lines are then what such a file says, for example the
samples of a sound.

``>`` reads the files: as a table, as a recording, or by a command, with the options that follow.
``train`` writes the model that later commands of the case use, such as ``predict``.
Options such as ``label=x`` are ``--label x``. Behind the colon are facts, separated by ``|``; a
line that begins with two blanks has more of them. A fact is a name of `FACTS` with its value, or a
Python expression behind ``=``, in which `found` is what was read. If the reading is ``refused``,
the first fact is the places in the package that may refuse it.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from command_line import refusal, run, run_json
from extension_parts import additions, folders
from flower_tables import shuffled_flowers
from refusals import places_of

from protonn_edge.data.options import options_of_texts
from protonn_edge.data.reading import load_dataset
from protonn_edge.system.errors import InputError, ProtoNNEdgeError
from protonn_edge.system.wording import COMMAND_LINE, speaking

NOISE = np.random.default_rng(0).normal(0, 9, (400, 2)).round(2)
SPECIES = ("setosa", "versicolor", "virginica")
READERS: dict[str, Callable[..., Any]] = {
    "table": lambda path, texts: load_dataset(path, options_of_texts(texts)),
    "numbers": lambda path, texts: load_dataset(path, options_of_texts(texts), target="value"),
    **additions("readers of cases"),
}
WRITERS: dict[str, Callable[[Path, str], object]] = additions("writers of files")
"""How lines become a file with this ending of an extension."""
OUTPUTS: dict[str, tuple[str, ...]] = {
    "train": ("-o", "out.npz"),
    "data": (),
    "predict": (),
    "verify": (),
    "inspect": (),
    **additions("commands that read"),
}
"""The commands that read, and what they are given besides the data."""
OF_MODELS = {"predict": (), "verify": (), "inspect": ("--data",)}
"""The commands of a model, and what stands between the model and the data."""
IMAGES = (".png", ".jpg", ".bmp", ".webp")
OF_EXTENSIONS = {"recording", "windows", "played"} - {*READERS, *OUTPUTS}
"""Ways to read of extensions that are not there."""


@dataclass
class Case:
    """A case with one value of each of its names."""

    title: str
    place: str
    values: dict[str, Any]
    files: dict[str, list[str]] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)

    def __str__(self) -> str:
        return " ".join([self.title, *(ascii(value)[:20] for value in self.values.values())])

    def write(self, folder: Path) -> Path:
        """Write the files; return the only one, or else their folder."""
        names = []
        for some, lines in self.files.items():
            for number, name in enumerate(self._filled(some).split(" & ")):
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                self._write(path, [each for line in lines for each in self._lines(line, number)])
                names.append(name)
        path = folder / names[0]
        return folder if len(names) > 1 else path.parent if "/" in names[0] else path

    def _write(self, path: Path, lines: list[str]) -> None:
        if path.suffix == ".npz":
            arrays: dict[str, Any] = {}
            for line in map(self._filled, lines):
                name, _, value = line.partition(" = ")
                arrays[name] = eval(value, {"np": np, "NOISE": NOISE, **self.values, **arrays})
            np.savez(path, **{name: each for name, each in arrays.items() if each is not None})
        elif path.suffix.lower() in IMAGES:
            image = pytest.importorskip("PIL.Image", reason="needs Pillow; to run: install it")
            pixels = eval(self._filled(lines[0]), {"np": np, "NOISE": NOISE, **self.values})
            image.fromarray(pixels).save(path, lossless=True)
        else:
            text = "".join(f"{line}\n" for line in lines)
            WRITERS.get(path.suffix, _write_text)(path, text)

    def check(self, folder: Path, where: Path) -> None:
        """Read the files in each of the ways, and check what they mean."""
        path = self.write(folder)
        for reading in self.readings:
            try:
                with speaking(COMMAND_LINE):
                    reading.filled(self._filled).check(path, where, self.values)
            except BaseException as error:
                error.add_note(f"{self.place}: {reading}")
                raise

    def _filled(self, text: str) -> str:
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    def _lines(self, line: str, file: int) -> Iterator[str]:
        repeated = re.fullmatch(r"(\d+)\* ?(.*)", line)
        if repeated is None:
            yield line
            return
        count, template = int(repeated[1]), compile(f"f'''{repeated[2]}'''", self.place, "eval")
        for n in range(count):
            yield eval(template, {**self.values, **_of_row(n, count), "file": file})


def _of_row(n: int, count: int) -> dict[str, Any]:
    """Return the names that a repeated line knows in row n of so many."""
    (x, y), (flower, kind) = NOISE[n % len(NOISE)].tolist(), _flowers()[n % 150]
    labels = {"ab": "ab"[n % 2], "half": "ab"[2 * n // count]}
    known = {"np": np, "NOISE": NOISE, "comma": lambda value: str(value).replace(".", ",")}
    known["stamp"] = _stamp
    own = {"n": n, "x": x, "y": y, "flower": ",".join(map(str, flower)), "kind": kind}
    own["code"] = SPECIES.index(kind)
    return {**known, **labels, **own}


def _stamp(form: str, seconds: float) -> str:
    moment = datetime(2026, 3, 5, 8, tzinfo=UTC) + timedelta(milliseconds=round(1000 * seconds))
    since_1970 = str(int(moment.timestamp()))
    return moment.strftime(
        form.replace("%L", f"{moment.microsecond // 1000:03}").replace("%s", since_1970)
    )


def _write_text(path: Path, text: str) -> None:
    path.write_bytes(text.encode())


@cache
def _flowers() -> list[tuple[list[float], str]]:
    """Return the iris flowers in random order."""
    return shuffled_flowers()


@dataclass
class Reading:
    """One way to read the files, and the facts that follow."""

    reader: str
    options: str
    facts: list[str]
    is_refused: bool = False

    def __str__(self) -> str:
        return f"> {'refused ' * self.is_refused}{self.reader} {self.options}".rstrip()

    def filled(self, fill: Callable[[str], str]) -> Reading:
        """Return the reading with a case's names replaced by their values."""
        facts = [fact if fact.startswith("= ") else fill(fact) for fact in self.facts]
        return Reading(self.reader, fill(self.options), facts, self.is_refused)

    def check(self, path: Path, where: Path, names: dict[str, Any]) -> None:
        """Read a file or folder; files that a command writes are in the folder `where`."""
        if self.is_refused:
            places, *facts = self.facts
            assert_refused(self._refusal(path, where), places.split(", "), facts)
            return
        found = self._found(path, where)
        for fact in self.facts:
            name, _, value = fact.partition(" ")
            if name == "=":
                known = {"np": np, "pytest": pytest, "NOISE": NOISE, "where": where, **names}
                assert eval(value, {**known, "found": found}), fact
            else:
                FACTS[name](found, value)

    def _found(self, path: Path, where: Path) -> Any:
        if self.reader not in READERS:
            return run_json(*self._command(path, where))
        path, words = self._named(path, where)
        return READERS[self.reader](path, words)

    def _named(self, path: Path, where: Path) -> tuple[Path, list[str]]:
        """Return the file that is named first, or else the path, and the other words."""
        words = shlex.split(self.options)
        for folder in (path, where) if words else ():
            if folder.is_dir() and (folder / words[0]).exists():
                return folder / words[0], words[1:]
        return path, words

    def _refusal(self, path: Path, where: Path) -> BaseException | None:
        if self.reader in READERS:
            with pytest.raises(InputError) as caught:
                self._found(path, where)
            return caught.value
        done = run(*self._command(path, where))
        refusal(done)
        return done.exception

    def _command(self, path: Path, where: Path) -> tuple[object, ...]:
        path, words = self._named(path, where)
        output = (where / word if "." in word else word for word in OUTPUTS[self.reader])
        model = (where / "out.npz", *OF_MODELS[self.reader]) if self.reader in OF_MODELS else ()
        return (self.reader, *model, path, *output, *_as_options(words))


def assert_refused(
    error: BaseException | None, places: Sequence[str], facts: Sequence[str]
) -> None:
    """Check where in the package an error, or what led to it, is from, and what it says."""
    while error is not None and not isinstance(error, ProtoNNEdgeError):
        error = error.__context__
    sentence, found = str(error), places_of(error)
    assert "\n" not in sentence
    assert {*found} & {*places}, f"{sentence} ({found})"
    for fact in facts:
        assert fact.removeprefix("says ") in sentence, sentence


def _as_options(words: Sequence[str]) -> Iterator[str]:
    """Yield options of a command, also those that are written without dashes."""
    return (f"--{word}" if re.match("[a-z][a-z-]*=", word) else word for word in words)


# --- facts ----------------------------------------------------------------------------------------


def _listed(value: str) -> tuple[str, ...]:
    return tuple(value.split(", ")) if value else ()


def _data_of(found: Any) -> Any:
    return getattr(found, "dataset", found)


def _texts(found: Any, kind: str = "") -> list[str]:
    """Return notices, as a command prints them, of a kind if one is given."""
    if isinstance(found, dict):
        of_kind = (each for each in found["notices"] if kind in ("", each["kind"]))
        return ["warning: " * each["warning"] + each["text"] for each in of_kind]
    return [str(each) for each in _data_of(found).notices if kind in ("", each.kind)]


def _is_noise(found: Any, _: str) -> None:
    X = _data_of(found).X_train
    assert np.array_equal(X, NOISE[: len(X)].astype(np.float32)), X[:3]


def _has(name: str) -> Callable[[Any, str], None]:
    def check(found: Any, value: str) -> None:
        assert tuple(map(str, getattr(_data_of(found), name))) == _listed(value)

    return check


def _has_notice(found: Any, value: str) -> None:
    kind, _, text = value.partition(" ")
    assert _texts(found, kind) == [text]


def _says(found: Any, value: str) -> None:
    assert any(value in text for text in _texts(found)), _texts(found)


def _says_nothing(found: Any, kind: str) -> None:
    assert not _texts(found, kind)


def _has_labels(found: Any, value: str) -> None:
    data = _data_of(found)
    assert [data.classes[label] for label in data.y_train] == value.split()


def _has_rate(found: Any, value: str) -> None:
    number = value.removeprefix("about ")
    within = 0.05 if value != number else 1e-12
    assert found.rate == (None if number == "None" else pytest.approx(float(number), rel=within))


def _has_seams(found: Any, value: str) -> None:
    assert np.flatnonzero(found.seams).tolist() == [int(place) for place in _listed(value)]


def _has_groups(found: Any, value: str) -> None:
    assert sorted(set(found.groups or ())) == sorted(_listed(value))


def _has_channels(found: Any, value: str) -> None:
    assert found.channels == _listed(value)


FACTS: dict[str, Callable[[Any, str], None]] = {
    "noise": _is_noise,
    "features": _has("feature_names"),
    "classes": _has("classes"),
    "labels": _has_labels,
    "notice": _has_notice,
    "says": _says,
    "silent": _says_nothing,
    "channels": _has_channels,
    "rate": _has_rate,
    "seams": _has_seams,
    "groups": _has_groups,
}


# --- the text of the cases ------------------------------------------------------------------------


def some_cases(every: int, part: int = 0) -> Iterator[tuple[int, Case]]:
    """Yield a part, one of so many cases, with numbers; which ones does not depend on others."""
    for number, case in enumerate(cases()):
        if crc32(str(case).encode()) % every == part:
            yield number, case


def cases() -> list[Case]:
    """Return all cases of the core and of extensions."""
    paths = sorted(
        (path for folder in folders("corpus") for path in folder.glob("*.txt")),
        key=lambda path: path.name,
    )
    found = (case for path in paths for case in read_cases(path.name, path.read_text("utf-8")))
    return [case for case in found if case.readings]


def read_cases(name: str, text: str) -> Iterator[Case]:
    """Yield the cases of a text, each with every combination of the values of its names."""
    for chapter in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, body = chapter.split("\n", 1)
        given = re.compile(r"^~ (.+?) = (.+(?:\n  .+)*)\n", flags=re.MULTILINE)
        named = [
            (match[1].split(", "), eval(match[2], {"np": np})) for match in given.finditer(body)
        ]
        lines = given.sub("", body).splitlines()
        for chosen in itertools.product(*(values for _, values in named)):
            case = Case(title, f"{name}, {title}", dict(_values(named, chosen)))
            _read_lines(case, lines)
            yield case


def _values(
    named: Sequence[tuple[list[str], Any]], chosen: Sequence[Any]
) -> Iterator[tuple[str, Any]]:
    for (names, _), value in zip(named, chosen, strict=True):
        yield from zip(names, [value] if len(names) == 1 else value, strict=True)


def _read_lines(case: Case, lines: Sequence[str]) -> None:
    file = case.files.setdefault("data.csv", [])
    for line in lines:
        if line.startswith("@ "):
            if not case.files.get("data.csv", True):
                del case.files["data.csv"]
            file = case.files.setdefault(line[2:], [])
        elif line.startswith("> "):
            case.readings.append(_reading(line[2:]))
        elif line.startswith("  ") and case.readings:
            case.readings[-1].facts += line.strip().split(" | ")
        elif line:
            file.append(line)
    assert case.readings, f"{case.place} is not read"
    case.readings = [each for each in case.readings if each.reader not in OF_EXTENSIONS]


def _reading(line: str) -> Reading:
    how, _, facts = f"{line} ".partition(": ")
    reader, _, options = how.removeprefix("refused ").partition(" ")
    known = [fact for fact in facts.strip().split(" | ") if fact]
    return Reading(reader, options.strip(), known, is_refused=how.startswith("refused "))
