"""Folders called train, valid and test were classes; takes of equal length were called sensors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused_by

from protonn_edge.datasets import load_dataset
from protonn_edge.datasets.options import TableOptions
from protonn_edge.datasets.recorded import read_recording

ROWS = "".join(
    f"{20 * row},{x},{y}\n"
    for row, (x, y) in enumerate(np.random.default_rng(0).normal(0, 9, (30, 2)).round(2))
)


def write(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"time,x,y\n{ROWS}")
    return folder


@pytest.mark.parametrize("take", ["", "/0"], ids=["files", "folders"])
@pytest.mark.parametrize(
    ("parts", "tested", "said"),
    [
        (("train", "test"), "test", None),
        (("training", "testing"), "testing", None),
        (("Training Data", "Test Data"), "Test Data", None),
        (("train_set", "test_set"), "test_set", None),
        (("train", "valid", "test"), "test", "'valid' is used for training"),
        (("train", "val"), "val", "'val' is used for testing"),
        (("train", "validation"), "validation", "'validation' is used for testing"),
        (("train", "eval"), "eval", "'eval' is used for testing"),
        (("train", "dev"), "dev", "'dev' is used for testing"),
    ],
)
def test_parts_divide_the_takes_and_are_no_classes(
    tmp_path: Path, parts: tuple[str, ...], tested: str, said: str | None, take: str
) -> None:
    write(tmp_path, *(f"{part}/{label}{take}" for part in parts for label in ("idle", "wave")))
    recording = read_recording(tmp_path)
    assert recording.dataset.classes == ("idle", "wave")
    assert recording.take_of is not None
    of_test = {
        recording.files[place].split("/")[0] for place in recording.take_of[recording.tested]
    }
    assert of_test == {tested}
    assert len(recording.tested) == 2 * 30 * len(parts)
    notices = [each.text for each in recording.dataset.notices if each.kind == "part"]
    assert notices == ([] if said is None else [said])


def test_images_have_parts_too(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for part in ("train", "valid", "test"):
        for name in ("circle.0.png", "circle.1.png", "square.0.png", "square.1.png"):
            (tmp_path / part).mkdir(exist_ok=True)
            image.new("L", (2, 2), len(part)).save(tmp_path / part / name)
    dataset = load_dataset(tmp_path)
    assert dataset.classes == ("circle", "square")
    assert (len(dataset.y_train), len(dataset.y_test)) == (8, 4)


@pytest.mark.parametrize("names", [("train/a", "test/a", "extra/a"), ("valid/a", "test/a")])
def test_folders_that_may_be_parts_or_classes_are_asked_about(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    with refused_by("datasets.takes"):
        read_recording(write(tmp_path, *names))


def test_one_class_may_be_called_like_a_part(tmp_path: Path) -> None:
    recording = read_recording(write(tmp_path, "train/1", "train/2", "car/1", "car/2"))
    assert recording.dataset.classes == ("car", "train")
    assert not recording.tested.any()


def test_a_test_part_without_classes_is_left_out_with_a_warning(tmp_path: Path) -> None:
    recording = read_recording(write(tmp_path, "train/a/0", "train/b/0", "test/0", "test/1"))
    assert recording.dataset.classes == ("a", "b")
    (text,) = (each.text for each in recording.dataset.notices if each.kind == "no_samples")
    assert text.endswith("no labelled samples: 'test'")


def test_a_pattern_reads_the_names_in_parts(tmp_path: Path) -> None:
    write(tmp_path, "train/idle_al_1", "train/wave_al_2", "test/idle_bo_1", "test/wave_bo_1")
    recording = read_recording(tmp_path, TableOptions(name="{class}_{person}_{take}"))
    assert recording.dataset.classes == ("idle", "wave")
    assert recording.groups is not None
    tested = zip(recording.groups, recording.tested, strict=True)
    assert {group for group, is_tested in tested if is_tested} == {"bo"}


def test_a_class_called_background_noise_is_reported_as_hidden(tmp_path: Path) -> None:
    recording = read_recording(write(tmp_path, "a/0", "b/0", "_background_noise_/0"))
    assert recording.dataset.classes == ("a", "b")
    assert any("_background_noise_" in each.text for each in recording.dataset.notices)
