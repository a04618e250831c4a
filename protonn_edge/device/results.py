"""The results of a run on a device: a line of CSV per test point, and a summary.

Each line is written and flushed as soon as its answer arrives, so a killed run loses nothing; at
worst its last line is incomplete, which reading tolerates and resuming repairs. The last column
identifies model, data and the number of points, so that answers of different runs are never mixed.
The columns of scores name the classes, in the order of the model::

    index,label,predicted,cycles,mismatch,device,score_rest,score_walk,run
    0,walk,walk,16072,0,/dev/ttyACM0,-3,5,b1946ac92492d234-7c6235b9e41f0a3d-150

If answers are numbers or sets of labels, the column ``true`` takes the place of ``label``::

    index,true,predicted,cycles,mismatch,device,score_moisture,run
    2,7.3,6.44,1843,0,/dev/ttyACM0,-16969,8d6802971504f1e0-31604faafbb52d4c-160
Of an emulated core that counts instructions, ``instructions`` takes the place of ``cycles``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.data.naming import NO_CLASS, NO_CLASS_NAME, NO_LABEL
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import InputError, InvalidValue, cannot_read, shortened
from protonn_edge.system.files import AppendedFile, check_file, write_atomically

_MAX_LINE_BYTES = 1 << 18  # 255 names of 100 characters are at most 102 kB
_LIMIT_BYTES = 4 << 30
_INT32 = range(-(1 << 31), 1 << 31)
_UINT32 = range(1 << 32)
_RUN = re.compile("([0-9a-f]{16})-([0-9a-f]{16})-([0-9]{1,7})(?:-([0-9]{1,9}))?", re.ASCII)
_DIGITS = 16  # of a SHA-256
_FIXED = ("index", "label", "predicted", "cycles", "mismatch", "device")
_TRUE = "true"  # in place of "label", if answers are no classes
_COUNTS = ("cycles", "instructions")  # what devices count
_SCORE = "score_"  # before the name of a class
_MOST_CLASSES = 255

EMULATED = "emulated "
"""Begins the name of a device that is no board; its port differs in every run."""


@dataclass(frozen=True)
class Origin:
    """The model and data of a run, by the first 16 digits of their SHA-256."""

    model: str  # the integer model
    data: str  # the points as sent, and their labels
    points: int  # how many there are
    unused: int = 0  # rows of their file before the last point that are not points

    @classmethod
    def of(
        cls,
        model: IntegerChain,
        Q: NDArray[np.uint8],
        y: NDArray[np.int64],
        rows: Sequence[int] = (),
    ) -> Self:
        """Return the origin of a run of points Q (n, D) with classes y (n,).

        `rows` are the n rows of the points in their file, in order; by default 0 to n - 1.
        """
        digest = hashlib.sha256(f"{Q.shape}".encode())
        digest.update(np.ascontiguousarray(Q).tobytes())
        digest.update(np.ascontiguousarray(y, "<i8").tobytes())
        unused = rows[-1] + 1 - len(Q) if rows else 0
        return cls(model.model_sha256[:_DIGITS], digest.hexdigest()[:_DIGITS], len(Q), unused)

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Return the origin in the last column; `ValueError` if it has none."""
        said = _RUN.fullmatch(text)
        if said is None:
            raise ValueError("'run' must be two hashes and a number, joined by '-'")
        return cls(said[1], said[2], int(said[3]), int(said[4] or 0))

    def __str__(self) -> str:
        unused = f"-{self.unused}" if self.unused else ""
        return f"{self.model}-{self.data}-{self.points}{unused}"


