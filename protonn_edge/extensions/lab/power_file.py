"""The power that a meter measured, in a file that a report shows."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from protonn_edge.device.instruments import WRITTEN_BY, BenchReading
from protonn_edge.extensions.lab.meters import MeteredPower
from protonn_edge.report.content import ShownFile, check_lengths, objects_of, record_in
from protonn_edge.system.schema import list_of, number, text, whole

_READING = {  # by the type of a field
    "str": text(40),
    "int": whole(0, 10**12),
    "float": number(-1e9, 1e9),
    "tuple[float, ...]": list_of(number(-1e9, 1e9), 1_000),
}


def read_power(path: Path, model_sha256: str) -> BenchReading:
    """Return an instrument's reading of a run of a model; `InputError` for other files."""
    checks = {each.name: _READING[str(each.type)] for each in fields(MeteredPower)}
    with record_in(path, WRITTEN_BY, model_sha256) as record:
        power: BenchReading = objects_of(MeteredPower, checks, [record["power"]])[0]
        check_lengths(power.trace_ms, power.trace_mw)
        return power


FILE = ShownFile("power", WRITTEN_BY, read_power)
"""How such a file is shown."""
