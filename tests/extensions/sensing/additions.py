"""What sensing adds to tables of the core's tests: how recordings are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from extensions.sensing.sounds import write_lines
from hypothesis import strategies as st
from model_factory import random_window_model, window_features_of, with_points

from protonn_edge.data.options import options_of_texts
from protonn_edge.extensions import sensing
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.played import PlayedSensor, read_sensor
from protonn_edge.extensions.sensing.recordings.recorded import Recording, read_recording
from protonn_edge.extensions.sensing.sensor_board import (
    ChannelRanges,
    LiveDescription,
    LoggerDescription,
    NameMessage,
    SamplesMessage,
    WindowAnswer,
)
from protonn_edge.model.file import save_model
from protonn_edge.system.errors import InputError

FOLDER = Path(str(sensing.__file__)).parent
U8, U16, U32 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32))
I16, I32 = (st.integers(-(1 << bits), (1 << bits) - 1) for bits in (15, 31))
SHORT, POSITIVE = st.integers(1, 255), st.integers(1, (1 << 32) - 1)
ONE, TWO, THREE, SIX = map(st.just, (1, 2, 3, 6))
DRAWN = {
    "SAMPLES": st.builds(SamplesMessage, U32, U32, st.binary(max_size=240)),
    "NAME": st.builds(NameMessage, U8, st.binary(max_size=63)),
    "WINDOW": st.builds(WindowAnswer, U16, U32, U32, U8, U8, st.binary(max_size=1_250)),
    "RANGES": st.builds(ChannelRanges, st.lists(I16).map(tuple)),
    "LOGGER": st.builds(
        LoggerDescription, ONE, THREE, SIX, ONE, POSITIVE, POSITIVE, st.just(b"abcdef")
    ),
    "LIVE": st.builds(
        LiveDescription,
        *(THREE, st.integers(1, 4), U8, U8, POSITIVE, POSITIVE),
        *(SHORT, SHORT, SHORT, SHORT, U32, U32, TWO, st.binary(min_size=10, max_size=10)),
    ),
}


def is_sensor(name: str) -> bool:
    """Return whether a sensor, or a file that describes one, has this name."""
    try:
        return bool(sensor_kind(name))
    except InputError:
        return False


def recording(path: Path, texts: Sequence[str]) -> Recording:
    """Read a recording with options such as label=x, and with rate=HZ and numbers as labels."""
    rates = [float(text[5:]) for text in texts if text.startswith("rate=")]
    options = options_of_texts(
        [text for text in texts if text != "numbers" and not text.startswith("rate=")]
    )
    options = replace(options, sample_rate=rates[0] if rates else None)
    return read_recording(path, options, "value" if "numbers" in texts else None)


def write_cbor(path: Path, text: str) -> None:
    """Write in CBOR what a line has in JSON."""
    cbor2 = pytest.importorskip("cbor2", reason="needs cbor2: pip install cbor2")
    path.write_bytes(cbor2.dumps(json.loads(text)))


def played(path: Path, texts: Sequence[str]) -> PlayedSensor:
    """Read what a sensor plays; the first text is its name, and others are options."""
    return read_sensor(f"{texts[0]}={','.join([str(path), *texts[1:]])}")


def write_windowed(folder: Path) -> None:
    """Write models of windows, without a rate and with one, and a recording to play."""
    model = random_window_model(window_features_of("mean,max", 32, 6))
    save_model(model, folder / "windowed.npz")
    timed = replace(model, features=with_points(model.features, rate=50.0))
    save_model(timed, folder / "timed.npz")
    head = "# protonn-edge recording 1; sensor: mpu6050; rate: 100 Hz; units: "
    (folder / "played.csv").write_text(
        f"{head}ax ay az 1/8192 g; gx gy gz 1/65.5 deg/s\n"
        "label,session,time,ax,ay,az,gx,gy,gz\nrest,s,0,1,2,3,4,5,6\n"
    )


def write_takes(folder: Path) -> None:
    """Write recordings of two takes, and of none."""
    head = "# protonn-edge recording 1; sensor: a0; rate: 50 Hz; units: 1/1023\n"
    rows = [f"{label},anna,{n / 50},{n % 7}\n" for label in ("rest", "wave") for n in range(30)]
    (folder / "takes.csv").write_text(f"{head}label,session,time,a0\n{''.join(rows)}")
    (folder / "head.csv").write_text(head)


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "names on pages": {"sensors": [path.stem for path in FOLDER.glob("*.toml")]},
    "values of options": {"sensor": is_sensor},
    "values that do not exist": {"build --sensor mpu6051": ["--sensor mpu6051"]},
    "drawn messages": DRAWN,
    "readers": {"recording": read_recording},
    "readers of cases": {"recording": recording, "played": played},
    "given files": {"windowed": write_windowed, "takes": write_takes},
    "writers of files": {".wav": write_lines, ".cbor": write_cbor},
    "commands that read": {"windows": ("-o", "out.npz")},
}
