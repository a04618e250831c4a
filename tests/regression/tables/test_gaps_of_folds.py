"""Tuning with gaps: what filled them was learned on all rows, those of the tested fold included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protonn_edge.chips.boards import load_board
from protonn_edge.data.reading import load_dataset
from protonn_edge.learn.search.limits import TuningLimits
from protonn_edge.learn.search.objective import Objective
from protonn_edge.learn.search.points import TrialPoints
from protonn_edge.learn.search.space import SearchSpace


def test_folds_fill_gaps_by_the_rows_that_they_train_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        f"{'' if row % 4 == 0 else row * row % 97},{row % 5},{'ab'[row % 2]}" for row in range(20)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,label", *rows]) + "\n")
    dataset = load_dataset(tmp_path / "t.csv", missing="median")
    folds = np.arange(20) // 10
    points = TrialPoints(
        dataset.X_train, dataset.y_train, folds, load_board("uno"), TuningLimits(),
        gaps=dataset.gaps, preparation=dataset.preparation,
    )  # fmt: skip
    seen: dict[str, Any] = {}

    class Spy:
        model_ = None

        def fit(self, X: Any, *_: Any, **__: Any) -> None:
            seen.update(X=X)

        def quantize(self, X: Any) -> None:
            seen.update(tested=X)
            raise ValueError("enough")

    monkeypatch.setattr(TrialPoints, "untrained", lambda *_: Spy())
    monkeypatch.setattr("protonn_edge.learn.search.objective.quantize", lambda _: Spy())
    with pytest.raises(ValueError, match="enough"):
        Objective(SearchSpace(points)).test_fold(0, {})
    known = [row * row % 97 for row in range(10, 20) if row % 4]
    assert seen["X"][2, 0] == seen["tested"][0, 0] == np.median(known)
    assert dataset.X_train[0, 0] != np.median(known)
    assert seen["X"][1, 0] == 24
