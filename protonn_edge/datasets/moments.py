"""When rows were recorded: numbers, or dates and times in one of the usual notations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from protonn_edge.datasets.cells import with_point

_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%m-%Y")
_TIMES = ("%H:%M:%S.%f", "%H:%M:%S", "%H:%M", "%I:%M:%S %p", "%I:%M %p")
_FORMATS = (
    *(f"{day} {time}" for day in _DAYS for time in _TIMES),
    *_TIMES,
    *_DAYS,
)


def moments_of(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return times (n,), in seconds or in the unit of the numbers, or None if not all are read."""
    try:
        return np.array([float(with_point(cell)) for cell in cells])
    except ValueError:
        pass
    for read in (datetime.fromisoformat, *map(_reader, _FORMATS)):
        try:
            times = [read(cell.strip().replace(",", ".")) for cell in cells]
        except ValueError:
            continue
        begin = datetime(1970, 1, 1, tzinfo=UTC)
        zoned = [time if time.tzinfo else time.replace(tzinfo=UTC) for time in times]
        return np.array([(time - begin).total_seconds() for time in zoned])
    return None


def _reader(notation: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, notation).replace(tzinfo=UTC)
