"""A project whose firmware pushes the features as they arrive, and so never calls `pnn_predict`."""

from __future__ import annotations

from pathlib import Path

import pytest
from avr_tools import AVR_GCC, skip_without
from command_line import refusal, run, run_json
from model_factory import random_window_model, window_features_of

from protonn_edge.build.project import build


@pytest.fixture(scope="module")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skip_without(*AVR_GCC)
    folder = tmp_path_factory.mktemp("streaming")
    build(random_window_model(window_features_of("mean,deviation,bands:4")), "uno", folder)
    return folder


def test_a_prediction_of_many_calls_is_certified(streaming: Path, tmp_path: Path) -> None:
    record = run_json("certify", streaming, "-o", tmp_path / "c.json", "--points", 20)
    claims = {claim["name"]: claim for claim in record["claims"]}
    for name in ("cycles-most", "cycles-least", "no-recursion", "no-allocation", "no-floats"):
        assert claims[name]["status"] == "proven", name
    least, most = claims["cycles-least"]["value"], claims["cycles-most"]["value"]
    assert 0 < least <= claims["cycles-measured"]["value"] <= most
    assert claims["cycles-most"]["statement"].startswith("a prediction takes at most")


def test_an_entry_that_is_not_there_is_still_refused(streaming: Path, tmp_path: Path) -> None:
    said = refusal(run("certify", streaming, "-o", tmp_path / "c.json", "--entry", "pnn_push_all"))
    assert "has no function pnn_push_all" in said
