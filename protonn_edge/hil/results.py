"""What a run on a device gave: one JSON line per test point, and the summary of all of them.

A line is written and flushed as soon as its answer is there, so a run that is interrupted loses
nothing; at worst its last line is torn, which reading tolerates and resuming mends.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np

from protonn_edge.boards import Board
from protonn_edge.errors import InputError
from protonn_edge.files import write_atomically

_MAX_LINE_BYTES = 1 << 16  # 255 scores of 11 characters are less than 4 kB
_MAX_LINES = 10_000_000
_INT32 = range(-(1 << 31), 1 << 31)
_UINT32 = range(1 << 32)


@dataclass(frozen=True)
class Result:
    """The answer for one test point.

    Attributes
    ----------
    index : int
        The row of the test data.
    label : int
        Index of the true class.
    predicted : int or None
        Index of the class that the device answered; None if the point was lost: no answer came.
    cycles : int or None
        CPU cycles of the prediction; None if it was lost.
    mismatch : bool or None
        Whether class or scores differ from the integer model's; None if nothing was compared.
    scores : tuple of int or None
        One score per class where they were asked for.
    """

    index: int
    label: int
    predicted: int | None
    cycles: int | None
    mismatch: bool | None = None
    scores: tuple[int, ...] | None = None

    def to_json(self) -> str:
        """Return the result as a line of JSON, without its end and what was not compared."""
        fields: dict[str, object] = {
            "index": self.index,
            "label": self.label,
            "predicted": self.predicted,
            "cycles": self.cycles,
        }
        if self.mismatch is not None:
            fields["mismatch"] = self.mismatch
        if self.scores is not None:
            fields["scores"] = list(self.scores)
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        """Return the result in a line of JSON.

        Raises
        ------
        ValueError
            If it is not JSON or a field has another type or range; the message says which.
        """
        try:
            fields = json.loads(line)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(fields, dict):
            raise ValueError("it is not a JSON object")  # noqa: TRY004  (one type for the caller)
        unknown = fields.keys() - {"index", "label", "predicted", "cycles", "mismatch", "scores"}
        if unknown:
            raise ValueError(f"field {min(unknown)!r} is not known")
        predicted = _integer(fields, "predicted", range(255), optional=True)
        cycles = _integer(fields, "cycles", _UINT32, optional=True)
        if (predicted is None) != (cycles is None):
            raise ValueError("'predicted' and 'cycles' must both be there or both be null")
        mismatch = fields.get("mismatch")
        if not (mismatch is None or isinstance(mismatch, bool)):
            raise ValueError("'mismatch' must be true or false")
        index = _integer(fields, "index", _UINT32)
        label = _integer(fields, "label", _UINT32)
        assert index is not None
        assert label is not None
        return cls(index, label, predicted, cycles, mismatch, _scores(fields))


def _integer(
    fields: dict[str, object], name: str, allowed: range, *, optional: bool = False
) -> int | None:
    value = fields.get(name)
    if value is None and optional and name in fields:
        return None
    if type(value) is not int or value not in allowed:
        raise ValueError(f"{name!r} must be an integer from {allowed[0]} to {allowed[-1]}")
    return value


def _scores(fields: dict[str, object]) -> tuple[int, ...] | None:
    scores = fields.get("scores")
    if scores is None:
        return None
    if not isinstance(scores, list) or not 1 <= len(scores) <= 255:
        raise ValueError("'scores' must be a list of 1 to 255 integers")
    if not all(type(score) is int and score in _INT32 for score in scores):
        raise ValueError("'scores' must be integers of 32 bits")
    return tuple(scores)


class ResultsFile:
    """A results file that is being written, as a context manager.

    Parameters
    ----------
    path : Path
        The file, by custom ``results.jsonl``.
    keep : sequence of Result, keyword-only
        What the file shall begin with: the answers of an interrupted run that goes on.

    Raises
    ------
    InputError
        If the file cannot be written, or holds something else than results.
    """

    def __init__(self, path: Path, *, keep: Sequence[Result] = ()) -> None:
        self._path = path
        check_is_results(path)
        write_atomically(path, "".join(result.to_json() + "\n" for result in keep))
        try:
            self._stream: BinaryIO = path.open("ab")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}; choose another -o") from error

    def append(self, result: Result) -> None:
        """Write one result and hand it to the system at once."""
        try:
            self._stream.write(result.to_json().encode() + b"\n")
            self._stream.flush()
        except OSError as error:
            raise InputError(
                f"cannot write {self._path}: {error.strerror}; choose another -o"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stream.close()


def check_is_results(path: Path) -> None:
    """Raise `InputError` if `path` is there and something else than a results file."""
    if path.exists():
        try:
            read_results(path)
        except InputError as error:
            raise InputError(f"{path} is there and not a results file ({error})") from error


def read_results(path: Path) -> list[Result]:
    """Return the results in a file, in its order.

    A torn last line, as an interrupted run leaves it, is passed over.

    Raises
    ------
    InputError
        If the file cannot be read, a line is not a result, or an index comes twice.
    """
    try:
        return _read(path)
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}; run `protonn-edge hil` first"
        ) from error


def _read(path: Path) -> list[Result]:
    """Return the results of all whole lines."""
    results: list[Result] = []
    seen: set[int] = set()
    with path.open("rb") as stream:
        while line := stream.readline(_MAX_LINE_BYTES):
            if not line.endswith(b"\n"):
                if len(line) < _MAX_LINE_BYTES and line.startswith(b"{"):
                    break  # torn
                raise InputError(_wrong(path, results, f"is longer than {_MAX_LINE_BYTES} bytes"))
            if len(results) == _MAX_LINES:
                raise InputError(f"{path} has over {_MAX_LINES:,} lines; is it a results file?")
            try:
                result = Result.from_json(line)
            except ValueError as error:
                raise InputError(_wrong(path, results, f"is not a result: {error}")) from error
            if result.index in seen:
                raise InputError(_wrong(path, results, f"repeats index {result.index}"))
            seen.add(result.index)
            results.append(result)
    return results


def _wrong(path: Path, before: Sequence[Result], what: str) -> str:
    return f"{path} line {len(before) + 1} {what}; remove the line or run `protonn-edge hil` again"


@dataclass(frozen=True)
class Spread:
    """A quantity over many test points; `p99` is the least value that 99 % do not exceed."""

    mean: float
    max: float
    min: float
    p99: float


@dataclass(frozen=True)
class Summary:
    """What a run comes down to; the fields are those of every JSON that this package writes.

    Attributes
    ----------
    accuracy : float
        Share of the test points that were answered rightly, 0 to 1; a lost point is not.
    n : int
        Number of test points.
    mismatches : int
        Points where class or scores differ from the integer model's; anything but 0 is a bug.
    lost : int
        Points that got no answer.
    cycles, latency_ms, energy_mj : Spread or None
        Of one prediction, over the points that were answered; None if none was. Energy is the
        board's power times the time (ProtoNN paper, section 5).
    """

    accuracy: float
    n: int
    mismatches: int
    lost: int
    cycles: Spread | None
    latency_ms: Spread | None
    energy_mj: Spread | None

    def to_json(self) -> dict[str, object]:
        """Return the summary as what `json.dumps` takes."""
        return asdict(self)


def summarize(results: Sequence[Result], board: Board) -> Summary:
    """Return what a run comes down to.

    Parameters
    ----------
    results : sequence of Result
        At least one.
    board : Board
        Its clock and its power turn cycles into time and energy.

    Raises
    ------
    InputError
        If there are no results.
    """
    if not results:
        raise InputError("there are 0 results, a summary needs at least 1; let the run go on")
    cycles = np.array([r.cycles for r in results if r.cycles is not None], dtype=np.int64)
    spread = _spread(cycles) if cycles.size else None
    return Summary(
        accuracy=sum(r.predicted == r.label for r in results) / len(results),
        n=len(results),
        mismatches=sum(r.mismatch is True for r in results),
        lost=sum(r.predicted is None for r in results),
        cycles=spread,
        latency_ms=spread and _scaled(spread, board.milliseconds(1)),
        energy_mj=spread and _scaled(spread, board.millijoules(1)),
    )


def _spread(cycles: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Spread:
    return Spread(
        mean=float(cycles.mean()),
        max=int(cycles.max()),
        min=int(cycles.min()),
        p99=int(np.percentile(cycles, 99, method="inverted_cdf")),
    )


def _scaled(spread: Spread, factor: float) -> Spread:
    return Spread(
        spread.mean * factor, spread.max * factor, spread.min * factor, spread.p99 * factor
    )
