"""`train --new-classes`: the names of further classes, and refusals before the training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import run, succeed
from refusals import refuses

from protonn_edge import load_model
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier

OPTIONS = ("--epochs", 1, "--prototypes", 6, "--teachable", 5)


def table(path: Path, names: tuple[str, ...]) -> Path:
    rng, n = np.random.default_rng(0), 20 * len(names)
    rows = [f"{names[i % len(names)]},{rng.normal(99 * (i % len(names)), 9)}" for i in range(n)]
    path.write_text("\n".join(["label,a", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("names", "further"),
    [(("x", "y", "z"), ("new 1", "new 2")), (("new 1", "x"), ("new 2", "new 3"))],
)
def test_further_classes_have_names_of_their_own(
    tmp_path: Path, names: tuple[str, ...], further: tuple[str, ...]
) -> None:
    data, path = table(tmp_path / "t.csv", names), tmp_path / "m.npz"
    succeed("train", data, "-o", path, *OPTIONS, "--new-classes", 2, "--holdout", 0.25)
    assert load_model(path).classes == (*names, *further)


@pytest.mark.parametrize(("new", "classes"), [(249, 251), (252, 254)])
def test_too_much_room_is_refused_before_the_training(
    tmp_path: Path, new: int, classes: int
) -> None:
    data, path = table(tmp_path / "t.csv", ("x", "y")), tmp_path / "m.npz"
    done = run("train", data, "-o", path, *OPTIONS, "--new-classes", new)
    refuses(done, f"teachable with {classes} classes")
    X, seen = np.arange(40.0).reshape(20, 2), []
    with pytest.raises(ValueError, match=f"with {classes} classes"):
        ProtoNNClassifier(teachable=5, new_classes=new, callback=seen.append).fit(
            X, np.arange(20) % 2
        )
    assert not seen
