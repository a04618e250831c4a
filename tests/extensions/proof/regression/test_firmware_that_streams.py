"""A project whose firmware pushes the features as they arrive, and so never calls `pnn_predict`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from avr_tools import AVR_GCC, EMULATED_AVR, skip_without
from command_line import run, run_json
from model_factory import random_points, random_window_model, window_features_of
from refusals import refuses

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.projects.project import build
from protonn_edge.extensions.proof.certificate.project import firmware_claims
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.model.model import Model
from protonn_edge.report.gathering import gather


@pytest.fixture(scope="module")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skip_without(*AVR_GCC)
    folder = tmp_path_factory.mktemp("streaming")
    build(_model(), "uno", folder)
    return folder


def _model() -> Model:
    return random_window_model(window_features_of("mean,deviation,bands:4"))


def test_a_prediction_of_many_calls_is_certified(streaming: Path, tmp_path: Path) -> None:
    record = run_json("verify", streaming, "-o", tmp_path / "c.json", "--points", 20)
    claims = {claim["name"]: claim for claim in record["claims"]}
    for name in ("cycles-most", "cycles-least", "no-recursion", "no-allocation", "no-floats"):
        assert claims[name]["status"] == "proven", name
    least, most = claims["cycles-least"]["value"], claims["cycles-most"]["value"]
    assert 0 < least <= claims["cycles-measured"]["value"] <= most
    assert claims["cycles-most"]["statement"].startswith("a prediction takes at most")


def test_an_entry_that_is_not_there_is_still_refused(streaming: Path, tmp_path: Path) -> None:
    refuses(
        run("verify", streaming, "-o", tmp_path / "c.json", "--entry", "pnn_push_all"),
        "extensions.proof.certificate.project",
    )


def test_a_report_states_the_cycles_of_all_calls(streaming: Path, tmp_path: Path) -> None:
    skip_without(*EMULATED_AVR)
    model, uno, results = _model(), load_board("uno"), tmp_path / "r.csv"
    points = random_points(3, 5, model.n_features).astype(np.float32), np.zeros(5, np.int64)
    measure(Project(streaming), points, uno, results=results)
    evidence = gather(results, [model], [Project(streaming)], uno, data=points)
    claims = firmware_claims(evidence.firmware.linked, evidence.firmware.plan, uno)
    (most,) = (claim for claim in claims if claim.name == "cycles-most")
    assert most.statement.startswith("a prediction takes at most")
    assert most.value == evidence.firmware.possible.most
