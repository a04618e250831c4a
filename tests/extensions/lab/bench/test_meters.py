"""With pytest, a power meter adds figures; at fault, it is an error and no failure."""

from __future__ import annotations

import contextlib
from typing import Any, NoReturn
from xml.etree import ElementTree as ET

import pytest
from simulated_board import simulate

from protonn_edge.device.instruments import BenchInstrument
from protonn_edge.device.session import Prediction, Session
from protonn_edge.extensions.lab import meters
from protonn_edge.extensions.lab.meters.energy import MeteredPower
from protonn_edge.system.errors import InstrumentError


def run(user: pytest.Pytester, *options: object) -> pytest.RunResult:
    return user.runpytest_inprocess("test_board.py", *map(str, options))


def test_what_a_meter_measured_is_in_the_xml(
    user: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def named(*words: object) -> BenchInstrument:
        power = MeteredPower(str(words), 0.24, 0.01, 0.2, 0.04, 0.002, 5.0, 50, 900, 3, 1e5, (), ())

        def watch(session: Session, features: Any, *_: Any) -> tuple[MeteredPower, Prediction]:
            return power, session.repeat(features, power.repetitions)

        return BenchInstrument(contextlib.nullcontext(), watch)

    monkeypatch.setattr(meters, "instrument_of", named)
    simulate(user, "none")
    user.makepyfile(
        test_board="""
        def test_power(pnn_measurement):
            power = pnn_measurement.repetition.power
            assert (power.meter, power.busy_watts) == ("('ppk2:COM7', 5.02)", 0.24)
        """
    )
    metered = ["--pnn-meter", "ppk2:COM7", "--pnn-volts", 5.02, "--junitxml=report.xml"]
    run(user, "--pnn-port", "board", *metered).assert_outcomes(passed=1)
    properties = ET.parse(user.path / "report.xml").iter("property")
    figures = {each.get("name"): float(str(each.get("value"))) for each in properties}
    assert figures["metered_net_mj"] == pytest.approx(0.04 * figures["latency_ms_mean"], rel=1e-3)


class Silent(contextlib.AbstractContextManager[None]):
    """A meter that cannot be opened."""

    def __enter__(self) -> NoReturn:
        raise InstrumentError("the PPK2 sent nothing; plug it in again")

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


def test_a_meter_at_fault_is_an_error_and_no_failure_of_the_model(
    user: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    instrument = BenchInstrument(Silent(), lambda *_: pytest.fail("it is not open"))
    monkeypatch.setattr(meters, "instrument_of", lambda *_: instrument)
    simulate(user, "none")
    result = run(user, "--pnn-port", "board", "--pnn-meter", "ppk2:COM7")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the PPK2 sent nothing; plug it in again*"])
