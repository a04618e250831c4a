"""Files to convert: estimators in skops, boosters that are changed, and tables of their points."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from row_tables import rows
from sklearn.datasets import load_iris

NETWORKS = Path(__file__).with_name("networks.txt")
BOOSTERS = Path(__file__).parents[2] / "data" / "boosters"


def refused(section: str) -> list[Any]:
    """Return the networks of a section that are refused: their parts, and a pattern of words."""
    return [
        pytest.param(*given, ".*".join(map(re.escape, words.split("..."))), id=name)
        for name, *given, words in rows(NETWORKS, section)
    ]


def stored(path: Path, estimator: Any) -> Path:
    """Write an estimator; the package imports all of scikit-learn."""
    io = pytest.importorskip("skops.io", reason="needs skops: pip install '.[skops]'")
    io.dump(estimator, path)
    return path


def with_member(path: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    """Change one member of a file; the name may be the suffix of the first that has it."""
    with zipfile.ZipFile(path) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    first = next(each for each in members if each.endswith(name))
    members[first] = change(members[first])
    with zipfile.ZipFile(path, "w") as archive:
        for each, data in members.items():
            archive.writestr(each, data)
    return path


def table(
    path: Path, points: Iterable[Any], labels: Iterable[Any], names: str = "a,b,c,d", **more: Any
) -> Path:
    """Write points with their labels; gaps are empty."""
    rows = (
        ["" if isinstance(each, float) and np.isnan(each) else each for each in row] + [label]
        for row, label in zip(np.asarray(points).tolist(), labels, strict=True)
    )
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*names.split(","), "label"], *rows, *more.get("rows", ())])
    return path


def flowers(path: Path, names: list[str]) -> Path:
    """Write the data of `BOOSTERS` with names of classes."""
    X, y = load_iris(return_X_y=True)
    return table(path, X, [names[label] for label in y])


def changed(name: str, change: Callable[[Any], object], path: Path) -> Path:
    """Write a file of XGBoost with a change of its document's learner."""
    document = json.loads((BOOSTERS / name).read_text("utf-8"))
    change(document["learner"])
    path.write_text(json.dumps(document, default=float), "utf-8")
    return path


def one_split(path: Path, threshold: float, **more: list[float]) -> Path:
    """Write a file of XGBoost with a single question of a single feature."""

    def change(learner: Any) -> None:
        learner["learner_model_param"] |= {"num_feature": "1", "base_score": "[5E-1]"}
        model = learner["gradient_booster"]["model"]
        model["gbtree_model_param"]["num_trees"] = "1"
        only = model["trees"][0]
        only["tree_param"]["num_nodes"] = "3"
        only.pop("sum_hessian")
        only |= {
            "split_indices": [0, 0, 0],
            "left_children": [1, -1, -1],
            "right_children": [2, -1, -1],
            "split_conditions": [threshold, -1.0, 1.0],
            "default_left": [0, 0, 0],
            "split_type": [0, 0, 0],
            **more,
        }
        model["trees"], model["tree_info"] = [only], [0]

    return changed("cancer.json", change, path)
