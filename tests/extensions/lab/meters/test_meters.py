"""Each meter measures a board with a known current, played by an emulator of its documentation."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from built_project import write_project
from command_line import run
from evidence_factory import evidence_of
from extensions.lab.emulated_meters import (
    UNO,
    VOLTS,
    EmulatedIna219,
    EmulatedMeter,
    EmulatedPpk2,
    EmulatedSampler,
    PlayedBoard,
    Profile,
    closed_after,
)
from fake_device import FakeDevice, HostileDevice
from model_factory import random_model
from refusals import refused_by
from simulated_run import honest_model, measure_on

from protonn_edge.device import protocol
from protonn_edge.device.connection import Link, LinkError
from protonn_edge.device.instruments import BenchInstrument
from protonn_edge.device.session import Session
from protonn_edge.extensions.lab import power_file
from protonn_edge.extensions.lab.meters import meter_of
from protonn_edge.extensions.lab.meters.energy import MeteredPower, Work, metered, power_of
from protonn_edge.extensions.lab.meters.meter import Meter, MeterSamples
from protonn_edge.extensions.lab.meters.ppk2 import _FACTORS, _SETTLING, Ppk2
from protonn_edge.report import content
from protonn_edge.report.page import render_page
from protonn_edge.system.errors import (
    CheckFailed,
    DeviceError,
    InputError,
    InstrumentError,
    ProtoNNEdgeError,
)


@contextmanager
def emulated(name: str, **settings: Any) -> Iterator[tuple[EmulatedPpk2 | EmulatedIna219, Meter]]:
    """Yield an emulated meter, and the closed meter that reads it."""
    kind = {"ppk2": EmulatedPpk2, "ina219": EmulatedIna219}[name]
    with closed_after(kind(**settings)) as emulator:
        yield emulator, meter_of(f"{name}:{emulator.url}", VOLTS if name == "ppk2" else None)


def measured(emulator: EmulatedMeter, meter: Meter, profile: Profile) -> MeteredPower:
    board: Any = PlayedBoard(emulator, profile)
    with meter:
        return metered(meter, board, (), UNO, host=board)[0]


METERS = [
    # name, settings, samples a second; gains and offsets are within what the meter promises
    ("ppk2", {"loss": 0.01, "gain": 0.004}, 100_000),
    ("ina219", {"loss": 0.01, "gain": 0.005, "offset": 9e-4}, 1_000),
]


@pytest.mark.parametrize(("name", "settings", "rate"), METERS)
def test_the_energy_of_a_prediction_is_right_and_lost_samples_are_reported(
    name: str, settings: dict[str, Any], rate: int
) -> None:
    profile = Profile()
    with emulated(name, **settings) as (emulator, meter):
        power = measured(emulator, meter, profile)
    ms = UNO.milliseconds(profile.cycles)
    assert power.net_watts * ms == pytest.approx(profile.net_mj, rel=0.01)
    assert abs(power.net_watts * ms - profile.net_mj) <= power.net_uncertainty_watts * ms
    assert abs(power.busy_watts - VOLTS * profile.busy) <= power.busy_uncertainty_watts
    assert power.rate_hz == pytest.approx(rate)
    assert power.dropped == emulator.lost > 0
    assert max(power.trace_mw) > 1000 * VOLTS * profile.busy > 1000 * VOLTS * profile.idle
    assert power.volts == pytest.approx(VOLTS, abs=2e-3)


def test_the_spread_of_the_batches_covers_19_of_20_errors() -> None:
    """Of samples that are slower than a prediction, which alias with its phases."""
    covered, profile = 0, Profile(phases=(0.060, 0.042))
    for seed in range(60):
        emulator = EmulatedSampler(rate=1_000.0, seed=seed)
        power = measured(emulator, emulator.meter, profile)
        error = power.net_watts - VOLTS * (profile.busy - profile.idle)
        covered += abs(error) <= power.net_uncertainty_watts
    assert covered >= 54


def test_errors_of_gain_do_not_cancel_between_ranges() -> None:
    meter: Any = meter_of("ppk2:PORT", 5.0)
    seconds = np.arange(0, 10, 1e-3)
    busy = (seconds % 1 > 0.2) & (seconds % 1 < 0.45)
    powers = []
    for ranges in np.zeros(len(seconds)), busy * 1.0:
        amperes = np.where(busy, 0.05, 0.04)
        samples = MeterSamples(seconds, np.full(len(seconds), 5.0), amperes, busy, ranges, 0)
        powers.append(power_of(samples, meter, Work(UNO, 1000, 0.25)))
    same, other = powers
    assert same.net_watts == other.net_watts == pytest.approx(0.05)
    assert same.net_uncertainty_watts == pytest.approx(0.15 * 0.05, rel=0.05)
    assert other.net_uncertainty_watts == pytest.approx(0.15 * (0.25 + 0.2), rel=0.05)


def test_samples_that_follow_a_change_of_range_are_left_out() -> None:
    """The last sample, too, behind which there are none to leave out."""
    meter: Any = meter_of("ppk2:PORT", VOLTS)
    meter._factors = _FACTORS
    ranges = np.repeat([0, 1, 2], [20, 20, 1])
    words = 100 | ranges << 14 | (np.arange(41) & 63) << 18
    kept = meter._decode(words.astype("<u4").tobytes()).ranges
    assert kept.tolist() == [0] * 20 + [1] * (20 - _SETTLING)


def test_a_session_repeats_the_batches_that_are_measured() -> None:
    """With a device at the end of a real line; only the time of its predictions is played."""
    profile = Profile(cycles=FakeDevice.cycles)
    emulator = EmulatedSampler()
    board = PlayedBoard(emulator, profile)

    def answer(body: bytes) -> None:
        request = protocol.decode_message(body)
        if isinstance(request, protocol.RepeatRequest | protocol.PredictRequest):
            board.repeat(None, getattr(request, "repetitions", 1))

    device = FakeDevice(answer=answer)
    try:
        with emulator.meter as meter, Session(device.url) as session:
            features = np.array([7, 0, 0, 255], np.uint8)
            power, prediction = metered(meter, session, features, UNO, 100, board)
    finally:
        device.close()
    assert (power.repetitions, prediction.cycles) == (100, 100 * FakeDevice.cycles)
    net = VOLTS * (profile.busy - profile.idle)
    assert abs(power.net_watts - net) <= min(0.01 * net, power.net_uncertainty_watts)
    assert not emulator.meter.opened


def test_a_ppk2_is_told_to_be_an_ampere_meter_and_stopped() -> None:
    with emulated("ppk2") as (emulator, meter):
        measured(emulator, meter, Profile())
        assert isinstance(emulator, EmulatedPpk2)
        assert b"".join(emulator.received) == b"\x07\x19\x11\x01\x0c\x01\x06\x07"


# --- what goes wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "volts"),
    [("fluke", None), ("ppk2:/dev/nothing", None), ("ppk2:/dev/nothing", 5.0), ("ina219", None)],
)
def test_a_meter_that_is_not_there_is_refused(text: str, volts: float | None) -> None:
    with (
        refused_by("device.connection", "extensions.lab.meters", "extensions.lab.meters.ppk2"),
        meter_of(text, volts),
    ):
        pass


@pytest.mark.parametrize("name", ["ppk2", "ina219"])
def test_random_bytes_of_a_meter_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("protonn_edge.extensions.lab.meters.ppk2._WITHIN_S", 0.3)
    monkeypatch.setattr("protonn_edge.extensions.lab.meters.ina219._WITHIN_S", 0.3)
    draw = np.random.default_rng(1)
    for noise in draw.bytes(5000), b"END" + draw.bytes(500_000), b"\xff" * 9000:
        with (
            emulated(name, noise=noise) as (emulator, meter),
            pytest.raises(ProtoNNEdgeError) as caught,
        ):
            measured(emulator, meter, Profile())
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


def test_a_meter_that_falls_silent_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protonn_edge.extensions.lab.meters.meter._SILENCE_S", 0.2)
    with emulated("ppk2") as (_, meter), meter:
        meter.start()
        time.sleep(0.5)
        with refused_by("extensions.lab.meters.meter", kind=CheckFailed):
            meter.stop()


def test_an_unplugged_meter_is_no_board_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def unplugged(*_: object) -> bytes:
        raise LinkError("the line broke")

    with emulated("ppk2") as (_, meter), meter:
        monkeypatch.setattr(Link, "read", unplugged)
        meter.start()
        with pytest.raises(CheckFailed, match="the line broke") as caught:
            meter.stop()
    assert not isinstance(caught.value, DeviceError)


def test_a_meter_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr("protonn_edge.extensions.lab.meters.meter._OPEN_S", 0.2)
    monkeypatch.setattr(
        "protonn_edge.extensions.lab.meters.ppk2.Ppk2._open", lambda _: ended.wait()
    )
    ppk2 = meter_of("ppk2:PORT", VOLTS)
    with refused_by("extensions.lab.meters.meter", kind=CheckFailed), ppk2:
        pass
    ended.set()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"trigger": False}, "0 of 10 expected pulses of 250 ms, and 0 other pulses"),
        ({"seconds": 1.2}, "0 of 10 expected pulses of 250 ms, and 10 other pulses"),
        ({"amperes": np.nan}, ""),
        ({"amperes": 1e300}, ""),
        ({"amperes": -0.05}, "-0.25 W"),
        ({"amperes": 0.0}, ""),
        ({"every": 100}, "2 samples in 240 ms"),
        ({"every": 100000}, ""),
    ],
)
def test_samples_without_the_batches_are_refused(change: dict[str, Any], found: str) -> None:
    meter: Any = meter_of("ina219:PORT")
    seconds = np.arange(0, 10, 1e-3)
    busy = (seconds % 1 >= 0.2) & (seconds % 1 < 0.45) & change.get("trigger", True)
    amperes = np.where(busy, change.get("amperes", 0.05), 0.04)
    times = seconds * change.get("seconds", 1.0)
    parts = (each[:: change.get("every", 1)] for each in (times, 5 + 0 * times, amperes, busy))
    with refused_by("extensions.lab.meters.energy", kind=InstrumentError, naming=found):
        power_of(
            MeterSamples(*parts, ranges=np.zeros(10_000), dropped=0), meter, Work(UNO, 1000, 0.25)
        )


def test_batches_that_are_too_long_for_a_meter_are_refused() -> None:
    emulator = EmulatedSampler()
    board: Any = PlayedBoard(emulator)
    with refused_by("extensions.lab.meters.energy"):
        metered(emulator.meter, board, (), UNO, 6_000, board)


# --- in results and reports -----------------------------------------------------------------------

POWER = MeteredPower("PPK2", 0.24, 0.01, 0.2, 0.04, 0.002, 5.0, 50, 900, 3, 1e5,
                     (-1.0, 0.0, 1.0), (200.0, 240.0, 200.0))  # fmt: skip


def test_a_measurement_has_the_power_and_the_energy_of_its_mean_prediction() -> None:
    def repeated(session: Session, features: Any, *_: Any) -> Any:
        assert meter.opened
        return POWER, session.repeat(features, POWER.repetitions)

    class Opened(contextlib.AbstractContextManager[None]):
        opened = False

        def __enter__(self) -> None:
            self.opened = True

        def __exit__(self, *_: object) -> None:
            self.opened = False

    meter = Opened()
    instrument = BenchInstrument(meter, repeated)
    done, _ = measure_on([HostileDevice(honest_model())], instrument=instrument)
    record = json.loads(json.dumps(done.to_json()))
    assert record["power"]["net_mj"] == pytest.approx(0.04 * record["latency_ms"]["mean"])
    assert record["power"]["trace_mw"] == [200.0, 240.0, 200.0]
    assert record["repetition"]["n"] == POWER.repetitions
    assert not meter.opened
    assert POWER.facts(2.0) == [
        ("energy by PPK2", "0.4800 +- 0.0200 mJ, at 0.2400 +- 0.0100 W"),
        ("above idle", "0.0800 +- 0.0040 mJ, at 0.0400 +- 0.0020 W"),
        ("the meter's samples", "900 at 100,000 Hz, 3 more lost"),
    ]


def test_hil_opens_the_meter_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(random_model(features=2), tmp_path)
    (tmp_path / "points.csv").write_text("label,a,b\nclass 0,1,2\nclass 1,3,4\n")
    asked: dict[str, Any] = {}

    def measure(*_: Any, **options: Any) -> None:
        asked.update(options)
        raise InputError("it is a test; that is enough")

    monkeypatch.setattr("protonn_edge.cli.hil.measure", measure)
    words = ["hil", tmp_path / "points.csv", "--project", tmp_path, "--meter"]
    assert "that is enough" in run(*words, "ppk2:COM9,volts=5", "--port", "COM8").stderr
    assert isinstance(asked["instrument"].opened, Ppk2)
    assert "that is enough" in run(*words, "none").stderr
    assert asked["instrument"] is None


def written(path: Path, power: Any, **more: Any) -> Path:
    path.write_text(json.dumps({"power": power, "model_sha256": "ab"} | more))
    return path


def test_the_report_shows_the_power_beside_the_energy_of_the_board(tmp_path: Path) -> None:
    power = power_file.read_power(written(tmp_path / "p.json", POWER.to_json(1.0)), "ab")
    assert power == POWER
    one = dataclasses.replace(evidence_of(random_model()), power=power)
    page = render_page(one, content.PageScript(None, "x"))
    section = page[page.index('<section id="energy">') :]
    assert "0.2455 W times the latency" in section
    assert "measured by the PPK2 before, during and after a batch of 50" in section
    assert "at 0.0400 +- 0.0020 W" in section


@pytest.mark.parametrize(
    "change",
    [{"meter": 3}, {"net_watts": float("nan")}, {"trace_ms": []}, {"dropped": -1}, {"volts": None},
     {"trace_ms": [1.0] * 2_000, "trace_mw": [1.0] * 2_000}],
)  # fmt: skip
def test_a_report_refuses_what_is_no_power(tmp_path: Path, change: dict[str, Any]) -> None:
    for power in POWER.to_json(1.0) | change, None, 3:
        with refused_by("report.content"):
            power_file.read_power(written(tmp_path / "p.json", power), "ab")
    with refused_by("report.content"):
        power_file.read_power(written(tmp_path / "p.json", POWER.to_json(1.0)), "cd")
