"""Held-out groups have points of every class if they can; a missing class is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import succeed

from protonn_edge.data.groups import with_groups
from protonn_edge.data.reading import load_dataset
from protonn_edge.data.splits import holdout
from protonn_edge.learn.evaluation.accuracy import class_figures


def grouped(folder: Path, machines_with_faults: tuple[int, ...]) -> Path:
    """Write 12 machines of 10 rows; half of the rows of some machines are faults."""
    kinds = ["bad" if n // 10 in machines_with_faults and n % 2 else "ok" for n in range(120)]
    rows = [f"{n % 7},{n * 7 % 10 * 1.5},{n // 10},{kind}" for n, kind in enumerate(kinds)]
    path = folder / "t.csv"
    path.write_text("\n".join(["x,y,Maschine,label", *rows]) + "\n")
    return path


@pytest.mark.parametrize("seed", range(5))
def test_held_out_groups_have_every_class_if_they_can(tmp_path: Path, seed: int) -> None:
    path = grouped(tmp_path, (2, 7))
    dataset = holdout(
        with_groups(load_dataset(path, groups="Maschine"), "Maschine", path), 0.25, seed
    )
    assert set(dataset.y_test) == set(dataset.y_train) == {0, 1}
    assert not [notice for notice in dataset.notices if notice.warning]


def test_a_class_of_one_group_is_named_and_trained_on(tmp_path: Path) -> None:
    path = grouped(tmp_path, (2,))
    options = "--groups", "Maschine", "--holdout", 0.25, "--classifier", "linear"
    done = succeed("train", path, "-o", tmp_path / "m.npz", *options)
    assert (
        done.stderr.count("recall is unknown because no held-out point belongs to them: 'bad'") == 1
    )


def test_a_class_without_points_has_no_precision() -> None:
    without, other = class_figures(np.array([[0, 0], [3, 7]]))
    assert (without.precision, without.recall) == (None, None)
    assert (other.precision, other.recall) == (1.0, 0.7)


def test_a_warning_about_many_points_of_a_class_omits_what_was_done(tmp_path: Path) -> None:
    path = grouped(tmp_path, (2, 7))
    train = "train", path, "-o", tmp_path / "m.npz", "--classifier", "linear"
    both = "which 'train' prints if points are held out, and 'hil', and try --class-weight balanced"
    assert both in succeed(*train, "--holdout", 0).stderr
    held_out = succeed(*train, "--holdout", 0.25).stderr
    assert "check the recall of each class, and try --class-weight balanced" in held_out
    done = succeed(*train, "--holdout", 0.25, "--class-weight", "balanced").stderr
    assert "check the recall" not in done
