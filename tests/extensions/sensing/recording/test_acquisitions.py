"""Takes in Edge Impulse's acquisition format, JSON or CBOR, whole and damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cbor2
import numpy as np
import pytest
from command_line import assert_one_sentence, run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused_by

from protonn_edge.extensions.sensing.recordings.recorded import read_recording
from protonn_edge.system.errors import InputError

VALUES = np.random.default_rng(0).normal(0, 9, (20, 2)).round(3).tolist()
SENSORS = [{"name": "accX", "units": "m/s2"}, {"name": "accY", "units": "m/s2"}]


def encoded(suffix: str, content: object) -> bytes:
    return json.dumps(content).encode() if suffix == ".json" else cbor2.dumps(content)


def take(**fields: Any) -> dict[str, Any]:
    payload = {"device_type": "UNO", "interval_ms": 16, "sensors": SENSORS, "values": VALUES}
    protected = {"ver": "v1", "alg": "HS256", "iat": 1_767_225_600}
    return {"protected": protected, "signature": "00" * 32, "payload": {**payload, **fields}}


Write = Callable[[str, object], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Give a function that writes a file of the folder by its ending."""

    def write_file(name: str, content: object) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else encoded(path.suffix, content))
        return path

    return write_file


@pytest.mark.parametrize("suffix", [".json", ".cbor"])
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.999])
def test_a_file_that_is_cut_short_is_one_sentence(write: Write, suffix: str, share: float) -> None:
    whole = encoded(suffix, take())
    path = write(f"idle{suffix}", whole[: int(share * len(whole))])
    words = ("windows", path, "-o", path.with_name("w.npz"), "--window", 10)
    assert_one_sentence(run(*words), "idle", "is not in Edge Impulse's acquisition format")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", b"[" * 100_000),
        ("deep.cbor", b"\x81" * 100_000),
        ("long.json", b"1" * 5_000),
        ("an array of exabytes.cbor", b"\x9b" + b"\x7f" * 8),
        ("bytes of exabytes.cbor", b"\x5b" + b"\x7f" * 8),
        ("a large power.cbor", b"\xc5\x82\x1b" + b"\x7f" * 8 + b"\x01"),
        ("a loop.cbor", b"\xd8\x1c\xa1\x67payload\xd8\x1d\x00"),
        ("utf-16.json", "{}".encode("utf-16")),
    ],
)
def test_hostile_files_are_refused(write: Write, name: str, content: bytes) -> None:
    with refused_by("extensions.sensing.recordings.acquisitions"):
        read_recording(write(name, content))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    places=st.lists(
        st.tuples(st.one_of(st.integers(0, 200), st.integers(0, 2_000)), st.integers(0, 255)),
        min_size=1,
        max_size=4,
    ),
    suffix=st.sampled_from([".json", ".cbor"]),
)
def test_changed_bytes_are_read_or_refused(
    write: Write, places: list[tuple[int, int]], suffix: str
) -> None:
    content = bytearray(encoded(suffix, take()))
    for place, byte in places:
        content[place % len(content)] = byte
    try:
        recording = read_recording(write(f"idle{suffix}", bytes(content)))
    except InputError as error:
        assert "\n" not in str(error)  # noqa: PT017 - either is fine
    else:
        assert np.isfinite(recording.samples).all()