@dataclass(frozen=True)
class Result:
    """The answer for one test point."""

    index: int  # the row of the file of test data, from 0
    label: int  # index of the true class, `NO_CLASS` for none of them, or `NO_LABEL`
    # index of the class that the device answered, or `NO_CLASS`, 255; None if the point was lost:
    # no answer came
    predicted: int | None
    cycles: int | None  # CPU cycles of the prediction; None if it was lost
    # whether class or scores differ from the integer model's; None if nothing was compared
    mismatch: bool | None = None
    scores: tuple[int, ...] | None = None  # one score per class, if requested
    device: str = ""  # the port of the device that answered, or the name of an emulated one
    # the right answer and the predicted one, if they are no classes, but numbers or sets of labels
    texts: tuple[str, str] | None = None

    def to_fields(self, classes: Sequence[str]) -> list[str]:
        """Return the fields of its line, with names of classes; missing values are empty."""
        names = names_of(classes)
        answers = (None if each is None else names[each] for each in (self.label, self.predicted))
        cycles = "" if self.cycles is None else str(self.cycles)
        compared = "" if self.mismatch is None else str(int(self.mismatch))
        scores = [""] * len(classes) if self.scores is None else map(str, self.scores)
        texts = self.texts or (each or "" for each in answers)
        return [str(self.index), *texts, cycles, compared, self.device, *scores]

    @classmethod
    def from_fields(
        cls, fields: Sequence[str], classes: Sequence[str], *, of_classes: bool = True
    ) -> Self:
        """Return the result in a line's fields; `ValueError` names a wrong one."""
        index = _integer("index", fields[0], _UINT32)
        cycles = _optional("cycles", fields[3], _UINT32)
        mismatch = _optional("mismatch", fields[4], range(2))
        scores = None
        if any(fields[len(_FIXED) :]):
            scores = tuple(_integer("score", text, _INT32) for text in fields[len(_FIXED) :])
        compared = None if mismatch is None else bool(mismatch)
        measured = cycles, compared, scores, fields[5]
        if not of_classes:  # the device's answer is the best label, or 0 for a number
            best = 0 if scores is None else scores.index(max(scores))
            predicted = None if cycles is None else best
            return cls(index, NO_LABEL, predicted, *measured, (fields[1], fields[2]))
        label = _class("label", fields[1], classes)
        label = NO_LABEL if label is None else label
        predicted = _class("predicted", fields[2], classes)
        if (predicted is None) != (cycles is None):
            raise ValueError("'predicted' and 'cycles' must both be given or both be empty")
        return cls(index, label, predicted, *measured)


def names_of(classes: Sequence[str]) -> dict[int, str]:
    """Return the name of each class, of `NO_CLASS`, which is none of them, and of `NO_LABEL`."""
    unknown = NO_CLASS_NAME
    while unknown in classes:
        unknown += "_"
    return {**dict(enumerate(classes)), NO_CLASS: unknown, NO_LABEL: ""}


def _class(column: str, text: str, classes: Sequence[str]) -> int | None:
    """Return the class of this name, None if the name is empty."""
    if not text:
        return None
    numbers = {name: number for number, name in names_of(classes).items()}
    if text not in numbers:
        raise ValueError(f"{column!r} must be a class of the model, not {shortened(repr(text))}")
    return numbers[text]


def _integer(name: str, text: str, allowed: range) -> int:
    if re.fullmatch(r"-?[0-9]{1,10}", text, re.ASCII) is None or int(text) not in allowed:
        raise ValueError(f"{name!r} must be an integer from {allowed[0]} to {allowed[-1]}")
    return int(text)


def _optional(name: str, text: str, allowed: range) -> int | None:
    return _integer(name, text, allowed) if text else None


class ResultsFile(AppendedFile):
    """A results file that is being written, with a score for each of some classes, by name.

    The answers are classes, or the texts of the results. If an interrupted run is resumed, the file
    begins with its answers, `keep`. Raises `InputError` if the file cannot be written, is not a
    results file, or another process is writing to it.
    """

    def __init__(
        self,
        path: Path,
        origin: Origin,
        classes: Sequence[str],
        *,
        keep: Sequence[Result] = (),
        of_classes: bool = True,
        counts: str = _COUNTS[0],
    ) -> None:
        self._classes, self._origin = classes, origin
        if path.is_file():
            with AppendedFile(path):  # no other run has it
                pass
            if not is_results(path):
                raise InvalidValue(path, "not a results file", "choose another file with -o")
        head = _line(_columns(classes, of_classes=of_classes, counts=counts))
        write_atomically(path, head + "".join(map(self._line_of, keep)))
        super().__init__(path)

    def append(self, result: Result) -> None:
        """Write one result."""
        self._write(self._line_of(result).encode())

    def _line_of(self, result: Result) -> str:
        return _line([*result.to_fields(self._classes), str(self._origin)])


def _columns(classes: Iterable[str], *, of_classes: bool, counts: str) -> list[str]:
    index, label, predicted, _, *others = _FIXED
    fixed = [index, label if of_classes else _TRUE, predicted, counts, *others]
    return [*fixed, *(f"{_SCORE}{name}" for name in classes), "run"]


