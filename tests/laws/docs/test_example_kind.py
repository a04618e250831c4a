"""The kind of classifier of docs/contributing.md: one folder, copied to the package's kinds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from avr_tools import needs_emulated_avr
from checkout import CHECKOUT
from one_process import answers_of

EXAMPLE = CHECKOUT / "docs" / "adding-a-kind" / "nearest_mean"

# Compares the reference with plain loops, and the C with the reference, however it is fed.
COMPARED = """
import numpy as np
from sklearn.datasets import load_digits
from protonn_edge import NearestMeanClassifier, quantize
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.planner import plans
from protonn_edge.kinds.nearest_mean.integers import IntegerNearestMean

rng = np.random.default_rng(0)
weights, means, x = (rng.integers(0, 256, shape) for shape in (7, (3, 7), (20, 7)))
stage = IntegerNearestMean(weights.astype(np.uint8), means.astype(np.uint8), 255)
looped = [
    [-sum(int(w) * abs(int(b) - int(m)) for w, b, m in zip(weights, row, mean)) for mean in means]
    for row in x
]
assert stage.run(x.astype(np.uint8)).tolist() == looped
assert (stage.output.low <= np.min(looped, axis=0)).all()

X, y = load_digits(return_X_y=True)
fitted = NearestMeanClassifier().fit(X[:1000], y[:1000])
integers = quantize(fitted.to_model())
Q = integers.quantize(X[1000:1200])
assert np.mean(integers.predict(Q) == fitted.predict(X[1000:1200])) > 0.97
for plan in plans(integers):
    with host_program(integers, plan, sanitize=True) as program:
        for feeding in ("whole", "push", "split", "chunks"):
            assert (program.run(Q, feeding)[1] == integers.scores(Q)).all()
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package, in which the example is beside the other kinds."""
    kinds = tmp_path_factory.mktemp("package") / "protonn_edge" / "kinds"
    kinds.mkdir(parents=True)
    for inside, place in (("", kinds.parent), ("kinds", kinds)):
        for each in (CHECKOUT / "protonn_edge" / inside).iterdir():
            if each.name not in ("kinds", "__pycache__"):
                (place / each.name).symlink_to(each)
    shutil.copytree(EXAMPLE, kinds / EXAMPLE.name, ignore=shutil.ignore_patterns("__pycache__"))
    return kinds.parents[1]


def test_it_computes_its_formula_in_numpy_and_in_c(copied: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPARED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(copied)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_emulated_avr
def test_its_model_is_trained_built_bounded_and_verified(copied: Path, tmp_path: Path) -> None:
    commands = (
        "demo --csv -o . --json",
        "train digits.csv -o model.npz --classifier nearest_mean --json",
        "build model.npz -o project --json",
        "verify model.npz digits.csv --json",
        "hil digits.csv --emulate --project project --json",
        "export model.npz --arduino library --json",
    )
    answers = answers_of(commands, copied, tmp_path).values()
    assert [(each.returncode, each.stderr) for each in answers if each.returncode != 0] == []
    _, _, built, verified, measured, exported = (json.loads(each.stdout) for each in answers)
    assert 0 < built["cycles"]["least"] <= built["cycles"]["most"]
    assert [each["execution"] for each in verified["executions"]] == ["host C", "emulated uno"]
    assert verified["mismatches"] == measured["mismatches"] == measured["cycles_out_of_range"] == 0
    assert exported["tried"]["mismatches"] == 0
