"""`train --classifier best` keeps the best of all kinds, within its time, or until Ctrl-C."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest
from avr_tools import needs_avr_gcc
from command_line import run, run_json

from protonn_edge.data.points.dataset import Dataset
from protonn_edge.data.points.splits import holdout
from protonn_edge.learn.folds import with_groups_to_divide
from protonn_edge.learn.search.workers import Processes
from protonn_edge.model.file import load_model

TRAIN = ("train", "--classifier", "best")
TUNE = ("tune", "--classifier", "any", "--timeout", "100")  # in another process


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return points of two classes, of which one is rare, by six people."""
    rng = np.random.default_rng(0)
    labels = np.array(["ok"] * 150 + ["fault"] * 30)
    X = (rng.normal(size=(180, 3)) + 2 * (labels == "fault")[:, None]).astype(np.float32)
    path = tmp_path_factory.mktemp("data") / "machines.npz"
    person = np.arange(120) % 6
    order = rng.permutation(180)
    X, labels = X[order], labels[order]
    np.savez(
        path,
        X_train=X[:120], y_train=labels[:120], X_test=X[120:], y_test=labels[120:], person=person,
    )  # fmt: skip
    return path


@pytest.fixture(autouse=True)
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a search begin one process: each imports all libraries."""
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")


@needs_avr_gcc
def test_the_best_kind_is_kept(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protonn_edge.cli.tuning._TRIALS", 4)  # however fast the machine is
    best_of = ("--classifier", "best", "--metric", "macro-f1", "--groups", "person")
    model = tmp_path / "model.npz"
    record = run_json("train", data, "-o", model, *best_of)
    kept = load_model(model)
    best = record["kinds"]
    assert len(best) > 1
    scores = [each["score"] for each in best.values()]
    assert scores == sorted(scores, reverse=True)
    assert record["metric"] == "macro-f1"
    assert kept.head.kind == record["cross_validated"]["settings"]["classifier"]
    assert kept.record["tuning"]["board"] == "uno"
    assert record["folds"] == 6
    assert record["n"] == 60
    assert record["quality"]["macro_f1"] > 0.6
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


@needs_avr_gcc
@pytest.mark.parametrize("command", [TRAIN, TUNE])
def test_ctrl_c_keeps_the_best_so_far(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    submit = Processes.submit

    def interrupted(self: Processes, number: int) -> Future[None]:
        if any(record.outcome == "complete" for record in self.records):
            raise KeyboardInterrupt
        return submit(self, number)

    monkeypatch.setattr(Processes, "submit", interrupted)
    stopped = run(*command, data, "-o", tmp_path / "model.npz")
    assert stopped.exit_code == 130
    assert "the best one so far is kept in" in stopped.stderr
    assert ": accuracy " in stopped.stderr
    load_model(tmp_path / "model.npz")


@pytest.mark.parametrize(("command", "kept"), [(TRAIN, ""), (TUNE, "repeat the command")])
def test_ctrl_c_before_there_is_a_model_writes_none(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], kept: str
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Processes, "submit", interrupted)
    stopped = run(*command, data, "-o", tmp_path / "model.npz")
    assert stopped.exit_code == 130
    assert "before a model was finished; nothing is written" in stopped.stderr
    assert kept in stopped.stderr
    assert not (tmp_path / "model.npz").exists()
    assert (tmp_path / "model.search.jsonl").exists() == bool(kept)


def test_too_little_time_is_one_sentence(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    late = run("train", data, "-o", model, "--classifier", "best", "--minutes", 0.001)
    assert late.exit_code == 1
    assert "allow more time" in late.stderr
    assert not model.exists()


@pytest.mark.parametrize("windows", [False, True])
def test_a_group_alone_is_divided_with_a_warning(windows: bool) -> None:
    """Of two people, one is held out for testing."""
    rng, y = np.random.default_rng(0), np.arange(80) % 2
    X = rng.normal(y[:, None], 0.5, (80, 3))
    if windows:  # four of each take, of which each shares half with the next one
        takes = [rng.normal(size=40) for _ in range(20)]
        X = np.array([take[8 * k : 8 * k + 16] for take in takes for k in range(4)])
    groups = np.arange(80) // 40
    shape = (16, 1) if windows else ()
    dataset = Dataset(
        X_train=X.astype(np.float32),
        y_train=y,
        X_test=X[:0].astype(np.float32),
        y_test=y[:0],
        classes=("a", "b"),
        groups=groups,
        point_shape=shape,
    )
    assert with_groups_to_divide(dataset) == (dataset, [])
    alone, (notice,) = with_groups_to_divide(holdout(dataset, 0.5, 0))
    parts = "runs of overlapping windows" if windows else "points"
    assert notice.warning
    assert f"folds of its {parts}" in notice.text
    if windows:
        assert alone.groups is not None
        assert np.bincount(alone.groups).tolist() == [4] * 10
    else:
        assert alone.groups is None