def _line(fields: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(fields)
    return text.getvalue()


def check_finished(path: Path, option: str = "--resume") -> None:
    """Raise `InputError` if `path` has some, but not all results of a run.

    `option`, or a command, goes on with the run.
    """
    try:
        earlier = read_results(path)
    except InputError:
        return  # there is no run to continue
    if earlier.origin is not None and len(earlier.results) < earlier.origin.points:
        raise InvalidValue(
            path,
            f"{len(earlier.results):,} of {earlier.origin.points:,} results of a run "
            "that was stopped",
            f"delete the file, or continue with {option}",
        )


def is_results(path: Path) -> bool:
    """Return whether a file begins with the header of a results file."""
    try:
        with _opened(path) as stream:
            _columns_in(path, stream)
    except InputError:
        return False
    return True


@dataclass(frozen=True)
class RecordedRun:
    """The contents of a results file."""

    origin: Origin | None  # the model and the data; None without results
    results: list[Result]  # in the order of the file
    classes: tuple[str, ...] = ()  # of the model, in its order
    of_classes: bool = True  # whether answers are classes
    counts: str = _COUNTS[0]  # what the device counted


def read_results(path: Path, expected: Origin | None = None) -> RecordedRun:
    """Return the contents of a results file, which may have to be of an expected run.

    An incomplete last line, left by an interrupted run, is ignored. Raises `InputError` if the file
    cannot be read, a line is not a result or belongs to another run, or an index is repeated or out
    of range. So there are never more lines than points.
    """
    results: dict[int, Result] = {}
    origin = None
    with _opened(path) as stream:
        classes, of_classes, counts = _columns_in(path, stream)
        while line := stream.readline(_MAX_LINE_BYTES):
            if len(line) < _MAX_LINE_BYTES and not line.endswith(b"\n"):
                break  # torn
            try:
                result, of_line = _result_in(line, classes, of_classes=of_classes)
                origin = origin or of_line
                _check_belongs(result, of_line, origin, results)
            except ValueError as error:
                raise InvalidValue(
                    f"{path} line {len(results) + 2}",
                    str(error),
                    "remove the line or run `protonn-edge hil` again",
                ) from error
            if expected not in (None, origin):
                what = "another model" if origin.model != expected.model else "other points"
                raise InvalidValue(
                    path,
                    f"measured with {what} (run {origin}, not {expected})",
                    "name another file with -o, or delete this one",
                )
            results[result.index] = result
    return RecordedRun(origin, list(results.values()), classes, of_classes, counts)


def _result_in(line: bytes, classes: Sequence[str], *, of_classes: bool) -> tuple[Result, Origin]:
    """Return the result in a line, and its run; `ValueError` names its fault."""
    if not line.endswith(b"\n"):
        raise ValueError(f"longer than {_MAX_LINE_BYTES} bytes")
    try:
        fields, expected = _fields(line), len(_FIXED) + len(classes) + 1
        if len(fields) != expected:
            raise ValueError(f"it has {len(fields)} fields, not {expected}")
        result = Result.from_fields(fields[:-1], classes, of_classes=of_classes)
        return result, Origin.of_text(fields[-1])
    except ValueError as error:
        raise ValueError(f"not a result: {error}") from error


def _check_belongs(result: Result, run: Origin, origin: Origin, others: Collection[int]) -> None:
    """Raise `ValueError` if a result is not one of a run's, or repeats one of the others."""
    if run != origin:
        raise ValueError(f"it belongs to another run, {run}")
    if result.index >= (end := origin.points + origin.unused):
        text = f"index {result.index:,}, but this run's indices are 0 to {end - 1:,}"
        raise ValueError(text)
    if result.index in others:
        raise ValueError(f"it repeats index {result.index}")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    remedy = "run `protonn-edge hil` first"
    check_file(path, limit_bytes=_LIMIT_BYTES, may_be_empty=True, remedy=remedy)
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise cannot_read(path, error) from error


def _columns_in(path: Path, stream: BinaryIO) -> tuple[tuple[str, ...], bool, str]:
    """Return the names of the classes by the first line, if answers are classes, and counts."""
    columns = _fields(stream.readline(_MAX_LINE_BYTES))
    classes = tuple(name.removeprefix(_SCORE) for name in columns[len(_FIXED) : -1])
    fits = 1 <= len(set(classes)) == len(classes) <= _MOST_CLASSES and all(classes)
    of_classes = columns[1:2] != [_TRUE]
    counts = _COUNTS[columns[3:4] == [_COUNTS[1]]]
    if not fits or columns != _columns(classes, of_classes=of_classes, counts=counts):
        raise InvalidValue(
            path,
            "it does not begin with the header of a results file",
            "name a file that `protonn-edge hil` wrote",
        )
    return classes, of_classes, counts


def _fields(line: bytes) -> list[str]:
    """Return the fields of a line; invalid fields for one that is not CSV."""
    try:
        (fields,) = csv.reader([line.decode()])
    except (UnicodeDecodeError, csv.Error, ValueError):
        return []
    return fields


@dataclass(frozen=True)
class Spread:
    """A quantity over many test points; `p99` is the least value that 99 % do not exceed."""

    mean: float
    max: float
    min: float
    p99: float

    @classmethod
    def of(cls, cycles: NDArray[np.int64]) -> Self:
        """Return the spread of cycles (n,), n >= 1."""
        p99 = np.percentile(cycles, 99, method="inverted_cdf")
        return cls(float(cycles.mean()), int(cycles.max()), int(cycles.min()), int(p99))

    def times(self, factor: float) -> Self:
        """Return the spread of a multiple."""
        return type(self)(*(factor * value for value in astuple(self)))


@dataclass(frozen=True)
class Summary:
    """Summary of a run, with the fields of this package's JSON."""

    # share of the labelled points classified correctly, 0 to 1; lost points count as wrong; 0
    # without labels
    accuracy: float
    n: int  # number of test points
    # points where class or scores differ from the integer model's; anything but 0 is a bug
    mismatches: int
    lost: int  # points that got no answer
    unknown: int  # points answered "unknown", which is right only for points of no class
    # of one prediction, over the points that were answered; None if none was. Energy is the board's
    # power times the time (ProtoNN paper, section 5).
    cycles: Spread | None
    latency_ms: Spread | None
    energy_mj: Spread | None
    # points of no class, for one-class models, and the ones answered "unknown"
    others: int = 0
    others_found: int = 0
    labelled: int = 0  # points with labels, of which the accuracy is
    classified: int = 0  # those of them that were answered with a class
    instructions: Spread | None = None  # in place of cycles, if the device counts them

    @property
    def counts(self) -> str:
        """What the devices counted: ``"cycles"`` or ``"instructions"``."""
        return _COUNTS[self.instructions is not None]

    @property
    def false_alarms(self) -> int:
        """Points of the model's classes that were answered "unknown"."""
        return self.unknown - self.others_found

    @property
    def accuracy_of_classified(self) -> float | None:
        """Accuracy on the points answered with a class; None without any."""
        right = self.accuracy * self.labelled - self.others_found
        return right / self.classified if self.classified else None

    def to_json(self) -> dict[str, object]:
        """Return the summary as a JSON-compatible value."""
        figures = {**asdict(self), "accuracy_of_classified": self.accuracy_of_classified}
        del figures["classified"]
        if not figures.pop("labelled"):
            figures |= dict.fromkeys(("accuracy", "accuracy_of_classified"))
        return figures


def summarize(results: Sequence[Result], board: Board, counts: str = _COUNTS[0]) -> Summary:
    """Return a run's summary, by the clock and power; `InputError` if empty."""
    if not results:
        raise InputError("there are no results to summarize; continue the run")
    cycles = np.array([r.cycles for r in results if r.cycles is not None], dtype=np.int64)
    counted = Spread.of(cycles) if cycles.size else None
    spread = counted if counts == _COUNTS[0] else None
    labelled = [r for r in results if r.label != NO_LABEL]
    return Summary(
        accuracy=sum(r.predicted == r.label for r in labelled) / max(len(labelled), 1),
        n=len(results),
        mismatches=sum(r.mismatch is True for r in results),
        lost=sum(r.predicted is None for r in results),
        unknown=sum(r.predicted == NO_CLASS for r in results),
        cycles=spread,
        latency_ms=spread and spread.times(board.milliseconds(1)),
        energy_mj=spread.times(board.millijoules(1)) if spread and board.power_watts else None,
        labelled=len(labelled),
        classified=sum(r.predicted not in (None, NO_CLASS) for r in labelled),
        others=sum(r.label == NO_CLASS for r in results),
        others_found=sum(r.label == r.predicted == NO_CLASS for r in results),
        instructions=counted if spread is None else None,
    )
