"""Numbers beyond 24 bits lost their last digits, by which one threshold parted the classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from command_line import run_json
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protonn_edge.data.reading import load_dataset

SMALL = np.random.default_rng(0).integers(-9000, 9000, (60, 2)) / 100
LABELS = np.array(["a", "b"])[(SMALL[:, 0] > 0).astype(int)]


def write(path: Path, base: float, points: np.ndarray = SMALL, labels: Sequence[str] = ()) -> Path:
    rows = [f"{base + x:.2f},{y}" for x, y in points]
    rows = [f"{row},{label}" for row, label in zip(rows, labels, strict=True)] if labels else rows
    header = "p,q,label" if len(labels) else "p,q"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(base=st.integers(-(2**40), 2**40), spread=st.integers(10, 10**6))
def test_different_whole_numbers_stay_different(tmp_path: Path, base: int, spread: int) -> None:
    rng = np.random.default_rng(spread)
    values = base + rng.permutation(np.repeat(np.linspace(0, spread, 10).astype(int), 4))
    rows = [f"{value},{rng.normal():.3f},{'ab'[row % 2]}\n" for row, value in enumerate(values)]
    (tmp_path / "t.csv").write_text("p,q,label\n" + "".join(rows))
    X = load_dataset(tmp_path / "t.csv", keep="p").X_train
    assert len(np.unique(X[:, 0])) == len(np.unique(values))


def test_a_model_subtracts_the_offset_from_other_tables(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", 1.7e9, labels=LABELS.tolist())
    model = tmp_path / "m.npz"
    done = run_json("train", path, "-o", model, "--classifier", "linear")
    assert done["accuracy"] > 0.9
    new = np.array([[-50.0, 1], [50.0, 1], [-20.0, -3], [20.0, -3]])
    other = write(tmp_path / "new.csv", 1.7e9, new)
    assert run_json("predict", model, other)["predicted"] == ["a", "b", "a", "b"]
    swapped = other.with_name("swapped.csv")
    swapped.write_text("q,p\n1,1699999950\n1,1700000050\n")
    assert run_json("predict", model, swapped)["predicted"] == ["a", "b"]
