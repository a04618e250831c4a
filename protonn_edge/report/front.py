"""The result of a search in a file of ``tune --front FILE.json``: accuracy against costs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protonn_edge.errors import InputError
from protonn_edge.system.files import check_file

_LARGEST_FILE = 8 << 20
_MOST_CANDIDATES = 10_000


@dataclass(frozen=True)
class Alternative:
    """A Pareto-optimal model of the search: others are less accurate or need more.

    Attributes
    ----------
    accuracy : float
        In cross-validation, 0..1.
    flash_bytes : int
        Flash of the classifier.
    mean_ms : float
        Mean latency of a prediction.
    """

    accuracy: float
    flash_bytes: int
    mean_ms: float


@dataclass(frozen=True)
class Front:
    """The alternatives, by flash and by time, each the cheapest first."""

    by_flash: tuple[Alternative, ...]
    by_time: tuple[Alternative, ...]


def read_front(path: Path) -> Front:
    """Return the result of a search.

    Raises
    ------
    InputError
        If the file cannot be read or is not such a file.
    """
    check_file(path, limit_bytes=_LARGEST_FILE)
    try:
        record = json.loads(path.read_text("utf-8"))
        return Front(
            _alternatives(record["accuracy_by_flash"]), _alternatives(record["accuracy_by_cycles"])
        )
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not what 'tune --front FILE.json' writes") from error


def _alternatives(found: list[dict[str, Any]]) -> tuple[Alternative, ...]:
    if not 1 <= len(found) <= _MOST_CANDIDATES:
        raise ValueError(f"{len(found)} candidates")
    return tuple(
        Alternative(
            _number(each["accuracy"], 1.0),
            int(_number(each["flash_bytes"], 1e9)),
            _number(each["mean_ms"], 1e9),
        )
        for each in found
    )


def _number(value: object, most: float) -> float:
    if not isinstance(value, (int, float)) or not 0 <= value <= most:  # false for NaN, too
        raise ValueError("a number is out of range")
    return float(value)
