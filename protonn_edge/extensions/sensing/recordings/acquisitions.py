"""Takes in Edge Impulse's acquisition format, JSON or CBOR: samples at a fixed interval.

The payload of a file has the fields ``interval_ms``, ``sensors`` (a name and units each) and
``values``, a row for each sample. Signatures are not checked.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from protonn_edge.data.points.dataset import Table
from protonn_edge.data.points.instruments import Instrument
from protonn_edge.data.tables.cells import FLOAT32_MAX
from protonn_edge.data.tables.coded import Coded
from protonn_edge.data.units import unit_of
from protonn_edge.system.errors import InputError
from protonn_edge.system.files import read_file
from protonn_edge.system.lazy import require

_FILE_LIMIT_BYTES = 64 << 20


def read_acquisition(path: Path, label: str) -> Table:
    """Return the samples of a file, all of which have one label.

    Raises `InputError` if the file is not in this format.
    """
    content = read_file(path, limit_bytes=_FILE_LIMIT_BYTES)
    try:
        payload = _decoded(path, content)["payload"]
        interval = float(payload["interval_ms"])
        names = tuple(str(sensor["name"]) for sensor in payload["sensors"])
        units = [str(sensor.get("units", "")) for sensor in payload["sensors"]]
        values = np.array(payload["values"], np.float64)
        X = values.reshape(len(values), -1)
    except InputError:
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise _refusal(path, f"{type(error).__name__}: {str(error)[:60]}") from error
    if not 0 < interval < np.inf:
        raise _refusal(path, f"an interval of {interval:g} ms")
    if X.shape[1] != len(names) or not len(X):
        raise _refusal(path, f"{len(names)} sensors, values of the shape {values.shape}")
    if not (np.abs(X) <= FLOAT32_MAX).all():
        raise InputError(f"{path} has a value that is not a finite number; record the take again")
    instrument = None
    with suppress(InputError):  # a text that is no unit, such as N/A
        instrument = Instrument("", tuple(map(unit_of, units)))
    return Table(
        str(path),
        X.astype(np.float32),
        Coded.repeated([(label, len(X))]),
        feature_names=names,
        sample_rate=1000 / interval,
        instrument=instrument,
    )


def _decoded(path: Path, content: bytes) -> Any:
    if path.suffix.lower() == ".json":
        return json.loads(content)
    require("cbor2")
    import cbor2  # an optional extra

    try:
        return cbor2.loads(content)
    except cbor2.CBORDecodeError as error:
        raise _refusal(path, str(error)[:60]) from error


def _refusal(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} is not in Edge Impulse's acquisition format ({reason}); export the take again, or "
        "save it as CSV"
    )
