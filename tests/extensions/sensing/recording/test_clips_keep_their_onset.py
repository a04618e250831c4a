"""A model begins its clips where those that it was trained with were cut, without being told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import refusal, run, run_json
from refusals import refuses

from protonn_edge.model.file import load_model


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return clips of two sounds, cut at a level of 9."""
    folder = tmp_path_factory.mktemp("clips")
    rows = ["x,label"]
    for half_period, label in ((2, "a"), (5, "b")):
        for time in range(6000):
            loud = 400 * (time % 1000 >= 600)
            rows.append(f"{500 + (-1) ** (time // half_period) * loud},{label}")
    (folder / "sounds.csv").write_text("\n".join(rows) + "\n")
    options = ("-o", folder / "clips.npz", "--window", 256, "--onset", 9)
    assert run("windows", folder / "sounds.csv", *options).exit_code == 0
    return folder / "clips.npz"


def test_a_model_has_the_onset_of_its_clips(clips: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.npz"
    options = ("--features", "audio:4x2", "--epochs", "2")
    run_json("train", clips, "-o", model, *options)
    assert load_model(model).features.stages[0].onset == 9
    other = run("train", clips, "-o", model, "--features", "audio:4x2,onset:4")
    assert "has onset:4, but the clips in the data begin at a level of 9; omit" in refusal(other)


@pytest.mark.parametrize("onset", [0, 256, 4.5, [4]])
def test_an_onset_that_no_clip_has_is_refused(clips: Path, tmp_path: Path, onset: object) -> None:
    damaged = tmp_path / "damaged.npz"
    np.savez(damaged, **{**np.load(clips), "onset": np.array(onset)})
    done = run("train", damaged, "-o", tmp_path / "model.npz", "--features", "audio:4x2")
    refuses(done, "data.arrays")


def test_clips_that_may_begin_anywhere_are_told(clips: Path, tmp_path: Path) -> None:
    arrays = dict(np.load(clips))
    del arrays["onset"]
    np.savez(tmp_path / "raster.npz", **arrays)
    options = ("-o", tmp_path / "m.npz", "--features", "audio:4x2", "--epochs", "2")
    told = "the data does not state its onset level, so the board starts clips at a level of 4, as"
    assert told in run("train", tmp_path / "raster.npz", *options).stderr
    level = ("--features", "audio:4x2,onset:4")
    for data, *more in ((clips,), (tmp_path / "raster.npz", *level)):
        assert "its onset level" not in run("train", data, *options, *more).stderr
